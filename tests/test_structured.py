"""Structured output: where each API takes the schema, what follows from a refusal, and the proof that "auto" wants."""

import threading

import pytest
from fake_server import FakeServer, answer, chat

from react_agent.agent import Agent
from react_agent.decision_schema import decision_schema
from react_agent.endpoints.anthropic import AnthropicEndpoint
from react_agent.endpoints.base import PLAIN, Request
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.endpoints.completions import CompletionsEndpoint
from react_agent.endpoints.gemini import GeminiEndpoint
from react_agent.endpoints.koboldcpp import KoboldEndpoint
from react_agent.endpoints.llamacpp import LlamaCppEndpoint
from react_agent.endpoints.ollama import OllamaEndpoint
from react_agent.endpoints.scripted import ScriptedEndpoint
from react_agent.endpoints.structured import CHOICES, proof_of
from react_agent.endpoints.structured_grammar import grammar_of
from react_agent.endpoints.tgi import TgiEndpoint
from react_agent.errors import ConfigError, EndpointError
from react_agent.limits import Limits
from react_agent.registry import Tool, tool
from react_agent.tools.calculator import calculator_tools
from react_agent.types import Completion, Message, Usage

SCHEMA = decision_schema(calculator_tools())
ASKED = Request(schema=SCHEMA)
HELLO = [Message("user", "hello")]
URL = "http://127.0.0.1:9"
RESPONSE_FORMAT = {"response_format": {"type": "json_schema", "json_schema": {"name": "decision", "schema": SCHEMA}}}
OBJECT_FORMAT = {"response_format": {"type": "json_object"}}
ANY = {"type": "object"}
GRAMMAR = grammar_of(SCHEMA)


def named(name, parameters):
    return Tool(name, "", parameters, lambda **_: None, read_only=True)


CLOSED = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}, "how": {"type": "string", "enum": ["up", "down"]}},
          "required": ["n"], "additionalProperties": False}  # fmt: skip


def test_the_schema_of_a_decision():
    assert decision_schema([named("a", CLOSED), named("b", {"type": "object", "properties": {}, "additionalProperties": False})]) == {
        "type": "object", "additionalProperties": False,
        "properties": {
            "thought": {"type": "string", "maxLength": 400}, "action": {"type": "string", "enum": ["a", "b", "none"]},
            "final_answer": {"type": ["string", "null"]},
            "action_input": {
                "type": "object", "additionalProperties": False,
                "properties": {"n": {"type": "integer"}, "how": {"type": "string", "enum": ["up", "down"]}},
            },
        },
    }  # fmt: skip


ODD = {"nested": {"type": "object"}, "either": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "ref": {"$ref": "#/$defs/x"}, "any": True,
       "list": {"type": "array", "items": {"type": "string", "pattern": "^a"}}, "several": {"type": ["string", "null"]}}  # fmt: skip


def test_what_not_every_server_understands_is_left_open():
    arguments = decision_schema([named("a", {"type": "object", "properties": ODD})])["properties"]["action_input"]["properties"]
    assert arguments == {"nested": {}, "either": {}, "ref": {}, "any": {}, "several": {}, "list": {"type": "array", "items": {"type": "string"}}}


def test_an_argument_of_two_tools_that_mean_different_things():
    other = {"type": "object", "properties": {"n": {"type": "string"}, "how": CLOSED["properties"]["how"]}}
    arguments = decision_schema([named("a", CLOSED), named("b", other)])["properties"]["action_input"]["properties"]
    assert arguments == {"n": {}, "how": {"type": "string", "enum": ["up", "down"]}}


@pytest.mark.parametrize("parameters", [
    {"type": "object"}, {"type": "object", "properties": {"n": {}}, "additionalProperties": True},
    {"type": "object", "properties": {"n": {}}, "additionalProperties": {"type": "string"}}, {"$ref": "#/$defs/x", "properties": {"n": {}}},
    {"type": "object", "properties": {"n": {}}, "patternProperties": {"^x": {}}},
])  # fmt: skip
def test_a_tool_with_arguments_of_any_name_leaves_them_all_open(parameters):
    assert decision_schema([named("a", CLOSED), named("b", parameters)])["properties"]["action_input"] == {"type": "object"}


def test_without_tools_a_reply_can_only_be_an_answer():
    schema = decision_schema(())
    assert (schema["properties"]["action"]["enum"], schema["properties"]["final_answer"]["type"]) == (["none"], "string")
    assert schema["required"] == ["final_answer"]


def test_the_grammar_of_a_decision():
    root, *others = grammar_of(SCHEMA).splitlines()
    thought, action, final = r'"\"thought\"" ws ":" ws "\"" char{0,400} "\"" ws', r'"\"action\"" ws ":" ws ("\"calculator\"" | "\"none\"") ws', \
        r'"\"final_answer\"" ws ":" ws (string | "null") ws'  # fmt: skip
    given = r'"\"action_input\"" ws ":" ws "{" ws ("\"expression\"" ws ":" ws string ws)? "}" ws'
    assert root == (
        f'root ::= ws "{{" ws ({thought} ("," ws {action})? ("," ws {given})? ("," ws {final})?'
        f' | {action} ("," ws {given})? ("," ws {final})? | {given} ("," ws {final})? | {final})? "}}" ws'
    )
    assert [line.split(" ::= ")[0] for line in others] == ["ws", "char", "string", "number", "value", "object", "member", "array"]


@pytest.mark.parametrize(("schema", "root"), [
    ({}, "value"), (ANY, "object"), ({"type": "array"}, "array"),
    ({"type": "array", "items": {"type": "null"}}, '"[" ws ("null" ws ("," ws "null" ws)*)? "]"'),
    ({"type": ["boolean", "null"]}, '(("true" | "false") | "null")'),
    ({"type": "object", "properties": {"a": {"type": "null"}, "b": {}}},
     r'"{" ws ("\"a\"" ws ":" ws "null" ws ("," ws "\"b\"" ws ":" ws value ws)? | "\"b\"" ws ":" ws value ws)? "}"'),
    ({"type": "object", "properties": {"a": {"type": "null"}, "b": {}, "c": {}}, "required": ["b"]},
     r'"{" ws ("\"a\"" ws ":" ws "null" ws "," ws "\"b\"" ws ":" ws value ws ("," ws "\"c\"" ws ":" ws value ws)?'
     r' | "\"b\"" ws ":" ws value ws ("," ws "\"c\"" ws ":" ws value ws)?) "}"'),
    ({"type": "object", "properties": dict.fromkeys("abcdefg", {"type": "null"})},
     '"{" ws (' + "(" + " | ".join(rf'"\"{key}\"" ws ":" ws "null" ws' for key in "abcdefg") + ")"
     + ' ("," ws (' + " | ".join(rf'"\"{key}\"" ws ":" ws "null" ws' for key in "abcdefg") + ')){0,6})? "}"'),
    ({"enum": ['say "a\\b"']}, r'"\"say \\\"a\\\\b\\\"\""'),
])  # fmt: skip
def test_a_grammar_of_other_schemas(schema, root):
    assert grammar_of(schema).splitlines()[0] == f"root ::= ws {root} ws"


def test_a_type_that_no_grammar_is_known_for():
    with pytest.raises(ValueError, match="'date'"):
        grammar_of({"type": "date"})


PLACES = [
    (ChatEndpoint, "", "json_schema", RESPONSE_FORMAT),
    (ChatEndpoint, "", "json_object", OBJECT_FORMAT),
    (ChatEndpoint, "", "grammar", {"grammar": GRAMMAR, "grammar_string": GRAMMAR}),
    (ChatEndpoint, "llama.cpp", "grammar", {"grammar": GRAMMAR}),
    (ChatEndpoint, "vllm", "grammar", {"structured_outputs": {"grammar": GRAMMAR}}),
    (ChatEndpoint, "sglang", "grammar", {"ebnf": GRAMMAR}),
    (CompletionsEndpoint, "", "json_schema", {"json_schema": SCHEMA, **RESPONSE_FORMAT}),
    (CompletionsEndpoint, "llama.cpp", "json_schema", {"json_schema": SCHEMA}),
    (CompletionsEndpoint, "llama.cpp", "json_object", {"json_schema": ANY}),
    (CompletionsEndpoint, "vllm", "json_schema", RESPONSE_FORMAT),
    (CompletionsEndpoint, "llama.cpp", "grammar", {"grammar": GRAMMAR}),
    (LlamaCppEndpoint, "", "json_schema", {"json_schema": SCHEMA}),
    (LlamaCppEndpoint, "", "json_object", {"json_schema": ANY}),
    (LlamaCppEndpoint, "", "grammar", {"grammar": GRAMMAR}),
    (OllamaEndpoint, "", "json_schema", {"format": SCHEMA}),
    (OllamaEndpoint, "", "json_object", {"format": "json"}),
    (OllamaEndpoint, "", "grammar", None),
    (TgiEndpoint, "", "json_schema", {"parameters": {"grammar": {"type": "json", "value": SCHEMA}}}),
    (TgiEndpoint, "", "json_object", {"parameters": {"grammar": {"type": "json", "value": ANY}}}),
    (TgiEndpoint, "", "grammar", None),
    (KoboldEndpoint, "", "json_schema", {"grammar": GRAMMAR}),
    (KoboldEndpoint, "", "json_object", {"grammar": grammar_of(ANY)}),
    (KoboldEndpoint, "", "grammar", {"grammar": GRAMMAR}),
    (AnthropicEndpoint, "", "json_schema", {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}),
    (AnthropicEndpoint, "", "json_object", None),
    (GeminiEndpoint, "", "json_object", {"generationConfig": {"responseMimeType": "application/json"}}),
    (GeminiEndpoint, "", "grammar", None),
]  # fmt: skip


@pytest.mark.parametrize(("family", "server", "mode", "fields"), PLACES, ids=[f"{row[0].family}-{row[1]}-{row[2]}" for row in PLACES])
def test_where_each_api_takes_it(family, server, mode, fields):
    made = family(URL, "m")
    made.ladder.learn(server=server)
    assert made.constraint(mode, SCHEMA) == fields
    assert made.offers(mode) is (fields is not None)


def test_gemini_gets_no_keyword_that_it_does_not_know():
    config = GeminiEndpoint(model="m").constraint("json_schema", SCHEMA)["generationConfig"]
    assert config["responseJsonSchema"]["properties"]["thought"] == {"type": "string"}
    assert config["responseJsonSchema"]["properties"]["action"] == SCHEMA["properties"]["action"]


def asked(answers, request=ASKED, calls=1, family=ChatEndpoint, **settings):
    """(completions, request bodies) of so many calls."""
    with FakeServer(answers) as server:
        made = family(server.url, "m", **{"stream": False, **settings})
        return [made.complete(HELLO, request) for _ in range(calls)], [seen.json for seen in server.requests]


def test_off_sends_nothing_and_a_call_without_a_schema_neither():
    assert "response_format" not in asked([chat("a")])[1][0]
    assert "response_format" not in asked([chat("a")], PLAIN, structured="json_schema")[1][0]


def test_a_schema_beside_what_the_body_has_in_the_same_place():
    body = asked([answer(200, {"generated_text": "a", "details": {}})], family=TgiEndpoint, template="plain", structured="json_schema")[1][0]
    assert body["parameters"]["grammar"] == {"type": "json", "value": SCHEMA} and body["parameters"]["max_new_tokens"] == 512


def test_extra_body_goes_before():
    (body,) = asked([chat("a")], structured="json_schema", extra_body={"response_format": {"type": "text"}})[1]
    assert body["response_format"] == {"type": "text"}


def refusal(text):
    return answer(400, {"error": {"message": text}})


LM_STUDIO = refusal("'response_format.type' must be 'json_schema' or 'text'")
NO_FORMAT = refusal("response_format is not supported with this model")


@pytest.mark.parametrize(("first", "answers", "sent", "notes"), [
    ("json_schema", [NO_FORMAT, chat("a")], ["json_schema", "json_object"], ["json_schema refused, asked again with json_object"]),
    ("json_schema", [NO_FORMAT, NO_FORMAT, chat("a")], ["json_schema", "json_object", None],
     ["json_schema refused, asked again with json_object", "json_object refused, asked again without"]),
    ("json_object", [LM_STUDIO, chat("a")], ["json_object", None], ["json_object refused, asked again without"]),
])  # fmt: skip
def test_what_is_refused_is_stepped_down_noted_and_remembered(first, answers, sent, notes):
    (one, two), bodies = asked([*answers, chat("b")], structured=first, calls=2)
    assert [body.get("response_format", {}).get("type") for body in bodies] == [*sent, sent[-1]]
    assert [expected in note for expected, note in zip(notes, one.notes, strict=True)] == [True] * len(notes)
    assert (one.text, two.text, two.notes) == ("a", "b", ())


def test_a_reply_that_ignores_the_schema_is_a_reply_like_any_other():
    (completion,), _ = asked([chat("just prose")], structured="json_schema")
    assert (completion.text, completion.notes) == ("just prose", ())


def test_an_api_without_a_place_for_it_says_so_once():
    (one, two), bodies = asked([answer(200, {"message": {"content": "a"}, "done": True, "done_reason": "stop"})] * 2, family=OllamaEndpoint,
                               context_window=4096, structured="grammar", calls=2)  # fmt: skip
    assert [body.get("format") for body in bodies] == [SCHEMA] * 2 and (one.notes, two.notes) == ((), ())
    (one, two), bodies = asked([answer(200, {"content": [{"type": "text", "text": "a"}], "type": "message", "stop_reason": "end_turn"})] * 2,
                               family=AnthropicEndpoint, structured="json_object", calls=2)  # fmt: skip
    assert one.notes == ("structured output: this API has no place for json_object; asked without",) and two.notes == ()


def test_a_setting_that_there_is_not():
    with pytest.raises(ConfigError, match="json_schema"):
        ChatEndpoint(URL, structured="xml")
    assert CHOICES == ("off", "auto", "json_object", "json_schema", "grammar")


# auto

SIGN = '{"sign": "q7"}'
PROVED = [
    ("enforced", chat(SIGN), "json_schema", "json_schema is enforced"),
    ("enforced behind a fence", chat(f"```json\n{SIGN}\n```"), "json_schema", "json_schema is enforced"),
    ("ignored", chat("hello"), None, "json_schema is ignored: asked for a word that it forbids, the model wrote 'hello'"),
    ("another object", chat('{"word": "hello"}'), None, "json_schema is ignored"),
    ("cut before its end", chat('{"sign": "q', "length"), None, "json_schema is ignored"),
    ("nothing but reasoning", chat("", "length"), None, "json_schema is unproved: the probe was answered without text"),
    ("an error that nothing can be done about", answer(401, {"error": {"message": "no key"}}), None, "json_schema is unproved"),
]  # fmt: skip


@pytest.mark.parametrize(("probe", "used", "note"), [case[1:] for case in PROVED], ids=[case[0] for case in PROVED])
def test_auto_believes_one_probe(probe, used, note):
    (one, two), bodies = asked([probe, chat("a"), chat("b")], structured="auto", calls=2)
    assert bodies[0]["max_tokens"] == 64 and "hello" in bodies[0]["messages"][0]["content"]
    assert "q7" not in bodies[0]["messages"][0]["content"]
    assert [body.get("response_format", {}).get("type") for body in bodies[1:]] == [used, used]
    assert (one.text, two.text, two.notes) == ("a", "b", ())
    (told,) = one.notes
    assert note in told and ("asked without" in told) is (used is None)


def test_auto_takes_a_refusal_for_an_answer():
    (one,), bodies = asked([NO_FORMAT, chat("hello"), chat("a")], structured="auto")
    assert [("response_format" in body) for body in bodies] == [True, False, False]
    assert "json_schema is refused" in one.notes[0]


def test_auto_without_a_schema_probes_nothing():
    assert len(asked([chat("a")], PLAIN, structured="auto")[1]) == 1


def test_auto_where_it_is_known_already():
    with FakeServer([chat("a")]) as server:
        made = ChatEndpoint(server.url, "m", stream=False, structured="auto")
        made.proved(["json_object", "json_schema"])
        assert made.complete(HELLO, ASKED).notes == ()
    assert [seen.json["response_format"]["type"] for seen in server.requests] == ["json_schema"]


def test_auto_never_asks_anthropic():
    reply = answer(200, {"content": [{"type": "text", "text": "a"}], "type": "message", "stop_reason": "end_turn"})
    (one,), bodies = asked([reply], family=AnthropicEndpoint, structured="auto")
    assert "output_config" not in bodies[0] and one.notes == ("structured output: this API has no place for it; asked without",)


def test_a_cancelled_probe_is_a_cancelled_call_and_proves_nothing():
    cancel = threading.Event()
    cancel.set()
    with FakeServer([chat(SIGN), chat("a")]) as server:
        made = ChatEndpoint(server.url, "m", stream=False, structured="auto")
        with pytest.raises(EndpointError) as caught:
            made.complete(HELLO, Request(schema=SCHEMA, cancel=cancel))
        assert caught.value.kind == "cancelled"
        assert "json_schema is enforced" in made.complete(HELLO, ASKED).notes[0]


def test_several_threads_make_one_probe():
    lock, probes = threading.Lock(), []

    def served(seen, number):
        with lock:
            probes.extend([1] * ("hello and nothing else" in seen.json["messages"][0]["content"]))
        return chat(SIGN)

    with FakeServer(served) as server:
        made = ChatEndpoint(server.url, "m", stream=False, structured="auto")
        threads = [threading.Thread(target=made.complete, args=(HELLO, ASKED)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (len(probes), len(server.requests)) == (1, 5)


@pytest.mark.parametrize(("text", "state"), [('{"a": 1', "enforced"), ("```json\n{", "enforced"), ("hello", "ignored"), ("", "unproved")])
def test_the_proof_of_any_object_may_be_cut(text, state):
    assert proof_of("json_object", Completion(text, "length", Usage(3, 4)), refused=False).state == state


# the loop


@tool(read_only=True)
def double(number: int) -> int:
    """Twice a number."""
    return 2 * number


def test_the_loop_hands_the_schema_to_the_endpoint_and_forces_an_answer_with_it(reply):
    endpoint = ScriptedEndpoint([reply("double", {"number": 2}), reply(answer="4")])
    result = Agent(endpoint, [double], limits=Limits(max_steps=2)).run("What is twice 2?")
    assert (result.answer, result.forced) == ("4", True)
    assert [request.schema for _, request in endpoint.requests] == [decision_schema([double]), decision_schema(())]
