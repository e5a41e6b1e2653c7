"""An evaluation as one HTML page: the failures first, no script, no network, safe to open whatever a model wrote."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from react_agent.evaluate_markup import Markup, element, join
from react_agent.evaluate_outcome import Outcome
from react_agent.evaluate_sum import FIGURES, Sum, by_kind, by_task, figures, summed
from react_agent.prompt import fill
from react_agent.report import PAGE as REPORT
from react_agent.report import safe_text, source_hash
from react_agent.report_data import json_text

PAGE = Path(__file__).parent / "evaluate_html"
MARK = '<meta name="generator" content="react-agent evaluate">'


def render_page(outcomes: Sequence[Outcome], folder: Path) -> str:
    """The page of these outcomes, to be written to a file in this folder as UTF-8; traces and reports that exist are linked from there.

    The page loads nothing and has no script; its Content-Security-Policy allows its own style by its hash and nothing else.
    """
    total = summed(outcomes, "all")
    style = (REPORT / "page.css").read_text("utf-8") + (PAGE / "page.css").read_text("utf-8")
    tasks = list(by_task(outcomes).values())
    failures = [rounds for rounds in tasks if not all(outcome.right for outcome in rounds)]
    rest = [rounds for rounds in tasks if all(outcome.right for outcome in rounds)]
    body = join(
        _head(total, outcomes), _section("Kinds", _kinds(total, by_kind(outcomes))),
        _section(f"Wrong: {len(failures)}", _tasks(failures, folder)), _section(f"Right: {len(rest)}", _tasks(rest, folder)),
    )  # fmt: skip
    return fill(
        (PAGE / "page.html").read_text("utf-8"), title=safe_text(f"{total.right} of {total.runs} right · react-agent evaluate"),
        style=style, style_hash=source_hash(style), body=body,
    )  # fmt: skip


def _section(title: str, content: Markup) -> Markup:
    return element("section", element("h2", title), content) if content else Markup()


def _head(total: Sum, outcomes: Sequence[Outcome]) -> Markup:
    what, rounds = ("runs", f", {total.tasks} tasks in rounds") if total.runs > total.tasks else ("tasks", "")
    share = f"{100 * total.share:.0f} %; the true share is between {100 * total.low:.0f} and {100 * total.high:.0f} %, with 95 % confidence"
    setups = " / ".join(dict.fromkeys(outcome.setup for outcome in outcomes if outcome.setup))
    return element(
        "section", element("h1", f"{total.right} of {total.runs} {what} right{rounds}"), element("p", share, class_="ending"),
        element("p", setups, class_="small"), _facts(total), id="outcome",
    )  # fmt: skip


def _facts(total: Sum) -> Markup:
    cached = "" if total.cached_tokens is None else f"{total.cached_tokens:,.0f} of them cached"
    unreadable = sum(total.unreadable.values())
    facts = (
        ("Prompt tokens a task", f"{total.prompt_tokens:,.0f}", cached),
        ("Completion tokens a task", f"{total.completion_tokens:,.0f}", f"estimated in {total.estimated} runs" if total.estimated else ""),
        ("Steps a task", f"{total.steps:.1f}", f"{total.calls:.1f} calls"),
        ("Seconds a task", f"{total.seconds:.1f}", f"{total.seconds * total.runs:,.0f} in all"),
        ("Unreadable replies", f"{unreadable:,}", _counts(total.unreadable) or f"of {total.replies:,}"),
        ("Repairs", f"{sum(total.repairs.values()):,}", _counts(total.repairs)),
        ("Guards", f"{sum(total.notes.values()):,}", _counts(total.notes)),
        ("Runs", f"{total.runs:,}", _counts(total.stop_reasons)),
    )
    return element("dl", *(_fact(*fact) for fact in facts), class_="facts")


def _fact(name: str, value: str, under: str) -> Markup:
    shown = element("dd", element("span", value, class_="value"), element("span", under, class_="under"))
    return element("div", element("dt", name), shown, class_="fact")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _kinds(total: Sum, kinds: Sequence[Sum]) -> Markup:
    head = element("tr", *(element("th", name) for name in ("kind", "right", "share", *FIGURES)))
    cells = ((each.kind or "-", f"{each.right}/{each.runs}", _bar(each), *figures(each)) for each in (*kinds, total))
    rows = (element("tr", *(element("td", cell) for cell in row)) for row in cells)
    return element("table", element("thead", head), element("tbody", *rows), class_="kinds")


def _bar(each: Sum) -> Markup:
    """The share as a bar, with its interval as a line over it."""
    bar = element("rect", width=f"{100 * each.share:.1f}", height="8")
    line = element("line", x1=f"{100 * each.low:.1f}", x2=f"{100 * each.high:.1f}", y1="4", y2="4")
    return element("svg", bar, line, class_="share", viewBox="0 0 100 8", preserveAspectRatio="none", role="img",
                   aria_label=f"{100 * each.share:.0f} %")  # fmt: skip


def _tasks(tasks: Sequence[Sequence[Outcome]], folder: Path) -> Markup:
    return element("div", *(_task(rounds, folder) for rounds in tasks), class_="tasks") if tasks else Markup()


def _task(rounds: Sequence[Outcome], folder: Path) -> Markup:
    """One task with its rounds; open when it is not always right."""
    right, first = sum(outcome.right for outcome in rounds), rounds[0]
    tone = "good" if right == len(rounds) else "warn" if right else "bad"
    verdict = ("right" if right else "wrong") if len(rounds) == 1 else f"{right} of {len(rounds)} right"
    summary = element(
        "summary", element("span", first.id, class_="name"), element("span", first.question, class_="asked"),
        element("span", verdict, class_=f"tag {tone}"),
    )  # fmt: skip
    content = join(summary, *(_run(outcome, folder) for outcome in rounds))
    return element("details", content, class_=f"task {tone}", **({} if tone == "good" else {"open": ""}))


def _run(outcome: Outcome, folder: Path) -> Markup:
    rows = [
        ("expected", element("span", outcome.expected)),
        ("answer", element("pre", outcome.answer or "none", class_="text")),
        ("wrong", element("span", outcome.fault, class_="wrong") if outcome.fault else Markup()),
        ("stopped by", join(outcome.stop_reason, f": {outcome.error}" if outcome.error else "", " (asked for)" if outcome.forced else "")),
        ("calls", join(*map(_call, outcome.calls))),
        ("unreadable", join(", ".join(outcome.parse_reasons))), ("repairs", join(", ".join(outcome.repairs))),
        ("guards", join(", ".join(outcome.notes))), ("used", join(_used(outcome))), ("trace", _links(outcome, folder)),
    ]  # fmt: skip
    if outcome.round > 1:
        rows.insert(0, ("round", join(str(outcome.round))))
    return element("div", _rows(rows), class_="run")


def _rows(rows: Iterable[tuple[str, Markup]]) -> Markup:
    """Names and values; what is empty is left out."""
    return element("dl", *(join(element("dt", name), element("dd", value)) for name, value in rows if value), class_="rows")


def _call(call: Mapping[str, Any]) -> Markup:
    outcome = "ok" if call["ok"] else str(call.get("error") or "failed")
    written = element("code", f"{call['tool']}({json_text(call['arguments']) if 'arguments' in call else ''})")
    return element("div", written, element("span", outcome, class_=f"tag {'good' if call['ok'] else 'bad'}"), class_="call")


def _used(outcome: Outcome) -> str:
    cached = "" if outcome.cached_tokens is None else f" ({outcome.cached_tokens:,} cached)"
    estimated = ", estimated" if outcome.estimated else ""
    tokens = f"{outcome.prompt_tokens:,} prompt tokens{cached} + {outcome.completion_tokens:,} completion tokens{estimated}"
    return f"{outcome.steps} step{'' if outcome.steps == 1 else 's'}, {tokens}, {outcome.seconds:.1f} s"


def _links(outcome: Outcome, folder: Path) -> Markup:
    """Links to the trace and to its report, where they are."""
    if outcome.trace is None:
        return Markup()
    trace = Path(outcome.trace)
    found = [(name, path) for name, path in (("report", trace.with_suffix(".html")), (trace.name, trace)) if path.is_file()]
    links = [element("a", name, href=_address(path, folder)) for name, path in found]
    return join(*(part for link in links for part in (link, " "))) if links else join(str(trace))


def _address(path: Path, folder: Path) -> str:
    """A path as a link from a page in this folder; another drive has no relative one."""
    try:
        return quote(Path(os.path.relpath(path, folder)).as_posix())
    except ValueError:
        return path.resolve().as_uri()
