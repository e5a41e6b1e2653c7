"""What an agent hands to each of its runs, and what of it stands in the trace."""

from collections.abc import Callable
from dataclasses import dataclass

from react_agent.endpoints.base import Endpoint
from react_agent.limits import Limits
from react_agent.prompt import PromptSet
from react_agent.registry import Approval, ApprovalRequest, ToolRegistry
from react_agent.trace_events import Event
from react_agent.types import Message

# Recorded in the trace.
OPTIONS = ("require_tool", "check_numbers", "retry_failed_input", "raw_history", "early_stop", "summarise", "suggest_tool")
DESCRIBED = ("name", "description", "parameters", "read_only", "untrusted_output", "volatile", "calculates")  # of each tool


@dataclass(frozen=True, slots=True)
class Setup:
    """What an agent hands to each of its runs; see Agent for the meanings."""

    endpoint: Endpoint
    tools: ToolRegistry
    limits: Limits
    prompts: PromptSet
    opening: tuple[Message, ...]
    instructions: str
    require_tool: bool
    check_numbers: bool
    retry_failed_input: bool
    approve: Callable[[ApprovalRequest], Approval | bool] | None
    on_event: Callable[[Event], None] | None
    raw_history: bool
    early_stop: bool
    summarise: bool
    suggest_tool: bool
    clock: Callable[[], float]
