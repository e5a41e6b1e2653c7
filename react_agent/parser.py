"""Completion -> Decision or ParseError; pure, linear, and nothing else ever escapes."""

import json
from typing import Any

from react_agent.errors import ParseError
from react_agent.registry import ToolRegistry
from react_agent.types import Completion, Decision, ToolCall

NONE_WORDS = frozenset({"", "none", "null"})


def parse_decision(completion: Completion, tools: ToolRegistry) -> Decision:
    """The decision that a completion's text holds; raises ParseError and nothing else."""
    if completion.refusal:
        raise ParseError("refused", "the model refused", excerpt=completion.refusal[:40])
    text = completion.text.strip()
    if not text:
        raise ParseError("empty", "the reply has no text; send one JSON object")
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise ParseError("truncated" if completion.finish_reason == "length" else "no_object", "send one JSON object", excerpt=text[:40])
    try:
        found = json.loads(text[start : end + 1])
    except (ValueError, RecursionError) as error:
        raise ParseError("bad_syntax", str(error), excerpt=text[:40]) from None
    return _decision(found, tools)


def _decision(found: dict[str, Any], tools: ToolRegistry) -> Decision:
    thought = found.get("thought") or ""
    name, answer = found.get("action"), found.get("final_answer")
    if isinstance(name, str) and name.strip().lower() not in NONE_WORDS:
        if name not in tools:
            raise ParseError("unknown_tool", f"there is no tool {name!r}; the tools are: {', '.join(tools.names)}", excerpt=name[:40])
        arguments = found.get("action_input")
        if not isinstance(arguments, dict):
            raise ParseError("bad_input", "action_input must be an object")
        return Decision(thought=str(thought), call=ToolCall(name, arguments))
    if answer in (None, ""):
        raise ParseError("no_answer", "give a tool name in action or text in final_answer")
    return Decision(thought=str(thought), final_answer=answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))


def canonical(decision: Decision) -> str:
    """The decision as one line of JSON with its keys in order, for the model's history; lone surrogates become U+FFFD."""
    call = decision.call
    value = {
        "thought": decision.thought,
        "action": call.name if call else "none",
        "action_input": call.arguments if call else {},
        "final_answer": decision.final_answer,
    }
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
