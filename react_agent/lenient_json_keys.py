"""The keys of a decision, under the names that models give them."""

import functools
import re
from typing import Literal

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
_SEPARATORS = re.compile(f"[\\s_\\-{INVISIBLE}]+")


def visible(text: str) -> str:
    """text without the characters that a reader does not see."""
    return text if text.isprintable() and text.isascii() else _INVISIBLE.sub("", text)


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
