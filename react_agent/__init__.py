"""An agent for every language model that can only return text.

The public names are loaded from their modules when they are first used, so that importing the package costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from react_agent.agent import Agent
    from react_agent.conversation import Conversation
    from react_agent.endpoints.chat import ChatEndpoint
    from react_agent.endpoints.open import open_endpoint
    from react_agent.endpoints.scripted import ScriptedEndpoint
    from react_agent.errors import ConfigError, EndpointError, ParseError, ReactAgentError, RunError, ToolError, TraceError
    from react_agent.limits import Limits
    from react_agent.parser import parse_decision
    from react_agent.playback import replay, resume
    from react_agent.registry import Approval, ApprovalRequest, Tool, ToolRegistry, tool
    from react_agent.report import render_report
    from react_agent.trace import Trace, read_trace
    from react_agent.types import Completion, Decision, Message, Observation, RunResult, Step, ToolCall, Usage

__all__ = [
    "Agent", "Approval", "ApprovalRequest", "ChatEndpoint", "Completion", "ConfigError", "Conversation", "Decision", "EndpointError",
    "Limits", "Message", "Observation", "ParseError", "ReactAgentError", "RunError", "RunResult", "ScriptedEndpoint", "Step", "Tool",
    "ToolCall", "ToolError", "ToolRegistry", "Trace", "TraceError", "Usage", "open_endpoint", "parse_decision", "read_trace",
    "render_report", "replay", "resume", "tool",
]  # fmt: skip

_HOMES = {
    "agent": ("Agent",),
    "conversation": ("Conversation",),
    "endpoints.chat": ("ChatEndpoint",),
    "endpoints.open": ("open_endpoint",),
    "endpoints.scripted": ("ScriptedEndpoint",),
    "errors": ("ConfigError", "EndpointError", "ParseError", "ReactAgentError", "RunError", "ToolError", "TraceError"),
    "limits": ("Limits",),
    "parser": ("parse_decision",),
    "registry": ("Approval", "ApprovalRequest", "Tool", "ToolRegistry", "tool"),
    "playback": ("replay", "resume"),
    "report": ("render_report",),
    "trace": ("Trace", "read_trace"),
    "types": ("Completion", "Decision", "Message", "Observation", "RunResult", "Step", "ToolCall", "Usage"),
}
_HOME = {name: f"react_agent.{module}" for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'react_agent' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
