"""Replies that are labelled lines or YAML-like text: what each decides."""

import pytest
from replies import KNOWN, decided

from react_agent.parser import parse_decision
from react_agent.types import Completion

# Each: a reply; the call, the answer or the reason for a refusal, and the repairs.
REPLIES = [
    ("Action: search\nAction Input: 'cats'", 'search {"query": "cats"} | label_text | bare_input'),
    ('Action: search\nAction Input: "cats"', 'search {"query": "cats"} | label_text | bare_input'),
    ("Action: search\nAction Input: `cats`", 'search {"query": "cats"} | label_text | bare_input'),
    ("Action: search\nAction Input: “cats”", 'search {"query": "cats"} | label_text | bare_input'),
    ('Action: search\nAction Input: "cats\\tdogs"', 'search {"query": "cats\\tdogs"} | label_text | bare_input'),
    ('Action: search\nAction Input: "cats" and "dogs"', 'search {"query": "\\"cats\\" and \\"dogs\\""} | label_text | bare_input'),
    ("Action: search\nAction Input: 'cats' and 'dogs'", "search {\"query\": \"'cats' and 'dogs'\"} | label_text | bare_input"),
    ("Action: search\nAction Input: “cats” and “dogs”", 'search {"query": "“cats” and “dogs”"} | label_text | bare_input'),
    ('Action: search\nAction Input: "cats', "! bad_input"),
    ('Action: search\nAction Input: cats"', 'search {"query": "cats\\""} | label_text | bare_input'),
    ('Action: search\nAction Input: "', "! bad_input"),
    ("Action: search\nAction Input: '\"", "! bad_input"),
    ('Action: search\nAction Input: ""', "! bad_input"),
    ('Action: search\nAction Input: "\\u00e9"', 'search {"query": "é"} | label_text | bare_input'),
    ('Action: search\nAction Input: "5"', 'search {"query": "5"} | label_text | bare_input'),
    ("Action: search\nAction Input: 5", 'search {"query": "5"} | label_text | bare_input'),
    ("Action: search\nAction Input: query: cats", "! bad_input"),
    ("Action: search\nAction Input: query = cats", "! bad_input"),
    ("Action: search\nAction Input: my query: cats", 'search {"query": "my query: cats"} | label_text | bare_input'),
    ("Action: search\nAction Input: cats\ndogs", 'search {"query": "cats\\ndogs"} | label_text | bare_input'),
    ("Action: search\nAction Input: cats\n\ndogs", "! bad_input"),
    ("Action: search\nAction Input: thought", 'search {"query": "thought"} | label_text | bare_input'),
    ("action: search\naction_input: cats", 'search {"query": "cats"} | label_text | bare_input'),
    ("Action: search\nAction Input: cats\nObserv", "! bad_input"),
    *((f"Action: search\nAction Input: cats\n{cut}", "! bad_input") for cut in (
        "Thou", "**Thought", "Action In", "action_in", "Final An", "final_an", "> Quest", "观", "思", "行", "最终",
    )),
    ("Action: search\nAction Input: cats\nActive", 'search {"query": "cats\\nActive"} | label_text | bare_input'),
    ("Action: search\nAction Input: cats\nObserved: dogs", 'search {"query": "cats\\nObserved: dogs"} | label_text | bare_input'),
    ("Action: search\nAction Input: [cats]", "! bad_input"),
    ("Action: search\nAction Input: <cats>", "! bad_input"),
    ("Action: search\nAction Input: None", "! bad_input"),
    ("Action: search\nAction Input:", "! bad_input"),
    ("Action: search\nAction Input:\ncats", 'search {"query": "cats"} | label_text | bare_input'),
    ("Action: search", "! bad_input"),
    ("Action: now", "now {} | label_text | no_input"),
    ("Action: now\nAction Input:", "now {} | label_text | no_input"),
    ("Action: now\nAction Input: none", "now {} | label_text | no_input"),
    ("Action: now\nAction Input: later", "! bad_input"),
    ("Action: now\nAction Input: {}", "now {} | label_text"),
    ("Action: set\nAction Input: cats", "! bad_input"),
    ('Action: search\nAction Input: {"query": "x"}\nAction: search\nAction Input: {"query": "x"}', 'search {"query": "x"} | label_text'),
    ('Action: search\nAction Input: {"query": "x"}\nAction: search\nAction Input: {"query": "y"}', "! conflict"),
    ("Action: search\nAction Input: cats\nAction: search\nAction Input: dogs", "! conflict"),
    ("Action: search\nAction Input: cats\nAction: fetch\nAction Input: cats", "! conflict"),
    ("Action: search\nAction: search\nAction Input: cats", 'search {"query": "cats"} | label_text | bare_input'),
    ("Action:\nAction: search\nAction Input: cats", 'search {"query": "cats"} | label_text | bare_input'),
    ("Action: search\nI will look.\nAction Input: cats", 'search {"query": "cats"} | label_text | bare_input'),
    ("Action: search\nAction Input: cats\nAction Input: dogs", "! conflict"),
    ("Action: search\nAction Input: cats\nAction Input: cats", 'search {"query": "cats"} | label_text | bare_input'),
    ("Final Answer: 5\nAction: search\nAction Input: cats", "! conflict"),
    ("Action: search\nAction Input: cats\nFinal Answer: 5", 'search {"query": "cats"} | label_text | bare_input | premature_answer'),
    ('Action: search\nAction Input: {"query": "x"}\nFinal Answer: null', 'search {"query": "x"} | label_text'),
    ('Action: search\nAction Input: {"query": "x"}\nFinal Answer: "null"', 'search {"query": "x"} | label_text'),
    ('Action: search\nAction Input: {"query": "x"}\nFinal Answer: None', 'search {"query": "x"} | label_text'),
    ("Action: search\nAction Input: {\"query\": \"x\"}\nFinal Answer: ' \tnull'", 'search {"query": "x"} | label_text'),
    ('Action: search\nAction Input: {"query": "x"}\nFinal Answer:', 'search {"query": "x"} | label_text'),
    ('action: search\naction_input: {"query": "x"}\nfinal_answer: ~', 'search {"query": "x"} | label_text'),
    ("Action: none\nFinal Answer: 5", "= 5 | label_text"),
    ("Action: None\nAction Input: None\nFinal Answer: 5", "= 5 | label_text"),
    ("Action: none", "! no_object"),
    *((f"Action: {line}\nAction Input: x", "! no_object") for line in (
        "{search}", "$JSON_BLOB", "[search]", "<tool>", "```search", "~~~ search",
    )),
    ("Action: Finish\nAction Input: 5", "= 5 | label_text"),
    ("Action: Finish\nAction Input: 5\nFinal Answer: 5", "= 5 | label_text"),
    ("Action: Finish\nAction Input: 5\nFinal Answer: 6", "! conflict"),
    ("Action: Finish\nFinal Answer: 6", "= 6 | label_text"),
    ("Action: Finish", "! unknown_tool"),
    ('Action: Final Answer\nAction Input: "5"', '= "5" | label_text'),
    ("Action: serch\nAction Input: 5", "! unknown_tool"),
    ("Action: serch\nFinal Answer: 5", "! unknown_tool"),
    ("Final Answer: 5\nFinal Answer: 5", "= 5 | label_text"),
    ("Final Answer: 5\nFinal Answer: 6", "! conflict"),
    ('Final Answer: "5"', '= "5" | label_text'),
    ("Final Answer:", "! no_object"),
    ("Final Answer: null", "! no_object"),
    ("Final Answer: the form has\nInput: a field", "= the form has\nInput: a field | label_text"),
    ('final_answer: "5"', "= 5 | label_text"),
    ("final_answer: 'it''s'", "= it's | label_text"),
    ("final_answer: 'it's'", "! bad_syntax"),
    ("final_answer: 'it", "! bad_syntax"),
    ("final_answer: ''it'", "! bad_syntax"),
    ("final_answer: 'it''", "! bad_syntax"),
    ('final_answer: "5', "! bad_syntax"),
    ("final_answer: |\n  a\n    b\n\n  c\n", "= a\n  b\n\nc | label_text"),
    ("final_answer: |-\n  a\n", "= a | label_text"),
    ("final_answer: >\n  a\n  b\n", "! bad_syntax"),
    ("final_answer: | a\n", "! bad_syntax"),
    ("final_answer: a\n  b\n", "= a\n  b | label_text"),
    ("final_answer: > a", "! bad_syntax"),
    ("final_answer: a: b", "= a: b | label_text"),
    ("final_answer: null", "! no_object"),
    ("final_answer: ~", "! no_object"),
    ("Final Answer: | a | b |\n|---|---|", "= | a | b |\n|---|---| | label_text"),
    ("Thought: a\nThought: b\nAction: search\nAction Input: cats", 'search {"query": "cats"} | label_text | bare_input'),
    ('Thought: \nAction: search\nAction Input: {"query": "x"}', 'search {"query": "x"} | label_text'),
    ("Thought: I know\nFinal Answer: ```python\nx\n```", "= ```python\nx\n``` | label_text"),
    ("Final Answer: ```\nx", "! no_object"),
    ("```\nFinal Answer: x\n```", "= x | label_text"),
    ("Observation: 5\nThought: t\nAction: search\nAction Input: cats", 'search {"query": "cats"} | label_text | bare_input'),
    ("User: hi\nAssistant: Action: search\nAction Input: cats", "! no_object"),
    (
        "Assistant:\nAction: search\nAction Input: cats\nUser: hi\nAction: fetch\nAction Input: x",
        'search {"query": "cats"} | label_text | bare_input | invented_observation',
    ),
    ("  Action: search\n  Action Input: cats\n Action: fetch", "! conflict"),
    ("  Thought: t\nAction: search\nAction Input: cats", 'search {"query": "cats"} | label_text | bare_input'),
    ("- Action: search\n- Action Input: cats", 'search {"query": "cats"} | label_text | bare_input'),
    *((f"{mark}Action: search\n{mark}Action Input: cats", 'search {"query": "cats"} | label_text | bare_input') for mark in (
        "-", "+ ", "# ", "### ", "->\t", "\t", "`", "__", "**",
    )),
    ('> Action: search\n> Action Input: {"query": "x"}', 'search {"query": "x"} | label_text'),
    ("**Action**: search\n**Action Input**: cats", 'search {"query": "cats"} | label_text | bare_input'),
    ("*Action:* `search`\n*Action Input:* cats", 'search {"query": "cats"} | label_text | bare_input'),
    ("Action 1: search\nAction Input 1: cats", 'search {"query": "cats"} | label_text | bare_input'),
    ("Action：search\nAction Input：cats", 'search {"query": "cats"} | label_text | bare_input'),
    ("行动：search\n输入：cats", 'search {"query": "cats"} | label_text | bare_input'),
    ('工具：search\n参数：{"query": "x"}', 'search {"query": "x"} | label_text'),
    ('Tool: search\nArguments: {"query": "x"}', 'search {"query": "x"} | label_text'),
    ('Action:\nsearch\nAction Input:\n```json\n{"query": "x"}\n```', 'search {"query": "x"} | label_text'),
    ("Action: search\nAction Input:\n```\ncats\n```\nthat is all", 'search {"query": "cats"} | label_text | bare_input'),
    ("Action: search\nAction Input: ```cats```", "! bad_input"),
    ("Action: search\nAction Input: ```cats and dogs```", "! bad_input"),
    ("Action: search\nAction Input:\n  ~~~text \n  cats\n\t~~~\t", 'search {"query": "cats"} | label_text | bare_input'),
    ("Action: search\nAction Input:\n```\ncats\n  ```\nthat is all", 'search {"query": "cats"} | label_text | bare_input'),
    ('Action: search\nAction Input:\n~~~json\n{"query": "x"}\n~~~', 'search {"query": "x"} | label_text'),
    ('Action: search\nAction Input: ```{"query": "x"}```', 'search {"query": "x"} | label_text'),
    ("Final Answer: it ends with ```\nthere", "= it ends with ```\nthere | label_text"),
    ("Action: search\nAction Input:\u3000```\ncats\n```", 'search {"query": "cats"} | label_text | bare_input'),
    ('Action: search\nAction Input:\n```\n[{"query": "x"}]', 'search {"query": "x"} | label_text | json_text'),
    ('Action: search\nAction Input: {"query": "x"', "! truncated"),
    ("Action: search\nAction Input: {'query': 'x',}", 'search {"query": "x"} | label_text | single_quotes | trailing_comma'),
    ('Action: search\nAction Input: {"query": "x"} and so on', 'search {"query": "x"} | label_text'),
    ('Action: search\nAction Input: [{"query": "x"}]', 'search {"query": "x"} | label_text | json_text'),
    ('Action: search\nAction Input: [{"query": "x"}, {"query": "y"}]', "! bad_input"),
    ("Action: search\nAction Input: “cats", "! bad_input"),
    ("Action: search\nAction Input: 'tis late", 'search {"query": "\'tis late"} | label_text | bare_input'),
    ('Action: search\nAction Input: [{"query": "x"', "! bad_input"),
    ('Action: search\nAction Input: {"query": "the "big" one"}', 'search {"query": "the \\"big\\" one"} | label_text | unescaped_quote'),
    ('Action: search\nAction Input: {"query": "x", "final_answer": null}', "! bad_input"),
    ('Action: search\nAction Input: {"query": "x", "action": "y", "action_input": 1}', 'search {"query": "x", "action": "y", "action_input": 1} | label_text'),
    ("action: search\naction_input:\n  query: cats\n  query: dogs", "! bad_input"),
    ("action: search\naction_input:\n  other: cats", "! bad_input"),
    ("action: set\naction_input:\n  key: a\n  value: 5\n", 'set {"key": "a", "value": 5} | label_text | yaml'),
    ("action: set\naction_input:\n  key: a\n  value: true\n", 'set {"key": "a", "value": true} | label_text | yaml'),
    ("action: set\naction_input:\n  key: \"a\"\n  value: 'b'\n", 'set {"key": "a", "value": "b"} | label_text | yaml'),
    ('action: set\naction_input:\n  "key": a\n  value: null\n', 'set {"key": "a", "value": null} | label_text | yaml'),
    ("action: set\naction_input:\n  key: a\n\n  value: b\n", 'set {"key": "a", "value": "b"} | label_text | yaml'),
    ("action: set\naction_input:\n  key: a\n    value: b\n", "! bad_input"),
    ("action: set\naction_input:\n  key: a # b\n  value: b\n", "! bad_input"),
    ("action: set\naction_input:\n  key: [a]\n  value: b\n", "! bad_input"),
    ("action: set\naction_input:\n  key: a: b\n  value: b\n", "! bad_input"),
    ("action: set\naction_input:\n  key:\n  value: b\n", "! bad_input"),
    (
        "action: set\naction_input:\n  key: |\n    a\n     b\n\n    c\n  value: b\n",
        'set {"key": "a\\n b\\n\\nc", "value": "b"} | label_text | yaml',
    ),
    ("action: set\naction_input:\n  key: - a\n  value: b\n", "! bad_input"),
    ("action: set\naction_input:\n  key: |\n    a\n  value: b\n", 'set {"key": "a", "value": "b"} | label_text | yaml'),
    ("action: set\naction_input:\n  key: |\n    a\n\n  value: b\n", 'set {"key": "a", "value": "b"} | label_text | yaml'),
    ("action: set\naction_input:\n  key: |\n    a\n\n    c\n  value: b\n", 'set {"key": "a\\n\\nc", "value": "b"} | label_text | yaml'),
    ("action: set\naction_input:\n  key: |\n  value: b\n", 'set {"key": "", "value": "b"} | label_text | yaml'),
    ("action: set\naction_input:\n  key: a\n  value: |-\n    b\n    c", 'set {"key": "a", "value": "b\\nc"} | label_text | yaml'),
    ("action: set\naction_input:\n  key: Null\n  value: NULL\n", 'set {"key": null, "value": null} | label_text | yaml'),
    ("action: set\naction_input:\n  key: ''\n  value: ''''\n", 'set {"key": "", "value": "\'"} | label_text | yaml'),
    ("action: set\naction_input:\n  key: '\n  value: b\n", "! bad_syntax"),
    ("action: set\naction_input:\n  key: >\n    a\n  value: b\n", "! bad_input"),
    *((f"action: set\naction_input:\n  key: {value}\n  value: b\n", "! bad_input") for value in (
        "&a", "*a", "!a", "|a", ">a", "%a", "@a", "`a`", "{a", ": a", "a: b", "a #b",
    )),
    ("action: set\naction_input:\n  'key': a\n  value : b\n", 'set {"key": "a", "value": "b"} | label_text | yaml'),
    ("action: set\naction_input:\n  key\t:\ta\n  value:   b\n", 'set {"key": "a", "value": "b"} | label_text | yaml'),
    ("action: set\naction_input:\n  key: false\n  value: 120.25\n", 'set {"key": false, "value": 120.25} | label_text | yaml'),
    ("action: set\naction_input:\n  key: 5.\n  value: 1.x\n", 'set {"key": "5.", "value": "1.x"} | label_text | yaml'),
    ("action: set\naction_input:\n  key: 'a: #b'\n  value: \"- a\"\n", 'set {"key": "a: #b", "value": "- a"} | label_text | yaml'),
    ("action: set\naction_input:\n  - key: a\n", "! bad_input"),
    ("action: set\naction_input:\n  just text\n", "! bad_input"),
    ("action: set\naction_input:\n  key:a\n  value:b\n", "! bad_input"),
    ("action: search\naction_input:\n  query: 2024-01-05\n", 'search {"query": "2024-01-05"} | label_text | yaml'),
    ("action: search\naction_input:\n  query: -0.5\n", 'search {"query": -0.5} | label_text | yaml'),
    ("action: search\naction_input:\n  query: 007\n", 'search {"query": "007"} | label_text | yaml'),
    ("action: search\naction_input: {query: cats}", "! bad_syntax"),
    ('action: search\naction_input: {"query": "cats"}\nfinal_answer: null', 'search {"query": "cats"} | label_text'),
    ('action: "search"\naction_input:\n  query: x', 'search {"query": "x"} | label_text | yaml'),
    ("thought: |\n  a\n  b\naction: search\naction_input:\n  query: x", 'search {"query": "x"} | label_text | yaml'),
    ("Action: search\nAction Input: cats\n---", 'search {"query": "cats"} | label_text | bare_input'),
    ("Action: search\nAction Input: cats\n---\nmore", 'search {"query": "cats\\n---\\nmore"} | label_text | bare_input'),
    ("Action: search\nAction Input: cats\ud83d", "! bad_syntax"),
    ("Final Answer: 5\nObservation: 6", "= 5 | label_text | invented_observation"),
    ("Thought: hm\nObservation: 6\nFinal Answer: 6", "= 6 | label_text"),
    # an input by itself
    ('Action: search\nAction Input: {"query": "say "x" y", "url": "u"}', "! unescaped_quote"),
    ('Action: search\nAction Input: {"query": "x\nAction: fetch', "! truncated"),
    ('Action: set\nAction Input: {"key": "a "b" c", "value": "d"}', 'set {"key": "a \\"b\\" c", "value": "d"} | label_text | unescaped_quote'),
    ('Action: set\nAction Input: {"key": {{"a": 1}}, "value": 1}', "! bad_syntax"),
    ('Action: search\nAction Input: {"query": "x", "lim', "! truncated"),
    ('<think>a</think>Action: search\nAction Input: {"query": "x"}', 'search {"query": "x"} | label_text'),
    ('<think>a</think><think>b</think>\nAction: search\nAction Input: "x"', 'search {"query": "x"} | label_text | bare_input'),
    ('Action: finish\nAction Input: {"answer": "x"}', "= x | label_text"),
    ('Action: finish\nAction Input: {"a": "x"}', '= {"a": "x"} | label_text'),
    ('Action: finish\nAction Input: {"answer": "x"}\nFinal Answer: x', "= x | label_text"),
]

# What the labels look like, and what they are called: "Action", "Action Input", "Final Answer", "Observation".
ACTIONS = ["action", "Tool", "Tool Name", "tool_name", "Action\t", "行动", "动作", "操作", "工具", "调用工具", "使用工具"]
INPUTS = ["action_input", "ActionInput", "Action Inputs", "Tool Input", "tool_inputs", "Argument", "Arguments", "Action Arguments",
          "action_argument", "Input", "Inputs", "Args", "行动输入", "动作输入", "操作输入", "工具输入", "输入", "参数"]  # fmt: skip
ANSWERS = ["final_answer", "FinalAnswer", "FINAL ANSWER", "最终答案", "最终回答"]
SPEAKERS = ["observation", "Observations", "Tool Result", "tool_results", "Tool Output", "Tool Response", "Function Result", "function_outputs",
            "Function Responses", "Question", "User", "Users", "Human", "Humans", "Assistant", "System", "观察结果", "观察", "观测", "工具结果", "工具返回",
            "用户", "助手", "系统"]  # fmt: skip
FORMS = ["**{}**:", "**{}:**", "*{}* :", "`{}`:", "`{}:`", "__{}__:", "__{}:__", "{} :", "{}\t:", "**{}**\t:\t", "{}:\t"]
REPLIES += [(f"{form.format('Action')} search\n{form.format('Input')} cats", 'search {"query": "cats"} | label_text | bare_input') for form in FORMS]
REPLIES += [(f"{label}: search\nInput: cats", 'search {"query": "cats"} | label_text | bare_input') for label in ACTIONS]
REPLIES += [(f"Action: search\n{label}: cats", 'search {"query": "cats"} | label_text | bare_input') for label in INPUTS]
REPLIES += [(f"Thought: t\n{label}: 5", "= 5 | label_text") for label in ANSWERS]
REPLIES += [(f"Final Answer: 5\n{label}: 6", "= 5 | label_text | invented_observation") for label in SPEAKERS]


@pytest.mark.parametrize(("text", "expected"), REPLIES)
def test_labelled_replies(text, expected):
    assert decided(text) == expected


# Each: a reply and the thought in it.
THOUGHTS = [
    ("Thought: hm\nObservation: 6\nFinal Answer: 6", "hm"),
    ("Thought: a\nThought: b\nFinal Answer: 6", "a"),
    ("Thought:\n```\na\n```\nFinal Answer: 6", "a"),
    *((f"{label}: a\nb\nAction: now", "a\nb") for label in ("Thought", "Thoughts", "Reasoning", "思考", "想法")),
    ("Final Answer: 6\nThought: done", "done"),
    ("Final Answer: 6", ""),
]


@pytest.mark.parametrize(("text", "thought"), THOUGHTS)
def test_thoughts_of_labelled_replies(text, thought):
    assert parse_decision(Completion(text, "stop"), KNOWN).thought == thought


def test_labels_are_counted():
    assert decided("Thought: t\n" * 1900 + "Action: now") == "now {} | label_text | no_input"
    assert decided("Thought: t\n" * 2100 + "Action: now") == "! bad_syntax"
