"""What a run may use (Limits, frozen) and what it has used so far (Budget)."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields

from react_agent.errors import ConfigError
from react_agent.types import StopReason, Usage


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use. None means no limit.

    max_steps: completions, re-prompts included. max_tokens: prompt and completion tokens summed over all calls.
    max_seconds: wall clock. max_cost: in the currency of the two prices, which are per million tokens.
    max_parse_failures: unreadable replies in a row.
    """

    max_steps: int = 10
    max_tokens: int | None = None
    max_seconds: float | None = None
    max_cost: float | None = None
    max_parse_failures: int = 3
    input_price: float | None = None
    output_price: float | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if value is not None or item.default is not None:
                _check(item.name, value)
        if self.max_cost is not None and (self.input_price is None or self.output_price is None):
            raise ConfigError("max_cost needs input_price and output_price (per million tokens): an unknown price is not 0")

    def cost(self, usage: Usage) -> float | None:
        """What usage costs, None when a price is not known."""
        if self.input_price is None or self.output_price is None:
            return None
        return (usage.input_tokens * self.input_price + usage.output_tokens * self.output_price) / 1e6

    @property
    def only_steps(self) -> bool:
        """Whether nothing but the number of steps is limited."""
        return self.max_tokens is None and self.max_seconds is None and self.max_cost is None

    def too_dear(self, usage: Usage) -> bool:
        """Whether usage would cost more than max_cost."""
        cost = None if self.max_cost is None else self.cost(usage)
        return cost is not None and self.max_cost is not None and cost > self.max_cost


def _check(name: str, value: object) -> None:
    """Raise ConfigError for a limit or a price that is none: not a number comes nowhere near a limit, so nothing would ever stop."""
    whole = name in ("max_steps", "max_tokens", "max_parse_failures")
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise ConfigError(f"{name} must be a {'whole ' if whole else ''}number, not {value!r}")
    if name in ("max_steps", "max_parse_failures"):
        right, words = value >= 1, "at least 1"
    elif name.endswith("_price"):
        right, words = 0 <= value < math.inf, "0 or more"
    else:
        right, words = 0 < value < math.inf, "above 0 (or None for no limit)"
    if not right:
        raise ConfigError(f"{name} must be {words}, not {value}")


@dataclass(slots=True)
class Budget:
    """What a run has used; asked before every call. clock is time.monotonic unless a test gives another."""

    limits: Limits
    clock: Callable[[], float] = time.monotonic
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    parse_failures: int = 0
    seconds_before: float = 0.0
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def seconds(self) -> float:
        return self.seconds_before + self.clock() - self.started

    @property
    def deadline(self) -> float | None:
        """The clock's time at which max_seconds is reached."""
        if self.limits.max_seconds is None:
            return None
        return self.started + self.limits.max_seconds - self.seconds_before

    def add(self, usage: Usage) -> None:
        self.steps += 1
        self.usage = self.usage + usage

    def add_aside(self, usage: Usage) -> None:
        """Tokens of a call that is no step."""
        self.usage = self.usage + usage

    def counted_out(self) -> StopReason | None:
        """Why no further step may be made, whatever it would use."""
        if self.parse_failures >= self.limits.max_parse_failures:
            return "parse_failures"
        return "max_steps" if self.steps >= self.limits.max_steps else None

    def out_of_time(self) -> bool:
        return self.limits.max_seconds is not None and self.seconds >= self.limits.max_seconds

    def exceeded(self, prompt_tokens: int = 0, reply_tokens: int = 1) -> StopReason | None:
        """Why a call with a prompt and a reply of this size may not be made, None when it may."""
        return self.counted_out() or self.spent(prompt_tokens, reply_tokens) or ("time_budget" if self.out_of_time() else None)

    def spent(self, prompt_tokens: int, reply_tokens: int = 1) -> StopReason | None:
        """Which of the limits that are paid for has no room for such a call."""
        limits = self.limits
        if limits.max_tokens is not None and self.usage.total_tokens + prompt_tokens + reply_tokens > limits.max_tokens:
            return "token_budget"
        return "cost_budget" if limits.too_dear(self.usage + Usage(prompt_tokens, reply_tokens)) else None

    def reply_room(self, prompt_tokens: int) -> int | None:
        """How many tokens of reply the limits that are paid for have room for after such a prompt, None for any number."""
        limits = self.limits
        if limits.only_steps:
            return None
        before = self.usage + Usage(prompt_tokens)
        rooms = [] if limits.max_tokens is None else [limits.max_tokens - before.total_tokens]
        cost = limits.cost(before)
        if limits.max_cost is not None and cost is not None and limits.output_price:
            rooms.append(math.floor(1e6 * (limits.max_cost - cost) / limits.output_price))
        return min(rooms, default=None)
