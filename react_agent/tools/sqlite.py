"""One SQLite file, read-only, for a model that is not trusted: each statement runs in a process that can be killed.

The process holds every brake (sqlite_guard, sqlite_session, sqlite_child); this side checks the text, keeps the deadline and turns what
went wrong into the facts that the model needs for its next try (sqlite_hints, sqlite_notes). Where the system has no `resource` (Windows),
the limits of memory and processor time are SQLite's heap limit and the deadline alone.
"""

import os
import stat
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import react_agent.tools.sqlite_notes as notes
from react_agent.errors import ConfigError, ToolError
from react_agent.registry import Tool
from react_agent.tools.sqlite_guard import MAX_SQL_BYTES
from react_agent.tools.sqlite_hints import FAILURES, Question, explained, refused_verb, tool_error
from react_agent.tools.sqlite_rewrites import instead_of_text
from react_agent.tools.sqlite_schema import MAX_CHOICES, MAX_DESCRIBED, Table, described, questions, read_tables, spelled, summary
from react_agent.tools.sqlite_text import Token, tokens, without_tail
from react_agent.tools.sqlite_worker import Worker

GRACE_S, NOTE_TIMEOUT_S = 0.5, 0.2
SAMPLE_CAPS = {"max_rows": MAX_CHOICES + 1, "max_characters": 4_000, "max_cell": 40}
VALUE_CAPS = {"max_rows": notes.MAX_VALUES, "max_characters": 20_000, "max_cell": 100}
TOOL_CHARACTERS, TOOL_CELL = 2_400, 400
MAX_ABOUT, MAX_NAMED, MAX_PLAIN = 700, 12, 40  # characters, names, characters: of the tables in a tool's description


class SqliteDatabase:
    """A database file that can be asked but not changed. Threads may share it, and it works after a fork.

    hide: "table" or "table.column" that the model must not see; they are not there for it, in `SELECT *` too, and with them go the
    views and virtual tables that read them and the order of indexes over them. A name that the database does not have makes every
    query fail: a typing error must not open a column. Two things stay: a hidden primary key may show in the order of rows, and a copy
    that the database keeps elsewhere is a column of its own.
    timeout_s: for one statement; half a second later at the latest the process is killed. max_rows, max_characters (of JSON), max_cell:
    caps of a result.
    """

    def __init__(
        self, path: str | os.PathLike[str], hide: Sequence[str] = (), timeout_s: float = 2.0, *,
        max_rows: int = 200, max_characters: int = 50_000, max_cell: int = 2_000, worker: Worker | None = None,
    ) -> None:  # fmt: skip
        if isinstance(hide, str):
            raise ConfigError(f"hide is a list of names: [{hide!r}]")
        if not 0 < timeout_s <= 600 or min(max_rows, max_characters, max_cell) < 1:
            raise ConfigError("timeout_s must be above 0 and at most 600, and the caps at least 1")
        self.path = Path(path).absolute()
        self.hide = tuple(hide)
        self.timeout_s = timeout_s
        self._caps = {"max_rows": max_rows, "max_characters": max_characters, "max_cell": max_cell}
        self._worker = worker or Worker()
        self._lock, self._lock_owner = threading.RLock(), os.getpid()

    def __enter__(self) -> "SqliteDatabase":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the process. A later query would start another."""
        with self._exclusive():
            self._worker.stop()

    def query(self, sql: str) -> dict[str, Any]:
        """The rows of one statement: {"columns", "rows", "row_count", "truncated"}, and "note" when there is more to know.

        rows: lists in the order of the columns, which may have the same name twice. row_count: of the whole result, also of the rows that
        are cut off (counted to 10,000). truncated: None, "row limit" or "size limit". Raises ToolError of a type in: not_allowed,
        multiple_statements, not_a_query, sql_error, timeout, too_large, busy, not_found, not_a_database, invalid_argument, unavailable.
        """
        sql, words = _checked(sql)
        with self._exclusive():
            result = self._run([sql], self.timeout_s, self._caps)[0]
            if "error" in result:
                known = () if str(result["error"].get("code")) in FAILURES else self._schema_or_nothing()
                raise explained(result["error"], Question(words, known))
            if not result["rows"] and (instead := instead_of_text(words)):
                raise tool_error("sql_error", "no row matched, for a text is calculated with", instead)
            note = self._notes(result, words)
        shown = {key: result[key] for key in ("columns", "rows", "row_count", "truncated")}
        return {**shown, "note": note} if note else shown

    def tables(self) -> dict[str, Any]:
        """Tables and views: {"tables": [table], "views": [table], "left_out": n}.

        table: {"name", "kind", "rows", "columns", "sample"}; rows and sample are None and [] for a view, and where time ran out.
        column: {"name", "type"} and, where there is such a thing, "key" (its place in the primary key), "references" ("table.column") and
        "values" (all of them, when they are few and short).
        """
        with self._exclusive():
            end = time.monotonic() + self.timeout_s
            known, left_out = self.schema()
            asked = {table.name: list(questions(table)) for table in known if table.kind != "view"}
            asked = dict(list(asked.items())[:MAX_DESCRIBED])
            answers = iter(self._facts([sql for group in asked.values() for sql in group], end, SAMPLE_CAPS))
        found = [described(table, [next(answers, {}) for _ in asked.get(table.name, ())]) for table in known]
        views = [table for table in found if table["kind"] == "view"]
        return {"tables": [table for table in found if table["kind"] != "view"], "views": views, "left_out": left_out}

    def schema(self) -> tuple[tuple[Table, ...], int]:
        """The tables and views without a look at their rows, and how many more there are than are told."""
        with self._exclusive():
            return self._schema(self.timeout_s)

    def _exclusive(self) -> "threading.RLock":
        if self._lock_owner != os.getpid():  # a fork: the thread that held the lock is not here
            self._lock, self._lock_owner = threading.RLock(), os.getpid()
        return self._lock

    def _facts(self, statements: list[str], end: float, caps: Mapping[str, int]) -> list[Mapping[str, Any]]:
        try:
            return self._run(statements, max(0.05, end - time.monotonic()), caps)
        except ToolError:
            return []

    def _notes(self, result: Mapping[str, Any], words: Sequence[Token]) -> str:
        """Notes are a help and cost little: a failure to make one is no failure of the query."""
        found = [notes.of_truncation(result)]
        unmatched = notes.has_no_match(result)
        if unmatched or any(word.kind == "name" and word.text[0] == '"' for word in words):
            question = Question(words, self._schema_or_nothing())
            found.append(notes.of_quotes(question))
            if unmatched:
                found += self._why_nothing_matched(question) or [notes.of_nothing(result, question)]
        return "; ".join(note for note in found if note)

    def _why_nothing_matched(self, question: Question) -> list[str]:
        checks = list(notes.checks(question))
        asked = [sql for _, _, statements in checks for sql in statements]
        answers = iter(self._facts(asked, time.monotonic() + NOTE_TIMEOUT_S, VALUE_CAPS) if asked else ())
        found = [notes.of_values(comparison, column, next(answers, {}), next(answers, {})) for comparison, column, _ in checks]
        return [note for note in found if note]

    def _schema_or_nothing(self) -> tuple[Table, ...]:
        try:
            return self._schema(NOTE_TIMEOUT_S)[0]
        except ToolError:
            return ()

    def _schema(self, timeout_s: float) -> tuple[tuple[Table, ...], int]:
        reply = self._ask({"op": "schema", **self._caps}, timeout_s)
        try:
            return read_tables(reply["objects"]), int(reply["left_out"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._garbage() from error

    def _run(self, statements: list[str], timeout_s: float, caps: Mapping[str, int]) -> list[Mapping[str, Any]]:
        results = self._ask({"op": "run", "statements": statements, **caps}, timeout_s).get("results")
        if not isinstance(results, list) or len(results) != len(statements) or not all(map(_is_result, results)):
            raise self._garbage()
        return results

    def _ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        path = _regular_file(self.path)
        uri = path.as_uri()
        if not uri.startswith("file:///"):  # a Windows share: SQLite wants an empty host
            uri = "file://" + uri.removeprefix("file:")
        request |= {"path": str(path), "uri": uri, "hide": list(self.hide), "timeout_s": timeout_s}
        reply = self._worker.ask(request, timeout_s + min(GRACE_S, timeout_s))
        if "error" in reply:
            failure = reply["error"] if isinstance(reply["error"], dict) else {}
            name = failure.get("message") if failure.get("code") == "hide" else None  # for the operator, not for the model
            cause = ConfigError(f"hide: {self.path} has no table or column {name!r}") if name else None
            raise explained(failure, Question((), ())) from cause
        return reply

    def _garbage(self) -> ToolError:
        self._worker.stop()
        return tool_error("unavailable", "the process that runs the queries gave no proper reply", "try the same query once more")


def _is_result(result: Any) -> bool:
    """Whether the child's reply has the shape of one: it ran foreign SQL, so it is not taken at its word."""
    if not isinstance(result, dict) or isinstance(result.get("error"), dict):
        return isinstance(result, dict)
    parts = {"columns": list, "rows": list, "row_count": int, "counted": bool, "truncated": str | None}
    if not all(key in result and isinstance(result[key], kind) for key, kind in parts.items()) or not result["columns"]:
        return False
    return all(isinstance(row, list) and len(row) == len(result["columns"]) for row in result["rows"])


def _checked(sql: str) -> tuple[str, list[Token]]:
    """The statement without its tail and its tokens, or ToolError for what is no single query to begin with."""
    if not isinstance(sql, str):
        raise tool_error("invalid_argument", "the query is not a text", "write one SQL statement as a string")
    try:
        size = len(sql.encode())
    except UnicodeEncodeError as error:
        raise tool_error("invalid_argument", "the query has half of a character (a lone surrogate)", "write it in plain Unicode") from error
    if "\0" in sql:
        raise tool_error("invalid_argument", "the query has a NUL character", "leave it out")
    if size > MAX_SQL_BYTES:
        raise tool_error("too_large", f"the query has {size} bytes; {MAX_SQL_BYTES} are allowed", "write a shorter query")
    sql, words = without_tail(sql, tokens(sql))
    if not words:
        raise tool_error("not_a_query", "there is no statement", "write one SELECT")
    if refusal := refused_verb(words):
        raise refusal
    if any(word.text == ";" for word in words):
        raise tool_error("multiple_statements", "only one statement at a time", "send the statements one by one")
    if words[0].text == "(":  # a value, such as (SELECT max(a) FROM t) - (SELECT min(a) FROM t): asked for as one
        sql = f"SELECT {sql[words[0].start :]}"
        words = tokens(sql)
    return sql, words


def _regular_file(path: Path) -> Path:
    """The file behind the path, links followed. A pipe would be waited for without end, a device read as an empty database."""
    hint = "say that the database is not there"
    try:
        path = Path(os.path.realpath(path))
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise tool_error("not_found", f"there is no database file {path.name}", hint) from error
    if not stat.S_ISREG(mode):
        raise tool_error("not_a_database", f"{path.name} is {'a folder' if stat.S_ISDIR(mode) else 'no regular file'}", hint)
    return path


def sqlite_tools(path: str | os.PathLike[str], hide: Sequence[str] = (), timeout_s: float = 2.0) -> list[Tool]:
    """`sql_tables` and `sql_query` over one database file.

    The file is opened once here: what is wrong with it, and a name in hide that it does not have, is a ConfigError before any run.
    """
    database = SqliteDatabase(path, hide, timeout_s, max_characters=TOOL_CHARACTERS, max_cell=TOOL_CELL)

    def sql_tables() -> dict[str, Any]:
        return summary(database.tables(), TOOL_CHARACTERS)

    def sql_query(query: str) -> dict[str, Any]:
        return database.query(query)

    described = f'Look up data of the database "{_plain(database.path.stem) or "database"}" with one SQLite SELECT.{_about(database)}'
    query = {"type": "string"}
    return [
        Tool(
            "sql_query", described,
            {"type": "object", "properties": {"query": query}, "required": ["query"], "additionalProperties": False},
            sql_query, read_only=True, untrusted_output=True,
        ),
        Tool(
            "sql_tables", "Column types, values and sample rows.",
            {"type": "object", "properties": {}, "additionalProperties": False},
            sql_tables, read_only=True, untrusted_output=True,
        ),
    ]  # fmt: skip


def _about(database: SqliteDatabase) -> str:
    """The tables with their columns for the description, when that is short, so that the model need not ask; else the tables' names.
    Plain names only, because a name comes from the file and stands in our words there."""
    try:
        known, _ = database.schema()
    except ToolError as error:
        if error.type in ("busy", "timeout"):
            return ""
        if isinstance(error.__cause__, ConfigError):
            raise error.__cause__ from None
        raise ConfigError(f"{database.path}: {error.message}") from error
    tables = [table for table in known if _plain(table.name)]
    whole = "; ".join(f"{table.name}({', '.join(_columns(table))})" for table in tables)
    if tables and len(whole) <= MAX_ABOUT:
        return f" Its only tables: {whole}."
    names = [table.name for table in tables]
    more = " and more" if len(names) > MAX_NAMED else ""
    return f" Its tables (call sql_tables for the columns): {', '.join(names[:MAX_NAMED])}{more}." if names else ""


def _columns(table: Table) -> Iterator[str]:
    """`id`, and `customer_id = customers.id` for a foreign key."""
    for column in table.columns:
        if _plain(column.name):
            target = column.references if all(map(_plain, column.references.split("."))) else ""
            yield f"{column.name} = {target}" if target else column.name


def _plain(name: str) -> str:
    """The name when it is one plain, short word, else nothing."""
    return name if spelled(name) == name and len(name) <= MAX_PLAIN else ""
