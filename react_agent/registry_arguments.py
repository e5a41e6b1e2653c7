"""Checks a call's arguments against the tool's JSON Schema, after lossless coercions."""

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry

from react_agent.errors import ConfigError, ToolError
from react_agent.registry_coercion import Coercer
from react_agent.registry_keywords import Patience, may_explode, texts_of, unique
from react_agent.registry_mistakes import Mistake, first_mistake
from react_agent.registry_vetting import is_plain

MAX_CHARACTERS, MAX_VALUES, MAX_NAME, MAX_DEPTH, MAX_INTEGER_BITS = 2_000_000, 2_000, 200, 50, 13_000
_MANY = 50  # errors that are looked at to find the first one
_MORE_NAMES = frozenset({"additionalProperties", "unevaluatedProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf", "if",
                         "dependentSchemas"})  # fmt: skip - keywords that may allow names beside "properties"
_PATIENCE: ContextVar[Patience] = ContextVar("patience")  # of the call that is being checked; keywords get no argument of ours


class ArgumentChecker:
    """One tool's schema, checked and compiled once."""

    def __init__(self, tool: str, schema: Mapping[str, Any], closed: bool = False) -> None:
        """closed: the function takes no other names, so the schema need not say so.

        Raises ConfigError when the schema is not a JSON Schema of an object, or would need another document.
        """
        self._schema = {key: value for key, value in schema.items() if key != "$schema"}  # the class below already follows it
        if closed and not _MORE_NAMES & self._schema.keys():
            self._schema["additionalProperties"] = False
        self._class = _strict(validators.validator_for(schema, default=Draft202012Validator))
        if "$schema" in schema or not is_plain(self._schema):
            _refuse_schema(f"the parameters of tool {tool!r}", self._schema, self._class)

    @functools.cached_property
    def _validator(self) -> Any:
        """Compiled when the first call comes. An empty registry: what is not in the schema is never fetched from anywhere."""
        return self._class(self._schema, registry=Registry(), format_checker=self._class.FORMAT_CHECKER)

    def check(self, arguments: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
        """A copy of the arguments that fits the schema, and the coercions it took; raises ToolError("bad_arguments")."""
        own = _Copy().whole(arguments)
        _PATIENCE.set(Patience())
        try:
            if self._validator.is_valid(own):
                return own, ()
            coercer = Coercer(lambda value, schema: self._validator.evolve(schema=schema).is_valid(value), self._resolve)
            read = coercer.coerce(own, self._schema)
            errors = list(islice(self._validator.iter_errors(read), _MANY))
        except RecursionError:
            raise ToolError("bad_arguments", "$: the arguments are nested too deep for the tool's schema", "write them flatter") from None
        except OverflowError as error:  # multipleOf with a number, format "regex" with a repetition that is beyond all bounds
            raise _unfit(f"the arguments cannot be checked: {error}", "write a smaller or plainer value") from None
        if errors:
            raise first_mistake(map(_mistake, errors))
        return _Copy().whole(read), tuple(coercer.notes)  # what was read out of a text has the same bounds

    def _resolve(self, ref: str) -> Any:
        return _pointed(self._schema, ref)


class _Copy:
    """Copies JSON data, so that no tool can change what the history holds, and refuses what is not JSON or too much of it."""

    def __init__(self) -> None:
        self.values = self.characters = 0

    def whole(self, arguments: Any) -> dict[str, Any]:
        if not isinstance(arguments, Mapping):
            raise _unfit("the arguments are not an object", 'write them as {"name": value}')
        copy: dict[str, Any] = self.of(arguments, 0)
        return copy

    def of(self, value: Any, depth: int) -> Any:
        self.values += 1
        self.count("")
        if depth > MAX_DEPTH:
            raise _unfit(f"the arguments are nested deeper than {MAX_DEPTH} levels", "write them flatter")
        if isinstance(value, str):
            self.count(value)
            return value
        if value is None or isinstance(value, (bool, int, float)):
            return _number(value)
        if isinstance(value, (list, tuple)):
            return [self.of(item, depth + 1) for item in value]
        if isinstance(value, Mapping):
            return {self.key(key): self.of(item, depth + 1) for key, item in value.items()}
        raise _unfit(f"a {type(value).__name__} is not a JSON value", "use text, numbers, booleans, null, lists and objects")

    def key(self, key: Any) -> str:
        if not isinstance(key, str):
            raise _unfit(f"the name {key!r:.60} is not text", "write names in double quotes")
        if len(key) > MAX_NAME:
            raise _unfit(f"the name {key[:40]!r}… has {len(key):,} characters", f"names have at most {MAX_NAME}")
        self.count(key)
        return key

    def count(self, text: str) -> None:
        self.characters += len(text)
        if self.characters > MAX_CHARACTERS or self.values > MAX_VALUES:
            raise _unfit(f"the arguments hold more than {MAX_CHARACTERS:,} characters or {MAX_VALUES:,} values", "send less at a time")


def _number(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise _unfit("NaN and infinity are not JSON numbers", "write a number, or leave the argument out")
    if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
        raise _unfit("a number has more than 3,900 digits", "write a smaller number")
    return value


def _unfit(message: str, hint: str) -> ToolError:
    return ToolError("bad_arguments", f"$: {message}", hint)


def _mistake(error: ValidationError) -> Mistake:
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    branch = error.relative_schema_path[0] if error.relative_schema_path else 0
    inner = tuple(_mistake(part) for part in error.context or ())
    return Mistake(
        str(error.validator), error.validator_value, error.instance, schema, tuple(error.absolute_path), error.message,
        inner, branch if isinstance(branch, int) else 0,
    )  # fmt: skip


@functools.cache
def _strict(cls: Any) -> Any:
    """The draft's validator with whole numbers that are int, and with keywords that no argument can make hang."""
    integer = cls.TYPE_CHECKER.redefine("integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool))
    extend: Callable[..., Any] = validators.extend
    return extend(cls, {"pattern": _pattern, "uniqueItems": _unique_items}, type_checker=integer)


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "string"):
        found = _PATIENCE.get().matches(pattern, instance)
        if found is None:
            raise _unfit(f"{instance[:60]!r} is too hard to check against {pattern!r}", "write something shorter or plainer")
        if not found:
            yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _unique_items(validator: Any, wanted: bool, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if wanted and validator.is_type(instance, "array") and not unique(instance):
        yield ValidationError(f"{instance!r} has the same item twice")


def _refuse_schema(what: str, schema: Mapping[str, Any], cls: Any) -> None:
    try:
        cls.check_schema(schema)
    except SchemaError as error:
        raise ConfigError(f"{what} are not a JSON Schema: {error.json_path}: {error.message[:300]}") from error
    if schema.get("type", "object") != "object":
        raise ConfigError(f'{what} must be a schema of "type": "object", not {schema["type"]!r}')
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        for ref in texts_of(schema, keyword):
            _refuse_reference(what, schema, ref)
    for pattern in _property_patterns(schema):
        if may_explode(pattern):
            raise ConfigError(f"{what} have the patternProperties {pattern!r}, which a long name can make hang; repeat no group")


def _refuse_reference(what: str, schema: Mapping[str, Any], ref: str) -> None:
    try:
        _pointed(schema, ref)
    except LookupError:
        raise ConfigError(f"{what} refer to {ref!r}, which is not in the schema as #/...; other documents are never fetched") from None


def _pointed(schema: Any, ref: str) -> Any:
    """What a JSON pointer like #/$defs/city points at; raises LookupError."""
    if ref != "#" and not ref.startswith("#/"):
        raise LookupError(ref)
    for part in ref.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, Mapping):
            schema = schema[name]
        elif isinstance(schema, list) and name.isdecimal():
            schema = schema[int(name)]
        else:
            raise LookupError(ref)
    return schema


def _property_patterns(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for part in schema:
            yield from _property_patterns(part)
    elif isinstance(schema, Mapping):
        patterns = schema.get("patternProperties", {})
        yield from patterns if isinstance(patterns, Mapping) else ()
        for part in schema.values():
            yield from _property_patterns(part)
