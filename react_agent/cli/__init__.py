"""The command line: `react-agent COMMAND ...` and `run_react.py` are this."""

import argparse
import sys
from collections.abc import Sequence

from react_agent.cli import output, tools
from react_agent.errors import ConfigError, EndpointError, ReactAgentError, TraceError

COMMANDS: tuple[object, ...] = (tools,)
EXIT_OK, EXIT_NO_ANSWER, EXIT_USAGE, EXIT_ENDPOINT, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="react-agent")
    commands = parser.add_subparsers()
    for command in COMMANDS:
        command.add(commands)  # type: ignore[attr-defined]
    args = parser.parse_args(sys.argv[1:] if argv is None else argv)
    return guarded(args)


def guarded(args: argparse.Namespace) -> int:
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
