"""Where the watcher closes a stream, that no chopping changes it, and that the parser then says what it says of the whole reply."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.errors import ParseError
from react_agent.parser import parse_decision
from react_agent.registry import Tool, ToolRegistry
from react_agent.types import Completion
from react_agent.watch import DecisionWatcher

DATA = Path(__file__).parent / "data"
CALL = '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}'
ANSWER = '{"thought": "t", "action": "none", "action_input": {}, "final_answer": "a } b"}'
SHORT = '{"action": "search", "action_input": {"query": "x"}}'
CASES = [json.loads(line) for name in ("parser.jsonl", "parser_more.jsonl") for line in (DATA / name).read_text("utf-8").splitlines()]
CASES = [case for case in CASES if 0 < len(case["text"]) < 3000]


def closing(text, cuts=None):
    """How many characters had been fed when the watcher closed, None if it never did. cuts: where pieces end; each character by default."""
    watcher, start = DecisionWatcher(), 0
    for end in [*(range(1, len(text)) if cuts is None else cuts), len(text)]:
        if watcher.feed(text[start:end]):
            assert watcher.closed
            return end
        start = end
    assert not watcher.closed
    return None


# Each: what stands before the object, and the object, that close the stream as soon as the object has closed.
CLOSES = [
    ("", CALL),
    ("", ANSWER),
    ("", SHORT),
    ("", '{"final_answer": 0}'),
    ("", json.dumps(json.loads(CALL), indent=2)),
    ("", '{"tool": "search", "tool_input": {}}'),
    ("", "{'thought': 't', 'action': 'search', 'action_input': {'query': 'x'}, 'final_answer': None,}"),
    ("", CALL.replace('"x"', '"\\\\"')),
    ("", CALL.replace('"x"', '"a\\"}} b"')),
    (" \n\ufeff", CALL),
    ("```json\n", CALL),
    ("```\n```json\n", CALL),
    ("~~~\n", CALL),
    ("<think>\nI could {x} or " + CALL + "\n</think>\n\n", CALL),
    ("<think>a <think> b </think> c</think>", CALL),
    ("<THINKING>x</THINKING>", CALL),
    ("[THINK]x[/THINK]", CALL),
    ("I think so " + CALL + " or not.\n</think>\n", CALL),
    ("<think>x</think>\nHere it is:\n\n```json\n", CALL),
    ("<|channel|>analysis<|message|>x {y}<|end|><|start|>assistant<|channel|>final<|message|>", CALL),
    ("<|im_start|>assistant\n", CALL),
    ("<s>[/INST] ", CALL),
    ("<tool_call>\n", CALL),
    ("AI: ", CALL),
    ("Action:\n```\n$JSON_BLOB\n", CALL),
    ("return ", CALL),
    ("(", CALL),
]
# What may follow, and how much of it is waited for: only then is it plain that the object is not continued.
TAILS = {"\n```": 2, "```": 1, "\nObservation: 3\n": 2, "<|im_end|>": 1, "\n\n  Done.": 5, " " * 20: 16, "\n" + CALL: 2, "\n" * 30: 16}


@pytest.mark.parametrize("tail", TAILS, ids=repr)
@pytest.mark.parametrize(("before", "reply"), CLOSES, ids=[f"{before[:20]}{reply[:12]}" for before, reply in CLOSES])
def test_it_closes_behind_the_object(before, reply, tail):
    assert closing(before + reply + tail) == len(before) + len(reply) + TAILS[tail]


@pytest.mark.parametrize("tail", ["", "\n", " and more", '" ok', ', "final_answer": null}', "}", "\n}", '\n"', CALL, ")", " Observation: 3"])
def test_it_stays_open_while_the_object_may_go_on(tail):
    assert closing(CALL + tail) is None
    assert closing(CALL + tail, []) is None


# What never closes: the rest may still change what the parser says.
OPEN = [
    "",
    "no object here",
    CALL[:-1],
    f"[{CALL}, {CALL}]",
    f"[\n{CALL}\n]",
    f"<think>x</think>\n[\n{CALL},\n{CALL}]",
    f"<think>x</think>\nHere: [\n{CALL},\n{CALL}]",
    f"Sure: {CALL}",
    f"Sure:\n{CALL}",
    f"<think>{CALL}",
    f"<think>a <think>b</think> {CALL}",
    f"{{{CALL}}}",
    f'{{"tool_calls": [{{"function": {{"name": "search", "arguments": {{}}}}}}], "content": null}} {CALL}',
    f'{{"response": {CALL}}}',
    '{"name": "search", "arguments": {"query": "x"}}',
    '{"thought": "t"}' + CALL,
    '{"thought": "t", "action": "none", "action_input": {}}, "final_answer": "x"}',
    '{"thought": "t", "action": "now"}, "action_input": {}}',
    '{"thought": "t", "action": "none", "action_input": {}, "final_answer": null}' + CALL,
    '{"thought": "...", "action": "<tool>", "action_input": {}, "final_answer": null}' + CALL,
    '{"thought": "say "go", "action": "search", "action_input": {}} ok", "action": "none", "final_answer": "x"}',
    '{"temp": 21} ' + CALL,
    'Thought: t\nAction: search\nAction Input: {"query": "x"}\nObservation: 3',
    'Action Input:\n{"action": "start", "action_input": {}}',
    '<think>x</think>\nAction: control\nAction Input:\n{"action": "start", "action_input": {}}',
    "thought: t\naction: search\naction_input:\n  query: x",
    json.dumps(CALL),
    CALL[1:],
    f"<|channel|>commentary<|message|>{CALL}<|end|>",
    f"return {SHORT} ",
    CALL.replace("{", "｛").replace("}", "｝"),
]


@pytest.mark.parametrize("text", OPEN, ids=[f"{number}-{text[:30]}" for number, text in enumerate(OPEN)])
def test_it_stays_open(text):
    for reply in (text, text + "\n```"):
        assert closing(reply) is None
        assert closing(reply, []) is None


def test_after_data_at_the_start_of_a_reply_only_reasoning_that_ends_makes_an_object_count():
    assert closing('{"a": 1}\n' + CALL + "\n`") is None
    assert closing('<think>x</think>{"a": 1}\n' + CALL + "\n`") is not None
    assert closing('{"a": 1}\nso:\n</think>\n' + CALL + "\n`") is not None


def test_once_closed_it_stays_closed():
    watcher = DecisionWatcher()
    assert not watcher.closed
    assert not watcher.feed(CALL)
    assert watcher.feed("\n`")
    assert watcher.feed("more")
    assert watcher.closed


PIECES = st.lists(
    st.sampled_from([CALL, ANSWER, SHORT, '{"a": 1}', "<think>", "</think>", "```json\n", "```", "\n", " ", "Sure", ":", "[", "]", "{", "}", '"',
                     "\\", "AI: ", "<|im_end|>", "<|channel|>final<|message|>", "<|channel|>analysis<|message|>", "<|end|>", "Action Input:", "<", "x"]),
    max_size=7,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(PIECES, st.data())
def test_no_chopping_changes_the_answer(pieces, data):
    text = "".join(pieces)
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=6)))
    one_by_one = closing(text)
    chopped = closing(text, [cut for cut in cuts if cut < len(text)])
    assert (one_by_one is None) == (chopped is None)
    if one_by_one is not None:  # it closes with the piece that holds the object's last brace
        assert one_by_one <= chopped
        assert not any(one_by_one <= cut < chopped for cut in cuts)


def outcome(text, tools):
    known = ToolRegistry(
        Tool(tool["name"], "", {"type": "object", "properties": dict.fromkeys(tool["parameters"], {})}, lambda **_: "", read_only=True)
        for tool in tools
    )
    try:
        decision = parse_decision(Completion(text, "stop"), known)
    except ParseError as error:
        return error.reason
    return decision.call or decision.final_answer


# What follows the object contradicts it, or says that it was reasoning: the watcher cannot know.
CONTRADICTED = {"conflict", "duplicate_key", "only_thinking"}
SPOKE_AGAIN = {"more-special_token-18"}  # a second turn, in a channel of its own, behind a finished one


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_what_is_cut_off_would_not_have_changed_the_decision(case):
    text = case["text"]
    end = closing(text)
    assert (closing(text, []) is None) == (end is None)
    if end is not None:
        whole = outcome(text, case["tools"])
        if case["id"] not in SPOKE_AGAIN:
            assert outcome(text[:end], case["tools"]) == whole or str(whole) in CONTRADICTED


@pytest.mark.parametrize("case", [case for case in CASES if case["kind"] in ("valid", "fence", "think") and case["expect"]["type"] != "reject"],
                         ids=lambda case: case["id"])  # fmt: skip
def test_ordinary_replies_are_closed_early(case):
    left_open = {"fence-08", "more-fence-03", "more-fence-05", "more-fence-07", "more-fence-12", "more-think-13", "more-think-20"}
    assert (closing(case["text"] + "\n```") is None) == (case["id"] in left_open)
