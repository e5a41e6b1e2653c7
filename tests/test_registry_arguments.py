"""Arguments against a schema: what is coerced, what is refused with which sentence, and what cannot hang."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.errors import ConfigError, ToolError
from react_agent.registry_arguments import MAX_DEPTH, MAX_VALUES, ArgumentChecker
from react_agent.registry_keywords import Patience, unique
from react_agent.registry_vetting import is_plain


def checker(properties, required=(), **more):
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False, **more}
    return ArgumentChecker("t", schema)


INTEGER, NUMBER, BOOLEAN, STRING = ({"type": name} for name in ("integer", "number", "boolean", "string"))
MAYBE = {"type": ["integer", "null"]}
INTEGERS = {"type": "array", "items": INTEGER}
DEEP = "[" * 900 + "]" * 900  # too deep for the decoder of Python 3.11; 3.12 reads it, and it is too deep for the schema
POINT = {"type": "object", "properties": {"x": NUMBER, "on": BOOLEAN}}
COERCED = [
    # schema, as the model wrote it, as the function gets it, the note
    (INTEGER, "3", 3, "v: '3' -> 3"),
    (INTEGER, " -3 ", -3, "v: ' -3 ' -> -3"),
    (INTEGER, 3.0, 3, "v: 3.0 -> 3"),
    (INTEGER, "3.0", 3, "v: '3.0' -> 3"),
    (INTEGER, "9007199254740991.0", 9007199254740991, "v: '9007199254740991.0' -> 9007199254740991"),
    (INTEGER, "1e3", 1000, "v: '1e3' -> 1000"),
    (NUMBER, "3", 3, "v: '3' -> 3"),
    (NUMBER, "2.5", 2.5, "v: '2.5' -> 2.5"),
    (BOOLEAN, "true", True, "v: 'true' -> true"),
    (BOOLEAN, "False", False, "v: 'False' -> false"),
    (MAYBE, "3", 3, "v: '3' -> 3"),
    (MAYBE, "null", None, "v: 'null' -> null"),
    ({"anyOf": [INTEGER, {"type": "null"}]}, "3", 3, "v: '3' -> 3"),
    ({"oneOf": [INTEGER, BOOLEAN]}, "true", True, "v: 'true' -> true"),
    ({"allOf": [INTEGER], "minimum": 1}, "3", 3, "v: '3' -> 3"),
    ({"$ref": "#/$defs/n"}, "3", 3, "v: '3' -> 3"),
    ({"enum": [1, 2]}, "2", 2, "v: '2' -> 2"),
    ({"const": 1}, "1", 1, "v: '1' -> 1"),
    (INTEGERS, ["1", 2, 3.0], [1, 2, 3], "v[0]: '1' -> 1", "v[2]: 3.0 -> 3"),
    (INTEGERS, "[1, 2]", [1, 2], "v: '[1, 2]' -> [1, 2]"),
    (INTEGERS, '["1"]', [1], "v: '[\"1\"]' -> [\"1\"]", "v[0]: '1' -> 1"),
    (POINT, {"x": "1.5", "on": "true"}, {"x": 1.5, "on": True}, "v.x: '1.5' -> 1.5", "v.on: 'true' -> true"),
    (POINT, '{"x": 1}', {"x": 1}, "v: '{\"x\": 1}' -> {\"x\": 1}"),
    ({"type": "object", "additionalProperties": INTEGER}, {"a": "1"}, {"a": 1}, "v.a: '1' -> 1"),
    ({"type": "array", "prefixItems": [INTEGER, STRING]}, ["1", "1"], [1, "1"], "v[0]: '1' -> 1"),
    ({"anyOf": [INTEGERS, {"type": "null"}]}, ["1"], [1], "v[0]: '1' -> 1"),
]


@pytest.mark.parametrize(("schema", "written", "read", "notes"), [(a, b, c, tuple(d)) for a, b, c, *d in COERCED])
def test_one_reading_is_taken_and_recorded(schema, written, read, notes):
    got, told = checker({"v": schema}, **{"$defs": {"n": INTEGER}}).check({"v": written})
    assert (got, told) == ({"v": read}, notes)
    assert type(got["v"]) is type(read)


AS_IS = [
    (STRING, "3"), ({"type": ["integer", "string"]}, "3"), ({"anyOf": [INTEGER, STRING]}, "3"), ({}, "3"), ({}, 3.0),
    (NUMBER, 3.0), (NUMBER, 3), ({"enum": ["3", 3]}, "3"), (INTEGER, 3), (BOOLEAN, True), (MAYBE, None),
    (INTEGERS, []), (STRING, "true"), (STRING, ""),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "written"), AS_IS)
def test_what_fits_is_left_alone(schema, written):
    got, told = checker({"v": schema}).check({"v": written})
    assert (got, told) == ({"v": written}, ())
    assert type(got["v"]) is type(written)


@pytest.mark.parametrize(("schema", "written"), [
    (INTEGER, "3.5"), (INTEGER, 3.5), (INTEGER, "ten"), (INTEGER, "1,000"), (INTEGER, "+3"), (INTEGER, "03"), (INTEGER, ""),
    (INTEGER, True), (INTEGER, "true"), (INTEGER, 1e300), (INTEGER, "1e300"), (INTEGER, None),
    (INTEGER, [3]), (INTEGER, "[3]"), (INTEGER, "0x10"), (INTEGER, 2.0**53), (INTEGER, "9007199254740993.0"),
    (INTEGER, "3.0000000000000001"), (INTEGER, "1e-400"), (NUMBER, "1e-400"), (NUMBER, "-0.1e-999"),
    (NUMBER, "NaN"), (NUMBER, "1e999"), (NUMBER, "Infinity"), (NUMBER, "3 apples"), (NUMBER, True), (BOOLEAN, "yes"),
    (BOOLEAN, 1), (BOOLEAN, 0), (BOOLEAN, "1"), (STRING, 3), (STRING, True), (STRING, None), (INTEGERS, 1), (INTEGERS, "1"),
    (INTEGERS, "[1"), (POINT, '{"x": 1, "x": 2}'),
    ({"enum": ["a"]}, "A"), (INTEGER, "[" * 5000),
    (INTEGERS, DEEP), (INTEGERS, f"[{'1,' * 10_000}1]"),
])  # fmt: skip
def test_nothing_is_guessed(schema, written):
    with pytest.raises(ToolError) as caught:
        checker({"v": schema}).check({"v": written})
    assert caught.value.type == "bad_arguments"
    assert caught.value.message.startswith(("$.v", "$: the arguments are nested too deep") if written == DEEP else "$.v")


SEARCH = {
    "query": {"type": "string", "description": "what to find"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 200},
    "order": {"enum": ["asc", "desc"]},
    "tags": {"type": "array", "items": STRING, "maxItems": 2, "uniqueItems": True},
    "place": {"type": "object", "properties": {"city": STRING}, "required": ["city"], "additionalProperties": False},
    "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "object", "properties": {"day": INTEGER}, "required": ["day"]}]},
    "code": {"type": "string", "pattern": "^[A-Z]+$", "minLength": 2},
    "one": {"oneOf": [INTEGER, {"type": "integer", "minimum": 0}]},
    "share": {"type": "number", "multipleOf": 0.01},
    "expression": {"type": "string", "format": "regex"},
}
SIGNATURE = (
    'arguments: query (string, required), limit (integer), order ("asc" | "desc"), tags (array of string), place (object), '
    "when (string or object), code (string), one (integer or integer), share (number), expression (string)"
)
MISTAKES = [
    ({"query": "a", "limit": "ten"}, "$.limit: 'ten' is not of type 'integer'", "write a whole number"),
    ({"query": 5}, "$.query: 5 is not of type 'string'", "write text; query: what to find"),
    ({"query": None}, "$.query: null is not of type 'string'", "write text; query: what to find"),
    ({}, "$: 'query' is missing", SIGNATURE),
    ({"qery": "a"}, "$: 'query' is missing, 'qery' is not known", "did you mean 'query' instead of 'qery'? " + SIGNATURE),
    ({"query": "a", "Limit": 3}, "$: 'Limit' is not known", "did you mean 'limit' instead of 'Limit'? " + SIGNATURE),
    ({"query": "a", "zzz": 3}, "$: 'zzz' is not known", "leave it out; " + SIGNATURE),
    ({"query": "a", "zzz": 3, "yyy": 1}, "$: 'zzz', 'yyy' are not known", "leave them out; " + SIGNATURE),
    ({"limit": "ten"}, "$: 'query' is missing", SIGNATURE),
    ({"argument": "a"}, "$: 'query' is missing", 'write {"query": ...} in place of {"argument": ...}; ' + SIGNATURE),
    ({"argument": "a", "x": 1}, "$: 'query' is missing", SIGNATURE),
    ({"b" * 61: "a"}, "$: 'query' is missing", f'write {{"query": ...}} in place of {{"{"b" * 59}…": ...}}; ' + SIGNATURE),
    ({"query": "a", "order": "dsc"}, "$.order: 'dsc' is not one of 'asc', 'desc'", "did you mean 'desc'?"),
    ({"query": "a", "order": 7}, "$.order: 7 is not one of 'asc', 'desc'", "write one of them"),
    ({"query": "a", "limit": 0}, "$.limit: 0 is less than the minimum of 1", ""),
    ({"query": "a", "limit": "500"}, "$.limit: 500 is greater than the maximum of 200", ""),
    ({"query": "a", "tags": ["x", 2]}, "$.tags[1]: 2 is not of type 'string'", "write text"),
    ({"query": "a", "tags": ["x", "y", "z"]}, "$.tags: [\"x\", \"y\", \"z\"] has 3 items, at most 2 wanted", ""),
    ({"query": "a", "tags": ["x", "x"]}, "$.tags: [\"x\", \"x\"] has the same item twice", ""),
    ({"query": "a", "place": {"town": "Oslo"}}, "$.place: 'city' is missing",
     'write {"city": ...} in place of {"town": ...}; arguments: city (string, required)'),
    ({"query": "a", "place": {"cty": "Oslo"}}, "$.place: 'city' is missing, 'cty' is not known",
     "did you mean 'city' instead of 'cty'? arguments: city (string, required)"),
    ({"query": "a", "place": {"city": 1}}, "$.place.city: 1 is not of type 'string'", "write text"),
    ({"query": "a", "place": "Oslo"}, "$.place: 'Oslo' is not of type 'object'", "write an object"),
    ({"query": "a", "when": "soon"}, "$.when: 'soon' is not a 'date'", ""),
    ({"query": "a", "when": {"day": "x"}}, "$.when.day: 'x' is not of type 'integer'", "write a whole number"),
    ({"query": "a", "when": 7}, "$.when: 7 is not string or object", "write string or object"),
    ({"query": "a", "code": "a1"}, "$.code: 'a1' does not match '^[A-Z]+$'", ""),
    ({"query": "a", "code": "A"}, "$.code: 'A' has 1 characters, at least 2 wanted", ""),
    ({"query": "a", "one": 3}, "$.one: 3 is valid under each of {'type': 'integer', 'minimum': 0}, {'type': 'integer'}", ""),
    ([], "$: the arguments are not an object", 'write them as {"name": value}'),
    ({"query": float("nan")}, "$: NaN and infinity are not JSON numbers", "write a number, or leave the argument out"),
    ({"query": {1, 2}}, "$: a set is not a JSON value", "use text, numbers, booleans, null, lists and objects"),
    ({7: "a"}, "$: the name 7 is not text", "write names in double quotes"),
    ({"query": "a", "share": 10**400}, "$: the arguments cannot be checked: int too large to convert to float",
     "write a smaller or plainer value"),
    ({"query": "a", "expression": "a{99999999999999999999}"}, "$: the arguments cannot be checked: the repetition number is too large",
     "write a smaller or plainer value"),
    ({"limit": 10**5000}, "$: a number has more than 3,900 digits", "write a smaller number"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message", "hint"), MISTAKES, ids=[message for _, message, _ in MISTAKES])
def test_the_mistake_a_person_would_want_first(arguments, message, hint):
    with pytest.raises(ToolError) as caught:
        checker(SEARCH, ["query"]).check(arguments)
    assert (caught.value.type, caught.value.message, caught.value.hint) == ("bad_arguments", message, hint)


def test_a_tool_without_parameters_says_so():
    with pytest.raises(ToolError) as caught:
        checker({}).check({"a": 1})
    assert (caught.value.message, caught.value.hint) == ("$: 'a' is not known", "leave it out; it takes no arguments")


def nested(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value


REFERENCES = {"type": "object", "properties": {"v": {"$ref": "#/$defs/again"}}, "$defs": {"again": {"$ref": "#/$defs/again"}}}
TOO_MUCH = [
    ({"v": nested(MAX_DEPTH + 1)}, "nested deeper than"),
    ({"v": [0] * MAX_VALUES}, "values"),
    ({"v": "x" * 2_000_001}, "more than 2,000,000 characters"),
    ({"v" * 201: 1}, "has 201 characters"),
]


@pytest.mark.parametrize(("arguments", "message"), TOO_MUCH)
def test_too_much_is_refused(arguments, message):
    with pytest.raises(ToolError, match=message):
        checker({"v": {}}).check(arguments)


@pytest.mark.parametrize(("schema", "written", "message"), [
    ({"type": "object"}, '{"a":' * 60 + "1" + "}" * 60, "nested deeper than"),
    ({"type": "array"}, "[" * 400 + "]" * 400, "nested deeper than"),
    ({"type": "array"}, f"[{'1,' * MAX_VALUES}1]", "values"),
])  # fmt: skip
def test_nor_does_too_much_come_in_as_text(schema, written, message):
    with pytest.raises(ToolError, match=message):
        checker({"v": schema}).check({"v": written})


def test_a_megabyte_of_text_is_not_too_much():
    text = "x" * 1_000_000
    assert checker({"v": {"type": "string", "pattern": "^x"}}).check({"v": text}) == ({"v": text}, ())


def test_arguments_in_a_circle_and_a_schema_in_a_circle_end():
    circle = []
    circle.append(circle)
    with pytest.raises(ToolError, match="nested deeper"):
        checker({"v": {}}).check({"v": circle})
    with pytest.raises(ToolError, match="nested too deep for the tool's schema"):
        ArgumentChecker("t", REFERENCES).check({"v": 1})


def test_what_the_tool_does_to_its_arguments_does_not_reach_the_history():
    arguments = {"v": [{"a": 1}]}
    own, _ = checker({"v": {}}).check(arguments)
    own["v"][0]["a"] = 2
    assert arguments == {"v": [{"a": 1}]}


HARD = [
    (r"(a+)+$", "a" * 40 + "b", None),
    (r"^(a|a)*$", "a" * 40 + "b", None),
    (r"(.*)(.*)(.*)(.*)(.*)(.*)z", "a" * 2000, None),
    (r"^(\w+\.)*\w+$", "a.b.c.d.e.f.g.h", True),
    (r"^(\w+\.)*\w+$", "a.b.c.d.e.f.g.h!", False),
    (r"^[A-Z]{2}-\d+$", "AB-12", True),
    (r"^[A-Z]{2}-\d+$", "AB-x", False),
]


@pytest.mark.parametrize(("pattern", "text", "found"), HARD)
def test_a_pattern_cannot_hang(pattern, text, found):
    assert Patience(0.3 if found is None else 20).matches(pattern, text) is found


def test_what_cannot_be_checked_in_time_is_refused_however_often_it_comes():
    hard = {"type": "array", "items": {"type": "string", "pattern": "(a+)+$"}}
    with pytest.raises(ToolError, match="is too hard to check against") as caught:
        checker({"v": hard}).check({"v": ["a" * 4000 + f"b{number}" for number in range(100)]})
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(("items", "answer"), [
    ([1, 2], True), ([1, 1.0], False), ([1, True], True), ([0, False], True), ([[1], [1.0]], False),
    ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], False), (["1", 1], True), ([None, "null"], True), ([{"a": [n]} for n in range(5000)], True),
])  # fmt: skip
def test_unique_items(items, answer):
    assert unique(items) is answer


SCHEMAS = [
    ({"type": "objekt"}, "are not a JSON Schema: $.type: 'objekt' is not valid"),
    ({"type": "array"}, 'must be a schema of "type": "object", not \'array\''),
    ({"type": "object", "properties": {"v": {"$ref": "https://example.com/a.json"}}}, "refer to 'https://example.com/a.json', which is"),
    ({"type": "object", "properties": {"v": {"$ref": "#/$defs/no"}}}, "refer to '#/$defs/no', which is not in the schema"),
    ({"type": "object", "properties": {"default": {"$ref": "file:///etc/passwd"}}}, "refer to 'file:///etc/passwd'"),
    ({"type": "object", "properties": {"v": {"$dynamicRef": "other.json"}}}, "refer to 'other.json'"),
    ({"type": "object", "patternProperties": {"(a+)+$": {}}}, "have the patternProperties '(a+)+$'"),
    ({"type": "object", "properties": {"v": {"pattern": "("}}}, "are not a JSON Schema: $.properties.v.pattern: '(' is not a 'regex'"),
]


@pytest.mark.parametrize(("schema", "message"), SCHEMAS)
def test_a_schema_that_cannot_work_is_a_config_error(schema, message):
    with pytest.raises(ConfigError) as caught:
        ArgumentChecker("t", schema)
    assert str(caught.value).startswith(f"the parameters of tool 't' {message}")


PART = st.sampled_from([1, -1, 1.5, True, None, "string", "objekt", [], ["a"], ["a", "a"], ["string", "null"], [1], {}, {"type": "null"}])
KEYWORDS = ["type", "properties", "required", "additionalProperties", "items", "description", "title", "default", "enum", "minimum",
            "maximum", "minLength", "maxItems", "$ref", "pattern", "nonsense"]  # fmt: skip
ANY_SCHEMA = st.recursive(
    st.dictionaries(st.sampled_from(KEYWORDS), PART, max_size=4),
    lambda inner: st.dictionaries(st.sampled_from(KEYWORDS), PART | inner | st.dictionaries(st.sampled_from("ab"), inner), max_size=3),
    max_leaves=4,
)


@given(ANY_SCHEMA)
def test_what_is_known_by_sight_is_right(schema):
    """Against jsonschema itself."""
    if is_plain(schema):
        jsonschema.Draft202012Validator.check_schema(schema)


def test_a_parameter_may_have_the_name_of_a_keyword():
    names = {"pattern": STRING, "$ref": STRING, "patternProperties": STRING, "required": BOOLEAN, "type": STRING}
    arguments = {"pattern": "(", "$ref": "http://x", "patternProperties": "(a+)+", "required": True, "type": "x"}
    assert checker(names).check(arguments) == (arguments, ())


def test_the_draft_that_a_schema_names_is_followed():
    draft4 = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object",
              "properties": {"v": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}, "w": {"$ref": "#"}}}  # fmt: skip
    with pytest.raises(ToolError, match=r"\$\.v: 0 is less than or equal to the minimum of 0"):
        ArgumentChecker("t", draft4).check({"v": 0})
    assert ArgumentChecker("t", draft4).check({"w": {"v": "1"}}) == ({"w": {"v": 1}}, ("w.v: '1' -> 1",))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=8,
)  # fmt: skip
SCHEMA = st.recursive(
    st.sampled_from([INTEGER, NUMBER, BOOLEAN, STRING, MAYBE, {}, {"enum": [1, "a", None]}, {"type": ["number", "string"]}]),
    lambda inner: st.builds(lambda part: {"type": "array", "items": part}, inner)
    | st.builds(lambda a, b: {"type": "object", "properties": {"a": a, "b": b}, "required": ["a"]}, inner, inner)
    | st.builds(lambda a, b: {"anyOf": [a, b]}, inner, inner), max_leaves=5,
)  # fmt: skip


@given(SCHEMA, JSON | st.builds(json.dumps, JSON))
def test_what_comes_out_is_valid_and_unchanged_where_it_was_valid(schema, value):
    """Against jsonschema itself: what it accepts passes (a whole float may become an integer), the rest raises a ToolError only."""
    mine = checker({"v": schema})
    theirs = jsonschema.Draft202012Validator(schema)
    try:
        read, notes = mine.check({"v": value})
    except ToolError as error:
        assert error.type == "bad_arguments"
        assert not theirs.is_valid(value) or isinstance(value, (float, list, dict))
        return
    assert theirs.is_valid(read["v"])
    assert bool(notes) or json.dumps(read["v"]) == json.dumps(value)


@given(SCHEMA)
def test_everyday_schemas_are_known_by_sight(schema):
    assert is_plain({"type": "object", "properties": {"v": schema}}) is ("anyOf" not in json.dumps(schema))
