"""The task set of tests/data/tasks, how its answers are known, and models that know them or do not."""

import importlib.util
import json
import math
import re
import sqlite3
from contextlib import closing
from pathlib import Path

from react_agent.cli.loading import load_tools
from react_agent.registry import ToolRegistry
from react_agent.tools.calculator import calculator_tools
from react_agent.tools.documents import document_tools
from react_agent.tools.sqlite import sqlite_tools

FOLDER = Path(__file__).parent / "data" / "tasks"
ENGLISH = ("tasks.jsonl", "tasks_more.jsonl")
CHINESE = ("tasks_zh.jsonl",)
NAMES = "abcdefgh"  # what a proof's formula calls its facts
FUNCTIONS = {"floor": math.floor, "sqrt": math.sqrt}


def lines(name):
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


TASKS = {name: lines(name) for name in (*ENGLISH, *CHINESE)}
ALL = [task for tasks in TASKS.values() for task in tasks]
PROOFS = {proof["id"]: proof for proof in lines("proofs.jsonl")}


def shop():
    """The module that builds the shop."""
    spec = importlib.util.spec_from_file_location("task_set_shop", FOLDER / "shop.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tools(db) -> ToolRegistry:
    """The tools that the tasks name."""
    stock = load_tools(str(FOLDER / "stock_tool.py"))
    return ToolRegistry([*calculator_tools(), *sqlite_tools(db), *document_tools(FOLDER / "docs"), *stock])


def prices():
    """What the stock tool knows, read from its source."""
    source = (FOLDER / "stock_tool.py").read_text("utf-8")
    return dict(re.findall(r'"(\w+)": \("([\d.]+)"', source))


def look_up(fact, db):
    """A fact as its source has it: the first cell of a query, what a pattern finds in a document, a share price; None where there is none."""
    if "sql" in fact:
        with closing(sqlite3.connect(db)) as connection:
            row = connection.execute(fact["sql"]).fetchone()
        return None if row is None else row[0]
    if "doc" in fact:
        found = re.findall(fact["pattern"], (FOLDER / "docs" / fact["doc"]).read_text("utf-8"))
        assert len(found) < 2, f"{fact} is found more than once"
        return plain(found[0]) if found else None
    return plain(prices().get(fact["price"]))


def plain(text):
    """A number where a text is one."""
    return float(text) if text and re.fullmatch(r"\d+(\.\d+)?", text) else text


def formula(proof, values):
    """The formula with the facts put in."""
    return re.sub(r"\b[a-h]\b", lambda name: str(values[NAMES.index(name.group())]), proof["python"])


def proved(proof, db):
    """The answer that the sources give: a value, a list of texts, or None for what does not exist."""
    values = [look_up(fact, db) for fact in proof.get("facts", ())]
    if proof.get("missing"):
        assert values == [None]
        return None
    if "python" in proof:
        return eval(formula(proof, values), {"__builtins__": {}}, FUNCTIONS)  # our own data
    return values[0] if len(values) == 1 else values


def knowing(db):
    """A model that uses the right tools and answers from what it knows: a function of the messages (role, content)."""
    scripts = {task["question"]: script(task, db) for task in ALL}

    def reply(messages):
        asked = [content.split("\n")[0] for _, content in messages]  # a question may have a note under it
        at = max(number for number, (role, _) in enumerate(messages) if role == "user" and asked[number] in scripts)
        return scripts[asked[at]][(len(messages) - at) // 2]

    return reply


def script(task, db):
    """The replies of the model that knows: a call for each fact, one for the formula, the answer."""
    proof = PROOFS[task["id"]]
    facts = proof.get("facts", [])
    calls = [call for number, fact in enumerate(facts) if (call := call_for(fact)) not in map(call_for, facts[:number])]
    if "python" in proof:
        calls.append(("calculator", {"expression": formula(proof, [look_up(fact, db) for fact in facts])}))
    return [*(decision(*call) for call in calls), decision("none", {}, sentence(task))]


def call_for(fact):
    if "sql" in fact:
        return "sql_query", {"query": fact["sql"]}
    if "doc" in fact:
        return "read_doc", {"name": fact["doc"]}
    return "lookup_stock", {"symbol": fact["price"]}


def decision(action, arguments, answer=None):
    return json.dumps({"thought": "t", "action": action, "action_input": arguments, "final_answer": answer}, ensure_ascii=False)


def sentence(task):
    chinese = task["id"].startswith("zh-")
    if task["check"]["type"] == "not_found":
        return "我无法确认：没有这样的数据。" if chinese else "I cannot confirm that, because there is no such thing in the data."
    value = " / ".join(task["check"].get("values", [str(task["answer"])]))
    return f"答案是 {value}。" if chinese else f"The answer is {value}."


def guessing(messages):
    """A model that never looks anything up."""
    return decision("none", {}, "The answer is 123456.")
