"""The tolerant reader by itself: what it repairs, what it refuses, and how an object ended."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.lenient_json import MAX_DEPTH, Reading, Unreadable, read_object, strict_object, strict_text
from react_agent.lenient_json_decision import has_answer, is_decision_like, is_echo, is_whole, may_decide
from react_agent.lenient_json_keys import read_keys, role, squeezed, strong_role, visible
from react_agent.lenient_json_strict import unclosed

PARAMETERS = {"sql": ["query", "database"], "write": ["path", "content"]}


def guide(name):
    return PARAMETERS.get(name, ["query", "database", "path", "content"])


def read(text, start=0, **options):
    return read_object(text, start, guide, **options)


def refused(text, **options):
    with pytest.raises(Unreadable) as caught:
        read(text, **options)
    return caught.value


# Pairs of quotes that are not JSON's: each that opens, with each that may close it.
PAIRS = ["“”", "““", '“"', "””", '”"', "„“", "„”", '„"', "‘’", "‘‘", "‘'", "’’", "’'", "‚‘", "‚’", "‚'", "«»", "＂＂", '＂"', "「」", "『』"]

# Each: a text, its value, its repairs.
REPAIRED = [
    ('{"a": 1}', {"a": 1}, {}),
    ('{"a": 1,}', {"a": 1}, {"trailing_comma": 7}),
    ('{,"a": 1}', {"a": 1}, {"extra_comma": 1}),
    ('{"a": 1,,"b": 2}', {"a": 1, "b": 2}, {"extra_comma": 8}),
    ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, {"missing_comma": 8}),
    ('{"a": {} "b": 2}', {"a": {}, "b": 2}, {"missing_comma": 9}),
    ('{"a": "x"\n"b": 2}', {"a": "x", "b": 2}, {"missing_comma": 10}),
    ('{"thought": "a" "action": "x"}', {"thought": "a", "action": "x"}, {"missing_comma": 16}),
    ('{"thought": "a"\naction: "x"}', {"thought": "a", "action": "x"}, {"missing_comma": 16, "unquoted_key": 16}),
    ('{"a": [1,]}', {"a": [1]}, {"trailing_comma": 8}),
    ('{"a": [{"b": 1} "x"]}', {"a": [{"b": 1}, "x"]}, {"missing_comma": 16}),
    ('{"a": """""", "b": 1}', {"a": "", "b": 1}, {"triple_quotes": 6}),
    ('{"a": \\"x\\", "b": \\"\\"}', {"a": "x", "b": ""}, {"over_escaped": 6}),
    ('{"thought": \\"a\\\\d\\n\\"}', {"thought": "a\\d\\n"}, {"over_escaped": 12, "bad_escape": 15}),
    ('{"a": [{"b": 1} {"b": 2}]}', {"a": [{"b": 1}, {"b": 2}]}, {"missing_comma": 16}),
    ('{"a": ["x"\n"y"]}', {"a": ["x", "y"]}, {"missing_comma": 11}),
    ('{"a": [1, 2, "x", -3, 4,]}', {"a": [1, 2, "x", -3, 4]}, {"trailing_comma": 23}),
    ("{'a': 'x'}", {"a": "x"}, {"single_quotes": 1}),
    ("{'a': 'x \"y\" z'}", {"a": 'x "y" z'}, {"single_quotes": 1}),
    ("{\"a\": 'it\\'s'}", {"a": "it's"}, {"single_quotes": 6, "bad_escape": 9}),
    ("{'a': 'it's'}", {"a": "it's"}, {"single_quotes": 1, "unescaped_quote": 9}),
    ("{‘a’: ‘it’s’}", {"a": "it’s"}, {"smart_quotes": 1, "unescaped_quote": 9}),
    ("{'a': ['x']} and more", {"a": ["x"]}, {"single_quotes": 1}),
    ("{a: 1}", {"a": 1}, {"unquoted_key": 1}),
    ('{a": 1}', {"a": 1}, {"half_quoted_key": 1}),
    *((f"{{a{quote}: 1}}", {"a": 1}, {"half_quoted_key": 1}) for quote in "'`”’»＂」』"),
    ("{a \t: 1,\r\n\tb\n: 2}", {"a": 1, "b": 2}, {"unquoted_key": 1}),
    ('{"thought: 1}', {"thought": 1}, {"half_quoted_key": 1}),
    ('{"a\\"b": 1,}', {'a"b': 1}, {"trailing_comma": 10}),
    ('{"a\\"b" \t\r\n: 1,}', {'a"b': 1}, {"trailing_comma": 14}),
    ("{“a”: “x”}", {"a": "x"}, {"smart_quotes": 1}),
    ("{“a”: \"x\"}", {"a": "x"}, {"smart_quotes": 1}),
    ("{`a`: `x`}", {"a": "x"}, {"backtick_quotes": 1}),
    ('{"a": """x "y"\nz"""}', {"a": 'x "y"\nz'}, {"triple_quotes": 6, "raw_control": 14}),
    ('{"a": """say "x"""", "b": 1}', {"a": 'say "x"', "b": 1}, {"triple_quotes": 6}),
    ('{"a": """def f():\n  """x"""\n  y"""}', {"a": 'def f():\n  """x"""\n  y'}, {"triple_quotes": 6, "raw_control": 17}),
    ('{"thought": "a "b" c", "final_answer": """y"""}', {"thought": 'a "b" c', "final_answer": "y"},
     {"unescaped_quote": 15, "triple_quotes": 39}),
    ('｛"a"：1，"b"：［2］｝', {"a": 1, "b": [2]}, {"full_width": 0}),
    ('{"a": True, "b": None, "c": FALSE}', {"a": True, "b": None, "c": False}, {"python_literal": 6}),
    ('{"a": 1, // one "two"\n "b": 2 # three\n /* four */}', {"a": 1, "b": 2}, {"comment": 9}),
    *((f'{{"a": 1, {noise} "b": 2}}', {"a": 1, "b": 2}, {"comment": 9}) for noise in (
        "//\n", "#\n", "# one 'two' \"three\"\n", "/**/", "/* x * y **/", "<!---->", "<!-- x - y -->", "// x\n # y\n /* z */",
    )),
    *((f'{{"thought": "a" {noise} , "action": "b"}}', {"thought": "a", "action": "b"}, {"comment": 16}) for noise in (
        "//\n", "#\n", "# one 'two' \"three\"\n", "/**/", "/* x * y **/", "// x\n # y\n /* z */",
    )),
    ('{"a": 1,\\r\\t\\n"b": 2}', {"a": 1, "b": 2}, {"over_escaped": 8}),
    ('{"thought": "a"\u200b, "action": "b"}', {"thought": "a", "action": "b"}, {"invisible": 15}),
    *((f'{{"a": 1{comment}}}', {"a": 1}, {"comment": 7}) for comment in ("//x\n", "#x\n", "<!-- x -->", "/* x */")),
    ('{"a": 1\u200b}', {"a": 1}, {"invisible": 7}),
    ('{"a": 1"b": 2}', {"a": 1, "b": 2}, {"missing_comma": 7}),
    ("{'a': 1'b': 2}", {"a": 1, "b": 2}, {"single_quotes": 1, "missing_comma": 7}),
    ("{`a`: 1`b`: 2}", {"a": 1, "b": 2}, {"backtick_quotes": 1, "missing_comma": 7}),
    ("{a：1，b：2｝", {"a": 1, "b": 2}, {"unquoted_key": 1, "full_width": 2}),
    ('{"a": [1］}', {"a": [1]}, {"full_width": 8}),
    ("{a.b-c: 1, d_1: 2, 中: 3}", {"a.b-c": 1, "d_1": 2, "中": 3}, {"unquoted_key": 1}),
    ('{\u200b"a":\u00a01}', {"a": 1}, {"invisible": 1}),
    ('{"a": "x\ny\tz",}', {"a": "x\ny\tz"}, {"raw_control": 8, "trailing_comma": 13}),
    ('{"a": "\\d+ \\w", "b": "\\\\ \\" \\/"}', {"a": "\\d+ \\w", "b": '\\ " /'}, {"bad_escape": 7}),
    ('{"a": "C:\\temp\\x",}', {"a": "C:\\temp\\x"}, {"bad_escape": 14, "trailing_comma": 17}),
    ('{"a": "\\u00e9\\ud83c\\udf78\\n",}', {"a": "é🍸\n"}, {"trailing_comma": 28}),
    ('{"thought": "a "b" c", "action": 1}', {"thought": 'a "b" c', "action": 1}, {"unescaped_quote": 15}),
    ('{"final_answer": "a "b""}', {"final_answer": 'a "b"'}, {"unescaped_quote": 20}),
    ('{"final_answer": "a""}', {"final_answer": "a"}, {"doubled_quote": 19}),
    ('{"final_answer": "a 32" b"}', {"final_answer": 'a 32" b'}, {"unescaped_quote": 22}),
    ('{"final_answer": "see "x} ok" there"}', {"final_answer": 'see "x} ok" there'}, {"unescaped_quote": 22}),
    ('{"final_answer": "a 2" b"}', {"final_answer": 'a 2" b'}, {"unescaped_quote": 21}),
    ('{"final_answer": "a "b" c"} and more', {"final_answer": 'a "b" c'}, {"unescaped_quote": 20}),
    *((f'{{"thought": "a "b" c"}}{rest}', {"thought": 'a "b" c'}, {"unescaped_quote": 15}) for rest in (
        "\n", "```", "<|im_end|>", ",", "]", "}", ")", " \t\r\u200b\nand more",
    )),
    ('{\\"a\\": \\"x\\\\\\\\\\"}', {"a": "x\\"}, {"over_escaped": 1}),
    ('{"final_answer": "a"", "action": "none"}', {"final_answer": "a", "action": "none"}, {"doubled_quote": 19}),
    ('{"action_input": {"query": "x "(a)" y"}}', {"action_input": {"query": 'x "(a)" y'}}, {"unescaped_quote": 30}),
    ('{"action_input": {"query": "a\nb,", "database": "y",}}', {"action_input": {"query": "a\nb,", "database": "y"}},
     {"raw_control": 29, "trailing_comma": 50}),
    ('{"a": {b: "x\n", c: 1}}', {"a": {"b": "x\n", "c": 1}}, {"unquoted_key": 7, "raw_control": 12}),
    ('{"a"\u200b:1, "b" : 2,}', {"a": 1, "b": 2}, {"invisible": 1, "trailing_comma": 16}),
    ('{"a\tb": 1, c: 2}', {"a\tb": 1, "c": 2}, {"raw_control": 1, "unquoted_key": 11}),
    ('{"a\\n"：1, "b"：2}', {"a\n": 1, "b": 2}, {"full_width": 6}),
    ('{"a": "\\n \\` \\t",, }', {"a": "\n ` \t"}, {"bad_escape": 10, "extra_comma": 17, "trailing_comma": 17}),
    ('{"a": {,}}', {"a": {}}, {"extra_comma": 7}),
    ('{"a": {, "b": 1}}', {"a": {"b": 1}}, {"extra_comma": 7}),
    ('{"action_input": {"query": "x"]}', {"action_input": {"query": "x"}}, {"mismatched_closer": 30}),
    ('{"a": [1 {"b": 2}]}', {"a": [1, {"b": 2}]}, {"missing_comma": 9}),
    ('{"a": \'x\', "b": \'y\'}', {"a": "x", "b": "y"}, {"single_quotes": 6}),
    ('{"action": "now"], "final_answer": null}', {"action": "now", "final_answer": None}, {"surplus_closer": 16}),
    ('{"thought": "t",}, "action": "now"}', {"thought": "t", "action": "now"}, {"trailing_comma": 15, "surplus_closer": 16}),
    ('{"a": {"b": [["x"], ["y"]}}', {"a": {"b": [["x"], ["y"]]}}, {"mismatched_closer": 25}),
    ('{"a": [1, [2}}', {"a": [1, [2]]}, None),
    ('{"a": [1, 2}, "b": 3}', {"a": [1, 2]}, {"mismatched_closer": 11}),
    ('{"a": [{"b": 1], "c": 3}', {"a": [{"b": 1}], "c": 3}, {"mismatched_closer": 14}),
    ('{"a": 1], "b": 2}', {"a": 1, "b": 2}, {"surplus_closer": 7}),
    ('{"thought": "t"}, "action": "x"}', {"thought": "t", "action": "x"}, {"surplus_closer": 15}),
    ('{"action": search, "b": 1}', {"action": "search", "b": 1}, {"unquoted_name": 11}),
    ('{"action": search\n}', {"action": "search"}, {"unquoted_name": 11}),
    ('{"action": search \t\r, "b": 1}', {"action": "search", "b": 1}, {"unquoted_name": 11}),
    ('{"action": search}', {"action": "search"}, {"unquoted_name": 11}),
    ('{"a": 1, "a": 1}', {"a": 1}, {"duplicate_key": 9}),
    ('{"thought": "a", "thought": "b"}', {"thought": "b"}, {"duplicate_key": 17}),
    ('{"action_input": {}, "final_answer": }', {"action_input": {}, "final_answer": None}, {"missing_value": 37}),
    ('{\\"a\\": \\"x \\\\\\"y\\\\\\"\\"}', {"a": 'x "y"'}, {"over_escaped": 1}),
    ('{\\n  \\"a\\": 1}', {"a": 1}, {"over_escaped": 1}),
    ("{a：1}", {"a": 1}, {"unquoted_key": 1, "full_width": 2}),
    ('{"a\\qb": 1}', {"a\\qb": 1}, {"bad_escape": 3}),
    ('{"a": ["\\b\\f\\n\\r\\t\\/",]}', {"a": ["\b\f\n\r\t/"]}, {"trailing_comma": 21}),
    ('{"a": ["\\`x\\`"]}', {"a": ["`x`"]}, {"bad_escape": 8}),
    ('{"action_input": {"query": "\\users"}}', {"action_input": {"query": "\\users"}}, {"bad_escape": 28}),
    ('{"action_input": {"query": "c:\\users\\new"}}', {"action_input": {"query": "c:\\users\\new"}}, {"bad_escape": 30}),
    ('{"a": ["\\u00E9",]}', {"a": ["é"]}, {"trailing_comma": 15}),
    ("{a: true, b: false, c: null}", {"a": True, "b": False, "c": None}, {"unquoted_key": 1}),
    ("{a: 1.5, b: 2e3, c: -0.5E-1}", {"a": 1.5, "b": 2000.0, "c": -0.05}, {"unquoted_key": 1}),
    ("{a: 0, b: 10, c: 23, d: 45, e: 6, f: 7, g: 8, h: 9}", dict(zip("abcdefgh", (0, 10, 23, 45, 6, 7, 8, 9), strict=True)), {"unquoted_key": 1}),
    ('{"a": 1, user: "x"}', {"a": 1, "user": "x"}, {"unquoted_key": 9}),
    *((f"{{{a}k{b}: {a}x{b}}}", {"k": "x"}, {"smart_quotes": 1}) for a, b in PAIRS),
]


@pytest.mark.parametrize(("text", "value", "repairs"), REPAIRED)
def test_repairs(text, value, repairs):
    if repairs is None:  # two closers are missing at once
        assert refused(text).reason == "bad_syntax"
        return
    reading = read(text)
    assert (reading.value, dict(reading.repairs), reading.ending) == (value, repairs, "closed")
    assert reading.inferred == ("unescaped_quote" in repairs)
    assert json.dumps(reading.value) == json.dumps(value)


# Each: a text, why it is refused, and where.
REFUSED = [
    ('{"a": [1,,2]}', "bad_syntax", 9),
    ('{"a": [,1]}', "bad_syntax", 7),
    ('{"a": ["a",,"b","c"]}', "bad_syntax", 11),
    ('{"a": {"b": 1\n```', "truncated", 14),
    ('{"a": \\x}', "bad_syntax", 6),
    ('{"action": "none", "final_answer": }', "bad_syntax", 35),
    ('{"a": [1 2]}', "bad_syntax", 9),
    ('{"a": ["x" "y"]}', "unescaped_quote", 9),
    ('{"a" 1}', "bad_syntax", 1),
    ('{"a": x}', "bad_syntax", 6),
    ('{"a": two words}', "bad_syntax", 6),
    ('{"a": (1, 2)}', "bad_syntax", 6),
    ('{"a": {1, 2}}', "bad_number", 7),
    ('{"a": ```x```}', "bad_syntax", 6),
    ('{"a": ...}', "template_echo", 6),
    ('{...}', "template_echo", 1),
    ('{"a": <x>}', "template_echo", 6),
    ('{"a": }', "bad_syntax", 6),
    ('{"a": 1 ; "b": 2}', "bad_syntax", 8),
    ('{"a": NaN}', "bad_number", 6),
    ('{"a": -Infinity}', "bad_number", 6),
    ('{"a": 007}', "bad_number", 6),
    ('{"a": 1e999}', "bad_number", 6),
    ('{"a": +1}', "bad_number", 6),
    ('{"a": .5}', "bad_number", 6),
    ('{"a": 5.}', "bad_number", 6),
    ('{"a": 5x}', "bad_number", 6),
    ('{"a": 0x1F}', "bad_number", 6),
    ('{"a": ' + "9" * 5000 + "}", "bad_number", 6),
    ('{"a": 1,000}', "bad_number", 8),
    ('{"a": "\\ud83d",}', "bad_syntax", 7),
    ('{"a": "\ud83d",}', "bad_syntax", 7),
    ('{"action_input": {"query": "\\d\\n"},}', "bad_syntax", 28),
    ('{"a": 1, "a": 2}', "duplicate_key", 9),
    ('{"a": {"b": 1, "b": true},}', "duplicate_key", 15),
    ('{"a": {"b": {, "c": 1}}', "bad_syntax", 13),
    ('{"action_input": {"query": "x"]}}', "bad_syntax", 30),
    ('{"action_input": {"query": "x"]}, "final_answer": null}', "bad_syntax", 30),
    ('{"a": {"b": [}}}', "bad_syntax", 13),
    ('{"a": [{]}', "bad_syntax", 8),
    ('{"a": {]}', "bad_syntax", 7),
    ('{"action_input": {"query": "x"], "zzz": 1}}', "bad_syntax", 30),
    ('{"action_input": {"query": ["x"]]}}', "bad_syntax", 32),
    ('{"a": {"b": {"c": 1, }d": "x"}}', "bad_syntax", 22),
    ('{"a": [[1}}', "bad_syntax", 9),
    ('{"a": {"b": [[1, 2}]}}', "bad_syntax", 18),
    ('{"a": {"b": {"c": 1]}}}', "bad_syntax", 19),
    ('{"action_input": {"thought": "a", "thought": "b"}}', "duplicate_key", 34),
    ('{a: 1, a: 2}', "duplicate_key", 7),
    ('{"action_input": {"final_answer": }, "x": 1}', "bad_syntax", 34),
    ('{"a": {"b": [["x"]}}', "bad_syntax", 18),
    ('{"x": {"action": search}}', "bad_syntax", 17),
    ('{"action_input": word, "b": 1}', "bad_syntax", 17),
    ('{"action_input": {}, "b": }', "bad_syntax", 26),
    ('{"a": {"b": {"c": "x"} y"}}}', "bad_syntax", 23),
    ('{"action_input": {"query": "x" "other": "y"}}', "unescaped_quote", 29),
    ('{"action_input": {"query": "a"+" b"}}', "unescaped_quote", 29),
    ('{"action": "sql", "action_input": {"query": "x, ""database": "y"}}', "unescaped_quote", 48),
    ('{\\"a\\": {\\"b\\": \\"x', "truncated", 16),
    ('{"a": 1)}', "bad_number", 6),
    ('{"a": "x" // say "b\n}', "unescaped_quote", 8),
    ('{"a": {"b": "x', "truncated", 12),
    ('{"a": [1, 2', "truncated", 10),
    ('{"a": {"b": tru', "truncated", 12),
    ('{"a": {"b', "truncated", 9),
    ('{"thought": "x', "truncated", 12),
    ("{" + "," * 60 + "}", "bad_syntax", 51),
    ('{"a": ' * 150, "too_deep", 600),
    ('{"action": "sql", "action_input": {"query": "say "x", "other": 1}}', "unescaped_quote", 49),
    ('{"action": "sql", "action_input": {"query": "say "x", "database": 1}}', "unescaped_quote", 49),
    ('{"action": "sql", "action_input": {"query": "a" + "b"}}', "unescaped_quote", 46),
    ('{"action": "sql", "action_input": {"query": "{"k": "v"}"}}', "unescaped_quote", 46),
    ('{"action": "sql", "action_input": {"query": "x\\"}}', "truncated", 44),
    ('{"thought": "a "b", "thought": "c"}', "unescaped_quote", 15),
    ('{"thought": "see {"action": "x"} ok", "action": "y"}', "unescaped_quote", 18),
    ('{"thought": "a "b" c", "x": 1}', "unescaped_quote", 15),
    ('{"thought": "a "b" c"', "unescaped_quote", 15),
    ('{"thought": "a "b" c"} and more', "unescaped_quote", 15),
    ('{"final_answer": "a "b" c""}', "unescaped_quote", 20),
    ('{action: "sql", action_input: {query: "a", foo": "b"}}', "unescaped_quote", 40),
    ('{"action": "sql", "action_input": {"query": "x", "database": "a "b" c", "query": "y"}}', "unescaped_quote", 64),
    ('{"action_input": {"query": \\"\\\\d\\\\n\\"}}', "bad_syntax", 29),
    ('{"a\\q\\n": 1}', "bad_syntax", 3),
    ('{"a": 1, -5}', "bad_number", 9),
    ("{1a: 1}", "bad_number", 1),
    ('{"note: 1}', "bad_syntax", 1),
    ("{…}", "template_echo", 1),
    ("{<x>: 1}", "template_echo", 1),
    ('{"a": …}', "template_echo", 6),
    ('{"a": true;}', "bad_syntax", 6),
    ('{"a": inf}', "bad_number", 6),
    ('{"action": search it, "b": 1}', "bad_syntax", 11),
    ('{"action_input": {"query": "\\d\\t"}}', "bad_syntax", 28),
    ('{"action_input": {"query": "\\d\\r"}}', "bad_syntax", 28),
    ('{"action_input": {"query": "\\d\\u00e9"}}', "bad_syntax", 28),
    *((f'{{"action_input": {{"query": "C:\\q{no_path}\\n"}}}}', "bad_syntax", 30) for no_path in (":", "*", "?", '\\"', "<", ">", "|", "\r", "\n")),
    *((f'{{"a": {word}}}', "template_echo", 6) for word in (
        "string", "str", "object", "dict", "list", "array", "number", "integer", "int", "float", "boolean", "bool", "any",
    )),
]


@pytest.mark.parametrize(("text", "reason", "offset"), REFUSED)
def test_refusals(text, reason, offset):
    error = refused(text)
    assert (error.reason, error.offset) == (reason, offset)
    assert error.hint
    assert error.hint[-1] not in ".?!"


# Each: a text, what ended it, what was read, and the offset after it.
ENDINGS = [
    ('{"a": 1} {"b": 2}', "closed", {"a": 1}, 8),
    ('{"a": 1, "b": "x"', "open", {"a": 1, "b": "x"}, 17),
    ('{"a": {}', "open", {"a": {}}, 8),
    ('{"a": null', "open", {"a": None}, 10),
    ('{"a": 1, ', "cut", {"a": 1}, 9),
    ('{"a": 1, "b', "cut", {"a": 1}, 11),
    *((f'{{"a": 1, {key}', "cut", {"a": 1}, 9 + len(key)) for key in (
        "b", '"b c', '"b"', '"b" ', "'b", "'b'", "“b", "“b”", "`b", '\\"b', '\\"b\\', '\\"b\\" ', '"b"\u200b',
    )),
    ('{"a": 1, "b":', "cut", {"a": 1}, 13),
    ('{"a": 1, "b": "x', "cut", {"a": 1}, 16),
    ('{"a": 1, \\"b\\": \\"x', "cut", {"a": 1}, 19),
    ('{"a": 1, "b": 12', "cut", {"a": 1}, 16),
    ('{"a": 1, "b": nu', "cut", {"a": 1}, 16),
    ('{"a": 1\n```\nmore', "ended", {"a": 1}, 8),
    ('{"a": 1<|im_end|>', "ended", {"a": 1}, 7),
    ('{"a": 1</s>', "ended", {"a": 1}, 7),
    ('{"a": "x"\nObservation: 3', "ended", {"a": "x"}, 10),
    ('{"a": "x"\n \t Observation: 3', "ended", {"a": "x"}, 13),
    ('{"a": 1\n~~~', "ended", {"a": 1}, 8),
    *((f'{{"a": 1\n{line}', "ended", {"a": 1}, 8) for line in (
        "Observations: 3", "Users: x", "human 2: x", "Assistant : x", "观察: 3", "用户：x", "助手: x", "**Observation**: x", "> [User 2]: x",
        "_human_: x", "That is it", "That's all\nfor now", "好的，这样做", "好。再见",
    )),
]


@pytest.mark.parametrize(("text", "ending", "value", "end"), ENDINGS)
def test_endings(text, ending, value, end):
    reading = read(text)
    assert (reading.ending, reading.value, reading.end) == (ending, value, end)
    assert ("missing_closer" in reading.repairs) == (ending != "closed")


def test_the_tools_parameters_decide_where_a_string_ends():
    text = '{"action": "sql", "action_input": {"query": "SELECT "id" FROM "t"", "database": "main"}}'
    assert read(text).value["action_input"] == {"query": 'SELECT "id" FROM "t"', "database": "main"}
    assert refused(text.replace('"sql"', '"write"')).reason == "unescaped_quote"


def test_an_input_by_itself_must_be_closed_and_has_no_decision_keys():
    assert read('x {"query": "a "b" c"}', 2, as_input=True).value == {"query": 'a "b" c'}
    assert read('{"query": "x"}, "action": "y"}', as_input=True).end == 14
    assert refused('{"query": "x"', as_input=True).reason == "truncated"
    assert refused('{"query": "x", "data', as_input=True).reason == "truncated"
    assert refused('{"query": search}', as_input=True).reason == "bad_syntax"


def test_a_string_that_has_quotes_and_no_end_may_only_be_cut():
    assert refused('{"thought": "a "b').cut
    assert not refused('{"action_input": {"query": "a "b": c"}}').cut


def test_a_quote_that_two_strings_share_is_inferred():
    reading = read('{"thought": "a "action": "x"}')
    assert (reading.value, reading.inferred) == ({"thought": "a ", "action": "x"}, True)


def test_without_its_first_brace():
    reading = read('"thought": "t", "action": "x"}', opener=False)
    assert (reading.value, dict(reading.repairs)) == ({"thought": "t", "action": "x"}, {"missing_opener": 0})


def test_what_was_read_before_the_fault_is_told():
    error = refused('{"thought": "t", "action": "x", "action_input": {"a": nope}}')
    assert error.partial == {"thought": "t", "action": "x"}
    assert error.keys == ("thought", "action", "action_input")


MENDED = [
    ('{"a": 1,}', {"a": 1}, {"trailing_comma": 7}),
    ('{"a": [1, 2 ,\n], "b": {"c": "x", }}', {"a": [1, 2], "b": {"c": "x"}}, {"trailing_comma": 12}),
    ('{"a": None, "b": [True,False]}', {"a": None, "b": [True, False]}, {"python_literal": 6}),
    ('{"a": None ,}', {"a": None}, {"python_literal": 6, "trailing_comma": 11}),
    ('{"a": "None, True,}", "b": 1,}', {"a": "None, True,}", "b": 1}, {"trailing_comma": 28}),
    ('{"a": "x\\n",}', {"a": "x\n"}, {"trailing_comma": 11}),
    ('{"a": "x\\d",}', None, None),
    ("{'" + "a" * 80 + "': 1}", {"a" * 80: 1}, {"single_quotes": 1}),
    ("{'" + "a" * 81 + "': 1}", None, None),
    ('{"a b": 1,}', None, None),  # odd names are the tolerant reader's
    ("{'a': 'x', 'b': [None, 'y'],}", {"a": "x", "b": [None, "y"]}, {"single_quotes": 1, "python_literal": 17, "trailing_comma": 27}),
    ("{'a': '\"'}", None, None),
    ("{'a': 'x\", \"b\": \"y'}", None, None),
    ("{'a': 'x\ny'}", None, None),
    ("{'a': 'don't', 'b': 'isn't'}", None, None),
    ('{"a": Nones}', None, None),
    ('{"a": None', None, None),
    ('{"a": 1,, }', None, None),
    ('{, }', None, None),
    ('{"a": 1, } x', {"a": 1}, {"trailing_comma": 7}),
    ('{"a": 1, "a": 1,}', None, None),
    ('{"a": "\ud800",}', None, None),
    ('{"a": [1,], "b": [2,], "c": [3,], "d": [4,]}', {"a": [1], "b": [2], "c": [3], "d": [4]}, {"trailing_comma": 8}),
    ('{"a": [1,], "b": [2,], "c": [3,], "d": [4,], "e": [5,]}', None, None),
    ('{"a": [,]}', None, None),
    ('{"a": [ , ]}', None, None),
    ('{"a": [1,,]}', None, None),
    ('{"a": {,}}', None, None),
    ('{"a": ,}', None, None),
    ('{"a": 1,,}', None, None),
    ('{"a": 1 , }', {"a": 1}, {"trailing_comma": 8}),
]


@pytest.mark.parametrize(("text", "value", "repairs"), MENDED)
def test_the_commonest_mistakes_are_mended_in_place(text, value, repairs):
    reading = strict_object(text, 0)
    assert (reading.value, dict(reading.repairs), text[reading.end - 1]) == (value, repairs, "}") if value else reading is None
    if value:
        tolerant = read(text)
        assert (tolerant.value, dict(tolerant.repairs), tolerant.end) == (value, repairs, reading.end)


def test_mending_begins_where_the_object_does_and_leaves_long_texts_alone():
    assert strict_object('x {"a": 1,} {"b": 2,}', 2) == Reading({"a": 1}, 2, 11, repairs={"trailing_comma": 9})
    assert strict_object("'x' {'a': 1} 'y'", 4) == Reading({"a": 1}, 4, 12, repairs={"single_quotes": 5})
    for text in ('{"a": None, "b": "' + "y" * 9000 + '"}', "{'a': '" + "y" * 9000 + "'}"):
        assert strict_object(text, 0) is None and len(read(text).value) == text.count(":")


# Nothing but the last brace is missing: what the decoder reads then.
UNCLOSED = [
    ('{"a": {"b": 1}', {"a": {"b": 1}}),
    ('{"a": "x"', {"a": "x"}),
    ('{"a": [1]', {"a": [1]}),
    ('{"a": "{x"', None),  # two braces: counted, not read
    ('{"a": "x", "b": "}{"', {"a": "x", "b": "}{"}),
    ('{"a": 1', None),  # the number may go on
    ('{"a": null', None),
    ('{"a": {"b": 1', None),
    ('{"a": {"b": "x"', None),
    ('{"a": "x',  None),
    ('{"a": 1}', None),
    ('{"a": 1} {"', None),
    ('{"a": 1} {"b": 2}{', None),
    ('{"a": 1} {"b": "x"', None),
    ('{"a": "x", "a": "y"', None),
    ('{"a b": "x"', None),
    ('{"a": "\\ud800"', None),
    ('{"a": 1, "b"', None),
    ('{"a": 1, "b": "x" ', None),
    ('{"a": "' + "x" * 5000 + '"', None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), UNCLOSED, ids=[text[:30] for text, _ in UNCLOSED])
def test_only_the_last_brace_is_missing(text, value):
    assert unclosed(text, 0) == value
    assert unclosed(f"x {text}", 2) == value
    if value:
        assert read(text) == Reading(value, 0, len(text), "open", repairs={"missing_closer": len(text)})


def test_strictly():
    assert strict_text("[" + ", ".join(["[]"] * 200) + "]") == [[]] * 200  # many brackets, few of them in each other
    assert strict_text('["' + "[{" * 200 + '"]') == ["[{" * 200]
    assert strict_object('{"a": "x\ny", "b": "\\ud800"}', 0) is None
    assert strict_object('{"a": "x\ny", "b": 1 "c"}', 0) is None
    assert strict_object('{"a": "x\ny",}', 0) is None
    assert strict_text(' [1, {"a": null}] ') == [1, {"a": None}]
    assert strict_object('x {"a": [1]} y', 2).end == 12
    assert strict_object('{"a": "x\ny"}', 0).repairs == {"raw_control": 8}
    long = json.dumps({"a": "x" * 5000, "b": "\n" * 3000})
    assert strict_object(" " + long + " ", 1).value == json.loads(long)
    for text in ('{"a": 1, "a": 1}', '{"a": NaN}', '{"a": 1e999}', '{"a": "\\ud800"}', '{"a": "\ud800"}', "{'a': 1 'b'}", '{"a": 1 "b"}',
                 '{"a": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}", "9" * 5000, '{"a": ' + "[" * 3000, '{"a": 1, "b": "' + "x" * 5000):  # fmt: skip
        with pytest.raises(ValueError):
            strict_text(text)
        assert strict_object(text, 0) is None
    assert strict_object('{"a": ' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "}", 0)
    assert strict_object('{"a": "' + "[" * 500 + '"}', 0)
    assert strict_object('{"b": "[[", "a": ' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "}", 0)


def test_work_is_bounded():
    """Shapes that would take a step for each character are refused after some thousands of them."""
    for text in ('{"thought": "' + 'a "b" ' * 9000 + '", "action": 1}', '{"a": [' + '"x"\n' * 60_000 + "]}", '{"a": """' + '""" ' * 2000 + "}"):
        assert refused(text).reason in ("bad_syntax", "unescaped_quote")
    assert read('{"thought": "' + 'a "b" ' * 2000 + '", "action": 1}').value["action"] == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def test_an_escaped_backslash_before_an_underscore_is_no_markdown():
    assert (read('{"a\\\\_b": 1}').value, dict(read('{"a\\\\_b": 1}').repairs)) == ({"a\\_b": 1}, {})
    assert (read('{"a\\_b": 1}').value, dict(read('{"a\\_b": 1}').repairs)) == ({"a_b": 1}, {"bad_escape": 1})


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), JSON, min_size=1, max_size=4), st.booleans())
def test_valid_json_is_read_as_it_is(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    reading = read(text)
    assert json.dumps(reading.value) == json.dumps(value)
    assert (reading.end, dict(reading.repairs)) == (len(text), {})


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["a", "query", "b c"]), st.text(alphabet="ab'\"\\ ,:{}[]\n#/", max_size=10), min_size=1, max_size=3))
def test_a_python_dict_is_read_as_it_is(value):
    """As in JSON, an escape is always meant: \\n is a newline there too."""
    assert read(repr(value)).value == value


# Keys


@pytest.mark.parametrize(
    ("key", "strong", "any_role"),
    [("action", "action", "action"), ("Action Input", "input", "input"), ("finalAnswer", "answer", "answer"), ("THOUGHTS", "thought", "thought"),
     ("tool_calls", "action", "action"), ("行动输入", "input", "input"), ("action-input", "input", "input"), ("act\u200bion", "action", "action"), ("name", None, "action"),
     ("arguments", None, "input"), ("response", None, "answer"), ("reasoning", None, "thought"), ("query", None, None), ("", None, None)],
)  # fmt: skip
def test_roles_of_keys(key, strong, any_role):
    assert (strong_role(key), role(key)) == (strong, any_role)


# What models call the parts of a decision, and what data may be called too.
SURE = {
    "thought": "thought Thoughts 思考 想法 思路",
    "action": "action action_name actionName tool tool_name tool_call tool_calls tool_use toolUses functionCall recipient_name 行动 动作 操作 工具 工具名 工具名称",
    "input": "action_input Action-Input action_args actionArguments action_parameters tool_input toolArgs tool_arguments tool_parameters"
    " 行动输入 动作输入 操作输入 工具输入 工具参数",
    "answer": "final_answer FinalAnswer final_response answer 最终答案 最终回答 答案",
}
UNSURE = {
    "thought": "reasoning Thinking analysis rationale",
    "action": "name function functionName command",
    "input": "input inputs arguments args parameters params 参数 输入",
    "answer": "response reply 回答 回复",
}


@pytest.mark.parametrize(("part", "key"), [(part, key) for part, keys in SURE.items() for key in keys.split()])
def test_names_that_only_a_decision_has(part, key):
    assert (strong_role(key), role(key)) == (part, part)


@pytest.mark.parametrize(("part", "key"), [(part, key) for part, keys in UNSURE.items() for key in keys.split()])
def test_names_that_data_may_have(part, key):
    assert (strong_role(key), role(key)) == (None, part)


def test_names_without_what_is_not_seen():
    assert visible("a\u200bb\x00\u00a0c") == "ab\u00a0c"
    assert visible("a\x00b\x7f") == "ab"
    assert squeezed("Action_ Input\u200d") == "actioninput"


# Each: the keys of an object; are all of them the prompt's own, is each part there under one key of another name.
KEYS = [
    ("thought action action_input final_answer", True, False),
    ("action action_input", True, False),
    ("tool tool_input", False, True),
    ("name arguments", False, True),
    ("tool note", False, True),
    ("name age", False, False),
    ("response reasoning", False, False),
    ("tool type", False, False),
    ("tool tool_input parameters", False, False),
    ("tool tool_input function", False, False),
    ("tool tool_input properties", False, False),
    ("tool action tool_input", False, False),
    ("tool name tool_input", False, False),
]


@pytest.mark.parametrize(("keys", "canonical", "single"), KEYS)
def test_what_keys_say(keys, canonical, single):
    found = read_keys(keys.split())
    assert (found.canonical, found.single) == (canonical, single)


# Each: an object; may it decide, is it decision-like, an echo, a whole decision.
OBJECTS = [
    ({"thought": "t", "action": "x", "action_input": {}, "final_answer": None}, (True, True, False, True)),
    ({"thought": "t", "action": "none", "action_input": {}, "final_answer": "x"}, (True, True, False, True)),
    ({"thought": "t", "action": None, "final_answer": 0}, (True, True, False, True)),
    ({"final_answer": "x"}, (True, True, False, True)),
    ({"thought": "t", "action": "x"}, (True, True, False, False)),
    ({"thought": "t", "action": "none", "final_answer": "null"}, (True, True, False, False)),
    ({"thought": "t"}, (True, True, False, False)),
    ({"tool": "x", "tool_input": {}}, (True, True, False, True)),
    ({"action": {"name": "x"}, "action_input": {}}, (True, True, False, False)),
    ({"name": "x", "arguments": {}}, (True, True, False, False)),
    ({"name": "x", "age": 3}, (True, False, False, False)),
    ({"a": 1, "b": 2}, (False, False, False, False)),
    ({"a": 1}, (False, False, False, False)),
    ({"a": {}}, (True, False, False, False)),
    ({"action": "<tool>", "action_input": {}}, (True, True, True, False)),
    ({"action": "...", "action_input": {}}, (True, True, True, False)),
    ({"action": "tool name, or none", "action_input": {}}, (True, True, True, False)),
    ({"action": "none", "final_answer": "<your answer>"}, (True, True, True, False)),
    ({"action": "none", "final_answer": "<b>x</b>"}, (True, True, False, True)),
    ({"Final Answer": "…"}, (True, True, True, False)),
    ({"thought": "<your reasoning>", "action": "x", "action_input": {"q": "<query>"}}, (True, True, True, False)),
    ({"thought": "<your reasoning>", "action": "x", "action_input": {"q": "y"}}, (True, True, False, True)),
    ({"thought": "<your reasoning>", "action": "x", "action_input": {"q": "<query>", "n": 5}}, (True, True, True, False)),
    ({"thought": "...", "action": "x", "action_input": {"q": "..."}}, (True, True, True, False)),
    ({"thought": "...", "action": "x", "action_input": {"q": "...", "n": 5}}, (True, True, False, True)),
    ({"thought": "...", "action": "x", "action_input": {}}, (True, True, False, True)),
    ({"thought": "... so search", "action": "x", "action_input": {"q": "..."}}, (True, True, False, True)),
    *(({"thought": "<your reasoning>", "action": "x", "action_input": {"q": blank}}, (True, True, True, False)) for blank in (
        "<query>", " <search term>\n", "...", " …… ", "....",
    )),
    *(({"thought": "<your reasoning>", "action": "x", "action_input": {"q": text}}, (True, True, False, True)) for text in (
        "<p>", "</query>", "<a/>", "<query> cats", "<abc><def>", "<abc<def>", "..", "a...", "... a", "<query", "<ab>", "<abc>def>", "",
    )),
    *(({"final_answer": f" <my {word} X> "}, (True, True, True, False)) for word in (
        "your", "the", "tool", "name", "answer", "reasoning", "thought", "thoughts", "null", "none", "here", "input", "value", "argument", "text",
    )),
    *(({"final_answer": text}, (True, True, True, False)) for text in ("<answer>", "<your\nwords>", " The Answer ", "答案", " ... ")),
    *(({"final_answer": text}, (True, True, False, True)) for text in (
        "<another>", "<bathe>", "<theory>", "<the> x", "x <the>", "<b <the>", "<b> the>", "<the <b>", "<the> b>", "<b>the answer</b>",
        "<the answer", "the answers", "..",
    )),
    ({"type": "object", "properties": {}}, (True, False, True, False)),
    ({"type": "x", "id": 1}, (False, False, False, False)),
    ({"type": "x", "id": 1, "data": {}}, (True, False, False, False)),
]

# What stands in a template where a tool's name belongs, and names that only look like it.
NO_NAMES = [" <tool> ", "<x>", " ... ", "…", "……", "[tool]", " [the tool] ", "[x]", "{tool}", "{{tool_name}}", "{x}", " $TOOL ", "$T", "a|b",
            "search | fetch |none", "name of the tool", "the names of a tool", "Tool Name", "tool-names", "action_name", "toolname", "tool to use",
            "the tool to call", "工具名", "one of a, b", " string ", "str", "tool", "action", "name"]  # fmt: skip
ODD_NAMES = ["<a> b", "<a<b>>", "<a<b>", "<a>b>", "[a[b]", "{a{b}", "{a}b}", "{a", "a}", "<>", "..", "a...", "... a", "[a] b", "[]", "[a]b]", "{}", "{a} b", "$", "$a b", "a|", "|a", "a|b c", "stringify",
             "tools", "actions", "named", "tool_names_list", "a tool name", "tool to find", "one offer"]  # fmt: skip
OBJECTS += [({"action": name, "action_input": {}}, (True, True, True, False)) for name in NO_NAMES]
OBJECTS += [({"action": name, "action_input": {}}, (True, True, False, True)) for name in ODD_NAMES]


@pytest.mark.parametrize(("value", "expected"), OBJECTS)
def test_what_an_object_shows(value, expected):
    assert (may_decide(value), is_decision_like(value), is_echo(value, read_keys(value)), is_whole(value)) == expected


def test_which_answers_are_none():
    assert [value for value in (None, "", " \u200b", "null", "NULL", {}, [], 0, False, "none", [0], "x") if has_answer(value)] == [
        0, False, "none", [0], "x",
    ]  # fmt: skip
