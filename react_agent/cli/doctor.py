"""`react-agent doctor [ENDPOINT]`: what an endpoint really does, found out by asking it."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from react_agent.cli import output
from react_agent.cli.doctor_table import line, shown_columns
from react_agent.cli.options import add_endpoint_options, endpoint_from, known_file, positive
from react_agent.doctor import CHECK_SECONDS, CHECKS, Finding, Patient, examine
from react_agent.doctor_file import known_from, write
from react_agent.endpoints.http_endpoint import HttpEndpoint
from react_agent.errors import ConfigError

ABOUT = """Find out what an endpoint really does: which server it is, its window, roles, stop words, streams, structured output,
token counts, speed, and whether its model holds the reply format. Later runs read what was found."""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "doctor", help="find out what an endpoint really does", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n  react-agent doctor http://localhost:8080\n  react-agent doctor ollama:qwen2.5:3b --json\n"
        "  react-agent doctor --local\n\n"
        "exit codes: 0 fine, 1 something that runs will suffer from, 2 usage, 3 no reply at all, 130 Ctrl-C",
    )  # fmt: skip
    parser.add_argument("where", nargs="?", metavar="ENDPOINT", help="as for --endpoint")
    parser.add_argument("--check-seconds", type=positive, default=CHECK_SECONDS, metavar="S",
                        help=f"the most that one check may take (default {CHECK_SECONDS:.0f})")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")
    parser.add_argument("--quiet", action="store_true", help="the findings only")
    parser.add_argument("--no-save", action="store_true", help="keep nothing for later runs")
    add_endpoint_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.where and (args.endpoint or args.local is not None):
        raise ConfigError(f"{args.where} and --endpoint or --local: name one endpoint")
    args.endpoint, args.fresh = args.where or args.endpoint, True
    with endpoint_from(args) as (endpoint, _):
        patient = Patient(endpoint, args.check_seconds)
        findings = _examined(patient, args)
        file = None
        if isinstance(endpoint, HttpEndpoint) and patient.replies and not args.no_save:
            file = known_file(args, endpoint)
            write(file, known_from(endpoint, findings), findings)
        if args.json:
            output.result(json.dumps(_as_dict(endpoint.describe(), findings, file), ensure_ascii=False, indent=2))
        elif not args.quiet:
            _say_end(findings, patient, file)
    if not patient.replies:
        return 3
    return 1 if any(finding.verdict == "bad" for finding in findings) else 0


def _examined(patient: Patient, args: argparse.Namespace) -> list[Finding]:
    """The findings; for a person each is shown as it comes, for a program progress alone goes to standard error."""
    findings = []
    progress = _Progress(args.json, args.quiet)
    for finding in examine(patient, progress):
        progress.clear()
        findings.append(finding)
        if not args.json:
            output.result(line(finding, shown_columns(sys.stdout)))
    return findings


class _Progress:
    """Says which check is under way: on a terminal in a line that the finding takes the place of, else in lines of its own
    where no findings are shown meanwhile."""

    def __init__(self, json_only: bool, quiet: bool) -> None:
        self._erases = sys.stderr.isatty() and not quiet
        self._lines = json_only and not quiet and not self._erases
        self._number = 0

    def __call__(self, name: str) -> None:
        self._number += 1
        text = f"{self._number}/{len(CHECKS)} {name} ..."
        if self._erases:
            output.fleeting(text)
        elif self._lines:
            output.say(text)

    def clear(self) -> None:
        if self._erases:
            output.fleeting("")


def _say_end(findings: Sequence[Finding], patient: Patient, file: Path | None) -> None:
    seconds = sum(finding.seconds for finding in findings)
    output.say(f"{patient.replies} replies, {patient.tokens:,} tokens, {seconds:.0f} s")
    if file is not None:
        output.say(f"kept for later runs in {file}")


def _as_dict(endpoint: dict[str, Any], findings: Sequence[Finding], file: Path | None) -> dict[str, Any]:
    return {
        "endpoint": endpoint, "findings": [asdict(finding) for finding in findings], "file": None if file is None else str(file),
        "seconds": round(sum(finding.seconds for finding in findings), 3), "tokens": sum(finding.tokens for finding in findings),
    }  # fmt: skip
