"""Failures of a statement as the facts that the model needs for its next try."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Any

from react_agent.errors import ToolError
from react_agent.tools.sqlite_rewrites import two_values
from react_agent.tools.sqlite_schema import Table, spelled
from react_agent.tools.sqlite_text import Token, main_verb, named_tables
from react_agent.tools.sqlite_worker import TIMEOUT_HINT, TIMEOUT_MESSAGE

MAX_MESSAGE, MAX_HINT, MAX_NAME = 150, 250, 100
LONGEST_COMPARED, MOST_COMPARED = 40, 1_000  # characters and number of the names that are compared with one that is not there
CALL_TABLES = "call sql_tables for the tables and their columns"
WRITES = frozenset({
    "insert", "update", "delete", "replace", "create", "drop", "alter", "attach", "detach", "vacuum", "reindex", "analyze",
    "begin", "commit", "end", "rollback", "savepoint", "release",
})  # fmt: skip
UNREADABLE_HINT = "say that the database cannot be read now; its owner has to open it with its own program"
QUOTES = "write texts in single quotes and double a quote inside: 'O''Brien'"
INNER_SELECT = "write each inner SELECT in brackets: SELECT (SELECT a FROM t WHERE ...) - (SELECT b FROM t WHERE ...)"
READ_ONLY_HINT = "the database can only be read: write one SELECT"
DATES = "SQLite keeps dates as text: use strftime('{}', column)"
INSTEAD = {
    "year": DATES.format("%Y"), "month": DATES.format("%m"), "day": DATES.format("%d"), "extract": DATES.format("%Y"),
    "date_part": DATES.format("%Y"), "date_format": DATES.format("%Y-%m"), "date_trunc": DATES.format("%Y-%m"),
    "to_char": DATES.format("%Y-%m"), "interval": "use date(column, '+1 month')", "dateadd": "use date(column, '+1 month')",
    "date_add": "use date(column, '+1 month')", "datediff": "use julianday(later) - julianday(earlier)",
    "now": "use date('now') or datetime('now')", "curdate": "use date('now')", "getdate": "use datetime('now')",
    "concat": "use a || ' ' || b", "concat_ws": "use a || ' ' || b", "left": "use substr(text, 1, count)",
    "right": "use substr(text, -count)", "charindex": "use instr(text, part)", "position": "use instr(text, part)",
    "isnull": "use ifnull(column, value)", "nvl": "use ifnull(column, value)", "regexp": "use LIKE '%part%'",
    "ilike": "use LIKE: it ignores case", "len": "use length(text)",
    "top": "write LIMIT at the end", "fetch": "write LIMIT at the end", "stddev": "use avg(x * x) - avg(x) * avg(x), the variance",
    "median": "order by the column and take the middle row with LIMIT and OFFSET", "::": "use CAST(value AS INTEGER)",
    "show": CALL_TABLES, "describe": CALL_TABLES, "desc": CALL_TABLES, "use": "there is one database: leave USE out",
    "`": "leave the code fence out", "\u2018": "write texts in straight quotes: 'text'", "\u201c": "write texts in straight quotes: 'text'",
}  # fmt: skip

TOO_MUCH = ("too_large", "the query needs too much memory", "ask for less: count or group, fewer columns, LIMIT")
TOO_BIG = ("too_large", "a value is too large", "leave large columns out, or ask for length(column) or substr(column, 1, 200)")
LOCKED = ("busy", "another program holds the database", "try the same query once more")
FAILURES: Mapping[str, tuple[str, str, str]] = {
    "SQLITE_INTERRUPT": ("timeout", TIMEOUT_MESSAGE, TIMEOUT_HINT),
    "SQLITE_NOMEM": TOO_MUCH, "MemoryError": TOO_MUCH, "SQLITE_FULL": TOO_MUCH,
    "SQLITE_TOOBIG": TOO_BIG, "DataError": TOO_BIG, "OverflowError": TOO_BIG,
    "SQLITE_BUSY": LOCKED, "SQLITE_LOCKED": LOCKED, "SQLITE_PROTOCOL": LOCKED,
    "SQLITE_READONLY": ("busy", "another program left the database in the middle of a change", UNREADABLE_HINT),
    "SQLITE_CANTOPEN": ("not_found", "the database file cannot be opened", UNREADABLE_HINT),
    "SQLITE_NOTADB": ("not_a_database", "the file is not an SQLite database", UNREADABLE_HINT),
    "SQLITE_CORRUPT": ("not_a_database", "the database file is damaged", UNREADABLE_HINT),
    "SQLITE_IOERR": ("unavailable", "the database file cannot be read", UNREADABLE_HINT),
    "not_a_query": ("not_a_query", "the statement gives no rows", "write one SELECT"),
    "hide": ("unavailable", "the database tool is set up wrongly", UNREADABLE_HINT),
}  # fmt: skip

CLAUSES_ELSEWHERE = frozenset({"interval", "ilike", "fetch", "top", "regexp"})

Failure = Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """A statement that failed and the tables that it could have asked."""

    words: Sequence[Token]
    tables: Sequence[Table]

    @cached_property
    def named(self) -> dict[str, Table]:
        """The tables that the statement names, by the names and aliases it may use for them, in lower case."""
        by_name = {table.name: table for table in self.tables}
        return {alias: by_name[name] for alias, name in named_tables(self.words, by_name).items()}

    @property
    def in_scope(self) -> list[Table]:
        return list(dict.fromkeys(self.named.values()))


def one_line(text: str, longest: int) -> str:
    """Text for an error: printable, on one line, cut with a mark."""
    text = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return text if len(text) <= longest else text[: longest - 3] + "..."


def tool_error(type: str, message: str, hint: str = "") -> ToolError:
    return ToolError(type, one_line(message, MAX_MESSAGE), one_line(hint, MAX_HINT))


def refused_verb(words: Sequence[Token]) -> ToolError | None:
    """The refusal of a statement that begins like a change. Words only: what refuses changes in truth is the authorizer."""
    verb = main_verb(words)
    return tool_error("not_allowed", f"{verb.upper()} is not allowed", READ_ONLY_HINT) if verb in WRITES else None


def explained(failure: Failure, question: Question) -> ToolError:
    """The child's failure as the error that the model reads."""
    code, message, denied = str(failure.get("code")), str(failure.get("message")), failure.get("denied")
    if code in FAILURES:
        return tool_error(*FAILURES[code])
    if isinstance(denied, list) and len(denied) == 2:
        return _refused(str(denied[0]), str(denied[1]), question)
    if "one statement at a time" in message:
        return tool_error("multiple_statements", "only one statement at a time", "send the statements one by one")
    if "inding" in message and code in ("ProgrammingError", "SQLITE_MISUSE"):
        return tool_error("sql_error", "the statement has placeholders", "write the values themselves: WHERE name = 'text'")
    for pattern, hint in SQL_ERRORS:
        if found := re.search(pattern, message, re.S):
            return tool_error("sql_error", message, hint(found.group("name")[:MAX_NAME], question))
    return tool_error("sql_error", message, _columns_of(question.in_scope))


def _refused(kind: str, name: str, question: Question) -> ToolError:
    if kind.startswith("hidden "):
        return _not_there(kind, name, question)
    usual = "use count, sum, avg, min, max, round, substr and the like"
    refusals = {
        "function": (f"function {name}() is not allowed", INSTEAD.get(name.lower(), usual)),
        "pragma": (f"PRAGMA {name} is not allowed here", f"{CALL_TABLES}; PRAGMA table_info(table) is allowed"),
        "table": (f"table {name} is not allowed", f"only SELECT on: {_names_of_tables(question)}"),
        "schema": (f"{name} is not allowed here", CALL_TABLES),
        "statement": (f"{name} is not allowed", READ_ONLY_HINT),
        "order": ("the rows cannot be read in this way", "ask the table itself: no main. before its name, no view over it"),
    }
    return tool_error("not_allowed", *refusals.get(kind, (f"{name} is not allowed", CALL_TABLES)))


def _not_there(kind: str, name: str, question: Question) -> ToolError:
    """Hidden means that there is no such thing. Its name is told only to a statement that has it, which `SELECT *` has not."""
    spoken = {word.value.lower() for word in question.words}
    if kind == "hidden table":
        message = f"no such table: {name}" if name.lower() in spoken else "a table or view of the statement is not there"
        return tool_error("sql_error", message, _for_table(name, question) if name.lower() in spoken else _table_names(question))
    table, _, column = name.rpartition(".")
    if column == "rowid" or column.lower() in spoken:
        return tool_error("sql_error", f"no such column: {name}", _for_column(name, question))
    return tool_error("sql_error", f"main.{spelled(table)} cannot be read", f"write {spelled(table)} without main., and name its columns")


def _for_column(name: str, question: Question) -> str:
    """Near columns first, then where the name is a column, then all columns of the tables that were asked."""
    qualifier, _, column = name.strip("\"'").lower().rpartition(".")
    qualifier = qualifier.rpartition(".")[2]
    if qualifier and qualifier not in question.named:
        return join(f"{qualifier} is no table of this query", _columns_of(question.in_scope) or _table_names(question))
    asked = [question.named[qualifier]] if qualifier else question.in_scope
    if qualifier and column in map(str.lower, asked[0].column_names):
        other = next((alias for alias, table in question.named.items() if table is asked[0] and alias != qualifier), "")
        return f"{qualifier} has another name in this query: {other}.{column}" if other else _columns_of(asked)
    near = _near_column(column, asked)
    elsewhere = [table for table in question.tables if table not in asked and column in map(str.lower, table.column_names)]
    return join(
        f"did you mean {near}?" if near else "",
        *(f"{spelled(table.name)} has {column}{_join_to(table, asked)}" for table in elsewhere[:2]),
        _columns_of(asked) or _table_names(question),
    )


def _near_column(column: str, tables: Sequence[Table]) -> str:
    """The column that was probably meant: part of the name (customer_name -> customers.name, price -> unit_price), or spelled like it."""
    all_names = {f"{spelled(table.name)}.{spelled(name)}": name.lower() for table in tables for name in table.column_names}
    parts = [full for full, name in all_names.items() if len(name) > 2 and (column.endswith(f"_{name}") or name.endswith(f"_{column}"))]
    owned = [full for full in parts if singular(full.lower().split(".")[0].strip('"')) == column.rpartition("_")[0]]
    close = _spelled_like(column, all_names.values())
    return next(iter(owned + parts + [full for full, name in all_names.items() if name in close]), "")


def _spelled_like(word: str, names: Iterable[str]) -> list[str]:
    """The name nearest to a word, if one is near. Long names are left out: comparing two takes up to a millisecond."""
    short = islice((name for name in names if len(name) <= LONGEST_COMPARED), MOST_COMPARED)
    return difflib.get_close_matches(word, short, n=1) if len(word) <= LONGEST_COMPARED else []


def _join_to(table: Table, others: Sequence[Table]) -> str:
    """How to join the table to one of the others, by a foreign key either way."""
    for one, other in [(each, table) for each in others] + [(table, each) for each in others]:
        for column in one.columns:
            if column.references.rpartition(".")[0].lower() == spelled(other.name).lower():
                joined = f"{spelled(one.name)}.{spelled(column.name)} = {column.references}"
                return f": write FROM {spelled(others[0].name)} JOIN {spelled(table.name)} ON {joined}"
    return ""


def _for_table(name: str, question: Question) -> str:
    wanted = name.rpartition(".")[2].lower()
    known = {table.name.lower(): table.name for table in question.tables}
    near = [each for each in known if singular(each) == singular(wanted)] or _spelled_like(wanted, known)
    if near:
        return join(f"did you mean {spelled(known[near[0]])}?", _table_names(question))
    if owner := _owner_of_columns(question):
        return join(f"{spelled(owner.name)} has these columns", _table_names(question))
    pairs = ((table, name) for table in question.tables for name in table.column_names)
    columns = [f"{spelled(table.name)}.{spelled(name)}" for table, name in pairs if name.lower() == singular(wanted)]
    return join(f"it is a column: {' or '.join(columns[:3])}" if columns else "", _columns_of(question.in_scope), _table_names(question))


def _owner_of_columns(question: Question) -> Table | None:
    """The only table that has all columns that the statement names, where it names two or more."""
    there = {name.lower() for table in question.tables for name in table.column_names}
    asked = {word.value for word in question.words if word.kind == "word" and word.value in there}
    owners = [table for table in question.tables if asked <= set(map(str.lower, table.column_names))]
    return owners[0] if len(asked) > 1 and len(owners) == 1 else None


def singular(word: str) -> str:
    """A guess, to find what a model calls by the plural: cities -> city."""
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")


def _for_function(name: str, question: Question) -> str:
    return INSTEAD.get(name.lower(), "SQLite does not have it; use another function")


def _for_ambiguous(name: str, question: Question) -> str:
    owners = [alias for alias, table in question.named.items() if name.lower() in map(str.lower, table.column_names)]
    return f"write the table before it: {' or '.join(f'{alias}.{name}' for alias in owners[-2:]) or 'table.' + name}"


def _for_syntax(name: str, question: Question) -> str:
    """Advice for words of other dialects, for a quote inside a text, for a name that is a keyword."""
    pairs = list(pairwise(question.words))
    called = {word.value for word, after in pairs if after.text == "("}
    spoken = {word.value for word in question.words[:1]} | {word.value for word in question.words if word.value in CLAUSES_ELSEWHERE}
    if advice := next((INSTEAD[each] for each in INSTEAD if each in called | spoken), ""):
        return advice
    if any(word.kind == "text" and after.kind == "word" and after.start == word.start + len(word.text) for word, after in pairs):
        return QUOTES
    if any(name.lower() in map(str.lower, (table.name, *table.column_names)) for table in question.tables):
        return f'a name that is a keyword needs double quotes: "{name}"'
    if name.lower() in ("select", "from") and (meant := two_values(question.words)):
        return f"for two values write {meant}"
    if [word.value for word in question.words].count("select") > 1 and name.lower() == "select":
        return INNER_SELECT
    return "write one SQLite statement: SELECT columns FROM table WHERE condition"


def _for_aggregate(name: str, question: Question) -> str:
    return "aggregates do not nest and cannot stand in WHERE: use GROUP BY with HAVING, or a subquery"


def _for_window(name: str, question: Question) -> str:
    return "a window function needs OVER (...) and cannot stand in WHERE: use a subquery"


def _for_token(name: str, question: Question) -> str:
    advice = next((INSTEAD[each] for each in ("`", "\u2018", "\u201c") if each in name), "")
    if any(word.text == ":" for word in question.words):
        return INSTEAD["::"]
    return advice or QUOTES


def _for_end(name: str, question: Question) -> str:
    return "the statement stops too early: close every bracket and quote"


def _for_unsafe(name: str, question: Question) -> str:
    return f"a view may not read {name}: query {name} itself"


SQL_ERRORS: Sequence[tuple[str, Callable[[str, Question], str]]] = (
    (r"no such column: (?P<name>[^\n]+?)(?: - should this be .*)?$", _for_column),
    (r"no such table: (?P<name>.+)", _for_table),
    (r"no such function: (?P<name>.+)", _for_function),
    (r"ambiguous column name: (?P<name>.+)", _for_ambiguous),
    (r"misuse of aggregate(?P<name>)", _for_aggregate),
    (r"misuse of window function(?P<name>)", _for_window),
    (r"incomplete input(?P<name>)", _for_end),
    (r'unrecognized token: "(?P<name>.*)"', _for_token),
    (r'unsafe use of virtual table "(?P<name>.*)"', _for_unsafe),
    (r'near "(?P<name>.*)": syntax error', _for_syntax),
)


def _columns_of(tables: Sequence[Table]) -> str:
    room = 220 // max(1, len(tables))
    return "; ".join(
        f"columns of {spelled(table.name)}: {listed(map(spelled, table.column_names), room)}" if table.columns
        else f"the view {spelled(table.name)} does not work; query other tables"
        for table in tables
    )  # fmt: skip


def _table_names(question: Question) -> str:
    return f"tables: {_names_of_tables(question)}"


def _names_of_tables(question: Question) -> str:
    return listed((spelled(table.name) for table in question.tables), 200) or "none"


def listed(names: Iterable[str], room: int) -> str:
    """Names with commas, as many as fit, and how many more there are."""
    shown: list[str] = []
    names = list(names)
    for name in names:
        room -= len(name) + 2
        if room < 0 and shown:
            return f"{', '.join(shown)} and {len(names) - len(shown)} more"
        shown.append(one_line(name, 60))
    return ", ".join(shown)


def join(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
