"""A finding of `react-agent doctor` as a line of its table."""

import shutil
import textwrap
from typing import TextIO

from react_agent.cli.view import printable
from react_agent.doctor_finding import Finding

MARKS = {"good": "ok", "mind": "note", "bad": "BAD", "unknown": "?"}
MARK, NAME = 6, 13   # columns
LEAST_COLUMNS = 60


def line(finding: Finding, columns: int | None) -> str:
    """Mark, check, what was found, the evidence and what it means. columns: to fold it at, None for one line."""
    told = [finding.found, f"({finding.evidence})" if finding.evidence else ""]
    text = " ".join(part for part in told if part) + (f"; {finding.meaning}" if finding.meaning else "")
    head = f"{MARKS[finding.verdict]:<{MARK}}{finding.name:<{NAME}}"
    text = printable(" ".join(text.split()))
    if columns is None:
        return head + text
    return textwrap.fill(text, columns, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False)


def shown_columns(stream: TextIO) -> int | None:
    """How wide a terminal is; None where the lines go to a file or a program."""
    return max(LEAST_COLUMNS, shutil.get_terminal_size().columns) if stream.isatty() else None
