"""Endings, contents and counts of replies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.endpoints.base import Request
from react_agent.endpoints.http_decode import Counts, content_text, counts, ending
from react_agent.endpoints.http_reply import Delta, Reply
from react_agent.types import Usage

ENDINGS = {
    "length": ["length", "max_tokens", "MAX_TOKENS", "limit", "model_length", "max_output_tokens", "CONTINUATION", "pause_turn",
               "incomplete", "model_context_window_exceeded", " Length "],
    "failed": ["error", "ERROR", "TIMEOUT", "abort", "network_error", "insufficient_system_resource", "failed", "cancelled",
               "malformed_model_output", "MALFORMED_RESPONSE"],
    "content_filter": ["content_filter", "refusal", "SAFETY", "RECITATION", "guardrail_intervened", "content_filtered", "sensitive"],
    "stop": ["stop", "STOP", "eos", "eos_token", "end_turn", "stop_sequence", "word", "COMPLETE", "tool_calls", "function_call", "load"],
    "unknown": [None, "", "banana", "stopp"],
}  # fmt: skip


@pytest.mark.parametrize(("word", "expected"), [(word, name) for name, words in ENDINGS.items() for word in words])
def test_endings(word, expected):
    assert ending(word) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["type", "text", "thinking", "thought", "x"]), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_any_content_is_text_in_the_end(content):
    assert all(isinstance(part, str) for part in content_text(content))


@given(JSON, JSON, JSON, JSON, JSON)
def test_any_counts_make_a_sane_usage(prompt, completion, total, cached, reasoning):
    usage = counts(prompt, completion, total, cached, reasoning).settled(7, 3)
    assert usage.input_tokens > 0
    assert usage.output_tokens >= 0
    assert usage.cached_tokens is None or usage.cached_tokens >= 0


def test_counts_that_come_in_parts():
    assert Counts(20).updated(Counts(None, 5)).updated(None).updated(Counts(completion=9)).settled(1, 1) == Usage(20, 9)
    assert Counts(20, 0).settled(1, 0) == Usage(20, 0)
    assert Counts(20, 0).settled(1, 4) == Usage(20, 4, estimated=True)


@given(st.text(alphabet="abEND ", max_size=40), st.lists(st.sampled_from(["END", "a", "b E", "DD"]), max_size=3), st.integers(1, 7))
def test_stop_words_cut_the_text_however_it_comes(text, stop, size):
    shown = []
    reply = Reply(Request(on_text=shown.append), tuple(stop))
    for start in range(0, len(text), size):
        reply.add(Delta(text[start : start + size]))
        if reply.satisfied:
            break
    reply.flush()
    places = [place for word in stop if (place := text.find(word)) >= 0]
    assert reply.text == "".join(shown)
    if places:
        assert reply.cut
        first = min(place + len(word) for word in stop if (place := text.find(word)) >= 0)
        assert reply.text in {text[:place] for place in places if place <= first}
    else:
        assert (reply.text, reply.cut) == (text, False)
