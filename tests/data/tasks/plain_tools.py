"""The tools of the task set as they are written in a hurry: no schema in a description, loose lines from the documents, bare error texts.

Beside the project's own tools they show what observations that are made for a small model are worth:
    react-agent evaluate tasks.jsonl --tools plain_tools.py --tools stock_tool.py    (TASKS_DB=shop.db)
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from react_agent.errors import ToolError
from react_agent.registry import tool

DB = os.environ.get("TASKS_DB", "shop.db")
DOCS = Path(__file__).resolve().parent / "docs"
MOST_LINES = 8


@tool(read_only=True, untrusted_output=True)
def list_tables() -> str:
    """List the tables of the shop database."""
    return str(_rows("SELECT name FROM sqlite_master WHERE type = 'table'"))


@tool(read_only=True, untrusted_output=True)
def describe_table(table: str) -> str:
    """Show the columns of a table of the shop database."""
    return str(_rows(f"SELECT name, type FROM pragma_table_info('{table.replace(chr(39), '')}')"))


@tool(read_only=True, untrusted_output=True)
def sql_query(query: str) -> str:
    """Run a SELECT on the shop database."""
    return str(_rows(query))


def _rows(query: str) -> list[tuple[object, ...]]:
    try:
        with closing(sqlite3.connect(f"file:{DB}?mode=ro", uri=True)) as connection:
            return connection.execute(query).fetchmany(20)
    except sqlite3.Error as error:
        raise ToolError("sql_error", f"{type(error).__name__}: {error}") from None


@tool(read_only=True, untrusted_output=True)
def list_docs() -> str:
    """List the documents."""
    return ", ".join(sorted(path.name for path in DOCS.glob("*.md")))


@tool(read_only=True, untrusted_output=True)
def grep_docs(pattern: str) -> str:
    """Search the documents for a text."""
    words = pattern.casefold().split()
    lines = [(path.name, line) for path in sorted(DOCS.glob("*.md")) for line in path.read_text("utf-8").splitlines()]
    found = [f"{name}: {line}" for name, line in lines if any(word in line.casefold() for word in words)]
    if not found:
        raise ToolError("not_found", f"no line has {pattern!r}")
    return "\n".join(found[:MOST_LINES])


@tool(read_only=True, untrusted_output=True)
def read_doc(name: str) -> str:
    """Read a document."""
    path = DOCS / Path(name).name
    if not path.is_file():
        raise ToolError("not_found", f"there is no {name!r}")
    return path.read_text("utf-8")
