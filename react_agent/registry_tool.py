"""Tool, and @tool, which makes one from a function."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack, overload

from react_agent.errors import ConfigError
from react_agent.registry_function import describe_function


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool; calling it calls its function, unchecked.

    parameters: the JSON Schema of its arguments, an object schema. function: called with the arguments as keywords.
    read_only: changes nothing, so that it needs no approval. untrusted_output: what it returns was written outside.
    volatile: the same call may give another result later. calculates: it works on the numbers that it is given, which must have a
    source where numbers are checked. timeout_s: how long a call may take, None for as long as it likes.
    preview: called like the function, returns what a person should see before approving (a diff); it changes nothing.
    adapt: turns checked JSON arguments into what the function's hints promise (Enum members, dataclasses), None when they already are.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Any]
    read_only: bool = False
    untrusted_output: bool = False
    volatile: bool = False
    calculates: bool = False
    timeout_s: float | None = None
    preview: Callable[..., str] | None = None
    adapt: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    parameter_names: tuple[str, ...] = field(init=False)
    parameter_set: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameter_names", tuple(self.parameters.get("properties", {})))
        object.__setattr__(self, "parameter_set", frozenset(self.parameter_names))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def keywords(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The function's keyword arguments for checked JSON arguments."""
        return dict(arguments) if self.adapt is None else self.adapt(arguments)


class _Options(TypedDict, total=False):
    """The keywords of @tool, for type checkers."""

    name: str | None
    description: str | None
    parameters: Mapping[str, Any] | None
    read_only: bool
    untrusted_output: bool
    volatile: bool
    calculates: bool
    timeout_s: float | None
    preview: Callable[..., str] | None


@overload
def tool(function: Callable[..., Any], **options: Unpack[_Options]) -> Tool: ...
@overload
def tool(function: None = None, **options: Unpack[_Options]) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None, *, name: str | None = None, description: str | None = None,
    parameters: Mapping[str, Any] | None = None, read_only: bool = False, untrusted_output: bool = False, volatile: bool = False,
    calculates: bool = False, timeout_s: float | None = None, preview: Callable[..., str] | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:  # fmt: skip
    """Make a Tool of a function, with or without parentheses.

    What is not given comes from the function: its name, the first paragraph of its docstring, a JSON Schema from its type hints.
    Raises ConfigError, with the function and the parameter, for what cannot be described. The flags are those of Tool.
    """

    def make(function: Callable[..., Any]) -> Tool:
        if isinstance(function, Tool):
            raise ConfigError(f"{function.name} is a Tool already; use dataclasses.replace(...) to change it")
        described = describe_function(function, parameters)
        return Tool(
            name=name or described.name,
            description=description or described.description,
            parameters=described.parameters,
            function=function,
            read_only=read_only,
            untrusted_output=untrusted_output,
            volatile=volatile,
            calculates=calculates,
            timeout_s=timeout_s,
            preview=preview,
            adapt=described.adapt,
        )

    return make if function is None else make(function)
