"""The command line: `react-agent COMMAND ...`, `run_react.py` and `python -m react_agent` are this."""

import argparse
import contextlib
import os
import sys
from collections.abc import Collection, Sequence
from typing import Protocol

from react_agent.cli import chat, doctor, evaluate, model, output, parse, playback, run, tools, trace, version
from react_agent.errors import ConfigError, EndpointError, ReactAgentError, TraceError

EXIT_OK, EXIT_NO_ANSWER, EXIT_USAGE, EXIT_ENDPOINT, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


class Command(Protocol):
    """A module with one command, or a few that belong together."""

    def add(self, commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None: ...


COMMANDS: tuple[Command, ...] = (run, chat, tools, parse, playback, trace, evaluate, doctor, model, version)
ABOUT = """An agent for every language model that can only return text.
A question without a command is answered: react-agent --local --demo "How many orders came from Lisbon?" """


def parser() -> tuple[argparse.ArgumentParser, Collection[str]]:
    """The whole command line, and the names of its commands."""
    made = argparse.ArgumentParser(prog="react-agent", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter,
                                   epilog="react-agent COMMAND --help tells more about one of them")  # fmt: skip
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(commands)
    return made, commands.choices


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    made, commands = parser()
    args = made.parse_args(with_command(words, commands))
    try:
        return guarded(args)
    except BrokenPipeError:  # the reader of our output has gone: `| head`
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK


def with_command(words: list[str], commands: Collection[str]) -> list[str]:
    """`run` put in front where no command was given; --help and --version stay what they are."""
    if words[:1] == ["--version"]:
        return ["version"]
    if not words or words[0] in commands or words[0] in ("-h", "--help"):
        return words or ["--help"]
    return ["run", *words]


def guarded(args: argparse.Namespace) -> int:
    """Turn what a command raises into words and an exit code."""
    try:
        code: int = args.run(args)
        return code
    except EndpointError as error:
        output.fail(error.message, error.hint)
        return EXIT_ENDPOINT
    except (ConfigError, TraceError) as error:
        output.fail(str(error))
        return EXIT_USAGE
    except ReactAgentError as error:
        output.fail(str(error))
        return EXIT_NO_ANSWER
    except KeyboardInterrupt:
        output.say("stopped by Ctrl-C")
        return EXIT_INTERRUPTED
