"""Reading a catalogue of products: a dict, a JSON file or a CSV file, checked entry by entry.

Each entry comes with its place ("line 12", or the id in a dict), so that an error names the file and the line.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from react_agent.errors import ConfigError

MAX_BYTES = 20_000_000
MAX_ID = 100
MAX_STOCK = 10**15
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True)
class Product:
    """stock: units, None when not known. fields: what else the catalogue says, as it stands there."""

    stock: int | float | None
    fields: Mapping[str, Any] = field(default_factory=dict)


class _Entry(NamedTuple):
    place: str
    product_id: Any
    value: Any


def load_catalogue(catalogue: Mapping[str, Any] | str | PathLike[str]) -> dict[str, Product]:
    """The products by id. Raises ConfigError."""
    if isinstance(catalogue, Mapping):
        return _products("catalogue", (_Entry(f"product {str(key)[:60]!r}", key, value) for key, value in catalogue.items()))
    path = Path(catalogue)
    text = _read(path)
    return _products(str(path), _csv_entries(path, text) if path.suffix.lower() in (".csv", ".tsv") else _json_entries(path, text))


def _read(path: Path) -> str:
    if path.suffix.lower() not in (".csv", ".tsv", ".json"):
        raise ConfigError(f"{path}: a catalogue is a .csv, .tsv or .json file")
    try:
        if not path.is_file():
            raise ConfigError(f"{path}: there is no such file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path}: a catalogue may have {MAX_BYTES // 1_000_000} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8 text; save the file as UTF-8") from error


def _products(source: str, entries: Iterator[_Entry]) -> dict[str, Product]:
    products: dict[str, Product] = {}
    places: dict[str, str] = {}
    for place, raw_id, value in entries:
        where = f"{source}, {place}"
        product_id = _checked_id(where, raw_id)
        if product_id in products:
            raise ConfigError(f"{where}: the product id {product_id!r} stands twice, first in {places[product_id]}")
        products[product_id] = _product(where, value)
        places[product_id] = place
    if not products:
        raise ConfigError(f"{source}: the catalogue has no products")
    return products


def _checked_id(where: str, value: Any) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not 0 < len(text.strip()) <= MAX_ID or not text.isprintable():
        raise ConfigError(f"{where}: a product id must be text of 1 to {MAX_ID} characters on one line")
    return text.strip()


def _product(where: str, value: Any) -> Product:
    if not isinstance(value, Mapping):
        return Product(_stock(where, value))
    if "stock" not in value:
        raise ConfigError(f"{where}: the field 'stock' is missing; it is a number, or null where it is not known")
    return Product(_stock(where, value["stock"]), {str(key): part for key, part in value.items() if key not in ("stock", "product_id")})


def _stock(where: str, value: Any) -> int | float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MAX_STOCK:
        shown = f"a number of {value.bit_length()} bits" if isinstance(value, int) and value > MAX_STOCK else repr(str(value)[:60])
        raise ConfigError(f"{where}: stock must be a number from 0 to {MAX_STOCK:.0e}, or null where it is not known, not {shown}")
    return value


def _csv_entries(path: Path, text: str) -> Iterator[_Entry]:
    """One entry a row; all fields but the stock stay text, so that 007 keeps its zeros."""
    head = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count), strict=True)
    try:
        columns = [name.strip() for name in next(rows, [])]
        _check_columns(path, columns)
        for row in rows:
            place = f"line {rows.line_num}"
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(columns):
                raise ConfigError(f"{path}, {place}: {len(row)} fields, but the header has {len(columns)}")
            value: dict[str, Any] = dict(zip(columns, row, strict=True))
            value["stock"] = _csv_number(f"{path}, {place}", value["stock"])
            yield _Entry(place, value["product_id"], value)
    except csv.Error as error:
        raise ConfigError(f"{path}, line {rows.line_num}: {error}") from error


def _check_columns(path: Path, columns: list[str]) -> None:
    missing = [name for name in ("product_id", "stock") if name not in columns]
    if missing:
        found = ", ".join(columns)[:200] or "none"
        raise ConfigError(f"{path}, line 1: the header has no column {' and no column '.join(missing)}; its columns are: {found}")
    if len(set(columns)) < len(columns):
        raise ConfigError(f"{path}, line 1: a column stands twice in the header")


def _csv_number(where: str, cell: str) -> int | float | None:
    """An empty cell is a stock that is not known."""
    text = cell.strip()
    if not text:
        return None
    number = _NUMBER.fullmatch(text)
    if number is None:
        raise ConfigError(f"{where}: stock must be a number such as 12 or 2.5, or empty where it is not known, not {text[:60]!r}")
    return float(text) if number[1] else int(text)


def _json_entries(path: Path, text: str) -> Iterator[_Entry]:
    reader = _JsonReader(path, text)
    try:
        for place, key, value in reader.members():
            if key is None and not (isinstance(value, dict) and "product_id" in value):
                raise ConfigError(f"{path}, {place}: each product of a list must be an object with 'product_id' and 'stock'")
            yield _Entry(place, value["product_id"] if key is None else key, value)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}, {reader.place}: {error}") from error


class _JsonReader:
    """The members of the outer list or object one by one, because the standard reader tells no lines."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text
        self._at = 0
        self._line, self._counted = 1, 0
        self._decoder = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse, object_pairs_hook=_no_double)

    @property
    def place(self) -> str:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return f"line {self._line}"

    def members(self) -> Iterator[tuple[str, str | None, Any]]:
        """The place, the key (None in a list) and the value of each. Raises ValueError, RecursionError, ConfigError."""
        opening = self._sign()
        if opening not in ("{", "["):
            raise ConfigError(f"{self._path}, {self.place}: the catalogue must be a JSON object or list")
        closing = "}" if opening == "{" else "]"
        self._at += 1
        more = self._sign() != closing
        while more:
            place, key = self.place, None
            if opening == "{":
                key = self._key()
            yield place, key, self._value()
            more = self._sign() == ","
            if more:
                self._at += 1
                self._sign()
        if self._sign() != closing:
            raise ValueError(f"not JSON: ',' or '{closing}' is missing")
        self._at += 1
        if self._sign():
            raise ValueError("not JSON: something follows the end of the catalogue")

    def _sign(self) -> str:
        """The character that comes next, white space left out."""
        while self._text[self._at : self._at + 1] in (" ", "\t", "\r", "\n"):
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _key(self) -> str:
        key = self._value()
        if not isinstance(key, str) or self._sign() != ":":
            raise ValueError("not JSON: a product id in quotes and a ':' are missing")
        self._at += 1
        self._sign()
        return key

    def _value(self) -> Any:
        value, self._at = self._decoder.raw_decode(self._text, self._at)
        return value


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:40]} is too large")
    return number


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _no_double(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError("a field stands twice in one product")
    return dict(pairs)
