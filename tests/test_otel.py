"""Real runs with a scripted endpoint, and the spans that they leave behind, compared whole."""

import itertools
import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from opentelemetry import trace as otel_api
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from spans import DescribedEndpoint, Node, Recorder

from react_agent import Agent, Completion, EndpointError, Limits, ToolError, TraceError, Usage, tool
from react_agent.otel import Spans, both
from react_agent.otel_endpoint import call_attributes
from react_agent.playback import replies, resume
from react_agent.trace_events import CompletionReceived, RequestSent, RunEnded, RunStarted, Summarised, TextArrived

ROOT = Path(__file__).parents[1]
DOC = (ROOT / "docs" / "otel.md").read_text("utf-8")
QUESTION = "How many A-7 does Lisbon have?"
PROVIDER = {"gen_ai.provider.name": "openai", "gen_ai.request.model": "small"}


@tool(read_only=True)
def lookup(product: str) -> dict:
    """How many units there are."""
    if product == "Z-0":
        raise ToolError("not_found", "there is no Z-0", "ask for another")
    if product == "X-1":
        raise RuntimeError("the shelf is on fire")
    return {"units": 4711}


@tool
def order(product: str) -> str:
    """Order one more."""
    return "ordered"


@pytest.fixture
def recorder():
    return Recorder()


def ticks():
    """A clock that is one second later each time it is read: when a call or tool begins, and when a reply begins."""
    return itertools.count().__next__


def run(recorder, script, tools=(lookup, order), *, described=None, spans=None, question=QUESTION, **options):
    listener = Spans(recorder.tracer, clock=ticks(), **(spans or {}))
    endpoint = DescribedEndpoint(script, **(described or {}))
    return Agent(endpoint, tools, on_event=listener, **options).run(question)


def whole(text, **more):
    return Completion(text, "stop", Usage(100, 7), model="small-q4", **more)


def invoke(result, steps, stop="answer", *, tokens, **more):
    return {
        "gen_ai.operation.name": "invoke_agent", **PROVIDER, "gen_ai.agent.name": "react_agent", "react_agent.run.id": result.run_id,
        "react_agent.prompt": more.pop("prompt"), "gen_ai.usage.input_tokens": tokens[0], "gen_ai.usage.output_tokens": tokens[1],
        "react_agent.run.status": result.status, "react_agent.run.stop_reason": stop, "react_agent.run.steps": steps, **more,
    }  # fmt: skip


def chat(step, **more):
    return {
        "gen_ai.operation.name": "chat", **PROVIDER, "gen_ai.request.stream": True, "gen_ai.request.max_tokens": 512,
        "server.address": "127.0.0.1", "server.port": 8080, "react_agent.step": step, **more,
    }  # fmt: skip


def answered(step, tokens=(100, 7), **more):
    return chat(step, **{
        "gen_ai.response.model": "small-q4", "gen_ai.response.finish_reasons": ["stop"], "gen_ai.response.time_to_first_chunk": 1,
        "gen_ai.usage.input_tokens": tokens[0], "gen_ai.usage.output_tokens": tokens[1], **more,
    })  # fmt: skip


def executed(step, name="lookup", description="How many units there are.", read_only=True, **more):
    return {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.type": "function",
        "gen_ai.tool.description": description, "react_agent.step": step, "react_agent.tool.read_only": read_only, **more,
    }  # fmt: skip


def prompt_of(recorder):
    return recorder.trees()[0].attributes["react_agent.prompt"]


def test_a_run_is_a_tree_of_its_calls_and_tools(recorder, reply):
    usage = Usage(120, 9, cached_tokens=100, reasoning_tokens=3)
    result = run(recorder, [whole(reply("lookup", {"product": "A-7"})), Completion(reply(answer="4711."), "stop", usage, model="small-q4")])
    prompt = prompt_of(recorder)
    assert re.fullmatch(r"en\S*@[0-9a-f]+", prompt)
    cached = {"gen_ai.usage.cache_read.input_tokens": 100, "gen_ai.usage.reasoning.output_tokens": 3}
    assert recorder.trees() == [Node(
        "invoke_agent react_agent", "INTERNAL", invoke(result, 2, tokens=(220, 16), prompt=prompt, **cached), children=[
            Node("chat small", "CLIENT", answered(1)),
            Node("execute_tool lookup", "INTERNAL", executed(1)),
            Node("chat small", "CLIENT", answered(2, (120, 9), **cached)),
        ],
    )]  # fmt: skip


def test_what_the_model_got_wrong_is_told_as_events_of_the_run(recorder, reply):
    result = run(recorder, [
        whole("no idea"), whole(reply("lookup", {"product": "A-7"})[:-1] + ",}"), whole(reply("lookup", {"product": "A-7"})),
        whole(reply("order", {"product": "A-7"})), whole(reply(answer="4711.")),
    ])  # fmt: skip
    (root,) = recorder.trees()
    assert root.events == [
        ("react_agent.parse_error", {"react_agent.step": 1, "error.type": "no_object"}),
        ("react_agent.repairs", {"react_agent.step": 2, "react_agent.repairs": ["trailing_comma"]}),
        ("react_agent.note", {"react_agent.step": 3, "react_agent.note": "repeated_call"}),
        ("react_agent.tool_refused", {"react_agent.step": 4, "gen_ai.tool.name": "order", "error.type": "not_approved"}),
    ]
    assert (result.answer, root.status, [child.name for child in root.children].count("execute_tool lookup")) == ("4711.", "", 1)


@pytest.mark.parametrize(("product", "error"), [("Z-0", "not_found"), ("X-1", "tool_crash")])
def test_a_tool_that_fails_is_a_span_that_failed_in_a_run_that_did_not(recorder, reply, caplog, product, error):
    run(recorder, [whole(reply("lookup", {"product": product})), whole(reply(answer="There is none."))])
    (root,) = recorder.trees()
    assert root.children[1] == Node("execute_tool lookup", "INTERNAL", executed(1, **{"error.type": error}), f"ERROR {error}")
    assert (root.status, "error.type" in root.attributes) == ("", False)


def test_an_endpoint_that_fails_fails_the_call_and_the_run(recorder, reply):
    failure = EndpointError("server_error", "the server says: 4711 is too many", "ask its operator", status=503)
    result = run(recorder, [whole(reply("lookup", {"product": "A-7"})), failure])
    failed = {"error.type": "endpoint_error"}
    assert recorder.trees() == [Node(
        "invoke_agent react_agent", "INTERNAL",
        invoke(result, 1, "endpoint_error", tokens=(100, 7), prompt=prompt_of(recorder), **failed), "ERROR endpoint_error", children=[
            Node("chat small", "CLIENT", answered(1)),
            Node("execute_tool lookup", "INTERNAL", executed(1)),
            Node("chat small", "CLIENT", chat(2, **{"http.response.status_code": 503, "error.type": "server_error"}), "ERROR server_error"),
        ],
    )]  # fmt: skip
    assert "4711" not in recorder.texts()


def test_a_prompt_that_is_too_long_is_a_failed_call_before_the_one_that_fits(recorder, reply):
    @tool(read_only=True)
    def read(page: int) -> str:
        """Read a page."""
        return f"page {page} " * 100

    pages = [whole(reply("read", {"page": page})) for page in range(4)]
    overflow = EndpointError("context_overflow", "too long", status=400, limit=2000, used=2600)
    run(recorder, [*pages, overflow, whole(reply(answer="4711."))], [read])
    (root,) = recorder.trees()
    calls = [(child.attributes["react_agent.step"], child.status) for child in root.children if child.kind == "CLIENT"]
    assert calls[-2:] == [(5, "ERROR context_overflow"), (5, "")]
    assert ("react_agent.note", {"react_agent.step": 5, "react_agent.note": "compacted"}) in root.events


def test_ctrl_c_in_a_tool_ends_its_span_and_the_run(recorder, reply):
    @tool(read_only=True)
    def hang() -> str:
        """Wait."""
        raise KeyboardInterrupt

    result = run(recorder, [whole(reply("hang"))], [hang])
    assert recorder.trees() == [Node(
        "invoke_agent react_agent", "INTERNAL", invoke(result, 0, "cancelled", tokens=(100, 7), prompt=prompt_of(recorder)), children=[
            Node("chat small", "CLIENT", answered(1)),
            Node("execute_tool hang", "INTERNAL", executed(1, "hang", "Wait.", **{"error.type": "cancelled"}), "ERROR cancelled"),
        ],
    )]  # fmt: skip
    assert otel_api.get_current_span() is otel_api.INVALID_SPAN


def test_ctrl_c_in_a_call_ends_its_span_and_the_run(recorder):
    def interrupted(messages, request):
        raise KeyboardInterrupt

    run(recorder, interrupted)
    (root,) = recorder.trees()
    assert (root.status, root.attributes["react_agent.run.status"], [child.status for child in root.children]) == (
        "", "cancelled", ["ERROR cancelled"])  # fmt: skip


def test_a_run_that_spent_its_budget_has_failed_and_a_forced_answer_has_not(recorder, reply):
    script = [whole(reply("lookup", {"product": "A-7"}))]
    run(recorder, script, limits=Limits(max_steps=1, input_price=10.0, output_price=20.0))
    run(recorder, [whole(reply(answer="4711."))], limits=Limits(max_steps=1))
    spent, forced = recorder.trees()
    assert (spent.status, spent.attributes["error.type"]) == ("ERROR max_steps", "max_steps")
    assert spent.attributes["react_agent.run.cost"] == pytest.approx((100 * 10 + 7 * 20) / 1e6)
    assert (forced.status, forced.attributes["react_agent.run.forced"]) == ("", True)
    assert [child.attributes["react_agent.forced"] for child in (*spent.children, *forced.children)] == [True, True]


def test_the_time_to_the_first_chunk_begins_anew_with_the_reply_and_is_not_told_of_replies_that_came_whole(recorder, reply):
    text = reply(answer="4711.")

    def broken(messages, request):
        request.on_text(text[:9])
        request.on_restart()
        return whole(text)

    run(recorder, broken)
    run(recorder, [whole(text)], described={"stream": False})
    first, second = (root.children[0] for root in recorder.trees())
    assert first.events == [("react_agent.restart", {})]
    assert first.attributes["gen_ai.response.time_to_first_chunk"] == 2
    assert "gen_ai.response.time_to_first_chunk" not in second.attributes


def test_what_the_endpoint_had_to_do_is_told_by_its_slug(recorder, reply):
    notes = ("cut_not_reported: the server says 'stop' of 4711", "asked again after 1.0 s: 4711")
    run(recorder, [whole(reply(answer="Yes."), notes=notes)])
    run(recorder, [whole(reply(answer="Yes."), notes=notes)], spans={"content": True})
    plain, full = (root.children[0].events for root in recorder.trees())
    slugs = [{"react_agent.note": "cut_not_reported"}, {"react_agent.note": "endpoint"}]
    assert plain == [("react_agent.note", slug) for slug in slugs]
    assert full == [("react_agent.note", {**slug, "react_agent.message": note}) for slug, note in zip(slugs, notes, strict=True)]


# content


SAID = ("Lisbon", "Be terse", "A-7", "4711", "on fire", "no idea", "Sorry", "Earlier", "exchange", "You answer", "A-5")


def telling_run(recorder, reply, caplog, **spans):
    """A run in which something is said in every place where something can be."""
    script = [
        whole("no idea"), whole(reply("lookup", {"product": "A-7"}), reasoning="Sorry, I think."), whole(reply("lookup", {"product": "A-7"})),
        whole(reply("lookup", {"product": "X-1"})), whole(reply("order", {"product": "A-5"})), whole(reply(answer="Lisbon has 4711.")),
    ]  # fmt: skip
    listener = Spans(recorder.tracer, **spans)
    agent = Agent(DescribedEndpoint(script), [lookup, order], instructions="Be terse.", on_event=listener)
    first = agent.run("Earlier?", history=())
    run(recorder, [EndpointError("bad_request", "Lisbon is refused", "no exchange")], spans=spans)
    run(recorder, [whole("", refusal="Sorry, not Lisbon.")], spans=spans)
    return first


def test_nothing_that_was_said_is_in_any_span_by_default(recorder, reply, caplog):
    telling_run(recorder, reply, caplog)
    assert not [word for word in SAID if word in recorder.texts()]


def test_with_content_all_that_was_said_is_there(recorder, reply, caplog):
    telling_run(recorder, reply, caplog, content=True)
    assert [word for word in SAID if word not in recorder.texts()] == []
    root, refused_call, refused = recorder.trees()
    call, worked, crashed = root.children[0], root.children[2], root.children[5]
    assert json.loads(root.attributes["gen_ai.system_instructions"]) == [{"type": "text", "content": "Be terse."}]
    assert json.loads(root.attributes["gen_ai.input.messages"]) == [{"role": "user", "parts": [{"type": "text", "content": "Earlier?"}]}]
    assert json.loads(root.attributes["gen_ai.output.messages"]) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "Lisbon has 4711."}], "finish_reason": "stop"}]  # fmt: skip
    definition = json.loads(root.attributes["gen_ai.tool.definitions"])[0]
    assert (sorted(definition), definition["name"]) == (["description", "name", "parameters", "type"], "lookup")
    assert json.loads(call.attributes["gen_ai.output.messages"])[0]["parts"] == [{"type": "text", "content": "no idea"}]
    assert json.loads(root.children[1].attributes["gen_ai.output.messages"])[0]["parts"][0] == {
        "type": "reasoning", "content": "Sorry, I think."}  # fmt: skip
    assert json.loads(worked.attributes["gen_ai.tool.call.arguments"]) == {"product": "A-7"}
    assert json.loads(worked.attributes["gen_ai.tool.call.result"]) == {"ok": True, "result": {"units": 4711}}
    ((name, attributes),) = crashed.events
    assert name == "exception" and attributes["exception.stacktrace"].endswith("RuntimeError: the shelf is on fire\n")
    assert refused_call.children[0].status == "ERROR Lisbon is refused. no exchange"
    assert refused.status == "ERROR Sorry, not Lisbon."


def test_the_input_of_each_call_is_the_prompt_that_was_sent(recorder, reply):
    script = [whole("no idea"), whole(reply("lookup", {"product": "A-7"})), whole(reply("lookup", {"product": "Z-0"})), whole(reply(answer="4."))]
    listener, endpoint = Spans(recorder.tracer, content=True), DescribedEndpoint(script)
    Agent(endpoint, [lookup], on_event=listener, limits=Limits(max_steps=4)).run(QUESTION)
    calls = [child for child in recorder.trees()[0].children if child.kind == "CLIENT"]
    told = [[(m["role"], m["parts"][0]["content"]) for m in json.loads(call.attributes["gen_ai.input.messages"])] for call in calls]
    assert told == [[(message.role, message.content) for message in messages] for messages, _ in endpoint.requests]


def test_secrets_are_masked_and_half_a_character_harms_no_exporter(recorder, reply):
    run(recorder, [whole("the key is hunter-22 \ud83d"), whole(reply(answer="hunter-22"))], spans={"content": True, "secrets": ("hunter-22",)})
    recorder.texts().encode()
    assert "hunter-22" not in recorder.texts() and "the key is [secret] ?" in recorder.texts()


def test_of_a_run_that_is_not_sampled_nothing_is_put_together(reply, monkeypatch):
    monkeypatch.setattr("react_agent.otel_run.messages_json", lambda messages: pytest.fail("the messages were put together"))
    recorder = Recorder(sampler=ALWAYS_OFF)
    assert run(recorder, [whole(reply(answer="Yes."))], spans={"content": True}).answer == "Yes."
    assert recorder.spans == ()


# whose spans


def test_names_of_agents_and_conversations_and_the_span_around_a_run(recorder, reply):
    with recorder.tracer.start_as_current_span("request"):
        run(recorder, [whole(reply(answer="Yes."))], spans={"agent_name": "clerk", "conversation_id": "c-1"})
    (outer,) = recorder.trees()
    (root,) = outer.children
    assert (root.name, root.attributes["gen_ai.agent.name"], root.attributes["gen_ai.conversation.id"]) == ("invoke_agent clerk", "clerk", "c-1")


@pytest.mark.parametrize("timeout_s", [None, 60.0])
def test_what_a_tool_does_belongs_to_it_also_another_agent(recorder, reply, timeout_s):
    listener = Spans(recorder.tracer)
    inner = Agent(DescribedEndpoint(lambda *_: whole(reply(answer="4711."))), on_event=listener)

    @tool(read_only=True, timeout_s=timeout_s)
    def ask(question: str) -> str:
        """Ask a colleague."""
        with recorder.tracer.start_as_current_span("database"):
            pass
        return inner.run(question).answer

    script = [whole(reply("ask", {"question": "q"})), whole(reply(answer="4711."))]
    Agent(DescribedEndpoint(script), [ask], on_event=listener).run(QUESTION)
    (root,) = recorder.trees()
    assert [child.name for child in root.children] == ["chat small", "execute_tool ask", "chat small"]
    database, colleague = root.children[1].children
    assert (database.name, colleague.name, [child.name for child in colleague.children]) == (
        "database", "invoke_agent react_agent", ["chat small"])  # fmt: skip


def test_one_listener_serves_many_threads(recorder, reply):
    met, listener = threading.Barrier(4), Spans(recorder.tracer, content=True)

    @tool(read_only=True)
    def meet(number: int) -> int:
        """Wait until every run is here."""
        met.wait(30)
        return number

    def script(messages, request):
        met.wait(30)
        question = next(m.content for m in messages if m.content.startswith("run "))
        number = int(question.removeprefix("run "))
        seen = "Observation from meet" in messages[-1].content
        return whole(reply(answer=f"answer {number}") if seen else reply("meet", {"number": number}))

    agent = Agent(DescribedEndpoint(script), [meet], on_event=listener)
    threads = [threading.Thread(target=agent.run, args=(f"run {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    roots = recorder.trees()
    assert len(roots) == 4 and len({span.context.trace_id for span in recorder.spans}) == 4
    for root in roots:
        (number,) = re.findall(r"run (\d)", root.attributes["gen_ai.input.messages"])
        assert [child.name for child in root.children] == ["chat small", "execute_tool meet", "chat small"]
        assert json.loads(root.children[1].attributes["gen_ai.tool.call.arguments"]) == {"number": int(number)}
        assert f"answer {number}" in root.attributes["gen_ai.output.messages"]


# resumed runs


def cut(trace, path, last):
    """A copy of a trace that ends with the last event of a name."""
    lines = trace.read_bytes().splitlines(keepends=True)
    at = max(i for i, line in enumerate(lines) if json.loads(line)["event"] == last)
    path.write_bytes(b"".join(lines[: at + 1]))
    return path


RESUMED = [
    ("tool_start", ["execute_tool lookup", "chat small"], (130, 8)),
    ("tool_end", ["chat small"], (130, 8)),
    ("request", ["chat small"], (130, 8)),
    ("completion", [], (0, 0)),
]


@pytest.mark.parametrize(("last", "spans", "tokens"), RESUMED, ids=[case[0] for case in RESUMED])
def test_a_resumed_run_tells_only_what_it_does_itself(recorder, reply, tmp_path, last, spans, tokens):
    script = [whole("no idea"), whole(reply("lookup", {"product": "A-7"})), Completion(reply(answer="4711."), "stop", Usage(130, 8))]
    run(Recorder(), script, trace=tmp_path / "whole.jsonl")
    trace = cut(tmp_path / "whole.jsonl", tmp_path / "cut.jsonl", last)
    listener = Spans(recorder.tracer, content=True)
    sent = []

    def make(recorded):
        sent.append(DescribedEndpoint(script[len(replies(recorded)) :]))
        return Agent(sent[0], [lookup, order], on_event=listener)

    result = resume(trace, make)
    (root,) = recorder.trees()
    assert (result.answer, [child.name for child in root.children], root.events) == ("4711.", spans, [])
    assert (root.attributes["gen_ai.usage.input_tokens"], root.attributes["gen_ai.usage.output_tokens"]) == tokens
    assert (root.attributes["react_agent.run.resumed"], root.attributes["react_agent.run.steps"]) == (True, 3)
    for messages, _ in sent[0].requests:
        assert len(json.loads(root.children[-1].attributes["gen_ai.input.messages"])) == len(messages)


def test_a_run_that_lost_its_endpoint_and_went_on_is_two_runs_of_one_id(recorder, reply, tmp_path):
    listener, trace = Spans(recorder.tracer), tmp_path / "t.jsonl"
    script = [whole(reply("lookup", {"product": "A-7"})), EndpointError("connection", "gone")]
    Agent(DescribedEndpoint(script), [lookup], on_event=listener, trace=trace).run(QUESTION)
    resume(trace, lambda _: Agent(DescribedEndpoint([whole(reply(answer="4711."))]), [lookup], on_event=listener))
    lost, resumed = recorder.trees()
    assert lost.attributes["react_agent.run.id"] == resumed.attributes["react_agent.run.id"]
    assert [child.name for child in resumed.children] == ["chat small"]
    assert sum(root.attributes["gen_ai.usage.input_tokens"] for root in (lost, resumed)) == 200


def test_a_run_that_ended_by_an_exception_is_closed_by_the_next(recorder, reply, tmp_path):
    listener, trace = Spans(recorder.tracer), tmp_path / "t.jsonl"
    Agent(DescribedEndpoint([whole("no idea"), EndpointError("connection", "gone")]), on_event=listener, trace=trace).run(QUESTION)
    with pytest.raises(TraceError):  # other tools: the recorded reply has another meaning now
        resume(trace, lambda _: Agent(DescribedEndpoint([]), language="zh", on_event=listener))
    Agent(DescribedEndpoint([whole(reply(answer="Yes."))]), on_event=listener).run(QUESTION)
    _, abandoned, last = recorder.trees()
    assert (abandoned.status, abandoned.attributes["error.type"], last.status) == ("ERROR abandoned", "abandoned", "")


def test_an_endpoint_that_breaks_its_promise_fails_the_call_and_the_run(recorder):
    Agent(DescribedEndpoint(lambda *_: 1 / 0), on_event=Spans(recorder.tracer)).run(QUESTION)
    (root,) = recorder.trees()
    assert (root.status, [child.status for child in root.children]) == ("ERROR endpoint_error", ["ERROR bad_response"])


def test_a_run_that_breaks_off_leaves_no_span_open_for_the_next_run(recorder, reply):
    listener = Spans(recorder.tracer)
    for event in (RunStarted("r", QUESTION), RequestSent(1, 0, (), 512, 9)):  # a resumption that does not fit breaks off like this
        listener(event)
    Agent(DescribedEndpoint([whole(reply(answer="Yes."))]), on_event=listener).run(QUESTION)
    abandoned, last = recorder.trees()
    assert (abandoned.status, [child.status for child in abandoned.children]) == ("ERROR abandoned", ["ERROR abandoned"])
    assert (last.status, [child.status for child in last.children]) == ("", [""])
    assert otel_api.get_current_span() is otel_api.INVALID_SPAN


def test_events_without_a_run_are_passed_over(recorder):
    Spans(recorder.tracer)(RunEnded("failed", "trace_error", None, 0, Usage(), 0.0))
    assert recorder.spans == ()


def test_a_summary_of_old_observations_counts(recorder):
    listener = Spans(recorder.tracer)
    for event in (
        RunStarted("r", QUESTION), Summarised(2, "4711 units", Usage(50, 5)), TextArrived(2, "x"), CompletionReceived(2, "", "stop", Usage(1, 1)),
        RunEnded("cancelled", "cancelled", None, 1, Usage(51, 6), 0.1),
    ):  # fmt: skip
        listener(event)
    (root,) = recorder.trees()
    spent = {"gen_ai.usage.input_tokens": 50, "gen_ai.usage.output_tokens": 5}
    assert root.events == [("react_agent.summary", {"react_agent.step": 2, **spent})]
    assert (root.attributes["gen_ai.usage.input_tokens"], root.attributes["gen_ai.usage.output_tokens"]) == (51, 6)


# what an endpoint says of itself


PROVIDERS = [
    ({"endpoint": "openai", "url": "https://api.openai.com/v1"}, ("openai", "api.openai.com", 443)),
    ({"endpoint": "openai", "url": "https://me.openai.azure.com/openai"}, ("azure.ai.openai", "me.openai.azure.com", 443)),
    ({"endpoint": "openai", "url": "https://api.groq.com/openai/v1"}, ("groq", "api.groq.com", 443)),
    ({"endpoint": "openai", "url": "https://ec2-1.compute.amazonaws.com:8000/v1"}, ("openai", "ec2-1.compute.amazonaws.com", 8000)),
    ({"endpoint": "openai", "url": "https://bedrock-runtime.eu-west-1.amazonaws.com"}, ("aws.bedrock", "bedrock-runtime.eu-west-1.amazonaws.com", 443)),
    ({"endpoint": "openai", "url": "http://[::1]:8080/v1"}, ("openai", "::1", 8080)),
    ({"endpoint": "openai", "url": "http://localhost/v1"}, ("openai", "localhost", 80)),
    ({"endpoint": "gemini", "url": "http://gateway/v1"}, ("gcp.gemini", "gateway", 80)),
    ({"endpoint": "llamacpp", "url": "http://127.0.0.1:8080"}, ("llama_cpp", "127.0.0.1", 8080)),
    ({"endpoint": "mine", "url": "http://[broken"}, ("mine", None, None)),
    ({}, (None, None, None)),
]  # fmt: skip


@pytest.mark.parametrize(("endpoint", "expected"), PROVIDERS, ids=[str(case[0].get("url")) for case in PROVIDERS])
def test_the_provider_and_the_server(endpoint, expected):
    told = call_attributes(endpoint)
    assert (told["gen_ai.provider.name"], told["server.address"], told["server.port"]) == expected


def test_the_settings_of_a_request_are_told_as_they_are_sent(recorder, reply):
    body = {"top_p": 0.9, "top_k": 40, "frequency_penalty": 0.5, "presence_penalty": True, "n": 2, "temperature": 0.7,
            "response_format": {"type": "json_schema"}}  # fmt: skip
    run(recorder, [whole(reply(answer="Yes."))], described={"temperature": 0.0, "seed": 7, "stop": ["\n\n"], "extra_body": body})
    told = recorder.trees()[0].children[0].attributes
    assert {name: value for name, value in told.items() if name.startswith(("gen_ai.request", "gen_ai.output"))} == {
        "gen_ai.request.model": "small", "gen_ai.request.temperature": 0.7, "gen_ai.request.top_p": 0.9, "gen_ai.request.top_k": 40,
        "gen_ai.request.frequency_penalty": 0.5, "gen_ai.request.seed": 7, "gen_ai.request.stop_sequences": ["\n\n"],
        "gen_ai.request.stream": True, "gen_ai.request.choice.count": 2, "gen_ai.request.max_tokens": 512, "gen_ai.output.type": "json",
    }  # fmt: skip


def test_an_endpoint_that_takes_one_text_completes_text(recorder, reply):
    run(recorder, [whole(reply(answer="Yes."))], described={"endpoint": "kobold", "model": "", "template": "chatml"})
    call = recorder.trees()[0].children[0]
    assert (call.name, call.attributes["gen_ai.operation.name"]) == ("text_completion", "text_completion")
    assert call.attributes["gen_ai.provider.name"] == "kobold"


# what is promised


def test_both_tells_every_listener_in_order():
    told = []
    both(lambda event: told.append(("a", event)), lambda event: told.append(("b", event)))(1)
    assert told == [("a", 1), ("b", 1)]


# SPEC of the conventions (package 0.66b2, gen-ai-agent-spans): what may be used, without the deprecated names.
CONVENTIONS = {
    "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.agent.name", "gen_ai.agent.id", "gen_ai.agent.description",
    "gen_ai.agent.version", "gen_ai.conversation.id", "gen_ai.request.model", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens",
    "gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.definitions",
    "gen_ai.request.max_tokens", "gen_ai.request.temperature", "gen_ai.request.top_p", "gen_ai.request.top_k",
    "gen_ai.request.stop_sequences", "gen_ai.request.seed", "gen_ai.request.stream", "gen_ai.request.choice.count",
    "gen_ai.request.frequency_penalty", "gen_ai.request.presence_penalty", "gen_ai.output.type", "gen_ai.response.id",
    "gen_ai.response.model", "gen_ai.response.finish_reasons", "gen_ai.response.time_to_first_chunk", "gen_ai.tool.name",
    "gen_ai.tool.type", "gen_ai.tool.call.id", "gen_ai.tool.description", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result",
    "server.address", "server.port", "error.type", "http.response.status_code", "exception.stacktrace",
}  # fmt: skip


def everything(recorder, reply, tmp_path):
    """Runs in which every attribute and every event is told at least once."""
    usage = Usage(9, 9, cached_tokens=1, reasoning_tokens=1, estimated=True)
    body = {"top_p": 1, "top_k": 1, "frequency_penalty": 1, "presence_penalty": 1, "n": 2, "response_format": {"type": "text"}}
    described = {"temperature": 0, "seed": 1, "stop": ["x"], "extra_body": body}
    spans = {"content": True, "conversation_id": "c"}

    @tool(read_only=True)
    def read() -> str:
        """Read much."""
        return "word " * 2000

    def calls(messages, request):
        request.on_text("{")
        request.on_restart()
        return Completion(reply("lookup", {"product": "X-1"})[:-1] + ",}", "stop", usage, model="m", notes=("asked again",))

    answer, limits = whole(reply(answer="4.")), Limits(max_steps=4, input_price=1.0, output_price=1.0)
    script = iter([whole("no idea"), whole(reply("order", {"product": "A"})), whole(reply("read")), answer])
    tools, more = [lookup, order, read], {"instructions": "Be terse.", "limits": limits}
    run(recorder, lambda *_: next(script), tools, described=described, spans=spans, trace=tmp_path / "t.jsonl", **more)
    run(recorder, calls, tools, spans=spans, limits=Limits(max_steps=2))
    run(recorder, [EndpointError("auth", "no", status=401)], spans=spans)
    resume(cut(tmp_path / "t.jsonl", tmp_path / "cut.jsonl", "request"), lambda _: Agent(
        DescribedEndpoint([answer]), tools, on_event=Spans(recorder.tracer), limits=limits))  # fmt: skip
    listener = Spans(recorder.tracer, content=True)
    for event in (RunStarted("r", QUESTION), Summarised(2, "short", usage), RunEnded("cancelled", "cancelled", None, 1, usage, 0.1)):
        listener(event)


def test_the_document_lists_exactly_what_is_told(recorder, reply, tmp_path, caplog):
    everything(recorder, reply, tmp_path)
    told = {"invoke_agent": set(), "chat": set(), "execute_tool": set(), "Events of spans": set(), "Attributes of events": set()}
    for span in recorder.spans:
        told[span.name.split()[0]] |= set(span.attributes)
        told["Events of spans"] |= {event.name for event in span.events}
        told["Attributes of events"] |= {name for event in span.events for name in event.attributes}
    told["chat"].add("react_agent.closed_early")  # told of a reply that would have gone on behind its object
    assert told == {heading: documented(heading) for heading in told}
    names = set().union(*(told[heading] for heading in told if heading != "Events of spans"))
    assert {name for name in names if not name.startswith("react_agent.")} <= CONVENTIONS


def documented(heading):
    """The names in the first column of the table under a heading of docs/otel.md."""
    section = re.search(rf"^##+ `?{heading}`?\n(.*?)(?=^##|\Z)", DOC, re.MULTILINE | re.DOTALL)[1]
    return {name for row in re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row)}


def test_the_python_of_the_document_runs(monkeypatch, reply):
    monkeypatch.setattr("react_agent.ChatEndpoint", lambda *_, **__: DescribedEndpoint(lambda *_: whole(reply(answer="4."))), raising=False)
    scope = {}
    exec(compile(re.search(r"```python\n(.*?)```", DOC, re.DOTALL)[1], "docs/otel.md", "exec"), scope)
    scope["agent"].run(QUESTION)
    assert scope["result"].answer == scope["seen"][-1].answer == "4."


def python(code):
    """Run code in a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)


def test_nothing_of_opentelemetry_is_loaded_without_it():
    code = "import sys, react_agent.agent, react_agent.cli; print([name for name in sys.modules if 'opentelemetry' in name])"
    assert python(code).stdout == "[]\n"


def test_without_the_extra_the_error_says_what_to_install():
    code = "import sys; sys.modules['opentelemetry'] = None; import react_agent.otel"
    assert python(code).stderr.endswith("ConfigError: OpenTelemetry is not installed: pip install 'react-agent[otel]'\n")
