"""Replies and what the parser makes of them, on one line each, for tests that are tables."""

import json

from react_agent.errors import ParseError
from react_agent.parser import parse_decision
from react_agent.registry import Tool, ToolRegistry
from react_agent.types import Completion


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
