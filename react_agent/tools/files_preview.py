"""What a write would do, told to the person who has to allow it; nothing in it can move the cursor or hide."""

import difflib
import os
from collections.abc import Iterator

from react_agent.tools.files_path import Parts, visible
from react_agent.tools.files_walk import Walk, open_regular, shown
from react_agent.tools.files_write import replaceable_mode

_LINES = 60
_LINE_CHARS = 200
_READ = 2_000_000
_DIFF_LINES = 400  # difflib is quadratic: above this a change is shown as one block
_CONTEXT = 3


def preview_write(walk: Walk, parts: Parts, text: str) -> str:
    """A diff against the file that is there, else the first lines of the new one. Raises OSError or ToolError where a write would."""
    data = text.encode("utf-8")
    size = f"{len(data)} bytes"
    old = _content_there(walk, parts)
    if old is None:
        return _capped(f"new file {shown(parts)} ({size}):", (f"+{line}" for line in text.split("\n")))
    if old == data:
        return f"{shown(parts)} already holds exactly this ({size})"
    if b"\0" in old or len(old) > _READ:
        return _capped(f"replaces {shown(parts)}, which is no text or very large, by {size}:", (f"+{line}" for line in text.split("\n")))
    before = old.decode("utf-8", "replace").split("\n")  # only "\n": a changed kind of line break has to be seen
    return _capped(f"changes {shown(parts)} ({len(old)} bytes, then {size}):", _difference(before, text.split("\n")))


def _content_there(walk: Walk, parts: Parts) -> bytes | None:
    """The file's bytes, cut when there are more than a preview reads; None when there is no file."""
    try:
        folder, name = walk.place(parts, make=False)
    except FileNotFoundError:
        return None
    with folder:
        if replaceable_mode(folder, name, shown(parts)) is None:
            return None
        with os.fdopen(open_regular(folder, name, parts), "rb") as file:
            return file.read(_READ + 1)


def _difference(old: list[str], new: list[str]) -> Iterator[str]:
    head = _same(old, new)
    tail = _same(old[head:][::-1], new[head:][::-1])
    head, tail = max(0, head - _CONTEXT), max(0, tail - _CONTEXT)
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(old), len(new)) > _DIFF_LINES:
        yield f"@@ from line {head + 1} on, {len(old)} lines become {len(new)} lines; the new ones: @@"
        yield from (f"+{line}" for line in new)
        return
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        yield f"@@ line {head + group[0][1] + 1} @@"
        for tag, i1, i2, j1, j2 in group:
            yield from (f" {line}" for line in old[i1:i2] if tag == "equal")
            yield from (f"-{line}" for line in old[i1:i2] if tag != "equal")
            yield from (f"+{line}" for line in new[j1:j2] if tag != "equal")


def _same(old: list[str], new: list[str]) -> int:
    """How many lines at the start are equal."""
    return next((number for number, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _capped(heading: str, lines: Iterator[str]) -> str:
    shown_lines = [heading]
    for line in lines:
        if len(shown_lines) > _LINES:
            return "\n".join((*shown_lines, f"… and {1 + sum(1 for _ in lines)} more lines"))
        cut = f" … ({len(line)} characters)" if len(line) > _LINE_CHARS else ""
        shown_lines.append(visible(line[:_LINE_CHARS].replace("\t", "    "), 4 * _LINE_CHARS) + cut)
    return "\n".join(shown_lines)
