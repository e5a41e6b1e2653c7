"""The three stages by hand: what is decided before a tool runs, what it may do to us while it runs, what the model is told."""

import contextvars
import json
import sys
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.errors import ConfigError, ToolError
from react_agent.registry import Approval, Gate, Outcome, Prepared, Tool, ToolRegistry, tool
from react_agent.types import Observation, ToolCall


@tool(read_only=True)
def find(query: str, limit: int = 3) -> list[str]:
    """Find things."""
    return [f"{query} {number}" for number in range(limit)]


def made(function, *, read_only=True, **flags):
    return Tool("t", "t", {"type": "object", "properties": {}}, function, read_only=read_only, **flags)


def call_of(one, arguments=None, *, gate=None, timeout_s=None) -> Outcome:
    """All three stages of one call that may run."""
    registry, gate = ToolRegistry([one]), gate or Gate(lambda _: True)
    prepared = registry.prepare(ToolCall(one.name, arguments or {}), gate)
    assert isinstance(prepared, Prepared), prepared
    return registry.finalize(prepared, registry.execute(prepared, timeout_s), gate)


def told(observation):
    return json.loads(observation.content)


def test_a_call_from_end_to_end():
    registry, gate = ToolRegistry([find]), Gate()
    prepared = registry.prepare(ToolCall("find", {"query": "a", "limit": "2"}), gate)
    assert prepared == Prepared(find, ToolCall("find", {"query": "a", "limit": 2}), ("limit: '2' -> 2",))
    outcome = registry.finalize(prepared, registry.execute(prepared), gate)
    assert outcome == Outcome(Observation('{"ok": true, "result": ["a 0", "a 1"]}'))
    assert not gate.tainted


DECIDED = [
    (ToolCall("fnd", {}), "unknown_tool", "there is no tool named 'fnd'", "did you mean 'find'? tools: find, other"),
    (ToolCall("FIND", {}), "unknown_tool", "there is no tool named 'FIND'", "did you mean 'find'? tools: find, other"),
    (ToolCall("zzz" * 100, {}), "unknown_tool", f"there is no tool named '{'zzz' * 19}z…", "tools: find, other"),
    (ToolCall("find", {"limit": 3}), "bad_arguments", "$: 'query' is missing", "arguments: query (string, required), limit (integer)"),
    (ToolCall("find", ["a"]), "bad_arguments", "$: the arguments are not an object", 'write them as {"name": value}'),
    (ToolCall("other", {}), "not_approved", "other has side effects and nobody is here to approve it; it was not run",
     "do it without this tool, or answer and say what is left to do"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "slug", "message", "hint"), DECIDED)
def test_what_is_decided_before_anything_runs(call, slug, message, hint):
    def other():
        pytest.fail("it must not run")

    observation = ToolRegistry([find, tool(other)]).prepare(call, Gate())
    assert isinstance(observation, Observation)
    assert observation.error == slug
    assert told(observation) == {"ok": False, "error": {"type": slug, "message": message, "hint": hint}}


@pytest.mark.parametrize(("function", "schema", "error"), [
    (lambda a: a, {"properties": {"a": {}}}, "bad_arguments"),
    (lambda: "", {}, "bad_arguments"),
    (lambda **names: sorted(names), {"properties": {"a": {}}}, None),
    (lambda **names: sorted(names), {"additionalProperties": False}, "bad_arguments"),
    (lambda a, b: b, {"allOf": [{"properties": {"a": {}, "b": {}}}]}, None),
])  # fmt: skip
def test_a_name_that_the_function_does_not_take_is_the_models_mistake_and_no_crash(function, schema, error):
    prepared = ToolRegistry([Tool("t", "t", schema, function, read_only=True)]).prepare(ToolCall("t", {"a": 1, "b": 2}), Gate())
    assert (prepared.error if isinstance(prepared, Observation) else None) == error


def test_a_registry_is_a_collection_of_tools():
    registry = ToolRegistry([find, made(print)])
    assert (registry.names, len(registry), list(registry)) == (("find", "t"), 2, [find, registry.get("t")])
    assert "find" in registry
    assert "none" not in registry
    assert registry.get("none") is None
    assert len(ToolRegistry()) == 0


@pytest.mark.parametrize(("tools", "message"), [
    ([find, find], "two tools are named 'find'; give one of them another name"),
    ([tool(lambda: 1)], "a tool cannot be named '<lambda>'; use letters"),
    ([tool(lambda: 1, name="none")], "a tool cannot be named 'none'"),
    ([tool(lambda: 1, name="two words")], "a tool cannot be named 'two words'"),
    ([tool(lambda: 1, name="x" * 65)], "a tool cannot be named 'xxx"),
    ([made(print, timeout_s=0)], "the timeout_s of tool 't' must be above 0 (or None for no limit), not 0"),
    ([Tool("t", "t", {"type": "array"}, print)], "the parameters of tool 't' must be a schema"),
])  # fmt: skip
def test_a_registry_that_cannot_work_is_a_config_error(tools, message):
    with pytest.raises(ConfigError) as caught:
        ToolRegistry(tools)
    assert str(caught.value).startswith(message)


def circle_of():
    circle = []
    circle.append(circle)
    return circle


def raises(error):
    def function(*_):
        raise error

    return function


def endless():
    return endless()


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class BadText:
    def __str__(self):
        raise RuntimeError("no text")


class Speechless(ToolError):
    def __init__(self):  # ToolError's own is never called, so there is neither a type nor a message
        Exception.__init__(self)


CRASHES = [
    (raises(ValueError("bad value")), "ValueError: bad value"),
    (raises(SystemExit(3)), "SystemExit: 3"),
    (lambda: sys.exit("bye"), "SystemExit: bye"),
    (endless, "RecursionError: "),
    (raises(MemoryError()), "MemoryError"),
    (raises(GeneratorExit()), "GeneratorExit"),
    (raises(Unprintable()), "Unprintable: <exception str() failed>"),
    (raises(BaseException("base")), "BaseException: base"),
    (lambda needed: needed, "TypeError: "),
    (lambda: BadText(), "RuntimeError: no text"),
    (raises(Speechless()), "AttributeError: 'Speechless' object has no attribute 'type'"),
    (raises(ToolError("x", BadText())), "RuntimeError: no text"),
]
CRASHED = {"ok": False, "error": {"type": "tool_crash", "message": "t failed inside",
           "hint": "this is not your mistake; go on without it, and do not invent its result"}}  # fmt: skip


@pytest.mark.parametrize("timeout_s", [None, 60.0], ids=["here", "in a thread"])
@pytest.mark.parametrize(("function", "ending"), CRASHES, ids=[ending for _, ending in CRASHES])
def test_a_crash_is_for_the_programmer_and_the_model_is_told_only_that_the_tool_failed(function, ending, timeout_s):
    outcome = call_of(made(function), timeout_s=timeout_s)
    assert told(outcome.observation) == CRASHED
    assert outcome.observation.error == "tool_crash"
    assert outcome.crash.startswith("Traceback (most recent call last):")
    assert ending in outcome.crash.splitlines()[-1]


@pytest.mark.parametrize("timeout_s", [None, 60.0], ids=["here", "in a thread"])
def test_ctrl_c_gets_through(timeout_s):
    with pytest.raises(KeyboardInterrupt):
        call_of(made(raises(KeyboardInterrupt())), timeout_s=timeout_s)


@pytest.mark.parametrize("timeout_s", [None, 60.0], ids=["here", "in a thread"])
def test_a_tool_error_is_told_with_its_next_step(timeout_s):
    outcome = call_of(made(raises(ToolError("not_found", "no such thing", "look elsewhere"))), timeout_s=timeout_s)
    assert outcome == Outcome(Observation(
        '{"ok": false, "error": {"type": "not_found", "message": "no such thing", "hint": "look elsewhere"}}', "not_found"))  # fmt: skip
    without = call_of(made(raises(ToolError("not_found", "no such thing", None))), timeout_s=timeout_s)
    assert told(without.observation)["error"] == {"type": "not_found", "message": "no such thing"}


@pytest.mark.parametrize("function", [raises(ToolError("x", "y")), raises(ValueError())], ids=["its own", "crash"])
def test_only_the_words_of_a_tool_that_reads_outside_are_marked_as_data(function):
    outcome = call_of(made(function, untrusted_output=True))
    assert ("note" in told(outcome.observation)) is (outcome.observation.error == "x")


def test_what_a_preview_says_of_what_it_read_outside_is_marked_as_data_too():
    one, gate = made(print, read_only=False, untrusted_output=True, preview=raises(ToolError("x", "y"))), Gate(lambda _: True)
    assert "note" in told(ToolRegistry([one]).prepare(ToolCall("t", {}), gate)) and gate.tainted
    gate = Gate(lambda _: False)
    assert "note" not in told(ToolRegistry([replace(one, preview=None)]).prepare(ToolCall("t", {}), gate)) and not gate.tainted


def test_a_result_without_an_end_is_a_failure_and_no_crash():
    outcome = call_of(made(circle_of))
    assert (outcome.observation.error, outcome.crash) == ("bad_result", "")


TIMEOUTS = [
    (0.01, None, True, "t took too long and was given up", "ask for less, or go on without it"),
    (None, 0.01, True, "t took too long and was given up", "ask for less, or go on without it"),
    (60.0, 0.01, False, "t took too long and was given up; whether it took effect is unknown",
     "do not repeat it; say that its outcome is unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("own", "given", "read_only", "message", "hint"), TIMEOUTS)
def test_a_tool_that_takes_too_long_is_given_up(own, given, read_only, message, hint):
    release = threading.Event()
    try:
        outcome = call_of(made(release.wait, read_only=read_only, timeout_s=own), timeout_s=given)
    finally:
        release.set()
    assert told(outcome.observation) == {"ok": False, "error": {"type": "timeout", "message": message, "hint": hint}}


def test_a_limit_beyond_what_the_system_can_wait_is_no_limit():
    assert told(call_of(made(lambda: "done", timeout_s=float("inf"))).observation)["result"] == "done"


def test_without_a_thread_to_run_in_the_call_fails(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", raises(RuntimeError("can't start new thread")))
    outcome = call_of(made(lambda: "done"), timeout_s=60.0)
    assert (outcome.observation.error, outcome.crash.splitlines()[-1]) == ("tool_crash", "RuntimeError: can't start new thread")


def test_without_time_left_nothing_runs():
    outcome = call_of(made(lambda: pytest.fail("it must not run")), timeout_s=0.0)
    assert told(outcome.observation)["error"]["message"] == "no time was left for t; it was not run"


def test_only_a_timeout_takes_a_thread_and_it_keeps_the_context():
    variable = contextvars.ContextVar("variable", default="outside")
    variable.set("inside")
    seen = []

    def function():
        seen.append((threading.current_thread() is threading.main_thread(), variable.get()))

    call_of(made(function))
    call_of(made(function), timeout_s=60.0)
    assert seen == [(True, "inside"), (False, "inside")]


def test_text_from_outside_taints_the_run_also_when_it_came_as_an_error():
    for function in (lambda: "text", raises(ToolError("x", "text")), raises(ValueError())):
        gate = Gate()
        call_of(made(function, untrusted_output=True), gate=gate)
        assert gate.tainted
        call_of(made(lambda: "own"), gate=gate)
        assert gate.tainted


def test_the_observation_is_as_long_as_the_registry_allows():
    registry, gate = ToolRegistry([find], max_observation=300), Gate()
    prepared = registry.prepare(ToolCall("find", {"query": "a", "limit": 1000}), gate)
    observation = registry.finalize(prepared, registry.execute(prepared), gate).observation
    assert observation.truncated
    assert len(observation.content) <= 300


class Person:
    """Answers approval questions from a list and remembers them."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def __call__(self, request):
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


@tool(preview=lambda path, text: f"{path}: {text}")
def write(path: str, text: str) -> str:
    """Write a file."""
    return "written"


WRITE = ToolCall("write", {"path": "a", "text": "b"})
ANSWERS = [
    (True, None),
    (Approval.allow(), None),
    (Approval.allow_for_run(), None),
    (False, "write was not approved and not run"),
    (Approval.deny(), "write was not approved and not run"),
    (Approval.deny("use b.txt"), "write was not approved and not run: use b.txt"),
    (None, "write was not approved and not run: the approval callback returned NoneType instead of an Approval"),
    ("yes", "write was not approved and not run: the approval callback returned str instead of an Approval"),
    (EOFError("closed"), "write was not approved and not run: asking for approval failed: EOFError: closed"),
    (SystemExit(1), "write was not approved and not run: asking for approval failed: SystemExit: 1"),
    (ToolError("x", "no"), "write was not approved and not run: asking for approval failed: no"),
    (Approval("no"), "write was not approved and not run"),
    (Approval(1, for_run=True), "write was not approved and not run"),
]


@pytest.mark.parametrize(("answer", "message"), ANSWERS, ids=[str(answer) for answer, _ in ANSWERS])
def test_what_has_side_effects_asks(answer, message):
    person = Person(answer)
    prepared = ToolRegistry([write]).prepare(WRITE, Gate(person))
    (request,) = person.asked
    assert (request.tool, request.call, request.preview, request.tainted) == (write, WRITE, "a: b", False)
    if message is None:
        assert prepared == Prepared(write, WRITE)
    else:
        assert isinstance(prepared, Observation)
        assert (prepared.error, told(prepared)["error"]["message"]) == ("not_approved", message)


def test_ctrl_c_while_asking_gets_through():
    with pytest.raises(KeyboardInterrupt):
        ToolRegistry([write]).prepare(WRITE, Gate(Person(KeyboardInterrupt())))


def test_allowed_for_the_run_is_remembered_by_name_until_text_from_outside_came():
    other = tool(lambda: "", name="other")
    outside = made(lambda: "text", untrusted_output=True)
    registry = ToolRegistry([write, other, outside])
    person = Person(Approval.allow_for_run(), True, Approval.allow_for_run(), True)
    gate = Gate(person)
    asked = []
    for name in ("write", "write", "other", "t", "write", "t", "write"):
        prepared = registry.prepare(WRITE if name == "write" else ToolCall(name, {}), gate)
        registry.finalize(prepared, registry.execute(prepared), gate)
        asked.append((name, len(person.asked)))
    assert asked == [("write", 1), ("write", 1), ("other", 2), ("t", 2), ("write", 3), ("t", 3), ("write", 4)]
    assert [request.tainted for request in person.asked] == [False, False, True, True]


def test_what_only_reads_never_asks():
    assert isinstance(ToolRegistry([find]).prepare(ToolCall("find", {"query": "a"}), Gate(Person())), Prepared)


def test_a_bad_call_is_not_worth_a_question():
    def refuses(path, text):
        raise ToolError("outside_root", "no", "stay inside")

    person = Person()
    registry = ToolRegistry([tool(write.function, preview=refuses)])
    assert registry.prepare(ToolCall("write", {"path": "a"}), Gate(person)).error == "bad_arguments"
    assert registry.prepare(WRITE, Gate(person)).error == "outside_root"
    assert person.asked == []


def test_a_preview_that_fails_does_not_stop_the_question():
    person = Person(True)
    registry = ToolRegistry([tool(write.function, preview=lambda path, text: 1 / 0)])
    assert isinstance(registry.prepare(WRITE, Gate(person)), Prepared)
    assert person.asked[0].preview == "(no preview: ZeroDivisionError: division by zero)"


ODD = st.binary() | st.decimals() | st.just(circle_of()) | st.just(BadText())
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | ODD,
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text() | st.integers() | st.none(), inner), max_leaves=10,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["query", "limit", "x"]) | st.text(), ANYTHING) | ANYTHING, ANYTHING)
def test_nothing_gets_past_the_stages(arguments, result):
    registry, gate = ToolRegistry([find, made(lambda: result)]), Gate()
    decided = registry.prepare(ToolCall("find", arguments), gate)
    prepared = registry.prepare(ToolCall("t", {}), gate)
    outcome = registry.finalize(prepared, registry.execute(prepared), gate)
    for observation in (decided, outcome.observation):
        if isinstance(observation, Observation):
            assert json.loads(observation.content, parse_constant=pytest.fail)["ok"] is (observation.error is None)
