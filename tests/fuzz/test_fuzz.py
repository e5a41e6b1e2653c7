"""The fuzzer's oracles on 20,000 mutants, and on a million with `-m slow`."""

import random

import pytest
from mutants import ORACLES, any_fault, as_case, decision_text, faults, material, other_way, outcome, registry, replies

BASE, TEXTS = material()


@pytest.mark.parametrize("oracle", ORACLES)
def test_no_fault_in_20_000_mutants(oracle):
    assert list(faults(20_000 // len(ORACLES) + 1, 20, [oracle], BASE, TEXTS)) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_no_fault_in_a_million_mutants(seed):
    assert list(faults(100_000, 1000 + seed, list(ORACLES), BASE, TEXTS)) == []


def test_no_case_of_the_corpora_is_read_otherwise_without_the_shortcuts():
    faults_found = [other_way(reply.text, reason, reply.tools) for reply in BASE for reason in ("stop", "length")]
    assert [fault for fault in faults_found if fault] == []


def test_the_material_is_the_corpora_and_the_real_replies():
    assert len(BASE) > 700
    assert len(TEXTS) > 1100
    assert {reply.kind for reply in replies("parser.jsonl")} >= {"valid", "think", "inner_quotes", "yaml"}


def test_the_oracles_can_fail(monkeypatch):
    """An oracle that finds nothing has to be able to find something: here the parser is told to fall over or to misread."""
    rng = random.Random(1)
    monkeypatch.setattr("mutants.parse_decision", lambda completion, tools: 1 / 0)
    assert any_fault(rng, BASE, TEXTS).what.startswith("ZeroDivisionError")
    for oracle in ("cut", "wrapped", "spaced", "damaged", "quoted"):
        made = iter(range(10**9))
        monkeypatch.setattr("mutants.outcome", lambda text, reason, tools, made=made: ("call", list(tools.names)[next(made) % len(tools)], "{}"))
        fault = next(faults(500, 1, [oracle], BASE, TEXTS))
        assert fault.oracle == oracle
        assert as_case(fault).keys() == {"kind", "note", "text", "finish_reason", "tools"}


def test_made_replies_are_read_as_they_were_made():
    tools = registry([{"name": "set_value", "parameters": ["key", "value"]}])
    rng = random.Random(3)
    for _ in range(200):
        text, same = decision_text(rng, tools)
        assert outcome(text, "stop", tools) == same
