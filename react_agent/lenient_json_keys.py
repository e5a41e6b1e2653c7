"""The keys of a decision, under the names that models give them."""

import functools
import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

Role = Literal["thought", "action", "input", "answer"]

CANONICAL: dict[str, Role] = {"thought": "thought", "action": "action", "action_input": "input", "final_answer": "answer"}
NAMES: dict[Role, str] = {part: name for name, part in CANONICAL.items()}

_STRONG: dict[Role, str] = {
    "thought": "thought thoughts 思考 想法 思路",
    "action": "action actionname tool toolname toolcall toolcalls tooluse tooluses functioncall recipientname"
    " 行动 动作 操作 工具 工具名 工具名称",
    "input": "actioninput actionargs actionarguments actionparameters toolinput toolargs toolarguments toolparameters"
    " 行动输入 动作输入 操作输入 工具输入 工具参数",
    "answer": "finalanswer finalresponse answer 最终答案 最终回答 答案",
}
_WEAK: dict[Role, str] = {
    "thought": "reasoning thinking analysis rationale",
    "action": "name function functionname command",
    "input": "input inputs arguments args parameters params 参数 输入",
    "answer": "response reply 回答 回复",
}
STRONG: dict[str, Role] = {name: role for role, names in _STRONG.items() for name in names.split()}
WEAK: dict[str, Role] = {name: role for role, names in _WEAK.items() for name in names.split()}

# What a reader does not see: zero-width and direction marks, soft hyphens, the byte order mark, control characters.
INVISIBLE = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\x00-\x08\x0e-\x1f\x7f"
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_LONGEST = 80  # characters of a key that are looked at
_MOST_KEPT, _LONGEST_KEPT = 16, 200  # keys, and their characters, of an object whose meaning is remembered
CALL: frozenset[Role] = frozenset({"action", "input"})
SCHEMA_KEYS = frozenset({"properties", "parameters", "function"})
BESIDE = frozenset({"type", "id", "role", "status", "version", "format", "index"})  # keys that may stand beside a wrapped object
_SEPARATORS = re.compile(f"[\\s_\\-{INVISIBLE}]+")


def visible(text: str) -> str:
    """text without the characters that a reader does not see."""
    return text if text.isprintable() else _INVISIBLE.sub("", text)


def squeezed(key: str) -> str:
    """A key as it is compared: "Action_Input", "actionInput" and "action input" are one."""
    return _squeezed(key[:_LONGEST])


@functools.lru_cache(maxsize=1024)
def _squeezed(key: str) -> str:
    return _SEPARATORS.sub("", key).casefold()


def strong_role(key: str) -> Role | None:
    """What a key stands for when it can only mean a decision."""
    return CANONICAL.get(key) or _strong(key[:_LONGEST])


@functools.lru_cache(maxsize=1024)
def _strong(key: str) -> Role | None:
    return STRONG.get(_squeezed(key))


def role(key: str) -> Role | None:
    """What a key stands for, also when data may have a key of that name."""
    return strong_role(key) or WEAK.get(squeezed(key))


class Part(NamedTuple):
    """A part of a decision and the key that it is under. same: other keys of the same weight; lesser: those that data may have too,
    beside one that only a decision has."""

    role: Role
    key: str
    same: tuple[str, ...]
    lesser: tuple[str, ...]


class Keys(NamedTuple):
    """What the keys of an object say about it.

    parts: in the order of the prompt. has: their roles. strong: those under keys that only a decision has. bearing: the keys
    that hold something, without those that may stand beside a wrapped object. canonical: all keys have the prompt's own names.
    single: not canonical, but each part is there under one key, one of them strong or a call, and none of the keys may hold a schema.
    """

    parts: tuple[Part, ...]
    has: frozenset[Role]
    strong: frozenset[Role]
    bearing: tuple[str, ...]
    canonical: bool
    single: bool


def read_keys(value: Iterable[str]) -> Keys:
    """What the keys of an object say. Models write the same few sets of keys again and again, so that short ones are remembered."""
    keys = tuple(value)
    return _remembered(keys) if len(keys) <= _MOST_KEPT and len("".join(keys)) <= _LONGEST_KEPT else _read(keys)


def _read(keys: tuple[str, ...]) -> Keys:
    strong: dict[Role, list[str]] = {}
    weak: dict[Role, list[str]] = {}
    for key in keys:
        if role := strong_role(key):
            strong.setdefault(role, []).append(key)
        elif role := WEAK.get(squeezed(key)):
            weak.setdefault(role, []).append(key)
    parts = []
    for role in CANONICAL.values():
        if found := strong.get(role) or weak.get(role):
            parts.append(Part(role, found[0], tuple(found[1:]), tuple(weak.get(role, ())) if role in strong else ()))
    bearing = tuple([key for key in keys if squeezed(key) not in BESIDE])
    has = frozenset(strong | weak)
    canonical = CANONICAL.keys() >= set(keys)
    single = not canonical and len(bearing) > 1 and SCHEMA_KEYS.isdisjoint(keys) and (bool(strong) or has >= CALL)
    single = single and not any(part.same or part.lesser for part in parts)
    return Keys(tuple(parts), has, frozenset(strong), bearing, canonical, single)


_remembered = functools.lru_cache(maxsize=256)(_read)
