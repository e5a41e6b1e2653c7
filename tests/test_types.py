"""The values that layers hand to each other are frozen, and made by a constructor like any dataclass's."""

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, fields, replace

import pytest

from react_agent.types import Completion, Decision, Repair, ToolCall

DECISION = Decision("t", ToolCall("calc", {"expression": "1"}), None, (Repair("alias_key", 3),))


def test_what_is_not_given_has_its_default():
    assert Completion("a", "stop") == Completion(text="a", finish_reason="stop")
    assert asdict(Completion("a")) == {
        "text": "a", "finish_reason": "unknown", "usage": None, "reasoning": "", "refusal": "", "closed_early": False, "model": "",
        "seconds": 0.0, "notes": (),
    }  # fmt: skip
    for arguments in ((), ("a", "stop", None, "", "", False, "", 0.0, (), "one too many")):
        with pytest.raises(TypeError, match=r"Completion\.__init__"):
            Completion(*arguments)


@pytest.mark.parametrize("value", [Completion("a"), DECISION, DECISION.call, DECISION.repairs[0]], ids=lambda value: type(value).__name__)
def test_values_are_frozen_and_can_be_copied(value):
    name = fields(value)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(value, name, "other")
    with pytest.raises(FrozenInstanceError):
        delattr(value, name)
    with pytest.raises((AttributeError, TypeError)):  # slots: nothing can be added
        value.other = 1
    assert copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == replace(value) == value != replace(value, **{name: "other"})
    assert list(inspect.signature(type(value)).parameters) == [field.name for field in fields(value)]


def test_equal_values_are_one_in_a_set():
    assert {Repair("alias_key", 3), DECISION.repairs[0]} == {Repair("alias_key", 3)}
