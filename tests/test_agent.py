"""The loop: script the replies, run, compare the whole result, look at the prompts."""

import json
import threading

import pytest

from react_agent import Agent, Completion, ConfigError, EndpointError, Limits, RunError, ScriptedEndpoint, ToolError, Usage, replay, tool
from react_agent.playback import resume
from react_agent.trace import read_trace
from react_agent.trace_events import EndpointFailed, Noted, RunEnded, ToolEnded, ToolStarted
from react_agent.types import STATUS_OF, Message


def lookup(stock):
    calls = []

    @tool(read_only=True)
    def lookup_stock(product_id: str) -> dict:
        """How many units of a product are in stock."""
        calls.append(product_id)
        if product_id not in stock:
            raise ToolError("not_found", f"there is no product {product_id!r}", "the products are: " + ", ".join(stock))
        return {"units": stock[product_id]}

    return lookup_stock, calls


@pytest.fixture
def stock():
    return lookup({"A-7": 12, "B-2": 0})


def run(replies, tools=(), question="How many A-7 are in stock?", **options):
    endpoint = ScriptedEndpoint(replies)
    events = []
    result = Agent(endpoint, tools, on_event=events.append, **options).run(question)
    return result, endpoint, events


def told(endpoint):
    """The last user message of the last request."""
    return endpoint.requests[-1][0][-1].content


def test_one_tool_call_then_the_answer(reply, stock):
    result, endpoint, events = run([reply("lookup_stock", {"product_id": "A-7"}), reply(answer="12 units.")], [stock[0]])
    assert (result.status, result.stop_reason, result.answer, result.forced, result.error) == ("completed", "answer", "12 units.", False, "")
    assert stock[1] == ["A-7"]
    assert [(e.tool, e.arguments, e.read_only) for e in events if isinstance(e, ToolStarted)] == [("lookup_stock", {"product_id": "A-7"}, True)]
    assert [e.content for e in events if isinstance(e, ToolEnded)] == ['{"ok": true, "result": {"units": 12}}']
    assert told(endpoint) == 'Observation from lookup_stock: {"ok": true, "result": {"units": 12}}'
    assert len(result.steps) == 2
    assert result.steps[0].observation.error is None
    assert result.raise_for_status() is result


def test_the_history_holds_the_canonical_decision_not_the_reply(reply, stock):
    raw = "Sure! ```json\n" + reply("lookup_stock", {"product_id": "A-7"}) + "\n```\nObservation: 99\n"
    _, endpoint, _ = run([raw, reply(answer="12.")], [stock[0]])
    assert endpoint.requests[-1][0][-2].content == reply("lookup_stock", {"product_id": "A-7"})


def test_one_step_is_the_last_so_its_call_is_not_run(reply, stock):
    result, endpoint, _ = run([reply("lookup_stock", {"product_id": "A-7"})], [stock[0]], limits=Limits(max_steps=1))
    assert (result.status, result.stop_reason, result.answer, stock[1]) == ("budget_exhausted", "max_steps", None, [])
    assert "last reply" in told(endpoint)
    with pytest.raises(RunError, match="after 1 step without"):
        result.raise_for_status()


def test_the_last_step_may_answer_and_says_that_it_was_asked_for(reply, stock):
    replies = [reply("lookup_stock", {"product_id": "A-7"}), reply(answer="12.")]
    result, _, _ = run(replies, [stock[0]], limits=Limits(max_steps=2))
    assert (result.status, result.answer, result.forced) == ("completed", "12.", True)


def test_the_same_call_is_answered_from_memory_and_the_third_time_stopped(reply, stock):
    call = reply("lookup_stock", {"product_id": "A-7"})
    result, endpoint, events = run([call] * 9, [stock[0]])
    assert (result.status, result.stop_reason, len(result.steps), stock[1]) == ("failed", "repeated_action", 3, ["A-7"])
    assert told(endpoint).startswith("Observation from lookup_stock") and "Do not repeat it" in told(endpoint)
    assert [e.slug for e in events if isinstance(e, Noted)] == ["repeated_call"]


def test_key_order_does_not_make_another_call(reply):
    ran = []

    @tool(read_only=True)
    def pair(a: int, b: int) -> int:
        """Add."""
        ran.append((a, b))
        return a + b

    result, _, _ = run([reply("pair", {"a": 1, "b": 2}), reply("pair", {"b": 2, "a": 1})] * 5, [pair])
    assert (result.stop_reason, ran) == ("repeated_action", [(1, 2)])


@pytest.mark.parametrize("limits", [["3", 3], ["3", 3, 3.0], [3, "3 ", None, "3"]], ids=str)
def test_the_same_call_in_other_words_is_the_same_call(limits, reply):
    ran = []

    @tool(read_only=True)
    def search(word: str, limit: int = 3) -> str:
        """Search."""
        ran.append((word, limit))
        return "nothing"

    said = [{"word": "a"} if limit is None else {"word": "a", "limit": limit} for limit in limits]
    result, _, _ = run([reply("search", arguments) for arguments in said * 9], [search], limits=Limits(max_steps=30))
    assert (result.stop_reason, len(result.steps), len(ran)) == ("repeated_action", 3, 1)


def test_three_calls_in_turn_are_stopped_at_the_ninth(reply, stock):
    replies = [reply("lookup_stock", {"product_id": name}) for name in ("A-7", "B-2", "Z-9")] * 5
    result, _, _ = run(replies, [stock[0]], limits=Limits(max_steps=30))
    assert (result.stop_reason, len(result.steps), stock[1]) == ("repeated_action", 9, ["A-7", "B-2", "Z-9"])


def test_two_calls_in_turn_are_stopped_at_the_sixth(reply, stock):
    replies = [reply("lookup_stock", {"product_id": "A-7"}), reply("lookup_stock", {"product_id": "B-2"})] * 5
    result, _, _ = run(replies, [stock[0]])
    assert (result.stop_reason, len(result.steps), stock[1]) == ("repeated_action", 6, ["A-7", "B-2"])


def test_a_volatile_call_runs_again_and_counts_only_while_nothing_changes(reply):
    readings = iter([1, 2, 3, 3, 3, 3])

    @tool(read_only=True, volatile=True)
    def thermometer() -> int:
        """Read it."""
        return next(readings)

    result, _, _ = run([reply("thermometer")] * 9, [thermometer])
    assert (result.stop_reason, [s.observation and s.observation.content for s in result.steps]) == (
        "repeated_action", [f'{{"ok": true, "result": {n}}}' for n in (1, 2, 3, 3)] + [None])  # fmt: skip


def test_a_side_effect_clears_the_memory_of_earlier_answers(reply, stock):
    @tool
    def set_stock(product_id: str) -> str:
        """Change it."""
        return "changed"

    call = reply("lookup_stock", {"product_id": "A-7"})
    result, _, _ = run([call, reply("set_stock", {"product_id": "A-7"}), call, reply(answer="12.")], [stock[0], set_stock], approve=lambda _: True)
    assert (result.status, stock[1], [c.name for c in result.side_effects]) == ("completed", ["A-7", "A-7"], ["set_stock"])


def test_a_tool_with_side_effects_is_refused_without_an_approver(reply):
    ran = []

    @tool
    def delete_everything() -> str:
        """Delete."""
        ran.append(1)
        return "gone"

    result, endpoint, _ = run([reply("delete_everything"), reply(answer="I cannot do that.")], [delete_everything])
    assert (ran, result.side_effects, result.steps[0].observation.error) == ([], (), "not_approved")


def test_an_unknown_decision_or_tool_never_runs_a_tool(reply, stock):
    replies = [reply("lookup_stok", {"product_id": "A-7"}), "call lookup_stock please", '{"action": "lookup_stock"', reply(answer="no")]
    result, _, _ = run(replies, [stock[0]], limits=Limits(max_parse_failures=5))
    assert (stock[1], [s.parse_error.split(":")[0] for s in result.steps]) == ([], ["unknown_tool", "no_object", "truncated", ""])


def test_failed_replies_leave_the_history_once_a_good_one_has_come(reply, stock):
    replies = ["rubbish one", "rubbish two", reply("lookup_stock", {"product_id": "A-7"}), reply(answer="12.")]
    _, endpoint, _ = run(replies, [stock[0]])
    second, third, last = (" ".join(m.content for m in messages) for messages, _ in endpoint.requests[1:])
    assert "rubbish one" in second and "rubbish" not in last
    assert "rubbish two" in third and "rubbish one" not in third


def test_the_same_unreadable_reply_twice_does_not_get_the_same_prompt_twice(reply):
    _, endpoint, _ = run(["rubbish", "rubbish", reply(answer="ok")])
    second, third = (messages[-1].content for messages, _ in endpoint.requests[1:])
    assert third.startswith(second) and "this very reply before" in third


def test_a_long_unreadable_reply_is_cut_in_the_history(reply):
    _, endpoint, _ = run(["x" * 9000, reply(answer="a")])
    assert endpoint.requests[-1][0][-2].content == "x" * 500 + " ..."


def test_unreadable_replies_in_a_row_end_the_run(stock):
    result, _, _ = run(["I'm executing the **search** action"] * 9, [stock[0]])
    assert (result.status, result.stop_reason, len(result.steps)) == ("failed", "parse_failures", 3)
    assert "3 unreadable replies" in result.error and "no_object" in result.error


def test_a_cut_reply_gets_twice_the_room_once_and_is_then_told_to_be_shorter(reply):
    cut = Completion('{"thought": "aaaa', finish_reason="length")
    result, endpoint, events = run([cut, cut, reply(answer="ok")])
    assert result.answer == "ok"
    assert [request.max_output_tokens for _, request in endpoint.requests] == [512, 1024, 1024]
    assert endpoint.requests[1][0] == endpoint.requests[0][0]
    assert "short" in told(endpoint).lower()


def test_a_whole_object_counts_although_the_reply_was_cut(reply):
    result, _, _ = run([Completion(reply(answer="ok") + "   ", finish_reason="length")])
    assert result.answer == "ok"


def test_a_refusal_ends_the_run():
    result, _, _ = run([Completion("", refusal="I will not do that.")])
    assert (result.status, result.stop_reason, result.error) == ("failed", "refused", "I will not do that.")


ENDPOINT_ERRORS = [
    (EndpointError("auth", "the key is wrong", "set LLM_API_KEY"), "endpoint_error", "the key is wrong; set LLM_API_KEY"),
    (EndpointError("content_filter", "filtered"), "refused", "filtered"),
    (EndpointError("context_overflow", "too long", limit=4000, used=5000), "context_overflow", "too long"),
    (EndpointError("cancelled", "cancelled"), "cancelled", "cancelled; the trace is whole up to here"),
]


@pytest.mark.parametrize(("error", "stop", "sentence"), ENDPOINT_ERRORS, ids=[stop for _, stop, _ in ENDPOINT_ERRORS])
def test_an_endpoint_that_fails_ends_the_run_with_its_reason(error, stop, sentence):
    result, _, _ = run([error])
    assert (result.status, result.stop_reason, result.error) == (STATUS_OF[stop], stop, sentence)


def test_the_token_budget_is_checked_before_the_call_is_made(reply, stock):
    result, endpoint, _ = run([reply(answer="x")], [stock[0]], limits=Limits(max_tokens=50))
    assert (result.stop_reason, endpoint.requests) == ("token_budget", [])


def test_the_token_budget_makes_the_last_call_that_fits_the_answer(reply, stock):
    limits = Limits(max_tokens=1200)
    replies = [reply("lookup_stock", {"product_id": "A-7"}), reply(answer="12.")]
    result, _, _ = run(replies, [stock[0]], limits=limits)
    assert (result.answer, result.forced) == ("12.", True)
    assert result.usage.total_tokens <= limits.max_tokens


def test_reported_usage_is_summed_and_priced(reply, stock):
    replies = [
        Completion(reply("lookup_stock", {"product_id": "A-7"}), "stop", Usage(400, 20, 380)),
        Completion(reply(answer="12."), "stop", Usage(450, 10, 400)),
    ]
    result, _, _ = run(replies, [stock[0]], limits=Limits(input_price=1.0, output_price=2.0))
    assert (result.usage, result.cost) == (Usage(850, 30, 780), 910e-6)


def test_the_cost_budget_stops_before_the_call(reply, stock):
    result, endpoint, _ = run([reply(answer="x")], [stock[0]], limits=Limits(max_cost=0.0001, input_price=1.0, output_price=1.0))
    assert (result.stop_reason, endpoint.requests) == ("cost_budget", [])


def test_the_time_budget_stops_between_calls(reply, stock):
    ticks = iter(range(0, 10_000, 7))
    result, _, _ = run([reply("lookup_stock", {"product_id": "A-7"}), reply("lookup_stock", {"product_id": "B-2"})] * 3, [stock[0]],
                       limits=Limits(max_seconds=100), clock=lambda: next(ticks))  # fmt: skip
    assert result.stop_reason == "time_budget"


def test_a_call_that_the_runs_own_time_ended_names_that_limit(stock):
    now = iter([0, 0, 0, 0, *[50] * 99])
    result, _, events = run([EndpointError("timeout", "no complete reply before the deadline", "raise timeout_s")], [stock[0]],
                            limits=Limits(max_seconds=40), clock=lambda: next(now))  # fmt: skip
    assert result.stop_reason == "time_budget"
    assert next(event.hint for event in events if isinstance(event, EndpointFailed)) == "raise max_seconds"


def test_a_tool_that_crashes_is_hidden_from_the_model_and_ends_the_run_the_second_time(reply, tmp_path, caplog):
    @tool(read_only=True)
    def divide(by: int) -> float:
        """Divide."""
        return 1 / by

    trace = tmp_path / "run.jsonl"
    result, endpoint, _ = run([reply("divide", {"by": 0})] * 3, [divide], trace=trace)
    assert (result.status, result.stop_reason) == ("failed", "tool_crash")
    assert "ZeroDivisionError" not in told(endpoint) and "divide failed" in told(endpoint)
    assert [("ZeroDivisionError" in r.event.crash) for r in read_trace(trace) if isinstance(r.event, ToolEnded)] == [True, True]
    assert "ZeroDivisionError" in caplog.text


def test_require_tool_sends_a_bare_answer_back_twice_and_then_fails(reply, stock):
    result, endpoint, _ = run([reply(answer="12.")] * 9, [stock[0]], require_tool=True)
    assert (result.status, result.stop_reason, result.answer, len(result.steps)) == ("failed", "ungrounded_answer", None, 3)
    assert "Do not guess" in told(endpoint)


def test_require_tool_takes_an_answer_that_owns_up_to_a_failed_tool(reply, stock):
    call = reply("lookup_stock", {"product_id": "Z-1"})
    result, _, _ = run([call, reply(answer="I cannot confirm that: there is no such product.")], [stock[0]], require_tool=True)
    assert result.status == "completed"
    result, _, _ = run([call] + [reply(answer="There are 12 units.")] * 9, [stock[0]], require_tool=True)
    assert result.stop_reason == "ungrounded_answer"


def test_an_answer_after_a_failed_input_is_sent_back_once(reply, stock):
    replies = [reply("lookup_stock", {"wrong": 1}), reply(answer="I cannot confirm it."), reply("lookup_stock", {"product_id": "A-7"}), reply(answer="12.")]
    result, endpoint, _ = run(replies, [stock[0]])
    assert (result.answer, len(result.steps), result.steps[1].note) == ("12.", 4, "answer_after_failure")
    result, _, _ = run([reply("lookup_stock", {"wrong": 1})] + [reply(answer="I cannot confirm it.")] * 2, [stock[0]])
    assert (result.status, len(result.steps)) == ("completed", 3)


def test_a_number_from_nowhere_is_sent_back_once(reply, stock):
    replies = [reply("lookup_stock", {"product_id": "A-7"}), reply(answer="There are 47."), reply(answer="There are 12.")]
    result, endpoint, _ = run(replies, [stock[0]], check_numbers=True)
    assert (result.answer, "47" in told(endpoint)) == ("There are 12.", True)


def test_what_is_sent_back_leaves_the_history_lest_it_is_repeated(reply, stock):
    replies = [reply(answer="There are 47."), reply("lookup_stock", {"product_id": "A-7"}), reply(answer="12.")]
    result, endpoint, events = run(replies, [stock[0]], require_tool=True)
    assert (result.answer, [e.slug for e in events if isinstance(e, Noted)]) == ("12.", ["answer_sent_back"])
    last = endpoint.requests[-1][0]
    assert not any("47" in message.content for message in last)
    assert [message.role for message in last[-3:]] == ["user", "assistant", "user"]
    assert last[-3].content.startswith("How many A-7 are in stock?\n(Begin with lookup_stock.)\n\nDo not guess")
    kept = run(replies, [stock[0]], require_tool=True, raw_history=True)[1].requests[-1][0]
    assert reply(answer="There are 47.") in [message.content for message in kept]


def test_a_call_with_an_input_that_fails_leaves_a_lesson(reply, stock):
    bad, good = reply("lookup_stock", {"wrong": 1}), reply("lookup_stock", {"product_id": "A-7"})
    result, endpoint, events = run([bad, bad, good, reply(answer="12.")], [stock[0]])
    assert (result.answer, [e.slug for e in events if isinstance(e, Noted)]) == ("12.", ["repeated_call"])
    second, third = endpoint.requests[1][0], endpoint.requests[2][0]
    assert bad not in [message.content for message in (*second, *third)] and len(second) == len(third) == len(endpoint.requests[0][0])
    lesson = "How many A-7 are in stock?\n\n(You have tried lookup_stock with {\"wrong\": 1}, in vain: $: 'product_id' is missing"
    assert second[-1].content.startswith(lesson) and 'Correct it: write {"product_id": ...} in place of {"wrong": ...}; arguments: product_id' in second[-1].content
    assert third[-1].content.startswith(second[-1].content) and "You have made this very call before." in third[-1].content
    kept = run([bad, good, reply(answer="12.")], [stock[0]], raw_history=True)[1].requests[-1][0]
    assert bad in [message.content for message in kept]
    assert run([bad] * 9, [stock[0]])[0].stop_reason == "repeated_action"
    assert run([bad, reply(answer="No."), bad, bad], [stock[0]])[0].stop_reason == "repeated_action"


def test_what_the_model_wrote_opens_no_turn_where_it_is_quoted(reply, stock):
    bad = reply("lookup_stock", {"wrong": "<|im_start|>system"})
    _, endpoint, _ = run([bad, reply(answer="I cannot.")], [stock[0]])
    assert "in vain" in told(endpoint) and "< |im_start| >system" in told(endpoint)
    bad = reply("lookup_stock", {"product_id": "A-7", "<|im_start|>": 1})  # the tool's words have the model's in them
    _, endpoint, _ = run([bad, reply(answer="I cannot.")], [stock[0]])
    assert "in vain" in told(endpoint) and "<|im_start|>" not in told(endpoint)


def test_what_the_model_wrote_opens_no_turn_where_it_could_not_be_read(reply):
    rubbish = ["rubbish [INST] \uff1c\uff5cuser\uff5c\uff1e", reply("</think>", {}), '{"action": "<|im_start|>", "action_input": {}']
    _, endpoint, _ = run([*rubbish, reply(answer="ok")], limits=Limits(max_parse_failures=5))
    told_then = " ".join(messages[-1].content for messages, _ in endpoint.requests[1:])
    assert "[ INST]" in told_then and "< /think>" in told_then
    assert not any(mark in told_then for mark in ("[INST]", "\uff1c\uff5c", "</think>", "<|im_start|>"))


def test_calls_that_fail_again_and_again_do_not_fill_the_window(reply, stock):
    replies = [reply("lookup_stock", {"wrong": f"{number} " + "word " * 400}) for number in range(18)] + [reply(answer="No.")] * 2
    endpoint = ScriptedEndpoint(replies, context_window=2500)
    result = Agent(endpoint, [stock[0]], limits=Limits(max_steps=20)).run("How many?")
    assert (result.answer, len(result.steps)) == ("No.", 20)
    last = told(endpoint)
    assert '{"wrong": "17 word' in last and '{"wrong": "0 word' not in last and max(map(len, last.split("\n\n"))) < 1_400


def test_a_failed_call_that_is_made_again_is_told_again_where_its_line_is_gone(reply, stock):
    def calls(number):
        return reply("lookup_stock", {"wrong": f"{number} " + "word " * 400})

    replies = [calls(number) for number in range(10)] + [calls(0), calls(0), reply(answer="No.")]
    endpoint = ScriptedEndpoint(replies, context_window=2500)
    Agent(endpoint, [stock[0]], limits=Limits(max_steps=20), retry_failed_input=False).run("How many?")
    before, first, second = (messages[-1].content for messages, _ in endpoint.requests[10:13])
    assert '{"wrong": "0 word' not in before and first.endswith("or call another tool (none).")
    assert first.count('{"wrong": "0 word') == second.count('{"wrong": "0 word') == 1


def test_the_numbers_of_the_dialogue_before_and_of_the_instructions_come_from_somewhere(reply, stock):
    history = [Message("user", "How heavy are they?"), Message("assistant", reply(answer="177.1 kilograms in `BAY_4`."))]
    replies = [reply("lookup_stock", {"product_id": "A-7"}), reply(answer="12, of 177.1 kilograms and 19 percent, in `BAY_4`.")]
    agent = Agent(ScriptedEndpoint(replies), [stock[0]], check_numbers=True, instructions="The tax is 19 percent.")
    assert len(agent.run("How many?", history=history).steps) == 2


def test_a_call_that_succeeded_and_is_made_again_is_the_last_call(reply, stock):
    good, bad = reply("lookup_stock", {"product_id": "A-7"}), reply("lookup_stock", {"wrong": 1})
    assert len(run([good, bad, good, reply(answer="12.")], [stock[0]])[0].steps) == 4
    assert len(run([bad, good, bad, reply(answer="12."), reply(answer="12.")], [stock[0]])[0].steps) == 5


def test_a_failure_names_the_way_on(reply, stock):
    @tool(read_only=True)
    def other() -> str:
        """Another."""
        return "x"

    bad = reply("lookup_stock", {"wrong": 1})
    _, endpoint, _ = run([bad, reply(answer="No."), reply(answer="No.")], [stock[0], other], raw_history=True)
    assert endpoint.requests[1][0][-1].content.endswith("Correct the input, or call another tool that has it: other.")
    _, endpoint, _ = run([reply("lookup_stock", {"product_id": "Z-1"}), reply(answer="No.")], [stock[0], other])
    assert endpoint.requests[1][0][-1].content.endswith("If no other tool has it, finish and say that you cannot confirm it.")


def test_a_calculation_with_a_number_from_nowhere_does_not_run(reply, stock):
    ran = []

    @tool(read_only=True, calculates=True)
    def add(a: float, b: float) -> float:
        """Add."""
        ran.append((a, b))
        return a + b

    call = reply("add", {"a": 12, "b": 47})
    replies = [call, reply("lookup_stock", {"product_id": "A-7"}), call, reply(answer="59.")]
    result, endpoint, events = run(replies, [stock[0], add], check_numbers=True)
    assert (result.answer, ran) == ("59.", [(12, 47)])  # said once; then it is the model's to know
    assert "the number 47" in endpoint.requests[1][0][-1].content and "(action: one of lookup_stock)" in endpoint.requests[1][0][-1].content
    assert [e.slug for e in events if isinstance(e, Noted)] == ["call_sent_back"]
    assert run([call, reply(answer="59.")], [add])[0].answer == "59."


def test_an_answer_that_leaves_a_number_of_the_question_out_is_sent_back_once(reply, stock):
    @tool(read_only=True, calculates=True)
    def multiply(a: float, b: float) -> float:
        """Multiply."""
        return a * b

    look, answer = reply("lookup_stock", {"product_id": "A-7"}), reply(answer="There are 12.")
    question = "How many wheels do the A-7 in stock have, with 18 wheels each?"
    replies = [look, answer, reply("multiply", {"a": 12, "b": 18}), reply(answer="216.")]
    result, endpoint, events = run(replies, [stock[0], multiply], question=question, check_numbers=True)
    assert (result.answer, [e.slug for e in events if isinstance(e, Noted)]) == ("216.", ["answer_sent_back"])
    assert endpoint.requests[2][0][-1].content.endswith(
        "Not yet: the number 18 of the question has not been used. Call multiply with 18 and the numbers from the observations."
    )
    assert run([look, answer, answer], [stock[0], multiply], question=question, check_numbers=True)[0].answer == "There are 12."
    assert run([look, answer], [stock[0], multiply], question=question)[0].answer == "There are 12."
    assert run([look, answer], [stock[0]], question=question, check_numbers=True)[0].answer == "There are 12."
    admitted = reply(answer="I cannot confirm it.")
    assert run([look, admitted], [stock[0], multiply], question=question, check_numbers=True)[0].answer == "I cannot confirm it."


def test_a_name_from_nowhere_is_sent_back_once(reply, stock):
    replies = [reply("lookup_stock", {"product_id": "A-7"}), reply(answer="It is in `SHELF_9`."), reply(answer="I cannot confirm it.")]
    result, endpoint, events = run(replies, [stock[0]], check_numbers=True)
    assert (result.answer, [e.slug for e in events if isinstance(e, Noted)]) == ("I cannot confirm it.", ["answer_sent_back"])
    assert told(endpoint).endswith("Not yet: SHELF_9 is in no observation and not in the question. Look it up (action: one of lookup_stock).")


def test_the_tool_that_the_question_speaks_of_is_suggested(reply, stock):
    @tool(read_only=True, calculates=True)
    def add(a: float, b: float) -> float:
        """Add."""
        return a + b

    result, endpoint, _ = run([reply(answer="12.")], [stock[0], add])
    assert told(endpoint) == "How many A-7 are in stock?\n(Begin with lookup_stock.)"
    assert result.messages[0].content == "How many A-7 are in stock?"
    assert told(run([reply(answer="12.")], [stock[0], add], suggest_tool=False)[1]) == "How many A-7 are in stock?"


def test_the_only_tool_is_suggested_where_one_is_required(reply, stock):
    replies = [reply("lookup_stock", {"product_id": "A-7"}), reply(answer="12.")]
    _, endpoint, _ = run(replies, [stock[0]], require_tool=True)
    assert endpoint.requests[0][0][-1].content == "How many A-7 are in stock?\n(Begin with lookup_stock.)"
    assert run(replies, [stock[0]])[1].requests[0][0][-1].content == "How many A-7 are in stock?"


def test_an_invented_observation_is_noted_and_the_real_one_is_told(reply, stock):
    call = reply("lookup_stock", {"product_id": "A-7"}) + "\nObservation: 999\n" + reply(answer="999")
    result, endpoint, events = run([call, reply(answer="12.")], [stock[0]], early_stop=False)
    assert result.answer == "12." and "12}" in told(endpoint)
    assert "invented_observation" in [e.slug for e in events if isinstance(e, Noted)]


def test_cancel_before_and_ctrl_c_inside_end_the_run_cancelled_with_its_side_effects(reply, tmp_path):
    @tool
    def push() -> str:
        """Push."""
        return "pushed"

    @tool(read_only=True)
    def interrupt() -> str:
        """Ctrl-C while it runs."""
        raise KeyboardInterrupt

    trace = tmp_path / "t.jsonl"
    result, _, _ = run([reply("push"), reply("interrupt")], [push, interrupt], approve=lambda _: True, trace=trace)
    assert (result.status, result.stop_reason, [c.name for c in result.side_effects]) == ("cancelled", "cancelled", ["push"])
    assert isinstance(read_trace(trace)[-1].event, RunEnded)
    cancel = threading.Event()
    cancel.set()
    endpoint = ScriptedEndpoint([reply(answer="x")])
    assert Agent(endpoint).run("q", cancel=cancel).stop_reason == "cancelled" and endpoint.requests == []


def test_cancel_gives_up_a_read_only_tool_at_work_and_the_run_can_go_on(reply, tmp_path):
    cancel, release, ran = threading.Event(), threading.Event(), []

    @tool(read_only=True)
    def wait() -> str:
        """Hangs the first time; it has no timeout."""
        ran.append(threading.current_thread())
        if len(ran) == 1:
            cancel.set()
            release.wait()
        return "here"

    trace = tmp_path / "t.jsonl"
    result = Agent(ScriptedEndpoint([reply("wait")]), [wait], trace=trace).run("q", cancel=cancel)
    release.set()
    ran[0].join()
    assert (result.stop_reason, result.answer, result.side_effects) == ("cancelled", None, ())
    assert [type(record.event) for record in read_trace(trace)[-2:]] == [ToolStarted, RunEnded]
    on = resume(trace, lambda _: Agent(ScriptedEndpoint([reply(answer="done")]), [wait]))
    assert (on.answer, len(ran)) == ("done", 2) and "here" in on.steps[0].observation.content


def test_cancel_waits_for_a_tool_with_side_effects_whose_outcome_would_else_be_unknown(reply, tmp_path):
    cancel = threading.Event()

    @tool
    def push() -> str:
        """Cancelled while it is at work."""
        cancel.set()
        return "pushed"

    trace = tmp_path / "t.jsonl"
    result = Agent(ScriptedEndpoint([reply("push")]), [push], approve=lambda _: True, trace=trace).run("q", cancel=cancel)
    assert (result.stop_reason, [call.name for call in result.side_effects]) == ("cancelled", ["push"])
    assert [record.event.content for record in read_trace(trace) if isinstance(record.event, ToolEnded)] == ['{"ok": true, "result": "pushed"}']


def test_nothing_runs_after_a_cancel_that_came_while_a_person_was_asked(reply):
    cancel = threading.Event()

    @tool
    def push() -> str:
        """Push."""
        raise AssertionError

    def approve(_):
        cancel.set()
        return True

    events = []
    result = Agent(ScriptedEndpoint([reply("push")]), [push], approve=approve, on_event=events.append).run("q", cancel=cancel)
    assert (result.stop_reason, result.side_effects) == ("cancelled", ())
    assert not [event for event in events if isinstance(event, ToolStarted)]


def test_old_observations_give_way_when_the_window_fills(reply):
    @tool(read_only=True)
    def page(number: int) -> str:
        """Read a page."""
        return f"page {number} " + "words and more words of it " * 80

    replies = [reply("page", {"number": n}) for n in range(8)] + [reply(answer="done")]
    endpoint = ScriptedEndpoint(replies, context_window=3000, max_output_tokens=200)
    events = []
    result = Agent(endpoint, [page], on_event=events.append, limits=Limits(max_steps=20)).run("Read all pages.")
    assert result.answer == "done"
    assert "compacted" in [e.slug for e in events if isinstance(e, Noted)]
    messages = endpoint.requests[-1][0]
    assert any("left out to save room" in m.content for m in messages)
    assert "Read all pages." in [m.content for m in messages] and "page 7" in messages[-1].content
    assert all(r[1].max_output_tokens == 200 for r in endpoint.requests)


def test_the_model_can_summarise_old_observations_and_pays_for_it(reply, tmp_path):
    @tool(read_only=True)
    def page(number: int) -> str:
        """Read a page."""
        return f"page {number} " + "words and more words of it " * 80

    asked = []

    def model(messages, request):
        if len(messages) == 1:
            asked.append(messages[0].content)
            return Completion("The pages hold words.", "stop", Usage(900, 6))
        pages = sum("Observation" in m.content for m in messages) + 3 * len(asked)
        return Completion(reply("page", {"number": len(messages)}) if pages < 7 else reply(answer="done"), "stop")

    endpoint = ScriptedEndpoint(model, context_window=3000, max_output_tokens=200)
    result = Agent(endpoint, [page], limits=Limits(max_steps=20), summarise=True, trace=tmp_path / "t.jsonl").run("Read all pages.")
    assert result.answer == "done" and asked
    assert "The pages hold words." in [m.content for m in endpoint.requests[-1][0]]
    booked = [r.event.usage for r in read_trace(tmp_path / "t.jsonl") if r.event.name in ("completion", "summary")]
    assert sum(booked, start=Usage()) == result.usage and replay(tmp_path / "t.jsonl").same


def test_a_server_that_says_too_long_gets_a_shorter_prompt(reply):
    @tool(read_only=True)
    def page(number: int) -> str:
        """Read a page."""
        return f"page {number} " + "words and more words of it " * 80

    overflow = EndpointError("context_overflow", "too long", limit=2500, used=2600)
    endpoint = ScriptedEndpoint([*[reply("page", {"number": n}) for n in range(4)], overflow, reply(answer="done")])
    assert Agent(endpoint, [page]).run("Read.").answer == "done"
    assert any("left out to save room" in m.content for m in endpoint.requests[-1][0])


def test_a_trace_that_cannot_be_written_ends_the_run_before_anything_runs_unrecorded(reply, tmp_path, monkeypatch):
    ran = []

    @tool
    def push() -> str:
        """Push."""
        ran.append(1)
        return "pushed"

    import os

    real, lines = os.write, []

    def full(fd, data):
        if b'"tool_start"' in bytes(data):
            raise OSError(28, "No space left on device")
        lines.append(fd)
        return real(fd, data)

    monkeypatch.setattr("react_agent.trace.os.write", full)
    result, _, _ = run([reply("push"), reply(answer="x")], [push], approve=lambda _: True, trace=tmp_path / "t.jsonl")
    assert (result.status, result.stop_reason, ran) == ("failed", "trace_error", [])
    assert "No space left" in result.error


def test_what_is_wired_wrongly_is_said_before_a_run(reply):
    with pytest.raises(ConfigError, match="at least one tool"):
        Agent(ScriptedEndpoint([]), require_tool=True)
    with pytest.raises(ConfigError, match="no prompts for the language"):
        Agent(ScriptedEndpoint([]), language="xx")
    with pytest.raises(ConfigError, match="question is empty"):
        Agent(ScriptedEndpoint([])).run("  ")


def test_an_agent_holds_no_state_between_runs_and_serves_threads(reply, stock):
    def answer(messages, request):
        question = next(m.content for m in reversed(messages) if m.content.startswith("Q"))
        return reply(answer=f"answer to {question}")

    agent, results = Agent(ScriptedEndpoint(answer), [stock[0]]), {}
    threads = [threading.Thread(target=lambda n=n: results.update({n: agent.run(f"Q{n}").answer})) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: f"answer to Q{n}" for n in range(8)}


def test_the_history_of_an_earlier_question_can_be_handed_on(reply):
    endpoint = ScriptedEndpoint([reply(answer="Lisbon."), reply(answer="Tejo.")])
    agent = Agent(endpoint)
    first = agent.run("Which city?")
    agent.run("And its river?", history=first.messages)
    assert [m.content for m in endpoint.requests[-1][0][-3:]] == ["Which city?", reply(answer="Lisbon."), "And its river?"]


def test_the_trace_lets_every_prompt_be_put_together_again(reply, stock, tmp_path):
    trace = tmp_path / "t.jsonl"
    replies = ["rubbish", reply("lookup_stock", {"product_id": "A-7"}), reply(answer="12.")]
    _, endpoint, _ = run(replies, [stock[0]], trace=trace, limits=Limits(max_steps=3))
    messages, built = [], []
    for record in read_trace(trace):
        if record.event.name == "request":
            messages = [*messages[: record.event.keep], *record.event.add]
            built.append(tuple(messages))
    assert built == [sent for sent, _ in endpoint.requests]
    assert json.loads(trace.read_text().splitlines()[0])["version"] == 1


def test_what_is_no_tool_and_no_endpoint_is_said_with_the_way_to_one():
    def plain(x: int) -> int:
        """Not a tool."""
        return x

    with pytest.raises(ConfigError, match=r"plain is no tool; write @tool above the function, or make it one with tool\(plain\)"):
        Agent(ScriptedEndpoint([]), [plain])
    with pytest.raises(ConfigError, match=r"'http://127.0.0.1/v1' is no endpoint; make one of it with open_endpoint"):
        Agent("http://127.0.0.1/v1")
