"""What a person sees of a run while it goes on, made from its events: rich on a terminal that has it, plain lines elsewhere."""

import importlib.util
import json
import os
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from react_agent.agent_words import counted_steps
from react_agent.cli.advice import CHECK, CHECKED, ELSEWHERE, in_options
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
    TextArrived,
    ToolEnded,
)  # fmt: skip

LABEL = 9        # columns of the label before each line
SHOWN_LINES = 8  # of an observation
SHOWN_WIDTH = 160
LONGEST = 2_000  # characters of what a model wrote
NARROW = 30      # columns of a terminal on which a table leaves nothing to read
STYLES = {"thought": "italic", "call": "bold cyan", "result": "green", "failed": "red", "note": "yellow", "cost": "dim", "prompt": "dim",
          "reply": "dim", "answer": "bold green", "stopped": "bold red", "trace": "dim", "step": "bold"}  # fmt: skip


class Printer(Protocol):
    """Prints one labelled block of text, and shows what is going on until the next one."""

    def block(self, label: str, text: str) -> None: ...

    def busy(self, text: str) -> None: ...

    def quiet(self) -> None: ...


class PlainPrinter:
    """Lines without colour, for pipes, files and NO_COLOR."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def block(self, label: str, text: str) -> None:
        lines = printable(text).splitlines() or [""]
        labels = [label, *[""] * (len(lines) - 1)]
        shown = [f"{label:<{LABEL}}{line}" if line else label for label, line in zip(labels, lines, strict=True)]
        print(*shown, sep="\n", file=self._stream, flush=True)

    def busy(self, text: str) -> None:
        pass

    def quiet(self) -> None:
        pass


class RichPrinter:
    """Colours, and a line that says what is going on."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console  # the extra [cli]

        self._console = Console(file=stream, highlight=False, soft_wrap=False)
        self._status: Any = None

    def block(self, label: str, text: str) -> None:
        from rich.table import Table
        from rich.text import Text

        self.quiet()
        style = STYLES.get(label.split()[0], "")
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=LABEL - 1, no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(Text(label, style=style), Text(printable(text), style=style if label not in ("call", "step") else ""))
        self._console.print(grid)

    def busy(self, text: str) -> None:
        from rich.markup import escape

        if self._status is None:
            self._status = self._console.status(escape(text))
            self._status.start()
        self._status.update(escape(text))

    def quiet(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None


def printable(text: str) -> str:
    """Control characters, and what turns the reading direction, made visible, so that a reply cannot steer the terminal."""
    return "".join(ch if ch.isprintable() or _is_harmless(ch) else _escape(ch) for ch in text)


def _escape(ch: str) -> str:
    return f"\\x{ord(ch):02x}" if ord(ch) < 0x100 else f"\\u{ord(ch):04x}"


def _is_harmless(ch: str) -> bool:
    """Line ends and tabs, the spaces of other scripts, and what joins letters and emoji."""
    return ch in "\n\t\u200c\u200d" or unicodedata.category(ch) == "Zs"


def make_printer(stream: TextIO | None = None) -> Printer:
    """Rich when the stream is a terminal with room for it, rich is installed and NO_COLOR is not set."""
    stream = stream or sys.stderr
    roomy = stream.isatty() and shutil.get_terminal_size().columns >= NARROW
    if roomy and not os.environ.get("NO_COLOR") and importlib.util.find_spec("rich") is not None:
        return RichPrinter(stream)
    return PlainPrinter(stream)


class View:
    """Prints a run's events. verbose: full prompts and replies, repairs and notes of the endpoint."""

    def __init__(self, printer: Printer, verbose: bool = False) -> None:
        self._printer = printer
        self._verbose = verbose
        self._pieces = 0
        self._answer = ""
        self._forced = False  # only an answer counts
        self._failure = ""  # of the endpoint, as it was shown
        self._show: dict[type[Event], Callable[[Any], None]] = {
            RunStarted: self._started, RequestSent: self._request, TextArrived: self._text, CompletionReceived: self._completion,
            DecisionMade: self._decision, ReplyUnreadable: self._unreadable, ToolEnded: self._tool_end, Noted: self._note,
            EndpointFailed: self._endpoint, RunEnded: self._ended,
        }  # fmt: skip

    def __call__(self, event: Event) -> None:
        show = self._show.get(type(event))
        if show is not None:
            show(event)

    def pause(self) -> None:
        """Nothing moves on the screen until the next event: a question is about to be asked."""
        self._printer.quiet()

    def _block(self, label: str, text: str) -> None:
        self._printer.block(label, text)

    def _fitting(self, text: str) -> str:
        """The text, or where nobody has asked for all of it, the beginning of a very long one."""
        more = len(text) - LONGEST
        return text if self._verbose or more <= 0 else f"{text[:LONGEST]}\n... {more:,} more characters"

    def _started(self, event: RunStarted) -> None:
        self._block("question", self._fitting(event.question))

    def _request(self, event: RequestSent) -> None:
        self._pieces, self._answer, self._forced = 0, "", event.forced
        self._block(f"step {event.step}", "(the last: it must be the answer)" if event.forced else "")
        if self._verbose:
            for message in event.add:
                self._block("prompt", f"[{message.role}] {message.content}")
        self._printer.busy(f"reading about {event.estimated_tokens} tokens ...")

    def _text(self, event: TextArrived) -> None:
        """The final answer as it is written, else how far the reply has come."""
        if event.restart:
            self._pieces, self._answer = 0, ""
        self._pieces += 1
        self._answer += event.answer
        doing = "thinking" if event.reasoning else "writing"
        self._printer.busy(printable(self._answer[-SHOWN_WIDTH:]) or f"{doing}, about {self._pieces} tokens ...")

    def _completion(self, event: CompletionReceived) -> None:
        if self._verbose:
            if event.reasoning:
                self._block("reasoning", event.reasoning)
            self._block("reply", event.text)
        for note in event.notes:
            self._block("note", note)
        usage = event.usage
        cached = f" ({usage.cached_tokens} cached)" if usage.cached_tokens else ""
        about = "about " if usage.estimated else ""
        self._block("cost", f"{about}{usage.input_tokens} prompt{cached} + {usage.output_tokens} reply tokens, {event.seconds:.1f} s")

    def _decision(self, event: DecisionMade) -> None:
        if event.thought:
            self._block("thought", self._fitting(event.thought))
        if event.tool is not None:
            self._block("call", f"{event.tool}({self._fitting(call_arguments(event.arguments or {}))})")
            if self._forced:
                self._block("note", "this call is not run: no step is left for what it would say")
            else:
                self._printer.busy(f"running {event.tool} ...")
        if self._verbose and event.repairs:
            self._block("repairs", ", ".join(f"{name} at {offset}" for name, offset in event.repairs))

    def _unreadable(self, event: ReplyUnreadable) -> None:
        self._block("failed", f"unreadable reply ({event.reason}): {self._fitting(event.hint)}")

    def _tool_end(self, event: ToolEnded) -> None:
        text = event.content if self._verbose else shortened(event.content)
        self._block("result" if event.error is None else "failed", text)

    def _note(self, event: Noted) -> None:
        self._block("note", event.message)

    def _endpoint(self, event: EndpointFailed) -> None:
        self._failure = event.message.rstrip(".")
        hints = [in_options(event.hint), CHECK if event.kind in CHECKED else ""]
        self._block("failed", "\n".join([event.message, *filter(None, hints)]))

    def _ended(self, event: RunEnded) -> None:
        if event.error:
            said = bool(self._failure) and event.error.startswith(self._failure)
            hint = f"\n{ELSEWHERE}" if event.stop_reason == "trace_error" else ""
            self._block("stopped", f"{event.stop_reason}, as said above" if said else in_options(event.error) + hint)
        usage = event.usage
        cost = "" if event.cost is None else f", cost {event.cost:.6f}"
        tokens = f"{usage.input_tokens} prompt + {usage.output_tokens} reply tokens"
        forced = ", answered on the last step allowed" if event.forced else ""
        self._block("total", f"{counted_steps(event.steps)}, {tokens}, {event.seconds:.1f} s{cost}{forced}")


def call_arguments(arguments: Any) -> str:
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False, default=str)}" for name, value in arguments.items())


def shortened(content: str) -> str:
    """An observation for the eye: its result or its error, a few lines of it."""
    try:
        body = json.loads(content)
        if body.get("ok"):
            shown = body["result"]
            text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)
        else:
            error = body["error"]
            text = f"{error['type']}: {error['message']}" + (f" ({error['hint']})" if error.get("hint") else "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        text = content
    lines = [piece for line in text.splitlines() for piece in (textwrap.wrap(line, SHOWN_WIDTH, drop_whitespace=False) or [""])]
    more = len(lines) - SHOWN_LINES
    return "\n".join(lines[:SHOWN_LINES] + ([f"... {more} more lines"] if more > 0 else []))
