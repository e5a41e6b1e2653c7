"""The part of YAML that models write for a decision: `key: value` lines, one level deep, and | blocks.

Nothing is converted that YAML 1.1 would convert by surprise (NO, dates, octal), and whatever is not plain to read is refused.
"""

import re
from typing import Any

from react_agent.lenient_json import Unreadable, strict_text
from react_agent.registry import Tool

_ITEM = re.compile(r"""(?P<quote>["']?)(?P<key>[\w.-]+)(?P=quote)[ \t]*:(?:[ \t]+(?P<value>.*))?""")
_BLOCK = re.compile(r"\|[-+]?")
_JSON_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false")
_NOT_PLAIN = re.compile(r"[&*!|>%@`\[{]|- |.*(?: #|: )")


def mapping(block: str, tool: Tool, offset: int) -> dict[str, Any]:
    """The arguments that indented lines give: the tool's own parameters, each once. Raises Unreadable("bad_input")."""
    lines = block.split("\n")
    indent = next(_indent(line) for line in lines if line.strip())
    found: dict[str, Any] = {}
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if not line.strip():
            continue
        item = _ITEM.fullmatch(line.strip())
        if not item or _indent(line) != indent or item["key"] not in tool.parameter_names or item["key"] in found:
            raise _unclear(line, offset)
        value = (item["value"] or "").strip()
        if _BLOCK.fullmatch(value):
            size = _deeper(lines, at, indent)
            value, at = _dedented(lines[at : at + size]), at + size
            found[item["key"]] = value
        else:
            found[item["key"]] = _typed(value, tool, item["key"], offset)
    return found


def scalar(text: str, offset: int) -> str | None:
    """The text of a value on one line, without its quotes; None for null. Raises Unreadable("bad_syntax") for an open quote."""
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text[0] == '"':
        try:
            value = strict_text(text)
        except ValueError:
            value = None
        if isinstance(value, str):
            return value
    elif text[0] == "'":
        if len(text) > 1 and text[-1] == "'" and "'" not in text[1:-1].replace("''", ""):
            return text[1:-1].replace("''", "'")
    elif text[0] not in "|>":
        return text
    raise Unreadable("bad_syntax", offset, f"the quote around {text[:40]!r} is not closed, or more lines follow it")


def literal(text: str, offset: int) -> str:
    """The lines of a | block, whose mark is on the first line. Raises Unreadable for other blocks."""
    mark, _, lines = text.partition("\n")
    if not _BLOCK.fullmatch(mark.strip()):
        raise Unreadable("bad_syntax", offset, f"the block that begins with {mark[:40]!r} can be read in more than one way")
    return _dedented(lines.split("\n"))


def _typed(value: str, tool: Tool, key: str, offset: int) -> Any:
    if not value or (value[0] not in "\"'" and _NOT_PLAIN.match(value)):
        raise _unclear(f"{key}: {value}", offset)
    schema = tool.parameters.get("properties", {}).get(key, {})
    if _JSON_SCALAR.fullmatch(value) and schema.get("type") != "string":
        return strict_text(value)
    return scalar(value, offset)


def _deeper(lines: list[str], at: int, indent: int) -> int:
    """How many of the lines from at on are blank or indented more."""
    size = 0
    while at + size < len(lines) and (not lines[at + size].strip() or _indent(lines[at + size]) > indent):
        size += 1
    return size


def _dedented(lines: list[str]) -> str:
    indent = next((_indent(line) for line in lines if line.strip()), 0)
    return "\n".join(line[indent:] for line in lines).rstrip("\n")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _unclear(line: str, offset: int) -> Unreadable:
    return Unreadable("bad_input", offset, f"{line.strip()[:40]!r} can be read in more than one way; send action_input as a JSON object")
