"""What a docstring says of a function and of each parameter, in the styles of Google, NumPy and Sphinx."""

import re
from collections.abc import Iterable

_GOOGLE = re.compile(r"(?:Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters)\s*:\s*$", re.I)
_NUMPY = re.compile(r"(?:Parameters|Other Parameters)\s*$", re.I)
_SECTION = re.compile(
    r"(?:Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters|Returns?|Yields?|Raises|Receives|Warns|Examples?"
    r"|Notes?|References|See Also|Attributes|Todo)\s*(?::.*)?$",
    re.I,
)
_RULE = re.compile(r"\s*-{3,}\s*$")
_GOOGLE_ITEM = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_NUMPY_ITEM = re.compile(r"(\w+(?:\s*,\s*\w+)*)\s*(?::.*)?$")
_FIELD = re.compile(r":(\w+)([^:]*):\s*(.*)$")


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """A cleaned docstring -> its first paragraph on one line, and the description of each parameter it names."""
    lines = text.expandtabs().splitlines()
    return _first_paragraph(lines), {**_google(lines), **_numpy(lines), **_sphinx(lines)}


def _first_paragraph(lines: list[str]) -> str:
    paragraph: list[str] = []
    for line in lines:
        words = line.strip()
        if _FIELD.match(words) or (_SECTION.match(words) and (paragraph or words.endswith(":"))):
            break
        if words:
            paragraph.append(words)
        elif paragraph:
            break
    return " ".join(paragraph)


def _google(lines: list[str]) -> dict[str, str]:
    for number, line in enumerate(lines):
        if _GOOGLE.match(line.strip()):
            return _items(_block(lines[number + 1 :], _indent(line)), _GOOGLE_ITEM)
    return {}


def _numpy(lines: list[str]) -> dict[str, str]:
    for number, line in enumerate(lines[:-1]):
        if _NUMPY.match(line.strip()) and _RULE.match(lines[number + 1]):
            block = _until_rule(lines[number + 2 :])
            return {name.strip(): words for names, words in _items(block, _NUMPY_ITEM).items() for name in names.split(",")}
    return {}


def _sphinx(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name, margin = "", 0
    for line in lines:
        field = _FIELD.match(line.strip())
        if field:
            words = field[2].split()
            name = words[-1].lstrip("*") if field[1] in ("param", "parameter", "arg", "argument", "key", "keyword") and words else ""
            margin = _indent(line)
            if name:
                found[name] = field[3]
        elif name and line.strip() and _indent(line) > margin:
            found[name] = f"{found[name]} {line.strip()}".strip()
        else:
            name = ""
    return found


def _block(lines: Iterable[str], margin: int) -> list[str]:
    """The lines that are indented deeper than margin, up to the first that is not."""
    block: list[str] = []
    for line in lines:
        if line.strip() and _indent(line) <= margin:
            break
        block.append(line)
    return block


def _until_rule(lines: list[str]) -> list[str]:
    """The lines before the next underlined heading."""
    for number, line in enumerate(lines):
        if _RULE.match(line):
            return lines[: max(number - 1, 0)]
    return lines


def _items(block: list[str], item: re.Pattern[str]) -> dict[str, str]:
    """Entries that stand at the block's own margin, with the deeper lines that continue them."""
    margin = min((_indent(line) for line in block if line.strip()), default=0)
    found: dict[str, str] = {}
    name = ""
    for line in block:
        match = item.match(line.strip()) if _indent(line) == margin else None
        if match:
            name = match[1]
            found[name] = match[2] if item.groups > 1 else ""
        elif name and line.strip():
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
