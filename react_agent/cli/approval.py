"""Asks the person at the terminal before a tool with side effects runs."""

import contextlib
import json
import sys
from collections.abc import Callable, Collection
from typing import TextIO

from react_agent.cli.view import printable
from react_agent.registry import Approval, ApprovalRequest, Approve

if sys.platform == "win32":
    import msvcrt
else:
    import termios

HEAD, TAIL = 6_000, 1_000  # characters shown of an argument or a preview that is longer than both


def terminal_approval(
    approved: Collection[str] = (), *, answers: TextIO | None = None, screen: TextIO | None = None, before: Callable[[], None] | None = None
) -> Approve:
    """An approval callback that asks on standard error and reads standard input.

    approved: the tools named with --approve, which run unasked until text from outside has come in. Without a terminal everything
    else is refused. before: called before a question is shown, to stop what else writes to the screen.
    """

    def approve(request: ApprovalRequest) -> Approval:
        if request.tool.name in approved and not request.tainted:
            return Approval.allow()
        source, target = answers or sys.stdin, screen or sys.stderr
        if not (source.isatty() and target.isatty()):
            return Approval.deny(_no_terminal(request, approved))
        if before is not None:
            before()
        print(question(request), file=target, flush=True)
        _forget_typed(source)
        return _asked(request, source, target)

    return approve


def question(request: ApprovalRequest) -> str:
    """Everything that a person needs to decide: the tool, the exact arguments, what it would do, and whose idea it may be."""
    lines = [f"{request.tool.name} wants to run. It has side effects."]
    if request.tainted:
        lines.append("Careful: text from outside was read before, so this may not be your or the model's own idea.")
    for name, value in request.call.arguments.items():
        shown = name if name.isidentifier() else json.dumps(name, ensure_ascii=False)  # a name cannot make lines of its own
        lines.append(f"  {printable(shown)} = {_shown(json.dumps(value, ensure_ascii=False))}")
    if request.preview:
        lines += ["What it would do:", *(f"  {line}" for line in _shown(request.preview).splitlines())]
    rest = "" if request.tainted else ", a (yes, also for the rest of this run)"
    lines.append(f"Run it? y (yes), n (no){rest}, or write what the model should do instead:")
    return "\n".join(lines)


def _forget_typed(source: TextIO) -> None:
    """Drop what was typed at a terminal and not read yet: a `y` from before the question is no answer to it."""
    if sys.platform == "win32":
        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        with contextlib.suppress(OSError, ValueError, termios.error):  # no real terminal
            termios.tcflush(source.fileno(), termios.TCIFLUSH)


def _asked(request: ApprovalRequest, source: TextIO, target: TextIO) -> Approval:
    while True:
        print("> ", end="", file=target, flush=True)
        line = source.readline()
        answer = line.strip()
        if not line or answer.lower() in ("n", "no"):
            return Approval.deny("the person said no" if line else "nobody answered")
        if answer.lower() in ("y", "yes"):
            return Approval.allow()
        if answer.lower() == "a" and not request.tainted:
            return Approval.allow_for_run()
        if len(answer) > 1:
            return Approval.deny(f"the person says: {answer}")
        print("Write y, n or a few words.", file=target, flush=True)


def _shown(text: str) -> str:
    """The text with control characters made visible; of a very long one the two ends, and how much is between them."""
    if len(text) <= HEAD + TAIL:
        return printable(text)
    hidden = len(text) - HEAD - TAIL
    return f"{printable(text[:HEAD])}\n[... {hidden:,} characters that are not shown ...]\n{printable(text[-TAIL:])}"


def _no_terminal(request: ApprovalRequest, approved: Collection[str]) -> str:
    if request.tool.name in approved:
        return "text from outside was read before, so --approve does not count any more, and there is no terminal to ask on"
    return f"there is no terminal to ask on; only --approve {request.tool.name} would allow it"
