"""Messages for the strictest template."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.endpoints.roles import strict_roles
from react_agent.types import Message

CASES = [
    ("system folded", [("system", "S"), ("user", "a")], [("user", "S\n\na")]),
    ("two systems, one late", [("system", "S"), ("user", "a"), ("system", "T"), ("assistant", "b"), ("user", "c")],
     [("user", "S\n\nT\n\na"), ("assistant", "b"), ("user", "c")]),
    ("neighbours merged", [("user", "a"), ("user", "b"), ("assistant", "c"), ("assistant", "d"), ("user", "e")],
     [("user", "a\n\nb"), ("assistant", "c\n\nd"), ("user", "e")]),
    ("an assistant first", [("system", "S"), ("assistant", "a"), ("user", "b")], [("user", "S"), ("assistant", "a"), ("user", "b")]),
    ("an assistant last", [("user", "a"), ("assistant", "b")], [("user", "a"), ("assistant", "b"), ("user", "Continue.")]),
    ("only a system", [("system", "S")], [("user", "S")]),
    ("nothing", [], [("user", "(empty)")]),
    ("empty texts", [("user", ""), ("assistant", " "), ("user", "\n")],
     [("user", "(empty)"), ("assistant", "(empty)"), ("user", "(empty)")]),
]  # fmt: skip


@pytest.mark.parametrize(("given_", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_strict_roles(given_, expected):
    assert strict_roles([Message(*pair) for pair in given_]) == tuple(Message(*pair) for pair in expected)


@given(st.lists(st.builds(Message, st.sampled_from(["system", "user", "assistant"]), st.text(max_size=5)), max_size=8))
def test_what_every_template_asks_for(messages):
    got = strict_roles(messages)
    assert [message.role for message in got] == ["user", "assistant"] * (len(got) // 2) + ["user"]
    assert all(message.content.strip() for message in got)
    assert all(message.content in "\n\n".join(one.content for one in got) for message in messages if message.content.strip())
    assert strict_roles(got) == got
