"""classify on the error bodies of many servers: the corpus, and wordings of our own collection."""

import json
from pathlib import Path

import pytest

from react_agent.endpoints.http import classify

DATA = Path(__file__).parent / "data"
NOW = 1_780_000_000.0


def rows():
    found = json.loads((DATA / "error_bodies.json").read_text("utf-8"))
    more = (DATA / "error_bodies_more.jsonl").read_text("utf-8").splitlines()
    return found + [json.loads(line) for line in more]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["server"])
def test_the_class_and_what_it_carries(row):
    body = row["body"] if isinstance(row["body"], str) else json.dumps(row["body"])
    got = classify(row["status"], body, row.get("headers") or {}, now=NOW)
    name, _, about = row["class"].partition(":")
    parameter, _, rename_to = about.partition("->")
    assert (got.name, got.parameter or "", got.rename_to or "") == (name, parameter, rename_to) if about else got.name == name
    for key in ("limit", "used", "wait_s", "kind"):
        if key in row:
            assert getattr(got, key) == row[key]
    if "no" in row:
        assert getattr(got, row["no"]) is None
