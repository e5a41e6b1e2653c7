"""Statements and what they were probably meant to be."""

import random

import pytest

from react_agent.tools.sqlite_rewrites import instead_of_text, two_values, written
from react_agent.tools.sqlite_text import tokens

TWO_VALUES = [
    ("SELECT a FROM t WHERE x = 1 - b FROM u WHERE y = 2", "SELECT (SELECT a FROM t WHERE x = 1) - (SELECT b FROM u WHERE y = 2)"),
    ("SELECT count(*) FROM t - SELECT count(*) FROM u", "SELECT (SELECT count(*) FROM t) - (SELECT count(*) FROM u)"),
    ("SELECT a FROM t WHERE x = 1 - SELECT b * 2 FROM u", "SELECT (SELECT a FROM t WHERE x = 1) - (SELECT b * 2 FROM u)"),
    ("SELECT a FROM t WHERE x IN (1) / SELECT b FROM u", "SELECT (SELECT a FROM t WHERE x IN (1)) / (SELECT b FROM u)"),
    ("SELECT a FROM t WHERE x = 1 SELECT * FROM u", ""),
    ("SELECT a FROM t WHERE x = -1 SELECT b FROM u", ""),
    ("SELECT a FROM t WHERE x = -b FROM u", ""),
    ("SELECT a FROM t UNION SELECT b - c FROM u x y", ""),
    ("SELECT a FROM t SELECT b, c - d FROM u", ""),
    ("SELECT a FROM t", ""), ("SELECT", ""), ("-", ""), ("", ""),
    (f"SELECT a FROM t WHERE x = '{'q' * 200}' - SELECT b FROM u", ""),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "meant"), TWO_VALUES)
def test_two_values(statement, meant):
    assert two_values(tokens(statement)) == meant


NOWHERE = "write SELECT column * 2 FROM ..."
WITH_TEXT = [
    ("SELECT a FROM t WHERE n = 'A' * 2", "write SELECT a * 2 FROM t WHERE n = 'A'"),
    ("SELECT DISTINCT t.a FROM t WHERE n = 'A' * (1 - 0.5) LIMIT 3", "write SELECT DISTINCT t.a * (1 - 0.5) FROM t WHERE n = 'A' LIMIT 3"),
    ("SELECT a FROM t JOIN u ON n = 'A' * 2 WHERE z = 1", "write SELECT a * 2 FROM t JOIN u ON n = 'A' WHERE z = 1"),
    ("SELECT sum(a) FROM t GROUP BY n HAVING n = 'A' * 2", "write SELECT sum(a) * 2 FROM t GROUP BY n HAVING n = 'A'"),
    ("SELECT a, b FROM t WHERE n = 'A' * 2", NOWHERE),
    ("SELECT a AS b FROM t WHERE n = 'A' * 2", NOWHERE),
    ("SELECT a b FROM t WHERE n = 'A' * 2", NOWHERE),
    ("SELECT 1 WHERE 'x' * 2", NOWHERE),
    ("SELECT a FROM t UNION SELECT b FROM u WHERE n = 'A' * 2", NOWHERE),
    ("SELECT a FROM t WHERE (n = 'A' * 2)", NOWHERE),
    ("SELECT a FROM t WHERE n LIKE '%' + 'bo' + '%'", "texts are joined by ||: 'a' || 'b'"),
    # these calculate with no text, or not in a condition
    ("SELECT 'x' - 1 FROM t WHERE n = 1", ""),
    ("SELECT '2031-05-17' - born FROM t WHERE n = 'A'", ""),
    ("SELECT a FROM t WHERE born < '2031-05-17' - 18", ""),
    ("SELECT a FROM t WHERE year = '2031' - 1 OR year = ' -7' + 1", ""),
    ("SELECT a FROM t WHERE data ->> '$.price' * 2 > 10", ""),
    ("SELECT a FROM t WHERE data -> 'price' * 2 > 10", ""),
    ("SELECT a FROM t WHERE b || '0' * 2 > 10", ""),
    ("SELECT a FROM t WHERE b || '-' = 'A' || '-'", ""),
    ("SELECT a FROM t WHERE d > date('now', '-1 day') - 1", ""),
    ("SELECT a FROM t WHERE n LIKE '%' -- all of them", ""),
    ("SELECT a FROM t WHERE n = 'A' /* * 2 */", ""),
    ("SELECT a FROM t WHERE n IN ('A', 'B')", ""),
    ("SELECT a FROM t WHERE", ""), ("'x' *", ""), ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "instead"), WITH_TEXT)
def test_a_text_that_is_calculated_with(statement, instead):
    assert instead_of_text(tokens(statement)) == instead


PIECES = ["SELECT", "FROM", "WHERE", "a", "-", "*", "'x'", "'O''B'", "'x", '"n"', "(", ")", ",", "=", "AND", "1", "UNION", "--c\n", ";", "||", "->>"]


def test_no_statement_is_too_broken_to_be_looked_at():
    chosen = random.Random(3)
    for _ in range(3_000):
        words = tokens(" ".join(chosen.choices(PIECES, k=chosen.randint(0, 14))))
        two_values(words)
        instead_of_text(words)
        assert tokens(written(words)) == [] or [word.text for word in tokens(written(words))][0] == words[0].text
