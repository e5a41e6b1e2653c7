"""A small shop to try the agent on: a database and a folder of documents, the same to the byte wherever they are built."""

import contextlib
import datetime
import hashlib
import json
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from react_agent.demo_data import CITIES, DOCUMENTS, FAMILY_NAMES, GIVEN_NAMES, PRODUCTS, SCHEMA, STATUSES
from react_agent.errors import ConfigError
from react_agent.folders import cache_folder

CUSTOMERS, ORDERS, MOST_ITEMS = 56, 310, 3
FIRST_DAY, DAYS = datetime.date(2024, 1, 1), 366
SALT = "quillhaven-107"  # chosen so that 37, the answer to the first question, is no other count of the shop
WRITTEN_BY = 3_040_000  # the SQLite version that every build claims

MANIFEST = "manifest.json"

Row = tuple[str | int | float, ...]
Rows = Sequence[Row]


@dataclass(frozen=True, slots=True)
class DemoData:
    """Where the demo lies: an SQLite file and a folder of Markdown files."""

    db: Path
    docs: Path


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question to the demo and what its answer must hold. A test computes it from the data: by sql, or as found in document."""

    question: str
    answer: str
    sql: str = ""
    document: str = ""


DEMO_QUESTIONS = (
    DemoQuestion(
        "How many orders came from customers who live in Lisbon?", "37",
        sql="SELECT count(*) FROM orders JOIN customers ON customers.id = orders.customer_id WHERE customers.city = 'Lisbon'",
    ),
    DemoQuestion("How many orders were cancelled?", "15", sql="SELECT count(*) FROM orders WHERE status = 'cancelled'"),
    DemoQuestion("How many products are in the category tents?", "4", sql="SELECT count(*) FROM products WHERE category = 'tents'"),
    DemoQuestion("How many days after delivery can an item be returned?", "45", document="returns.md"),
    DemoQuestion("How long is the warranty on stoves and kettles?", "36 months", document="warranty.md"),
    DemoQuestion("What does standard shipping cost?", "5.90", document="shipping.md"),
    DemoQuestion("How long is a gift card valid?", "4 years", document="gift-cards.md"),
    DemoQuestion("How much is a membership of the Night Owl Club?", "18 EUR", document="club.md"),
)  # fmt: skip
DEMO_QUESTION, DEMO_ANSWER = DEMO_QUESTIONS[0].question, DEMO_QUESTIONS[0].answer


def demo_folder() -> Path:
    """Where a user's demo data lies."""
    return cache_folder() / "demo"


def build(folder: Path) -> DemoData:
    """The demo below folder: what is there, or built when it is missing, damaged or of another version.

    Several processes may build at once: each builds apart, and one of the equal results gets the name.
    """
    home = folder / _version()
    try:
        if not _intact(home):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".building-", dir=folder) as work:
                _write(Path(work, "new"))
                _put(Path(work, "new"), home, Path(work, "old"))
    except OSError as error:
        raise ConfigError(f"cannot build the demo in {folder}: {error}") from error
    return DemoData(home / "shop.db", home / "docs")


@cache
def tables() -> Mapping[str, Rows]:
    """The rows of the database by table, in the order of their insertion."""
    days = sorted(_draw(DAYS, "day", number) for number in range(ORDERS))
    return {
        "customers": [_customer(number) for number in range(1, CUSTOMERS + 1)],
        "products": [(number, *product) for number, product in enumerate(PRODUCTS, 1)],
        "orders": [
            (number, 1 + _draw(CUSTOMERS, "buyer", number), _date(day), _pick(STATUSES, "status", number))
            for number, day in enumerate(days, 1)
        ],
        "order_items": [item for number in range(1, ORDERS + 1) for item in _items(number)],
    }


def _customer(number: int) -> Row:
    name = f"{GIVEN_NAMES[number % len(GIVEN_NAMES)]} {FAMILY_NAMES[number * 5 % len(FAMILY_NAMES)]}"
    return number, name, _pick(CITIES, "city", number), _date(-_draw(2 * DAYS, "joined", number))


def _items(order: int) -> Iterator[Row]:
    """Different products of one order, with their quantities."""
    first, count = _draw(len(PRODUCTS), "product", order), 1 + _draw(MOST_ITEMS, "items", order)
    for place in range(count):
        yield order, 1 + (first + 5 * place) % len(PRODUCTS), 1 + _draw(3, "quantity", order, place)


def _date(day: int) -> str:
    return (FIRST_DAY + datetime.timedelta(days=day)).isoformat()


def _pick(choices: Sequence[str], *key: str | int) -> str:
    return choices[_draw(len(choices), *key)]


def _draw(below: int, *key: str | int) -> int:
    """A number from 0 to below - 1 that looks random and depends on the key alone, on every version of Python."""
    digest = hashlib.sha256(f"{SALT} {key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % below


@cache
def _version() -> str:
    """Changes with everything that the demo is made of."""
    return hashlib.sha256(json.dumps([SCHEMA, tables(), DOCUMENTS]).encode()).hexdigest()[:12]


def _write(home: Path) -> None:
    docs = home / "docs"
    docs.mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (docs / name).write_bytes(text.encode())
    _write_database(home / "shop.db")
    (home / MANIFEST).write_text(json.dumps(_hashes(home), indent=1), "utf-8")


def _write_database(file: Path) -> None:
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA page_size = 4096")
        database.execute("PRAGMA journal_mode = delete")
        database.executescript(SCHEMA)
        for table, rows in tables().items():
            database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        database.commit()
    with file.open("r+b") as stream:  # the file format's field at byte 96: the version that wrote it last, nothing depends on it
        stream.seek(96)
        stream.write(WRITTEN_BY.to_bytes(4, "big"))


def _hashes(home: Path) -> dict[str, str]:
    files = [home / "shop.db", *sorted((home / "docs").glob("*"))]
    return {file.relative_to(home).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def _intact(home: Path) -> bool:
    try:
        return bool(json.loads((home / MANIFEST).read_bytes()) == _hashes(home))
    except (OSError, ValueError):
        return False


def _put(new: Path, home: Path, aside: Path) -> None:
    """Give the new folder its name, unless another process was quicker; what was damaged is moved aside."""
    if home.exists() and not _intact(home):
        with contextlib.suppress(FileNotFoundError):  # another process has just done so
            home.rename(aside)
    try:
        new.rename(home)
    except OSError:
        if not _intact(home):
            raise
