"""What the server does with a request: roles, stop words, streams, structured output, a reply that is begun for it."""

import re

from react_agent.doctor_finding import Finding, Patient, excerpt
from react_agent.doctor_words import told
from react_agent.endpoints.base import Request
from react_agent.endpoints.http_endpoint import HttpEndpoint
from react_agent.endpoints.http_learned import STOP_NAMES
from react_agent.endpoints.structured import MODES, Proof
from react_agent.errors import EndpointError
from react_agent.types import Message

RULES = "You are a careful librarian of a small town. You answer in one short sentence, and you never mention the weather. " * 2
LEAST_RULES = 20  # tokens that a prompt grows by at least when the rules are in it
NUMBERS = "Write the numbers from one to twenty as English words, separated by commas."
NUMBERS_TOKENS = 64
LONG_TOKENS = 256  # of a reply that is closed early
CLOSE_AFTER = 4    # pieces
PREFILL = "1, 2, 3, 4,"
STRICT_APIS = ("anthropic", "gemini")  # whose turns are made strict here before they are sent


def system(patient: Patient) -> Finding:
    """Whether a system message is accepted, and whether it reaches the model."""
    if patient.http is None:
        return told("system", "made_here", "a program reads one text")
    question = Message("user", "What do you do?")
    asked = patient.http.variant()
    before = patient.ask([question], 8, of=patient.http.variant()).usage
    completion = patient.ask([Message("system", RULES), question], 8, of=asked)
    after = completion.usage
    if asked.ladder.learned.strict_roles:
        return told("system", "refused", _why(completion.notes, "roles"))
    if before is None or after is None or before.estimated or after.estimated:
        return told("system", "accepted", f"it answered {excerpt(completion.text)}")
    grew = after.input_tokens - before.input_tokens >= LEAST_RULES
    evidence = f"the prompt grew from {before.input_tokens} to {after.input_tokens} tokens with it"
    return told("system", "reaches" if grew else "dropped", evidence)


def turns(patient: Patient) -> Finding:
    """Whether two user messages in a row are accepted, or roles must alternate."""
    if patient.http is None:
        return told("turns", "made_here", "a program reads one text")
    if patient.http.family in STRICT_APIS:
        return told("turns", "made_strict", f"API {patient.http.family}")
    asked = patient.http.variant()
    completion = patient.ask([Message("user", "My name is Tom."), Message("user", "Say hello.")], 8, of=asked)
    if asked.ladder.learned.strict_roles:
        return told("turns", "strict", _why(completion.notes, "roles"))
    return told("turns", "free", f"it answered {excerpt(completion.text)}")


def stop(patient: Patient) -> Finding:
    """Whether the server stops at a stop word; the text is cut at it here in any case."""
    if patient.http is None:
        return told("stop", "made_here", "the text is cut at stop words as it arrives")
    whole = patient.ask(NUMBERS, NUMBERS_TOKENS).text
    word = _later_word(whole)
    if not word:
        return told("stop", "unclear", f"no word of {excerpt(whole)} can be taken for one")
    asked = patient.http.variant(stop=(word,), cuts_itself=False)
    completion = patient.ask(NUMBERS, NUMBERS_TOKENS, of=asked)
    if STOP_NAMES & asked.ladder.learned.dropped:
        return told("stop", "refused", _why(completion.notes, "parameter"))
    behind = completion.text.partition(word)[2].strip()
    evidence = f"stop word {word!r}, the text ends in {excerpt(completion.text[-30:])} where it was {excerpt(whole[-30:])}"
    return told("stop", "ignored" if behind else "honoured", evidence)


def _later_word(text: str) -> str:
    """A word that a text has for the first time after its first third; empty when there is none."""
    third = len(text) // 3
    found = (match[0] for match in re.finditer(r"[A-Za-z]{3,}", text) if match.start() >= third and match.end() < len(text))
    return next((word for word in found if word not in text[:third]), "")


def streaming(patient: Patient) -> Finding:
    """Whether text arrives piece by piece."""
    if patient.http is not None and not patient.http.stream:
        return told("streaming", "off", "no stream was asked for")
    pieces: list[str] = []
    asked = _fresh(patient)
    completion = patient.ask(NUMBERS, NUMBERS_TOKENS, of=asked, request=Request(on_text=pieces.append, on_restart=pieces.clear))
    if asked is not None and not asked.ladder.learned.stream:
        return told("streaming", "refused", _why(completion.notes, "stream"))
    return told("streaming", "works" if len(pieces) > 2 else "one_piece", f"{len(pieces)} pieces in {completion.seconds:.1f} s")


def early_close(patient: Patient) -> Finding:
    """Whether a stream may be closed before its end, what is then known of its tokens, and whether the server is free again."""
    pieces: list[str] = []

    def closed(piece: str) -> bool:
        pieces.append(piece)
        return len(pieces) >= CLOSE_AFTER

    asked = _fresh(patient)
    completion = patient.ask(NUMBERS, LONG_TOKENS, of=asked, request=Request(closed=closed, on_restart=pieces.clear))
    if not completion.closed_early or len(pieces) < CLOSE_AFTER:
        return told("early close", "impossible", f"the reply came in {len(pieces)} pieces")
    after = patient.ask("Say hello.", 1, of=asked)
    own = completion.usage is not None and not completion.usage.estimated
    evidence = f"closed after {CLOSE_AFTER} pieces, the next call took {after.seconds:.1f} s"
    return told("early close", "counted" if own else "estimated", evidence, next_call_seconds=round(after.seconds, 3))


def structured(patient: Patient) -> Finding:
    """Which kinds of structured output the server really enforces."""
    http = patient.http
    offered = [mode for mode in MODES if http is not None and http.offers(mode)]
    if http is None or not offered:
        return told("structured", "not_offered", "", states={}, modes="")
    proofs = []
    for mode in offered:
        try:
            proofs.append(http.proof(mode, patient.request))
        except EndpointError as error:
            proofs.append(Proof(mode, "unproved", error.message[:80]))
    patient.heard(sum(proof.tokens > 0 for proof in proofs), sum(proof.tokens for proof in proofs))
    enforced = [proof.mode for proof in proofs if proof.state == "enforced"]
    outcome = "not_enforced" if not enforced else "object_only" if enforced == ["json_object"] else "enforced"
    states = {proof.mode: proof.state for proof in proofs}
    evidence = f"{', '.join(f'{mode} {state}' for mode, state in states.items())}; {proofs[0].evidence}"
    return told("structured", outcome, evidence, states=states, modes=", ".join(enforced))


def prefill(patient: Patient) -> Finding:
    """What becomes of a reply whose beginning is sent along."""
    if patient.http is None or patient.http.family in STRICT_APIS:
        return told("prefill", "not_tried", "")
    messages = [Message("user", "Count from 1 to 10, separated by commas."), Message("assistant", PREFILL)]
    asked = patient.http.variant()
    try:
        text = patient.ask(messages, 16, of=asked).text.strip()
    except EndpointError as error:
        if error.kind != "bad_request":
            raise
        return told("prefill", "refused", error.message[:120])
    if asked.ladder.learned.strict_roles:
        return told("prefill", "refused", "roles must alternate and end with the user's")
    number = re.search(r"\d+", text.removeprefix(PREFILL))
    continued = number is not None and number[0] == "5"
    outcome = "echoed" if continued and text.startswith(PREFILL) else "continued" if continued else "ignored"
    return told("prefill", outcome, f"after {PREFILL!r} came {excerpt(text)}")


def _fresh(patient: Patient) -> HttpEndpoint | None:
    """The endpoint without what it has learned about roles and streams."""
    return None if patient.http is None else patient.http.variant()


def _why(notes: tuple[str, ...], word: str) -> str:
    return next((note[:160] for note in notes if word in note), "; ".join(notes)[:160])
