"""One run: its state, and what the loop does with it (exceeded, think, act, record, finish)."""

import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from react_agent.agent_calls import Calls, known_as
from react_agent.agent_endpoint import SafeEndpoint
from react_agent.agent_guards import INPUT_ERRORS, Grounding, Objection
from react_agent.agent_journal import Journal, RunStopped
from react_agent.agent_playback import Playback
from react_agent.agent_room import Room
from react_agent.agent_setup import DESCRIBED, OPTIONS, Setup
from react_agent.agent_telling import Telling
from react_agent.agent_thinking import Thinking
from react_agent.agent_words import stop_sentence
from react_agent.errors import ParseError
from react_agent.limits import Budget
from react_agent.parser import canonical, parse_decision
from react_agent.prompt_linking import likely_tool
from react_agent.registry import Gate, Prepared, Tool
from react_agent.trace import Trace
from react_agent.trace_events import DecisionMade, ReplyUnreadable, RunEnded, RunStarted
from react_agent.transcript import Transcript
from react_agent.types import STATUS_OF, Completion, Decision, Message, Observation, RunResult, Step, StopReason, ToolCall

OBJECTIONS = {
    "answer_without_tool": "the answer was sent back: no tool call stands behind it",
    "answer_after_failure": "the answer was sent back: the last call failed because of its input",
    "number_from_nowhere": "the answer was sent back: its number {} is in no observation and not in the question",
    "unused_number": "the answer was sent back: the question's number {} has not been calculated with",
    "not_looked_up": "the answer was sent back: {} is in no observation and not in the question",
    "invented_input": "the call was not run: its number {} is in no observation and not in the question",
}


@dataclass(frozen=True, slots=True)
class Turn:
    """A step and what follows from it. told: for the model, empty when nothing is added to the history. accepted: the answer stands.
    sent_back: the decision leaves the history, lest it is repeated, and what is told stands under the last message. stop, error: the
    run ends here."""

    step: Step
    told: str = ""
    tool: str = ""
    sent_back: bool = False
    accepted: bool = False
    stop: StopReason | None = None
    error: str = ""


class Run:
    """The state of one run. An agent makes one for each question and throws it away."""

    def __init__(self, setup: Setup, question: str, run_id: str, trace: Trace | None, cancel: threading.Event | None,
                 history: Sequence[Message] = (), playback: Playback | None = None, seconds_before: float = 0.0) -> None:  # fmt: skip
        self.setup = setup
        self.question = question
        self.run_id = run_id
        self.history = tuple(history)
        self.playback = playback or Playback(())
        self.journal = Journal(trace, self.playback, setup.on_event, cancel)
        self.budget = Budget(setup.limits, setup.clock, seconds_before=seconds_before)
        self.telling = Telling(setup.prompts, setup.tools)
        self.transcript = Transcript(setup.opening, self.telling.compacted, history)
        self.transcript.ask(self.telling.question(question, _suggested(setup, question)))
        asked = setup.prompts.frames["summarise"] if setup.summarise else ""
        self.endpoint = SafeEndpoint(setup.endpoint)
        self.room = Room(self.budget, self.transcript, self.endpoint, self.journal, asked)
        self.thinking = Thinking(setup, self.room)
        gate = Gate(setup.approve)
        self.calls = Calls(setup.tools, gate, self.journal, self.budget, setup.clock, setup.prompts.frames["outcome_unknown"])
        calculates = any(tool.calculates for tool in setup.tools)
        self.grounding = Grounding(setup.require_tool, setup.check_numbers, setup.retry_failed_input, calculates)
        for given in (setup.instructions, *(message.content for message in history)):
            self.grounding.learn(given)
        self.grounding.asked(question)
        self.steps: list[Step] = []
        self._last_call = ""  # whose observation is the last one in the transcript
        self.answer: str | None = None
        self.error = ""

    def start(self) -> None:
        setup = self.setup
        recorded = self.playback.next_is(RunStarted)
        self.room.window = recorded.context_window if recorded else self.endpoint.context_window
        if recorded is not None and recorded.max_output_tokens > 0:  # what the run began with stays, whatever the endpoint of today says
            self.room.output_limit = recorded.max_output_tokens
        self.journal.emit(RunStarted(
            run_id=self.run_id, question=self.question, language=setup.prompts.language,
            prompt=f"{setup.prompts.name}@{setup.prompts.digest}", instructions=setup.instructions,
            endpoint=self.endpoint.describe(), limits=asdict(setup.limits),
            options={name: getattr(setup, name) for name in OPTIONS},
            tools=tuple(_described(tool) for tool in setup.tools), history=self.history,
            context_window=self.room.window, max_output_tokens=self.room.output_limit,
            tainted=self.calls.gate.tainted,
        ))  # fmt: skip

    def exceeded(self) -> StopReason | None:
        """Why the next call may not be made; asked before every one."""
        return self.room.exceeded()

    def think(self) -> Completion:
        """The only endpoint call; raises RunStopped when there is no completion to be had."""
        return self.thinking.completion()

    @property
    def forced(self) -> StopReason | None:
        """The limit for which the model was told to answer now; nothing is run or sent back any more."""
        return self.thinking.forced

    # act: parse, then at most one tool call

    def act(self, completion: Completion) -> Turn:
        """Never raises for the model's mistakes."""
        number = self.journal.step
        try:
            decision = parse_decision(completion, self.setup.tools)
        except ParseError as error:
            return self._unreadable(Step(number, completion, parse_error=str(error)), error)
        call = decision.call
        repairs = tuple((repair.name, repair.offset) for repair in decision.repairs)
        tool, arguments = (call.name, call.arguments) if call else (None, None)
        self.journal.emit(DecisionMade(number, decision.thought, tool, arguments, decision.final_answer, repairs))
        if any(name == "invented_observation" for name, _ in repairs):
            self.journal.note("invented_observation", "the model wrote an observation itself; it was dropped")
        step = Step(number, completion, decision)
        return self._answer(step) if call is None else self._call(step, call)

    def _unreadable(self, step: Step, error: ParseError) -> Turn:
        completion = step.completion
        cut = completion.finish_reason == "length" and error.reason in ("truncated", "only_thinking", "empty")
        told, stop = "", self.forced
        if error.reason == "refused":
            stop = "refused"
        elif stop is None and not (cut and self.room.raise_output()):
            before = self.steps[-1] if self.steps else None
            told = self.telling.unreadable(error, again=bool(before and before.parse_error and before.completion.text == completion.text))
        self.journal.emit(ReplyUnreadable(step.number, error.reason, error.hint, told))
        return Turn(step, told, stop=stop, error=completion.refusal if stop == "refused" else "")

    def _answer(self, step: Step) -> Turn:
        answer = step.answer or ""
        if not self.forced and (objection := self.grounding.objection(answer)):
            self.journal.note("answer_sent_back", OBJECTIONS[objection.slug].format(objection.what))
            return self._sent_back(step, objection)
        if self.grounding.ungrounded(answer):
            return Turn(replace(step, note="ungrounded"), stop="ungrounded_answer")
        return Turn(step, accepted=True)

    def _call(self, step: Step, call: ToolCall) -> Turn:
        memory, checked = self.calls.memory, self.setup.tools.check(call)
        known = known_as(call, checked)
        if self.forced:
            return Turn(replace(step, note="call_not_run"), stop=self.forced)
        if memory.stuck(known):
            return Turn(replace(step, note="repeated_action"), stop="repeated_action")
        if (earlier := memory.earlier(known)) is not None:
            memory.repeated(known)
            return self._repeated(replace(step, note="repeated_call", observation=earlier), call, earlier, self._last_call == known)
        if isinstance(checked, Prepared) and checked.tool.calculates and (objection := self.grounding.objection_to(call)):
            self.journal.note("call_sent_back", OBJECTIONS[objection.slug].format(objection.what))
            return self._sent_back(step, objection)
        observation, stop = self.calls.run(step.number, call, checked, known)
        self.grounding.observed(observation)
        if observation.error is None and isinstance(checked, Prepared):
            self.grounding.succeeded_with(call, calculates=checked.tool.calculates)
        done = Step(step.number, step.completion, step.decision, observation)
        if observation.error in INPUT_ERRORS and not self.setup.raw_history:
            return Turn(done, self.telling.in_vain(call, observation), call.name, sent_back=True, stop=stop)
        self._last_call = known
        return Turn(done, self.telling.observation(call.name, observation), call.name, stop=stop)

    def _sent_back(self, step: Step, objection: Objection) -> Turn:
        return Turn(replace(step, note=objection.slug), self.telling.objection(objection), sent_back=True)

    def _repeated(self, step: Step, call: ToolCall, earlier: Observation, at_once: bool) -> Turn:
        """A call that is answered from memory. at_once: its earlier observation is the last one, and need not be said again."""
        self.journal.note("repeated_call", f"{call.name} was called with the same arguments before; its earlier observation was given")
        told = self.telling.repeated(call.name)
        self.grounding.last_error = earlier.error
        if earlier.error in INPUT_ERRORS and not self.setup.raw_history:
            lesson = self.telling.in_vain(call, earlier)
            return Turn(step, told if self.transcript.shows(lesson) else f"{lesson}\n{told}", call.name, sent_back=True)
        if at_once:
            return Turn(step, told, call.name, sent_back=True)
        return Turn(step, f"{self.telling.observation(call.name, earlier)}\n{told}", call.name)

    # record and finish

    def record(self, turn: Turn) -> bool:
        """Add the step and what the model is told; True when its answer stands. Raises RunStopped when the turn ends the run."""
        self.steps.append(turn.step)
        self.journal.step = len(self.steps) + 1
        decision = turn.step.decision
        if decision is None:
            self.budget.parse_failures += 1
            if turn.told:
                self.transcript.failed(turn.step.completion.text, turn.told)
        else:
            self.budget.parse_failures = 0
            self._remember(turn, decision)
        if turn.stop is not None:
            raise RunStopped(turn.stop, turn.error)
        if turn.accepted:
            self.answer = turn.step.answer
        return turn.accepted

    def _remember(self, turn: Turn, decision: Decision) -> None:
        shown = turn.step.completion.text if self.setup.raw_history else canonical(decision)
        if turn.sent_back and not self.setup.raw_history:
            self.transcript.sent_back(turn.told)
        elif turn.told:
            self.transcript.good(shown, turn.told, turn.tool)
        else:
            self.transcript.answered(shown)

    def finish(self, stop: StopReason) -> RunResult:
        """The only exit."""
        usage, cost = self.budget.usage, self.setup.limits.cost(self.budget.usage)
        answer = self.answer if stop == "answer" else None
        forced = self.forced is not None and stop == "answer"
        error = "" if stop == "answer" else self.error or stop_sentence(stop, self.setup.limits, self.steps)
        seconds = round(self.budget.seconds, 3)
        dialogue = self.transcript.messages[len(self.setup.opening) :]
        dialogue[len(self.history)] = Message("user", self.question)  # without what the loop wrote under it
        result = RunResult(
            STATUS_OF[stop], stop, answer, tuple(self.steps), usage, seconds, self.run_id, error, forced, cost, self.journal.path,
            tuple(self.calls.side_effects), tuple(dialogue),
        )  # fmt: skip
        self.journal.end(RunEnded(result.status, stop, answer, len(self.steps), usage, seconds, error, forced, cost))
        return result


def _suggested(setup: Setup, question: str) -> str | None:
    """The tool to begin with: the only one where one is required, else the one that the question speaks of."""
    if not setup.suggest_tool:
        return None
    names = setup.tools.names
    return names[0] if setup.require_tool and len(names) == 1 else likely_tool(question, setup.tools)


def _described(tool: Tool) -> dict[str, Any]:
    return {name: getattr(tool, name) for name in DESCRIBED}
