"""What all HTTP endpoints have in common; a family of APIs adds its URL, its body and how its replies are read.

A family is a subclass with url_for, body_for and delta_of and, where it differs, framing, base_headers, found_window and
model_names. Everything else (streaming, early stop, deadlines, retries, what is learned from refusals, alarms, secrets) is here.
"""

import copy
import json
import random
import re
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from react_agent.endpoints.base import PLAIN, Request
from react_agent.endpoints.http import HttpClient, Session, is_loopback, shown
from react_agent.endpoints.http_alarms import PromptWatch
from react_agent.endpoints.http_body import Framing
from react_agent.endpoints.http_call import Ask, Call, encoded
from react_agent.endpoints.http_checks import MOST_STOP_WORDS, check_body, check_numbers, check_stop, check_url
from react_agent.endpoints.http_decode import Counts, ending
from react_agent.endpoints.http_errors import ErrorClass
from react_agent.endpoints.http_explain import explain
from react_agent.endpoints.http_learned import Ladder
from react_agent.endpoints.http_reply import Delta, Reply
from react_agent.endpoints.http_retry import Deadline
from react_agent.endpoints.http_secrets import exposed_key_warning, secrets_of, without_user
from react_agent.endpoints.http_structured import StructuredOutput
from react_agent.endpoints.http_url import beside
from react_agent.endpoints.structured import Structured
from react_agent.errors import EndpointError
from react_agent.tokens import estimate_tokens
from react_agent.types import Completion, FinishReason, Message

LOOKUP_S = 3.0  # for what is only nice to know: the window, the models


class HttpEndpoint(StructuredOutput):
    """One model behind one URL. Raises ConfigError at once for a setting that cannot be, and only EndpointError from complete.

    temperature, seed: None is not sent. stop: at most four words; the text is cut at them also where the server ignores them.
    extra_body: more fields for each request. key_header: a header that takes the key as it is; None is the usual one.
    timeout_s: wall clock of one call, its repetitions and waits included. first_byte_timeout_s: until the reply's body begins,
    None for timeout_s alone. max_retries: repetitions of one call after errors that may pass. context_window: None asks the
    server, once, when it is first wanted. structured: hold replies to the decision's schema where the server can ("json_schema",
    "json_object", "grammar"; what is refused is stepped down), or where one probe proves that it does ("auto").
    clock, sleep, jitter, session: the outside world.
    warnings: what is risky about these settings; also a note of the first completion.
    """

    family = "http"
    framing: Framing = "sse"
    endings: tuple[str, ...] = ()  # what a base URL may end in that route_url puts another route in the place of
    base_headers: Mapping[str, str] = {"Content-Type": "application/json", "Accept-Encoding": "identity", "User-Agent": "react-agent"}

    def __init__(
        self, base_url: str, model: str = "", api_key: str | None = None, *,
        temperature: float | None = 0.0, max_output_tokens: int = 512, stream: bool = True, stop: Sequence[str] = (),
        seed: int | None = None, extra_body: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None,
        key_header: str | None = None,
        timeout_s: float = 120.0, connect_timeout_s: float = 10.0, first_byte_timeout_s: float | None = None,
        max_retries: int = 4, max_response_bytes: int = 64 << 20, context_window: int | None = None, structured: Structured = "off",
        session: Session | None = None,
        clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:  # fmt: skip
        base_url = check_url(base_url)
        self.stop = check_stop(stop)
        self.extra_body = check_body(extra_body)
        check_numbers(
            temperature=temperature, max_output_tokens=max_output_tokens, timeout_s=timeout_s, connect_timeout_s=connect_timeout_s,
            first_byte_timeout_s=first_byte_timeout_s, max_retries=max_retries, max_response_bytes=max_response_bytes,
        )  # fmt: skip
        self.secrets = secrets_of(base_url, api_key, key_header, headers or {})
        self.warnings = tuple(warning for warning in [exposed_key_warning(base_url, self.secrets)] if warning)
        super().__init__(structured, self.warnings)
        self.cuts_itself = True
        self.remembered_window: int | None = None
        self.base_url = without_user(base_url)
        self.model = model
        self.temperature = temperature
        self.seed = seed
        self.max_output_tokens = max_output_tokens
        self.stream = stream
        self.timeout_s = timeout_s
        self.max_retries = max_retries
        self.client = HttpClient(
            connect_timeout_s=connect_timeout_s, first_byte_timeout_s=first_byte_timeout_s, max_bytes=max_response_bytes, session=session,
        )  # fmt: skip
        self.jitter = jitter
        self._window = context_window
        self._window_asked = context_window is not None
        self._watch = PromptWatch()
        self._clock = clock
        self._sleep = sleep

    # what a family says in its own way

    @abstractmethod
    def url_for(self, ask: Ask) -> str:
        """Where the request goes."""

    @abstractmethod
    def body_for(self, ask: Ask) -> dict[str, Any]:
        """The request, under the names that this API gives to its parameters."""

    @abstractmethod
    def delta_of(self, data: Mapping[str, Any], whole: bool) -> Delta | None:
        """What one object of a reply adds; whole: it is the reply, not a piece of a stream. None: it is not one of this API's."""

    def counts_of(self, headers: Mapping[str, str]) -> Counts:
        """Token counts that a reply carries in its headers (names in lower case); those of its body take their place."""
        return Counts()

    def headers_for(self, ask: Ask) -> Mapping[str, str]:
        return {**self.base_headers, **self.secrets.headers}

    def found_window(self) -> int | None:
        """The server's context window, by a look-up or two; None when it does not tell."""
        return None

    def model_names(self) -> list[str]:
        """The models that the server has, by one look-up; empty when it does not tell."""
        return []

    # the Endpoint protocol

    def complete(self, messages: Sequence[Message], request: Request = PLAIN) -> Completion:
        started = self._clock()
        ends = [started + self.timeout_s, *([] if request.deadline is None else [request.deadline])]
        deadline = Deadline(min(ends), request.cancel, self._clock, self._sleep)
        call = Call(self, tuple(messages), request, deadline, request.max_output_tokens or self.max_output_tokens)
        try:
            if self._unproved and request.schema is not None:
                self._prove(request, deadline)
            reply = call.run()
        except EndpointError as error:
            raise self._masked(error) from None  # the cause may show a key
        return self._completion(call, reply, self._clock() - started)

    def count_tokens(self, messages: Sequence[Message]) -> int | None:
        return None

    @property
    def context_window(self) -> int | None:
        if not self._window_asked:
            self._window_asked = True
            self._window = self.found_window() or self.remembered_window
        return self._window

    @context_window.setter
    def context_window(self, tokens: int | None) -> None:
        self._window, self._window_asked = tokens, True

    def describe(self) -> dict[str, Any]:
        """The settings, for a trace; whatever may be secret is left out or masked."""
        return {
            "endpoint": self.family, "url": shown(self.base_url), "model": without_path(self.model), "temperature": self.temperature,
            "max_output_tokens": self.max_output_tokens, "stream": self.stream, "stop": list(self.stop), "seed": self.seed,
            "extra_body": self.secrets.masked_values(self.extra_body), "timeout_s": self.timeout_s,
            "structured": self.structured,
        }  # fmt: skip

    def note(self, text: str) -> None:
        """Something to be told with the next completion."""
        self._unsaid.append(text)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shown(self.base_url)!r}, model={without_path(self.model)!r})"

    def close(self) -> None:
        """Close the connections that are kept open for the next call."""
        self.client.close()

    def variant(self, **settings: Any) -> Self:
        """The same endpoint with other attributes and a memory of its own, so that nothing learned by it changes this one."""
        made = copy.copy(self)
        made.ladder, made._watch, made._unsaid, made._unproved = Ladder(), PromptWatch(), [], False
        made.ladder.learn(**{name: getattr(self.ladder.learned, name) for name in ("dropped", "renamed", "cap", "server")})
        for name, value in settings.items():
            setattr(made, name, value)
        return made

    # for the call and the families

    def explained(self, failure: ErrorClass, status: int) -> EndpointError:
        """The error that a person reads when nothing is left to try."""
        if failure.name == "context_overflow" and failure.limit is not None and self._window is None:
            self._window, self._window_asked = failure.limit, True
        lacks_model = failure.kind == "not_found" or (failure.kind == "bad_request" and not self.model)
        names = self.model_names() if lacks_model else []
        return explain(failure, status, shown(self.base_url), without_path(self.model), names, self.secrets.has_key)

    def look_up(self, url: str, body: Mapping[str, Any] | None = None) -> Any:
        """The JSON at a URL of this server, None when it does not come soon; for what is only nice to know."""
        status, data = self.asked(url, body)
        return data if status == 200 else None

    def asked(self, url: str, body: Mapping[str, Any] | None = None, deadline: Deadline | None = None) -> tuple[int, Any]:
        """(status, JSON) of a look-up, without the patience of a call: (0, None) when nothing came within LOOKUP_S or by deadline."""
        at = self._clock() + LOOKUP_S
        limit = Deadline(at, None, self._clock, self._sleep)
        if deadline is not None:
            limit = replace(deadline, at=at if deadline.at is None else min(at, deadline.at))
        method, data = ("GET", None) if body is None else ("POST", encoded(body))
        try:
            with self.client.exchange(method, url, {**self.base_headers, **self.secrets.headers}, data, limit) as found:
                status, text = found.status, found.read()
        except EndpointError:
            return 0, None
        try:
            return status, json.loads(text)
        except (ValueError, RecursionError):
            return status, None

    def route_url(self, route: str) -> str:
        """The URL of a route of this server."""
        return beside(self.base_url, route, self.endings)

    def sampling(self, *, seed: str = "seed", stop: str = "stop", most_words: int = MOST_STOP_WORDS) -> dict[str, Any]:
        """Temperature, seed and stop words under this API's names; an empty name is a parameter that it does not have. What is not set
        is left out. most_words: that the server takes; the text is cut at all of them in any case."""
        wanted = {"temperature": self.temperature, seed: self.seed, stop: list(self.stop[:most_words]) or None}
        return {name: value for name, value in wanted.items() if name and value is not None}

    @property
    def cut_words(self) -> tuple[str, ...]:
        """The words at which the text is cut here, whatever the server does. cuts_itself = False leaves it to the server."""
        return self.stop if self.cuts_itself else ()

    @property
    def on_this_machine(self) -> bool:
        return is_loopback(self.base_url)

    def _completion(self, call: Call, reply: Reply, seconds: float) -> Completion:
        finish, notes = self._finish(call, reply)
        text = reply.text
        if not text.strip() and reply.calls:
            text = reply.tool_call_text()
            notes.append("tool_call_field: the server read the reply as a native tool call; it was turned back into text")
        usage = reply.counts.settled(self._watch.estimate(call.messages), round(estimate_tokens(text + reply.reasoning)))
        if reply.counts.prompt and (alarm := self._watch.check(call.messages, reply.counts.prompt)):
            notes.append(alarm)
        said, self._unsaid = self._unsaid, []
        return Completion(
            text, finish, usage, reply.reasoning, reply.refusal, reply.closed_early, without_path(reply.model), seconds,
            tuple(self.secrets.masked(" ".join(note.split())) for note in (*said, *call.notes, *notes)),
        )  # fmt: skip

    def _finish(self, call: Call, reply: Reply) -> tuple[FinishReason, list[str]]:
        """Why the model stopped. A server that cut the reply at the cap and says otherwise is not believed."""
        if reply.satisfied:
            return "stop", []
        finish = ending(reply.finish)
        if finish == "failed":
            return "unknown", []
        written = reply.counts.completion
        if finish in ("stop", "unknown") and written is not None and call.sent_cap is not None and written >= call.sent_cap:
            return "length", [f"cut_not_reported: the server says {reply.finish!r}, but wrote all of the {call.sent_cap} tokens it could"]
        return finish, []

    def _masked(self, error: EndpointError) -> EndpointError:
        message, hint = self.secrets.masked(error.message), self.secrets.masked(error.hint)
        return EndpointError(
            error.kind, message, hint, status=error.status, limit=error.limit, used=error.used, partial=error.partial,
        )  # fmt: skip


def without_path(model: str) -> str:
    """A model's name without the folders of a local path, which say more about a machine than about a model."""
    return re.split(r"[/\\]", model)[-1] if re.match(r"/|[A-Za-z]:[/\\]|\\\\|~", model) else model
