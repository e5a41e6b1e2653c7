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
_MOST_ORDERED = 6  # members of which some may be missing, in their order: the rule grows with the square
_NAMES = {"object": "object", "array": "array", "string": "string", "number": "number", "null": '"null"', "boolean": '("true" | "false")'}


def grammar_of(schema: Mapping[str, Any]) -> str:
    """The grammar whose texts are the JSON of a schema, an object's keys in the order of the schema.

    Known are type (also several), enum, maxLength, items, properties of an object and which of them are required; many that are not
    required may come in any order. ValueError for a type that is not known; other keywords are left out, so that the grammar never
    allows less than the schema but for the order of keys.
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
        required = [name in schema.get("required", ()) for name in schema["properties"]]
        if all(required) or len(members) <= _MOST_ORDERED:
            return f'"{{" ws {_ordered(members, required)} "}}"'
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


def _ordered(members: list[str], required: list[bool]) -> str:
    """The members in their order, those that are not required left out at will: what may come first, and behind it all others."""
    first = required.index(True) if any(required) else len(members) - 1
    starts = []
    for place in range(first + 1):
        others = zip(members[place + 1 :], required[place + 1 :], strict=True)
        starts.append(" ".join([members[place], *(f'"," ws {each}' if must else f'("," ws {each})?' for each, must in others)]))
    return _either(starts) if any(required) else f"({' | '.join(starts)})?"


def _either(choices: list[str]) -> str:
    return choices[0] if len(choices) == 1 else f"({' | '.join(choices)})"


def _literal(text: str) -> str:
    """A text that is written as it is."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
