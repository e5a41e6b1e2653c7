"""A function -> what a model is told about it: name, description, argument schema."""

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from react_agent.errors import ConfigError
from react_agent.registry_docstring import read_docstring
from react_agent.registry_schema import completed, describe, object_kind


@dataclass(frozen=True, slots=True)
class Described:
    """A function, described for a model."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    adapt: Callable[[Mapping[str, Any]], dict[str, Any]] | None


def describe_function(function: Callable[..., Any], parameters: Mapping[str, Any] | None = None) -> Described:
    """Name, description and argument schema of a function; with parameters given, that schema instead of the hints'. Raises ConfigError."""
    written = function.func if isinstance(function, functools.partial) else function
    name = getattr(written, "__name__", type(written).__name__)
    _refuse_kinds(function, name)
    signature = inspect.signature(function)
    description, words = read_docstring(inspect.getdoc(written) or "")
    description = description or name.replace("_", " ").strip()
    if parameters is not None:
        _refuse_mismatch(signature, parameters, name)
        return Described(name, description, parameters, None)
    kinds, required = {}, []
    for parameter in signature.parameters.values():
        if isinstance(function, functools.partial) and parameter.name in function.keywords:
            continue  # already decided; the model has no say in it
        where = f"{name}(), parameter {parameter.name!r}"
        _refuse_parameter(parameter, where)
        kind = describe(_resolve(written, parameter, where), where)
        kinds[parameter.name] = completed(kind, parameter.default, words.get(parameter.name, ""))
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    whole = object_kind(kinds, required)
    return Described(name, description, whole.schema, whole.adapt)


def takes_any_name(function: Callable[..., Any]) -> bool:
    """Whether a function accepts keywords that it does not name; True for one that cannot be looked into."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)


def _resolve(function: Callable[..., Any], parameter: inspect.Parameter, where: str) -> Any:
    """The parameter's hint, with string annotations resolved where the function was written."""
    if parameter.annotation is parameter.empty:
        hint = "; make a tool of a method from its instance: tool(thing.method)" if parameter.name == "self" else ""
        raise ConfigError(f"{where} has no type hint{hint}")
    holder = types.SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    try:
        names = getattr(inspect.unwrap(function), "__globals__", {})
        return typing.get_type_hints(holder, globalns=names, include_extras=True)[parameter.name]
    except (NameError, TypeError, SyntaxError, AttributeError) as error:
        raise ConfigError(f"{where}: the hint {parameter.annotation!r} cannot be resolved: {error}") from error


def _refuse_kinds(function: Callable[..., Any], name: str) -> None:
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigError(f"{name}() is async; a tool is a plain function (call asyncio.run() inside it)")
    if inspect.isgeneratorfunction(function):
        raise ConfigError(f"{name}() is a generator; a tool returns its whole result (a list)")
    if isinstance(function, type) or not callable(function):
        raise ConfigError(f"{name} is not a function; a tool is made from a function or a bound method")


def _refuse_parameter(parameter: inspect.Parameter, where: str) -> None:
    if parameter.kind is parameter.VAR_POSITIONAL or parameter.kind is parameter.VAR_KEYWORD:
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
        raise ConfigError(f"{where}: {stars}{parameter.name} cannot be described to a model; name each parameter, or give parameters=")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise ConfigError(f"{where} is positional-only; a model passes arguments by name")


def _refuse_mismatch(signature: inspect.Signature, parameters: Mapping[str, Any], name: str) -> None:
    """An explicit schema must fit the function: each name that it lists is accepted, each that the function needs is required."""
    try:
        signature.bind(**dict.fromkeys(parameters.get("properties", {})))
        signature.bind(**dict.fromkeys(parameters.get("required", ())))
    except TypeError as error:
        raise ConfigError(f"{name}() does not fit its parameters=: {error}") from error
