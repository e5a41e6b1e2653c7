"""The command line: `react-agent COMMAND ...`, `run_react.py` and `python -m react_agent` are this."""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn, Protocol

from react_agent.cli import chat, doctor, evaluate, model, output, parse, playback, run, tools, trace, version
from react_agent.cli.advice import did_you_mean, in_options, option_names
from react_agent.cli.signals import stopped_by_signals
from react_agent.errors import ConfigError, EndpointError, ReactAgentError, TraceError
from react_agent.local import DEFAULT_MODEL

EXIT_OK, EXIT_NO_ANSWER, EXIT_USAGE, EXIT_ENDPOINT, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


class Command(Protocol):
    """A module with one command, or a few that belong together."""

    def add(self, commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None: ...


COMMANDS: tuple[Command, ...] = (run, chat, tools, parse, playback, trace, evaluate, doctor, model, version)
ABOUT = """An agent for every language model that can only return text.
A question without a command is answered: react-agent --local --demo "How many orders came from Lisbon?" """
_COMMAND = re.compile("[a-z]{3,12}")
_MODEL_NAME = re.compile(r"[\w./:\\-]*\w", re.ASCII)


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong without the screenful of options that hides it."""

    def error(self, message: str) -> NoReturn:
        output.fail(message, f"{self.prog} --help lists the options")
        sys.exit(EXIT_USAGE)


def parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """The whole command line, and its commands by name."""
    made: argparse.ArgumentParser = Parser(prog="react-agent", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter,
                                   epilog="react-agent COMMAND --help tells more about one of them")  # fmt: skip
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(commands)
    return made, commands.choices


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    output.prepare_streams()
    args = parsed(list(sys.argv[1:] if argv is None else argv))
    try:
        with output.log_shown(), stopped_by_signals() as stopped:
            args.stopped = stopped
            return stopped.code(guarded(args))
    except BrokenPipeError:  # the reader of our output has gone: `| head`
        output.drop_output()
        return EXIT_OK


def parsed(words: list[str]) -> argparse.Namespace:
    """The arguments as the commands know them; ends the program where they cannot be understood."""
    made, commands = parser()
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    if words and _COMMAND.fullmatch(words[0]) and words[0] not in commands and (meant := did_you_mean(words[0], [*commands, "help"])):
        made.error(f"there is no command {words[0]}; {meant} (a question of one word: {made.prog} run {words[0]})")
    words = with_local(with_command(words, commands))
    args, rest = made.parse_known_args(words)
    if len(rest) == 1 and getattr(args, "arguments", "") is None and not rest[0].startswith("--"):
        args.arguments, rest = rest[0], []  # of `tool`, behind its options: argparse looks for them before the first one only
    if rest:
        command = commands[words[0]]
        guesses = [did_you_mean(word, option_names(command)) for word in rest if word.startswith("--")]
        command.error("; ".join([f"not understood: {' '.join(rest)}", *filter(None, guesses[:1])]))
    return args


def with_command(words: list[str], commands: Mapping[str, object]) -> list[str]:
    """`run` put in front where no command was given; --help and --version stay what they are."""
    if words[:1] == ["--version"]:
        return ["version"]
    if not words or words[0] in commands or words[0] in ("-h", "--help"):
        return words or ["--help"]
    return ["run", *words]


def with_local(words: list[str]) -> list[str]:
    """The default model put in after a `--local` that a question follows: argparse would take the question for the model's name."""
    return [f"--local={DEFAULT_MODEL}" if word == "--local" and following and not _option_or_model(following) else word
            for word, following in zip(words, [*words[1:], ""], strict=True)]  # fmt: skip


def _option_or_model(word: str) -> bool:
    return word.startswith("--") or _MODEL_NAME.fullmatch(word) is not None


def guarded(args: argparse.Namespace) -> int:
    """Turn what a command raises into words and an exit code."""
    try:
        code: int = args.run(args)
        return code
    except EndpointError as error:
        output.fail(error.message, in_options(error.hint))
        return EXIT_ENDPOINT
    except (ConfigError, TraceError) as error:
        output.fail(in_options(str(error)))
        return EXIT_USAGE
    except ReactAgentError as error:
        output.fail(str(error))
        return EXIT_NO_ANSWER
    except KeyboardInterrupt as stop:
        output.say(f"stopped by {stop.args[0] if stop.args else 'Ctrl-C'}")
        return EXIT_INTERRUPTED
