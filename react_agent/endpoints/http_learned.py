"""What an endpoint has learned from refusals: parameters dropped or renamed, strict roles, no streaming, what structured output is
left. Kept as long as it lives."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from react_agent.endpoints.http_errors import ErrorClass
from react_agent.endpoints.http_parameters import CAP_NAMES
from react_agent.endpoints.structured import Mode

# One wish under its names at different servers: a refusal of one name is a refusal of what was sent for it.
_CONSTRAINTS = {
    "response_format", "json_schema", "grammar", "format", "structured_outputs", "output_config", "responseSchema", "responseJsonSchema",
    "responseMimeType", "guided_json", "grammar_string", "ebnf",
}  # fmt: skip
STOP_NAMES = {"stop", "stop_sequences", "stop_sequence", "stopSequences"}
_GROUPS = (
    _CONSTRAINTS,
    {"think", "thinking", "reasoning_effort", "reasoning", "chat_template_kwargs", "enable_thinking", "thinkingConfig"},
    STOP_NAMES,
    {"seed", "random_seed", "sampler_seed"},
    set(CAP_NAMES),
)  # fmt: skip
_NEVER = {"model", "messages", "prompt", "input", "inputs", "contents", "system", "systemInstruction"}
# What may go when a server says that something is wrong but not what: all that a reply can be had without.
_EXTRAS = ("stream_options", "timings_per_token", "response_format", "json_schema", "grammar", "seed", "stop", "temperature", "stream")
CONTAINERS = {"options", "parameters", "generationConfig", "inferenceConfig", "stream_options"}  # where parameters may be nested
LEAST_CAP = 16


@dataclass(frozen=True, slots=True)
class Learned:
    """dropped, renamed: parameters by the name that we first gave them. cap: the largest output that the server allows.
    constraint: the kinds of structured output that are left to ask for, the first one now.
    server: the program behind the URL where that is known: "llama.cpp", "vllm", "sglang", or "other"; empty while it is not."""

    dropped: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    cap: int | None = None
    strict_roles: bool = False
    stream: bool = True
    constraint: tuple[Mode, ...] = ()
    server: str = ""

    def apply(self, body: dict[str, Any]) -> dict[str, Any]:
        """A request's body without what was refused, under the names that were asked for; one level of nesting is looked at."""
        return {
            self.renamed.get(name, name): self._inside(name, value) for name, value in body.items() if name not in self.dropped
        }

    def _inside(self, name: str, value: Any) -> Any:
        return self.apply(value) if isinstance(value, dict) and name in CONTAINERS else value


class Ladder:
    """The learned state of one endpoint, shared by its threads; each step down is taken once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._learned = Learned()

    @property
    def learned(self) -> Learned:
        return self._learned

    def learn(self, **changes: Any) -> None:
        with self._lock:
            self._learned = replace(self._learned, **changes)

    def step_down(self, refusal: ErrorClass, sent: Mapping[str, Any]) -> str | None:
        """Learn from a refusal of what was sent; a note of what will be different, None when nothing is left to change."""
        names = sent_names(sent)
        with self._lock:
            change = _change(self._learned, refusal, names)
            if change is None:
                return None
            self._learned, note = change
        return f"{note}: {refusal.message[:160]}"


def _change(learned: Learned, refusal: ErrorClass, sent: set[str]) -> tuple[Learned, str] | None:
    parameter = _as_sent(refusal.parameter, sent)
    if learned.constraint and _CONSTRAINTS & sent and _may_be_the_constraint(refusal, parameter):
        return _next_constraint(learned)
    if parameter in CAP_NAMES:
        return _change_cap(learned, refusal, parameter)
    if parameter is not None and parameter not in _NEVER:
        return _drop(learned, {parameter}, f"parameter {parameter!r} dropped")
    extras = {name for name in _EXTRAS if name in sent} - learned.dropped
    if refusal.name == "bad_parameter" and refusal.parameter is None and extras:
        return _drop(learned, extras, f"asked again without {', '.join(sorted(extras))}")
    return None


def _may_be_the_constraint(refusal: ErrorClass, parameter: str | None) -> bool:
    """A refusal that names no parameter is taken for one of the schema, the oddest part of a request, first."""
    return parameter in _CONSTRAINTS or (refusal.name == "bad_parameter" and refusal.parameter is None)


def _next_constraint(learned: Learned) -> tuple[Learned, str]:
    refused, *left = learned.constraint
    note = f"structured output {refused} refused, asked again {'with ' + left[0] if left else 'without'}"
    return replace(learned, constraint=tuple(left)), note


def _change_cap(learned: Learned, refusal: ErrorClass, parameter: str) -> tuple[Learned, str]:
    """A cap is renamed once, lowered as long as the server names a lower limit, and only then dropped."""
    original = next((old for old, new in learned.renamed.items() if new == parameter), parameter)
    if refusal.name == "rename_parameter" and refusal.rename_to and original not in learned.renamed:
        renamed = {**learned.renamed, original: refusal.rename_to}
        return replace(learned, renamed=renamed), f"parameter {parameter!r} renamed to {refusal.rename_to!r}"
    if refusal.limit is not None and refusal.limit >= LEAST_CAP and (learned.cap is None or refusal.limit < learned.cap):
        return replace(learned, cap=refusal.limit), f"output limited to {refusal.limit} tokens"
    return _drop(learned, {original}, f"parameter {parameter!r} dropped")


def _drop(learned: Learned, names: set[str], note: str) -> tuple[Learned, str]:
    return replace(learned, dropped=learned.dropped | names, stream=learned.stream and "stream" not in names), note


def _as_sent(name: str | None, sent: set[str]) -> str | None:
    """The name under which we sent what the server calls name; None when we sent nothing of the kind."""
    if name is None or name in sent:
        return name
    group = next((group for group in _GROUPS if name in group), set())
    return next(iter(sorted(group & sent)), None)


def with_fields(body: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """A body with more fields; what it has already stays, and what has parameters inside gets those that it lacks."""
    inner = {name: {**value, **body[name]} for name, value in fields.items() if name in CONTAINERS and isinstance(body.get(name), dict)}
    return {**fields, **body, **inner}


def sent_names(body: Mapping[str, Any]) -> set[str]:
    """The parameters in a body, nested ones too."""
    nested = (value for name, value in body.items() if name in CONTAINERS and isinstance(value, dict))
    return set(body) | {name for value in nested for name in value}
