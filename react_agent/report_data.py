"""A run as plain data: what `show --json` prints and what the report page draws."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from react_agent.report_stats import Totals, totals_of
from react_agent.report_view import Attempt, RunView, StepView
from react_agent.trace_events import Event
from react_agent.types import Message

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def run_data(run: RunView) -> dict[str, Any]:
    """All of a run. Its requests hold what was added to the one before (keep, add), as in the trace."""
    start, end = run.start, run.end
    return {
        "trace": run.name, "format": start.version, "run_id": start.run_id, "question": start.question, "status": run.status,
        "stop_reason": end.stop_reason if end else None, "sentence": run.sentence, "answer": end.answer if end else None,
        "error": end.error if end else "", "forced": end is not None and end.forced, "started": run.started_at, "seconds": run.seconds,
        "usage": asdict(run.usage), "cost": run.cost, "language": start.language, "prompt": start.prompt,
        "instructions": start.instructions, "models": list(run.models), "endpoint": dict(start.endpoint), "limits": dict(start.limits),
        "options": dict(start.options), "context_window": start.context_window, "max_output_tokens": start.max_output_tokens,
        "tools": [dict(tool) for tool in start.tools], "history": messages_data(start.history), "tainted": start.tainted,
        "side_effects": [asdict(effect) for effect in run.side_effects], "totals": totals_data(totals_of(run)),
        "steps": [step_data(step) for step in run.steps],
    }  # fmt: skip


def step_data(step: StepView) -> dict[str, Any]:
    """All of a step; what did not happen in it is null."""
    return {
        "step": step.number, "at": step.at, "outcome": step.outcome, "forced": step.forced, "resumed": step.resumed,
        "model_seconds": round(step.model_seconds, 4), "tool_seconds": round(step.tool_seconds, 4),
        "attempts": [_attempt_data(attempt) for attempt in step.attempts], "counted": step.counted.tokens if step.counted else None,
        "completion": _event_data(step.completion), "decision": _event_data(step.decision), "unreadable": _event_data(step.unreadable),
        "started": _event_data(step.started), "ended": _event_data(step.ended), "notes": [_event_data(note) for note in step.notes],
        "summaries": [_event_data(summary) for summary in step.summaries],
    }  # fmt: skip


def totals_data(totals: Totals) -> dict[str, Any]:
    """Sums, with the noise of adding fractions rounded away."""
    data = asdict(totals)
    for sums in (data, *data["calls"].values()):
        sums.update({name: round(value, 6) for name, value in sums.items() if isinstance(value, float)})
    return data


def messages_data(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _attempt_data(attempt: Attempt) -> dict[str, Any]:
    request = attempt.request
    return {
        "keep": request.keep, "add": messages_data(request.add), "max_output_tokens": request.max_output_tokens,
        "estimated_tokens": request.estimated_tokens, "forced": request.forced, "failure": _event_data(attempt.failure),
        "seconds": attempt.seconds,
    }  # fmt: skip


def _event_data(event: Event | None) -> dict[str, Any] | None:
    """An event's fields but the step, which is said once."""
    if event is None:
        return None
    data = asdict(event)
    data.pop("step")
    return data


def json_text(value: Any, indent: int | None = None) -> str:
    """Valid JSON that any encoding of Unicode can hold: numbers that JSON has not are null, lone surrogates are escaped."""
    text = json.dumps(_finite(value), ensure_ascii=False, indent=indent, default=str)
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
