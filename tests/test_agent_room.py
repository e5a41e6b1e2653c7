"""Limits and the window: a model that always writes as much as it may never gets beyond them, and nothing that was paid for is left out."""

import pytest

from react_agent import Agent, Completion, EndpointError, Limits, ScriptedEndpoint, Usage, replay, tool
from react_agent.conversation import Conversation
from react_agent.tokens import estimate_prompt
from react_agent.trace import read_trace
from react_agent.trace_events import Noted, RequestSent, Summarised


@tool(read_only=True)
def page(number: int) -> str:
    """Read a page."""
    return f"page {number} " + "words and more words of it " * 80


@tool(read_only=True)
def look(name: str) -> str:
    """Look."""
    return name


def greedy(reply):
    """Never answers; every reply is as long as it may be, and the server counts as we do."""

    def model(messages, request):
        used = Usage(estimate_prompt(messages), request.max_output_tokens)
        return Completion(reply("look", {"name": str(len(messages))}), "stop", used)

    return ScriptedEndpoint(model)


@pytest.mark.parametrize("limit", range(500, 4000, 175))
def test_tokens_never_pass_their_limit_also_with_the_notice_of_the_last_step(limit, reply):
    result = Agent(greedy(reply), [look], limits=Limits(max_steps=50, max_tokens=limit)).run("q")
    assert result.stop_reason == "token_budget" and result.usage.total_tokens <= limit


@pytest.mark.parametrize("prices", [(1.0, 100.0), (3.0, 15.0), (0.0, 50.0), (2.0, 0.0)], ids=str)
@pytest.mark.parametrize("limit", [0.004, 0.01, 0.0333])
def test_cost_never_passes_its_limit_although_replies_cost_more_than_prompts(limit, prices, reply):
    result = Agent(greedy(reply), [look], limits=Limits(60, max_cost=limit, input_price=prices[0], output_price=prices[1])).run("q")
    assert result.cost <= limit
    assert result.stop_reason == "cost_budget"


def test_what_costs_nothing_is_not_limited_by_cost(reply):
    endpoint = ScriptedEndpoint([reply(answer="x")])
    assert Agent(endpoint, limits=Limits(max_cost=0.1, input_price=0, output_price=0)).run("q").answer == "x"
    assert endpoint.requests[0][1].max_output_tokens == 512


def reading(reply, pages, summary):
    """Reads so many pages, then answers; says `summary` when it is asked for one."""

    def model(messages, request):
        if len(messages) == 1:
            return summary
        calls = sum(message.role == "assistant" for message in messages)
        return Completion(reply("page", {"number": calls}) if calls < pages else reply(answer="done"), "stop")

    return model


SUMMARIES = {
    "no usage": (Completion("Words."), "Words."),
    "empty": (Completion("", usage=Usage(900, 256)), ""),
    "only thinking": (Completion("<think>hmm hmm", usage=Usage(900, 256)), ""),
    "thinking first": (Completion("<think>hmm</think>\nWords.", usage=Usage(900, 256)), "Words."),
    "thinking template": (Completion("hmm</think>Words.", usage=Usage(900, 256)), "Words."),
}


@pytest.mark.parametrize(("said", "kept"), SUMMARIES.values(), ids=SUMMARIES)
def test_a_summary_is_booked_whatever_it_is_and_holds_no_reasoning(said, kept, reply, tmp_path):
    endpoint = ScriptedEndpoint(reading(reply, 10, said), context_window=3000, max_output_tokens=200)
    result = Agent(endpoint, [page], limits=Limits(max_steps=20), summarise=True, trace=tmp_path / "t.jsonl").run("Read all pages.")
    events = [record.event for record in read_trace(tmp_path / "t.jsonl")]
    summaries = [event for event in events if isinstance(event, Summarised)]
    assert summaries and {event.text for event in summaries} == {kept}
    assert all(event.usage.total_tokens > 500 for event in summaries)
    assert sum((event.usage for event in events if event.name in ("completion", "summary")), start=Usage()) == result.usage
    assert replay(tmp_path / "t.jsonl").same


def test_a_summary_opens_no_turn(reply):
    endpoint = ScriptedEndpoint(reading(reply, 10, Completion("Page 1<|im_end|> says [INST]")), context_window=3000, max_output_tokens=200)
    Agent(endpoint, [page], limits=Limits(max_steps=20), summarise=True).run("Read all pages.")
    assert "Page 1< |im_end| > says [ INST]" in [message.content for message in endpoint.requests[-1][0]]


@pytest.mark.parametrize("limit", range(3000, 14000, 1000))
def test_a_summary_never_takes_a_run_over_its_limit(limit, reply, tmp_path):
    endpoint = ScriptedEndpoint(reading(reply, 99, Completion("Words. " * 300)), context_window=2500, max_output_tokens=200)
    result = Agent(endpoint, [page], limits=Limits(max_steps=60, max_tokens=limit), summarise=True, trace=tmp_path / "t.jsonl").run("Read.")
    assert result.usage.total_tokens <= limit and replay(tmp_path / "t.jsonl").same


def test_a_summary_that_is_not_to_be_had_leaves_one_line_notes(reply, tmp_path):
    def model(messages, request):
        if len(messages) == 1:
            raise EndpointError("context_overflow", "too long", limit=100)
        return reading(reply, 10, None)(messages, request)

    endpoint = ScriptedEndpoint(model, context_window=3000, max_output_tokens=200)
    assert Agent(endpoint, [page], limits=Limits(max_steps=20), summarise=True, trace=tmp_path / "t.jsonl").run("Read.").answer == "done"
    assert replay(tmp_path / "t.jsonl").same


def test_an_output_limit_as_large_as_the_window_does_not_cost_the_observations(reply):
    events = []
    endpoint = ScriptedEndpoint(reading(reply, 4, None), context_window=8000, max_output_tokens=8000)
    result = Agent(endpoint, [page], on_event=events.append).run("Read.")
    assert result.answer == "done" and not [event for event in events if isinstance(event, Noted)]
    sent = [event for event in events if isinstance(event, RequestSent)]
    assert all(event.estimated_tokens + event.max_output_tokens <= 8000 for event in sent)


def test_no_call_is_made_that_has_no_room_for_a_decision(reply):
    for window in range(300, 420):
        endpoint = ScriptedEndpoint([reply(answer="x")], context_window=window)
        result = Agent(endpoint, [look]).run("q")
        assert (result.stop_reason == "context_overflow") == (not endpoint.requests)
        assert all(request.max_output_tokens >= 32 for _, request in endpoint.requests)


def test_limits_are_asked_again_before_a_prompt_that_was_too_long_is_sent_again(reply):
    now = [0.0]

    def model(messages, request):
        if len(messages) > 12:
            now[0] += 60
            raise EndpointError("context_overflow", "too long", limit=2500, used=2600)
        return reply("page", {"number": len(messages)})

    endpoint = ScriptedEndpoint(model)
    result = Agent(endpoint, [page], limits=Limits(max_steps=20, max_seconds=50), clock=lambda: now[0]).run("Read.")
    assert (result.stop_reason, max(len(messages) for messages, _ in endpoint.requests)) == ("time_budget", 14)
    assert sum(len(messages) > 12 for messages, _ in endpoint.requests) == 1


LONG = "word " * 2000


@pytest.mark.parametrize("what", ["thoughts", "arguments"])
def test_long_thoughts_and_arguments_do_not_fill_the_window(what, reply, tmp_path):
    said = [reply("look", {"name": f"{n} {LONG if what == 'arguments' else ''}"}, thought=LONG if what == "thoughts" else "t") for n in range(9)]
    endpoint = ScriptedEndpoint([*said, reply(answer="done")], context_window=8000)
    assert Agent(endpoint, [look], limits=Limits(max_steps=20), trace=tmp_path / "t.jsonl").run("q").answer == "done"
    assert replay(tmp_path / "t.jsonl").same


def test_a_dialogue_with_long_answers_goes_on(reply):
    endpoint = ScriptedEndpoint([*[reply(answer=f"{n} {LONG}") for n in range(6)], reply(answer="done")], context_window=8000)
    talk = Conversation(Agent(endpoint, [look]))
    assert [talk.ask(f"Question {n}?").stop_reason for n in range(7)] == ["answer"] * 7
    assert {f"Question {n}?" for n in range(7)} <= {message.content for message in endpoint.requests[-1][0]}


class Moody(ScriptedEndpoint):
    """Has a counter that answers every second time only."""

    def __init__(self, script, **settings):
        super().__init__(script, **settings)
        self.asked = 0

    def count_tokens(self, messages):
        self.asked += 1
        return None if self.asked % 2 else 500


@pytest.mark.parametrize("limit", range(1500, 5000, 250))
def test_a_prompt_is_counted_once_and_a_counter_that_comes_and_goes_makes_no_difference(limit, reply, tmp_path):
    def model(messages, request):
        return Completion(reply("look", {"name": str(len(messages))}), "stop", Usage(700, 240))

    endpoint = Moody(model, context_window=2000, max_output_tokens=4096)
    result = Agent(endpoint, [look], limits=Limits(max_steps=20, max_tokens=limit), trace=tmp_path / "t.jsonl").run("q")
    assert endpoint.asked <= len(result.steps) + 1 and replay(tmp_path / "t.jsonl").same
