"""Who may do what: a person is asked before a tool with side effects runs."""

from collections.abc import Callable
from dataclasses import dataclass

from react_agent.errors import ToolError
from react_agent.registry_execution import attempt
from react_agent.registry_tool import Tool
from react_agent.types import ToolCall


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What a person is asked. preview: what the call would do, in the tool's own words, or empty. tainted: text from outside
    has already reached the model in this run, so that the call may be somebody else's idea."""

    tool: Tool
    call: ToolCall
    preview: str
    tainted: bool


@dataclass(frozen=True, slots=True)
class Approval:
    """The answer. words: for the model, when it is no. for_run: yes to this tool for the rest of the run."""

    allowed: bool
    words: str = ""
    for_run: bool = False

    @classmethod
    def allow(cls) -> "Approval":
        return cls(True)

    @classmethod
    def deny(cls, words: str = "") -> "Approval":
        return cls(False, words)

    @classmethod
    def allow_for_run(cls) -> "Approval":
        return cls(True, for_run=True)


Approve = Callable[[ApprovalRequest], Approval | bool]


class Gate:
    """One run's memory of what was approved and of whether text from outside came in."""

    def __init__(self, approve: Approve | None = None) -> None:
        self._approve = approve
        self._allowed_for_run: set[str] = set()
        self.tainted = False

    def check(self, tool: Tool, call: ToolCall) -> None:
        """Return when the call may run; raise ToolError("not_approved") with words for the model when it may not."""
        if tool.read_only or (tool.name in self._allowed_for_run and not self.tainted):
            return
        if self._approve is None:
            raise ToolError(
                "not_approved",
                f"{tool.name} has side effects and nobody is here to approve it; it was not run",
                "do it without this tool, or answer and say what is left to do",
            )
        request = ApprovalRequest(tool, call, _preview(tool, call), self.tainted)
        approval = _asked(self._approve, request)
        if approval.allowed is not True:  # a word such as "no" would be true, too
            raise ToolError(
                "not_approved",
                f"{tool.name} was not approved and not run" + (f": {approval.words}" if approval.words else ""),
                "do not repeat this call unchanged; follow what was said, or answer without it",
            )
        if approval.for_run is True:
            self._allowed_for_run.add(tool.name)


def _preview(tool: Tool, call: ToolCall) -> str:
    """The tool's preview. Its ToolError passes: a call that must fail is not worth a person's answer."""
    preview = tool.preview
    if preview is None:
        return ""
    shown = attempt(lambda: str(preview(**tool.keywords(call.arguments))))
    if shown.error is not None:
        raise shown.error
    return f"(no preview: {shown.crash_summary})" if shown.crash else shown.value


def _asked(approve: Approve, request: ApprovalRequest) -> Approval:
    """The callback's answer; whatever is not a clear yes is a no."""
    asked = attempt(lambda: approve(request))
    if asked.error is not None or asked.crash:
        return Approval.deny(f"asking for approval failed: {asked.error or asked.crash_summary}")
    if isinstance(asked.value, bool):
        return Approval(asked.value)
    if isinstance(asked.value, Approval):
        return asked.value
    return Approval.deny(f"the approval callback returned {type(asked.value).__name__} instead of an Approval")
