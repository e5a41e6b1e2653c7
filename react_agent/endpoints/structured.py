"""Structured output: what a server can be asked to hold a reply to, and the proof that it does.

Off unless asked for. A model that holds the format gains nothing by it (measured: as many tasks solved, and the same transcripts),
servers drop it silently or break on it with models that think, and a reply is parsed with the same care in either case.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from react_agent.errors import ConfigError
from react_agent.types import Completion, Message

Mode = Literal["json_schema", "json_object", "grammar"]
Structured = Literal["off", "auto", "json_object", "json_schema", "grammar"]
MODES: tuple[Mode, ...] = get_args(Mode)
CHOICES: tuple[Structured, ...] = get_args(Structured)
# What is tried in turn when a server refuses. "auto" takes what a probe proved, and nothing before.
RUNGS: Mapping[str, tuple[Mode, ...]] = {
    "off": (), "auto": (), "json_object": ("json_object",), "json_schema": ("json_schema", "json_object"),
    "grammar": ("grammar", "json_schema", "json_object"),
}  # fmt: skip
ANY_OBJECT: Mapping[str, Any] = {"type": "object"}

# The proof: the model is asked for a text that the schema forbids, and the schema allows a text that nobody would guess.
_SIGN = {"sign": "q7"}
PROBE_SCHEMA: Mapping[str, Any] = {
    "type": "object", "properties": {"sign": {"type": "string", "enum": ["q7"]}}, "required": ["sign"], "additionalProperties": False,
}  # fmt: skip
PROBE = (Message("user", "Write the word hello and nothing else: no JSON, no braces."),)
PROBE_TOKENS = 64

Proven = Literal["enforced", "ignored", "refused", "unproved"]


@dataclass(frozen=True, slots=True)
class Proof:
    """What one probe showed. tokens: what it cost, prompt and reply together."""

    mode: Mode
    state: Proven
    evidence: str
    tokens: int = 0

    def __str__(self) -> str:
        return f"{self.mode} is {self.state}: {self.evidence}"


def rungs_of(structured: str) -> tuple[Mode, ...]:
    """What a setting asks for, in turn; ConfigError for one that there is not."""
    if structured not in CHOICES:
        raise ConfigError(f"structured must be one of {', '.join(CHOICES)}, not {structured!r}")
    return RUNGS[structured]


def response_format(mode: Mode, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The field of OpenAI's API, for json_object and json_schema. Not strict: that would forbid arguments of more than one shape."""
    if mode == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "decision", "schema": schema}}


def proof_of(mode: Mode, completion: Completion, refused: bool) -> Proof:
    """What the reply to PROBE says about a server that was asked for mode. refused: it was asked again without."""
    tokens = completion.usage.total_tokens if completion.usage else 0
    text = " ".join(completion.text.split())[:80]
    if refused:
        return Proof(mode, "refused", next((note for note in completion.notes if "structured output" in note), "")[:160], tokens)
    if not text:
        return Proof(mode, "unproved", f"the probe was answered without text ({completion.finish_reason})", tokens)
    start, end = completion.text.find("{"), completion.text.rfind("}") + 1
    if mode == "json_object":
        held = completion.text.removeprefix("```json").lstrip("` \n\r\t").startswith("{")  # it may be cut: any object will do
    else:
        held = _is_sign(completion.text[start:end])
    return Proof(mode, "enforced" if held else "ignored", f"asked for a word that it forbids, the model wrote {text!r}", tokens)


def _is_sign(text: str) -> bool:
    try:
        return bool(json.loads(text) == _SIGN)
    except (ValueError, RecursionError):
        return False
