"""An agent for every language model that can only return text."""

from react_agent.agent import Agent
from react_agent.conversation import Conversation
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.endpoints.scripted import ScriptedEndpoint
from react_agent.errors import (
    ConfigError,
    EndpointError,
    ParseError,
    ReactAgentError,
    RunError,
    ToolError,
    TraceError,
)
from react_agent.limits import Limits
from react_agent.parser import parse_decision
from react_agent.registry import Approval, ApprovalRequest, Tool, ToolRegistry, tool
from react_agent.replay import replay, resume
from react_agent.report import render_report
from react_agent.trace import Trace, read_trace
from react_agent.types import Completion, Decision, Message, Observation, RunResult, Step, ToolCall, Usage

__all__ = [
    "Agent",
    "Approval",
    "ApprovalRequest",
    "ChatEndpoint",
    "Completion",
    "ConfigError",
    "Conversation",
    "Decision",
    "EndpointError",
    "Limits",
    "Message",
    "Observation",
    "ParseError",
    "ReactAgentError",
    "RunError",
    "RunResult",
    "ScriptedEndpoint",
    "Step",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolRegistry",
    "Trace",
    "TraceError",
    "Usage",
    "parse_decision",
    "read_trace",
    "render_report",
    "replay",
    "resume",
    "tool",
]
