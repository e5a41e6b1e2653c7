"""One sentence for a person for each stop reason: what happened and what to do."""

from collections.abc import Sequence

from react_agent.limits import Limits
from react_agent.types import Step, StopReason

_SENTENCES: dict[StopReason, str] = {
    "max_steps": "stopped after {steps} without an answer; raise max_steps, or ask a smaller question",
    "token_budget": "stopped before the token budget of {max_tokens} was exceeded; raise max_tokens, or ask a smaller question",
    "time_budget": "stopped when the time budget of {max_seconds} seconds was used up; raise max_seconds, or use a faster model",
    "cost_budget": "stopped before the cost budget of {max_cost} was exceeded; raise max_cost, or use a cheaper model",
    "parse_failures": "stopped after {failures} unreadable replies in a row (the last: {last}); look at them in the trace, "
    "or use another model",
    "repeated_action": "stopped because the model kept making the same call; look at its observation in the trace",
    "refused": "the model, or a filter before it, refused to answer",
    "endpoint_error": "the endpoint gave no reply",
    "context_overflow": "the question and the latest observations do not fit into the model's window; use a larger window, or ask for less",
    "tool_crash": "a tool crashed twice; its traceback is in the trace",
    "ungrounded_answer": "the model answered, but neither a successful tool call nor a failure that it owns up to stands behind "
    "the answer, so it is not given",
    "trace_error": "the trace could not be written, so the run was ended",
    "cancelled": "cancelled; the trace is whole up to here",
}


def counted_steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def stop_sentence(stop: StopReason, limits: Limits, steps: Sequence[Step]) -> str:
    """The sentence for a stop reason, with the limit and what was used."""
    last = steps[-1].parse_error.split(":")[0] if steps else ""
    return _SENTENCES[stop].format(
        steps=counted_steps(len(steps)), max_tokens=limits.max_tokens, max_seconds=limits.max_seconds,
        max_cost=limits.max_cost, failures=limits.max_parse_failures, last=last,
    )  # fmt: skip
