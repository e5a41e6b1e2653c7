"""An object that a model wrote -> what it decides: a call, an answer, or why it is neither. Shape is normalised, meaning never."""

from typing import Any, NamedTuple

from react_agent.lenient_json import Ending, Unreadable, as_json
from react_agent.lenient_json_decision import bare, has_answer, holds_call, is_echo, is_none, is_template_answer, is_template_call
from react_agent.lenient_json_keys import CANONICAL, NAMES, Keys, read_keys, role, squeezed
from react_agent.parser_fields import Fields, called, collect, same, unwrapped
from react_agent.parser_input import arguments, refuse_misplaced
from react_agent.parser_names import find_tool, is_finish, unknown_tool
from react_agent.parser_place import Place
from react_agent.parser_refusals import echoed
from react_agent.registry import Tool, ToolRegistry

_ANSWER_KEYS = frozenset(
    {"answer", "finalanswer", "result", "output", "response", "text", "content", "message", "value", "答案", "最终答案"}
)


class Shape(NamedTuple):
    """What an object decides: a call (tool and arguments), an answer, or with neither nothing yet. weak: all of its keys are such
    as data may have, so that it decides only when nothing else does."""

    thought: str
    tool: Tool | None = None
    arguments: dict[str, Any] | None = None
    answer: str | None = None
    weak: bool = False

    @property
    def decides(self) -> bool:
        return self.tool is not None or self.answer is not None

    def agrees_with(self, other: "Shape") -> bool:
        return self.tool is other.tool and self.answer == other.answer and same(self.arguments, other.arguments)


def decided(value: dict[str, Any], ending: Ending, place: Place, tools: ToolRegistry, repairs: dict[str, int]) -> Shape | None:
    """What an object at place decides, usual ones read at once; None for the prompt's template. repairs takes what else was repaired.

    Raises Unreadable for the reason why it decides nothing that may be used.
    """
    sure = ending == "closed" and "surplus_closer" not in repairs
    return (plain_shape(value, tools) if sure else None) or unusual_shape(value, ending, place, tools, repairs, sure=sure)


def unusual_shape(
    value: dict[str, Any], ending: Ending, place: Place, tools: ToolRegistry, repairs: dict[str, int], *, sure: bool
) -> Shape | None:  # fmt: skip
    """The same for one that is not plain. sure: it is plain which members stand inside which brace."""
    keys = read_keys(value)
    if sure and keys.single and (renamed := renamed_shape(value, keys, tools, place, repairs)):
        return renamed
    return None if is_echo(value, keys, tools) else shape(value, keys, ending, tools, place, repairs)


def plain_shape(value: dict[str, Any], tools: ToolRegistry) -> Shape | None:
    """The decision of an object that is exactly what the prompt asks for, by far the most frequent; None for any other."""
    if not value.keys() <= CANONICAL.keys():
        return None
    thought, inputs, answer = value.get("thought", ""), value.get("action_input"), value.get("final_answer")
    if not isinstance(thought, str) or (inputs and isinstance(inputs, dict) and is_template_call(thought, inputs)):
        return None
    if answer is None:
        name = value.get("action")
        if not isinstance(name, str) or not isinstance(inputs, dict):
            return None
        tool = tools.get(name)
        return Shape(thought, tool, inputs) if tool and tool.parameter_set.issuperset(inputs) else None
    if value.get("action", "none") != "none" or not isinstance(answer, str):
        return None
    return Shape(thought, None, None, answer) if has_answer(answer) and not is_template_answer(answer) else None


def renamed_shape(value: dict[str, Any], keys: Keys, tools: ToolRegistry, place: Place, repairs: dict[str, int]) -> Shape | None:
    """The same for an object that is what the prompt asks for but for the names of its single keys and what it has beside them."""
    found = plain_shape({NAMES[part.role]: value[part.key] for part in keys.parts}, tools)
    if not found or (found.tool and not found.tool.parameter_set.isdisjoint(value)):
        return None
    for part in keys.parts:
        if part.key not in CANONICAL:
            repairs.setdefault("alias_key", place.of_key(part.key))
    return found if keys.strong else found._replace(weak=True)


def shape(value: dict[str, Any], keys: Keys, ending: Ending, tools: ToolRegistry, place: Place, repairs: dict[str, int]) -> Shape:
    """What an object decides; ending says how it ended. Raises Unreadable for the reason why it decides nothing that may be used."""
    if len(keys.bearing) == 1 and (inner := unwrapped(value, keys, place, repairs)) is not value:
        value, keys = inner, read_keys(inner)
    fields = collect(value, keys, tools, place, repairs)
    if fields.action is not None and not isinstance(fields.action, str):
        fields = called(fields, tools, place, repairs)
    name = fields.action
    tool = tools.get(name) if name else None
    if not name or (not tool and is_none(name)):
        if holds_call(fields.answer):
            hint = "final_answer holds a call; write its action and its action_input beside it"
            raise Unreadable("no_answer", place.of_key("final_answer"), hint)
        return _answered(fields, answer_text(fields.answer), ending, place)
    if tool := tool or find_tool(name, tools):
        if tool.name != name:
            repairs.setdefault("tool_name", place.of(name))
        if ending != "closed" and isinstance(fields.input, str) and role(next(reversed(value))) == "input":
            raise _unfinished(place)  # the text may go on after what looks like its last quote
        found = _call(tool, fields, ending, place, repairs)
        inputs, in_doubt = found.arguments or {}, ending != "closed" or "surplus_closer" in repairs
        if in_doubt or not keys.canonical or not CANONICAL.keys().isdisjoint(inputs):
            refuse_misplaced(tool, inputs, value, fields.has, place, in_doubt=in_doubt)
        return found
    if is_finish(name):
        return _answered(fields, _finished(fields, place, repairs), ending, place)
    raise unknown_tool(name, tools, place)


def answer_text(value: object) -> str | None:
    """A final_answer as text, None when it is none."""
    if not has_answer(value):
        return None
    return value if isinstance(value, str) else as_json(value)


def unlabelled(value: object) -> object:
    """The answer in an object such as {"answer": "Paris"}; any other value as it is."""
    if isinstance(value, dict) and len(value) == 1:
        key, item = next(iter(value.items()))
        return item if squeezed(key) in _ANSWER_KEYS else value
    return value


def _call(tool: Tool, fields: Fields, ending: Ending, place: Place, repairs: dict[str, int]) -> Shape:
    if not fields.given and fields.weak:
        raise Unreadable("not_a_decision", place.start, f"the object names {tool.name} but has no action_input")
    if ending != "closed" and (not fields.given or "surplus_opener" in repairs):
        raise _unfinished(place)
    inputs = arguments(tool, fields.input, fields.given, place, repairs)
    if has_answer(fields.answer):
        repairs.setdefault("premature_answer", place.of_key("final_answer"))
    thought = _text(fields.thought)
    if is_template_call(thought, inputs):
        raise echoed(place.start)
    return Shape(thought, tool, inputs, weak=fields.weak)


def _answered(fields: Fields, answer: str | None, ending: Ending, place: Place) -> Shape:
    """An answer; of an unclosed object only if it is whole. That the model would have called a tool behind its answer is not supposed."""
    if ending == "cut" or (ending == "open" and answer is None):
        raise _unfinished(place)
    if answer is not None and is_template_answer(answer):
        raise echoed(place.start)
    return Shape(_text(fields.thought), answer=answer, weak=fields.weak)


def _finished(fields: Fields, place: Place, repairs: dict[str, int]) -> str | None:
    """The answer of an action such as "finish", which often stands in action_input."""
    value = unlabelled(fields.input)
    inside, beside = answer_text(value), answer_text(fields.answer)
    if inside is not None and beside is not None and inside != beside:
        hint = "action_input and final_answer hold different answers; give one in final_answer"
        raise Unreadable("conflict", place.of_key("final_answer"), hint)
    if inside is not None and isinstance(value, dict):
        word = bare(fields.action)[:40]
        raise Unreadable("no_answer", place.of(word), f'{word} is no tool; write "action": "none" and the answer in final_answer')
    repairs.setdefault("finish_word", place.of(fields.action))
    return inside if beside is None else beside


def _unfinished(place: Place) -> Unreadable:
    return Unreadable("truncated", place.end, "the reply ends before its object is whole", cut=True)


def _text(thought: object) -> str:
    if thought is None or isinstance(thought, str):
        return thought or ""
    return as_json(thought)
