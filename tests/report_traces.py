"""Traces for the tests of report, show and stats: a run with everything in it, a long one, and a hostile one."""

import itertools
import json
from pathlib import Path

from react_agent.trace import Trace
from react_agent.trace_events import (
    CompletionReceived,
    DecisionMade,
    EndpointFailed,
    Noted,
    PromptCounted,
    ReplyUnreadable,
    RequestSent,
    RunEnded,
    RunResumed,
    RunStarted,
    Summarised,
    ToolEnded,
    ToolStarted,
)
from react_agent.types import Message, Usage

BEGAN = 1_767_225_600.0  # 2026-01-01 00:00:00 UTC
TOOLS = (
    {"name": "sql_query", "description": "Read from the shop's database with one SELECT.",
     "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
     "read_only": True, "untrusted_output": False, "volatile": False},
    {"name": "read_doc", "description": "Read a document.", "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
     "read_only": True, "untrusted_output": True, "volatile": False},
    {"name": "write_file", "description": "Write a file.", "parameters": {"type": "object", "properties": {}},
     "read_only": False, "untrusted_output": False, "volatile": False},
)  # fmt: skip
CRASH = 'Traceback (most recent call last):\n  File "shop.py", line 7, in read_doc\n    return pages[name]\nKeyError: \'returns\'\n'
ANSWER = "There are 2 open orders. 有两个未完成的订单。"
ROWS = {
    "columns": ["id", "status", "total"], "rows": [[1, "paid", 12.5], [90071992547409931, "open", None]], "row_count": 2, "truncated": None,
}  # fmt: skip


def write(path: Path, events) -> Path:
    """The events as a trace, a second apart."""
    ticks = itertools.count()
    trace = Trace(path, clock=lambda: BEGAN + next(ticks))
    for event in events:
        trace.write(event)
    trace.close()
    return trace.path


def ok(result) -> str:
    return json.dumps({"ok": True, "result": result}, ensure_ascii=False)


def refused(kind, message, hint="") -> str:
    return json.dumps({"ok": False, "error": {"type": kind, "message": message, "hint": hint}}, ensure_ascii=False)


def started(**changes) -> RunStarted:
    limits = {"max_steps": 12, "max_tokens": 20000, "max_seconds": 120, "max_cost": None, "max_parse_failures": 3, "input_price": 0.5,
              "output_price": 1.5}  # fmt: skip
    return RunStarted(**{
        "run_id": "3f9a12bc45de", "question": "How many orders are open, and write it to open.txt?", "prompt": "en@91ab22",
        "instructions": "Be brief.", "endpoint": {"endpoint": "chat", "url": "http://localhost:8080/v1", "model": "small-3b"},
        "limits": limits, "options": {"require_tool": True}, "tools": TOOLS,
        "history": (Message("user", "Hello."), Message("assistant", "Hello.")), "context_window": 8192, "max_output_tokens": 512, **changes,
    })  # fmt: skip


def request(step, *add, keep=0, **more) -> RequestSent:
    return RequestSent(step, keep, add, 512, 300 + step, **more)


def completion(step, text="{}", **more) -> CompletionReceived:
    usage = Usage(400 + 60 * step, 40, 60 * step)
    return CompletionReceived(step, text, **{"finish_reason": "stop", "usage": usage, "seconds": 0.5, "model": "small-3b-q4", **more})


def told(text) -> Message:
    return Message("user", text)


def said(text) -> Message:
    return Message("assistant", text)


def varied_events(ended: bool = True) -> list:
    """Every event and every outcome of a step but the two that end a run otherwise."""
    query, doc = {"query": "SELECT * FROM orders WHERE status = 'open'"}, {"name": "returns"}
    file = {"path": "open.txt", "text": "2 open\n"}
    events = [
        started(),
        request(1, Message("system", "You answer with one JSON object."), told("How many orders are open?")),
        completion(1, "Let me look it up!", reasoning="The user wants a count.\nI need the table."),
        ReplyUnreadable(1, "no_object", "there is no JSON object in it", "Could not read your reply. Send exactly one JSON object."),
        request(2, said("Let me look it up!"), told("Could not read your reply."), keep=2),
        completion(2, "{'thought': 'Look.', 'action': 'sql_query', }", closed_early=True, notes=("temperature was refused and left out",)),
        DecisionMade(2, "Look at the orders.", "sql_query", query, None, (("single_quotes", 1), ("trailing_comma", 43))),
        ToolStarted(2, "sql_query", query, True, ("limit: '10' -> 10",)),
        ToolEnded(2, "sql_query", ok(ROWS), None, True, 0.25),
        Summarised(3, "Two orders are open.", Usage(90, 10)),
        Noted(3, "compacted", "1 old observations were replaced by a line each; the prompt is about 310 tokens now"),
        PromptCounted(3, 512),
        request(3, said("{}"), told("Observation from sql_query: ..."), keep=2),
        EndpointFailed(3, "context_overflow", "the prompt is too long", "use a larger window", 400, 8192, 9000),
        request(3, told("shorter"), keep=3),
        completion(3, '{"thought": "And the document.", "action": "read_doc"}', usage=Usage(500, 30, None, 12, True)),
        DecisionMade(3, "And the document.", "read_doc", doc),
        ToolStarted(3, "read_doc", doc, True),
        ToolEnded(3, "read_doc", refused("tool_crash", "read_doc failed", "do something else"), "tool_crash", False, 0.1, CRASH),
        request(4, said("{}"), told("Observation from read_doc: ..."), keep=4),
        completion(4),
        DecisionMade(4, "Again.", "sql_query", query),
        Noted(4, "repeated_call", "sql_query was called with the same arguments before; its earlier observation was given"),
        request(5, said("{}"), told("..."), keep=6),
        completion(5),
        DecisionMade(5, "Write it down.", "write_file", file),
        ToolStarted(5, "write_file", file, False),
        ToolEnded(5, "write_file", ok("written: 7 bytes"), None, False, 0.01),
        request(6, said("{}"), told("..."), keep=8),
        completion(6),
        DecisionMade(6, "Done.", None, None, "There are 47 open orders."),
        Noted(6, "answer_sent_back", "number_from_nowhere 47"),
        request(7, said("{}"), told("The number 47 is nowhere."), keep=10),
        EndpointFailed(7, "connection", "no connection"),
        RunEnded("failed", "endpoint_error", None, 6, Usage(1, 1), 9.0, "no connection"),
        RunResumed(2, 9.0),
        completion(7),
        DecisionMade(7, "写下来。", "write_file", file),
        ToolStarted(7, "write_file", file, False),
    ]  # fmt: skip
    end = [
        ToolEnded(7, "write_file", refused("outcome_unknown", "the run was interrupted"), "outcome_unknown"),
        request(8, said("{}"), told("..."), keep=12, forced=True),
        completion(8, '{"final_answer": "有两个未完成的订单。"}', finish_reason="length"),
        DecisionMade(8, "答案已知。", None, None, ANSWER),
        RunEnded("completed", "answer", ANSWER, 8, Usage(5400, 320, 1980, 12, True), 13.75, "", True, 0.00318),
    ]
    return events + end if ended else events


def long_events(steps: int) -> list:
    """A run of many steps: calls, failures, unreadable replies, and an answer."""
    events = [started(question="Check every order.", limits={"max_steps": steps})]
    events += [event for number in range(1, steps) for event in _long_step(number)]
    answer = "All orders were checked."
    return [
        *events, request(steps, told("last"), keep=2 * steps - 2), completion(steps, usage=Usage(500 + 3 * steps, 30, 400 + 3 * steps)),
        DecisionMade(steps, "Done.", None, None, answer),
        RunEnded("completed", "answer", answer, steps, Usage(400 * steps, 40 * steps, 300 * steps), 0.7 * steps),
    ]  # fmt: skip


def _long_step(number: int) -> list:
    query = {"query": f"SELECT * FROM orders WHERE id = {number}"}
    usage = Usage(500 + 3 * number, 20 + number % 70, 400 + 3 * number)
    add = (said(json.dumps(query)), told(f"Observation {number}: " + "a row of the table, " * 40))
    reply = completion(number, json.dumps(query) * 3, usage=usage, seconds=0.2 + number % 13 / 10)
    head = [request(number, *add, keep=2 * number - 2), reply]
    if number % 17 == 0:
        return [*head, ReplyUnreadable(number, "bad_syntax", "a comma is missing", "Send one JSON object.")]
    error = "sql_error" if number % 11 == 0 else None
    content = refused("sql_error", "no such table: order", "orders") if error else ok({**ROWS, "rows": [[number, "paid", 1.5]] * 12})
    return [*head, DecisionMade(number, f"Look at order {number}.", "sql_query", query), ToolStarted(number, "sql_query", query, True),
            ToolEnded(number, "sql_query", content, error, False, number % 7 / 20)]  # fmt: skip


HOSTILE = [
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=2>",
    "<!--<script>window.pwned=3",
    "]]><svg onload=window.pwned=4>",
    "javascript:window.pwned=5",
    '"><a href="javascript:window.pwned=6">x</a>',
    "\u2028window.pwned=7\u2029//",
    "</style><style>*{display:none}</style>",
    "</title></noscript></textarea><iframe srcdoc='<script>parent.pwned=8</script>'></iframe>",
    "${window.pwned=9}{{data}}{{script}}\\u003c/script>",
    "\x00\x1b[31m\x07 \u202egnp.exe\u2066 \ufeff \ud800",
    "__proto__",
]


def hostile_events(text: str) -> list:
    """A run that has the text in every field that holds one."""
    args = {text: text, "deep": [text, {text: text}], "__proto__": {"polluted": text}}
    slug, say = text, told(text)
    usage = Usage(10, 10)
    return [
        started(run_id=text, question=text, language=text, prompt=text, instructions=text, options={text: text}, history=(say,),
                endpoint={"endpoint": text, "model": text, text: text}, limits={"max_steps": 5, text: 1},
                tools=({"name": text, "description": text, "parameters": args, "read_only": False},)),
        request(1, say, Message("system", text)),
        CompletionReceived(1, text, text, usage, text, text, False, text, 0.1, (text,)),
        ReplyUnreadable(1, slug, text, text),
        Summarised(2, text, usage),
        request(2, say),
        CompletionReceived(2, text, "stop", usage, text),
        DecisionMade(2, text, text, args, None, ((text, 0),)),
        ToolStarted(2, text, args, False, (text,)),
        ToolEnded(2, text, refused(text, text, text), slug, True, 0.1, text),
        Noted(2, slug, text),
        request(3, say),
        CompletionReceived(3, text, "stop", usage),
        DecisionMade(3, text, text, args),
        ToolStarted(3, text, args, False),
        ToolEnded(3, text, ok({"columns": [text, text], "rows": [[text, text]], text: text})),
        request(4, say),
        CompletionReceived(4, text, "stop", usage),
        DecisionMade(4, text, text, args),
        ToolEnded(4, text, text, slug),
        request(5, say),
        EndpointFailed(5, slug, text, text, 500),
        request(5, say),
        CompletionReceived(5, text, "stop", usage),
        DecisionMade(5, text, None, None, text),
        RunEnded("completed", text, text, 5, Usage(50, 50), 1.0, text),
    ]  # fmt: skip
