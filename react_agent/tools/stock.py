"""The stock tool: how many units of a product there are, from a catalogue. What is not in it is an error, never a number."""

import difflib
from collections.abc import Mapping
from itertools import chain, islice
from os import PathLike
from typing import Any

from react_agent.errors import ToolError
from react_agent.registry import Tool
from react_agent.tools.stock_catalogue import MAX_ID, Product, load_catalogue

_SAY_SO = "say that the stock is not known, and do not invent a number"
_COMPARED = 10_000  # so many ids and names are compared with a wrong one, which bounds the time of a miss


def stock_tools(catalogue: Mapping[str, Any] | str | PathLike[str]) -> list[Tool]:
    """The tool `lookup_stock` over a catalogue, which is read once, here.

    catalogue: a dict, or the path of a CSV or JSON file. A dict maps each product id to the units in stock (None: not known) or
    to a dict with `stock` and further fields (name, price, ...). JSON has the same, or a list of objects with `product_id`; CSV has
    a header with `product_id` and `stock`. Raises ConfigError with the file and the line.
    """
    stock = Stock(load_catalogue(catalogue))
    product_id = {"type": ["string", "integer"], "description": f"the id of the product{stock.example}"}
    return [
        Tool(
            name="lookup_stock",
            description="Looks up one product of the catalogue by its id: units in stock and what else is known of it.",
            parameters={
                "type": "object", "properties": {"product_id": product_id}, "required": ["product_id"], "additionalProperties": False,
            },
            function=stock.lookup,
            read_only=True,
        )
    ]  # fmt: skip


class Stock:
    """Products by id. Ids are found whatever their case, as long as only one product can be meant."""

    def __init__(self, products: Mapping[str, Product]) -> None:
        self._products = products
        self._folded: dict[str, list[str]] = {}
        self._named: dict[str, list[str]] = {}
        for product_id, product in products.items():
            self._folded.setdefault(product_id.casefold(), []).append(product_id)
            if isinstance(product.fields.get("name"), str):
                self._named.setdefault(product.fields["name"].casefold(), []).append(product_id)

    @property
    def example(self) -> str:
        return "".join(f", for example {product_id}" for product_id in list(self._products)[:1])

    def lookup(self, product_id: str | int) -> dict[str, Any]:
        """One product as a dict: product_id, stock, and its further fields. Raises ToolError invalid_argument, not_found,
        ambiguous, no_data."""
        wanted = self._checked(product_id)
        found = [wanted] if wanted in self._products else self._folded.get(wanted.casefold(), [])
        if not found:
            raise self._not_found(wanted)
        if len(found) > 1:
            raise ToolError("ambiguous", f"{_shown(wanted)} could be several products", f"write one as it stands: {_listed(found)}")
        product = self._products[found[0]]
        if product.stock is None:
            raise ToolError("no_data", f"the catalogue has no stock figure for {found[0]}", _SAY_SO)
        return {"product_id": found[0], "stock": product.stock, **product.fields}

    def _checked(self, product_id: object) -> str:
        text = str(product_id) if isinstance(product_id, int) and not isinstance(product_id, bool) else product_id
        if not isinstance(text, str) or not 0 < len(text.strip()) <= MAX_ID:
            message = f"product_id must be text of 1 to {MAX_ID} characters"
            raise ToolError("invalid_argument", message, f"write the id of one product{self.example}")
        return text.strip()

    def _not_found(self, wanted: str) -> ToolError:
        return ToolError("not_found", f"no product has the id {_shown(wanted)}; its stock is not known", self._way_on(wanted))

    def _way_on(self, wanted: str) -> str:
        named = self._named.get(wanted.casefold())
        if named:
            return f"this is the name of a product: look up its id, {_listed(named)}"
        known = islice(chain(self._folded, self._named), _COMPARED)
        close = difflib.get_close_matches(wanted.casefold(), list(known), n=3, cutoff=0.6)
        near = [product_id for word in close for product_id in self._folded.get(word, []) or self._named[word]]
        return f"did you mean {_listed(near)}? if not, {_SAY_SO}" if near else f"check the id{self.example}; else {_SAY_SO}"


def _shown(text: str) -> str:
    return repr(text)[:80]


def _listed(ids: list[str]) -> str:
    return " or ".join(ids[:3])
