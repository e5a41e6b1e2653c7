"""`react-agent chat`: several questions in one dialogue."""

import argparse
import contextlib
import importlib
import sys

from react_agent.cli import output
from react_agent.cli.loading import add_tool_options
from react_agent.cli.options import add_endpoint_options, add_limit_options, endpoint_from
from react_agent.cli.run import add_agent_options, add_output_options, agent_from, prepare
from react_agent.conversation import Conversation

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
        Repl(Conversation(agent)).loop()
    return 0


class Repl:
    """Reads lines, answers questions, obeys the commands of HELP."""

    def __init__(self, conversation: Conversation) -> None:
        self._talk = conversation

    def loop(self) -> None:
        if sys.stdin.isatty():
            output.say(HELP)
        while (line := self._read()) is not None:
            if line in ("/quit", "/exit"):
                return
            if line.startswith("/"):
                self._command(line)
            elif line:
                self._ask(line)

    def _read(self) -> str | None:
        try:
            return input("> " if sys.stdin.isatty() else "").strip()
        except EOFError:
            return None
        except KeyboardInterrupt:
            output.say("")
            return ""

    def _ask(self, question: str) -> None:
        result = self._talk.ask(question)
        output.result(result.answer if result.answer is not None else f"(no answer: {result.error})")

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
