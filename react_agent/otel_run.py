"""The spans of one run, opened and closed by its events."""

import re
from collections.abc import Callable, Mapping
from contextvars import Token
from dataclasses import dataclass
from typing import Any

from opentelemetry import context, trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer

from react_agent.otel_content import answer_json, as_json, instructions_json, known, messages_json, reply_json, tools_json, usage_attributes
from react_agent.otel_endpoint import call_attributes, model_attributes, operation_of
from react_agent.trace import Masker
from react_agent.trace_events import (
    CompletionReceived,
    DecisionMade,
    EndpointFailed,
    Event,
    Noted,
    ReplyUnreadable,
    RequestSent,
    RunEnded,
    RunStarted,
    Summarised,
    TextArrived,
    ToolEnded,
    ToolStarted,
)  # fmt: skip
from react_agent.types import Message, Usage

_SLUG = re.compile(r"([a-z_]+): ")


@dataclass(frozen=True, slots=True)
class Settings:
    """What all runs of a listener have in common; see Spans."""

    tracer: Tracer
    content: bool
    mask: Masker
    agent_name: str
    conversation_id: str
    clock: Callable[[], float]


@dataclass(slots=True)
class Child:
    """The call or the tool at work. token: takes its span out of the thread's context; asked, heard: when it began and first spoke."""

    span: Span
    token: Token[Context]
    is_tool: bool
    asked: float
    heard: float | None = None


class RunSpans:
    """One run: the span of it, and that of the call or tool at work.

    replayed: so many events, the start included, are told again from a record: no call and no tool is behind them, so they make
    no spans. The last of them may be a request or a tool's start whose effect is to come, which makes one.
    """

    def __init__(self, settings: Settings, started: RunStarted, replayed: int) -> None:
        self._settings = settings
        self._started = started
        self._to_replay = max(0, replayed - 1)
        self._call = call_attributes(started.endpoint)
        self._operation = operation_of(started.endpoint)
        self._descriptions = {str(tool.get("name")): tool.get("description") for tool in started.tools}
        self._messages: list[Message] = []
        self._usage = Usage()
        self._child: Child | None = None
        self._root = settings.tracer.start_span(
            f"invoke_agent {settings.agent_name}", kind=SpanKind.INTERNAL, attributes=known(self._run_attributes(replayed > 0)),
        )  # fmt: skip
        self._context = trace.set_span_in_context(self._root)
        self._shows = settings.content and self._root.is_recording()
        _set(self._root, {
            "gen_ai.system_instructions": self._said(instructions_json, started.instructions),
            "gen_ai.input.messages": self._said(messages_json, [*started.history, Message("user", started.question)]),
            "gen_ai.tool.definitions": self._said(tools_json, started.tools),
        })  # fmt: skip

    @property
    def in_tool(self) -> bool:
        return self._child is not None and self._child.is_tool

    def hear(self, event: Event) -> None:
        if self._shows and isinstance(event, RequestSent):
            self._messages[event.keep :] = event.add
        handle = _HANDLERS.get(type(event))
        if not self._is_record(event) and handle is not None:
            handle(self, event)

    def abandon(self) -> None:
        """The run ended without saying so: an exception came out of the loop."""
        self._cut("abandoned")
        _fail(self._root, "abandoned")
        self._root.end()

    def _is_record(self, event: Event) -> bool:
        if self._to_replay == 0:
            return False
        self._to_replay -= 1
        return self._to_replay > 0 or not isinstance(event, RequestSent | ToolStarted)

    def _run_attributes(self, resumed: bool) -> dict[str, Any]:
        return {
            "gen_ai.operation.name": "invoke_agent",
            **model_attributes(self._started.endpoint),
            "gen_ai.agent.name": self._settings.agent_name,
            "gen_ai.conversation.id": self._settings.conversation_id or None,
            "react_agent.run.id": self._started.run_id,
            "react_agent.run.resumed": resumed or None,
            "react_agent.prompt": self._started.prompt or None,
        }

    # calls of the endpoint

    def _requested(self, event: RequestSent) -> None:
        model = self._call["gen_ai.request.model"]
        self._open(f"{self._operation} {model}" if model else self._operation, SpanKind.CLIENT, {
            **self._call, "gen_ai.request.max_tokens": event.max_output_tokens, "react_agent.step": event.step,
            "react_agent.forced": event.forced or None,
            "gen_ai.input.messages": self._said(messages_json, self._messages),
        })  # fmt: skip

    def _text(self, event: TextArrived) -> None:
        if self._child is None:
            return
        if event.restart:
            self._child.heard = None
            self._child.span.add_event("react_agent.restart")
        elif self._child.heard is None:
            self._child.heard = self._settings.clock()

    def _completed(self, event: CompletionReceived) -> None:
        self._usage += event.usage
        child = self._child
        if child is None:
            return
        _set(child.span, {
            "gen_ai.response.model": event.model or None, "gen_ai.response.finish_reasons": [event.finish_reason],
            "gen_ai.response.time_to_first_chunk": self._first_chunk(child),
            **usage_attributes(event.usage), "react_agent.closed_early": event.closed_early or None,
            "gen_ai.output.messages": self._said(reply_json, event),
        })  # fmt: skip
        for note in event.notes:
            slug = _SLUG.match(note)
            self._tell(child.span, "react_agent.note", note, {"react_agent.note": slug[1] if slug else "endpoint"})
        self._close()

    def _first_chunk(self, child: Child) -> float | None:
        """Seconds; None where the reply came whole."""
        streamed = self._call["gen_ai.request.stream"] is not False
        return child.heard - child.asked if streamed and child.heard is not None else None

    def _failed(self, event: EndpointFailed) -> None:
        if self._child is None:
            return
        _set(self._child.span, {"http.response.status_code": event.status})
        _fail(self._child.span, event.kind, self._said(str, f"{event.message.rstrip('.')}. {event.hint}".strip()))
        self._close()

    def _summarised(self, event: Summarised) -> None:
        self._usage += event.usage
        self._tell(self._root, "react_agent.summary", event.text, {"react_agent.step": event.step, **usage_attributes(event.usage)})

    # what came of the replies

    def _decided(self, event: DecisionMade) -> None:
        if event.repairs:
            names = [name for name, _ in event.repairs]
            self._tell(self._root, "react_agent.repairs", "", {"react_agent.step": event.step, "react_agent.repairs": names})

    def _unreadable(self, event: ReplyUnreadable) -> None:
        self._tell(self._root, "react_agent.parse_error", event.hint, {"react_agent.step": event.step, "error.type": event.reason})

    def _noted(self, event: Noted) -> None:
        self._tell(self._root, "react_agent.note", event.message, {"react_agent.step": event.step, "react_agent.note": event.slug})

    # tools

    def _tool_started(self, event: ToolStarted) -> None:
        self._open(f"execute_tool {event.tool}", SpanKind.INTERNAL, {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": event.tool, "gen_ai.tool.type": "function",
            "gen_ai.tool.description": self._descriptions.get(event.tool) or None, "react_agent.step": event.step,
            "react_agent.tool.read_only": event.read_only,
            "gen_ai.tool.call.arguments": self._said(as_json, event.arguments),
        }, is_tool=True)  # fmt: skip

    def _tool_ended(self, event: ToolEnded) -> None:
        if self._child is None:
            attributes = {"react_agent.step": event.step, "gen_ai.tool.name": event.tool, "error.type": event.error}
            self._tell(self._root, "react_agent.tool_refused", event.content, attributes)
            return
        span = self._child.span
        _set(span, {"gen_ai.tool.call.result": self._said(str, event.content), "react_agent.truncated": event.truncated or None})
        if (crash := self._said(str, event.crash)) is not None:
            span.add_event("exception", known({"exception.stacktrace": crash}))
        if event.error is not None:
            _fail(span, event.error)
        self._close()

    # the end

    def _ended(self, event: RunEnded) -> None:
        self._cut(event.stop_reason)
        _set(self._root, {
            **usage_attributes(self._usage), "react_agent.run.status": event.status, "react_agent.run.stop_reason": event.stop_reason,
            "react_agent.run.steps": event.steps, "react_agent.run.forced": event.forced or None, "react_agent.run.cost": event.cost,
            "gen_ai.output.messages": self._said(answer_json, event.answer),
        })  # fmt: skip
        if event.status not in ("completed", "cancelled"):
            _fail(self._root, event.stop_reason, self._said(str, event.error))
        self._root.end()

    # spans

    def _open(self, name: str, kind: SpanKind, attributes: Mapping[str, Any], *, is_tool: bool = False) -> None:
        span = self._settings.tracer.start_span(name, context=self._context, kind=kind, attributes=known(attributes))
        token = context.attach(trace.set_span_in_context(span, self._context))
        self._child = Child(span, token, is_tool, self._settings.clock())

    def _close(self) -> None:
        if self._child is not None:
            context.detach(self._child.token)
            self._child.span.end()
            self._child = None

    def _cut(self, reason: str) -> None:
        """End a call or a tool that the run's end has interrupted."""
        if self._child is not None:
            _fail(self._child.span, reason)
            self._close()

    def _tell(self, span: Span, name: str, message: str, attributes: Mapping[str, Any]) -> None:
        span.add_event(name, known({**attributes, "react_agent.message": self._said(str, message)}))

    def _said(self, make: Callable[[Any], str | None], value: Any) -> str | None:
        """The one gate for what was said in the run: None when it is not to be told, else without the secrets."""
        made = make(value) if self._shows else None
        return str(self._settings.mask({"text": made})["text"]) if made else None


def _set(span: Span, attributes: Mapping[str, Any]) -> None:
    span.set_attributes(known(attributes))


def _fail(span: Span, error: str, message: str | None = None) -> None:
    _set(span, {"error.type": error})
    span.set_status(StatusCode.ERROR, message or error)


_HANDLERS: Mapping[type[Event], Callable[[RunSpans, Any], None]] = {
    RequestSent: RunSpans._requested, TextArrived: RunSpans._text, CompletionReceived: RunSpans._completed,
    EndpointFailed: RunSpans._failed, Summarised: RunSpans._summarised, DecisionMade: RunSpans._decided,
    ReplyUnreadable: RunSpans._unreadable, ToolStarted: RunSpans._tool_started, ToolEnded: RunSpans._tool_ended,
    Noted: RunSpans._noted, RunEnded: RunSpans._ended,
}  # fmt: skip
