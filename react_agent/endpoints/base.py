"""The one seam to a language model: messages in, a Completion out."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from react_agent.types import Completion, Message


@dataclass(frozen=True, slots=True)
class Request:
    """What the loop asks of one call.

    max_output_tokens: the cap for this call; None leaves the endpoint's own setting.
    deadline: time.monotonic() at which the call must have ended, None for never.
    closed: fed each piece of reply text (not reasoning) as it arrives; True says that the decision is whole, so that the
        endpoint closes the stream and reports finish_reason "stop" with closed_early. None reads to the end.
    on_text, on_reasoning: called with each piece as it arrives; never raise.
    on_restart: called when pieces were handed out and the call begins anew (the stream broke): what closed, on_text and
        on_reasoning were fed is void. Without it a second attempt does not ask closed and is read to its end.
    schema: the JSON Schema of a decision, for endpoints that can constrain their output; never relied on.
    cancel: set by the caller to stop the call; the endpoint then raises EndpointError("cancelled").
    """

    max_output_tokens: int | None = None
    deadline: float | None = None
    closed: Callable[[str], bool] | None = None
    on_text: Callable[[str], None] | None = None
    on_reasoning: Callable[[str], None] | None = None
    on_restart: Callable[[], None] | None = None
    schema: Mapping[str, Any] | None = None
    cancel: threading.Event | None = None


PLAIN = Request()


class Endpoint(Protocol):
    """Turns messages into a completion. complete raises EndpointError and nothing else.

    max_output_tokens: the endpoint's own cap for a call. context_window: tokens that prompt and reply may have together, None
    when unknown. count_tokens: the server's own count of a prompt, None when it has no counter. describe: what goes into the
    trace; never a key.
    """

    model: str
    max_output_tokens: int
    context_window: int | None

    def complete(self, messages: Sequence[Message], request: Request = PLAIN) -> Completion: ...

    def count_tokens(self, messages: Sequence[Message]) -> int | None: ...

    def describe(self) -> dict[str, Any]: ...
