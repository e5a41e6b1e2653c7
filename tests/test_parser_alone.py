"""Which replies are read at once, without the search: those in which nothing else could matter. All others are left to the search."""

import pytest

from react_agent.lenient_json import Unreadable, strict_object
from react_agent.parser_alone import first_object, is_cut_call, is_only_cut, read_alone, read_damaged, try_repairs
from react_agent.parser_find import Tried
from react_agent.parser_names import parameters_in
from react_agent.registry import Tool, ToolRegistry

TOOLS = ToolRegistry(
    Tool(name, name, {"type": "object", "properties": {part: {} for part in parts}}, lambda **_: "", read_only=True)
    for name, parts in {"search": ["query"], "now": []}.items()
)
CALL = '{"thought": "t", "action": "search", "action_input": {"query": "x"}}'
BARE = '{"action": "search", "action_input": {"query": "x"}}'
END = len(CALL)

# What stands behind a call -> its repairs; None where it is left to the search.
BEHIND = [
    ("\n```", {}),
    (" ~~~ \n", {}),
    ("\n``` ```", {}),
    ("\n", {}),
    ("}", {}),
    (" done", {"dropped_tail": END}),
    ("\n```\nThat is it.", {"dropped_tail": END}),
    ("\n(The {placeholder} is yours, not ｛mine｝.)", {"dropped_tail": END}),
    ("\n`<|im_end|>", None),
    ("<|im_end|>", {}),
    ('\n```<|im_end|>: "x" [/x] <b> {"a": 1}', {"dropped_tail": END}),
    ("<|im_end|>\nuser: hi", {"invented_observation": END + 11}),
    ("<|im_end|> more\nuser: hi", {"invented_observation": END + 16}),
    ("<|end|><|start|>assistant", None),
    ("\nObservation: 3", {"invented_observation": END + 1}),
    ('\n```\nObservation: {"a": "b"}', {"invented_observation": END + 5}),
    ('\nObservation: {"action": 1}', None),
    ("\nwords\nObservation: 3", None),
    ("\n{\nObservation: 3", None),
    ('\n{"a": 1}\nObservation: 3', None),
    ("\nObservation: 3 <b>", None),
    ('"', None),
    ("'x'", None),
    (' "x"', None),
    (" “x”", None),
    (" a: b", None),
    (" a：b", None),
    (" <b>", None),
    (" ◁b", None),
    ("[/INST]", None),
    ("[TOOL", None),
    (" [1]", {"dropped_tail": END}),
    (" {x: 1}", None),
    (' {"x": 1}', None),
]

# What stands before it: is it read at once?
BEFORE = [
    ("Sure.\n", True),
    ("\n\n", True),
    ("1. {x} and then\n", True),
    ("<think>hm: \"a\" {b}</think>\n", True),
    ("\n<THINK>1 < 2 <b>or</b></THINK> <think></think>", True),
    ("<think>a</think> so\n", True),
    ("<|start|>assistant<|channel|>commentary<|message|>", True),
    (" <|channel|>final<|message|>", True),
    ("AI: ", True),
    ("assistant :\n", True),
    ("<|channel|>analysis<|message|>", False),
    ("<|channel|>commentary to=functions.search<|message|>", False),
    ("<|channel|>final<|message|>a: ", False),
    ("me: ", False),
    ("我：", False),
    ('a "b" ', False),
    ("a “b” ", False),
    ("[", False),
    ("[\n ", False),
    ("[1] ", True),
    ("{a: 1}\n", False),
    ("<think>a", False),
    ("<think>a<think>b</think>", False),
    ("<think>a<think x>b</think></think>", False),
    ("a</think>", False),
    ("<think>a</think><think>b", False),
    ("<b>\n", True),
    ("<|im_end|>", False),
]  # fmt: skip


# A reply that a limit has cut: is it refused for that at once?
CUT = [
    ('{"thought": "This isn\'t clear yet, so', True),
    ("{", True),
    ('{"a": "}', False),
    ('{"a": "｝', False),
    ('{"a": "x\n', False),
    ('{"a": "<', False),
    ('{"a": "[', False),
    ('{"a": "◁', False),
    ("The capital of", True),
    ("Thought: t\nAction: now", True),
    ("I say {", False),
    ("I say ｛", False),
    ('"final_answer": "x"}', False),
    ('"final_answer": "x"｝', False),
    ("1 < 2", False),
    ("see [1", False),
    ("say ◁", False),
    ("...", False),
    ("", False),
    ("```json", False),
]

# What begins so, has no brace that closes and came with no word about a limit: does it end in a call's input?
CUT_CALL = [
    ("", True),
    (" ", True),
    ('"query": "x', True),
    ('"query": "say } and', True),
    ('"query": "x"', True),
    ('"query": "x",', True),
    ('"query": "x", "a" : "y', True),
    ('"query": "say \\"x', True),
    ('"query": "x\\', True),
    ('"query": "x\n', False),
    ('"query": "x"\n', False),
    ('"query": "x" y', False),
    ('"query": "say "x', False),
    ('"query": "x", "a', False),
    ('"query": 1', False),
    ('"query": ["x', False),
    ('"query": "x”', True),
]


@pytest.mark.parametrize(("text", "taken"), CUT)
def test_what_a_limit_has_cut(text, taken):
    assert is_only_cut(text, 0) == taken and is_only_cut("  " + text, 2) == taken


@pytest.mark.parametrize(("text", "taken"), CUT_CALL)
def test_what_ends_in_an_input(text, taken):
    for before in ('{"action": "search", "action_input": {', '{"thought": "say \\"t\\"", "action_input" : {', '{"action_input":{'):
        assert is_cut_call(before + text, 0) == taken and is_cut_call("  " + before + text, 2) == taken
    assert not any(is_cut_call(before + text, 0) for before in ("", "x ", '{"action_input": ', '{"a": 1, "action_input": {', '{"a": {'))


def alone(text):
    return read_alone(text, Tried(0, strict_object(text, 0)) if text.startswith("{") else first_object(text), TOOLS)


@pytest.mark.parametrize(("behind", "repairs"), BEHIND)
def test_what_stands_behind_an_object(behind, repairs):
    for before in ("", "Well.\n"):
        found = alone(before + CALL + behind)
        assert (found and {name: at - len(before) for name, at in found[1].items()}) == repairs
        assert not found or (found[0].tool.name, found[0].arguments) == ("search", {"query": "x"})


@pytest.mark.parametrize(("before", "taken"), BEFORE)
def test_what_stands_before_an_object(before, taken):
    found = alone(before + CALL)
    assert (found is not None) == taken
    assert not found or (found[0].tool.name, found[0].thought, found[1]) == ("search", "t", {})


def test_a_brace_too_many_in_front_is_passed_over():
    for before in ("{", "{ ", "{{"):
        tried = try_repairs(before + CALL + "}", 0, parameters_in(TOOLS), [])
        assert (tried.start, tried.strictly.end) == (len(before), len(before) + END)
        assert read_alone(before + CALL + "}", tried, TOOLS)[1] == {}


def test_other_objects_are_left_to_the_search():
    for text in (CALL.replace("action", "tool"), CALL.replace('"x"', '"x'), CALL.replace("{", "｛"), "no object", "", "{", "I say {x}"):
        assert alone(text + " ") is None and alone("Well.\n" + text) is None
    assert alone(BARE + "\n") and alone("\n" + BARE) and alone("<think>I plan</think>" + BARE)
    assert alone("I say " + BARE) is None and alone("<think>a</think>I say " + BARE) is None  # it may only be quoted there


# A reply that is one damaged object -> its repairs, or why it is refused; None where the search has to look further.
DAMAGED = [
    ('{"action": "now", "action_input": {}', {"missing_closer": 36}, "truncated"),
    ('{"action": "now", "action_input": {}\n', {"missing_closer": 37}, "truncated"),
    ("{'action': 'now', 'action_input': {} 'final_answer': null}", {"single_quotes": 1, "missing_comma": 37}, None),
    ('{"action": "now", "action_input": {} "final_answer": null} ', {"missing_comma": 37}, None),
    ('{"tool": "now", "args": {} "a": null}', {"alias_key": 1, "missing_comma": 27}, None),
    ('{"final_answer": "x" "action": "none"}', {"missing_comma": 21}, None),
    ('{"action": "nope", "action_input": {} "a": 1}', "unknown_tool", None),
    ('{"action": "search", "action_input": {"query": "a " b"}}', "unescaped_quote", None),
    ('{"action": "now", "action_input": {"a": 1e999}}', "bad_number", None),
    ('{"action": ..., "final_answer": "x"}', None, None),
    ('{"action": "<tool name>" "action_input": {}}', None, None),
    ('{"reply": "x" "a": 1}', None, None),
    ('{"thought": "t" "x": 1}', "unescaped_quote", None),
    ('{"thought": "t", "x": 1 "y": 2}', None, None),
    ('{"a": 1 "b": 2}', None, None),
    ('{"a": 1e999}', None, None),
    ('{"action": "now", "action_input": {} "final_answer": null} x', None, None),
    ('{"action": "now", "action_input": {}```', None, None),
    ("{x}", None, None),
    ("{<think>}", None, None),
]


@pytest.mark.parametrize(("text", "expected", "when_cut"), DAMAGED)
@pytest.mark.parametrize("cut", [False, True])
def test_a_damaged_object_and_nothing_else(text, expected, when_cut, cut):
    expected = when_cut if cut and when_cut else expected
    tried = try_repairs(text, 0, parameters_in(TOOLS), [])
    assert tried.strictly is None and (tried.start == 0) == (tried.repaired is not None)
    if isinstance(expected, str):
        with pytest.raises(Unreadable) as caught:
            read_damaged(text, tried, TOOLS, cut=cut)
        assert caught.value.reason == expected
    else:
        found = read_damaged(text, tried, TOOLS, cut=cut)
        assert (found and found[1]) == expected
