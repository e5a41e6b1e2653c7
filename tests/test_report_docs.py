"""docs/trace.md against the code: every event, every field, every closed list, every key of the JSON, and its examples."""

import ast
import dataclasses
import json
import re
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from report_traces import varied_events

from react_agent.errors import PARSE_REASONS, EndpointErrorKind
from react_agent.report_data import run_data, totals_data
from react_agent.report_fold import fold
from react_agent.report_stats import Totals
from react_agent.report_view import Outcome
from react_agent.trace import Record, from_line, to_line
from react_agent.trace_events import EVENTS, VERSION
from react_agent.types import FinishReason, Status, StopReason, Usage

ROOT = Path(__file__).parents[1]
DOC = (ROOT / "docs" / "trace.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^#|\Z)", DOC, re.MULTILINE | re.DOTALL))
JSON_TYPES = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "Usage": "object", "Mapping": "object", "tuple": "array",
}  # fmt: skip


def rows(text, columns):
    """The rows of the tables with so many columns, without their heads."""
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("|")]
    return [row for row in cells if len(row) == columns and not set(row[0]) <= set("-|")]


def names(text):
    return re.findall(r"`(\w+)`", text)


def test_every_event_has_a_section_and_no_other_does():
    assert list(SECTIONS) == list(EVENTS)
    listed = [names(row[0])[0] for row in rows(DOC, 2) if row[0].startswith("[`")]
    assert listed == list(EVENTS)


@pytest.mark.parametrize("name", EVENTS)
def test_every_field_is_described_in_order_with_its_type(name):
    described = {names(row[0])[0]: row[1] for row in rows(SECTIONS[name], 3) if row[0].startswith("`")}
    hints = get_type_hints(EVENTS[name])
    assert list(described) == [item.name for item in dataclasses.fields(EVENTS[name])]
    assert described == {item.name: json_type(hints[item.name]) for item in dataclasses.fields(EVENTS[name])}


def json_type(hint):
    """A Python type's name in JSON: `string`, `integer or null`, ..."""
    kinds = [part for part in get_args(hint) if part is not type(None)] if type(None) in get_args(hint) else [hint]
    words = JSON_TYPES[re.sub(r"^.*\.|\[.*$", "", getattr(kinds[0], "__name__", str(kinds[0])))]
    return f"{words} or null" if type(None) in get_args(hint) else words


LISTS = [
    ("completion", "finish_reason", get_args(FinishReason)), ("endpoint_error", "kind", get_args(EndpointErrorKind)),
    ("parse_error", "reason", PARSE_REASONS), ("run_end", "status", get_args(Status)), ("run_end", "stop_reason", get_args(StopReason)),
    ("completion", "usage", [item.name for item in dataclasses.fields(Usage)]),
]  # fmt: skip


@pytest.mark.parametrize(("event", "field", "values"), LISTS, ids=[f"{event}.{field}" for event, field, _ in LISTS])
def test_closed_lists_are_complete(event, field, values):
    meaning = next(row[2] for row in rows(SECTIONS[event], 3) if names(row[0]) == [field])
    assert sorted(names(meaning)) == sorted(values)


def slugs_in_the_code():
    """The first argument of every note that the package makes."""
    for file in (ROOT / "react_agent").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            is_note = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "note"
            if is_note and node.args and isinstance(node.args[0], ast.Constant):
                yield node.args[0].value


def test_every_slug_of_a_note_is_described():
    described = [names(row[0])[0] for row in rows(SECTIONS["note"], 2) if row[0].startswith("`")]
    assert sorted(described) == sorted(set(slugs_in_the_code()))


def test_the_example_is_a_trace_that_the_reader_takes_and_the_writer_gives():
    lines = re.search(r"```jsonl\n(.*?)```", DOC, re.DOTALL).group(1).splitlines()
    records = [from_line(line) for line in lines]
    assert [json.loads(to_line(record.event, record.time)) for record in records] == [json.loads(line) for line in lines]
    assert fold(records).steps[0].outcome == "call"
    assert f"the version of the format, {VERSION} now" in DOC


def test_the_python_example_puts_prompts_together(monkeypatch):
    code = re.search(r"```python\n(.*?)```", DOC, re.DOTALL).group(1)
    records = [Record(float(at), event) for at, event in enumerate(varied_events())]
    scope = {"read_trace": lambda path: records}
    exec(code, scope)
    *_, (_, _, last) = fold(records).requests()
    assert tuple(scope["messages"]) == last


def keys_after(heading):
    """The keys in the first column of the table under a heading or sentence."""
    table = DOC[DOC.index(heading) :]
    table = table[table.index("\n|") : re.search(r"\n\|.*\n(?!\|)", table).end()]
    return {name for row in rows(table, 2) for name in names(row[0])}


def test_every_key_of_the_json_is_described():
    run = run_data(fold([Record(float(at), event) for at, event in enumerate(varied_events())]))
    of_start = {item.name for item in dataclasses.fields(EVENTS["run_start"])} - {"version"}
    assert set(run) == keys_after("gives the run in one object") | of_start | {"trace", "format"}
    assert set(run["steps"][0]) | {"requests"} == keys_after("| key of a step |")
    assert set(totals_data(Totals())) | {"damaged"} == keys_after("gives the sums of all runs")
    assert set(get_args(Outcome)) <= set(names(DOC[DOC.index("| `outcome` |") :]))
