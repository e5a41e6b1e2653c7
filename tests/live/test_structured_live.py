"""Structured output and the doctor against a real llama.cpp server with the smallest model: what is enforced, and on which route."""

import re

import pytest

from react_agent.decision_schema import decision_schema
from react_agent.doctor import CHECKS, Patient, examine
from react_agent.endpoints.anthropic import AnthropicEndpoint
from react_agent.endpoints.base import Request
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.endpoints.completions import CompletionsEndpoint
from react_agent.endpoints.llamacpp import LlamaCppEndpoint
from react_agent.local import fetch, serve
from react_agent.tools.calculator import calculator_tools
from react_agent.types import Message

pytestmark = pytest.mark.live
MODEL = "smollm2-135m"
PROVED = [
    (ChatEndpoint, "json_schema", "enforced"), (ChatEndpoint, "json_object", "enforced"), (ChatEndpoint, "grammar", "enforced"),
    (CompletionsEndpoint, "json_schema", "enforced"), (CompletionsEndpoint, "json_object", "enforced"),
    (CompletionsEndpoint, "grammar", "enforced"), (LlamaCppEndpoint, "json_schema", "enforced"),
    (LlamaCppEndpoint, "json_object", "enforced"), (LlamaCppEndpoint, "grammar", "enforced"), (AnthropicEndpoint, "json_schema", "ignored"),
]  # fmt: skip
ASKED = [Message("user", "What is 17 * 23? Use the calculator.")]
SCHEMA = decision_schema(calculator_tools())
THOUGHT = r'"thought"\s*:\s*"(\\.|[^"\\]){0,400}"\s*'
CALL = r'"action"\s*:\s*"(calculator|none)"\s*,\s*"action_input"\s*:\s*\{\s*(\}|"expression"\s*:\s*")'
ANSWER = r'"final_answer"\s*:\s*(null|")'
# What the schema holds a reply to; that a thought alone decides nothing is the parser's to say.
SHAPE = re.compile(rf"(```json)?\s*\{{\s*({THOUGHT}(\}}|,\s*({CALL}|{ANSWER}))|{CALL}|{ANSWER})")


@pytest.fixture(scope="module")
def url():
    with serve(fetch(MODEL)) as server:
        yield server.base_url


@pytest.mark.parametrize(("family", "mode", "state"), PROVED, ids=[f"{row[0].family}-{row[1]}" for row in PROVED])
def test_what_each_route_enforces(url, family, mode, state):
    assert family(url, MODEL).proof(mode).state == state


class OthersCompletions(CompletionsEndpoint):
    """What servers other than llama.cpp are asked on this route."""

    def constraint(self, mode, schema):
        return ChatEndpoint.constraint(self, mode, schema)


def test_completions_ignores_response_format(url):
    assert OthersCompletions(url, MODEL).proof("json_schema").state == "ignored"


@pytest.mark.parametrize("mode", ["auto", "json_schema", "grammar"])
@pytest.mark.parametrize("family", [ChatEndpoint, CompletionsEndpoint, LlamaCppEndpoint])
def test_a_reply_has_the_shape_of_a_decision(url, family, mode):
    """The smallest model cannot hold the format by itself; where nothing limits a text it may not come to its end."""
    made = family(url, MODEL, temperature=0, structured=mode, max_output_tokens=400)
    completion = made.complete(ASKED, Request(schema=SCHEMA))
    assert SHAPE.match(completion.text), completion.text


def test_the_doctor(url):
    findings = {finding.name: finding for finding in examine(Patient(ChatEndpoint(url, MODEL, temperature=0), 60))}
    assert list(findings) == [name for name, _ in CHECKS]
    assert {name: finding.outcome for name, finding in findings.items() if name not in ("prefill", "format", "speed", "stop")} == {
        "server": "answers", "window": "large", "system": "reaches", "turns": "free", "streaming": "works", "early close": "counted",
        "structured": "enforced", "usage": "honest", "cut": "reported", "reasoning": "none",
    }  # fmt: skip
    assert findings["stop"].outcome == "honoured" and findings["window"].values["tokens"] == 8192
    assert findings["speed"].values["reads"] > 0 and findings["format"].outcome in ("lost", "shaky")
    assert findings["prefill"].outcome in ("continued", "echoed")
