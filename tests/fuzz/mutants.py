"""Mutants of replies, and what must hold for each of them. Run as a program for a long campaign:

    python tests/fuzz/mutants.py --mutants 5000000 --seed 1 --failures failures.jsonl

Nine oracles. "any": whatever the text, a Decision or a ParseError comes back, and a Decision survives being written and read.
"cut": a prefix of a reply is refused or decides the same. "wrapped": prose, fences and reasoning around a reply change nothing; with
"rewrapped" and "cut_wrapped" they are put around the corpora's replies, and cut with what is between them. "spaced": nor do blanks between the tokens of valid JSON. "damaged": a decision with one mark of its syntax lost, doubled or
exchanged is refused or decides the same. "quoted": a decision that is quoted inside a text without escaping is never the reply's own.
"shortcut": what the parser reads at once, it would read the same on the long way.
"""

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from made import BEFORE, SWAPS, UNOPENED, damage, decision_text, quoting_text, wrapped_text
from replies import long_way

from react_agent.errors import ParseError
from react_agent.parser import canonical, parse_decision
from react_agent.registry import Tool, ToolRegistry
from react_agent.types import Completion, Decision

DATA = Path(__file__).parents[1] / "data"
LONGEST = 6000
TWICE = 0.0  # how often a damaged reply is damaged once more
# Labels have no closing mark, and in these kinds an object stands before the one that counts: a prefix may decide otherwise.
UNMARKED = {"classic_text", "yaml", "prose", "schema_echo", "conflict", "special_token"}
BITS = [
    '"', "'", "`", "{", "}", "[", "]", "(", ")", ",", ":", "\\", "\\\\", '\\"', "\\n", "\n", "\n\n", "\t", " ", "//", "/*", "*/", "#", "...",
    "```", "```json\n", "<think>", "</think>", "<|im_end|>", "<|channel|>final<|message|>", "<|channel|>analysis<|message|>", "</s>", "null",
    "None", "True", "NaN", "1e999", "007", "1" * 400, "“", "”", "‘", "’", "，", "：", "｛", "｝", "\u200b", "\ufeff", "\x00", "\ud83d", "\nObservation: 3\n",
    "\nAction: ", "\nAction Input: ", "\nFinal Answer: ", "Thought: ", '"action": ', '"action_input": {', '"final_answer": ', '"}', '"},', '"]',
    "user: ", "\u2028", "&", "$", "<", ">", "|",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reply:
    kind: str
    text: str
    finish_reason: str
    tools: ToolRegistry


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the parser's answer to a text."""

    oracle: str
    what: str
    text: str
    finish_reason: str
    tools: ToolRegistry


def registry(tools: list[dict]) -> ToolRegistry:
    """Tools with these names and parameters, as the corpora give them."""
    return ToolRegistry(
        Tool(tool["name"], tool["name"], {"type": "object", "properties": {name: {} for name in tool["parameters"]}},
             lambda **_: "", read_only=tool.get("read_only", True))
        for tool in tools
    )  # fmt: skip


def replies(*files: str) -> list[Reply]:
    """The cases of corpora in tests/data."""
    known: dict[str, ToolRegistry] = {}
    found = []
    for file in files:
        for line in (DATA / file).read_text("utf-8").splitlines():
            case = json.loads(line)
            key = json.dumps(case["tools"])
            known.setdefault(key, registry(case["tools"]))
            found.append(Reply(case["kind"], case["text"], case["finish_reason"] or "unknown", known[key]))
    return found


def outcome(text: str, finish_reason: str, tools: ToolRegistry) -> tuple | None:
    """What the parser makes of a text, comparably; None when it refuses."""
    decision = read(text, finish_reason, tools)
    return None if decision is None else decided(decision)


def read(text: str, finish_reason: str, tools: ToolRegistry) -> Decision | None:
    try:
        return parse_decision(Completion(text, finish_reason), tools)
    except ParseError:
        return None


def decided(decision: Decision) -> tuple:
    call = decision.call
    return ("call", call.name, json.dumps(call.arguments, sort_keys=True)) if call else ("answer", decision.final_answer)


def mutant(rng: random.Random, texts: list[str]) -> str:
    """A reply that was cut, spliced, doubled, and had bits inserted, removed and exchanged."""
    text = rng.choice(texts)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            text = text[:at] + rng.choice(BITS) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + rng.randint(1, 5) :]
        elif kind == 2:
            other = rng.choice(texts)
            text = text[:at] + other[rng.randrange(len(other) + 1) :]
        elif kind == 3:
            text = text[:at]
        elif kind == 4:
            old, new = rng.choice(SWAPS)
            text = text[:at] + text[at:].replace(old, new, rng.randint(1, 3))
        else:
            text = text[:at] + text[at : at + rng.randint(1, 40)] + text[at:]
        text = text[:LONGEST]
    return text


def any_fault(rng: random.Random, base: list[Reply], texts: list[str]) -> Fault | None:
    reply = rng.choice(base)
    text, reason = mutant(rng, texts), rng.choice(["stop", "length", "unknown", "content_filter"])
    started = time.perf_counter()
    try:
        decision = parse_decision(Completion(text, reason), reply.tools)
    except ParseError as error:
        if len(error.excerpt) > 40 or not error.hint:
            return Fault("any", f"excerpt or hint of {error}", text, reason, reply.tools)
        return None
    except Exception as error:  # this is what the oracle looks for
        return Fault("any", repr(error)[:200], text, reason, reply.tools)
    finally:
        if time.perf_counter() - started > 2:
            print("slow:", text[:200])
    if (decision.call is None) == (decision.final_answer is None):
        return Fault("any", "neither or both", text, reason, reply.tools)
    if outcome(canonical(decision), "stop", reply.tools) != decided(decision):
        return Fault("any", "not the same once written and read", text, reason, reply.tools)
    return None


def cut_fault(rng: random.Random, base: list[Reply], texts: list[str]) -> Fault | None:
    reply = rng.choice(base)
    whole = outcome(reply.text, reply.finish_reason, reply.tools)
    if whole is None or reply.kind in UNMARKED or not reply.text:
        return None
    text, reason = reply.text[: rng.randrange(len(reply.text))], rng.choice(["stop", "length"])
    got = outcome(text, reason, reply.tools)
    if got is not None and got != whole and (got[0] == "call" or whole[0] == "call"):
        return Fault("cut", f"{got} instead of {whole}", text, reason, reply.tools)
    return None


def wrapped_fault(rng: random.Random, base: list[Reply], texts: list[str]) -> Fault | None:
    tools = rng.choice(base).tools
    text, same = decision_text(rng, tools)
    whole = wrapped_text(rng, text, tools, [*BEFORE, *UNOPENED]) + rng.choice(["", "", "}", "\n" + text])
    got = outcome(whole, "stop", tools)
    return None if got == same else Fault("wrapped", f"{got} instead of {same}", whole, "stop", tools)


def rewrapped_fault(rng: random.Random, base: list[Reply], texts: list[str]) -> Fault | None:
    """A reply of the corpora, between what may stand around it, is refused or decides the same."""
    reply = rng.choice(base)
    if reply.kind in UNMARKED:
        return None
    whole = outcome(reply.text, reply.finish_reason, reply.tools)
    text = wrapped_text(rng, reply.text, reply.tools, BEFORE)
    if whole is None and '{"' in text[text.index(reply.text) + len(reply.text) :]:
        return None  # an object may be what a cut one lacks, and one behind an observation may count when none is in front
    got = outcome(text, reply.finish_reason, reply.tools)
    if got in (None, whole) or "call" not in (got[0], whole and whole[0]):
        return None
    return Fault("rewrapped", f"{got} instead of {whole}", text, reply.finish_reason, reply.tools)


def cut_wrapped_fault(rng: random.Random, base: list[Reply], texts: list[str]) -> Fault | None:
    """A prefix of a made reply between what may stand around it is refused or decides the same."""
    tools = rng.choice(base).tools
    text, same = decision_text(rng, tools)
    whole = wrapped_text(rng, text, tools, BEFORE)
    text, reason = whole[: rng.randrange(len(whole))], rng.choice(["stop", "length", "unknown"])
    got = outcome(text, reason, tools)
    return None if got in (None, same) else Fault("cut_wrapped", f"{got} instead of {same}", text, reason, tools)


def spaced_fault(rng: random.Random, base: list[Reply], texts: list[str]) -> Fault | None:
    tools = rng.choice(base).tools
    text, same = decision_text(rng, tools, python=False)
    blanks = ["", "", " ", "\n", "\t", "\r\n", "  \n "]
    parts = re.findall(r'"(?:[^"\\]|\\.)*"|[\w.+-]+|[^\w\s"]', text, re.DOTALL)
    spaced = "".join(part + rng.choice(blanks) for part in parts)
    got = outcome(spaced, "stop", tools)
    return None if got == same else Fault("spaced", f"{got} instead of {same}", spaced, "stop", tools)


def damaged_fault(rng: random.Random, base: list[Reply], texts: list[str]) -> Fault | None:
    tools = rng.choice(base).tools
    text, same = decision_text(rng, tools)
    for _ in range(1 + (rng.random() < TWICE)):
        text = damage(rng, text)
    got = outcome(text, rng.choice(["stop", "unknown", "length"]), tools)
    return None if got is None or got == same else Fault("damaged", f"{got} instead of {same}", text, "stop", tools)


def quoted_fault(rng: random.Random, base: list[Reply], texts: list[str]) -> Fault | None:
    tools = rng.choice(base).tools
    if len(tools.names) < 2:
        return None
    text, other = quoting_text(rng, tools)
    got = outcome(text, "stop", tools)
    return Fault("quoted", f"{got}", text, "stop", tools) if got and got[:2] == ("call", other) else None


def shortcut_fault(rng: random.Random, base: list[Reply], texts: list[str]) -> Fault | None:
    """A usual reply, one with the commonest mistakes, or a mutant is read the same without the parser's shortcuts, repairs included."""
    reply = rng.choice(base)
    text, tools = reply.text, reply.tools
    if rng.random() < 0.5:
        text = wrapped_text(rng, decision_text(rng, tools)[0], tools, BEFORE)
    for _ in range(rng.randrange(3)):
        at = rng.choice([0, len(text), rng.randrange(len(text) + 1)])
        text = text[:at] + rng.choice(BITS) + text[at:]
    closers = [place for place, char in enumerate(text) if char in "}]"]
    if closers and rng.random() < 0.4:
        text = text[: (at := rng.choice(closers))] + rng.choice([",", ", ", ",\n"]) + text[at:]
    if rng.random() < 0.3:
        text = text.replace("null", rng.choice(["None", "True", "False"]), 1)
    if rng.random() < 0.2:
        text = text.replace('"', "'", rng.choice([-1, -1, -1, rng.randrange(20)]))
    if rng.random() < 0.2:
        text = "".join(text.rsplit("}", 1))
    return other_way(text, rng.choice(["stop", "length", "unknown"]), tools)


def other_way(text: str, reason: str, tools: ToolRegistry) -> Fault | None:
    """Is a text read otherwise without the shortcuts?"""
    at_once = read(text, reason, tools)
    with long_way():
        without = read(text, reason, tools)
    return None if at_once == without else Fault("shortcut", f"{at_once} instead of {without}", text, reason, tools)


ORACLES: dict[str, Callable[[random.Random, list[Reply], list[str]], Fault | None]] = {
    "any": any_fault, "cut": cut_fault, "wrapped": wrapped_fault, "rewrapped": rewrapped_fault,
    "cut_wrapped": cut_wrapped_fault, "spaced": spaced_fault, "damaged": damaged_fault, "quoted": quoted_fault, "shortcut": shortcut_fault,
}  # fmt: skip


def faults(count: int, seed: int, oracles: list[str], base: list[Reply], texts: list[str]) -> Iterator[Fault]:
    """The faults among count mutants, shared out over the oracles."""
    rng = random.Random(seed)
    for number in range(count):
        fault = ORACLES[oracles[number % len(oracles)]](rng, base, texts)
        if fault:
            yield fault


def material() -> tuple[list[Reply], list[str]]:
    """The corpora as replies, and all texts that mutants are made of, the real replies included."""
    base = replies("parser.jsonl", "parser_more.jsonl")
    real = [json.loads(line)["text"] for line in (DATA / "replies.jsonl").read_text("utf-8").splitlines()]
    short = [reply for reply in base if len(reply.text) < 3000]
    return short, [text for text in [reply.text for reply in short] + real if text and len(text) < 3000]


def as_case(fault: Fault) -> dict:
    """A fault in the form of a corpus case, without the outcome that a person has to add."""
    tools = [{"name": tool.name, "parameters": list(tool.parameter_names)} for tool in fault.tools]
    return {"kind": fault.oracle, "note": fault.what, "text": fault.text, "finish_reason": fault.finish_reason, "tools": tools}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--mutants", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--oracles", nargs="+", default=list(ORACLES), choices=list(ORACLES))
    options.add_argument("--failures", type=Path, help="append each fault as a corpus case")
    given = options.parse_args()
    base, texts = material()
    started, found = time.monotonic(), 0
    for fault in faults(given.mutants, given.seed, given.oracles, base, texts):
        found += 1
        print(f"{fault.oracle}: {fault.what}\n    {fault.text[:300]!r}")
        if given.failures:
            with given.failures.open("a", encoding="utf-8") as file:
                file.write(json.dumps(as_case(fault)) + "\n")
    print(f"{given.mutants:,} mutants from seed {given.seed} in {time.monotonic() - started:.0f} s: {found} faults")


if __name__ == "__main__":
    main()
