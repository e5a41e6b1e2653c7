"""The sums of `react-agent stats` as lines of text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from react_agent.cli.view import printable
from react_agent.report_stats import ToolTotals, Totals

LABEL = 18  # columns
CALL_COLUMNS = ("tool", "calls", "ran", "failed", "repeated", "seconds")
COUNTED = (
    ("failed calls", "tool_errors"), ("unreadable replies", "parse_failures"), ("repairs", "repairs"), ("notes", "notes"),
    ("endpoint errors", "endpoint_errors"),
)  # fmt: skip


def stats_lines(totals: Totals) -> Iterator[str]:
    """A line a sum, and a table of the tools; sums that are nothing are left out."""
    yield _line("runs", f"{totals.runs:,}: {most_frequent(totals.statuses)}")
    yield from _counted("stopped by", totals.stop_reasons)
    yield from _counted("models", totals.models)
    yield _line("steps", ", ".join(_steps(totals)))
    yield _line("tokens", _tokens(totals))
    yield _line("seconds", f"{totals.seconds:,.1f} (model {totals.model_seconds:,.1f}, tools {totals.tool_seconds:,.1f})")
    yield _line("cost", _cost(totals))
    if totals.side_effects:
        yield _line("side effects", f"{totals.side_effects:,}")
    for label, name in COUNTED:
        yield from _counted(label, getattr(totals, name))
    if totals.calls:
        yield ""
        yield from table([CALL_COLUMNS, *(_row(name, tool) for name, tool in sorted(totals.calls.items()))])


def _line(label: str, text: str) -> str:
    return printable(f"{label:<{LABEL}}  {text}")


def _counted(label: str, counts: Mapping[str, int]) -> Iterator[str]:
    if counts:
        yield _line(label, most_frequent(counts))


def most_frequent(counts: Mapping[str, int]) -> str:
    """The most frequent first."""
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _steps(totals: Totals) -> Iterator[str]:
    yield f"{totals.steps:,}"
    if totals.forced:
        yield f"answers asked for on the last one {totals.forced:,}"
    if totals.resumes:
        yield f"resumptions {totals.resumes:,}"


def _tokens(totals: Totals) -> str:
    usage = totals.usage
    cached = "" if usage.cached_tokens is None else f" ({usage.cached_tokens:,} cached)"
    reasoning = "" if usage.reasoning_tokens is None else f" ({usage.reasoning_tokens:,} reasoning)"
    estimated = ", some of them estimated" if usage.estimated else ""
    return f"{usage.input_tokens:,} prompt{cached} + {usage.output_tokens:,} reply{reasoning}{estimated}"


def _cost(totals: Totals) -> str:
    if totals.cost is None:
        return "not known: no run has prices"
    priced = totals.runs - totals.unpriced
    rest = f" for {priced:,} of {totals.runs:,} runs; the prices of the others are not known" if totals.unpriced else ""
    return f"{totals.cost:.6f}{rest}"


def _row(name: str, tool: ToolTotals) -> Sequence[object]:
    return name, tool.calls, tool.ran, tool.failed, tool.repeated, f"{tool.seconds:.2f}"


def table(rows: Sequence[Sequence[object]]) -> Iterable[str]:
    """Lines with the columns under each other: the first to the left, the others to the right."""
    cells = [[printable(str(cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for name, *numbers in cells:
        yield "  ".join([name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))])
