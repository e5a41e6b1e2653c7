"""An endpoint of the user's that breaks its promise: the run ends for a stated reason all the same, with a trace that is whole."""

import pytest

from react_agent import Agent, Completion, ConfigError, Limits, ScriptedEndpoint, ToolError, Usage, replay, tool
from react_agent.agent_endpoint import SafeEndpoint
from react_agent.trace import read_trace
from react_agent.trace_events import RunEnded


@tool(read_only=True)
def look(name: str) -> str:
    """Look."""
    return name


class Broken(ScriptedEndpoint):
    """Returns, or raises, whatever it was made with."""

    def __init__(self, outcome, **settings):
        super().__init__([], **settings)
        self.outcome = outcome

    def complete(self, messages, request):
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


def run(endpoint, tmp_path, **options):
    """The result; the trace has one end and replays without a difference."""
    trace = tmp_path / "t.jsonl"
    result = Agent(endpoint, [look], trace=trace, **options).run("Where?")
    assert [isinstance(record.event, RunEnded) for record in read_trace(trace)].count(True) == 1
    assert replay(trace).same
    return result


FAULTS = [
    (ValueError("boo"), "failed inside: ValueError: boo"),
    (MemoryError(), "failed inside: MemoryError"),
    (SystemExit(3), "failed inside: SystemExit: 3"),
    (ToolError("busy", "no"), "failed inside: no"),
    (None, "returned NoneType and no Completion"),
    ("text", "returned str and no Completion"),
    (Completion(None), "Completion.text is NoneType and no text"),
    (Completion("x", reasoning=5), "Completion.reasoning is int and no text"),
    (Completion("x", refusal=None), "Completion.refusal is NoneType and no text"),
]


@pytest.mark.parametrize(("outcome", "said"), FAULTS, ids=[repr(outcome)[:40] for outcome, _ in FAULTS])
def test_an_endpoint_that_breaks_its_promise_ends_the_run_as_an_endpoint_error(outcome, said, tmp_path):
    result = run(Broken(outcome), tmp_path)
    assert (result.status, result.stop_reason) == ("failed", "endpoint_error")
    assert said in result.error


ODD = [
    {"finish_reason": "banana"}, {"notes": None}, {"notes": ["a", 5]}, {"closed_early": "yes"}, {"seconds": float("nan")},
    {"usage": {"input_tokens": 3}}, {"usage": Usage(None, None)}, {"usage": Usage(1, 1, "x", -3)},
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_odd_values_beside_the_text_do_no_harm(odd, reply, tmp_path):
    assert run(Broken(Completion(reply(answer="Here."), **odd)), tmp_path).answer == "Here."


@pytest.mark.parametrize("usage", [Usage(0, 0), Usage(-500, -500), Usage(1.5, 2), Usage(10**400, 1), Usage(0, 9), Usage(400, 0), None], ids=str)
def test_tokens_that_cannot_be_counts_or_are_nothing_are_estimated(usage, reply, tmp_path):
    result = run(Broken(Completion(reply(answer="Here."), "stop", usage)), tmp_path)
    assert result.usage.estimated
    assert result.usage.input_tokens > 100 and result.usage.output_tokens > 5


def test_a_server_that_counts_backwards_does_not_fill_the_budget_again(reply, tmp_path):
    def model(messages, request):
        return Completion(reply("look", {"name": str(len(messages))}), "stop", Usage(-500, -500))

    result = run(ScriptedEndpoint(model), tmp_path, limits=Limits(max_steps=100, max_tokens=3000))
    assert (result.stop_reason, result.usage.total_tokens <= 3000) == ("token_budget", True)


class Odd(ScriptedEndpoint):
    def describe(self):
        return {("a", "b"): 1}

    def count_tokens(self, messages):
        raise ValueError("no counter")


def test_what_an_endpoint_cannot_tell_of_itself_is_unknown(reply, tmp_path, caplog):
    assert run(Odd([reply(answer="Here.")], context_window=460), tmp_path).answer == "Here."
    assert read_trace(tmp_path / "t.jsonl")[0].event.endpoint == {"endpoint": "Odd"}
    assert "no counter" in caplog.text


@pytest.mark.parametrize("window", [0, -1, "8192", 3.5, True])
def test_a_window_that_is_no_number_above_nothing_is_unknown(window, reply, tmp_path):
    assert run(ScriptedEndpoint([reply(answer="Here.")], context_window=window), tmp_path).answer == "Here."


@pytest.mark.parametrize("counted", [-5, 0, "x", 3.5, True])
def test_a_count_that_is_no_number_above_nothing_is_unknown(counted):
    endpoint = Broken("")
    endpoint.count_tokens = lambda messages: counted
    assert SafeEndpoint(endpoint).count_tokens([]) is None


@pytest.mark.parametrize("most", [0, -1, None, "512"])
def test_a_reply_without_any_room_is_refused_before_the_run(most, reply):
    with pytest.raises(ConfigError, match="max_output_tokens must be a whole number from 1"):
        Agent(ScriptedEndpoint([], max_output_tokens=most))
