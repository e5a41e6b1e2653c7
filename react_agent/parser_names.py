"""Which tool a model meant by the name it wrote, and the words for "no tool" and "I am done"."""

import re
from collections.abc import Collection

from react_agent.lenient_json import Guide, Unreadable
from react_agent.lenient_json_decision import as_word, bare
from react_agent.parser_place import Place
from react_agent.registry import Tool, ToolRegistry
from react_agent.registry_mistakes import near

FINISH_WORDS = frozenset({"finish", "finalanswer", "answer", "final", "done", "完成", "最终答案", "回答"})
_SPACES = re.compile(r"\s+")
_SHOWN = 60


def find_tool(name: str, tools: ToolRegistry) -> Tool | None:
    """The one tool that a name can mean: as written, else bare, else also without regard to case and with spaces for underscores."""
    if tool := tools.get(name):
        return tool
    plain = bare(name)
    if tool := tools.get(plain):
        return tool
    same = _alike(plain, tools)
    return tools.get(same[0]) if len(same) == 1 else None


def parameters_in(tools: ToolRegistry) -> Guide:
    """Tells which parameters may follow in a call of a tool, by its name; those of all tools while the name is not known."""

    def parameters(name: object) -> Collection[str]:
        tool = find_tool(name, tools) if isinstance(name, str) else None
        return tool.parameter_names if tool else {each for known in tools for each in known.parameter_names}

    return parameters


def is_finish(name: str) -> bool:
    return as_word(name) in FINISH_WORDS


def unknown_tool(name: str, tools: ToolRegistry, place: Place) -> Unreadable:
    """Says what is there instead. A near name goes into the hint, never into the call."""
    shown = name if len(name) <= _SHOWN else f"{name[: _SHOWN - 1]}…"
    plain = bare(name)
    same = _alike(plain, tools)
    start = bare(re.split(r"[(\[{]", name, maxsplit=1)[0])
    if start in tools:
        hint = f"action holds a call, {shown!r}; write only the name {start!r} there and its arguments in action_input"
    elif len(same) > 1:
        hint = f"{shown!r} could be {' or '.join(same)}; write one of them exactly"
    elif meant := near(plain, tools.names):
        hint = f"there is no tool named {shown!r}; {meant} comes near"
    else:
        hint = f"there is no tool named {shown!r}; the tools are: {', '.join(tools.names) or 'none'}"
    at = place.of(name) if name.isprintable() and not set(name) & set('"\\') else place.of_key("action")
    return Unreadable("unknown_tool", at, hint)


def _alike(plain: str, tools: ToolRegistry) -> tuple[str, ...]:
    """The tools' names that are this bare one but for case and spaces."""
    return tools.alike(plain if plain.isidentifier() else _SPACES.sub("_", plain))
