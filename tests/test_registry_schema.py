"""@tool: what a function's hints and docstring become, and what cannot be described."""

import dataclasses
import enum
import functools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, TypedDict

import pytest

from react_agent.errors import ConfigError, ToolError
from react_agent.registry import Gate, Prepared, Tool, ToolRegistry, tool
from react_agent.types import ToolCall

Celsius = NewType("Celsius", float)


class Order(enum.Enum):
    UP = "asc"
    DOWN = "desc"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Place(TypedDict):
    name: Annotated[str, "a city"]
    country: NotRequired[str]


@dataclasses.dataclass(frozen=True)
class Box:
    """A parcel."""

    width: int
    order: Order = Order.UP
    tags: list[str] = dataclasses.field(default_factory=list)

    def __post_init__(self):
        if self.width < 0:
            raise ValueError("width must not be negative")


@dataclasses.dataclass
class Loop:
    inner: "Loop | None" = None


PLACE = {"type": "object", "properties": {"name": {"type": "string", "description": "a city"}, "country": {"type": "string"}},
         "required": ["name"], "additionalProperties": False}  # fmt: skip
BOX = {
    "type": "object",
    "properties": {
        "width": {"type": "integer"},
        "order": {"type": "string", "enum": ["asc", "desc"], "default": "asc"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["width"], "additionalProperties": False,
}  # fmt: skip
HINTS = [
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (str, {"type": "string"}),
    ("int", {"type": "integer"}),
    ("list[Order]", {"type": "array", "items": {"type": "string", "enum": ["asc", "desc"]}}),
    (Any, {}),
    (Celsius, {"type": "number"}),
    (list, {"type": "array"}),
    (dict, {"type": "object"}),
    (list[int], {"type": "array", "items": {"type": "integer"}}),
    (Sequence[str], {"type": "array", "items": {"type": "string"}}),
    (list[list[Any]], {"type": "array", "items": {"type": "array"}}),
    (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
    (Mapping[str, Any], {"type": "object"}),
    (Optional[int], {"type": ["integer", "null"]}),  # noqa: UP045 - the old spelling must work too
    (int | None, {"type": ["integer", "null"]}),
    (int | list[int], {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Literal["a", 1, None], {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}),
    (Order, {"type": "string", "enum": ["asc", "desc"]}),
    (Level, {"type": "integer", "enum": [1, 2]}),
    (Order | None, {"anyOf": [{"type": "string", "enum": ["asc", "desc"]}, {"type": "null"}]}),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
    (Annotated[int, 5, "how many"], {"type": "integer", "description": "how many"}),
    (list[Annotated[str, "a word"]], {"type": "array", "items": {"type": "string", "description": "a word"}}),
    (Place, PLACE),
    (Box, BOX),
    (list[Box], {"type": "array", "items": BOX}),
]


def with_hint(hint, **default):
    def example(value):
        return value

    example.__annotations__ = {"value": hint}
    if default:
        example.__defaults__ = (default["default"],)
    return example


@pytest.mark.parametrize(("hint", "schema"), HINTS, ids=[str(hint) for hint, _ in HINTS])
def test_a_hint_becomes_a_schema(hint, schema):
    assert tool(with_hint(hint)).parameters == {
        "type": "object", "properties": {"value": schema}, "required": ["value"], "additionalProperties": False,
    }  # fmt: skip
    ToolRegistry([tool(with_hint(hint))])


DEFAULTS = [
    (int, 5, {"type": "integer", "default": 5}),
    (int, None, {"type": ["integer", "null"]}),
    (int | None, None, {"type": ["integer", "null"]}),
    (Order, Order.DOWN, {"type": "string", "enum": ["asc", "desc"], "default": "desc"}),
    (Annotated[Order, "which way"], None,
     {"anyOf": [{"type": "string", "enum": ["asc", "desc"]}, {"type": "null"}], "description": "which way"}),
    (list[int], (), {"type": "array", "items": {"type": "integer"}}),
    (float, float("inf"), {"type": "number"}),
    (bool, False, {"type": "boolean", "default": False}),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "default", "schema"), DEFAULTS)
def test_a_default_makes_a_parameter_optional(hint, default, schema):
    parameters = tool(with_hint(hint, default=default)).parameters
    assert (parameters["properties"]["value"], parameters["required"]) == (schema, [])


def run(made, **arguments):
    registry, gate = ToolRegistry([made]), Gate(lambda _: True)
    prepared = registry.prepare(ToolCall(made.name, arguments), gate)
    assert isinstance(prepared, Prepared), prepared
    return registry.execute(prepared)


ADAPTED = [
    (Order, "asc", Order.UP),
    (Level, 2, Level.HIGH),
    (list[Order], ["asc", "desc"], [Order.UP, Order.DOWN]),
    (dict[str, Order], {"a": "asc"}, {"a": Order.UP}),
    (Order | None, None, None),
    (Order | None, "desc", Order.DOWN),
    (Box, {"width": 1, "order": "desc"}, Box(1, Order.DOWN)),
    (list[Box], [{"width": 1}], [Box(1)]),
    (Box | int, 3, 3),
    (Place, {"name": "Oslo"}, {"name": "Oslo"}),
]


@pytest.mark.parametrize(("hint", "given", "got"), ADAPTED)
def test_the_function_gets_what_its_hints_promise(hint, given, got):
    seen = []

    def example(value):
        seen.append(value)

    example.__annotations__ = {"value": hint}
    assert run(tool(example), value=given).crash == ""
    assert seen == [got]
    assert type(seen[0]) is type(got)


def test_what_a_dataclass_says_of_its_values_goes_to_the_model():
    error = run(tool(with_hint(Box)), value={"width": -1}).error
    assert isinstance(error, ToolError)
    assert (error.type, error.message) == ("bad_arguments", "width must not be negative")


def star(*words: str): ...
def stars(**words: str): ...
def bare(word): ...
def positional(word: str, /): ...
def unsupported(word: set[str]): ...
def complex_number(word: complex): ...
def unresolved(word: "Nowhere"): ...  # noqa: F821 - on purpose
def keys(word: dict[int, str]): ...
def two_enums(word: Order | Level): ...
def circle(word: Loop): ...
def literal(word: Literal[b"x"]): ...
async def waits(word: str): ...
def yields(word: str):
    yield word


class Odd(enum.Enum):
    A = (1, 2)


def odd(word: Odd): ...


class Counter:
    def __init__(self):
        self.count = 0

    def add(self, amount: int) -> int:
        """Add to the counter."""
        self.count += amount
        return self.count


REFUSED = [
    (star, "star(), parameter 'words': *words cannot be described to a model"),
    (stars, "stars(), parameter 'words': **words cannot be described to a model"),
    (bare, "bare(), parameter 'word' has no type hint"),
    (positional, "positional(), parameter 'word' is positional-only"),
    (unsupported, "unsupported(), parameter 'word': the type set cannot be described to a model; use int, float"),
    (complex_number, "complex_number(), parameter 'word': the type complex cannot be described"),
    (unresolved, "unresolved(), parameter 'word': the hint 'Nowhere' cannot be resolved: name 'Nowhere' is not defined"),
    (keys, "keys(), parameter 'word': the keys of a dict must be str, as in JSON, not int"),
    (two_enums, "two_enums(), parameter 'word': a union may hold one Enum or dataclass at most"),
    (circle, "circle(), parameter 'word', field 'inner': Loop refers to itself"),
    (literal, "literal(), parameter 'word': a Literal may hold text, numbers, booleans and None only"),
    (odd, "odd(), parameter 'word': the values of Odd must be text or numbers"),
    (waits, "waits() is async; a tool is a plain function"),
    (yields, "yields() is a generator; a tool returns its whole result"),
    (Counter.add, "add(), parameter 'self' has no type hint; make a tool of a method from its instance"),
    (Counter, "Counter is not a function"),
    (tool(with_hint(int)), "example is a Tool already"),
    (7, "int is not a function"),
]


@pytest.mark.parametrize(("function", "message"), REFUSED, ids=[message[:30] for _, message in REFUSED])
def test_what_cannot_be_described_is_a_config_error_that_names_the_place(function, message):
    with pytest.raises(ConfigError) as caught:
        tool(function)
    assert str(caught.value).startswith(message)


GOOGLE = """Find words in a text,
in any case.

More that the model need not know.

Args:
    word (str): what to find,
        as written
    *rest: more
    limit: how many: at most

Returns:
    the places
"""
NUMPY = """Find words in a text,
in any case.

Parameters
----------
word : str
    what to find,
    as written
limit, most : int, optional
    how many: at most

Returns
-------
list
    the places
"""
SPHINX = """Find words in a text,
in any case.

:param str word: what to find,
    as written
:param limit: how many: at most
:type limit: int
:returns: the places
"""


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_the_docstring_describes_the_tool_and_its_parameters(docstring):
    def find(word: str, limit: int = 3): ...

    find.__doc__ = docstring
    made = tool(find)
    assert made.description == "Find words in a text, in any case."
    assert {name: part["description"] for name, part in made.parameters["properties"].items()} == {
        "word": "what to find, as written", "limit": "how many: at most",
    }  # fmt: skip


DESCRIPTIONS = [
    ("One line.", "One line."),
    ("", "find it"),
    ("Args:\n    word: what", "find it"),
    ("Finds.\nArgs:\n    word: what", "Finds."),
    ("Finds.\n:param word: what", "Finds."),
    ("Examples of what it finds: words.", "Examples of what it finds: words."),
    ("Returns the word.", "Returns the word."),
]


@pytest.mark.parametrize(("docstring", "description"), DESCRIPTIONS)
def test_the_description_is_the_first_paragraph(docstring, description):
    def find_it(word: str): ...

    find_it.__doc__ = docstring
    assert tool(find_it).description == description


def test_an_annotation_wins_over_the_docstring():
    def find(word: Annotated[str, "from the hint"]):
        """Find.

        Args:
            word: from the docstring
        """

    assert tool(find).parameters["properties"]["word"]["description"] == "from the hint"


def test_the_decorator_with_and_without_parentheses():
    @tool
    def plain(word: str) -> str:
        """Plain."""
        return word

    @tool(name="other", description="Otherwise.", read_only=True, untrusted_output=True, volatile=True, timeout_s=2, preview=str)
    def dressed(word: str) -> str:
        return word * 2

    assert isinstance(plain, Tool)
    assert (plain.name, plain.description, plain.read_only, plain.parameter_names) == ("plain", "Plain.", False, ("word",))
    assert (dressed.name, dressed.description, dressed.preview) == ("other", "Otherwise.", str)
    assert (dressed.read_only, dressed.untrusted_output, dressed.volatile, dressed.timeout_s) == (True, True, True, 2)
    assert (plain("a"), dressed(word="b"), tool(with_hint(int), name="x").name) == ("a", "bb", "x")


def test_a_bound_method_and_a_partial_are_functions_too():
    counter = Counter()
    method = tool(counter.add)
    assert (method.name, method.description, run(method, amount=2).value) == ("add", "Add to the counter.", 2)

    def send(word: str, key: object) -> str:
        """Send a word."""
        return f"{word} {key}"

    partial = tool(functools.partial(send, key="k"))
    assert (partial.name, partial.description, partial.parameter_names) == ("send", "Send a word.", ("word",))
    assert run(partial, word="hello").value == "hello k"


def test_an_explicit_schema_takes_the_place_of_the_hints_and_must_fit():
    schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}

    @tool(parameters=schema)
    def fits(word):
        return word

    assert fits.parameters is schema
    for function in (lambda: "", lambda text: "", lambda word, more: ""):
        with pytest.raises(ConfigError, match="does not fit its parameters="):
            tool(function, name="x", parameters=schema)
