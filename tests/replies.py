"""Replies and what the parser makes of them, on one line each, for tests that are tables."""

import contextlib
import json
from collections.abc import Iterator
from unittest import mock

from react_agent import lenient_json, parser, parser_shape
from react_agent.errors import ParseError
from react_agent.parser import parse_decision
from react_agent.registry import Tool, ToolRegistry
from react_agent.types import Completion

# What the parser reads at once, and would read the same on the long way.
SHORTCUTS = [(parser, "read_alone"), (parser, "read_damaged"), (parser, "plain_shape"), (parser, "is_only_cut"),
             (parser, "is_cut_call"), (parser_shape, "renamed_shape"), (parser_shape, "plain_shape"), (lenient_json, "mended_object"),
             (lenient_json, "unclosed")]  # fmt: skip


@contextlib.contextmanager
def long_way() -> Iterator[None]:
    """Inside, no shortcut is taken."""
    with contextlib.ExitStack() as patches:
        for module, name in SHORTCUTS:
            patches.enter_context(mock.patch.object(module, name, return_value=None))
        yield


def toolbox(read_only: bool = True, **parameters: list[str]) -> ToolRegistry:
    """toolbox(search=["query"], now=[])"""
    return ToolRegistry(
        Tool(name, "", {"type": "object", "properties": dict.fromkeys(names, {})}, lambda **_: "", read_only=read_only)
        for name, names in parameters.items()
    )


KNOWN = toolbox(search=["query"], fetch=["url"], now=[], set=["key", "value"])


def decided(text: str, tools: ToolRegistry = KNOWN, finish_reason: str = "stop") -> str:
    """A call as `search {"query": "x"}`, an answer as `= Paris`, a refusal as `! no_object`; repairs behind a bar."""
    try:
        decision = parse_decision(Completion(text, finish_reason), tools)
    except ParseError as error:
        return f"! {error.reason}"
    call = decision.call
    what = f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}" if call else f"= {decision.final_answer}"
    return " | ".join([what, *(repair.name for repair in decision.repairs)])
