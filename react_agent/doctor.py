"""Examines an endpoint: which server it is, what it really does, and what that means for an agent.

The checks are in doctor_server (what it tells), doctor_wire (what it does with a request) and doctor_format (what the model does);
doctor_file keeps what was found for later runs, doctor_words has what is said about it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from react_agent.doctor_finding import Finding, Patient
from react_agent.doctor_format import reply_format
from react_agent.doctor_server import cut, reasoning, server, speed, usage, window
from react_agent.doctor_wire import early_close, prefill, stop, streaming, structured, system, turns
from react_agent.errors import EndpointError

__all__ = ["CHECKS", "CHECK_SECONDS", "Finding", "Patient", "examine"]

CHECK_SECONDS = 60.0  # for one check
Check = Callable[[Patient], Finding]
CHECKS: Sequence[tuple[str, Check]] = (
    ("server", server), ("window", window), ("system", system), ("turns", turns), ("stop", stop), ("streaming", streaming),
    ("early close", early_close), ("structured", structured), ("prefill", prefill), ("usage", usage), ("cut", cut),
    ("reasoning", reasoning), ("speed", speed), ("format", reply_format),
)  # fmt: skip


def examine(
    patient: Patient, on_check: Callable[[str], None] = lambda name: None, checks: Sequence[tuple[str, Check]] = CHECKS,
) -> Iterator[Finding]:  # fmt: skip
    """Every check's finding, in order. One that fails is a finding too, and the next goes on. on_check: told what begins."""
    for name, check in checks:
        on_check(name)
        patient.next_check()
        started, tokens = patient.clock(), patient.tokens
        try:
            finding = check(patient)
        except EndpointError as error:
            finding = _failed(name, error)
        masked = patient.http.secrets.masked if patient.http else str
        yield replace(
            finding, found=masked(finding.found), evidence=masked(finding.evidence), seconds=round(patient.clock() - started, 3),
            tokens=patient.tokens - tokens,
        )  # fmt: skip


def _failed(name: str, error: EndpointError) -> Finding:
    """A check that got no answer: for the first one that is the finding, for the others it leaves them open."""
    found = "took too long" if error.kind == "timeout" else "no answer"
    return Finding(name, "failed", "bad" if name == "server" else "unknown", found, error.message[:200], error.hint, {"error": error.kind})
