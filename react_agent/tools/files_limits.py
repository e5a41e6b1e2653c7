"""Every number that bounds the file and document tools, in one value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FolderLimits:
    """scan_bytes: how far into a file, and how much of a folder in one search. read_bytes: of one read, as JSON in UTF-8.
    name_chars: of a path in a result.
    scan_entries: names looked at in one folder; entries: names shown. line_chars, hit_chars: of one line that is read, or found."""

    path_chars: int = 1_024
    name_chars: int = 200
    links: int = 8
    entries: int = 500
    scan_entries: int = 100_000
    read_bytes: int = 60_000
    line_chars: int = 2_000
    scan_bytes: int = 20_000_000
    write_bytes: int = 1_000_000
    hits: int = 100
    hit_chars: int = 200
    pattern_chars: int = 500
    search_seconds: float = 2.0


DEFAULT_LIMITS = FolderLimits()
OBSERVATION_LIMITS = FolderLimits(read_bytes=2_400, entries=150)  # what an observation has room for, so that "go on with" holds
