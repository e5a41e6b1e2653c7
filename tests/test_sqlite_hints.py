"""What the model reads when a statement failed, matched nothing or gave too much; one line of data a case."""

import difflib
import sqlite3

import pytest

from react_agent.errors import ToolError
from react_agent.tools.sqlite import SqliteDatabase
from react_agent.tools.sqlite_hints import INNER_SELECT, Question, explained
from react_agent.tools.sqlite_schema import Column, Table, described, read_tables, spelled, summary
from react_agent.tools.sqlite_text import comparisons, main_verb, named_tables, quoted_operands, tokens, without_tail

LIBRARY = """
CREATE TABLE readers(id INTEGER PRIMARY KEY, name TEXT, city TEXT, "order" INTEGER);
CREATE TABLE books(id INTEGER PRIMARY KEY, title TEXT, unit_price REAL, genre TEXT);
CREATE TABLE loans(id INTEGER PRIMARY KEY, reader_id INTEGER REFERENCES readers, book_id INTEGER REFERENCES books(id), day TEXT);
INSERT INTO readers VALUES(1, 'Ana', 'Lisbon', 5), (2, 'O''Neil', 'Oslo', 6), (3, 'Bo', 'Oslo', 7), (4, 'Cy', 'Lisbon', 8);
INSERT INTO books VALUES(1, 'Red Tent', 9.5, 'novel'), (2, 'Blue Tent', 7.0, 'novel');
INSERT INTO books VALUES(3, 'Stars', 20.0, 'science'), (4, 'Sea', 1.0, 'science');
INSERT INTO loans VALUES(1, 1, 1, '2024-02-03'), (2, 3, 2, '2024-02-04');
"""
TABLES = "tables: readers, books, loans"
READERS = 'columns of readers: id, name, city, "order"'
LOANS = "columns of loans: id, reader_id, book_id, day"
DATES = "SQLite keeps dates as text: use strftime('{}', column)"
PLAIN = "write one SQLite statement: SELECT columns FROM table WHERE condition"
AGGREGATE = "aggregates do not nest and cannot stand in WHERE: use GROUP BY with HAVING, or a subquery"
QUOTES = "write texts in single quotes and double a quote inside: 'O''Brien'"
SHOW = "call sql_tables for the tables and their columns"

FAILED = [
    ("SELECT town FROM readers", "no such column: town", READERS),
    ("SELECT nam FROM readers", "no such column: nam", f"did you mean readers.name?; {READERS}"),
    ("SELECT reader_name FROM readers", "no such column: reader_name", f"did you mean readers.name?; {READERS}"),
    ("SELECT price FROM books", "no such column: price", "did you mean books.unit_price?; columns of books: id, title, unit_price, genre"),
    ("SELECT city FROM loans", "no such column: city",
     f"readers has city: write FROM loans JOIN readers ON loans.reader_id = readers.id; {LOANS}"),
    ("SELECT day FROM readers", "no such column: day", f"loans has day: write FROM readers JOIN loans ON loans.reader_id = readers.id; {READERS}"),
    ("SELECT b.city FROM readers r JOIN loans b", "no such column: b.city",
     f"readers has city: write FROM loans JOIN readers ON loans.reader_id = readers.id; {LOANS}"),
    ("SELECT x.city FROM readers", "no such column: x.city", f"x is no table of this query; {READERS}"),
    ("SELECT readers.city FROM readers r", "no such column: readers.city", "readers has another name in this query: r.city"),
    ("SELECT town", "no such column: town", TABLES),
    ("SELECT id FROM readers JOIN loans ON reader_id = readers.id", "ambiguous column name: id",
     "write the table before it: readers.id or loans.id"),
    ("SELECT * FROM reader", "no such table: reader", f"did you mean readers?; {TABLES}"),
    ("SELECT * FROM main.Bokos", "no such table: main.Bokos", f"did you mean books?; {TABLES}"),
    ("SELECT count(*) FROM readers JOIN cities ON readers.city_id = cities.id", "no such table: cities",
     f"it is a column: readers.city; {READERS}; {TABLES}"),
    ("SELECT title, unit_price FROM library WHERE title = 'x'", "no such table: library", f"books has these columns; {TABLES}"),
    ("SELECT title, city FROM library", "no such table: library", TABLES),
    ("SELECT * FROM information_schema.tables", "no such table: information_schema.tables", TABLES),
    ("SELECT YEAR(day) FROM loans", "no such function: YEAR", DATES.format("%Y")),
    ("SELECT nosuch(1)", "no such function: nosuch", "SQLite does not have it; use another function"),
    ("SELECT extract(year FROM day) FROM loans", 'near "FROM": syntax error', DATES.format("%Y")),
    ("SELECT TOP 5 * FROM loans", 'near "5": syntax error', "write LIMIT at the end"),
    ("SELECT name FROM readers WHERE name ILIKE 'a%'", 'near "ILIKE": syntax error', "use LIKE: it ignores case"),
    ("SHOW TABLES", 'near "SHOW": syntax error', SHOW),
    ("DESCRIBE readers", 'near "DESCRIBE": syntax error', SHOW),
    ("SELEC 1", 'near "SELEC": syntax error', PLAIN),
    ("SELECT id FROM books WHERE id = 1 - SELECT id FROM books WHERE id = 2", 'near "SELECT": syntax error',
     "for two values write SELECT (SELECT id FROM books WHERE id = 1) - (SELECT id FROM books WHERE id = 2)"),
    ("SELECT b.id FROM books b WHERE title = 'a' / unit_price FROM books", 'near "FROM": syntax error',
     "for two values write SELECT (SELECT b.id FROM books b WHERE title = 'a') / (SELECT unit_price FROM books)"),
    ("SELECT 1 UNION SELECT id FROM books WHERE id = SELECT 1", 'near "SELECT": syntax error', INNER_SELECT),
    ("SELECT id FROM readers WHERE name = 'Anna' * (1 - 0.15)", "no row matched, for a text is calculated with",
     "write SELECT id * (1 - 0.15) FROM readers WHERE name = 'Anna'"),
    ("SELECT id FROM readers WHERE name = 'Anna' * 2 AND id = 1 LIMIT 3", "no row matched, for a text is calculated with",
     "write SELECT id * 2 FROM readers WHERE name = 'Anna' AND id = 1 LIMIT 3"),
    ("SELECT * FROM readers WHERE name = 'Anna' * 2", "no row matched, for a text is calculated with",
     "write SELECT column * 2 FROM ..."),
    ("SELECT order FROM readers", 'near "order": syntax error', 'a name that is a keyword needs double quotes: "order"'),
    ("SELECT name FROM readers WHERE name = 'O'Neil'", 'near "Neil": syntax error', QUOTES),
    ("SELECT name FROM readers WHERE name = 'Ana", "unrecognized token: \"'Ana\"", QUOTES),
    ("SELECT unit_price::int FROM books", 'unrecognized token: ":"', "use CAST(value AS INTEGER)"),
    ("```sql", 'unrecognized token: "```sql"', "leave the code fence out"),
    ("SELECT name FROM readers WHERE", "incomplete input", "the statement stops too early: close every bracket and quote"),
    ("SELECT city FROM readers WHERE count(*) > 1 GROUP BY city", "misuse of aggregate: count()", AGGREGATE),
    ("SELECT row_number() FROM readers", "misuse of window function row_number()",
     "a window function needs OVER (...) and cannot stand in WHERE: use a subquery"),
    ("SELECT name FROM readers WHERE id = ?", "the statement has placeholders", "write the values themselves: WHERE name = 'text'"),
    ("SELECT round(unit_price, 1, 2) FROM books", "wrong number of arguments to function round()",
     "columns of books: id, title, unit_price, genre"),
]  # fmt: skip

REFUSED = [
    ("UPDATE readers SET city = 'x'", "not_allowed", "UPDATE is not allowed", "the database can only be read: write one SELECT"),
    ("WITH x AS (SELECT 1) DELETE FROM readers", "not_allowed", "DELETE is not allowed", "the database can only be read: write one SELECT"),
    ("SELECT load_extension('x')", "not_allowed", "function load_extension() is not allowed",
     "use count, sum, avg, min, max, round, substr and the like"),
    ("SELECT * FROM pragma_database_list", "not_allowed", "table pragma_database_list is not allowed",
     "only SELECT on: readers, books, loans"),
    ("PRAGMA journal_mode", "not_allowed", "PRAGMA journal_mode is not allowed here", f"{SHOW}; PRAGMA table_info(table) is allowed"),
    ("SELECT 1; SELECT 2", "multiple_statements", "only one statement at a time", "send the statements one by one"),
    ("-- nothing", "not_a_query", "there is no statement", "write one SELECT"),
    ("SELECT '" + "x" * 20_000 + "'", "too_large", "the query has 20009 bytes; 20000 are allowed", "write a shorter query"),
]  # fmt: skip

NOTED = [
    ("SELECT name FROM readers WHERE id = 9", "no row matched"),
    ("SELECT '2031-05-17' - day FROM loans WHERE id = 9", "no row matched"),
    ("SELECT id FROM loans WHERE day > '2031-05-17' - 1 AND id = 9", "no row matched"),
    ("SELECT count(*) FROM readers WHERE city = 'lisbon'", "readers.city has 'Lisbon', not 'lisbon'"),
    ("SELECT name FROM readers r WHERE r.city = 'Lisboa'", "readers.city has no 'Lisboa'; near: 'Lisbon'"),
    ("SELECT sum(unit_price) FROM books WHERE title LIKE '%blu tent%'", "books.title has no '%blu tent%'; near: 'Blue Tent'"),
    ('SELECT name FROM readers WHERE city = "Porto"', "readers.city has only: 'Lisbon', 'Oslo'"),
    ("SELECT count(*) FROM books WHERE genre IN ('poetry')", "books.genre has only: 'novel', 'science'"),
    ("SELECT count(*) FROM readers WHERE city = 'Oslo' AND name = 'ana'", "readers.name has 'Ana', not 'ana'"),
    ("SELECT count(*) FROM readers WHERE city = 'Oslo' AND id = '9'", "readers.id has only: '1', '2', '3', '4'"),
    ("SELECT count(*) FROM readers WHERE city = 'Oslo' AND id = '1'", None),
    ("PRAGMA table_info(reader)", "nothing has that name; tables: readers, books, loans"),
    ("SELECT count(*) FROM readers", None),
    ("SELECT name FROM readers WHERE name = 'O''Neil'", None),
    ('SELECT "town" FROM readers WHERE id = 1', f'"town" is no column and was read as text; {READERS[:7]}: id, name, city, "order"'),
    ('SELECT "order" FROM readers WHERE city IN ("Oslo", "Porto") AND id = 2', None),
    ('SELECT count(*) AS "how many" FROM readers GROUP BY city ORDER BY "how many"', None),
    ('SELECT name "the name", count(*) "how many" FROM readers GROUP BY name HAVING "how many" > 0 AND "the name" = \'Bo\'', None),
    ('SELECT count(*) n FROM readers GROUP BY city HAVING "n" > 9', "no row matched"),
    ('WITH "w"("q", r) AS (SELECT 1, 2) SELECT "q", "r" FROM "w" WHERE r = 2', None),
    ('WITH "w" AS (SELECT 1 "q") SELECT "q" FROM "w", (SELECT 2 "z") "v"', None),
    ('SELECT "count"(*), sum(id) OVER "x" FROM readers WINDOW "x" AS (ORDER BY "id")', None),
    ('SELECT max("age") AS n FROM readers', f'"age" is no column and was read as text; {READERS[:7]}: id, name, city, "order"'),
    ('SELECT 1 FROM readers WHERE id = 1 ORDER BY id, "age"', f'"age" is no column and was read as text; {READERS[:7]}: id, name, city, "order"'),
    ("SELECT 1 FROM readers WHERE name = 'ana' COLLATE NOCASE AND id = 9", "no row matched"),
    ("SELECT 1 FROM books WHERE title LIKE 'Red!%' ESCAPE '!' AND id = 9", "no row matched"),
    ("SELECT 1 FROM readers WHERE name = 'A' || 'na' AND id = 9", "no row matched"),
    ("SELECT 1 FROM readers WHERE city || ' ' || name = 'Oslo Anna'", "no row matched"),
    ("SELECT 1 FROM readers r WHERE r.city || r.name = 'OsloAnna'", "no row matched"),
    ("SELECT 1 FROM readers WHERE (name = 'ana') AND id = 9", "readers.name has 'Ana', not 'ana'"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("library") / "library.db"
    connection = sqlite3.connect(path)
    connection.executescript(LIBRARY)
    connection.close()
    with SqliteDatabase(path, timeout_s=20) as database:
        yield database


@pytest.mark.parametrize(("sql", "message", "hint"), FAILED)
def test_a_failure_carries_the_facts_for_the_next_try(library, sql, message, hint):
    with pytest.raises(ToolError) as caught:
        library.query(sql)
    assert (caught.value.type, caught.value.message, caught.value.hint) == ("sql_error", message, hint)


def test_names_without_number_and_end_are_not_all_compared(monkeypatch):
    """A file with thousands of names that look alike must not hold up the process that asks: no deadline would end it."""
    compared = []
    monkeypatch.setattr(difflib, "get_close_matches", lambda word, names, **_: compared.extend(names) or [])
    names = [f"ab{number}" + "ba" * (number % 50) for number in range(5_000)]
    columns = tuple(Column(name, "TEXT") for name in names)
    tables = [Table("t", "table", columns), *(Table(name, "table", ()) for name in names)]
    for message in ("no such column: abab", "no such column: " + "ab" * 50, "no such table: abab"):
        compared.clear()
        explained({"code": "SQLITE_ERROR", "message": message}, Question(tokens("SELECT abab FROM t"), tables))
        assert len(compared) <= 1_000 and max(map(len, compared), default=0) <= 40


@pytest.mark.parametrize(("sql", "type", "message", "hint"), REFUSED)
def test_a_refusal_says_what_is_allowed(library, sql, type, message, hint):
    with pytest.raises(ToolError) as caught:
        library.query(sql)
    assert (caught.value.type, caught.value.message, caught.value.hint) == (type, message, hint)


@pytest.mark.parametrize(("sql", "note"), NOTED)
def test_a_result_says_what_it_does_not_show(library, sql, note):
    assert library.query(sql).get("note") == note


def test_the_description_is_what_a_small_model_needs(library):
    assert summary(library.tables(), 2_000) == {
        "tables": {
            "readers": {
                "rows": 4,
                "columns": {"id": "INTEGER primary key", "name": "TEXT", "city": "TEXT, one of 'Lisbon', 'Oslo'", '"order"': "INTEGER"},
                "sample": [[1, "Ana", "Lisbon", 5], [2, "O'Neil", "Oslo", 6]],
            },
            "books": {
                "rows": 4,
                "columns": {
                    "id": "INTEGER primary key", "title": "TEXT", "unit_price": "REAL", "genre": "TEXT, one of 'novel', 'science'",
                },
                "sample": [[1, "Red Tent", 9.5, "novel"], [2, "Blue Tent", 7.0, "novel"]],
            },
            "loans": {
                "rows": 2,
                "columns": {"id": "INTEGER primary key", "reader_id": "INTEGER", "book_id": "INTEGER", "day": "TEXT"},
                "sample": [[1, 1, 1, "2024-02-03"], [2, 3, 2, "2024-02-04"]],
            },
        },
        "joins": ["loans.reader_id = readers.id", "loans.book_id = books.id"],
    }  # fmt: skip


def test_the_description_loses_detail_before_it_loses_tables(library):
    tables = library.tables()
    assert "sample" not in summary(tables, 600)["tables"]["books"]
    assert summary(tables, 300)["tables"]["books"] == "id, title, unit_price, genre"
    note = "for the columns of one: sql_query with PRAGMA table_info(table)"
    assert summary(tables, 120) == {"tables": ["readers", "books", "loans"], "note": note}


def test_an_endless_name_takes_no_room_from_the_others():
    column = {"name": "a", "type": "TEXT"}
    tables = [{"name": name, "kind": "table", "rows": 1, "columns": [column], "sample": []} for name in ("x" * 3_000, "plain", "other")]
    shown = summary({"tables": tables, "views": [], "left_out": 2}, 2_400)
    assert list(shown["tables"]) == ["plain", "other"] and shown["note"] == "3 more tables are not shown"


def test_what_was_not_found_out_in_time_is_unknown():
    (table,) = read_tables([{"name": "t", "kind": "table", "columns": [["a", "TEXT", 0]], "references": []}])
    unknown = {"name": "t", "kind": "table", "rows": None, "columns": [{"name": "a", "type": "TEXT"}], "sample": []}
    assert described(table, []) == described(table, [{"error": {}}] * 3) == unknown


# https://www.sqlite.org/lang_keywords.html
SQLITE_WORDS = """
abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade case cast check collate
column commit conflict constraint create cross current current_date current_time current_timestamp database default deferrable deferred
delete desc detach distinct do drop each else end escape except exclude exclusive exists explain fail filter first following for foreign
from full generated glob group groups having if ignore immediate in index indexed initially inner insert instead intersect into is isnull
join key last left like limit match materialized natural no not nothing notnull null nulls of offset on or order others outer over
partition plan pragma preceding primary query raise range recursive references regexp reindex release rename replace restrict returning
right rollback row rows savepoint select set table temp temporary then ties to transaction trigger unbounded union unique update using
vacuum values view virtual when where window with without
"""


@pytest.mark.parametrize("word", SQLITE_WORDS.split())
def test_a_keyword_is_quoted_where_sqlite_needs_it(word):
    name, connection = spelled(word), sqlite3.connect(":memory:")
    connection.executescript(f'CREATE TABLE t("{word}"); INSERT INTO t VALUES(5); CREATE TABLE "{word}"(x); INSERT INTO "{word}" VALUES(7);')
    assert connection.execute(f"SELECT {name}, t.{name} FROM t WHERE {name} = 5 ORDER BY {name}").fetchall() == [(5, 5)]
    assert connection.execute(f"SELECT {name}.x FROM t JOIN {name}").fetchall() == [(7,)]
    connection.close()


def test_names_as_sql_must_have_them():
    assert list(map(spelled, ["city", "order", "a b", 'q"', "é", "1st", ""])) == ["city", '"order"', '"a b"', '"q"""', '"é"', '"1st"', '""']


TEXTS = [
    ("SELECT 1;", "SELECT 1", "select"),
    ("; ;SELECT ';' -- ;\n ; /* ; */", "; ;SELECT ';' -- ;\n ", "select"),
    ("SELECT 'abc;", "SELECT 'abc;", "select"),
    ('SELECT "a;""b;', 'SELECT "a;""b;', "select"),
    ("SELECT [a;", "SELECT [a;", "select"),
    ("/* ; */ WITH x AS (SELECT 1) UPDATE t SET a = 1", "/* ; */ WITH x AS (SELECT 1) UPDATE t SET a = 1", "update"),
    ("EXPLAIN QUERY PLAN WITH x AS (VALUES(1)) SELECT 1", "EXPLAIN QUERY PLAN WITH x AS (VALUES(1)) SELECT 1", "select"),
    ("EXPLAIN VACUUM", "EXPLAIN VACUUM", "vacuum"),
    ("(SELECT 1)", "(SELECT 1)", "("),
    (";;", ";;", ""),
]


@pytest.mark.parametrize(("sql", "stripped", "verb"), TEXTS)
def test_the_words_of_a_statement(sql, stripped, verb):
    text, words = without_tail(sql, tokens(sql))
    assert (text, main_verb(words)) == (stripped, verb)


def test_tables_comparisons_and_operands_of_a_statement():
    sql = """SELECT "x", b."y" FROM Readers AS r, "loans" JOIN main.books b ON a.loans = 'x'
        WHERE r.city IS 'Oslo' AND [day] IN ("a", "b")"""
    words = tokens(sql)
    assert named_tables(words, ["readers", "loans", "books", "others"]) == {
        "readers": "readers", "r": "readers", "loans": "loans", "books": "books", "b": "books",
    }  # fmt: skip
    found = [(each.table, each.column, each.sign, each.text) for each in comparisons(words)]
    assert found == [("a", "loans", "=", "x"), ("r", "city", "is", "Oslo"), ("", "day", "=", "a")]
    assert list(quoted_operands(words)) == ["x", "loans"]
