import json
import re
from pathlib import Path

import pytest

from react_agent.errors import ConfigError, ToolError
from react_agent.registry import Gate, ToolRegistry
from react_agent.tools.stock import stock_tools
from react_agent.types import ToolCall

DATA = Path(__file__).parent / "data" / "stock"
SHOP = {
    "A-100": {"name": "Oak Chair", "stock": 12, "price": 79.9},
    "A-101": {"name": "Oak Table", "stock": 0},
    "B-200": {"name": "Brass Lamp", "stock": None},
    "C-300": 7,
    "x1": 1,
    "X1": 2,
}


def lookup(catalogue, product_id):
    return stock_tools(catalogue)[0].function(product_id=product_id)


FOUND = [
    (SHOP, "A-100", {"product_id": "A-100", "stock": 12, "name": "Oak Chair", "price": 79.9}),
    (SHOP, " a-100\n", {"product_id": "A-100", "stock": 12, "name": "Oak Chair", "price": 79.9}),
    (SHOP, "A-101", {"product_id": "A-101", "stock": 0, "name": "Oak Table"}),
    (SHOP, "C-300", {"product_id": "C-300", "stock": 7}),
    (SHOP, "X1", {"product_id": "X1", "stock": 2}),
    ({1042: 5}, 1042, {"product_id": "1042", "stock": 5}),
    (DATA / "catalogue.csv", "A-100", {"product_id": "A-100", "stock": 12, "name": "Oak Chair", "price": "79.90"}),
    (DATA / "catalogue.csv", "B-201", {"product_id": "B-201", "stock": 2.5, "name": "Rope, 10 m", "price": "4.20"}),
    (DATA / "catalogue.csv", "007", {"product_id": "007", "stock": 40, "name": "Paper Lantern", "price": "8.00"}),
    (str(DATA / "catalogue.json"), "A-100", {"product_id": "A-100", "stock": 12, "name": "Oak Chair", "price": 79.9}),
    (DATA / "catalogue.json", "c-300", {"product_id": "C-300", "stock": 7}),
    (DATA / "list.json", "42", {"product_id": "42", "stock": 3}),
]


@pytest.mark.parametrize(("catalogue", "product_id", "wanted"), FOUND)
def test_a_product_is_found(catalogue, product_id, wanted):
    assert lookup(catalogue, product_id) == wanted


REFUSED = [
    ("A-102", "not_found", "did you mean A-10[01] or A-10[01]"),
    ("Oak Chair", "not_found", "the name of a product: look up its id, A-100"),
    ("Oak Chiar", "not_found", "did you mean A-100"),
    ("zzzzzz", "not_found", "for example A-100; else say that the stock is not known"),
    ("7", "not_found", "not known"),
    ("B-200", "no_data", "say that the stock is not known"),
    ("x1 ", None, ""),
    ("", "invalid_argument", "for example A-100"),
    ("  ", "invalid_argument", "for example A-100"),
    ("9" * 101, "invalid_argument", "for example A-100"),
    (None, "invalid_argument", "for example A-100"),
    (True, "invalid_argument", "for example A-100"),
    (1.5, "invalid_argument", "for example A-100"),
    (["A-100"], "invalid_argument", "for example A-100"),
    ("\U0010ffff" * 100, "not_found", "not known"),
]


@pytest.mark.parametrize(("product_id", "slug", "hint"), REFUSED)
def test_what_is_not_known_is_an_error_and_never_a_number(product_id, slug, hint):
    if slug is None:
        assert lookup(SHOP, product_id)["product_id"] == "x1"
        return
    with pytest.raises(ToolError) as caught:
        lookup(SHOP, product_id)
    assert caught.value.type == slug
    assert re.search(hint, caught.value.hint)
    assert len(json.dumps([caught.value.message, caught.value.hint])) < 480


def test_ids_that_differ_in_case_only_are_not_mixed_up():
    with pytest.raises(ToolError) as caught:
        lookup({"Ab": 1, "aB": 2}, "AB")
    assert (caught.value.type, caught.value.hint) == ("ambiguous", "write one as it stands: Ab or aB")


WRONG_FILES = [
    ("a.csv", "name,stock\nOak,1\n", "line 1: the header has no column product_id; its columns are: name, stock"),
    ("a.csv", "", "line 1: the header has no column product_id and no column stock; its columns are: none"),
    ("a.csv", "product_id,stock,stock\nA,1,2\n", "line 1: a column stands twice"),
    ("a.csv", "product_id,stock\nA,1\nB,two\n", "line 3: stock must be a number such as 12"),
    ("a.csv", "product_id,stock\nA,1_000\n", "line 2: stock must be a number such as 12"),
    ("a.csv", "product_id,stock\nA,nan\n", "line 2: stock must be a number such as 12"),
    ("a.csv", "product_id,stock\nA,-1\n", "line 2: stock must be a number from 0 to 1e+15"),
    ("a.csv", "product_id,stock\nA,1\n\nA,2\n", "line 4: the product id 'A' stands twice, first in line 2"),
    ("a.csv", "product_id,stock\nA,1,9\n", "line 2: 3 fields, but the header has 2"),
    ("a.csv", "product_id,stock\n,1\n", "line 2: a product id must be text of 1 to 100 characters"),
    ("a.csv", 'product_id,stock\n"A"x,1\n', "line 2: "),
    ("a.csv", "product_id,stock\n", "the catalogue has no products"),
    ("a.csv", b"product_id,stock\n\xff\xfe,1\n", "line 2: not UTF-8"),
    ("a.json", "", "line 1: the catalogue must be a JSON object or list"),
    ("a.json", "[]", "the catalogue has no products"),
    ("a.json", "5", "line 1: the catalogue must be a JSON object or list"),
    ("a.json", '{"A": 1,\n "B": }', "line 2: not JSON"),
    ("a.json", '{"A": 1\n "B": 2}', "line 2: not JSON: ',' or '}' is missing"),
    ("a.json", '{"A": 1', "not JSON: ',' or '}' is missing"),
    ("a.json", '{"A": 1,}', "line 1: not JSON"),
    ("a.json", '{"A": 1} x', "something follows the end"),
    ("a.json", "{1: 2}", "line 1: not JSON: a product id in quotes"),
    ("a.json", '{"A": 1,\n"A": 2}', "line 2: the product id 'A' stands twice, first in line 1"),
    ("a.json", '{"A": {"stock": 1, "stock": 2}}', "line 1: a field stands twice"),
    ("a.json", '{"A": {"name": "x"}}', "line 1: the field 'stock' is missing"),
    ("a.json", '{\n"A": "many"}', "line 2: stock must be a number"),
    ("a.json", '{"A": true}', "line 1: stock must be a number"),
    ("a.json", '{"A": 1' + "0" * 400 + "}", "line 1: stock must be a number from 0 to 1e+15"),
    ("a.json", '{"A": 1' + "0" * 5000 + "}", "line 1: "),
    ("a.csv", "product_id,stock\nA," + "1" * 5000 + "x\n", "line 2: stock must be a number"),
    ("a.json", '{"A": NaN}', "line 1: NaN is not JSON"),
    ("a.json", '{"A": 1e999}', "line 1: 1e999 is too large"),
    ("a.json", '[{"stock": 1}]', "line 1: each product of a list must be an object with 'product_id'"),
    ("a.json", '{"A": ' + "[" * 100_000, "line 1: "),
    ("a.txt", "A 1", "a catalogue is a .csv, .tsv or .json file"),
]


@pytest.mark.parametrize(("name", "content", "message"), WRONG_FILES)
def test_a_wrong_file_is_named_with_its_line(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError) as caught:
        stock_tools(path)
    assert str(caught.value).startswith(f"{path}")
    assert message in str(caught.value)


def test_a_missing_file_and_a_wrong_dict_are_named(tmp_path):
    with pytest.raises(ConfigError, match="there is no such file"):
        stock_tools(tmp_path / "none.csv")
    with pytest.raises(ConfigError, match="catalogue, product 'A': stock must be a number"):
        stock_tools({"A": "many"})


@pytest.mark.parametrize("text", ["product_id;stock\nA;3\n", "product_id\tstock\r\nA\t3\r\n", "\ufeffstock,product_id\n3,A\n"])
def test_other_spreadsheets(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text, "utf-8", newline="")
    assert lookup(path, "A") == {"product_id": "A", "stock": 3}


def test_the_tool():
    (tool,) = stock_tools(DATA / "catalogue.csv")
    assert (tool.name, tool.read_only, tool.parameter_names) == ("lookup_stock", True, ("product_id",))
    assert "for example A-100" in tool.parameters["properties"]["product_id"]["description"]


@pytest.mark.parametrize("product_id", ["42", 42])
def test_a_number_is_looked_up_as_its_digits(product_id):
    registry = ToolRegistry(stock_tools(DATA / "list.json"))
    call = registry.prepare(ToolCall("lookup_stock", {"product_id": product_id}), Gate())
    assert registry.execute(call).value == {"product_id": "42", "stock": 3}
