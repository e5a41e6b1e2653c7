"""What a person at the command line can do next: settings by the names of their options, and the commands that help."""

import argparse
import difflib
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from react_agent.playback import RESUMABLE
from react_agent.types import RunResult

CHECK = "react-agent doctor tells what an endpoint does; --endpoint names another one"
ELSEWHERE = "--trace FILE writes the trace elsewhere, --no-trace leaves it out"
AFTER = {"endpoint_error": CHECK, "trace_error": ELSEWHERE}  # the next step after a run that stopped for this reason
CHECKED = frozenset({"connection", "not_found", "bad_request", "bad_response", "server_error"})  # failures that doctor can say more about
_OPTION = {
    "raise timeout_s": "raise --call-timeout", "raise max_steps": "raise --max-steps", "raise max_tokens": "raise --max-tokens",
    "raise max_seconds": "raise --max-seconds", "raise max_cost": "raise --max-cost", "(or api_key)": "(or --api-key-file)",
    "max_cost needs input_price and output_price": "--max-cost needs --input-price and --output-price, or --prices",
}  # fmt: skip - whole phrases of ours: a server's own words may name parameters of the same name


def in_options(text: str) -> str:
    """An error's hint with the option for each setting that it names: `raise max_steps` -> `raise --max-steps`."""
    for ours, option in _OPTION.items():
        text = text.replace(ours, option)
    return text


def resume_command(result: RunResult) -> str:
    """How to go on with a run that can be gone on with; else empty."""
    if result.trace_path is None or result.stop_reason not in RESUMABLE:
        return ""
    trace = Path(result.trace_path)
    written = trace.is_file() and trace.stat().st_size > 0
    return f"with the same endpoint and tools: react-agent resume {shlex.quote(str(trace))}" if written else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The known word nearest to a mistyped one, as a question; empty when none is near."""
    near = difflib.get_close_matches(word.split("=")[0], list(known), 1, 0.7)
    return f"did you mean {near[0]}?" if near else ""


def option_names(parser: argparse.ArgumentParser) -> list[str]:
    """The options of a command, read from its help: argparse tells them nowhere else in public."""
    return re.findall(r"(?<![\w-])--[a-z][\w-]*", parser.format_help())
