"""Each family of APIs as a server would speak it, from one description of a reply; and one call of such a family.

    SPOKEN["gemini"].stream(["a", "b"], finish="MAX_TOKENS") -> the Answer of a stream
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fake_server import Answer, FakeServer, answer, stream

from react_agent.endpoints.anthropic import AnthropicEndpoint
from react_agent.endpoints.base import PLAIN
from react_agent.endpoints.chat import ChatEndpoint
from react_agent.endpoints.completions import CompletionsEndpoint
from react_agent.endpoints.gemini import GeminiEndpoint
from react_agent.endpoints.generic import GenericEndpoint
from react_agent.endpoints.generic_file import GenericApi, Places
from react_agent.endpoints.koboldcpp import KoboldEndpoint
from react_agent.endpoints.llamacpp import LlamaCppEndpoint
from react_agent.endpoints.ollama import OllamaEndpoint
from react_agent.endpoints.tgi import TgiEndpoint
from react_agent.errors import EndpointError
from react_agent.types import Message

DATA = Path(__file__).parent / "data" / "llamacpp"
HELLO = (Message("system", "be brief"), Message("user", "hello"))
PROMPT, WRITTEN = 21, 7  # the counts that the servers tell
NOTHING_TO_SHOW = {"/api/show": answer(404, {"error": "model 'm' not found"})}  # Ollama is asked for a window by POST


def recorded(name: str) -> Answer:
    """A recorded answer of a llama.cpp server: a whole one (.json) or a stream (.txt, its first lines are remarks)."""
    raw = (DATA / name).read_bytes()
    if name.endswith(".txt"):
        return stream(b"".join(line for line in raw.splitlines(keepends=True) if not line.startswith(b"#")))
    sample = json.loads(raw)
    return answer(sample["status"], sample["body"])


def _sse(objects: Sequence[Any], end: bytes = b"", space: bytes = b" ", newline: bytes = b"\n") -> list[bytes]:
    return [b"data:" + space + json.dumps(one, ensure_ascii=False).encode() + newline * 2 for one in objects] + ([end] if end else [])


def _lines(objects: Sequence[Any]) -> list[bytes]:
    return [json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in objects]


def _named(objects: Sequence[dict[str, Any]]) -> list[bytes]:
    return [f"event: {one['type']}\ndata: {json.dumps(one, ensure_ascii=False)}\n\n".encode() for one in objects]


# each: (pieces of text, pieces of thought, its word for the end) -> (the body of a whole reply, the pieces of a stream)


def _completions(texts, thoughts, finish):
    usage = {"prompt_tokens": PROMPT, "completion_tokens": WRITTEN, "total_tokens": PROMPT + WRITTEN}
    pieces = [{"choices": [{"text": text, "index": 0, "finish_reason": None}]} for text in texts]
    pieces += [{"choices": [{"text": "", "finish_reason": finish}]}, {"choices": [], "usage": usage}]
    return {"choices": [{"text": "".join(texts), "finish_reason": finish}], "usage": usage}, _sse(pieces, b"data: [DONE]\n\n")


def _openai(texts, thoughts, finish):
    usage = {"prompt_tokens": PROMPT, "completion_tokens": WRITTEN}
    deltas = [{"reasoning_content": thought} for thought in thoughts] + [{"content": text} for text in texts]
    pieces = [{"choices": [{"delta": delta}]} for delta in deltas]
    pieces += [{"choices": [{"delta": {}, "finish_reason": finish}]}, {"choices": [], "usage": usage}]
    message = {"content": "".join(texts), "reasoning_content": "".join(thoughts)}
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}, _sse(pieces, b"data: [DONE]\n\n")


def _llamacpp(texts, thoughts, finish):
    end = {"stop": True, "stop_type": finish, "tokens_evaluated": PROMPT, "tokens_predicted": WRITTEN, "truncated": False}
    so_far = {"stop": False, "tokens_evaluated": PROMPT}
    pieces = [{"content": text, "tokens_predicted": 1 + place, **so_far} for place, text in enumerate(texts)]
    return {"content": "".join(texts), **end}, _sse([*pieces, {"content": "", **end}])


def _ollama(texts, thoughts, finish):
    end = {"done": True, "done_reason": finish, "prompt_eval_count": PROMPT, "eval_count": WRITTEN}
    pieces = [{"message": {"role": "assistant", "content": "", "thinking": thought}, "done": False} for thought in thoughts]
    pieces += [{"message": {"role": "assistant", "content": text}, "done": False} for text in texts]
    message = {"role": "assistant", "content": "".join(texts), "thinking": "".join(thoughts)}
    return {"message": message, **end}, _lines([*pieces, {"message": {"content": ""}, **end}])


def _ollama_generate(texts, thoughts, finish):
    end = {"done": True, "done_reason": finish, "prompt_eval_count": PROMPT, "eval_count": WRITTEN}
    pieces = [{"response": "", "thinking": thought, "done": False} for thought in thoughts]
    pieces += [{"response": text, "done": False} for text in texts]
    return {"response": "".join(texts), "thinking": "".join(thoughts), **end}, _lines([*pieces, {"response": "", **end}])


def _anthropic(texts, thoughts, finish):
    usage = {"input_tokens": PROMPT - 5, "cache_read_input_tokens": 5, "output_tokens": 1}
    deltas = [("thinking", thought) for thought in thoughts] + [("text", text) for text in texts]
    content = [{"type": "thinking", "thinking": "".join(thoughts), "signature": "x"}, {"type": "text", "text": "".join(texts)}]
    pieces = [{"type": "message_start", "message": {"type": "message", "content": [], "usage": usage}}, {"type": "ping"}]
    pieces += [{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}]
    pieces += [{"type": "content_block_delta", "index": 0, "delta": {"type": f"{kind}_delta", kind: text}} for kind, text in deltas]
    pieces += [{"type": "content_block_stop", "index": 0}]
    pieces += [{"type": "message_delta", "delta": {"stop_reason": finish}, "usage": {"output_tokens": WRITTEN}}, {"type": "message_stop"}]
    whole = {"type": "message", "content": content, "stop_reason": finish, "usage": {**usage, "output_tokens": WRITTEN}}
    return whole, _named(pieces)


def _gemini(texts, thoughts, finish):
    usage = {"promptTokenCount": PROMPT, "candidatesTokenCount": WRITTEN - 2, "thoughtsTokenCount": 2, "totalTokenCount": PROMPT + WRITTEN}
    parts = [{"text": thought, "thought": True} for thought in thoughts] + [{"text": text} for text in texts]
    so_far = {"usageMetadata": {"promptTokenCount": PROMPT}}
    pieces = [{"candidates": [{"content": {"role": "model", "parts": [part]}}], **so_far} for part in parts]
    pieces += [{"candidates": [{"finishReason": finish}], "usageMetadata": usage}]
    whole = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish}], "usageMetadata": usage}
    return whole, _sse(pieces, newline=b"\r\n")


def _tgi(texts, thoughts, finish):
    details = {"finish_reason": finish, "generated_tokens": WRITTEN, "input_length": PROMPT}
    pieces = [{"token": {"text": text, "special": False}, "generated_text": None, "details": None} for text in texts]
    pieces += [{"token": {"text": "</s>", "special": True}, "generated_text": "".join(texts), "details": details}]
    return {"generated_text": "".join(texts), "details": details}, [b":\n\n", *_sse(pieces, space=b"")]


def _kobold(texts, thoughts, finish):
    pieces = [{"token": text, "finish_reason": None} for text in texts] + [{"token": "", "finish_reason": finish}]
    told = {"prompt_tokens": PROMPT, "completion_tokens": WRITTEN}
    return {"results": [{"text": "".join(texts), "finish_reason": finish, **told}]}, [b"event: message\n" + one for one in _sse(pieces)]


def _generic(texts, thoughts, finish):
    told = {"usage": {"in": PROMPT, "out": WRITTEN}}
    pieces = [{"piece": text, "thought": None} for text in texts] + [{"piece": "", "why": finish, "over": True, **told}]
    pieces = [{"piece": "", "thought": thought} for thought in thoughts] + pieces
    return {"answer": {"parts": list(texts), "thought": "".join(thoughts), "why": finish}, **told}, _sse(pieces)


GENERIC = GenericApi(
    url="http://127.0.0.1:1", body={"q": "{messages}", "n": "{max_output_tokens}", "live": "{stream}"},
    reply=Places("answer.parts.*", "answer.why", "answer.thought", input_tokens="usage.in", output_tokens="usage.out"),
    stream=Places(text="piece", reason="why", reasoning="thought", done="over", input_tokens="usage.in", output_tokens="usage.out"),
    reasons={"enough": "stop", "full": "length"},
)  # fmt: skip


def _make_generic(url, model="", api_key=None, **settings):
    described = GenericApi(**{name: getattr(GENERIC, name) for name in GenericApi.__slots__} | {"url": url})
    return GenericEndpoint(described, model, api_key, **settings)


@dataclass(frozen=True)
class Spoken:
    """How a family is spoken to and speaks. paths: of a whole reply and of a stream. ends: its words for stop and length.

    thinks: it keeps reasoning apart. counts_streams, counts_whole: it tells its counts at the end; counts_early: in every piece.
    """

    make: Callable[..., Any]
    say: Callable[..., Any]
    paths: tuple[str, str]
    ends: tuple[str, str] = ("stop", "length")
    thinks: bool = False
    counts_whole: bool = True
    counts_streams: bool = True
    counts_early: bool = False

    def whole(self, texts: Sequence[str], finish: str = "", thoughts: Sequence[str] = ()) -> Answer:
        return answer(200, self.say(texts, thoughts, finish or self.ends[0])[0])

    def pieces(self, texts: Sequence[str], finish: str = "", thoughts: Sequence[str] = ()) -> list[bytes]:
        return self.say(texts, thoughts, finish or self.ends[0])[1]

    def stream(self, texts: Sequence[str], finish: str = "", thoughts: Sequence[str] = ()) -> Answer:
        return Answer(200, {"Content-Type": "text/event-stream"}, self.pieces(texts, finish, thoughts), "chunked")


def _with(template):
    return lambda maker: lambda url, model="", api_key=None, **settings: maker(url, model, api_key, **{"template": template, **settings})


_chatml = _with("chatml")
SPOKEN = {
    "openai": Spoken(ChatEndpoint, _openai, ("/v1/chat/completions",) * 2, thinks=True),
    "completions": Spoken(_chatml(CompletionsEndpoint), _completions, ("/v1/completions",) * 2),
    "llamacpp": Spoken(_chatml(LlamaCppEndpoint), _llamacpp, ("/completion",) * 2, ("eos", "limit"), counts_early=True),
    "ollama": Spoken(OllamaEndpoint, _ollama, ("/api/chat",) * 2, thinks=True),
    "ollama generate": Spoken(_chatml(OllamaEndpoint), _ollama_generate, ("/api/generate",) * 2, thinks=True),
    "anthropic": Spoken(AnthropicEndpoint, _anthropic, ("/v1/messages",) * 2, ("end_turn", "max_tokens"), thinks=True),
    "gemini": Spoken(GeminiEndpoint, _gemini, ("/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent?alt=sse"),
                     ("STOP", "MAX_TOKENS"), thinks=True),
    "tgi": Spoken(_chatml(TgiEndpoint), _tgi, ("/generate", "/generate_stream"), ("eos_token", "length")),
    "kobold": Spoken(_chatml(KoboldEndpoint), _kobold, ("/api/v1/generate", "/api/extra/generate/stream"), counts_streams=False),
    "generic": Spoken(_make_generic, _generic, ("/",) * 2, ("enough", "FULL"), thinks=True),
}  # fmt: skip


def endpoint(family, server, **settings):
    """An endpoint of a family whose waits take no time."""
    quick = {"sleep": lambda seconds: None, "jitter": lambda: 1.0}
    return SPOKEN[family].make(server.url, **{"model": "m", **quick, **settings})


def ask(family, answers, request=PLAIN, look_ups=None, messages=HELLO, **settings):
    """(completion, what the server saw) of one call."""
    with FakeServer(answers, NOTHING_TO_SHOW if look_ups is None else look_ups) as server:
        return endpoint(family, server, **settings).complete(messages, request), server.requests


def failing(family, answers, request=PLAIN, look_ups=None, messages=HELLO, **settings):
    """(the EndpointError, what the server saw) of one call."""
    with FakeServer(answers, NOTHING_TO_SHOW if look_ups is None else look_ups) as server, pytest.raises(EndpointError) as caught:
        endpoint(family, server, **settings).complete(messages, request)
    return caught.value, server.requests
