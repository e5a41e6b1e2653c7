"""The SQL tools: every statement of the corpora, and what may happen to the file, the process and the reply."""

import hashlib
import json
import random
import re
import sqlite3
from pathlib import Path

import pytest
from hostile_shop import HIDE, INJECTION, build_shop, build_vault

from react_agent.errors import ConfigError, ToolError
from react_agent.registry import ToolRegistry
from react_agent.tools.sqlite import SqliteDatabase, sqlite_tools
from react_agent.tools.sqlite_text import tokens

DATA = Path(__file__).parent / "data"
PATIENT_S, HASTY_S = 20.0, 0.08
ERROR_TYPES = {
    "not_allowed", "multiple_statements", "not_a_query", "sql_error", "timeout", "too_large", "busy", "not_found", "not_a_database",
    "invalid_argument", "unavailable",
}  # fmt: skip
FULL_TEXT = ["products_fts", "notes_fts"]
VAULT_SECRETS = ["4000", "5309", "7711", "7722"]
VAULT_NAMES = [
    "card_number", "last4", "pin", "passphrase", "secrets", "secrets_fts", "customers_fts", "cards", "visa", "how_many", "latch", "pay",
    "cards_fts", "cards_words", "clerks_by_pay", "card_index",
]  # fmt: skip


def cases():
    return [json.loads(line) for name in ("sql.jsonl", "sql_more.jsonl") for line in (DATA / name).read_text("utf-8").splitlines()]


def text_of(case):
    return "".join(text * count for text, count in case["parts"]) if case.get("parts") else case["sql"]


def snapshot(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def said(error):
    return " ".join([error.type, error.message, error.hint])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("databases")
    build_shop(folder / "shop.db")
    build_vault(folder / "vault.db")
    return folder


@pytest.fixture(scope="module")
def databases(folder):
    opened = {
        ("shop", True): SqliteDatabase(folder / "shop.db", timeout_s=PATIENT_S),
        ("shop", False): SqliteDatabase(folder / "shop.db", timeout_s=HASTY_S),
        ("vault", True): SqliteDatabase(folder / "vault.db", HIDE, timeout_s=PATIENT_S),
    }
    before = snapshot(folder)
    yield opened
    for database in opened.values():
        database.close()
    assert snapshot(folder) == before


@pytest.fixture
def shop(folder):
    with SqliteDatabase(folder / "shop.db", timeout_s=PATIENT_S) as database:
        yield database


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in cases()])
def test_corpus(case, databases, folder):
    before = snapshot(folder)
    database = databases[case.get("db", "shop"), case["expect"] != "limited"]
    try:
        result, error = database.query(text_of(case)), None
    except ToolError as raised:
        result, error = None, raised
    assert snapshot(folder) == before
    outcome = "refused" if error else "rows"
    assert case["expect"] == "limited" or outcome in (case["expect"], *case.get("alt", []))
    if error:
        check_error(error, case)
    else:
        check_result(result, case)
    if case.get("db") == "vault":
        check_secrets(json.dumps(result) if result else said(error), text_of(case))


def check_error(error, case):
    assert error.type in ERROR_TYPES - {"unavailable"}
    assert case.get("error", error.type) == error.type
    shown = json.dumps({"ok": False, "error": {"type": error.type, "message": error.message, "hint": error.hint}}, ensure_ascii=False)
    assert len(shown) <= 500 and (error.message + error.hint).isprintable()
    assert "shop.db" not in shown and "Traceback" not in shown


def check_result(result, case):
    shown = json.dumps(result, ensure_ascii=False, allow_nan=False)
    shown.encode()
    assert len(shown) <= 60_000
    assert set(result) - {"note"} == {"columns", "rows", "row_count", "truncated"}
    assert all(len(row) == len(result["columns"]) for row in result["rows"])
    assert (result["row_count"] > len(result["rows"])) == (result["truncated"] == "row limit") or result["truncated"] == "size limit"
    assert all(text in shown for text in case.get("contains", []))


def check_secrets(shown, sql):
    said_by_the_model = set(re.findall(r"\w+", sql.lower()))
    words = set(re.findall(r"\w+", shown.lower()))
    assert not [secret for secret in VAULT_SECRETS if secret in shown]
    assert not words & set(VAULT_NAMES) - said_by_the_model


def test_the_description_of_a_vault_tells_no_secret(databases):
    tables = databases["vault", True].tables()
    check_secrets(json.dumps(tables), "")
    assert [table["name"] for table in tables["tables"]] == ["Customers", "orders", "letters", "secrets_data", "we.ird", "locker", "clerks"]
    assert [view["name"] for view in tables["views"]] == ["names", "clerk_names"]


def test_caps_are_told(shop, folder):
    result = shop.query("SELECT id, note FROM orders ORDER BY id")
    assert (len(result["rows"]), result["row_count"], result["truncated"]) == (200, 2_500, "row limit")
    assert result["note"] == "the first 200 of 2500 rows; use count(*), WHERE or LIMIT and OFFSET"
    with SqliteDatabase(folder / "shop.db", max_characters=300, max_cell=10) as small:
        result = small.query("SELECT id, description FROM products")
        assert result["truncated"] == "size limit" and result["row_count"] == 200
        assert result["rows"][0] == [1, "A blue lam... (44 bytes in all)"]
        row = small.query("SELECT " + ", ".join(["hex(zeroblob(400))"] * 50))["rows"][0]
        assert len(row) == 50 and len(json.dumps(row)) < 600


def test_an_endless_result_is_counted_for_a_moment_only(shop):
    result = shop.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
    assert (len(result["rows"]), result["row_count"], result["truncated"]) == (200, 10_001, "row limit")
    assert result["note"].startswith("the first 200 of at least 10001 rows")


def test_cells_are_plain_json(shop):
    result = shop.query("SELECT 1 AS a, 2 AS a, x'0102', 1e999, -1e999, NULL, 1.5, 'nul' || char(0), CAST(x'ff41' AS TEXT)")
    assert result["columns"][:3] == ["a", "a", "x'0102'"]
    assert result["rows"] == [[1, 2, "<BLOB 2 bytes>", "Inf", "-Inf", None, 1.5, "nul\0", "\ufffdA"]]


def test_arguments_that_are_no_statement(shop):
    for value in (None, 5, b"SELECT 1", ["SELECT 1"]):
        with pytest.raises(ToolError) as caught:
            shop.query(value)
        assert caught.value.type == "invalid_argument"


def test_tables(shop):
    found = shop.tables()
    tables = {table["name"]: table for table in found["tables"]}
    assert list(tables) == ["customers", "products", "orders", "order_items", "reviews", "odd name; --", "audit", *FULL_TEXT]
    assert [view["name"] for view in found["views"]] == ["order_totals", "customer_cards", "v_customers"]
    orders = tables["orders"]
    assert (orders["kind"], orders["rows"], len(orders["sample"])) == ("table", 2_500, 2)
    assert orders["columns"][:2] == [
        {"name": "id", "type": "INTEGER", "key": 1}, {"name": "customer_id", "type": "INTEGER", "references": "customers.id"},
    ]  # fmt: skip
    assert sorted(orders["columns"][3]["values"]) == ["cancelled", "paid", "pending", "returned", "shipped"]
    assert tables["order_items"]["columns"][1] == {"name": "product_id", "type": "INTEGER", "key": 2, "references": "products.id"}
    assert [view["rows"] for view in found["views"]] == [None, None, None]


def test_the_tools(folder):
    tools = ToolRegistry(sqlite_tools(folder / "shop.db", hide=["customers.card_number", "audit"]))
    assert tools.names == ("sql_query", "sql_tables")
    assert all(tool.read_only and tool.untrusted_output and not tool.volatile for tool in tools)
    shown = tools.get("sql_tables")()
    assert len(json.dumps(shown)) <= 2_400 and "card_number" not in json.dumps(shown) and "audit" not in json.dumps(shown)
    assert shown["joins"] == [
        "orders.customer_id = customers.id", "order_items.order_id = orders.id", "order_items.product_id = products.id",
        "reviews.product_id = products.id",
    ]  # fmt: skip
    described = tools.get("sql_query").description
    assert 'database "shop" with one SQLite SELECT. Its only tables: customers(id, ' in described and "customer_id = customers.id" in described
    assert "card_number" not in described and "audit" not in described
    assert tools.get("sql_query")(query="SELECT count(*) FROM customers")["rows"] == [[500]]
    assert len(json.dumps(tools.get("sql_query")("SELECT * FROM orders"), ensure_ascii=False)) < 2_700


def test_a_table_name_that_gives_orders_is_not_in_the_description(tmp_path):
    connection = sqlite3.connect(tmp_path / "x.db")
    connection.execute(f'CREATE TABLE "{INJECTION}"(a)')
    connection.execute(f'CREATE TABLE plain(a, "{INJECTION}", b REFERENCES plain(a), c REFERENCES "{INJECTION}"(a))')
    connection.close()
    about = sqlite_tools(tmp_path / "x.db")[0].description
    assert about == 'Look up data of the database "x" with one SQLite SELECT. Its only tables: plain(a, b = plain.a, c).'


def test_many_tables_are_shown_as_far_as_they_fit(tmp_path):
    connection = sqlite3.connect(tmp_path / "x.db")
    connection.executescript("BEGIN;" + "".join(f"CREATE TABLE table_{n:03}(first TEXT, second TEXT);" for n in range(400)) + "COMMIT;")
    connection.close()
    with SqliteDatabase(tmp_path / "x.db", timeout_s=PATIENT_S) as database:
        found = database.tables()
    assert (len(found["tables"]), found["left_out"]) == (300, 100)
    query, tables = sqlite_tools(tmp_path / "x.db", timeout_s=PATIENT_S)
    assert query.description.endswith("(call sql_tables for the columns): " + ", ".join(f"table_{n:03}" for n in range(12)) + " and more.")
    shown = tables()
    assert len(json.dumps(shown)) <= 2_400 and shown["tables"][0] == "table_000"
    assert shown["note"] == "340 more tables are not shown; for the columns of one: sql_query with PRAGMA table_info(table)"


def test_a_wrong_setting_is_told_before_a_run(folder, tmp_path):
    (tmp_path / "text.db").write_text("no database at all, " * 100)
    wrong = {
        "no database file": lambda: sqlite_tools(tmp_path / "missing.db"),
        "is a folder": lambda: sqlite_tools(tmp_path),
        "not an SQLite database": lambda: sqlite_tools(tmp_path / "text.db"),
        "no table or column 'customers.card_numbr'": lambda: sqlite_tools(folder / "shop.db", hide=["customers.card_numbr"]),
        "hide is a list": lambda: sqlite_tools(folder / "shop.db", hide="audit"),
        "timeout_s": lambda: sqlite_tools(folder / "shop.db", timeout_s=0),
    }
    for words, make in wrong.items():
        with pytest.raises(ConfigError, match=re.escape(words)):
            make()


def test_a_name_to_hide_that_is_not_there_closes_the_database(folder):
    with SqliteDatabase(folder / "shop.db", hide=["customers.card_numbr"]) as database:
        for ask in (database.tables, lambda: database.query("SELECT card_number FROM customers")):
            with pytest.raises(ToolError) as caught:
                ask()
            assert caught.value.type == "unavailable" and "card" not in said(caught.value)


def test_a_value_in_brackets_is_asked_for_as_one(folder):
    with SqliteDatabase(folder / "shop.db", timeout_s=PATIENT_S) as database:
        assert database.query(" (SELECT 7) - (SELECT 2) -- five")["rows"] == [[5]]
        with pytest.raises(ToolError, match="one statement"):
            database.query("(SELECT 1); DROP TABLE customers")
        with pytest.raises(ToolError):
            database.query("(DELETE FROM customers)")


@pytest.mark.parametrize(
    ("hide", "sql", "columns"),
    [
        ("Énoncés.réponse", 'SELECT * FROM "Énoncés"', ["id"]),
        ("ÉNONCÉS.RÉPONSE", 'SELECT * FROM "Énoncés"', ["id"]),
        ("dots.a.b", "SELECT * FROM dots", ["b"]),
        ("dots.in.name.b", 'SELECT * FROM "dots.in.name"', ["a"]),
    ],
)
def test_names_to_hide_that_are_odd(tmp_path, hide, sql, columns):
    connection = sqlite3.connect(tmp_path / "x.db")
    connection.executescript('CREATE TABLE "Énoncés"(id, "Réponse"); CREATE TABLE dots("a.b", b); CREATE TABLE "dots.in.name"(a, b);')
    connection.close()
    with SqliteDatabase(tmp_path / "x.db", hide=[hide], timeout_s=PATIENT_S) as database:
        assert database.query(sql)["columns"] == columns


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_statements_put_together_at_random(seed, databases, folder):
    """Pieces of all the statements in any order: nothing but rows and ToolErrors, no secret, nothing written, no dead process."""
    chance = random.Random(seed)
    pieces = [word.text for case in cases() if not case.get("parts") for word in tokens(case["sql"])]
    whole = [case["sql"] for case in cases() if not case.get("parts")]
    before = snapshot(folder)
    for _ in range(3_000):
        words = [word.text for word in tokens(chance.choice(whole))]
        for _ in range(chance.randint(1, 4)):
            at = chance.randint(0, len(words))
            words[at : at + chance.randint(0, 2)] = chance.choices(pieces, k=chance.randint(0, 3))
        sql = " ".join(words)
        for database in (databases["shop", False], databases["vault", True]):
            try:
                shown = json.dumps(database.query(sql), allow_nan=False)
            except ToolError as error:
                assert error.type in ERROR_TYPES - {"unavailable"}, sql
                shown = said(error)
            if database is databases["vault", True] and not any(secret in sql for secret in VAULT_SECRETS):
                check_secrets(shown, sql)
    assert snapshot(folder) == before
