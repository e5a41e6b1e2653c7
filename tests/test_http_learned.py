"""What an endpoint learns from refusals, as pure steps: each is taken once, and there is always a last one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.endpoints.http_errors import ErrorClass
from react_agent.endpoints.http_learned import Ladder
from react_agent.endpoints.http_parameters import KNOWN

BODY = {"model": "m", "messages": [], "max_tokens": 100, "stream": True, "stream_options": {}, "temperature": 0, "stop": ["x"]}


def after(*refusals, body=BODY):
    """(the body that would be sent next, the notes) after these refusals."""
    ladder = Ladder()
    notes = []
    for refusal in refusals:
        notes.append(ladder.step_down(refusal, ladder.learned.apply(body)))
    return ladder.learned.apply(body), notes


def drop(name):
    return ErrorClass("drop_parameter", "no", parameter=name)


CASES = [
    ("drop", [drop("stop")], {"stop"}, BODY),
    ("another name for what was sent", [drop("stop_sequences")], {"stop"}, BODY),
    ("what was not sent", [drop("logprobs")], set(), BODY),
    ("what every request needs", [drop("messages"), drop("model")], set(), BODY),
    ("a value that is wrong", [ErrorClass("bad_parameter", "no", parameter="temperature")], {"temperature"}, BODY),
    ("nothing named", [ErrorClass("bad_parameter", "no")], {"stream_options", "stop", "temperature", "stream"}, BODY),
    ("a constraint under another name", [drop("response_format")], {"grammar"}, {"messages": [], "grammar": "x"}),
    ("prefill, which is never sent", [drop("prefill")], set(), BODY),
]  # fmt: skip


@pytest.mark.parametrize(("refusals", "gone", "body"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_is_left_out(refusals, gone, body):
    sent, notes = after(*refusals, body=body)
    assert set(body) - set(sent) == gone
    assert all(note is None for note in notes) if not gone else all(notes)


CONSTRAINTS = [
    ("refused by name", [drop("response_format")] * 3, "response_format", ["json_schema", "json_object", None]),
    ("refused by another name", [drop("json_schema"), drop("guided_json")], "structured_outputs", ["json_schema", "json_object"]),
    ("nothing named: the constraint goes first", [ErrorClass("bad_parameter", "no")] * 3, "format", ["json_schema", "json_object", "stop"]),
    ("about something else", [drop("stop")], "grammar", ["stop"]),
]  # fmt: skip


@pytest.mark.parametrize(("refusals", "field", "gone"), [case[1:] for case in CONSTRAINTS], ids=[case[0] for case in CONSTRAINTS])
def test_structured_output_is_stepped_down(refusals, field, gone):
    """gone: what each refusal takes away, None when it changes nothing; the field itself is made anew for the next kind."""
    ladder = Ladder()
    ladder.learn(constraint=("json_schema", "json_object"))
    for refusal, what in zip(refusals, gone, strict=True):
        left = ladder.learned.constraint
        sent = ladder.learned.apply({**BODY, field: {}} if left else BODY)
        note = ladder.step_down(refusal, sent)
        if what is None:
            assert note is None
        elif what in ("json_schema", "json_object"):
            assert ladder.learned.constraint == left[1:] and what in note
        else:
            assert what in ladder.learned.dropped and ladder.learned.constraint == left


def test_nested_parameters():
    body = {"messages": [], "options": {"num_predict": 5, "stop": ["x"], "temperature": 0}, "format": {"stop": 1}}
    assert after(drop("stop"), body=body)[0] == {"messages": [], "options": {"num_predict": 5, "temperature": 0}, "format": {"stop": 1}}


def test_the_cap_is_renamed_then_lowered_then_dropped():
    ladder = Ladder()
    rename = ErrorClass("rename_parameter", "no", parameter="max_tokens", rename_to="max_completion_tokens")
    assert "renamed" in ladder.step_down(rename, ladder.learned.apply(BODY))
    assert ladder.learned.apply(BODY)["max_completion_tokens"] == 100
    lower = ErrorClass("bad_parameter", "no", parameter="max_completion_tokens", limit=50)
    assert "limited to 50" in ladder.step_down(lower, ladder.learned.apply(BODY))
    assert ladder.learned.cap == 50
    back = ErrorClass("rename_parameter", "no", parameter="max_completion_tokens", rename_to="max_tokens")
    assert "dropped" in ladder.step_down(back, ladder.learned.apply(BODY))
    assert not {"max_tokens", "max_completion_tokens"} & ladder.learned.apply(BODY).keys()
    assert ladder.step_down(back, ladder.learned.apply(BODY)) is None


@given(st.lists(st.builds(
    ErrorClass, st.sampled_from(["drop_parameter", "rename_parameter", "bad_parameter"]), st.just("no"),
    parameter=st.one_of(st.none(), st.sampled_from([*KNOWN, "messages"])),
    rename_to=st.sampled_from([None, "max_completion_tokens", "max_tokens"]),
    limit=st.one_of(st.none(), st.integers(-5, 200)),
), min_size=25, max_size=25))  # fmt: skip
def test_every_ladder_has_an_end(refusals):
    _, notes = after(*refusals)
    assert sum(note is not None for note in notes) <= 12
