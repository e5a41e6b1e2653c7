"""What a statement may do: SQLite's own limits, the allow-lists of the authorizer, and the names that are hidden.

Imported by the child process alone, which runs without the package: the standard library only.
"""

import re
import sqlite3
from collections.abc import Iterator
from typing import Any


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MAX_SQL_BYTES, MAX_COLUMNS = 20_000, 200
ENGINE_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: MAX_SQL_BYTES,
    sqlite3.SQLITE_LIMIT_COLUMN: MAX_COLUMNS,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 25_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 32,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 100,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
FUNCTIONS = words("""
    abs acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power radians random
    round sign sin sinh sqrt tan tanh trunc
    char concat concat_ws format glob hex instr length like lower ltrim match octet_length printf quote replace rtrim soundex substr
    substring trim unhex unicode unistr upper
    coalesce if ifnull iif likelihood likely nullif sqlite_version typeof unlikely zeroblob
    current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch
    avg count group_concat max median min percentile percentile_cont percentile_disc string_agg sum total
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
    -> ->> json json_array json_array_length json_error_position json_extract json_group_array json_group_object json_insert json_object
    json_pretty json_quote json_remove json_replace json_set json_type json_valid
    bm25 highlight snippet
""")
PRAGMAS = words("table_info table_xinfo table_list foreign_key_list index_list index_info index_xinfo")
PRAGMAS_WITHOUT_ARGUMENT = words("user_version encoding foreign_keys data_version page_size")  # FTS asks the last two itself
SCHEMA_TABLES = words("sqlite_master sqlite_schema sqlite_sequence sqlite_stat1 sqlite_stat4")
TABLE_FUNCTIONS = frozenset({"json_each", "json_tree"} | {f"pragma_{name}" for name in PRAGMAS})
INTERNAL, GENERATED = 1, (2, 3)  # the last field of table_xinfo
KNOWN_MODULES = re.compile(
    r"dbstat|fts3tokenize|fts4aux|fts5vocab|bytecode|tables_used|completion|fsdir|generate_series|(sqlite|pragma)_.*", re.S
)
DECLARED_BY_MODULES = frozenset({"type", "name", "tbl_name", "rootpage", "sql"})
SHADOW_SUFFIXES = words("data idx content docsize config segments segdir stat node parent rowid")
STATEMENTS = {
    sqlite3.SQLITE_INSERT: "INSERT", sqlite3.SQLITE_UPDATE: "UPDATE", sqlite3.SQLITE_DELETE: "DELETE", sqlite3.SQLITE_ATTACH: "ATTACH",
    sqlite3.SQLITE_DETACH: "DETACH", sqlite3.SQLITE_TRANSACTION: "a transaction", sqlite3.SQLITE_SAVEPOINT: "SAVEPOINT",
    sqlite3.SQLITE_REINDEX: "REINDEX", sqlite3.SQLITE_ANALYZE: "ANALYZE", sqlite3.SQLITE_ALTER_TABLE: "ALTER TABLE",
}  # fmt: skip

VIRTUAL = re.compile(r"\s*create\s+virtual\b", re.I)

Objects = dict[str, tuple[str, str]]  # name -> (kind, CREATE text), as in sqlite_master


class HiddenNameError(Exception):
    """A name in the hide list is not in the database: better no answer than an open column."""


class Hidden:
    """What the model may not see: whole tables, and columns of others.

    names: "table" or "table.column". With a column go the generated columns of its table, with either the virtual tables over it. An
    ordinary table with hidden columns is covered by a temporary view of the others, so that `SELECT *` just does not have them.
    pages: the root pages of the indexes that are sorted by a hidden column; rows read through one would come in its order.
    """

    def __init__(self, connection: sqlite3.Connection, objects: Objects, names: list[str]) -> None:
        self.tables: dict[str, str] = {}  # in lower case -> the name to speak of, for a table in which a virtual one keeps its data
        self.columns: set[tuple[str, str]] = set()
        self.pages: set[int] = set()
        self._connection, self._objects = connection, objects
        for name in names:
            self._add(name)
        while self.spread():
            pass
        for table in {table for table, _ in self.columns}:
            self._cover(table)

    def __bool__(self) -> bool:
        return bool(self.tables or self.columns)

    def add(self, table: str) -> None:
        self.tables[table.lower()] = table

    def spread(self) -> bool:
        """Hide the virtual tables that speak of something hidden and the tables in which they keep their data; whether there were more."""
        before = len(self.tables)
        modules = {name.lower(): text for name, (_, text) in self._objects.items() if VIRTUAL.match(text)}
        virtual = {name for name, text in modules.items() if name in self.tables or self._reads(text)}
        self.tables |= {name: name for name in virtual}
        self.tables |= {name.lower(): owner for name in self._objects for owner in virtual if is_shadow(name, owner)}
        return len(self.tables) > before

    def _add(self, name: str) -> None:
        if name.lower() in {table.lower() for table in self._objects}:
            self.add(name)
            return
        found = set(self._columns_named(name.lower()))
        if not found:
            raise HiddenNameError(name)
        self.columns |= found

    def _columns_named(self, name: str) -> Iterator[tuple[str, str]]:
        """The columns that "table.column" may stand for, as either part may have a dot of its own, and the generated ones beside them."""
        for table in self._objects:
            column = name.removeprefix(f"{table.lower()}.")
            columns = [] if column == name else [(row[1].lower(), row[6]) for row in columns_of(self._connection, table)]
            if column in (each for each, _ in columns):
                yield from ((table.lower(), each) for each, kind in columns if each == column or kind in GENERATED)

    def _reads(self, text: str) -> bool:
        """Whether the CREATE text of a virtual table speaks of something hidden."""
        names = [(table,) for table in self.tables] + list(self.columns)
        return any(all(mentions(text, name) for name in group) for group in names)

    def _cover(self, table: str) -> None:
        name, text = next((name, text) for name, (_, text) in self._objects.items() if name.lower() == table)
        columns = [row[1] for row in columns_of(self._connection, name) if row[6] != INTERNAL]
        shown = [quoted(column) for column in columns if (table, column.lower()) not in self.columns]
        if not shown:
            self.add(table)
            return
        pages = self._sorted_by_hidden(table)
        self.pages |= pages
        if not VIRTUAL.match(text) and len(shown) <= MAX_COLUMNS:  # MATCH needs the table itself; there `SELECT *` is refused
            source = f"main.{quoted(name)}{' NOT INDEXED' if pages else ''}"
            self._connection.execute(f"CREATE TEMP VIEW {quoted(name)} AS SELECT {', '.join(shown)} FROM {source}")

    def _sorted_by_hidden(self, table: str) -> set[int]:
        """The root pages of the table's indexes over a hidden column or an expression with one."""
        hidden = {column for owner, column in self.columns if owner == table}
        indexes = self._connection.execute("SELECT name, rootpage, coalesce(sql, ''), tbl_name FROM sqlite_master WHERE type = 'index'")
        return {
            page for index, page, text, owner in indexes.fetchall()
            if owner.lower() == table and (self._keys(index) & hidden or any(mentions(text, column) for column in hidden))
        }  # fmt: skip

    def _keys(self, index: str) -> set[str]:
        terms = self._connection.execute(f"PRAGMA main.index_xinfo({quoted(index)})")
        return {name.lower() for _, _, name, _, _, is_key in terms if name and is_key}


def mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.I) is not None


def is_shadow(name: str, owner: str) -> bool:
    """Whether name is a table in which the virtual table owner keeps its data."""
    head, _, suffix = name.lower().rpartition("_")
    return head == owner.lower() and suffix in SHADOW_SUFFIXES


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def columns_of(connection: sqlite3.Connection, table: str) -> list[Any]:
    """Rows of (place, name, type, not null, default, key, hidden)."""
    return connection.execute(f"PRAGMA main.table_xinfo({quoted(table)})").fetchall()


class Guard:
    """The authorizer: it allows what the tables above list, and remembers what it refused first as (kind, name)."""

    def __init__(self, objects: Objects, hidden: Hidden) -> None:
        self.tables = {name.lower() for name in objects} | SCHEMA_TABLES | TABLE_FUNCTIONS
        self.views = {name.lower() for name, (kind, _) in objects.items() if kind == "view"}
        self.hidden = hidden
        self.denied: tuple[str, str] | None = None

    def __call__(self, action: int, first: str | None, second: str | None, database: str | None, view: str | None) -> int:
        refused = self._refused(action, first or "", second, database, view)
        if refused is None:
            return sqlite3.SQLITE_OK
        self.denied = self.denied or refused
        return sqlite3.SQLITE_DENY

    def _refused(self, action: int, first: str, second: str | None, database: str | None, view: str | None) -> tuple[str, str] | None:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return None
        if action == sqlite3.SQLITE_READ:
            return self._refused_read(first, second or "", database, view)
        if action == sqlite3.SQLITE_FUNCTION:
            return None if (second or "").lower() in FUNCTIONS else ("function", second or "")
        if action == sqlite3.SQLITE_PRAGMA:
            return None if self._pragma_allowed(first.lower(), second, database) else ("pragma", first)
        if action == sqlite3.SQLITE_UPDATE and (first, database) == ("sqlite_master", "main") and second in DECLARED_BY_MODULES:
            return None  # how a virtual table declares itself on first use, up to SQLite 3.40; a statement of that form fails elsewhere
        return ("statement", STATEMENTS.get(action, "CREATE or DROP"))

    def _refused_read(self, table: str, column: str, database: str | None, view: str | None) -> tuple[str, str] | None:
        name = table.lower()
        if name not in self.tables and (column or KNOWN_MODULES.fullmatch(name)):
            return ("table", table)
        if not self.hidden:
            return None
        if name in self.hidden.tables:
            return ("hidden table", self.hidden.tables[name])
        if (name, column.lower()) in self.hidden.columns:  # view: also the name of a common table expression
            return ("hidden table", view) if view and view.lower() in self.views else ("hidden column", f"{table}.{column}")
        if name.startswith("sqlite_") and column not in ("", "ROWID"):
            return ("schema", table)
        if database == "temp" and column == "ROWID":
            return ("hidden column", f"{table}.rowid")  # the view that stands before a table has none and would give NULL
        return None

    def _pragma_allowed(self, name: str, argument: str | None, database: str | None) -> bool:
        if name in PRAGMAS_WITHOUT_ARGUMENT:
            return argument is None
        if name not in PRAGMAS or not self.hidden:
            return name in PRAGMAS
        return name in ("table_info", "table_xinfo") and database is None and (argument or "").lower() not in self.hidden.tables
