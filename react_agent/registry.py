"""Tools and their registry: prepare, execute, finalize."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from react_agent.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. parameters: the JSON Schema of its arguments, an object schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Any]
    read_only: bool = False
    untrusted_output: bool = False
    volatile: bool = False
    timeout_s: float | None = None
    preview: Callable[..., str] | None = None
    parameter_names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameter_names", tuple(self.parameters.get("properties", {})))


class ToolRegistry:
    """The tools of one agent, by name."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ConfigError(f"two tools are named {tool.name!r}; give one of them another name")
            self._tools[tool.name] = tool

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools
