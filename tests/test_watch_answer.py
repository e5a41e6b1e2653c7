import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.watch_answer import AnswerStream


def fed(text, size=1):
    stream = AnswerStream()
    return "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size))


CASES = [
    ('{"thought": "t", "action": "none", "action_input": {}, "final_answer": "It is 42."}', "It is 42."),
    ('{"final_answer": "first", "thought": "t"}', "first"),
    ('{"thought": "final_answer", "final_answer": null}', ""),
    ('{"thought": "\\"final_answer\\": \\"no\\"", "action_input": {"final_answer": "no"}, "final_answer": "yes"}', "yes"),
    ('Sure! ```json\n{"final_answer": "a\\nb \\u00e9 \\ud83d\\ude00"}', "a\nb é 😀"),
    ('{"final_answer": "half a pair \\ud83d!"}', "half a pair \ufffd!"),
    ('{"final_answer": "not clo', "not clo"),
    ("no JSON at all", ""),
    ('{"final_answer": 42}', ""),
    ('{"a": ["final_answer", "x"], "final_answer": "y"}', "y"),
]


@pytest.mark.parametrize(("text", "answer"), CASES)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_answer_and_nothing_else_comes_out(text, answer, size):
    assert fed(text, size) == answer


@given(st.text(), st.text(), st.integers(1, 7), st.booleans())
def test_any_answer_in_any_pieces(thought, answer, size, ascii_only):
    text = json.dumps({"thought": thought, "action_input": {"x": [thought]}, "final_answer": answer}, ensure_ascii=ascii_only)
    assert fed(text, size) == answer


@given(st.text(), st.integers(1, 5))
def test_any_text_is_survived(text, size):
    fed(text, size)
