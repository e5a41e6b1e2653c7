"""A trace as one HTML file: self-contained, without network, safe to open whatever the model wrote."""

import base64
import hashlib
import html
import os
import re
from pathlib import Path
from typing import Any

from react_agent.report_data import json_text, run_data
from react_agent.report_fold import open_run
from react_agent.report_view import RunView

PAGE = Path(__file__).parent / "report_page"
SCRIPTS = ("text.js", "row.js", "details.js", "head.js", "page.js")
MARK = '<meta name="generator" content="react-agent report">'
TITLE = 80  # characters of the question in the window's title
_HOLE = re.compile(r"\{\{(\w+)\}\}")
# What could end the data's element, begin a comment in it, or end a line of a script.
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
# What HTML cannot hold, or what would turn the text around.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def is_report(path: Path, mark: str = MARK) -> bool:
    """Whether a file is a report, or another page with a mark in its head, that was written before."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return mark in file.read(2_000)
    except OSError:
        return False


def render_report(trace: str | os.PathLike[str] | RunView) -> str:
    """The report of a run, to be written to a file as UTF-8.

    trace: a trace's path, or a run that was folded already. A trace that was cut is reported as such. Raises TraceError for what is
    no trace. The page loads nothing, and its Content-Security-Policy allows its own script and style by their hashes and nothing else.
    """
    run = trace if isinstance(trace, RunView) else open_run(trace)
    style, script = _assets()
    answer = run.end.answer if run.end else None
    holes = {
        "style": style, "script": script, "style_hash": source_hash(style), "script_hash": source_hash(script),
        "title": safe_text(f"{_shortened(run.start.question)} · {run.status}"), "question": safe_text(run.start.question),
        "sentence": safe_text(run.sentence), "answer": safe_text(answer or ""), "trace": safe_text(run.name),
        "data": json_text(_page_data(run)).translate(_UNSAFE),
    }  # fmt: skip
    return _HOLE.sub(lambda hole: holes[hole.group(1)], (PAGE / "page.html").read_text("utf-8"))


def _assets() -> tuple[str, str]:
    """The page's style and its script."""
    style, *scripts = ((PAGE / name).read_text("utf-8") for name in ("page.css", *SCRIPTS))
    return style, "".join(scripts)


def source_hash(source: str) -> str:
    """What a Content-Security-Policy allows an inline element by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def safe_text(text: str) -> str:
    """Text for an HTML page or an attribute in quotes; what HTML cannot hold is replaced."""
    return html.escape(_UNPRINTABLE.sub("\ufffd", text))


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE else line[: TITLE - 1] + "…"


def _page_data(run: RunView) -> dict[str, Any]:
    """The run's data with arguments and schemas as JSON text: a script would round their long integers."""
    data = run_data(run)
    calls = [part for step in data["steps"] for part in (step["decision"], step["started"]) if part and part["arguments"] is not None]
    for call in (*calls, *data["side_effects"]):
        call["arguments"] = json_text(call["arguments"])
    for tool in data["tools"]:
        tool["parameters"] = json_text(tool.get("parameters", {}))
    return data
