"""The demo shop: its answers are what its data says, and building it is safe, repeatable and cheap."""

import re
import shutil
import sqlite3
import threading
from collections import Counter
from pathlib import Path

import pytest

from react_agent import demo
from react_agent.errors import ConfigError

PROMPTS = Path(__file__).parents[1] / "prompts"


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return demo.build(tmp_path_factory.mktemp("demo"))


def rows(shop, sql):
    """Asked as a read-only tool asks."""
    database = sqlite3.connect(f"{shop.db.as_uri()}?mode=ro", uri=True)
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


def contents(shop):
    home = shop.db.parent
    return {file.relative_to(home).as_posix(): file.read_bytes() for file in home.rglob("*") if file.is_file()}


def test_the_first_question_is_the_one_of_the_manual():
    assert demo.DEMO_QUESTION == "How many orders came from customers who live in Lisbon?"
    assert demo.DEMO_ANSWER == "37"


@pytest.mark.parametrize("asked", demo.DEMO_QUESTIONS, ids=lambda asked: asked.question)
def test_every_answer_is_in_the_data_and_no_question_in_the_prompts(shop, asked):
    assert bool(asked.sql) != bool(asked.document)
    if asked.sql:
        assert rows(shop, asked.sql)[0][0] == (int(asked.answer) if asked.answer.isdigit() else asked.answer)
    else:
        answer = re.compile(rf"\b{re.escape(asked.answer)}\b".encode())
        holding = [name for name, text in contents(shop).items() if name.endswith(".md") and answer.search(text)]
        assert holding == [f"docs/{asked.document}"]
    assert not [file for file in PROMPTS.rglob("*.md") if asked.question.lower() in file.read_text("utf-8").lower()]


def test_the_demo_answer_is_no_other_count_of_the_shop(shop):
    joined = "orders JOIN customers ON customers.id = orders.customer_id"
    lisbon = f"{joined} WHERE city = 'Lisbon'"
    counts = [
        *(rows(shop, f"SELECT count(*) FROM {table}")[0][0] for table in demo.tables()),
        *(count for _, count in rows(shop, "SELECT city, count(*) FROM customers GROUP BY 1")),
        *(count for city, count in rows(shop, f"SELECT city, count(*) FROM {joined} GROUP BY 1") if city != "Lisbon"),
        *(count for _, count in rows(shop, f"SELECT status, count(*) FROM {lisbon} GROUP BY 1")),
        *(count for _, count in rows(shop, "SELECT status, count(*) FROM orders GROUP BY 1")),
        *rows(shop, f"SELECT count(DISTINCT customer_id), max(orders.id) FROM {lisbon}")[0],
        *rows(shop, f"SELECT count(*), sum(quantity) FROM order_items, {lisbon} AND orders.id = order_id")[0],
    ]
    assert int(demo.DEMO_ANSWER) not in counts


def test_the_shop_is_whole(shop):
    assert rows(shop, "PRAGMA integrity_check") == [("ok",)] and rows(shop, "PRAGMA foreign_key_check") == []
    assert rows(shop, "PRAGMA journal_mode") == [("delete",)]
    assert {table: rows(shop, f"SELECT count(*) FROM {table}")[0][0] for table in demo.tables()} == {
        "customers": 56, "products": 22, "orders": 310, "order_items": len(demo.tables()["order_items"]),
    }  # fmt: skip
    assert Counter(name for _, name, *_ in demo.tables()["customers"]).most_common(1)[0][1] == 1
    assert sorted(contents(shop)) == ["docs/" + name for name in sorted(demo.DOCUMENTS)] + ["manifest.json", "shop.db"]


def test_every_build_is_the_same_to_the_byte(shop, tmp_path):
    again = demo.build(tmp_path)
    assert contents(again) == contents(shop)
    assert again.db.parent.name == "4ccc2d028da3"  # recorded runs belong to these contents; new contents get another name


def test_what_is_there_is_used(tmp_path):
    before = demo.build(tmp_path).db.stat()
    assert demo.build(tmp_path).db.stat() == before


def _drop_a_row(home):
    database = sqlite3.connect(home / "shop.db")
    database.execute("DELETE FROM orders WHERE id = 1")
    database.commit()
    database.close()


@pytest.mark.parametrize(
    "harm",
    [
        _drop_a_row,
        lambda home: (home / "shop.db").unlink(),
        lambda home: (home / "docs" / "returns.md").write_text("Returns? Never."),
        lambda home: (home / "docs" / "more.md").write_text("an extra document"),
        lambda home: (home / "manifest.json").write_text("{"),
        lambda home: shutil.rmtree(home / "docs"),
    ],
    ids=["row", "database", "text", "extra", "manifest", "folder"],
)
def test_what_was_damaged_is_built_again(shop, tmp_path, harm):
    harm(demo.build(tmp_path).db.parent)
    assert contents(demo.build(tmp_path)) == contents(shop)
    assert [path.name for path in tmp_path.iterdir()] == [shop.db.parent.name]


def test_other_contents_get_another_name(tmp_path, monkeypatch):
    old = demo.build(tmp_path)
    monkeypatch.setitem(demo.DOCUMENTS, "about.md", "# About\n\nSomething else.\n")
    demo._version.cache_clear()
    try:
        new = demo.build(tmp_path)
    finally:
        demo._version.cache_clear()
    assert new.db.parent != old.db.parent and (new.docs / "about.md").read_text() == "# About\n\nSomething else.\n"


@pytest.mark.parametrize("damaged", [False, True])
def test_many_may_build_at_once(shop, tmp_path, damaged):
    if damaged:
        demo.build(tmp_path).db.write_bytes(b"")
    start, results = threading.Barrier(6), []

    def builder():
        start.wait(20)
        results.append(demo.build(tmp_path))

    threads = [threading.Thread(target=builder) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == 6 and len(set(results)) == 1
    assert contents(results[0]) == contents(shop)
    assert [path.name for path in tmp_path.iterdir()] == [shop.db.parent.name]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigError, match="^cannot build the demo in .*file: "):
        demo.build(tmp_path / "file")


def test_it_lies_in_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("REACT_AGENT_CACHE", str(tmp_path))
    assert demo.demo_folder() == tmp_path / "demo"
