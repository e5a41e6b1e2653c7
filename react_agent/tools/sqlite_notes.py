"""What a model should know beside the rows: that there are more, that a name was read as text, why nothing matched."""

import difflib
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from react_agent.tools.sqlite_guard import quoted
from react_agent.tools.sqlite_hints import Question, listed
from react_agent.tools.sqlite_schema import literal, spelled
from react_agent.tools.sqlite_text import Comparison, comparisons, names_given, quoted_operands

MAX_CHECKED, MAX_VALUES, MAX_LISTED, MAX_TEXT = 3, 200, 10, 60
Result = Mapping[str, Any]


def of_truncation(result: Result) -> str:
    """How much is not shown; row_count alone would be taken for the number of rows that are."""
    if not result["truncated"]:
        return ""
    total = result["row_count"] if result["counted"] else f"at least {result['row_count']}"
    return f"the first {len(result['rows'])} of {total} rows; use count(*), WHERE or LIMIT and OFFSET"


def has_no_match(result: Result) -> bool:
    """No row, or one of nothing but 0 and NULL, as count(*) and sum() give it for no rows."""
    rows = result["rows"]
    return not rows or (len(rows) == 1 and all(value is None or (value == 0 and not isinstance(value, str)) for value in rows[0]))


def of_nothing(result: Result, question: Question) -> str:
    if result["rows"]:
        return ""
    if question.words[0].value == "pragma":
        return f"nothing has that name; tables: {listed((spelled(table.name) for table in question.tables), 200)}"
    return "no row matched"


def of_quotes(question: Question) -> str:
    """Names in double quotes that are no column: SQLite takes them for text without a word."""
    words = question.words
    known = {name.lower() for table in question.tables for name in (table.name, *table.column_names)}
    known |= {"rowid", *names_given(words), *question.named}
    read = [name for name in quoted_operands(words) if name.lower() not in known]
    if not read or words[0].value == "pragma":
        return ""
    columns = listed((spelled(name) for table in question.in_scope for name in table.column_names), 120)
    return f"{quoted(read[0][:40])} is no column and was read as text" + (f"; columns: {columns}" if columns else "")


def checks(question: Question) -> Iterator[tuple[Comparison, str, list[str]]]:
    """For a result without a match: each comparison with a text, its column as SQL spells it, and two statements to ask.

    The first tells whether the comparison alone matches a row, the second what values there are.
    """
    short = (each for each in comparisons(question.words) if len(each.text) <= MAX_TEXT)
    for each in islice(short, MAX_CHECKED):
        named = [table for alias, table in question.named.items() if each.table.lower() in ("", alias)]
        table = next((table for table in named if each.column.lower() in map(str.lower, table.column_names)), None)
        if table is not None:
            name, column = quoted(table.name), quoted(each.column)
            match = f"SELECT 1 FROM {name} WHERE {column} {each.sign} {literal(each.text)} LIMIT 1"
            values = f"SELECT DISTINCT {column} FROM {name} WHERE {column} IS NOT NULL LIMIT {MAX_VALUES + 1}"
            yield each, f"{spelled(table.name)}.{spelled(each.column)}", [match, values]


def of_values(comparison: Comparison, column: str, match: Result, found: Result) -> str:
    """What the column has instead of the text that it was compared with; nothing when that is not known for certain."""
    if match.get("rows") != [] or found.get("row_count", MAX_VALUES + 1) > MAX_VALUES or found.get("truncated"):
        return ""
    values = [str(row[0]) for row in found["rows"]]
    wanted = comparison.text.strip("%").strip()
    same = [value for value in values if value.strip().casefold() == wanted.casefold()]
    if same:
        return f"{column} has {literal(same[0])}, not {literal(comparison.text)}"
    near = difflib.get_close_matches(wanted, values, n=3, cutoff=0.6)
    if near:
        return f"{column} has no {literal(comparison.text)}; near: {', '.join(map(literal, near))}"
    if 0 < len(values) <= MAX_LISTED:
        return f"{column} has only: {listed(map(literal, values), 160)}"
    return f"not found: {column} has no {literal(comparison.text)}"
