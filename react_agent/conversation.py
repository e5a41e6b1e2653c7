"""Several questions in one dialogue."""

import threading
from collections.abc import Sequence

from react_agent.agent import Agent
from react_agent.errors import ConfigError
from react_agent.types import Message, RunResult


class Conversation:
    """Keeps questions and answers, so that a later question can refer to an earlier one.

    Each question is a run of its own, with its own limits and trace. The history holds the questions and the final answers, not
    the tool calls between them: what was looked up can be looked up again, and the prompt stays small. A question without an
    answer leaves no history. most: how many questions are kept; raises ConfigError for what is no such number.
    """

    def __init__(self, agent: Agent, *, history: Sequence[Message] = (), most: int = 20) -> None:
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise ConfigError(f"most must be a whole number from 0, not {most!r}")
        self.agent = agent
        self.results: list[RunResult] = []
        self._history = list(history)
        self._most = most
        self._tainted = False

    @property
    def history(self) -> tuple[Message, ...]:
        return tuple(self._history)

    def ask(self, question: str, *, cancel: threading.Event | None = None) -> RunResult:
        """Answer one question with the earlier ones in mind."""
        result = self.agent.run(question, cancel=cancel, history=self._history, tainted=self._tainted)
        self.results.append(result)
        self._tainted = self._tainted or self._heard_from_outside(result)
        if result.answer is not None:
            self._history += [Message("user", question), result.messages[-1]]
            del self._history[: max(0, len(self._history) - 2 * self._most)]
        return result

    def _heard_from_outside(self, result: RunResult) -> bool:
        """Whether a tool with untrusted output has spoken: what was approved then is asked again in the questions after it."""
        called = {step.decision.call.name for step in result.steps if step.observation and step.decision and step.decision.call}
        return any(tool.untrusted_output for tool in self.agent.setup.tools if tool.name in called)

    def reset(self) -> None:
        """Forget the dialogue; the results stay."""
        self._history.clear()
        self._tainted = False
