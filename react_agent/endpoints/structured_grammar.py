"""A JSON Schema as a grammar in GBNF, for servers that take nothing else: KoboldCpp, text-generation-webui, older llama.cpp."""

import json
from collections.abc import Mapping
from typing import Any

# White space is bounded, so that a model cannot write it for ever.
_ANY = r"""ws ::= [ \t\n]{0,12}
char ::= [^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
string ::= "\"" char* "\""
number ::= "-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})?
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (member ("," ws member)*)? "}"
member ::= string ws ":" ws value ws
array ::= "[" ws (value ws ("," ws value ws)*)? "]"
"""
_NAMES = {"object": "object", "array": "array", "string": "string", "number": "number", "null": '"null"', "boolean": '("true" | "false")'}


def grammar_of(schema: Mapping[str, Any]) -> str:
    """The grammar whose texts are the JSON of a schema, an object's keys in the order of the schema.

    Known are type (also several), enum, maxLength, items, and properties of an object: all of them required, or none, and then in any
    order. ValueError for a type that is not known; other keywords are left out, so that the grammar never allows less than the schema.
    """
    return f"root ::= ws {_rule(schema)} ws\n{_ANY}"


def _rule(schema: Mapping[str, Any]) -> str:
    """What stands for a value of this schema on the right side of a rule."""
    if "enum" in schema:
        return _either([_literal(json.dumps(value, ensure_ascii=False)) for value in schema["enum"]])
    kinds = schema.get("type", "value")
    return _either([_typed(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)])


def _typed(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "object" and schema.get("properties"):
        members = [f'{_literal(json.dumps(name))} ws ":" ws {_rule(value)} ws' for name, value in schema["properties"].items()]
        if schema.get("required"):
            return '"{" ws ' + ' "," ws '.join(members) + ' "}"'
        member = _either(members)
        more = f' ("," ws {member}){{0,{len(members) - 1}}}' if len(members) > 1 else ""
        return f'"{{" ws ({member}{more})? "}}"'
    if kind == "array" and schema.get("items"):
        item = _rule(schema["items"])
        return f'"[" ws ({item} ws ("," ws {item} ws)*)? "]"'
    if kind == "string" and "maxLength" in schema:
        return rf'"\"" char{{0,{schema["maxLength"]}}} "\""'
    if kind == "value":
        return "value"
    if kind not in _NAMES:
        raise ValueError(f"no grammar for the type {kind!r}")
    return _NAMES[kind]


def _either(choices: list[str]) -> str:
    return choices[0] if len(choices) == 1 else f"({' | '.join(choices)})"


def _literal(text: str) -> str:
    """A text that is written as it is."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
