"""A reply's decision: the corpora, one test per case; the real replies; errors and re-prompts; properties of any text."""

import contextlib
import gc
import json
import math
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replies import toolbox

from react_agent.errors import PARSE_REASONS, ParseError
from react_agent.parser import MAX_CHARACTERS, canonical, parse_decision
from react_agent.parser_repairs import REPAIRS
from react_agent.prompt import load
from react_agent.registry import Tool, ToolRegistry
from react_agent.types import Completion, Decision, Repair, ToolCall

DATA = Path(__file__).parent / "data"


def lines(name):
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


CASES = [*lines("parser.jsonl"), *lines("parser_more.jsonl")]
PINNED = {pin.pop("id"): pin for pin in lines("parser_pinned.jsonl")}
REPLIES = lines("replies.jsonl")
# Labels have no closing mark, and in these kinds an object stands before the one that counts: a prefix may decide otherwise.
UNMARKED = {"classic_text", "yaml", "prose", "schema_echo", "conflict", "special_token"}
_REGISTRIES = {}


def registry(tools):
    """Tools with these names and parameters, all of them required."""
    key = json.dumps(tools)
    if key not in _REGISTRIES:
        _REGISTRIES[key] = ToolRegistry(
            Tool(tool["name"], "", {"type": "object", "properties": {name: {} for name in tool["parameters"]}}, lambda **_: "",
                 read_only=tool.get("read_only", True))
            for tool in tools
        )  # fmt: skip
    return _REGISTRIES[key]


SEARCH = toolbox(search=["query"], fetch=["url"], now=[])
CALL = '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}'
ANSWER = '{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}'


def parse(text, known=SEARCH, finish_reason="stop"):
    return parse_decision(Completion(text, finish_reason), known)


def refused(text, known=SEARCH, finish_reason="stop"):
    with pytest.raises(ParseError) as caught:
        parse(text, known, finish_reason)
    return caught.value


def outcome(text, finish_reason, known):
    """What the parser makes of a reply in the corpora's own shape."""
    try:
        decision = parse_decision(Completion(text, finish_reason or "unknown"), known)
    except ParseError:
        return {"type": "reject"}
    if decision.call:
        return {"type": "action", "action": decision.call.name, "action_input": decision.call.arguments}
    return {"type": "final", "final_answer": decision.final_answer}


def matches(expected, got):
    if expected["type"] != got["type"] or expected["type"] == "reject":
        return expected["type"] == got["type"]
    if expected["type"] == "action":
        return expected["action"] == got["action"] and same(expected["action_input"], got["action_input"])
    want, have = expected["final_answer"], got["final_answer"]
    return have == want if isinstance(want, str) else same(want, json.loads(have))


def same(a, b):
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


# The corpora


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_corpus(case):
    got = outcome(case["text"], case["finish_reason"], registry(case["tools"]))
    assert any(matches(expected, got) for expected in [case["expect"], *case.get("also_ok", [])]), (case["text"][:300], got)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_reasons_and_repairs_of_the_corpus(case):
    known, pinned = registry(case["tools"]), PINNED[case["id"]]
    completion = Completion(case["text"], case["finish_reason"] or "unknown")
    try:
        decision = parse_decision(completion, known)
    except ParseError as error:
        assert {"reason": error.reason, "line": error.line, "column": error.column} == pinned
    else:
        assert {"thought": decision.thought[:80], "repairs": [[repair.name, repair.offset] for repair in decision.repairs]} == pinned
        assert parse_decision(Completion(canonical(decision), "stop"), known) == Decision(
            decision.thought, decision.call, decision.final_answer
        )  # fmt: skip


@pytest.mark.parametrize("case", [case for case in CASES if case["kind"] == "valid"], ids=lambda case: case["id"])
def test_a_valid_reply_is_not_repaired(case):
    assert parse_decision(Completion(case["text"], "stop"), registry(case["tools"])).repairs == ()


def test_every_repair_has_words_and_a_case():
    made = {name for pin in PINNED.values() for name, _ in pin.get("repairs", ())}
    assert made <= set(REPAIRS)
    assert set(REPAIRS) - made == {"missing_value"}
    assert parse(CALL.replace("null", "")).repairs == (Repair("missing_value", 85),)


@pytest.mark.parametrize("case", [case for case in CASES if case["kind"] not in UNMARKED and case["expect"]["type"] != "reject"
                                  and len(case["text"]) < 400], ids=lambda case: case["id"])  # fmt: skip
def test_no_prefix_acts_otherwise(case):
    wanted = [case["expect"], *case.get("also_ok", [])]
    for cut in range(len(case["text"])):
        for reason in ("stop", "length"):
            got = outcome(case["text"][:cut], reason, registry(case["tools"]))
            assert got["type"] != "action" or any(matches(expected, got) for expected in wanted), case["text"][:cut]


@pytest.mark.parametrize("number", range(len(REPLIES)))
def test_real_replies(number):
    reply = REPLIES[number]
    known = toolbox(calculator=["expression"], sql_query=["query"], list_tables=[], describe_table=["table"], grep_docs=["pattern"],
                    lookup_stock=["symbol"], list_docs=[], read_doc=["name", "start", "end"])  # fmt: skip
    reason = "stop" if reply["finish_reason"] == "client_closed" else reply["finish_reason"]
    try:
        decision = parse(reply["text"], known, reason)
        got = decision.call.name if decision.call else "answer"
    except ParseError as error:
        got = f"refused: {error.reason}"
    assert got == reply["outcome"]


# What is said about a reply that is refused


REFUSED = [
    ("", "stop", "empty", "", 1, 1),
    ("<think>x</think>", "stop", "only_thinking", "<think>x</think>", 1, 17),
    ('{"thought": "t", "action": "search", "action_inp', "stop", "truncated", 't": "t", "action": "search", "action_inp', 1, 49),
    ("I do not know.", "stop", "no_object", "I do not know.", 1, 1),
    ('So:\n{"temp": 21}', "stop", "not_a_decision", '{"temp": 21}', 2, 1),
    ('\n\n{"temp": 21}', "stop", "not_a_decision", '{"temp": 21}', 3, 1),
    ('{"thought": "...", "action": "<tool>"}', "stop", "template_echo", '{"thought": "...", "action": "<tool>"}', 1, 1),
    ('{"thought": "t",\n "action": "search",\n "action_input": {"query": cats}}', "stop", "bad_syntax", "cats}}", 3, 28),
    ('{"action": "search", "action_input": {"query": "a "b": c"}}', "stop", "unescaped_quote", '"b": c"}}', 1, 51),
    ('{"thought": "t", "action"="search", "action_input": {}}', "stop", "unescaped_quote", '", "action"="search", "action_input": {}}', 1, 15),
    ('{"action": "search", "action": "fetch"}', "stop", "duplicate_key", '"action": "fetch"}', 1, 22),
    ('{"thought": "t", "action": "se\\nek", "action_input": {}}', "stop", "unknown_tool", '"action": "se\\nek", "action_input": {}}', 1, 18),
    ('{"thought": "t", "action": "se\\\\ek", "action_input": {}}', "stop", "unknown_tool", '"action": "se\\\\ek", "action_input": {}}', 1, 18),
    (CALL + "\n" + ANSWER.replace("none", "fetch"), "stop", "conflict", '{"thought": "t", "action": "fetch", "act', 2, 1),
    ('{"action": "serch", "action_input": {}}', "stop", "unknown_tool", 'serch", "action_input": {}}', 1, 13),
    ("Thought: t\nAction:\n  serch\nAction Input: x", "stop", "unknown_tool", "serch\nAction Input: x", 3, 3),
    ('{"action": "search", "action_input": ["x"]}', "stop", "bad_input", '"action_input": ["x"]}', 1, 22),
    ('{"thought": "t", "action": "none", "final_answer": ""}', "stop", "no_answer", '{"thought": "t", "action": "none", "fina', 1, 1),
    ('{"action": "search", "action_input": {"query": 007}}', "stop", "bad_number", "007}}", 1, 48),
    ('{"action": "search", "action_input": {"query": ' + "[" * 200 + "}", "stop", "too_deep", "[" * 40, 1, 146),
    (CALL[:-1], "content_filter", "truncated", 't": {"query": "x"}, "final_answer": null', 1, 90),
    (CALL[:-1], "length", "truncated", 't": {"query": "x"}, "final_answer": null', 1, 90),
    ("I do not know", "length", "truncated", "I do not know", 1, 14),
    ("", "length", "empty", "", 1, 1),
    ("", "content_filter", "refused", "", 1, 1),
]  # fmt: skip


@pytest.mark.parametrize(("text", "finish_reason", "reason", "excerpt", "line", "column"), REFUSED, ids=[row[2] for row in REFUSED])
def test_refusals_say_what_and_where(text, finish_reason, reason, excerpt, line, column):
    error = refused(text, finish_reason=finish_reason)
    assert (error.reason, error.excerpt, error.line, error.column) == (reason, " ".join(excerpt.split())[:40], line, column)


def test_a_refusal_field_is_refused_whatever_the_text_says():
    with pytest.raises(ParseError) as caught:
        parse_decision(Completion(CALL, "stop", refusal="I cannot help with that."), SEARCH)
    assert (caught.value.reason, caught.value.line, caught.value.column) == ("refused", 1, 1)


def test_length_is_checked_before_anything_is_read():
    assert MAX_CHARACTERS == 2_000_000
    text = " " * (MAX_CHARACTERS - len(CALL)) + CALL
    assert parse(text).call == ToolCall("search", {"query": "x"})
    for finish_reason in ("stop", "length"):
        error = refused(" " + text, finish_reason=finish_reason)
        assert (error.reason, error.hint, error.column) == ("too_long", "the reply has 2,000,001 characters, and at most 2,000,000 are read", 1)


HINTS = [
    ('{"action": "serch", "action_input": {}}', "there is no tool named 'serch'; search comes near"),
    ('{"action": "zzz", "action_input": {}}', "there is no tool named 'zzz'; the tools are: search, fetch, now"),
    ('{"action": "zzz(1)", "action_input": {}}', "there is no tool named 'zzz(1)'; the tools are: search, fetch, now"),
    ('{"action": "search(\'x\')", "action_input": {}}', 'action holds a call, "search(\'x\')"; write only the name \'search\' there and its '
     "arguments in action_input"),
    ('{"action": 5, "action_input": {}}', "action is 5; write a tool's name there as text, or none"),
    ('{"action": "search", "action_input": null}', 'search needs its arguments in action_input; write "action_input": {"query": "..."}'),
    ('{"action": "search", "action_input": 5}', 'action_input is 5, not an object; write "action_input": {"query": "..."}'),
    ('{"action": "now", "action_input": "soon"}', 'action_input is the text \'soon\'; write "action_input": {}'),
    ('{"action": "search", "action_input": [1]}', 'action_input is a list; name each argument; write "action_input": {"query": "..."}'),
    ('{"action": "search", "action_input": {"query": 1,000}}', "a number stands where a key belongs; write numbers without thousands separators"),
    ('{"action": "search", "action_input": {"query": NaN}}', "NaN is not a JSON number; write plain digits such as 1000 or 0.5, or put it in quotes"),
    ('{"action": "search", "action_input": {"query": "x", "final_answer": null}}', '"final_answer" stands inside action_input; close action_input '
     "before it"),
    ('{"action": "search", "action_input": {}, "query": "x"}', '"query" stands beside action_input; write it inside'),
    ('{"action": "search", "action_input": {"query": "\\d\\n"}}', "\\d is not a JSON escape, and beside it \\n could mean two things; write every "
     "backslash twice"),
    ('{"action": "finish", "action_input": {"a": 1, "b": 2}}', 'finish is no tool; write "action": "none" and the answer in final_answer'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "hint"), HINTS)
def test_hints(text, hint):
    assert refused(text).hint == hint


def test_a_name_that_two_tools_share_but_for_case():
    known = toolbox(Search=["query"], search=["query"])
    assert refused('{"action": "SEARCH", "action_input": {"query": "x"}}', known).hint == "'SEARCH' could be Search or search; write one of them exactly"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_reprompts_name_one_thing_in_at_most_two_sentences(language):
    prompts = load(language)
    assert set(prompts.reprompts) == set(PARSE_REASONS)
    for text, finish_reason, reason, *_ in REFUSED:
        error = refused(text, finish_reason=finish_reason)
        told = prompts.reprompt(reason, hint=error.hint, excerpt=error.excerpt, line=error.line, column=error.column, tools="search, fetch")
        template = prompts.reprompts[reason]
        assert len(re.findall(r"[.!?](?=\s|$)|[。！？]", template)) <= 2, template
        assert not re.search(r"\{(?:excerpt|hint|line|column|tools)\}", told)
        assert len(error.excerpt) <= 40
        for part in ("excerpt", "hint"):
            assert f"{{{part}}}" not in template or str(getattr(error, part)).rstrip(".。") in told
        assert not re.search(r"(?<!\.)\.[.。](?!\.)", told)
    assert "JSON" not in prompts.reprompts["truncated"]
    assert re.search("shorter|短得多", prompts.reprompts["truncated"])


# Shapes


@pytest.mark.parametrize("key", ["response", "output", "result", "json", "decision", "reply", "tool_call", "toolCalls", "next_action", "step", "steps",
                                 "message", "content", "data", "object", "assistant", "agent", "root", "finalResponse", "my_function", "the_call"])
def test_an_object_around_the_decision_is_taken_off(key):  # fmt: skip
    decision = parse(json.dumps({key: json.loads(CALL), "type": "x", "id": 1, "role": "assistant", "status": "ok", "index": 0}))
    assert (decision.call, decision.repairs) == (ToolCall("search", {"query": "x"}), (Repair("wrapper", 1),))


@pytest.mark.parametrize("key", ["example", "wrong_output", "draft", "schema", "Response to avoid"])
def test_an_object_around_it_that_says_otherwise_is_not(key):
    assert refused(json.dumps({key: json.loads(CALL)})).reason == "not_a_decision"


@pytest.mark.parametrize("key", ["answer", "final_answer", "result", "output", "response", "text", "content", "message", "value", "答案"])
def test_the_answer_of_an_action_that_finishes(key):
    assert parse(json.dumps({"action": "finish", "action_input": {key: "Paris"}})).final_answer == "Paris"


# What a plain-text input may do


def test_plain_text_is_no_input_of_a_tool_that_changes_something():
    known = registry([{"name": "remove", "parameters": ["path"], "read_only": False}])
    assert refused("Action: remove\nAction Input: /tmp/x", known).reason == "bad_input"
    assert refused("action: remove\naction_input:\n  path: /tmp/x\nfinal_answer: null", known).reason == "bad_input"
    assert parse('Action: remove\nAction Input: {"path": "/tmp/x"}', known).call == ToolCall("remove", {"path": "/tmp/x"})


@pytest.mark.parametrize("reason", ["unknown", "length", "content_filter"])
def test_plain_text_counts_only_if_the_model_stopped_by_itself(reason):
    assert refused("Action: search\nAction Input: cats", finish_reason=reason).reason == "truncated"
    assert refused("Final Answer: 8", finish_reason=reason).reason == "truncated"
    assert parse('Action: search\nAction Input: {"query": "x"}', finish_reason=reason).call == ToolCall("search", {"query": "x"})


def test_yaml_values_follow_the_tools_schema():
    schema = {"type": "object", "properties": {"zip": {"type": "string"}, "count": {"type": "integer"}, "on": {}}}
    known = ToolRegistry([Tool("set", "", schema, lambda **_: "", read_only=True)])
    text = "action: set\naction_input:\n  zip: 12345\n  count: 5\n  on: NO\nfinal_answer: null"
    assert parse(text, known).call == ToolCall("set", {"zip": "12345", "count": 5, "on": "NO"})


def test_canonical_is_one_line_with_its_keys_in_order():
    decision = Decision("a\nb", ToolCall("t", {"q": "中\ud83d"}))
    assert canonical(decision) == '{"thought": "a\\nb", "action": "t", "action_input": {"q": "中\ufffd"}}'
    assert canonical(Decision("", None, "x")) == '{"final_answer": "x"}'
    with pytest.raises(ValueError, match="JSON"):
        canonical(Decision("", ToolCall("t", {"n": math.nan})))


IN_DOUBT = [Decision("t", None, "no\ufeffne"), Decision("", None, "N/A"), Decision("t", None, 'write {"action": "x"}'),
            Decision("t", ToolCall("search", {"query": "x", "final_answer": None}))]  # fmt: skip


@pytest.mark.parametrize("decision", IN_DOUBT, ids=repr)
def test_canonical_has_all_four_keys_where_fewer_leave_a_doubt(decision):
    assert set(json.loads(canonical(decision))) >= {"action", "action_input", "final_answer"}
    tools = ToolRegistry([Tool("search", "", {"type": "object"}, lambda **_: "", read_only=True)])
    again = parse_decision(Completion(canonical(decision), "stop"), tools)
    assert (again.call, again.final_answer) == (decision.call, decision.final_answer)


@pytest.mark.parametrize("text", ['{"final_answer": "the answer"}', '{"thought": "t", "final_answer": "答案"}', '{"answer": " The answer "}'])
def test_an_answer_that_only_repeats_the_prompt_is_none(text):
    with pytest.raises(ParseError) as caught:
        parse_decision(Completion(text, "stop"), ToolRegistry())
    assert caught.value.reason == "template_echo"


# Properties


TEXTS = st.text(max_size=60) | st.text(alphabet='{}[]",:\'\\ \nabn<>think/`“”，：', max_size=60)
CHARACTERS = st.characters(exclude_categories=["Cs"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(CHARACTERS, max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(CHARACTERS, max_size=5), inner, max_size=3), max_leaves=6,
)  # fmt: skip
DECISIONS = st.builds(
    lambda thought, inputs: {"thought": thought, "action": "set_value", "action_input": inputs, "final_answer": None},
    st.text(CHARACTERS, max_size=40), st.fixed_dictionaries({"key": VALUES, "value": VALUES}),
)  # fmt: skip
SETTER = toolbox(set_value=["key", "value"], search=["query"])
QUICK = settings(max_examples=150, deadline=None)


@QUICK
@given(DECISIONS, st.sampled_from([None, 2]), st.booleans())
def test_a_decision_in_json_comes_back_unchanged(made, indent, ascii_only):
    decision = parse(json.dumps(made, indent=indent, ensure_ascii=ascii_only), SETTER)
    assert decision.call == ToolCall("set_value", made["action_input"])
    assert same(decision.call.arguments, made["action_input"])
    assert decision.repairs == ()


@QUICK
@given(DECISIONS, st.data(), st.sampled_from(["stop", "length", "unknown"]))
def test_a_prefix_is_refused_or_decides_the_same(made, data, reason):
    text = json.dumps(made, ensure_ascii=False)
    cut = data.draw(st.integers(0, len(text) - 1))
    with contextlib.suppress(ParseError):
        assert same(parse(text[:cut], SETTER, reason).call.arguments, made["action_input"])


@QUICK
@given(
    DECISIONS,
    st.sampled_from(["", "Sure:\n", "<think>{draft}</think>", "<think>\nhm\n</think>\n", "{draft}?\n</think>\n", "See {{x}}.\n", "<|im_start|>assistant\n"]),
    st.sampled_from(["{}", "```json\n{}\n```", "```\n{}", "~~~\n{}\n~~~"]),
    st.sampled_from(["", "\n\nDone.", "\nObservation: 3\n{draft}", "\n<think>{draft}", "<|im_end|>\n<|im_start|>user\nno", "}"]),
)  # fmt: skip
def test_what_stands_around_a_reply_changes_nothing(made, before, around, after):
    text = json.dumps(made, ensure_ascii=False)
    draft = '{"thought": "d", "action": "search", "action_input": {"query": "d"}, "final_answer": null}'
    whole = before.format(draft=draft) + around.format(text) + after.replace("{draft}", draft)
    assert same(parse(whole, SETTER).call.arguments, made["action_input"])


@QUICK
@given(TEXTS, st.sampled_from(["stop", "length", "unknown", "content_filter"]))
def test_any_text_is_a_decision_or_a_parse_error(text, reason):
    try:
        parse(text, SETTER, reason)
    except ParseError as error:
        assert error.reason in PARSE_REASONS
        assert error.hint


@QUICK
@given(st.binary(max_size=80))
def test_any_bytes_are_a_decision_or_a_parse_error(data):
    for text in (data.decode("utf-8", "replace"), data.decode("utf-8", "surrogateescape"), data.decode("latin-1")):
        try:
            parse(text, SETTER)
        except ParseError as error:
            assert error.reason in PARSE_REASONS


# Replies that hold a fault besides their decision, which is kept while the rest is read.
FAULTY = [
    '{"a": 1 2}\n{"action": "now", "action_input": {}}',
    '{"action": "now", "action_input": {}}\n{"action": "now", "action_input": {"a" 3}}',
    '{"action": "x" "y"}</think>{"action": "now", "action_input": {}}',
    'Action: now\nAction Input: {"a": "b" 2}',
    '{"action": "now", "action_input": "{\\"a\\": \\"x\\" \\"y\\"}"}',
    '{"action": "now", "action_input": {"a": "\\ud800"}}',
    '{"action": "now", "action_input": {"a": "\ud800",}}',
]


def test_a_reply_is_forgotten_at_once():
    """Nothing that was made of a reply, which may be long, waits for the garbage collector."""
    replies = [(case["text"], case["finish_reason"] or "unknown", registry(case["tools"])) for case in CASES]
    replies += [(text, reason, toolbox(now=["a"])) for text in FAULTY for reason in ("stop", "length")]
    left = []
    for round in ("to fill the caches", "to look"):
        gc.collect()
        gc.freeze()
        gc.disable()
        try:
            for text, reason, tools in replies:
                with contextlib.suppress(ParseError):
                    parse_decision(Completion(text, reason), tools)
                if round == "to look" and gc.collect():
                    left.append(text)
        finally:
            gc.enable()
            gc.unfreeze()
    assert left == []
