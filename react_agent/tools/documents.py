"""A folder of text documents for a small model: which there are, where something stands, and the lines around it.

Search is by words, best passage first, because a small model seldom guesses the exact phrase; a text that stands there just as it was
asked for, and a match of a regular expression, put a passage further up.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import islice

from react_agent.errors import ToolError
from react_agent.registry import Tool
from react_agent.tools.documents_rank import Ranking
from react_agent.tools.documents_search import Search
from react_agent.tools.documents_sections import title
from react_agent.tools.documents_view import PASSAGES, view
from react_agent.tools.files import Folder, object_schema, open_folder, require_pattern, require_range
from react_agent.tools.files_limits import OBSERVATION_LIMITS, FolderLimits
from react_agent.tools.files_path import near_names, visible
from react_agent.tools.files_regex import RegexChild, looks_regular
from react_agent.tools.files_search import Scan
from react_agent.tools.files_text import TextFile
from react_agent.tools.files_walk import open_regular, shown

_READ_LINES = 80
_LIST_ROOM = 2_400  # characters of a list of names
_NAMES = 2_000
_NUMBERS_ROOM = 240  # bytes that the numbers of its lines add to a read
_SEARCHED = "grep_docs searches all of them"
_FEW = 15  # documents whose names the model is told from the start
_INDEX = re.compile(r"(?:index|readme|about|overview)\b", re.IGNORECASE)
_PLAIN = re.compile(r"[\w/ -]{1,40}")
_HEAD = 8_192
_REGULAR_HITS = 100


class Documents:
    """The text files of a folder and its sub-folders. Raises only ToolError; what it returns is the text of an observation."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def names(self) -> str:
        """The names, with their titles as long as there is room."""
        scan = self._folder.scan()
        known = list(islice(self._titles(scan), _NAMES + 1))
        cut = [f"the time was up; there may be more documents; {_SEARCHED}"] if scan.late() else []
        if not known:
            return cut[0] if cut else "the folder holds no text documents"
        lines = [f"{name}: {title}" if title else name for name, title in known]
        if sum(map(len, lines)) > _LIST_ROOM:
            lines = [name for name, _ in known]
        return "\n".join([*_as_many_as_fit(lines, _LIST_ROOM, f"more documents are not shown; {_SEARCHED}"), *cut])

    def about(self) -> str:
        """What the documents are about, for a tool's description: the title of their index or read-me, and their names when they are few.
        Plain ones only, because they stand in our words there."""
        known = list(islice(self._titles(), _FEW + 1))
        titles = [title.removeprefix("About ") for name, title in known if _INDEX.match(name.rpartition("/")[2])]
        names = [name.rpartition(".")[0] or name for name, _ in known]
        subject = next((f" about {title}" for title in titles if _PLAIN.fullmatch(title)), "")
        listed = f" ({', '.join(names)})" if names and len(names) <= _FEW and all(map(_PLAIN.fullmatch, names)) else ""
        return subject + listed

    def grep(self, pattern: str) -> str:
        """The passages that answer a query best: a few words, a text as it stands, or a regular expression."""
        require_pattern(pattern, self._folder.limits)
        search, scan, notes = Search(pattern), self._folder.scan(), list[str]()
        with self._folder.told("."), ExitStack() as stack:
            seconds = self._folder.limits.search_seconds
            child = stack.enter_context(RegexChild(pattern, _REGULAR_HITS, seconds)) if looks_regular(pattern) else None
            for number, chunk in enumerate(scan.chunks(())):
                search.add(chunk)
                if child:
                    child.feed(number, chunk.text)
            if child:
                notes += _take_regular(child, search)
        if search.is_full:
            notes.append("too many lines match to rank them all; use rarer words")
        ranking = Ranking(search).best(PASSAGES + 1)
        notes += filter(None, [scan.cut])
        return view(search, ranking, [*notes, *scan.passed_over]) if ranking else self._nothing(search, notes, scan.passed_over)

    def read(self, name: str, start: int | None = None, end: int | None = None) -> str:
        """Numbered lines of one document, at most _READ_LINES of them."""
        start = 1 if start is None else start
        require_range(start, end)
        last = start + _READ_LINES - 1
        try:
            shown_lines = self._folder.read(name, start, last if end is None else min(end, last))
            return shown_lines.numbered(self._folder.limits.read_bytes + _NUMBERS_ROOM)
        except ToolError as error:
            if error.type not in ("not_found", "is_a_directory"):
                raise
            raise ToolError(error.type, error.message, self._did_you_mean(name)) from None

    def _nothing(self, search: Search, notes: list[str], passed_over: Sequence[str]) -> str:
        words = visible(search.pattern) if looks_regular(search.pattern) else ", ".join(dict.fromkeys(search.words.values()))
        if notes:  # the time is used up
            return "\n".join((f"nothing was found for: {visible(words, 200)}", *notes, *passed_over, "try other words"))
        near = search.near_words()
        advice = [*passed_over, *([f"words like these are there: {', '.join(near)}"] if near else [])]
        names = _as_many_as_fit([name for name, _ in islice(self._titles(), _NAMES)], _LIST_ROOM // 3, "more; call list_docs")
        return "\n".join((f"no document holds: {visible(words, 200)}", *advice, "try other words; the documents are:", *names))

    def _did_you_mean(self, name: str) -> str:
        names = [each for each, _ in islice(self._titles(), _NAMES)]
        near = near_names(name, names)
        return f"did you mean {' or '.join(near)}? call list_docs for all names" if near else "call list_docs for the names"

    def _titles(self, scan: Scan | None = None) -> Iterator[tuple[str, str]]:
        """Name and title of each document, until the scan's time is up."""
        scan = scan or self._folder.scan()
        with self._folder.told("."):
            for folder, parts, name in self._folder.walk.files((), scan.late):
                path = (*parts, name)
                with suppress(OSError, ToolError), TextFile(open_regular(folder, name, path), shown(path), _HEAD) as source:
                    yield shown(path, self._folder.limits.name_chars), visible(title("".join(source)), 60)


def _take_regular(child: RegexChild, search: Search) -> list[str]:
    """Mark what the child found. A pattern that is none, or takes too long, still has its words."""
    try:
        for hit in child.hits():
            search.add_regular(hit.text, hit.line)
    except ToolError:
        return []
    return ["the regular expression took too long and was stopped"] if child.timed_out else []


def _as_many_as_fit(lines: list[str], room: int, more: str) -> list[str]:
    """The first lines, as long as they have room characters; then how many more there are."""
    shown_lines: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            count = f"{'at least ' if len(lines) > _NAMES else ''}{len(lines) - len(shown_lines)}"
            return [*shown_lines, f"{count} {more}"]
        shown_lines.append(line)
    return shown_lines


def document_tools(folder: str | os.PathLike[str], *, limits: FolderLimits = OBSERVATION_LIMITS) -> list[Tool]:
    """list_docs, grep_docs and read_doc over the text files of a folder; names that start with a dot are left out.
    ConfigError when there is no such folder."""
    documents = Documents(open_folder(folder, hidden=False, limits=limits))
    text, line = {"type": "string"}, {"type": ["integer", "null"], "minimum": 1}
    return [
        Tool("grep_docs", f"Search the documents{documents.about()} for words.",
             object_schema({"pattern": text}, "pattern"), documents.grep, read_only=True, untrusted_output=True),
        Tool("read_doc", "Read a document, or its lines start to end.",
             object_schema({"name": text, "start": line, "end": line}, "name"), documents.read, read_only=True, untrusted_output=True),
        Tool("list_docs", "List the documents.", object_schema({}), documents.names,
             read_only=True, untrusted_output=True),
    ]  # fmt: skip
