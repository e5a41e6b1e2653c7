"""One call of an HTTP endpoint, from the messages to a reply that is whole: attempts, what each refusal teaches, waits.

An attempt ends in a whole Reply or in an ErrorClass; run reacts to the latter until nothing is left to try.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from react_agent.endpoints.base import Request
from react_agent.endpoints.http import Exchange, HttpClient, TransportError
from react_agent.endpoints.http_body import Framing, read_reply
from react_agent.endpoints.http_decode import Counts, ending
from react_agent.endpoints.http_errors import ErrorClass, classify
from react_agent.endpoints.http_learned import LEAST_CAP, Ladder, sent_names, with_fields
from react_agent.endpoints.http_parameters import CAP_NAMES
from react_agent.endpoints.http_reply import Delta, Reply
from react_agent.endpoints.http_retry import Deadline, backoff
from react_agent.endpoints.roles import strict_roles
from react_agent.errors import EndpointError
from react_agent.tokens import estimate_prompt
from react_agent.types import Message

MAX_BROKEN_STREAMS = 2   # then the reply is asked for in one piece
SMALL_PROMPT = 2000      # tokens; an error without words that may mean "too long" does not mean it for a smaller one
WINDOW_MARGIN = 8        # tokens left free when the output cap is lowered to what the window has left
LOADING_WAIT_S = 1.0     # between two looks at a server that is loading its model
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Ask:
    """What a request's body is made from. cap: the most output tokens. request: what the caller asked, for its schema. deadline: of
    the call, for what has to be looked up first."""

    messages: tuple[Message, ...]
    cap: int
    stream: bool
    request: Request
    deadline: Deadline = Deadline()


class Wire(Protocol):
    """What a family of APIs says in its own way; an HttpEndpoint is one."""

    framing: Framing
    stream: bool
    max_retries: int
    ladder: Ladder
    client: HttpClient

    @property
    def cut_words(self) -> tuple[str, ...]: ...

    def url_for(self, ask: Ask) -> str: ...

    def headers_for(self, ask: Ask) -> Mapping[str, str]: ...

    def body_for(self, ask: Ask) -> dict[str, Any]: ...

    def constraint_for(self, ask: Ask) -> dict[str, Any]: ...

    def delta_of(self, data: Mapping[str, Any], whole: bool) -> Delta | None: ...

    def counts_of(self, headers: Mapping[str, str]) -> Counts: ...

    def explained(self, failure: ErrorClass, status: int) -> EndpointError: ...

    def jitter(self) -> float: ...


@dataclass(slots=True)
class Call:
    """The state of one call. cap: lowered when the window has less room. notes: what had to be done, for the Completion.
    sent: the body of the last request. sent_cap: the most output tokens it asked for, None when it did not say."""

    wire: Wire
    messages: tuple[Message, ...]
    request: Request
    deadline: Deadline
    cap: int
    notes: list[str] = field(default_factory=list)
    sent: dict[str, Any] = field(default_factory=dict)
    sent_cap: int | None = None
    reply: Reply = field(init=False)
    _status: int = 0
    _retries: int = 0
    _broken_streams: int = 0
    _watched: bool = True

    def run(self) -> Reply:
        """The reply. Raises EndpointError, with what text had arrived as partial."""
        self.reply = Reply(self.request)
        try:
            while (failure := self._attempt()) is not None:
                self._react(failure)
        except EndpointError as error:
            error.partial = error.partial or self.reply.text
            raise
        return self.reply

    def _attempt(self) -> ErrorClass | None:
        """One request; None when its reply is whole."""
        self.deadline.check()
        ask = self._ask()
        self.sent = self.wire.ladder.learned.apply(with_fields(self.wire.body_for(ask), self.wire.constraint_for(ask)))
        self.deadline.check()  # a family may have looked things up for its body
        self.reply = Reply(self.request, self.wire.cut_words, watched=self._watched and ask.stream)
        self.sent_cap = ask.cap if CAP_NAMES & sent_names(self.sent) else None
        try:
            with self.wire.client.exchange(
                "POST", self.wire.url_for(ask), self.wire.headers_for(ask), encoded(self.sent), self.deadline,
            ) as exchange:  # fmt: skip
                self._status = exchange.status
                return self._read(exchange, ask)
        except TransportError as error:
            if not error.transient:
                raise
            return ErrorClass("retry", error.message, error.kind)

    def _ask(self) -> Ask:
        learned = self.wire.ladder.learned
        messages = strict_roles(self.messages) if learned.strict_roles else self.messages
        stream = self.wire.stream and learned.stream and self._broken_streams < MAX_BROKEN_STREAMS
        return Ask(messages, self.cap if learned.cap is None else min(self.cap, learned.cap), stream, self.request, self.deadline)

    def _read(self, exchange: Exchange, ask: Ask) -> ErrorClass | None:
        if not 200 <= exchange.status < 300:
            failure: ErrorClass | None = classify(exchange.status, exchange.read(), exchange.headers)
        else:
            failure = read_reply(exchange, self.reply, self.wire.framing if ask.stream else "sse", self.wire.delta_of) or self._unfinished()
        if failure is None:
            self.reply.counts = self.wire.counts_of(exchange.headers).updated(self.reply.counts)
            self._learn(exchange, ask)
        elif failure.name == "model_text_in_error":
            self.notes.append(f"model_text_in_error: the reply was taken from an error: {failure.message[:160]}")
            self.reply.add(Delta(failure.text))
            self.reply.flush()
            return None
        return failure

    def _unfinished(self) -> ErrorClass | None:
        """A stream that just stopped, or a reply that the server says it broke off."""
        if self.reply.satisfied:
            return None
        if ending(self.reply.finish) == "failed":
            return ErrorClass("retry", f"the server broke off the reply ({self.reply.finish})", "server_error")
        if self.reply.ended:
            return None
        self._broken_streams += 1
        self.notes.append(f"stream_ended_early: the stream stopped after {len(self.reply.text)} characters, without its end")
        return ErrorClass("retry", "the stream stopped without its end", "bad_response")

    def _learn(self, exchange: Exchange, ask: Ask) -> None:
        """What a good reply tells about the server."""
        learned = self.wire.ladder.learned
        if self._broken_streams and not ask.stream and learned.stream:
            self.wire.ladder.learn(stream=False)
            self.notes.append("streaming switched off: this server's streams break off, its whole replies do not")
        if not learned.server:
            named = self.reply.server or ("llama.cpp" if "llama.cpp" in exchange.headers.get("server", "") else "")
            self.wire.ladder.learn(server=named or ("" if self.reply.satisfied else "other"))

    def _react(self, failure: ErrorClass) -> None:
        """Prepare the next attempt, or raise."""
        if failure.unsure and estimate_prompt(self.messages) < SMALL_PROMPT:
            failure = replace(failure, name="bad_parameter", kind="bad_request")
        if failure.name == "retry":
            self._pause(failure)
        elif (note := self._change(failure)) is not None:
            self.notes.append(note)
        else:
            raise self.wire.explained(failure, self._status)
        if self.reply.handed_out:
            if self.request.on_restart is not None:
                self.request.on_restart()
            else:
                self._watched = False

    def _change(self, failure: ErrorClass) -> str | None:
        """Ask differently; what was changed, None when nothing is left to change."""
        learned = self.wire.ladder.learned
        if failure.name in ("drop_parameter", "rename_parameter", "bad_parameter"):
            return self.wire.ladder.step_down(failure, self.sent)
        if failure.name == "role_template" and not learned.strict_roles:
            self.wire.ladder.learn(strict_roles=True)
            return f"roles made strict, the system message folded into the first user message: {failure.message[:160]}"
        if failure.name == "context_overflow" and failure.limit is not None and failure.used is not None:
            room = failure.limit - failure.used - WINDOW_MARGIN
            if LEAST_CAP <= room < self.cap:
                self.cap = room
                return f"output limited to {room} tokens, which is what the window has left: {failure.message[:160]}"
        return None

    def _pause(self, failure: ErrorClass) -> None:
        """Wait before the same request is made again; raises when that was done often enough or would take too long."""
        if self._retries >= self.wire.max_retries and not failure.loading:
            raise self.wire.explained(failure, self._status)
        own = LOADING_WAIT_S if failure.loading else backoff(self._retries, self.wire.jitter())
        wait_s = own if failure.wait_s is None else failure.wait_s
        remaining = self.deadline.remaining
        if remaining is not None and wait_s >= remaining:
            late = f"{failure.message[:300]} (to be asked again in {wait_s:.0f} s, but only {max(remaining, 0):.0f} s are left)"
            raise self.wire.explained(replace(failure, message=late), self._status)
        self.notes.append(f"asked again after {wait_s:.1f} s: {failure.message[:160]}")
        self._retries += 1
        self.deadline.wait(wait_s)


def encoded(body: Mapping[str, Any]) -> bytes:
    """A request's body as bytes; half a surrogate pair, which no server accepts, becomes the replacement character."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _LONE_SURROGATE.sub("\ufffd", text).encode()
