"""What an examination found, kept for later runs: one file for each endpoint and model."""

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from react_agent.doctor_finding import Finding
from react_agent.endpoints.http import shown
from react_agent.endpoints.http_endpoint import HttpEndpoint
from react_agent.errors import ConfigError

VERSION = 1
MOST_DAYS = 30  # servers and models change
NAME_CHARS = 60


@dataclass(frozen=True, slots=True)
class Known:
    """What later runs read. window: for a server that does not tell it. dropped, renamed, cap: see Learned. enforced: kinds of
    structured output. written: when, in seconds since the epoch."""

    server: str = ""
    window: int | None = None
    strict_roles: bool = False
    stream: bool = True
    dropped: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    cap: int | None = None
    enforced: tuple[str, ...] = ()
    written: float = 0.0


def known_from(endpoint: HttpEndpoint, findings: Iterable[Finding], now: float | None = None) -> Known:
    """What the endpoint has learned, and what the findings add."""
    outcomes = {finding.name: finding for finding in findings}
    learned = endpoint.ladder.learned
    states: Mapping[str, str] = outcomes["structured"].values.get("states", {}) if "structured" in outcomes else {}
    refused = any(outcomes[name].outcome in ("refused", "strict") for name in ("system", "turns") if name in outcomes)
    broken = "streaming" in outcomes and outcomes["streaming"].outcome == "refused"
    return Known(
        learned.server, endpoint.context_window, learned.strict_roles or refused, learned.stream and not broken,
        tuple(sorted(learned.dropped)), dict(learned.renamed), learned.cap,
        tuple(mode for mode, state in states.items() if state == "enforced"), time.time() if now is None else now,
    )  # fmt: skip


def file_for(folder: Path, endpoint: HttpEndpoint, local: str = "") -> Path:
    """Where it is kept. local: the name of a model that is served for one run, at a port that changes."""
    where = f"local {local}" if local else f"{endpoint.family} {shown(endpoint.base_url)} {endpoint.model}"
    name = re.sub(r"[^A-Za-z0-9.]+", "-", re.sub(r"\w+://", "", where)).strip("-")[:NAME_CHARS]
    return folder / "endpoints" / f"{name}-{hashlib.sha256(where.encode()).hexdigest()[:8]}.json"


def write(file: Path, known: Known, findings: Iterable[Finding]) -> None:
    """Put it in its place at once, or leave what is there. Raises ConfigError."""
    body = {"version": VERSION, "written": _date(known.written), "known": asdict(known), "findings": [asdict(one) for one in findings]}
    partial = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(body, ensure_ascii=False, indent=1) + "\n", "utf-8")
        partial.replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise ConfigError(f"what was found cannot be kept in {file}: {error.strerror or error}") from None


def read(file: Path, now: float | None = None) -> Known | None:
    """What a file has; None where there is none that can be used: of another version, damaged, or too old."""
    try:
        body = json.loads(file.read_text("utf-8"))
        known = Known(**{**body["known"], "dropped": tuple(body["known"]["dropped"]), "enforced": tuple(body["known"]["enforced"])})
        age_s = (time.time() if now is None else now) - known.written
        usable = body["version"] == VERSION and _is_sane(known) and age_s < MOST_DAYS * 86400
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return known if usable else None


def teach(endpoint: HttpEndpoint, known: Known) -> None:
    """Let an endpoint begin with what is known. What changes its requests is a note of its first completion."""
    endpoint.remembered_window = known.window
    if not endpoint.ladder.learned.server:
        endpoint.ladder.learn(server=known.server)
    endpoint.ladder.learn(
        strict_roles=known.strict_roles, stream=known.stream, dropped=frozenset(known.dropped), renamed=known.renamed, cap=known.cap,
    )  # fmt: skip
    endpoint.proved(known.enforced)
    changes = [
        *(["roles made strict"] if known.strict_roles else []), *([] if known.stream else ["no streaming"]),
        *(f"no {name}" for name in known.dropped), *(f"{old} renamed to {new}" for old, new in known.renamed.items()),
        *([f"output limited to {known.cap} tokens"] if known.cap else []),
        *([f"structured output: {', '.join(known.enforced) or 'none'} enforced"] if endpoint.structured == "auto" else []),
    ]  # fmt: skip
    if changes:
        endpoint.note(f"known from react-agent doctor of {_date(known.written)}: {'; '.join(changes)} (--fresh finds out anew)")


def _is_sane(known: Known) -> bool:
    kinds: tuple[tuple[Any, type | tuple[type, ...]], ...] = (
        (known.server, str), (known.window, (int, type(None))), (known.strict_roles, bool), (known.stream, bool), (known.renamed, dict),
        (known.cap, (int, type(None))), (known.written, (int, float)),
    )  # fmt: skip
    texts = (*known.dropped, *known.enforced, *known.renamed, *known.renamed.values())
    return all(isinstance(value, kind) for value, kind in kinds) and all(isinstance(text, str) for text in texts)


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
