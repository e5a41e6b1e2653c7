"""JSON Schema keywords whose usual check can be made to hang by what a model writes: pattern and uniqueItems."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

SAFE_STEPS = 1_000_000  # about 50 ms
PATTERN_SECONDS = 1.5
_QUANTIFIER = re.compile(r"[*+?{]")  # escaped ones too: counting one too many only costs a child process
_REPEATED_GROUP = re.compile(r"\)\s*[*+{]")
_CHILD = "import json, re, sys; pattern, text = json.load(sys.stdin); sys.exit(0 if re.search(pattern, text) else 3)"


def may_explode(pattern: str) -> bool:
    """Whether a group is repeated, so that the time of a search may double with each character."""
    return _REPEATED_GROUP.search(pattern) is not None


class Patience:
    """The seconds that all searches of one call may take together."""

    def __init__(self, seconds: float = PATTERN_SECONDS) -> None:
        self.seconds = seconds

    def matches(self, pattern: str, text: str) -> bool | None:
        """Whether the pattern is found in the text; None when that cannot be told in time.

        Python's `re` tries every way to split a text between its quantifiers and holds the interpreter while it does; neither a
        thread nor a signal stops it. What could take long runs in a child process, which can be killed.
        """
        if self.seconds <= 0:
            return None
        quantifiers = len(_QUANTIFIER.findall(pattern))
        quick = len(text) <= 12 if may_explode(pattern) else len(text) ** max(quantifiers, 1) <= SAFE_STEPS
        started = time.monotonic()
        found = re.search(pattern, text) is not None if quick else _searched_elsewhere(pattern, text, self.seconds)
        self.seconds -= time.monotonic() - started
        return found


def _searched_elsewhere(pattern: str, text: str, seconds: float) -> bool | None:
    try:
        child = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _CHILD],
            input=json.dumps([pattern, text]).encode(), timeout=seconds, capture_output=True, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    return {0: True, 3: False}.get(child.returncode)


def unique(items: list[Any]) -> bool:
    """Whether all items differ as JSON values, in linear time: 1 and 1.0 are equal, 1 and true are not."""
    seen = set()
    for item in items:
        text = json.dumps(_numbers_alike(item), sort_keys=True)
        if text in seen:
            return False
        seen.add(text)
    return True


def _numbers_alike(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_numbers_alike(item) for item in value]
    if isinstance(value, dict):
        return {key: _numbers_alike(item) for key, item in value.items()}
    return value


def texts_of(schema: Any, keyword: str) -> Iterator[str]:
    """Every text that stands under the keyword anywhere in a schema; a property of that name has a schema there, not a text."""
    if isinstance(schema, list):
        for part in schema:
            yield from texts_of(part, keyword)
    elif isinstance(schema, Mapping):
        if isinstance(schema.get(keyword), str):
            yield schema[keyword]
        for part in schema.values():
            yield from texts_of(part, keyword)
