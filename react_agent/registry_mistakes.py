"""Of all that a schema has against some arguments, the one mistake that a person would want to hear of first, in one sentence."""

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from react_agent.errors import ToolError

_SHOWN, _CHOICES = 60, 12  # characters of a value, values of an enum
_RANK = {"required": 0, "additionalProperties": 1, "unevaluatedProperties": 1, "type": 2, "enum": 3, "const": 3}
_NAMES = {"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false", "array": "a list",
          "object": "an object", "null": "null"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mistake:
    """What one keyword of a schema has against one value. wanted: the keyword's value. message: jsonschema's own sentence.
    path: where in the arguments. inner: for anyOf and oneOf, what each branch has against it; branch: which one that was."""

    keyword: str
    wanted: Any
    value: Any
    schema: Mapping[str, Any]
    path: tuple[str | int, ...]
    message: str
    inner: tuple["Mistake", ...] = ()
    branch: int = 0


def first_mistake(mistakes: Iterable[Mistake]) -> ToolError:
    """ToolError("bad_arguments") for the outermost error; of several there a missing name comes first, then one too many, then a type."""
    mistake = _innermost(min(mistakes, key=_order))
    message, hint = _SENTENCES.get(mistake.keyword, _other)(mistake)
    wanted = _wanted(mistake)
    between = "" if not (hint and wanted) else " " if hint.endswith("?") else "; "
    return ToolError("bad_arguments", f"{_where(mistake)}: {message}", hint + between + wanted)


def near(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, None when none is close."""
    folded = {name.casefold(): name for name in reversed(list(known))}
    close = difflib.get_close_matches(word.casefold()[:_SHOWN], folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def quoted(value: Any) -> str:
    """A value as a person would write it, at most 60 characters of it."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def signature(schema: Mapping[str, Any]) -> str:
    """The arguments of an object schema on one line: `query (string, required), limit (integer)`."""
    required = schema.get("required", ())
    known = schema.get("properties", {})
    return ", ".join(f"{name} ({kind_of(part)}{', required' if name in required else ''})" for name, part in known.items())


def kind_of(schema: Any) -> str:
    """The type that a schema asks for, in a word or two."""
    if not isinstance(schema, Mapping):
        return "any"
    if "enum" in schema:
        shown = [json.dumps(value, ensure_ascii=False) for value in schema["enum"][:_CHOICES]]
        return " | ".join(shown + ["…"] * (len(schema["enum"]) > _CHOICES))
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return " or ".join(kind_of(branch) for branch in branches)
    types = schema.get("type", "any")
    name = types if isinstance(types, str) else " or ".join(types)
    return f"array of {kind_of(schema['items'])}" if name == "array" and schema.get("items") else name


def _order(mistake: Mistake) -> tuple[int, int, str]:
    return len(mistake.path), _RANK.get(mistake.keyword, 4), str(mistake.path)


def _innermost(mistake: Mistake) -> Mistake:
    """Of a failed anyOf or oneOf, the mistake in the branch that the value was meant for, when one can be told."""
    while mistake.inner:
        fitting = [part for part in mistake.inner if part.keyword != "type" or len(part.path) > len(mistake.path)]
        if len({part.branch for part in fitting}) != 1:
            return mistake
        mistake = min(fitting, key=_order)
    return mistake


def _where(mistake: Mistake) -> str:
    """The JSON path of the place, of a very long one the end."""
    path = "$"
    for part in mistake.path:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if part.isidentifier() else f"[{quoted(part)}]"
    return path if len(path) <= 2 * _SHOWN else f"…{path[1 - 2 * _SHOWN :]}"


def _missing(mistake: Mistake) -> tuple[str, str]:
    missing = [name for name in mistake.wanted if name not in mistake.value]
    extra = [name for name in mistake.value if name not in mistake.schema.get("properties", {})]
    for name in missing:
        wrong = near(name, extra)
        if wrong is not None:
            return f"{name!r} is missing, {quoted(wrong)} is not known", f"did you mean {name!r} instead of {quoted(wrong)}?"
    if len(missing) == len(extra) == 1:
        return f"{missing[0]!r} is missing", f"write {{{_key(missing[0])}: ...}} in place of {{{_key(extra[0])}: ...}}"
    names = ", ".join(repr(name) for name in missing)
    return f"{names} {'is' if len(missing) == 1 else 'are'} missing", ""


def _key(name: str) -> str:
    return json.dumps(name if len(name) <= _SHOWN else f"{name[: _SHOWN - 1]}…", ensure_ascii=False)


def _unexpected(mistake: Mistake) -> tuple[str, str]:
    if "patternProperties" in mistake.schema:
        return _other(mistake)
    known = mistake.schema.get("properties", {})
    extra = [name for name in mistake.value if name not in known]
    for name in extra:
        meant = near(name, [each for each in known if each not in mistake.value])
        if meant is not None:
            return f"{quoted(name)} is not known", f"did you mean {meant!r} instead of {quoted(name)}?"
    names = ", ".join(quoted(name) for name in extra[:3])
    return f"{names} {'is' if len(extra) == 1 else 'are'} not known", f"leave {'it' if len(extra) == 1 else 'them'} out"


def _type(mistake: Mistake) -> tuple[str, str]:
    names = [mistake.wanted] if isinstance(mistake.wanted, str) else list(mistake.wanted)
    words = " or ".join(_NAMES.get(name, name) for name in names)
    return f"{quoted(mistake.value)} is not of type {', '.join(repr(name) for name in names)}", f"write {words}"


def _choice(mistake: Mistake) -> tuple[str, str]:
    allowed = mistake.wanted if mistake.keyword == "enum" else [mistake.wanted]
    meant = near(mistake.value, [value for value in allowed if isinstance(value, str)]) if isinstance(mistake.value, str) else None
    shown = ", ".join(quoted(value) for value in allowed[:_CHOICES]) + (", …" if len(allowed) > _CHOICES else "")
    return f"{quoted(mistake.value)} is not one of {shown}", f"did you mean {meant!r}?" if meant else "write one of them"


def _branches(mistake: Mistake) -> tuple[str, str]:
    if not mistake.inner:  # oneOf, and more than one branch accepts it
        return _other(mistake)
    kinds = " or ".join(kind_of(branch) for branch in mistake.wanted)
    return f"{quoted(mistake.value)} is not {kinds}", f"write {kinds}"


def _length(mistake: Mistake) -> tuple[str, str]:
    """minLength, maxItems and their kin, which jsonschema reports without the numbers."""
    unit = {"L": "characters", "I": "items", "P": "entries"}[mistake.keyword[3]]
    bound = "at least" if mistake.keyword.startswith("min") else "at most"
    return f"{quoted(mistake.value)} has {len(mistake.value):,} {unit}, {bound} {mistake.wanted:,} wanted", ""


def _other(mistake: Mistake) -> tuple[str, str]:
    """jsonschema's own sentence, with what the model wrote shortened in it."""
    text = mistake.message
    if isinstance(mistake.value, (str, list, dict)):
        text = text.replace(repr(mistake.value), quoted(mistake.value))
    return text, ""


def _wanted(mistake: Mistake) -> str:
    """What the schema says of the place: the arguments of an object, else the description."""
    if mistake.keyword in ("required", "additionalProperties"):
        known = signature(mistake.schema)
        return f"arguments: {known}" if known else "it takes no arguments"
    words = mistake.schema.get("description", "")
    return f"{_where(mistake).removeprefix('$.')}: {words}" if words else ""


_SENTENCES = {
    "required": _missing, "additionalProperties": _unexpected, "type": _type, "enum": _choice, "const": _choice,
    "anyOf": _branches, "oneOf": _branches, "minLength": _length, "maxLength": _length, "minItems": _length, "maxItems": _length,
    "minProperties": _length, "maxProperties": _length,
}  # fmt: skip
