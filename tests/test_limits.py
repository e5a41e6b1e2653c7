import pytest

from react_agent.errors import ConfigError
from react_agent.limits import Budget, Limits
from react_agent.types import Usage

WRONG = [
    ({"max_steps": 0}, "max_steps must be at least 1"),
    ({"max_parse_failures": 0}, "max_parse_failures must be at least 1"),
    ({"max_tokens": 0}, "max_tokens must be above 0"),
    ({"max_seconds": float("nan")}, "max_seconds must be above 0"),
    ({"max_cost": 1.0}, "needs input_price and output_price"),
    ({"max_cost": -1, "input_price": 1, "output_price": 1}, "max_cost must be above 0"),
    ({"max_steps": float("nan")}, "max_steps must be a whole number, not nan"),
    ({"max_steps": "3"}, "max_steps must be a whole number, not '3'"),
    ({"max_steps": None}, "max_steps must be a whole number, not None"),
    ({"max_steps": True}, "max_steps must be a whole number, not True"),
    ({"max_tokens": 2.5}, "max_tokens must be a whole number, not 2.5"),
    ({"max_seconds": "3"}, "max_seconds must be a number, not '3'"),
    ({"max_seconds": float("inf")}, "max_seconds must be above 0 .or None for no limit., not inf"),
    ({"max_cost": 1, "input_price": -1, "output_price": 1}, "input_price must be 0 or more, not -1"),
    ({"max_cost": 1, "input_price": 1, "output_price": float("nan")}, "output_price must be 0 or more, not nan"),
    ({"input_price": float("inf")}, "input_price must be 0 or more, not inf"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_limits_that_make_no_sense_are_refused(given, message):
    with pytest.raises(ConfigError, match=message):
        Limits(**given)


def budget(limits, **used):
    made = Budget(limits, clock=lambda: 0.0)
    for name, value in used.items():
        setattr(made, name, value)
    return made


CASES = [
    (Limits(max_steps=2), {"steps": 1}, 0, None),
    (Limits(max_steps=2), {"steps": 2}, 0, "max_steps"),
    (Limits(max_parse_failures=2), {"parse_failures": 2}, 0, "parse_failures"),
    (Limits(max_tokens=100), {"usage": Usage(50, 10)}, 39, None),
    (Limits(max_tokens=100), {"usage": Usage(50, 10)}, 40, "token_budget"),
    (Limits(max_seconds=5), {"seconds_before": 5.0}, 0, "time_budget"),
    (Limits(max_cost=1, input_price=1e6, output_price=1e6), {"usage": Usage(0, 0)}, 0, None),
    (Limits(max_cost=1, input_price=1e6, output_price=1e6), {"usage": Usage(0, 0)}, 1, "cost_budget"),
]


@pytest.mark.parametrize(("limits", "used", "prompt", "stop"), CASES)
def test_a_call_is_allowed_or_not(limits, used, prompt, stop):
    assert budget(limits, **used).exceeded(prompt) == stop


def test_an_unknown_price_is_unknown_not_nothing():
    assert Limits().cost(Usage(10, 10)) is None
    assert Limits(input_price=1.0, output_price=3.0).cost(Usage(10, 20)) == pytest.approx(70e-6)


def test_usage_adds_up_and_stays_unknown_where_nothing_is_known():
    assert Usage(1, 2) + Usage(3, 4, estimated=True) == Usage(4, 6, None, None, True)
    assert Usage(1, 2, 1) + Usage(3, 4, None, 2) == Usage(4, 6, 1, 2)
