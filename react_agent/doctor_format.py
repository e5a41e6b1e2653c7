"""Whether the model holds the reply format: three small questions, as an agent asks them."""

from react_agent.agent import Agent
from react_agent.doctor_finding import Finding, Patient
from react_agent.doctor_words import told
from react_agent.errors import EndpointError
from react_agent.limits import Limits
from react_agent.tools.calculator import calculator_tools
from react_agent.types import RunResult

QUESTIONS = (("How much is 17 times 23?", "391"), ("What is 1234 plus 4321?", "5555"), ("What is 15% of 80?", "12"))
MOST_STEPS = 4
MOST_TOKENS = 6000  # of one question, prompts included
GOOD, POOR = 0.9, 0.5  # shares of readable replies


def reply_format(patient: Patient) -> Finding:
    """How many replies were decisions, and what came of the questions."""
    results = [_asked(patient, question) for question, _ in QUESTIONS]
    steps = [step for result in results for step in result.steps]
    patient.heard(len(steps), sum(result.usage.total_tokens for result in results))
    if not steps:
        raise EndpointError("bad_response", next((result.error for result in results if result.error), "no reply came"))
    readable = [step.decision for step in steps if step.decision is not None]
    repaired = sum(bool(decision.repairs) for decision in readable)
    called = sum(any(step.observation is not None for step in result.steps) for result in results)
    right = sum(_is_right(result, expected) for result, (_, expected) in zip(results, QUESTIONS, strict=True))
    evidence = f"{len(QUESTIONS)} questions with the calculator: called for {called}, {right} answered right, {repaired} replies repaired"
    share = len(readable) / len(steps)
    outcome = "lost" if share < POOR else "shaky" if share < GOOD else "held" if right == len(QUESTIONS) else "held_but_wrong"
    return told("format", outcome, evidence, replies=len(steps), readable=len(readable), repaired=repaired, called=called, right=right)


def _asked(patient: Patient, question: str) -> RunResult:
    limits = Limits(max_steps=MOST_STEPS, max_tokens=MOST_TOKENS, max_seconds=patient.remaining)
    return Agent(patient.endpoint, calculator_tools(), limits=limits, clock=patient.clock).run(question)


def _is_right(result: RunResult, expected: str) -> bool:
    return result.answer is not None and expected in result.answer.replace(",", "")
