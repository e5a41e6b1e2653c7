"""What the server is and what it tells: its name, its window, its counts, its reasons, its speed."""

import re
import uuid
from urllib.parse import urlsplit

from react_agent.doctor_finding import Finding, Patient, excerpt
from react_agent.doctor_words import told
from react_agent.endpoints.base import Request
from react_agent.endpoints.http_endpoint import HttpEndpoint
from react_agent.endpoints.open_probe import recognise
from react_agent.segments import CLOSING, OPENING
from react_agent.tokens import estimate_prompt, estimate_tokens
from react_agent.types import Completion, Message

SMALL_WINDOW = 4096  # a run of a few steps with tools needs about as much
RECOGNISE_S = 3.0
COUNT = "Count from 1 to 100 in digits, separated by commas. Write nothing else."
CUT_AT = 12          # tokens, in which nobody counts to 100
THINK_TOKENS = 256
SPEED_TOKENS = 64
STEP = 800, 80       # prompt and reply tokens of a step that is like many
STORY = "The old lighthouse stands on a small island in the north, and every evening its keeper climbs the long stairs to light the lamp. "


def server(patient: Patient) -> Finding:
    """Who answers, and whether at all. The window is looked up before the first call, as a run does: it tells the server, too."""
    _ = patient.endpoint.context_window
    completion = patient.ask("Say hello in one word.", 16)
    described = patient.endpoint.describe()
    api = str(described.get("endpoint", ""))
    name = api if patient.http is None else _name(patient.http, patient)
    notes = "".join(f"; {note[:120]}" for note in completion.notes)
    evidence = f"it answered {excerpt(completion.text)} in {completion.seconds:.1f} s as {completion.model or 'no model by name'}{notes}"
    return told("server", "answers", evidence, server=name, api=api, model=completion.model or described.get("model"))


def _name(http: HttpEndpoint, patient: Patient) -> str:
    """The program behind the URL, as far as it gives itself away."""
    if (known := http.ladder.learned.server) not in ("", "other"):
        return known
    parts = urlsplit(http.base_url)
    found = recognise(f"{parts.scheme}://{parts.netloc}", min(RECOGNISE_S, patient.remaining))
    return found.server if found else "a server that does not say what it is"


def window(patient: Patient) -> Finding:
    """How many tokens prompt and reply may have together."""
    tokens = patient.endpoint.context_window
    if tokens is None:
        return told("window", "not_told", "no look-up that this API has names it", tokens=None)
    return told("window", "small" if tokens < SMALL_WINDOW else "large", "told by the server, or by you", tokens=tokens)


def usage(patient: Patient) -> Finding:
    """Whether the token counts of a reply can be believed."""
    messages = [Message("user", STORY * 4 + "What does the keeper light? One word.")]
    completion = patient.ask(messages, 16)
    counts, counted, estimate = completion.usage, patient.endpoint.count_tokens(messages), estimate_prompt(messages)
    if counts is None or counts.estimated:
        return told("usage", "not_told", f"about {estimate} prompt tokens were sent", reported=None, expected=counted or estimate)
    expected, source, slack = (counted, "its tokenizer", 4 + counted // 50) if counted else (estimate, "our estimate", estimate // 2)
    written = estimate_tokens(completion.text + completion.reasoning)
    honest = abs(counts.input_tokens - expected) <= slack and (written < 8 or 0.3 < counts.output_tokens / written < 4)
    wrote = f"{counts.output_tokens} in the reply (about {written:.0f})"
    evidence = f"{counts.input_tokens} prompt tokens where {source} says {expected}, {wrote}"
    return told("usage", "honest" if honest else "wrong", evidence, reported=counts.input_tokens, expected=expected)


def cut(patient: Patient) -> Finding:
    """Whether a reply that was cut by the output limit says so."""
    completion = patient.ask(COUNT, CUT_AT)
    evidence = f"allowed {CUT_AT} tokens it wrote {excerpt(completion.text)}, finish reason {completion.finish_reason}"
    return told("cut", _cut_outcome(completion), evidence)


def _cut_outcome(completion: Completion) -> str:
    if re.search(r"\b100\b", completion.text):
        return "limit_ignored"
    if any(note.startswith("cut_not_reported") for note in completion.notes):
        return "from_counts"
    if completion.finish_reason == "length":
        return "reported"
    counting = re.match(r"\D*1\b", completion.text)  # it was at it; else it may have ended by itself, in a sentence
    return "hidden" if counting else "unclear"


def reasoning(patient: Patient) -> Finding:
    """Where the model's thinking goes."""
    completion = patient.ask("What is 7 + 5? Answer with the number.", THINK_TOKENS)
    evidence = f"{len(completion.reasoning)} characters of reasoning, reply {excerpt(completion.text)}"
    if completion.finish_reason == "length" and not completion.text.strip():
        return told("reasoning", "all_of_it", evidence)
    tags = OPENING.search(completion.text) or CLOSING.search(completion.text)
    return told("reasoning", "apart" if completion.reasoning else "in_text" if tags else "none", evidence)


def speed(patient: Patient) -> Finding:
    """Tokens a second, of a prompt that no cache knows and of the reply to it."""
    came: list[float] = []
    started = patient.clock()
    request = Request(on_text=lambda _: came.append(patient.clock()), on_reasoning=lambda _: came.append(patient.clock()))
    completion = patient.ask(f"{uuid.uuid4().hex}. {STORY * 10}Go on with this story.", SPEED_TOKENS, request=request)
    counts, took = completion.usage, patient.clock() - started
    if counts is None or not came or took <= 0:
        return told("speed", "unclear", f"no text came within {took:.1f} s")
    fresh, first, writing = counts.input_tokens - (counts.cached_tokens or 0), came[0] - started, came[-1] - came[0]
    evidence = f"{fresh} prompt tokens, first text after {first:.1f} s; {counts.output_tokens} tokens in {took:.1f} s"
    evidence += " (counts are estimates)" if counts.estimated else ""
    if len(came) < 3 or writing <= 0 or first <= 0 or fresh <= 0:
        return told("speed", "whole", evidence, writes=round(counts.output_tokens / took, 1))
    reads, writes = fresh / first, max(1, counts.output_tokens - 1) / writing
    step = STEP[0] / reads + STEP[1] / writes
    return told("speed", "streamed", evidence, reads=round(reads, 1), writes=round(writes, 1), step=round(step, 1))
