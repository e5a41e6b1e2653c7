"""`react-agent chat`: several questions in one dialogue."""

import argparse
import contextlib
import importlib
import json
import sys

from react_agent.cli import output
from react_agent.cli.advice import in_options
from react_agent.cli.loading import add_tool_options
from react_agent.cli.options import add_endpoint_options, add_limit_options, endpoint_from
from react_agent.cli.run import EXIT_CODES, add_agent_options, add_output_options, agent_from, as_dict, prepare
from react_agent.conversation import Conversation
from react_agent.errors import TraceError
from react_agent.types import RunResult

HELP = """Write a question and press Enter. Ctrl-C ends the answer, Ctrl-D the program.
/tools   what the model may use
/trace   where the trace of the last answer is
/reset   forget the dialogue
/help    this
/quit    end"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "chat", help="several questions in one dialogue", description=f"Several questions in one dialogue.\n\n{HELP}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add_agent_options(parser)
    add_output_options(parser)
    add_endpoint_options(parser)
    add_limit_options(parser)
    add_tool_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    prepare(args)
    with endpoint_from(args) as (endpoint, secrets):
        agent = agent_from(args, endpoint, secrets)
        with contextlib.suppress(ImportError):
            importlib.import_module("readline")  # line editing and history, where the platform has them
        return Repl(Conversation(agent), args).loop()


class Repl:
    """Reads lines, answers questions, obeys the commands of HELP."""

    def __init__(self, conversation: Conversation, args: argparse.Namespace) -> None:
        self._talk = conversation
        self._args = args
        self._person = sys.stdin.isatty()
        self._code = 0

    def loop(self) -> int:
        """The exit code: that of `run` for the first question without an answer, or 0 where a person has seen it."""
        if self._person:
            output.say(HELP)
        while (line := self._read()) not in (None, "/quit", "/exit"):
            if line.startswith("/"):
                self._command(line)
            elif line and not self._ask(line):
                return EXIT_CODES["cancelled"]
        return 0 if self._person else self._code

    def _read(self) -> str | None:
        try:
            return input("> " if self._person else "").strip()
        except EOFError:
            return None
        except KeyboardInterrupt:
            if not self._person or self._args.stopped.signal:
                raise
            output.say("")
            return ""

    def _ask(self, question: str) -> bool:
        """Answer a question; False when the program is to end: a signal other than a person's Ctrl-C came."""
        try:
            result = self._talk.ask(question)
        except TraceError as error:
            if not self._person:
                raise
            output.fail(str(error), "make room, or start again with another --trace, or with --no-trace")
            return True
        self._code = self._code or EXIT_CODES.get(result.stop_reason, 1)
        self._show(result)
        return result.stop_reason != "cancelled" or (self._person and not self._args.stopped.signal)

    def _show(self, result: RunResult) -> None:
        """The answer; a line in its place where that has not been read above."""
        if self._args.json:
            output.result(json.dumps(as_dict(result), ensure_ascii=False))
        elif result.answer is not None:
            output.result(result.answer)
        elif self._args.quiet or not sys.stdout.isatty():
            output.result(f"(no answer: {in_options(result.error)})")

    def _command(self, line: str) -> None:
        if line == "/tools":
            for tool in self._talk.agent.setup.tools:
                output.say(f"{tool.name:<20} {tool.description.splitlines()[0] if tool.description else ''}")
        elif line == "/trace":
            last = self._talk.results[-1].trace_path if self._talk.results else None
            output.say(last or "no trace yet")
        elif line == "/reset":
            self._talk.reset()
            output.say("the dialogue is forgotten")
        else:
            output.say(HELP if line == "/help" else f"there is no command {line}; /help lists them")
