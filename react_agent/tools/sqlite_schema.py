"""The tables of a database: as values, as what is asked about each of them, and as the short description that a model reads."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from react_agent.tools.sqlite_guard import quoted

MAX_DESCRIBED = 60
MAX_COUNTED = 1_000_000
SAMPLE_ROWS = 2
MAX_NAME = 200  # characters of a table's name in the description; a longer one would take the room of all the others
MAX_COLUMNS_WITH_CHOICES = 20
MAX_CHOICES, MAX_CHOICE_CHARACTERS, MAX_ROWS_FOR_CHOICES = 10, 24, 50_000
KEYWORDS = frozenset({
    "add", "all", "alter", "and", "as", "autoincrement", "between", "by", "case", "cast", "check", "collate", "commit", "constraint",
    "create", "current_date", "current_time", "current_timestamp", "default", "deferrable", "delete", "distinct", "drop", "else", "end",
    "escape", "except", "exists", "foreign", "from", "group", "having", "in", "index", "insert", "intersect", "into", "is", "isnull",
    "join", "limit", "not", "nothing", "notnull", "null", "on", "or", "order", "primary", "raise", "references", "returning", "select",
    "set", "table", "then", "to", "transaction", "union", "unique", "update", "using", "values", "when", "where",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """key: the place in the primary key, 0 when it is no part of it. references: "table.column" that a foreign key points to, or empty."""

    name: str
    type: str
    key: int = 0
    references: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """kind: table, view or virtual."""

    name: str
    kind: str
    columns: tuple[Column, ...]

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def read_tables(objects: Iterable[Mapping[str, Any]]) -> tuple[Table, ...]:
    """The child's `schema` reply as values. A foreign key that names no column points to the primary key of its table."""
    objects = list(objects)
    keys = {each["name"].lower(): next((name for name, _, key in each["columns"] if key == 1), "rowid") for each in objects}
    tables = []
    for each in objects:
        links = {
            column.lower(): f"{spelled(table)}.{spelled(target or keys[table.lower()])}"
            for column, table, target in each["references"]
            if table.lower() in keys
        }
        columns = (Column(str(name), str(type), int(key), links.get(name.lower(), "")) for name, type, key in each["columns"])
        tables.append(Table(str(each["name"]), str(each["kind"]), tuple(columns)))
    return tuple(tables)


def literal(text: str) -> str:
    """A text in SQL's quotes."""
    return "'" + text.replace("'", "''") + "'"


def spelled(name: str) -> str:
    """A name as SQL must have it: in quotes only where it needs them."""
    return name if name.isidentifier() and name.isascii() and name.lower() not in KEYWORDS else quoted(name)


def questions(table: Table) -> Iterator[str]:
    """The statements behind the description of one table, in the order in which `described` reads their results.

    Rows are counted through a LIMIT, because a bare count(*) is one step of SQLite's machine that no deadline can stop. A column that may
    hold large values is sampled by its size.
    """
    name = quoted(table.name)
    yield f"SELECT count(*) FROM (SELECT 1 FROM {name} LIMIT {MAX_COUNTED + 1})"
    yield f"SELECT {', '.join(map(_sampled, table.columns))} FROM {name} LIMIT {SAMPLE_ROWS}"
    for column in _with_choices(table):
        cell = quoted(column.name)
        some = f"SELECT {cell} FROM {name} LIMIT {MAX_ROWS_FOR_CHOICES}"
        yield f"SELECT DISTINCT {cell} FROM ({some}) WHERE {cell} IS NOT NULL LIMIT {MAX_CHOICES + 1}"


def _sampled(column: Column) -> str:
    cell = quoted(column.name)
    if "BLOB" not in column.type.upper():
        return cell
    return f"CASE typeof({cell}) WHEN 'blob' THEN '<BLOB ' || length({cell}) || ' bytes>' ELSE {cell} END"


def _with_choices(table: Table) -> list[Column]:
    """Columns whose distinct values are worth a look: text that is neither key nor reference."""
    texts = [column for column in table.columns if any(kind in column.type.upper() for kind in ("CHAR", "TEXT", "CLOB"))]
    return [column for column in texts if not column.key and not column.references][:MAX_COLUMNS_WITH_CHOICES]


def described(table: Table, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One table of `SqliteDatabase.tables()`; what could not be found out in time is None or missing."""
    rows, sample, *choices = [result.get("rows") for result in results] if results else (None, None)
    count = rows[0][0] if rows and isinstance(rows[0][0], int) else None
    values = {column.name: _choices(found, count) for column, found in zip(_with_choices(table), choices, strict=False)}
    columns: list[dict[str, Any]] = []
    for column in table.columns:
        more = {"key": column.key, "references": column.references, "values": values.get(column.name)}
        columns.append({"name": column.name, "type": column.type} | {name: value for name, value in more.items() if value})
    return {"name": table.name, "kind": table.kind, "rows": count, "columns": columns, "sample": sample or []}


def _choices(rows: Sequence[Sequence[Any]] | None, count: int | None) -> list[str] | None:
    """The values of a column when they are few, short, and repeated; all of them or none."""
    values = [row[0] for row in rows or [] if isinstance(row[0], str)]
    if not values or count is None or count > MAX_ROWS_FOR_CHOICES or len(values) > MAX_CHOICES or count < 2 * len(values):
        return None
    return values if all(len(value) <= MAX_CHOICE_CHARACTERS for value in values) else None


def summary(tables: Mapping[str, Any], room: int) -> dict[str, Any]:
    """What `sql_tables` shows: as much detail as fits into room characters of JSON, the names of the tables at least."""
    every: list[Mapping[str, Any]] = [*tables["tables"], *tables["views"]]
    found = [table for table in every if len(table["name"]) <= MAX_NAME]
    left_out = tables["left_out"] + len(every) - len(found)
    for detail in (_full, _without_sample, _names_of_columns):
        text = _shown(found, left_out, detail)
        if len(json.dumps(text, ensure_ascii=False)) <= room:
            return text
    names = [spelled(table["name"]) for table in found]
    shown = names[: max(1, room // 40)]
    note = "for the columns of one: sql_query with PRAGMA table_info(table)"
    left_out += len(names) - len(shown)
    return {"tables": shown, "note": f"{left_out} more tables are not shown; {note}" if left_out else note}


def _shown(found: Sequence[Mapping[str, Any]], left_out: int, detail: Callable[[Mapping[str, Any]], Any]) -> dict[str, Any]:
    joins = [
        f"{spelled(table['name'])}.{spelled(column['name'])} = {column['references']}"
        for table in found for column in table["columns"] if "references" in column
    ]  # fmt: skip
    views = [table for table in found if table["kind"] == "view"]
    text: dict[str, Any] = {"tables": {spelled(table["name"]): detail(table) for table in found if table["kind"] != "view"}}
    if views:
        text["views"] = {spelled(view["name"]): detail(view) for view in views}
    if joins:
        text["joins"] = joins
    if left_out or not found:
        text["note"] = f"{left_out} more tables are not shown" if left_out else "the database has no tables"
    return text


def _full(table: Mapping[str, Any]) -> Any:
    return {**_without_sample(table), "sample": table["sample"]} if table["kind"] != "view" else _names_of_columns(table)


def _without_sample(table: Mapping[str, Any]) -> Any:
    if table["kind"] == "view":
        return _names_of_columns(table)
    rows = table["rows"]
    return {
        "rows": f"more than {MAX_COUNTED}" if rows is not None and rows > MAX_COUNTED else rows,
        "columns": {spelled(column["name"]): _kind(column) for column in table["columns"]},
    }


def _names_of_columns(table: Mapping[str, Any]) -> str:
    return ", ".join(spelled(column["name"]) for column in table["columns"])


def _kind(column: Mapping[str, Any]) -> str:
    kind = column["type"] + (" primary key" if "key" in column else "")
    values = ", ".join(map(literal, column.get("values", ())))
    return f"{kind}, one of {values}" if values else kind
