"""One connection to the file, and the rows of a statement as JSON can hold them.

Imported by the child process alone, which runs without the package: the standard library only.
"""

import json
import os
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

from react_agent.tools.sqlite_guard import ENGINE_LIMITS, INTERNAL, VIRTUAL, Guard, Hidden, Objects, columns_of, is_shadow, quoted
from react_agent.tools.sqlite_text import without_explain

COUNT_AT_MOST, COUNT_FOR_S = 10_000, 0.25
MAX_OBJECTS, MAX_SCHEMA_CHARACTERS = 300, 400_000
ERRORS = (sqlite3.Error, sqlite3.Warning, MemoryError, ValueError, OverflowError)


class Session:
    """One connection with every brake on: read-only, nothing written beside the file, the engine's limits, a deadline, the authorizer."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.deadline = time.monotonic() + request["timeout_s"]
        immutable = "" if quiet_wal(request["path"]) is None else "&immutable=1"
        self.connection = sqlite3.connect(
            f"{request['uri']}?mode=ro&readonly_shm=1{immutable}", uri=True, isolation_level=None, cached_statements=0,
            timeout=min(1.0, request["timeout_s"] / 2),
        )  # fmt: skip
        try:
            self._restrict(self.connection)
        except BaseException:
            self.connection.close()
            raise

    def _restrict(self, connection: sqlite3.Connection) -> None:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.set_progress_handler(lambda: time.monotonic() > self.deadline, 1_000)
        for pragma in ("cell_size_check=ON", "mmap_size=0", "temp_store=MEMORY", "trusted_schema=OFF"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")  # what is hidden and what is asked belong to one state of the file
        rows = connection.execute("SELECT name, type, coalesce(sql, '') FROM sqlite_master WHERE type IN ('table', 'view')")
        self.objects: Objects = {name: (kind, text) for name, kind, text in rows}
        self.hidden = Hidden(connection, self.objects, self.request["hide"])
        for limit, value in ENGINE_LIMITS.items():  # now: they hold for statements, and SQLite has read the schema
            connection.setlimit(limit, value)
        connection.execute("PRAGMA query_only=ON")
        if sys.version_info >= (3, 12):
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        self.guard = Guard(self.objects, self.hidden)
        connection.set_authorizer(self.guard)
        while self.hidden and (self._hide_views() or self.hidden.spread()):
            pass

    def _hide_views(self) -> bool:
        """Hide the views that read something hidden, because their column names alone may tell; whether there were more."""
        before = len(self.hidden.tables)
        for name, (kind, _) in self.objects.items():
            if kind == "view" and name.lower() not in self.hidden.tables:
                try:
                    self.connection.execute(f"EXPLAIN SELECT * FROM {quoted(name)}")  # authorized like the SELECT, and runs nothing
                except sqlite3.Error:
                    self.hidden.add(name)
        self.guard.denied = None
        return len(self.hidden.tables) > before

    def run(self, sql: str) -> dict[str, Any]:
        """The rows of one statement, cut to the caps of the request; a failure as a value."""
        if time.monotonic() > self.deadline:  # several statements share one deadline
            return failure("SQLITE_INTERRUPT", "no time is left")
        end, longest = self.deadline, self.request["max_cell"]
        self.connection.text_factory = lambda raw: shortened(raw, longest)
        self.guard.denied = None
        try:
            if self.hidden.pages and self._reads_in_hidden_order(sql):
                return failure("SQLITE_AUTH", "an index over a hidden column", ("order", ""))
            cursor = self.connection.execute(sql)
            if cursor.description is None:
                return failure("not_a_query", "the statement gives no rows")
            columns = [shortened(column[0].encode(), 100) for column in cursor.description]
            return {"columns": columns, **self._rows(cursor, self.request["max_characters"] - len(json.dumps(columns)))}
        except ERRORS as error:
            return failure(code_of(error), str(error), self.guard.denied)
        finally:
            self.deadline = end

    def _reads_in_hidden_order(self, sql: str) -> bool:
        """Whether the statement opens an index that is sorted by a hidden column. Raises what the statement itself would raise."""
        steps = self.connection.execute(f"EXPLAIN {without_explain(sql)}")
        return any(step[1] in ("OpenRead", "ReopenIdx") and step[4] == 0 and step[3] in self.hidden.pages for step in steps)

    def _rows(self, cursor: sqlite3.Cursor, room: int) -> dict[str, Any]:
        """Rows up to the caps; what comes after is only counted, for a moment, so that the model learns how much it does not see."""
        rows: list[list[Any]] = []
        count, truncated = 0, None
        try:
            for raw in cursor:
                count += 1
                if truncated is None:
                    row = [plain(value) for value in raw]
                    room -= len(json.dumps(row, ensure_ascii=False))
                    truncated = "row limit" if len(rows) == self.request["max_rows"] else "size limit" if room < 0 else None
                    if truncated is None:
                        rows.append(row)
                        continue
                    if not rows:
                        rows.append(squeezed(row, self.request["max_characters"]))
                    self.deadline = min(self.deadline, time.monotonic() + COUNT_FOR_S)
                elif count > COUNT_AT_MOST:
                    break
            else:
                return {"rows": rows, "row_count": count, "truncated": truncated, "counted": True}
        except ERRORS:
            if truncated is None:
                raise
        return {"rows": rows, "row_count": count, "truncated": truncated, "counted": False}

    def schema(self) -> dict[str, Any]:
        """What the model may see of the tables and views, in the order of their creation."""
        self.connection.set_authorizer(None)
        virtual = [name for name, (_, text) in self.objects.items() if VIRTUAL.match(text)]
        inner = {name for name in self.objects if name.startswith("sqlite_") or any(is_shadow(name, owner) for owner in virtual)}
        shown = [name for name in self.objects if name not in inner and name.lower() not in self.hidden.tables]
        objects, room = [], MAX_SCHEMA_CHARACTERS
        for described in map(self._described, shown[:MAX_OBJECTS]):
            size = len(json.dumps(described))
            if size <= room:
                objects.append(described)
                room -= size
        return {"objects": objects, "left_out": len(shown) - len(objects)}

    def _described(self, name: str) -> dict[str, Any]:
        kind, text = self.objects[name]
        try:
            columns = [row for row in columns_of(self.connection, name) if row[6] != INTERNAL and self._shows(name, row[1])]
        except sqlite3.OperationalError as error:
            if code_of(error) != "SQLITE_ERROR":
                raise
            columns = []  # a view that has become wrong
        links = self.connection.execute(f"PRAGMA main.foreign_key_list({quoted(name)})").fetchall()
        return {
            "name": name,
            "kind": "virtual" if VIRTUAL.match(text) else kind,
            "columns": [[row[1], row[2], row[5]] for row in columns],
            "references": [[row[3], row[2], row[4]] for row in links if self._shows(name, row[3]) and self._shows(row[2], row[4] or "")],
        }

    def _shows(self, table: str, column: str) -> bool:
        return table.lower() not in self.hidden.tables and (table.lower(), column.lower()) not in self.hidden.columns


def failure(code: str, message: str, denied: tuple[str, str] | None = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": message[:1_000], "denied": denied}}


def code_of(error: BaseException) -> str:
    """SQLite's name for the error, without its extension; the class's name where Python itself refused."""
    name = getattr(error, "sqlite_errorname", None) or type(error).__name__
    return "_".join(name.split("_")[:2])


def shortened(raw: bytes, longest: int) -> str:
    """UTF-8 as text of at most longest characters, saying what was cut; cut before it is decoded, because a cell may be huge."""
    text = raw[: longest * 4 + 4].decode("utf-8", "replace")
    return text if len(text) <= longest else f"{text[:longest]}... ({len(raw)} bytes in all)"


def plain(value: Any) -> Any:
    """A cell as JSON can hold it."""
    if isinstance(value, bytes):
        return f"<BLOB {len(value)} bytes>"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "Inf" if value > 0 else "-Inf"
    return value


def squeezed(row: list[Any], room: int) -> list[Any]:
    """A first row that alone is too large, each text cut until all of it fits (JSON makes six characters of a control character)."""
    longest = room // (8 * len(row))
    return [f"{value[:longest]}..." if isinstance(value, str) and len(value) > longest else value for value in row]


def quiet_wal(path: str) -> tuple[int, int, bool] | None:
    """The state of a database in WAL mode that nobody has open, None for every other.

    Such a file is read as immutable, because SQLite would else create a -wal and a -shm beside it. That is right for as long as nobody
    starts to write, so the state is compared afterwards. With a writer there is a -shm, which is used without being written.
    """
    wal, shm = Path(path + "-wal"), Path(path + "-shm")
    try:
        with open(path, "rb") as file:
            in_wal_mode = file.read(20)[18:20] == b"\2\2"
        if not in_wal_mode or (wal.exists() and (shm.exists() or wal.stat().st_size)):
            return None
        status = os.stat(path)
    except OSError:  # SQLite says what is wrong with it
        return None
    return status.st_mtime_ns, status.st_size, wal.exists()
