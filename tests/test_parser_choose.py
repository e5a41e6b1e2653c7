"""Which object of a reply is its decision, and why there is none: prose, data, reasoning, speakers and labels around it."""

import pytest
from replies import decided

# Each: a reply; the call, the answer or the reason for a refusal, and the repairs; why the reply ended, if not by itself.
REPLIES = [
    # one object and what stands around it
    ('Sure. {"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null} I will wait.',
        'search {"query": "x"} | dropped_tail',
    ),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}}]', 'search {"query": "x"}'),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n}\n```', 'search {"query": "x"}'),
    ('{{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    ('{{"action": "search", "action_input": {"query": "x"}}}', 'search {"query": "x"}'),
    ('({"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null})', 'search {"query": "x"}'),
    ('**{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}**', 'search {"query": "x"}'),
    ('return {"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null};', 'search {"query": "x"}'),
    ('[{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}]', 'search {"query": "x"}'),
    ('[[{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}]]', 'search {"query": "x"}'),
    (
        '[{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}, {"a": 1}]',
        'search {"query": "x"} | dropped_tail',
    ),
    ('[{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}"', "! unescaped_quote"),
    ('"{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}"', 'search {"query": "x"}'),
    ('\'{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\'', 'search {"query": "x"}'),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\'', "! unescaped_quote"),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n"', 'search {"query": "x"}'),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null} and "more"',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}, "note": 1}',
        'search {"query": "x"} | dropped_tail',
    ),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n"action": "fetch"', "! duplicate_key"),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"a": 1}\n"action": "fetch"',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n<think>"action": "fetch"</think>',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}<|im_end|>"action": "fetch"',
        'search {"query": "x"} | dropped_tail',
    ),
    ('```json\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n```', 'search {"query": "x"}'),
    (
        '```json\n{"a": 1}\n```\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}```', 'search {"query": "x"}'),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n[/TOOL_CALLS]', 'search {"query": "x"}'),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}</tool_call>', 'search {"query": "x"}'),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n`` ` ``\n~~~', 'search {"query": "x"}'),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}</a very long tag that is no tag but some words, eighty characters of them, and some more of them>',
        'search {"query": "x"} | dropped_tail',
    ),
    # quoted in a sentence
    ('I call {"action": "search", "action_input": {"query": "x"}} because it is late.', "! not_a_decision"),
    ('I call {"action": "search", "action_input": {"query": "x"}}.', "! not_a_decision"),
    ('I call `{"action": "search", "action_input": {"query": "x"}}`?', "! not_a_decision"),
    ('I call {"action": "search", "action_input": {"query": "x"}}', 'search {"query": "x"}'),
    ('I call\n{"action": "search", "action_input": {"query": "x"}}\nbecause.', 'search {"query": "x"} | dropped_tail'),
    ('{"action": "search", "action_input": {"query": "x"}} because it is late.', 'search {"query": "x"} | dropped_tail'),
    (
        'I call {"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null} because it is late.',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        'I call {"thoughts": "t", "action": "search", "action_input": {"query": "x"}} because it is late.',
        'search {"query": "x"} | alias_key | dropped_tail',
    ),
    ('1. {"action": "search", "action_input": {"query": "x"}} 2', 'search {"query": "x"} | dropped_tail'),
    ('<b>{"action": "search", "action_input": {"query": "x"}}</b>', 'search {"query": "x"}'),
    ('a {"action": "search", "action_input": {"query": "x"}} b', 'search {"query": "x"} | dropped_tail'),
    ('ab {"action": "search", "action_input": {"query": "x"}} cd', "! not_a_decision"),
    ('ab\n\n{"action": "search", "action_input": {"query": "x"}} cd', 'search {"query": "x"} | dropped_tail'),
    ('ab {"action": "search", "action_input": {"query": "x"}}\ncd', 'search {"query": "x"} | dropped_tail'),
    ('ab <i> {"action": "search", "action_input": {"query": "x"}} </i> [X] ```py cd', "! not_a_decision"),
    ('<ab> {"action": "search", "action_input": {"query": "x"}} <cd>', 'search {"query": "x"}'),
    (
        'I call {"action": "now"} because it is late.\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    ('I call {"action": "now"} because.', "! not_a_decision"),
    ("I call {'action': 'now'} because.", "! not_a_decision"),
    # other objects before and after
    ('{"a": 1}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    (
        '{"a": {"b": 1}} {"c": []} {"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        'x = {"a": 1, "b": [}]\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    ('{"thought": "first"}\n{"action": "search", "action_input": {"query": "x"}}', 'search {"query": "x"}'),
    (
        '{"thought": "first"}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    ('{"thought": "a"}{"thought": "b"}{"action": "search", "action_input": {"query": "x"}}', 'search {"query": "x"}'),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"thought": "done"}',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"a": 1}',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"thought": "t", "final_answer": null}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        '{"name": "Bob", "age": 5}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        '{"name": "search", "arguments": {"query": "x"}}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"} | alias_key | dropped_tail',
    ),
    (
        '{"response": "Hi"}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    ('{"response": "Hi"}', "= Hi | alias_key"),
    ('{"response": "Hi"}\n{"response": "Ho"}', "! conflict"),
    ('{"response": "Hi"}\n{"thought": "t"}', "= Hi | alias_key"),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"response": "Hi"}',
        'search {"query": "x"} | dropped_tail',
    ),
    ('{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}\n{"response": "Hi"}', "= Paris | dropped_tail"),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"name": "fetch", "arguments": {"url": "u"}}',
        "! conflict",
    ),
    (
        '{"name": "nobody", "arguments": {}}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        "! unknown_tool",
    ),
    (
        '{"action": "nobody", "action_input": {}}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        "! unknown_tool",
    ),
    (
        '{"thought": "<your reasoning>", "action": "<tool>", "action_input": {}}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        '{"thought": ..., "action": "x"}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    ('{"thought": ..., "action": "x"}', "! template_echo"),
    ('{"thought": ..., "action": "x"', "! template_echo"),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"thought": ..., "action": "x"}',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"action": ..., "action_input": {"a": "}"}}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    # the same again, or another one
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"action": "search", "action_input": {"query": "x"}}',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"thought": "t", "action": "search", "action_input": {"query": "x "}, "final_answer": null}',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nWait, no:\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}',
        'search {"query": "x"} | premature_answer',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}',
        'search {"query": "x"} | premature_answer',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}',
        "= Paris | dropped_tail",
    ),
    (
        '{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}\n{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Rome"}',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}\n{"thought": "u", "action": "none", "action_input": {}, "final_answer": "Paris"}',
        "= Paris | dropped_tail",
    ),
    (
        '[{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}, {"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}]',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '[{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}, {"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}]',
        "! conflict",
    ),
    (
        '[{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}, {"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}]',
        "! conflict",
    ),
    (
        '[{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}, {"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}]',
        "= Paris | dropped_tail",
    ),
    (
        'So: [{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}, {"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}]',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"action": "fetch", "action_input": {"url": ',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"action": "search", "action_input": {"query": ',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"action": "search", "action_input": {"query": ',
        'search {"query": "x"} | dropped_tail',
        "length",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"action": "fetch", "action_input": {"url": ',
        "! truncated",
        "length",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"thought": "so',
        'search {"query": "x"} | dropped_tail',
        "length",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"thought": "so',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"action": "none", "final_answer": "x',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"action": "zzz", "action_input": {}}',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"action": 5, "action_input": {}}',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"action": "search", "action_input": 5}',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"final_answer": {"action": "fetch", "action_input": {}}}',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}\n{"action": "fetch", "action_input": {"url": ',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}\n{"action": "none", "final_answer": "x',
        "= Paris | dropped_tail",
        "length",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{\'action\': \'fetch\', \'action_input\': {,}}',
        "! conflict",
    ),
    # another speaker
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nObservation: 44\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nObservation: 44',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null} Observation: 44\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n**Observation:** 44\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nTool result:\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nUser: no\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nThe user: no\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n<observation>1</observation>\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n<tool_response>1\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}[TOOL_RESULTS]1\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}<|im_start|>user\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}<|user|>\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}<|im_end|>\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}<|end|><|start|>assistant<|channel|>final<|message|>{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'fetch {"url": "u"}',
    ),
    ('Observation: 1\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    ('User: x\n\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    ('<|im_start|>user\nx<|im_end|>{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', "! empty"),
    (
        '<|im_start|>assistant\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        '<|im_start|>assistant\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}<|im_start|>assistant\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"a": 1}\nObservation: 3\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nObservation: {"a": 1}\n{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}\nObservation: 3\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | premature_answer | invented_observation',
    ),
    # reasoning
    (
        '<think>{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}</think>{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    ('<think>{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}', "! only_thinking"),
    (
        '<think>{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}</thinking>{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        "! only_thinking",
    ),
    (
        '{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}</think>{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}</think>', "! only_thinking"),
    ("<think>a</think>", "! only_thinking"),
    ("<think>a</think>\n<think>b", "! only_thinking"),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}<think>{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}<think>{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}</think>',
        'search {"query": "x"} | dropped_tail',
    ),
    ('<think/>{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    ('<think />{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    (
        '<think>a<think />b</think>{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        '<think>a <think>b</think> c</think>{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        '{"response": "x"}\n</think>\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        '{"action": "nobody"}\n</think>\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        'x </think> y </think>{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}</think>{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        'fetch {"url": "u"}',
    ),
    (
        '[THINK]{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}[/THINK]{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        '<think>a</think> b {"a": 1} {"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        '<|channel|>analysis<|message|>{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}<|end|><|start|>assistant<|channel|>final<|message|>{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        '<|channel|>analysis<|message|>{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}',
        "! only_thinking",
    ),
    (
        '<|channel|>commentary<|message|>{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}<|call|>',
        'search {"query": "x"}',
    ),
    ('<|channel|>commentary to=functions.search<|message|>{"query": "x"}<|call|>', 'search {"query": "x"}'),
    ('<|channel|>commentary to=search <|constrain|>json<|message|>{"query": "x"}<|call|>', 'search {"query": "x"}'),
    (
        '<|channel|>commentary to=search<|message|>{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}<|call|>',
        'fetch {"url": "u"}',
    ),
    ('<|channel|>commentary to=nobody<|message|>{"query": "x"}<|call|>', "! unknown_tool"),
    ("<|channel|>commentary to=now<|message|>{}<|call|>", "! no_object"),
    ('<|channel|>final<|message|>{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}<|return|>', "= Paris"),
    (
        '{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}<|channel|>final<|message|>{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    ('{"action": "nobody"}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', "! unknown_tool"),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"thought": "d", "action": "fetch", "action_input": {"url": "u"}, "final_answer": null}\n</think>\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    ('{"action": "nobody"}\n</think>', "! only_thinking"),
    ('{"response": "Hi"}\n{"response": "Hi"}', "= Hi | alias_key"),
    # labels around an object
    ('Action: search\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    ('Action: fetch\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', "! conflict"),
    ('Action: zzz\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    ('Thought: hm\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    ('Action:\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    ('Action: {"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    ('Final Answer:\n{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}', "= Paris"),
    ('Final Answer: Rome\n{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}', "= Paris"),
    ('Final Answer: Rome\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', "! conflict"),
    (
        'Final Answer: null\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    ('Final Answer: {"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    (
        'Action: search\nAction Input: {"query": "x"}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        'Action: search\nAction Input: {"query": "y"}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        "! conflict",
    ),
    (
        'Action: search\nAction Input: x\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        'Action: search\nAction Input: y\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        "! conflict",
    ),
    (
        'Action Input: {"query": "y"}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        "! conflict",
    ),
    ('Action Input: {"query": "x"}\n{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}', "= Paris"),
    (
        'Action Input: {"query": "x"\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        "! no_object",
    ),
    (
        '输入：{"query": "x"}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        'Arguments: ```json\n{"query": "x"}\n```\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        'The input: {"query": "y"}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        'Some input for it: {"query": "y"}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nAction: search',
        'search {"query": "x"} | dropped_tail',
    ),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nAction: fetch', "! conflict"),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nAction: search\nAction Input: "x"',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nAction: search\nAction Input: y',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nAction: search\nAction Input: {"query": "x"}',
        'search {"query": "x"} | dropped_tail',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nAction: search\nAction Input: {"query": "y"}',
        "! conflict",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nFinal Answer: 44',
        'search {"query": "x"} | dropped_tail',
    ),
    ('{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}\nAction: fetch', "! conflict"),
    ('{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}\nAction: none', "= Paris | dropped_tail"),
    ('{"thought": "t", "action": "none", "action_input": {}, "final_answer": "Paris"}\nFinal Answer: Rome', "= Paris | dropped_tail"),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nObservation: 1\nAction: fetch',
        'search {"query": "x"} | invented_observation',
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}<|im_end|>\nAction: fetch',
        'search {"query": "x"} | dropped_tail',
    ),
    # without its first brace
    ('"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"} | missing_opener'),
    (
        '\n  "thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"} | missing_opener',
    ),
    (
        'Sure:\n"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"} | missing_opener',
    ),
    (
        '```json\n"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n```',
        'search {"query": "x"} | missing_opener',
    ),
    (
        '<think>a</think>\n"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"} | missing_opener',
    ),
    (
        "“thought”：“t”，“action”：“search”，“action_input”：{“query”：“x”}}",
        'search {"query": "x"} | missing_opener | smart_quotes | full_width',
    ),
    ('"query": "x"}', "! no_object"),
    ('"thought": "t"', "! truncated"),
    (
        '"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"} | missing_opener | dropped_tail',
    ),
    ('"action": "fetch"}\n{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', "! bad_input"),
    # nothing to decide on
    ("", "! empty"),
    (" \n", "! empty"),
    ("\ufeff\u200b", "! empty"),
    ("```json\n```", "! empty"),
    ("<|im_end|>", "! empty"),
    ("Paris.", "! no_object"),
    ("{", "! truncated"),
    ('{"a": 1}', "! not_a_decision"),
    ("{}", "! not_a_decision"),
    ("[]", "! no_object"),
    ("{ x", "! truncated"),
    ("{ x }", "! bad_syntax"),
    ("   {x: 1", "! truncated"),
    ('{"a": 1} and {"b": 2}', "! not_a_decision"),
    ("42", "! no_object"),
    ('"Paris"', "! no_object"),
    ("<tool_call>", "! empty"),
    ('a {"action": "now"} b', "now {} | no_input | dropped_tail"),
    ('\ud83d{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}'),
    ("Final Answer: \ud83d", "! bad_syntax"),
    ("Final Answer: 🍸", "= 🍸 | label_text"),
    ("", "! empty", "length"),
    ("Paris", "! truncated", "length"),
    ("<think>a", "! only_thinking", "length"),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}', 'search {"query": "x"}', "length"),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null', "! truncated", "length"),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}\nObs',
        'search {"query": "x"} | dropped_tail',
        "length",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null',
        'search {"query": "x"} | missing_closer',
        "unknown",
    ),
    (
        '{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null}',
        'search {"query": "x"}',
        "content_filter",
    ),
    ('{"thought": "t", "action": "search", "action_input": {"query": "x"}, "final_answer": null', "! truncated", "content_filter"),
    ("", "! refused", "content_filter"),
    ('{"a": 1}', "! truncated", "length"),
]


@pytest.mark.parametrize("row", REPLIES, ids=lambda row: row[0][:60])
def test_choices(row):
    text, expected, *finish_reason = row
    assert decided(text, finish_reason=finish_reason[0] if finish_reason else "stop") == expected
