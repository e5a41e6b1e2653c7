"""`react-agent parse [FILE]`: what the parser makes of a reply, to debug prompts with."""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any, get_args

from react_agent.cli import output
from react_agent.cli.view import printable
from react_agent.errors import ConfigError, ParseError
from react_agent.lenient_json_decision import is_none
from react_agent.parser import canonical, parse_decision
from react_agent.parser_names import is_finish
from react_agent.parser_repairs import REPAIRS
from react_agent.prompt import load
from react_agent.registry import Tool, ToolRegistry
from react_agent.types import Completion, Decision, FinishReason

_NAME = re.compile(r"\w[\w.-]{0,63}")
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "parse", help="show what the parser makes of a reply",
        description="Read a model's reply and show the decision and the repairs it took, or why it was refused and what the model would "
        "be told. Exit code 1 when it was refused.",
        epilog="example: react-agent tools --db shop.db --json > tools.json; react-agent parse reply.txt --tools-json tools.json",
    )  # fmt: skip
    command.add_argument("file", nargs="?", default="-", metavar="FILE", help="a file with the reply; - or nothing reads standard input")
    command.add_argument("--tools-json", metavar="FILE", type=Path,
                         help="the tools that the reply may call, as react-agent tools --json prints them, or a JSON list of "
                         '{"name": ..., "parameters": [names]}; without it every name is taken as it is written')  # fmt: skip
    command.add_argument("--finish-reason", choices=get_args(FinishReason), default="stop", help="why the model stopped (default: stop)")
    command.add_argument("--lang", default="en", help="the language of the message to the model (default: en)")
    command.add_argument("--json", action="store_true", help="everything as one JSON object")
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    tools = AnyTool() if args.tools_json is None else tools_in(args.tools_json)
    prompts = load(args.lang)
    text = reply_in(args.file)
    try:
        decision = parse_decision(Completion(text, args.finish_reason), tools)
    except ParseError as error:
        told = prompts.reprompt(error.reason, hint=error.hint, excerpt=error.excerpt, line=error.line, column=error.column,
                                tools=", ".join(tools.names) or "...")  # fmt: skip
        output.result(as_json(refused(error, told)) if args.json else printable(refusal(error, told)))
        return 1
    output.result(as_json(made(decision, text)) if args.json else printable(shown(decision, text)))
    return 0


class AnyTool(ToolRegistry):
    """A registry for replies whose tools are not known: every word that could be a tool's name is one, with unknown parameters."""

    def get(self, name: str) -> Tool | None:
        if not _NAME.fullmatch(name) or is_none(name) or is_finish(name):
            return None
        return Tool(name, "", {"type": "object"}, lambda **_: None)


def tools_in(path: Path) -> ToolRegistry:
    """The tools of a JSON list. parameters: names, or a JSON Schema. Raises ConfigError."""
    try:
        listed = json.loads(path.read_bytes())
        return ToolRegistry(tool_from(entry) for entry in listed)
    except OSError as error:
        raise ConfigError(f"the tools {path} cannot be read: {error.strerror}") from None
    except KeyError as error:
        raise ConfigError(f"{path} is no JSON list of objects with name and parameters: one has no {error}") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{path} is no JSON list of objects with name and parameters: {error}") from None


def tool_from(entry: dict[str, Any]) -> Tool:
    parameters = entry.get("parameters", [])
    if isinstance(parameters, list):
        parameters = {"type": "object", "properties": {str(name): {} for name in parameters}}
    return Tool(str(entry["name"]), str(entry.get("description", "")), parameters, lambda **_: None, bool(entry.get("read_only", True)))


def reply_in(file: str) -> str:
    """The reply as text. Bytes that are no text in their encoding become replacement characters, and the person is told."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        hint = "; a reply itself goes to standard input: react-agent parse <<< '{...}'" if file.lstrip().startswith("{") else ""
        raise ConfigError(f"the reply {file} cannot be read: {error.strerror}{hint}") from None
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        output.say(f"note: byte {error.start} is not {encoding}; such bytes are shown as \N{REPLACEMENT CHARACTER}")
        return data.decode(encoding, "replace")


def place(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def shown(decision: Decision, text: str) -> str:
    """A decision for a person."""
    call = decision.call
    lines = [f"thought: {decision.thought}"] if decision.thought else []
    if call:
        lines += [f"call:    {call.name}", f"input:   {json.dumps(call.arguments, ensure_ascii=False)}"]
    else:
        lines.append(f"answer:  {decision.final_answer}")
    if not decision.repairs:
        return "\n".join([*lines, "repairs: none"])
    repairs = [(*place(text, repair.offset), repair.name) for repair in decision.repairs]
    return "\n".join([*lines, "repairs:", *(f"  {line}:{column}  {name}: {REPAIRS[name]}" for line, column, name in repairs)])


def refusal(error: ParseError, told: str) -> str:
    """A refused reply for a person."""
    where = f" at {error.line}:{error.column}" if error.line else ""
    near = f"near:    {error.excerpt}\n" if error.excerpt else ""
    return f"refused: {error.reason}{where}\n{near}why:     {error.hint}\ntold:    {told}"


def made(decision: Decision, text: str) -> dict[str, Any]:
    """A decision for a program."""
    repairs = [dict(zip(("line", "column"), place(text, repair.offset), strict=True)) | {"name": repair.name, "offset": repair.offset}
               for repair in decision.repairs]  # fmt: skip
    whole = {"thought": "", "action": "none", "action_input": {}, "final_answer": None} | json.loads(canonical(decision))
    return {"ok": True, "decision": whole, "repairs": repairs}


def refused(error: ParseError, told: str) -> dict[str, Any]:
    """A refused reply for a program."""
    return {
        "ok": False, "reason": error.reason, "hint": error.hint, "excerpt": error.excerpt, "line": error.line, "column": error.column,
        "told": told,
    }  # fmt: skip


def as_json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
