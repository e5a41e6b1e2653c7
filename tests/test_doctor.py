"""The doctor: each check finds what a server does and what it does not, and none of them stops the others."""

import sys
import threading

import pytest
from fake_model import fake_model
from fake_server import Answer, FakeServer, answer

from react_agent.doctor import CHECKS, Patient, examine
from react_agent.doctor_words import WORDS
from react_agent.endpoints.anthropic import AnthropicEndpoint
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.endpoints.command import CommandEndpoint
from react_agent.endpoints.scripted import ScriptedEndpoint

CHECK = dict(CHECKS)
NO_COUNTS = {"usage": "none", "counts": False}


def findings(endpoint, *names, seconds=20.0):
    patient = Patient(endpoint, seconds)
    return list(examine(patient, checks=[(name, CHECK[name]) for name in names or CHECK])), patient


def found(name, look_ups=None, settings=None, **habits):
    """The finding of one check about a server with these habits."""
    with fake_model(look_ups, **habits) as server:
        (finding,), _ = findings(ChatEndpoint(server.url, "m", jitter=lambda: 0.0, sleep=lambda _: None, **(settings or {})), name)
    return finding


PROPS = {"/props": answer(200, {"default_generation_settings": {"n_ctx": 8192}})}
SMALL = {"/props": answer(200, {"default_generation_settings": {"n_ctx": 2048}})}
VLLM = {"/v1/models": answer(200, {"object": "list", "data": [{"id": "m", "owned_by": "vllm"}]})}
LM_STUDIO = {"/v1/models": answer(200, {"object": "list", "data": [{"id": "m", "owned_by": "organization_owner"}]})}
CASES = [
    ("server", "answers", {"look_ups": PROPS}),
    ("window", "large", {"look_ups": PROPS}),
    ("window", "small", {"look_ups": SMALL}),
    ("window", "not_told", {}),
    ("window", "large", {"settings": {"context_window": 9000}}),
    ("system", "reaches", {}),
    ("system", "accepted", NO_COUNTS),
    ("system", "refused", {"system": "refused"}),
    ("system", "dropped", {"system": "dropped"}),
    ("turns", "free", {}),
    ("turns", "strict", {"turns": "strict"}),
    ("stop", "honoured", {}),
    ("stop", "ignored", {"stop": "ignored"}),
    ("stop", "refused", {"stop": "refused"}),
    ("streaming", "works", {}),
    ("streaming", "one_piece", {"stream": "whole"}),
    ("streaming", "refused", {"stream": "refused"}),
    ("streaming", "off", {"settings": {"stream": False}}),
    ("early close", "counted", {}),
    ("early close", "estimated", NO_COUNTS),
    ("early close", "impossible", {"stream": "whole"}),
    ("structured", "enforced", {}),
    ("structured", "object_only", {"enforces": ("json_object",)}),
    ("structured", "not_enforced", {"enforces": ()}),
    ("structured", "not_enforced", {"refuses_format": True}),
    ("prefill", "continued", {"prefill": "continued"}),
    ("prefill", "echoed", {"prefill": "echoed"}),
    ("prefill", "ignored", {"prefill": "ignored"}),
    ("prefill", "refused", {"prefill": "refused"}),
    ("usage", "honest", {}),
    ("usage", "not_told", NO_COUNTS),
    ("usage", "wrong", {"usage": "wrong"}),
    ("cut", "reported", {}),
    ("cut", "from_counts", {"cut": "silent"}),
    ("cut", "hidden", {"cut": "silent", **NO_COUNTS}),
    ("cut", "limit_ignored", {"cut": "limit_ignored"}),
    ("reasoning", "none", {}),
    ("reasoning", "apart", {"reasoning": "apart"}),
    ("reasoning", "in_text", {"reasoning": "in_text"}),
    ("reasoning", "all_of_it", {"reasoning": "all_of_it"}),
    ("speed", "streamed", {}),
    ("speed", "whole", {"stream": "whole"}),
    ("format", "held", {}),
    ("format", "held_but_wrong", {"decisions": "wrong"}),
    ("format", "shaky", {"decisions": "shaky"}),
    ("format", "lost", {"decisions": "lost"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "outcome", "habits"), CASES, ids=[f"{case[0]}-{case[1]}-{number}" for number, case in enumerate(CASES)])
def test_each_finding_and_its_opposite(name, outcome, habits):
    finding = found(name, **habits)
    assert (finding.name, finding.outcome) == (name, outcome), finding
    assert finding.verdict == WORDS[name][outcome][0] and finding.found and "{" not in finding.found + finding.meaning


def test_every_outcome_has_a_case():
    seen = {(name, outcome) for name, outcome, _ in CASES}
    elsewhere = {("stop", "unclear"), ("cut", "unclear"), ("speed", "unclear"), ("structured", "not_offered"), ("prefill", "not_tried"),
                 ("turns", "made_strict"), *((name, "made_here") for name in ("system", "turns", "stop"))}  # fmt: skip
    assert {(name, outcome) for name, outcomes in WORDS.items() for outcome in outcomes} == seen | elsewhere


def test_values_are_for_programs():
    assert found("structured", enforces=("json_schema",)).values["states"] == {
        "json_schema": "enforced", "json_object": "ignored", "grammar": "ignored",
    }  # fmt: skip
    assert found("format").values == {"replies": 6, "readable": 6, "repaired": 0, "called": 3, "right": 3}
    assert found("window", PROPS).values == {"tokens": 8192}
    assert found("server", PROPS).values["server"] == "llama.cpp"


def test_counts_are_held_against_the_servers_tokenizer():
    tokenize = {**PROPS, "/apply-template": answer(200, {"prompt": "p"}), "/tokenize": answer(200, {"tokens": [1] * 500})}
    with fake_model(tokenize) as server:
        endpoint = ChatEndpoint(server.url, "m")
        assert endpoint.context_window == 8192  # which shows that it is llama.cpp
        (finding,), _ = findings(endpoint, "usage")
    assert (finding.outcome, finding.values["expected"]) == ("wrong", 500)


def test_a_server_that_can_be_named():
    assert found("server", VLLM, counts=False).found == "vllm, asked as openai"
    assert found("server", LM_STUDIO, counts=False).found == "LM Studio, asked as openai"
    assert found("server", counts=False).found == "a server that does not say what it is, asked as openai"


def test_checks_leave_the_endpoint_as_it_was():
    with fake_model(system="refused", turns="strict", stop="refused", refuses_format=True) as server:
        endpoint = ChatEndpoint(server.url, "m")
        findings(endpoint, "system", "turns", "stop", "structured", "prefill")
    learned = endpoint.ladder.learned
    assert (learned.strict_roles, learned.dropped, learned.constraint, learned.stream) == (False, frozenset(), (), True)


def test_one_check_that_fails_stops_no_other():
    with fake_model(fails_at="7 + 5") as server:
        got, patient = findings(ChatEndpoint(server.url, "m"))
    assert [finding.name for finding in got] == list(CHECK)
    assert [(finding.name, finding.verdict) for finding in got if finding.outcome == "failed"] == [("reasoning", "unknown")]
    assert patient.replies == 22 and patient.tokens == sum(finding.tokens for finding in got)


def test_a_check_that_takes_too_long_is_given_up():
    held = threading.Event()
    hanging = Answer(200, {"Content-Type": "text/event-stream"}, [b":\n\n", held], "chunked")
    with FakeServer(lambda seen, number: hanging) as server:
        (finding,), patient = findings(ChatEndpoint(server.url, "m"), "cut", seconds=0.2)
    assert (finding.outcome, finding.verdict, finding.found, patient.replies) == ("failed", "unknown", "took too long", 0)


def test_a_server_that_is_not_there():
    with FakeServer([]) as server:
        url = server.url
    got, patient = findings(ChatEndpoint(url, "m"))
    assert (got[0].verdict, got[0].outcome, patient.replies) == ("bad", "failed", 0)
    assert {finding.outcome for finding in got[1:]} <= {"failed", "not_told", "not_enforced"}


def test_a_key_is_never_shown():
    with FakeServer(lambda seen, number: answer(401, {"error": {"message": "wrong key sk-secret-123456"}})) as server:
        (finding,), _ = findings(ChatEndpoint(server.url, "m", "sk-secret-123456"), "cut")
    assert "secret" not in finding.evidence and "[key]" in finding.evidence


def test_apis_whose_messages_are_made_strict_here():
    replies = answer(200, {"content": [{"type": "text", "text": "hello"}], "type": "message", "stop_reason": "end_turn"})
    with FakeServer(lambda seen, number: replies) as server:
        got, _ = findings(AnthropicEndpoint(server.url, "m"), "turns", "prefill", "speed")
    assert [finding.outcome for finding in got] == ["made_strict", "not_tried", "whole"]


SCRIPT = "import sys; sys.stdin.read(); print('one two three four five six')"


def test_a_program_is_examined_as_far_as_it_can_be():
    got, _ = findings(CommandEndpoint([sys.executable, "-c", SCRIPT]), "server", "system", "turns", "stop", "structured", "prefill", "usage")
    assert [finding.outcome for finding in got] == ["answers", "made_here", "made_here", "made_here", "not_offered", "not_tried", "not_told"]


@pytest.mark.parametrize(("name", "reply"), [("stop", "12"), ("cut", "No."), ("speed", "")])
def test_what_cannot_be_told_is_not(name, reply):
    with FakeServer(lambda seen, number: answer(200, {"choices": [{"message": {"content": reply}, "finish_reason": "stop"}]})) as server:
        (finding,), _ = findings(ChatEndpoint(server.url, "m", stream=False), name)
    assert (finding.outcome, finding.verdict) == ("unclear", "unknown")


def test_an_endpoint_of_ones_own():
    (finding,), _ = findings(ScriptedEndpoint(["hello"]), "server")
    assert (finding.outcome, finding.values["server"]) == ("answers", "scripted")
