"""A model behind a chat API that has every habit that a real server may have, one at a time: for what examines endpoints.

    with fake_model(stop="ignored") as server: ...

Its tokens are words. It answers what react_agent's doctor asks, and small questions with the calculator.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from fake_server import DONE, Answer, FakeServer, answer, chunk, stream

from react_agent.tokens import estimate_prompt
from react_agent.types import Message

NUMBERS = "one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen, sixteen"
STORY = "The keeper sat down and read a long letter from his sister in the south. " * 20
EXPRESSIONS = {"17 times 23": "17 * 23", "1234 plus 4321": "1234 + 4321", "15% of 80": "15% of 80"}
ROUTE = "/v1/chat/completions"
SIGN = '{"sign": "q7"}'


@dataclass(frozen=True)
class Habits:
    """Each habit by a word; the defaults are those of a good server. counts: in every chunk, as llama.cpp has them."""

    system: str = "accepted"
    turns: str = "free"
    stop: str = "honoured"
    stream: str = "works"
    counts: bool = True
    enforces: tuple[str, ...] = ("json_schema", "json_object")
    refuses_format: bool = False
    prefill: str = "ignored"
    usage: str = "honest"
    cut: str = "reported"
    reasoning: str = "none"
    decisions: str = "held"
    fails_at: str = ""


def fake_model(look_ups: Any = None, **habits: Any) -> FakeServer:
    """A running server with these habits."""
    having = Habits(**habits)
    return FakeServer(lambda seen, number: _answered(seen.json, having) if seen.path == ROUTE else answer(404, {}), look_ups)


def _refused(words: str, status: int = 400) -> Answer:
    return answer(status, {"error": {"message": words}})


def _answered(body: dict[str, Any], habits: Habits) -> Answer:
    messages = body["messages"]
    last = messages[-1]["content"]
    roles = [message["role"] for message in messages]
    if habits.fails_at and habits.fails_at in last:
        return _refused("no such luck", 404)
    if habits.system == "refused" and "system" in roles:
        return _refused("System role not supported")
    if habits.turns == "strict" and any(a == b for a, b in zip(roles, roles[1:], strict=False)):
        return _refused("Conversation roles must alternate user/assistant/user/assistant/...")
    if habits.stop == "refused" and "stop" in body:
        return _refused("Unsupported parameter: 'stop' is not supported with this model.")
    if habits.refuses_format and "response_format" in body:
        return _refused("response_format is not supported with this model")
    if habits.prefill == "refused" and roles[-1] == "assistant":
        return _refused("Prefill is not supported: the conversation must end with a user message")
    if habits.stream == "refused" and body.get("stream"):
        return _refused("streaming is not supported")
    return _reply(body, habits)


def _reply(body: dict[str, Any], habits: Habits) -> Answer:
    text, reasoning = _text(body, habits)
    words = re.findall(r"\s*\S+", text)
    cap = 10**6 if habits.cut == "limit_ignored" else body["max_tokens"]
    if reasoning and habits.reasoning == "all_of_it":
        words, cut = [], True
    else:
        words, cut = words[:cap], len(words) > cap
    text = "".join(words)
    ended = False
    for word in body.get("stop", []) if habits.stop == "honoured" else []:
        text, found, _ = text.partition(word)
        ended = ended or bool(found)
    words = re.findall(r"\s*\S+", text)
    finish = "length" if cut and not ended and habits.cut == "reported" else "stop"
    usage = _usage(body["messages"], len(words) + len(reasoning.split()), habits)
    if not body.get("stream") or habits.stream == "whole":
        message = {"role": "assistant", "content": text, **({"reasoning_content": reasoning} if reasoning else {})}
        return answer(200, {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "model": "fake", **usage})
    return _streamed(words, reasoning, finish, usage, habits)


def _streamed(words: list[str], reasoning: str, finish: str, usage: dict[str, Any], habits: Habits) -> Answer:
    thought = [{"choices": [{"index": 0, "delta": {"reasoning_content": reasoning}, "finish_reason": None}]}] if reasoning else []
    timings = [{"timings": {"prompt_n": 10, "cache_n": 0, "predicted_n": count + 1}} if habits.counts else {} for count in range(len(words))]
    pieces = [chunk(word, model="fake", **timing) for word, timing in zip(words, timings, strict=True)]
    return stream(*thought, *pieces, chunk(finish=finish, **usage), DONE)


def _text(body: dict[str, Any], habits: Habits) -> tuple[str, str]:
    """(reply, reasoning) to what is asked last."""
    messages = body["messages"]
    last = messages[-1]["content"]
    kind = body.get("response_format", {}).get("type")
    if messages[-1]["role"] == "assistant":
        return {"continued": " 5, 6, 7", "echoed": f"{last} 5, 6, 7"}.get(habits.prefill, "What shall I count?"), ""
    if kind in habits.enforces and "no JSON" in last:
        return SIGN, ""
    if "Observation from" in last or "JSON object" in last or any(question in last for question in EXPRESSIONS):
        return _decision(last, habits), ""
    if "7 + 5" in last:
        thought = "seven and five make twelve"
        return {"none": ("12", ""), "apart": ("12", thought), "in_text": (f"<think>{thought}</think>12", ""),
                "all_of_it": ("12", thought)}[habits.reasoning]  # fmt: skip
    return next(text for part, text in (
        ("one to twenty", NUMBERS), ("1 to 100", ", ".join(map(str, range(1, 101)))), ("story", STORY), ("light?", "The big lamp."),
        ("no JSON", "hello"), ("", "Hello, I look after the books."),
    ) if part in last), ""  # fmt: skip


def _decision(last: str, habits: Habits) -> str:
    """The reply of an agent's model: the calculator first, and its result as the answer."""
    if habits.decisions == "lost" or (habits.decisions == "shaky" and "Observation from" in last and "355" not in last):
        return "I would use the calculator for that."
    expression = next((expression for question, expression in EXPRESSIONS.items() if question in last), None)
    if expression:
        call = {"thought": "Calculate.", "action": "calculator", "action_input": {"expression": expression}, "final_answer": None}
        return json.dumps(call)
    result = re.search(r'"result": ?"?([\d.]+)', last)
    value = "a secret" if habits.decisions == "wrong" or result is None else result[1]
    return json.dumps({"thought": "Done.", "action": "none", "action_input": {}, "final_answer": f"It is {value}."})


def _usage(messages: list[dict[str, str]], written: int, habits: Habits) -> dict[str, Any]:
    if habits.usage == "none":
        return {}
    counted = messages if habits.system != "dropped" else [message for message in messages if message["role"] != "system"]
    prompt = estimate_prompt([Message(message["role"], message["content"]) for message in counted])
    prompt = 7 if habits.usage == "wrong" else prompt
    return {"usage": {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}}

