"""What the judge says of made-up answers. verdicts.jsonl holds those of an independent judge on the same rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from task_set import TASKS, lines

from react_agent.errors import ConfigError
from react_agent.evaluate_checks import ContainsAll, Custom, Exact, Matches, NotFound, Number, check_from, numbers

RAW = {task["id"]: task for task in TASKS["tasks.jsonl"]}
VERDICTS = lines("verdicts.jsonl")


@pytest.mark.parametrize("case", VERDICTS, ids=[f"{case['task']} {case['answer'][:30]}" for case in VERDICTS])
def test_the_verdict_is_that_of_the_independent_judge(case):
    task = RAW[case["task"]]
    answer = case["answer"]
    fault = check_from(task["check"], {}, "here").fault(task["question"], answer) if answer.strip() else "there is no answer"
    assert (not fault) == case["right"], fault


PRICE = "XQZV 的最新股价是多少？我有 60 股。"
CHINESE = [
    (Number(18, 0), "有多少位顾客住在 Lisbon？", "有18位顾客住在里斯本。", True),
    (Number(18, 0), "有多少位顾客住在 Lisbon？", "有１８位顾客。", True),
    (Number(18, 0), "有多少位顾客住在 Lisbon？", "有19位顾客。", False),
    (Number(80000, 0), "一共多少？", "一共8万元。", True),
    (Number(80000, 0), "一共多少？", "一共 8 万元。", True),
    (Number(12000, 0), "一共多少？", "一共1.2万元", True),
    (Number(3.5e8, 0), "一共多少？", "一共3.5亿元", True),
    (Number(8, 0), "一共多少？", "一共8万元。", False),
    (Number(-414.73, 0.006), "差多少？", "差价是−414.73。", True),
    (Number(-414.73, 0.006), "差多少？", "差价是－414.73。", True),
    (NotFound(), PRICE, "我无法确认 XQZV 的最新股价。", True),
    (NotFound(), PRICE, "没有找到该股票代码的价格。", True),
    (NotFound(), PRICE, "无法确认这 60 股值多少钱。", True),
    (NotFound(), PRICE, "查询失败：服务超时，价格未知。", True),
    (NotFound(), PRICE, "该股票代码不存在，无法估值。", True),
    (NotFound(), PRICE, "无法确认", False),
    (NotFound(), PRICE, "最新股价是5元。", False),
    (NotFound(), PRICE, "无法确认，大约是5元。", False),
    (NotFound(), PRICE, "无法确认，大约是 ５ 美元左右。", False),
    (NotFound(), PRICE, "无法确认，昨天的价格是35。", False),
    (NotFound(), PRICE, "无法确认，昨天的价格是3.5。", False),
    (NotFound(), PRICE, "这个价格由市场决定，请稍后再看。", False),
    (NotFound(), "What is it?", "I can’t confirm what it is.", True),
    (ContainsAll((".qcache",)), "什么后缀？", "后缀是.QCACHE。", True),
]


@pytest.mark.parametrize(("check", "question", "answer", "right"), CHINESE, ids=[case[2] for case in CHINESE])
def test_answers_that_are_not_in_ascii(check, question, answer, right):
    assert (not check.fault(question, answer)) == right


SAID = [
    (Number(7, 0), "There is none.", "it has no number that is not in the question"),
    (Number(7, 0), "1, 2, 3 and 7", "it has 4 numbers that are not in the question; at most 3 may be there"),
    (Number(7.25, 0.006), "It is 8 or 1,000.5.", "it says 8, 1000.5 in place of 7.25 ± 0.006"),
    (ContainsAll(("a", "B", "c")), "only b", "it does not contain a, c"),
    (Exact("Yes"), " Yes\n", ""),
    (Exact("Yes"), "yes", "it is not exactly the expected text"),
    (NotFound(), "It is 4.5 or $3 or 99.", "it makes up 4.5, $3, 99"),
    (NotFound(), "I like it very much.", "it does not say that this is not known"),
    (NotFound(), "not found", "it is no whole sentence"),
    (Matches(r"\bv?4\.3\.1\b"), "It is V4.3.1.", ""),
    (Matches("released on 2024"), "It was released\n  on 2024-03-02.", ""),
    (Matches("^yes"), "No, yes", "it does not match the pattern"),
    (Matches("\ud800"), "no", "it does not match the pattern"),
    (Matches("x"), "a lone \ud800 surrogate and an x", ""),
]


@pytest.mark.parametrize(("check", "answer", "fault"), SAID, ids=range(len(SAID)))
def test_the_fault_says_what_is_wrong(check, answer, fault):
    assert check.fault("What is it?", answer) == fault


def test_a_pattern_that_explodes_is_ended(monkeypatch):
    monkeypatch.setattr("react_agent.evaluate_checks.REGEX_SECONDS", 0.3)
    assert Matches(r"(a+)+$").fault("q", "a" * 40 + "b") == "the pattern took longer than 0.3 seconds"


def test_a_function_of_the_author_judges_and_its_exception_is_told():
    functions = {"even": lambda question, answer: int(answer) % 2 == 0, "why": lambda question, answer: f"not {answer}"}
    even, why = (check_from({"type": "python", "function": name}, functions, "here") for name in functions)
    assert isinstance(even, Custom) and even.expected == "what even() accepts"
    assert [even.fault("q", answer) for answer in ("4", "3")] == ["", "even() says no"]
    assert even.fault("q", "x") == "even() failed: ValueError: invalid literal for int() with base 10: 'x'"
    assert why.fault("q", "x") == "not x"
    with pytest.raises(ConfigError, match=r"tasks\.jsonl, line 4: .* there is no function 'odd'; there are: even, why"):
        check_from({"type": "python", "function": "odd"}, functions, "tasks.jsonl, line 4")


EXPECTED = [
    (Number(28413, 0), "28413"), (Number(7.25, 0.006), "7.25 ± 0.006"), (ContainsAll(("a", "b")), "a, b"), (Exact("Yes"), "Yes"),
    (Matches("y+"), "a match of y+"), (NotFound(), "that it cannot be confirmed"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "expected"), EXPECTED, ids=[expected for _, expected in EXPECTED])
def test_what_is_expected_is_told(check, expected):
    assert check.expected == expected


NUMBERS = [
    ("1,234.5 and -7, then 3.", [1234.5, -7, 3]), ("2e3 or 1.5E-2", [2000, 0.015]), ("8万 2.5亿 1万亿", [8e4, 2.5e8, 1e12]),
    ("１２３．５", [123.5]), ("none", []), ("9" * 400, [float("inf")]), ("1.1万", [11000]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "found"), NUMBERS, ids=[text[:12] for text, _ in NUMBERS])
def test_numbers_of_a_text(text, found):
    assert numbers(text) == found


@given(st.text(), st.text())
def test_no_answer_makes_a_check_raise(question, answer):
    for check in (Number(7, 0.5), ContainsAll(("a",)), Exact("a"), NotFound()):
        assert isinstance(check.fault(question, answer), str)


@given(st.floats(-1e12, 1e12).map(lambda value: round(value, 4)))
def test_the_right_number_is_right_however_it_is_written(value):
    for written in (f"It is {value}.", f"It is {value:,}.", f"**{value:f}**"):
        assert Number(value, 1e-4 + abs(value) * 1e-12).fault("What is it?", written) == "", written
