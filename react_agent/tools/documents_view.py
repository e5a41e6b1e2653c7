"""What a small model sees of a search: the best passage whole, of a few others the lines that count, and how to go on."""

from react_agent.tools.documents_rank import WORTH, Found
from react_agent.tools.documents_search import Search
from react_agent.tools.files_search import around

PASSAGES = 4
_ROOM = 1_350  # characters of passages in one answer
_FIRST = 900  # of them for the best passage
_LINE = 300
_HITS = 20


def view(search: Search, ranking: list[Found], notes: list[str]) -> str:
    """The text of an observation, seldom above 1,500 characters."""
    blocks: list[str] = []
    room, hits = _ROOM, _HITS
    for found in ranking[:PASSAGES]:
        shown = _lines(found, search, min(room, _FIRST), hits, whole=not blocks)
        if not shown or found.score < WORTH * ranking[0].score:
            break
        blocks.append(_block(found, shown))
        room -= len(blocks[-1])
        hits -= sum(line in found.hits for line in shown)
    more = ["other sections match less well"] if len(ranking) > len(blocks) else []
    missing = [f"not in any document: {', '.join(search.missing)}"] if search.missing else []
    return "\n".join([*blocks, *missing, *more, *notes, "read_doc(name, start, end) shows more lines"])


def _block(found: Found, lines: dict[int, str]) -> str:
    section = f", section {' > '.join(each[:80] for each in found.headings[-2:])}" if found.headings else ""
    return "\n".join([f"{found.name}, lines {found.first}-{found.last}{section}:", *(f"{line}: {lines[line]}" for line in sorted(lines))])


def _lines(found: Found, search: Search, room: int, hits: int, *, whole: bool) -> dict[int, str]:
    """The lines of a passage for which there is room, those that count first."""
    shown: dict[int, str] = {}
    for line in _by_worth(found, whole=whole):
        text = _cut(found.lines[line], search)
        room -= len(text) + 8
        hits -= line in found.hits
        if hits < 0 or (room < 0 and (shown or not whole)):
            break
        shown[line] = text
    return shown


def _by_worth(found: Found, *, whole: bool) -> list[int]:
    """Numbers of lines in the order in which they deserve to be shown: the head of the table, hits by worth, their neighbours, the rest."""
    hits = sorted(found.hits, key=lambda line: (-found.hits[line], line))
    head = [line for line in found.lines if line < found.first]
    beside = [near for line in hits for near in (line + 1, line - 1)]
    rest = list(found.lines) if whole or not hits else []
    return [line for line in dict.fromkeys([*head, *hits, *beside, *rest]) if line in found.lines]


def _cut(line: str, search: Search) -> str:
    """A line, or of a long one the part that holds the most words of the query."""
    return line if len(line) <= _LINE else around(line, search.best_place(line, _LINE // 2), _LINE)
