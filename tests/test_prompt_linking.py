import json

import pytest
from task_set import ALL, FOLDER, shop

from react_agent.cli.loading import load_tools
from react_agent.prompt_linking import likely_tool, stem, words_of
from react_agent.registry import Tool
from react_agent.tools.calculator import calculator_tools
from react_agent.tools.documents import document_tools
from react_agent.tools.sqlite import sqlite_tools

FIRST = {"sql": "sql_query", "docs": "grep_docs", "stock": "lookup_stock"}


def named(name, description, **parameters):
    schema = {"type": "object", "properties": {key: {"type": "string", "description": about} for key, about in parameters.items()}}
    return Tool(name, description, schema, lambda **_: "", read_only=True)


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    db = shop().build(tmp_path_factory.mktemp("shop") / "shop.db")
    return [*calculator_tools(), *sqlite_tools(db), *document_tools(FOLDER / "docs"), *load_tools(str(FOLDER / "stock_tool.py"))]


def test_the_tasks_speak_of_their_tool_and_of_no_other(tools):
    """Of what is calculated from the question alone, no tool speaks."""
    english = [task for task in ALL if not task["id"].startswith("zh-")]
    suggested = {task["id"]: likely_tool(task["question"], tools) for task in english}
    wrong = {
        task["id"]: suggested[task["id"]] for task in english
        if task["kind"] in FIRST and suggested[task["id"]] not in (None, FIRST[task["kind"]])
    }  # fmt: skip
    assert wrong == {} and {suggested[task["id"]] for task in english if task["kind"] == "arith"} <= {None, "calculator"}
    assert sum(suggested[task["id"]] == FIRST[task["kind"]] for task in english if task["kind"] in FIRST) >= 45


CASES = [
    ("Which birds are on the list?", None),  # both of them
    ("What is the weight of a heron?", "bird"),
    ("HERONS?", "bird"),
    ("How many fishes are there?", "fish"),
    ("What is the name of the first one?", None),  # words of any question
    ("今天天气怎么样？", "weather"),
    ("", None),
]


@pytest.mark.parametrize(("question", "name"), CASES)
def test_the_one_with_words_of_its_own(question, name):
    tools = [named("bird", "A list of birds.", of="a heron, for example"), named("fish", "A list of the fish that birds eat."), named("weather", "查询天气")]
    assert likely_tool(question, tools) == name


def test_with_one_tool_there_is_no_choice():
    assert likely_tool("What does a heron eat?", [named("bird", "What a heron eats.")]) is None
    assert likely_tool("What does a heron eat?", []) is None


@pytest.mark.parametrize("words", ["retry retries retrying", "stream streams streamed streaming", "cache caches caching cached", "share shares"])
def test_forms_of_a_word_are_one_word(words):
    assert len({stem(word) for word in words.split()}) == 1


def test_short_and_common_words_tell_nothing():
    assert words_of("How many of the 12 rows have a_b, it or ok?") == set()
    assert words_of("grep_docs Straße") == {"grep", "doc", "strass"}
    assert json.dumps(sorted(words_of("股价是多少")), ensure_ascii=False) == '["价是", "多少", "是多", "股价"]'
