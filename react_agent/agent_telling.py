"""What the loop says to the model, in the words of its prompts."""

import json
from collections.abc import Sequence

from react_agent.agent_guards import INPUT_ERRORS, Objection
from react_agent.errors import ParseError
from react_agent.prompt import PromptSet
from react_agent.registry import ToolRegistry
from react_agent.registry_neutral import neutral
from react_agent.types import Observation, ToolCall

STARTED = 60  # characters of an observation that stand in the note which takes its place
QUOTED = 1_000  # characters of the model's words, or of a tool's, that stand in a line of ours


class Telling:
    """Fills the frames and re-prompts of one language with the names of these tools."""

    def __init__(self, prompts: PromptSet, tools: ToolRegistry) -> None:
        self._prompts = prompts
        self._tools = tools
        self._calculators = [tool.name for tool in tools if tool.calculates]

    def question(self, question: str, tool: str | None) -> str:
        """tool: the one to begin with, if there is one."""
        return self._prompts.frame("likely_tool", question=question, tool=tool) if tool else question

    def observation(self, tool: str, observation: Observation) -> str:
        """With the way on, where the call failed."""
        error = observation.error
        frame = "observation" if error is None else "failed_input" if error in INPUT_ERRORS else "failed"
        return self._prompts.frame(frame, tool=tool, content=observation.content, others=self._others(tool))

    def repeated(self, tool: str) -> str:
        return self._prompts.frame("repeated_call", others=self._others(tool))

    def in_vain(self, call: ToolCall, observation: Observation) -> str:
        """What is left of a call that failed because of its input: the model's words and the tool's, here in the user's turn."""
        message, hint = map(_quoted, _failure(observation.content))
        told = {"tool": call.name, "arguments": _quoted(json.dumps(call.arguments, ensure_ascii=False)), "message": message}
        return self._prompts.frame("in_vain", hint=hint, **told) if hint else self._prompts.frame("in_vain_without_hint", **told)

    def objection(self, objection: Objection) -> str:
        looked_up = objection.slug == "number_from_nowhere" and not self._calculators
        return self._prompts.frame(
            "not_looked_up" if looked_up else objection.slug, what=_quoted(objection.what), tools=_listed(self._tools.names),
            lookups=_listed([name for name in self._tools.names if name not in self._calculators]),
            calculators=_listed(self._calculators),
        )  # fmt: skip

    def unreadable(self, error: ParseError, *, again: bool) -> str:
        """again: the reply is the one before it, and the same prompt again would get it once more."""
        told = self._prompts.reprompt(
            error.reason, hint=_quoted(error.hint), excerpt=_quoted(error.excerpt), line=error.line, column=error.column,
            tools=_listed(self._tools.names),
        )  # fmt: skip
        return f"{told} {self._prompts.frames['same_reply']}" if again else told

    def compacted(self, tool: str, content: str) -> str:
        return self._prompts.frame("compacted", tool=tool, start=" ".join(content.split())[:STARTED])

    def _others(self, tool: str) -> str:
        return _listed([name for name in self._tools.names if name != tool])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _quoted(text: str) -> str:
    """Words that are not ours, for a line of ours: on one line, not too long, and no mark that opens a turn."""
    line = " ".join(text[:QUOTED].splitlines())
    return neutral(line if len(text) <= QUOTED else f"{line} ...")


def _failure(content: str) -> tuple[str, str]:
    """What a failed observation says, with its note, and its hint; a content of another shape is said as it is."""
    try:
        told = json.loads(content)
        message, hint, note = str(told["error"]["message"]), str(told["error"].get("hint", "")), str(told.get("note", ""))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return content, ""
    return f"{message.rstrip('.')} ({note})" if note else message.rstrip("."), hint.rstrip(".")
