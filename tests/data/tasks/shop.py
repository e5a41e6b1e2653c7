"""The shop that the tasks ask about: 180 customers, 27 products, 520 orders with 1325 items, the same rows wherever it is built.

    python tests/data/tasks/shop.py shop.db

Everything in it is invented and drawn from one seeded generator, so the order of the draws is part of the data: a test holds the
digest of all rows.
"""

import datetime
import hashlib
import json
import random
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

SEED = 20240607
CUSTOMERS, ORDERS = 180, 520
FIRST_SIGNUP, SIGNUP_DAYS = datetime.date(2021, 1, 1), 1095
FIRST_ORDER, ORDER_DAYS = datetime.date(2023, 1, 1), 730
LOWEST_PRICE, HIGHEST_PRICE, STOCK_BELOW, QUANTITY_BELOW = 6, 480, 240, 7

GIVEN_NAMES = (
    "Ana", "Bruno", "Carla", "Diego", "Elena", "Felix", "Greta", "Hugo", "Ines", "Jonas", "Katya", "Liam",
    "Mina", "Nils", "Olga", "Pavel", "Rosa", "Sven", "Tara", "Uwe", "Vera", "Wim", "Yara", "Zoe",
)  # fmt: skip
FAMILY_NAMES = (
    "Abbott", "Berg", "Costa", "Dietz", "Evans", "Fontaine", "Garcia", "Holm", "Ivanov", "Jansen",
    "Keller", "Lopez", "Moreau", "Novak", "Olsen", "Petrov", "Quist", "Rossi", "Silva", "Tanaka",
)  # fmt: skip
CITIES = {  # city: country, and how many of the customers are drawn there
    "Lisbon": ("Portugal", 9), "Porto": ("Portugal", 5), "Berlin": ("Germany", 8), "Hamburg": ("Germany", 4), "Oslo": ("Norway", 6),
    "Lyon": ("France", 3), "Paris": ("France", 7), "Madrid": ("Spain", 6), "Turin": ("Italy", 4), "Vienna": ("Austria", 5),
}  # fmt: skip
PRODUCTS = {
    "furniture": ("Walnut Desk", "Oak Chair", "Pine Shelf", "Corner Sofa", "Folding Table", "Bar Stool"),
    "lighting": ("Brass Lamp", "Paper Lantern", "Desk Light", "Floor Lamp", "Reading Spot"),
    "kitchen": ("Cast Iron Pan", "Copper Kettle", "Chef Knife", "Salad Bowl", "Bread Box", "Espresso Cup"),
    "textile": ("Wool Blanket", "Linen Curtain", "Cotton Rug", "Velvet Cushion", "Silk Scarf"),
    "garden": ("Clay Pot", "Watering Can", "Garden Fork", "Bird House", "Hammock"),
}
STATUSES = {"shipped": 70, "pending": 14, "cancelled": 10, "returned": 6}
ITEMS_IN_AN_ORDER = {1: 25, 2: 30, 3: 22, 4: 15, 5: 8}

SCHEMA = {
    "customers": "id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, country TEXT NOT NULL, signup_date TEXT NOT NULL",
    "products": "id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price REAL NOT NULL, stock INTEGER NOT NULL",
    "orders": "id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), order_date TEXT NOT NULL, status TEXT NOT NULL",
    "order_items": "id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), "
    "product_id INTEGER NOT NULL REFERENCES products(id), quantity INTEGER NOT NULL, unit_price REAL NOT NULL",
}

Row = tuple[int | float | str, ...]


def build(path: str | Path) -> Path:
    """Write the database, in place of what is there; returns its path."""
    path = Path(path)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as shop, shop:
        for table, columns in SCHEMA.items():
            shop.execute(f"CREATE TABLE {table}({columns})")
        for table, drawn in rows().items():
            shop.executemany(f"INSERT INTO {table} VALUES({', '.join('?' * len(drawn[0]))})", drawn)
    return path


def rows() -> dict[str, list[Row]]:
    """The rows of each table."""
    draw = random.Random(SEED)
    customers = list(_customers(draw))
    products = list(_products(draw))
    prices = {row[0]: row[3] for row in products}
    orders: list[Row] = []
    items: list[Row] = []
    for number in range(1, ORDERS + 1):
        day = _day(draw, FIRST_ORDER, ORDER_DAYS)
        status = _weighted(draw, STATUSES)
        orders.append((number, draw.randrange(1, CUSTOMERS + 1), day, status))
        for product in draw.sample(range(1, len(products) + 1), _weighted(draw, ITEMS_IN_AN_ORDER)):
            items.append((len(items) + 1, number, product, draw.randrange(1, QUANTITY_BELOW), prices[product]))
    return {"customers": customers, "products": products, "orders": orders, "order_items": items}


def _customers(draw: random.Random) -> Iterator[Row]:
    names = [f"{given} {family}" for given in GIVEN_NAMES for family in FAMILY_NAMES]
    draw.shuffle(names)
    weights = {(city, country): weight for city, (country, weight) in CITIES.items()}
    for number in range(1, CUSTOMERS + 1):
        city, country = _weighted(draw, weights)
        yield number, names[number - 1], city, country, _day(draw, FIRST_SIGNUP, SIGNUP_DAYS)


def _products(draw: random.Random) -> Iterator[Row]:
    number = 0
    for category, names in PRODUCTS.items():
        for name in names:
            number += 1
            price = round(draw.uniform(LOWEST_PRICE, HIGHEST_PRICE), 2)
            yield number, name, category, price, draw.randrange(STOCK_BELOW)


def _weighted(draw: random.Random, weights):
    return draw.choices(list(weights), list(weights.values()))[0]


def _day(draw: random.Random, first: datetime.date, days: int) -> str:
    return (first + datetime.timedelta(days=draw.randrange(days))).isoformat()


def digest(path: str | Path) -> str:
    """SHA-256 over the JSON lines of all rows, table by table in the order of the schema."""
    total = hashlib.sha256()
    with closing(sqlite3.connect(path)) as shop:
        for table in SCHEMA:
            for row in shop.execute(f"SELECT * FROM {table} ORDER BY id"):
                total.update(json.dumps([table, *row]).encode() + b"\n")
    return total.hexdigest()


if __name__ == "__main__":
    print(build(sys.argv[1] if len(sys.argv) > 1 else "shop.db"))
