"""Files: what is opened, what is refused, and that neither the file nor its folder changes, whatever state it is in."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from react_agent.errors import ToolError
from react_agent.tools.sqlite import SqliteDatabase
from react_agent.tools.sqlite_session import Session, quiet_wal

PATIENT_S = 20.0
WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
print("open", flush=True)
for line in sys.stdin:
    connection.execute(line)
    print("done", flush=True)
"""


class Writer:
    """Another program that has the database open; a process, because SQLite's locks do not hold against their own process."""

    def __init__(self, path):
        self.process = subprocess.Popen([sys.executable, "-c", WRITER, path], stdin=-1, stdout=-1, text=True)
        assert self.process.stdout.readline() == "open\n"

    def __call__(self, *statements):
        for sql in statements:
            self.process.stdin.write(sql + "\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "done\n", sql

    def end(self, kill=False):
        if kill:
            self.process.kill()
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


@pytest.fixture
def write(tmp_path):
    """write(*statements): a writer of tmp_path/x.db that has done them; ended with the test."""
    started = []

    def start(*statements, name="x.db"):
        writer = Writer(tmp_path / name)
        started.append(writer)
        writer(*statements)
        return writer

    yield start
    for writer in started:
        if not writer.process.stdin.closed:
            writer.end()


def snapshot(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*") if path.is_file()}


def rows(path, sql="SELECT a FROM t ORDER BY a"):
    """The first column of the answer; the folder must not change on the way."""
    before = snapshot(path.parent)
    with SqliteDatabase(path, timeout_s=PATIENT_S) as database:
        found = [row[0] for row in database.query(sql)["rows"]]
        database.tables()
    assert snapshot(path.parent) == before
    return found


def refusal(path, sql="SELECT a FROM t"):
    before = snapshot(path.parent)
    with SqliteDatabase(path, timeout_s=PATIENT_S) as database, pytest.raises(ToolError) as caught:
        database.query(sql)
    assert snapshot(path.parent) == before
    assert str(path.parent) not in caught.value.message + caught.value.hint and caught.value.hint
    return caught.value.type, caught.value.message


def make(path, values=(1,), *pragmas):
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("BEGIN")
    connection.execute("CREATE TABLE t(a)")
    connection.executemany("INSERT INTO t VALUES(?)", [(value,) for value in values])
    connection.execute("COMMIT")
    connection.close()
    return path


NAMES = [
    "a?mode=rwc&x", "a#b.db", "%41.db", "a b.db", "\xe9\u65e5\u672c.db", "a'b\".db", "a;b.db", "-x", "file:x?mode=memory", ":memory:",
    "a%00b", "a\nb",
]  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="names that Windows does not allow")
@pytest.mark.parametrize("name", NAMES)
def test_odd_names(tmp_path, name):
    path = tmp_path / name
    shutil.move(make(tmp_path / "plain.db"), path)
    assert rows(path) == [1]
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a name that is not UTF-8")
def test_a_name_of_odd_bytes(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.db")
    shutil.move(make(tmp_path / "plain.db"), path)
    assert rows(path) == [1]
    assert refusal(tmp_path / os.fsdecode(b"\xff\n.db")) == ("not_found", "there is no database file .db")


def test_a_relative_path_stays_where_it_was(tmp_path, monkeypatch):
    make(tmp_path / "x.db")
    monkeypatch.chdir(tmp_path)
    database = SqliteDatabase("x.db", timeout_s=PATIENT_S)
    monkeypatch.chdir("/")
    assert database.query("SELECT a FROM t")["rows"] == [[1]]
    database.close()


@pytest.mark.skipif(os.name != "posix", reason="links need a privilege on Windows")
def test_a_link_is_followed_to_the_file_and_its_journal(tmp_path, write):
    (tmp_path / "real").mkdir()
    write("PRAGMA journal_mode=WAL", "CREATE TABLE t(a)", "INSERT INTO t VALUES(1)", name="real/x.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "x.db")
    assert rows(tmp_path / "link.db") == [1]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.db", "real"]


def test_what_is_no_database(tmp_path):
    (tmp_path / "text.db").write_text("not a database, " * 200)
    (tmp_path / "short.db").write_bytes(b"SQLite format 3\0")
    assert refusal(tmp_path / "none.db") == ("not_found", "there is no database file none.db")
    assert refusal(tmp_path / "text.db" / "x") == ("not_found", "there is no database file x")
    assert refusal(tmp_path / "a\0b")[0] == "not_found"
    assert refusal(tmp_path) == ("not_a_database", f"{tmp_path.name} is a folder")
    assert refusal(tmp_path / "text.db") == ("not_a_database", "the file is not an SQLite database")
    assert refusal(tmp_path / "short.db")[0] == "not_a_database"


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices")
def test_pipes_and_devices_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.db")
    (tmp_path / "zero.db").symlink_to("/dev/zero")
    (tmp_path / "loop.db").symlink_to(tmp_path / "loop.db")
    assert refusal(tmp_path / "pipe.db") == ("not_a_database", "pipe.db is no regular file")
    assert refusal(tmp_path / "zero.db")[0] == "not_a_database"
    assert refusal(tmp_path / "loop.db")[0] == "not_found"


def test_an_empty_file_is_an_empty_database(tmp_path):
    (tmp_path / "empty.db").touch()
    assert rows(tmp_path / "empty.db", "SELECT count(*) FROM sqlite_master") == [0]
    assert refusal(tmp_path / "empty.db") == ("sql_error", "no such table: t")


def test_a_damaged_file(tmp_path):
    path = make(tmp_path / "x.db", range(3_000))
    whole = path.read_bytes()
    path.write_bytes(whole[:4_096] + b"\xff" * (len(whole) - 4_096))
    assert refusal(path) == ("not_a_database", "the database file is damaged")
    path.write_bytes(whole[: len(whole) // 2])
    assert refusal(path, "SELECT count(*), sum(a) FROM t")[0] == "not_a_database"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    make(tmp_path / "x.db").chmod(0)
    assert refusal(tmp_path / "x.db") == ("not_found", "the database file cannot be opened")


def test_large_cells_are_left_out_not_fatal(tmp_path):
    path = make(tmp_path / "x.db")
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE big(id INTEGER PRIMARY KEY, picture BLOB, text TEXT)")
    connection.execute("INSERT INTO big VALUES(1, zeroblob(5000000), printf('%.2000000c', 'x'))")
    connection.commit()
    connection.close()
    assert refusal(path, "SELECT * FROM big") == ("too_large", "a value is too large")
    assert rows(path, "SELECT length(picture) FROM big") == [5_000_000]
    assert rows(path, "SELECT id FROM big") == [1]


def test_rollback_journal_with_a_writer(tmp_path, write):
    writer = write("CREATE TABLE t(a)", "INSERT INTO t VALUES(1)")
    assert rows(tmp_path / "x.db") == [1]
    writer("BEGIN IMMEDIATE", "INSERT INTO t VALUES(2)")
    assert rows(tmp_path / "x.db") == [1]
    writer("COMMIT", "BEGIN EXCLUSIVE")
    assert refusal(tmp_path / "x.db") == ("busy", "another program holds the database")
    writer("COMMIT")
    assert rows(tmp_path / "x.db") == [1, 2]


def test_a_hot_journal_is_told_and_left_alone(tmp_path, write):
    writer = write("CREATE TABLE t(a)", "INSERT INTO t VALUES(1)", "PRAGMA cache_size=1", "BEGIN IMMEDIATE")
    writer(*["INSERT INTO t SELECT hex(zeroblob(2000)) FROM (SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4)"] * 5)
    writer.end(kill=True)
    assert (tmp_path / "x.db-journal").stat().st_size > 0
    assert refusal(tmp_path / "x.db") == ("busy", "another program left the database in the middle of a change")


def test_wal_that_nobody_has_open(tmp_path):
    assert rows(make(tmp_path / "x.db", [1, 2], "journal_mode=WAL")) == [1, 2]
    assert [each.name for each in tmp_path.iterdir()] == ["x.db"]


def test_wal_with_a_writer_shows_what_is_not_yet_in_the_file(tmp_path, write):
    writer = write("PRAGMA journal_mode=WAL", "CREATE TABLE t(a)", "INSERT INTO t VALUES(1)")
    path = tmp_path / "x.db"
    assert rows(path) == [1]
    writer("BEGIN IMMEDIATE", "INSERT INTO t VALUES(2)")
    assert rows(path) == [1]
    writer("COMMIT")
    assert rows(path) == [1, 2]
    writer("PRAGMA wal_checkpoint(TRUNCATE)")
    assert rows(path) == [1, 2] and (tmp_path / "x.db-wal").stat().st_size == 0
    writer("INSERT INTO t VALUES(3)")
    assert rows(path) == [1, 2, 3]
    writer.end(kill=True)
    assert rows(path) == [1, 2, 3]


def test_wal_without_its_index_cannot_be_read_in_part(tmp_path, write):
    """Without the -shm the rows in the -wal cannot be had unless something is written; the rows of the file alone would be a lie."""
    writer = write("PRAGMA journal_mode=WAL", "CREATE TABLE t(a)", "INSERT INTO t VALUES(1)")
    copied = tmp_path / "copy"
    copied.mkdir()
    for name in ("x.db", "x.db-wal"):
        shutil.copy(tmp_path / name, copied / name)
    writer("PRAGMA wal_checkpoint(TRUNCATE)")
    assert refusal(copied / "x.db") == ("not_found", "the database file cannot be opened")
    (copied / "x.db-wal").write_bytes(b"")
    assert refusal(copied / "x.db")[0] in ("not_a_database", "sql_error")


def test_a_writer_that_begins_in_the_middle_is_noticed(tmp_path, write):
    """The file is read as immutable while nobody has it open; a statement during which that changed is asked again."""
    path = make(tmp_path / "x.db", [1], "journal_mode=WAL")
    before = quiet_wal(str(path))
    assert before is not None
    writer = write("INSERT INTO t VALUES(2)")
    assert quiet_wal(str(path)) is None
    writer.end()
    assert quiet_wal(str(path)) not in (None, before)
    assert rows(path) == [1, 2]


def test_counting_what_is_not_shown_costs_the_next_statement_no_time(tmp_path):
    path = make(tmp_path / "x.db", range(50))
    caps = {"max_rows": 2, "max_characters": 100, "max_cell": 10}
    session = Session({"uri": path.as_uri(), "path": str(path), "hide": [], "timeout_s": PATIENT_S, **caps})
    before = session.deadline
    result = session.run("SELECT a FROM t")
    assert (result["rows"], result["row_count"], result["counted"], session.deadline) == ([[0], [1]], 50, True, before)
    session.deadline = 0
    assert session.run("SELECT a FROM t")["error"]["code"] == "SQLITE_INTERRUPT"
    session.connection.close()


def test_a_schema_beyond_the_limits_of_a_statement_can_be_read(tmp_path):
    """A wide table, a long or deep definition, a union of many: what a statement may not have, a database may."""
    path = make(tmp_path / "x.db")
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE wide({', '.join(f'c{n} REAL' for n in range(300))})")
    connection.execute("INSERT INTO wide(c0, c299) VALUES(1, 2)")
    connection.execute(f"CREATE TABLE long(a CHECK(a NOT IN ({', '.join(map(str, range(10_000)))})))")
    connection.execute(f"CREATE VIEW many AS {' UNION ALL '.join(['SELECT 1 AS a'] * 60)}")
    connection.execute(f"CREATE VIEW deep AS SELECT {' + '.join(['1'] * 150)} AS a")
    connection.commit()
    connection.close()
    assert rows(path) == [1]
    assert rows(path, "SELECT c299 FROM wide") == [2]
    assert rows(path, "SELECT count(*) FROM long") == [0]
    assert refusal(path, "SELECT * FROM wide") == ("sql_error", "too many columns in result set")
    assert refusal(path, "SELECT * FROM deep") == ("sql_error", "Expression tree is too large (maximum depth 100)")
    with SqliteDatabase(path, hide=["wide.c1"], timeout_s=PATIENT_S) as database:
        assert database.query("SELECT c0 FROM wide")["rows"] == [[1]]
        (wide,) = (table for table in database.tables()["tables"] if table["name"] == "wide")
        assert (wide["rows"], len(wide["columns"])) == (1, 299)


def test_a_schema_larger_than_a_reply_is_told_in_part(tmp_path):
    path = make(tmp_path / "x.db")
    connection = sqlite3.connect(path)
    columns = ", ".join(f"a_rather_long_name_of_a_column_{n} VARCHAR(20)" for n in range(150))
    connection.executescript("BEGIN;" + "".join(f"CREATE TABLE t{n}({columns});" for n in range(200)) + "COMMIT;")
    connection.close()
    with SqliteDatabase(path, timeout_s=PATIENT_S) as database:
        known, left_out = database.schema()
    assert known[0].name == "t" and len(known) > 20 and len(known) + left_out == 201


def test_what_is_hidden_and_what_is_asked_belong_to_one_state(tmp_path, write):
    """Another program renames a hidden column after it was looked up: the statement does not see that yet."""
    writer = write("PRAGMA journal_mode=WAL", "CREATE TABLE t(a, pin)", "INSERT INTO t VALUES(1, 7711)")
    path = tmp_path / "x.db"
    caps = {"max_rows": 2, "max_characters": 100, "max_cell": 10}
    session = Session({"uri": path.as_uri(), "path": str(path), "hide": ["t.pin"], "timeout_s": PATIENT_S, **caps})
    writer("ALTER TABLE t RENAME COLUMN pin TO code")
    assert session.run("SELECT code FROM main.t")["error"]["message"] == "no such column: code"
    assert session.run("SELECT * FROM t")["rows"] == [[1]]
    session.connection.close()


def test_the_schema_of_a_hostile_file(tmp_path):
    """Names with line breaks, quotes and invalid UTF-8, a view that does not work, one that never ends."""
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE \"a\nb\"(\"x\ty\" TEXT, 'q\"uote' INT, [order] TEXT)")
    connection.execute("INSERT INTO \"a\nb\" VALUES('1', 2, '3')")
    connection.execute("CREATE TABLE gone(a)")
    connection.execute("CREATE VIEW broken AS SELECT nosuch FROM gone")
    connection.execute("CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
    connection.execute("CREATE TABLE odd(a TEXT DEFAULT (CAST(x'ff' AS TEXT)), b TEXT CHECK(b <> CAST(x'fe' AS TEXT)))")
    connection.execute("CREATE TABLE loops(id INTEGER PRIMARY KEY, up INTEGER REFERENCES loops(id), lost INTEGER REFERENCES nowhere)")
    connection.commit()
    connection.close()
    with SqliteDatabase(path, hide=["odd.b"], timeout_s=PATIENT_S) as database:
        assert [view["name"] for view in database.tables()["views"]] == ["endless"]
        assert database.query("SELECT i FROM endless LIMIT 1")["rows"] == [[1]]
    with SqliteDatabase(path, timeout_s=PATIENT_S) as database:
        tables = {table["name"]: table for table in database.tables()["tables"]}
        json.dumps(tables)
        assert tables["a\nb"]["sample"] == [["1", 2, "3"]]
        assert tables["loops"]["columns"][1:] == [
            {"name": "up", "type": "INTEGER", "references": "loops.id"}, {"name": "lost", "type": "INTEGER"},
        ]  # fmt: skip
        with pytest.raises(ToolError) as caught:
            database.query("SELECT nosuch FROM gone")
        assert caught.value.hint == "columns of gone: a" and caught.value.message.isprintable()
        with pytest.raises(ToolError) as caught:
            database.query("SELECT * FROM broken")
        assert caught.value.hint.startswith("the view broken does not work; ")
