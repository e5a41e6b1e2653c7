from dataclasses import replace

import pytest

from react_agent.agent_guards import ADMISSION, CallMemory, Grounding, call_key
from react_agent.agent_guards_texts import amounts, numbers
from react_agent.registry import Tool
from react_agent.types import Observation, ToolCall

READ = Tool(name="read", description="", parameters={"type": "object", "properties": {}}, function=lambda: "", read_only=True)
WRITE = Tool(name="write", description="", parameters={"type": "object", "properties": {}}, function=lambda: "")
FINE = Observation('{"ok": true, "result": 1}')


def failed(slug):
    return Observation("{}", slug)


def test_the_key_of_a_call_does_not_hang_on_the_order_of_its_arguments():
    assert call_key(ToolCall("a", {"x": 1, "y": [2]})) == call_key(ToolCall("a", {"y": [2], "x": 1}))
    assert call_key(ToolCall("a", {"x": 1})) != call_key(ToolCall("a", {"x": "1"}))
    assert call_key(ToolCall("a", {"x": [{"y": 3.0}]})) == call_key(ToolCall("a", {"x": [{"y": 3}]})) != call_key(ToolCall("a", {"x": [{"y": 3.5}]}))


def test_a_write_that_is_volatile_clears_the_memory_too():
    memory, write = CallMemory(), replace(WRITE, volatile=True)
    memory.ran("read", READ, FINE)
    memory.ran("write", write, FINE)
    assert memory.earlier("read") is None and memory.earlier("write") is None


def test_a_failure_that_may_pass_is_not_answered_from_memory():
    for slug, remembered in [("not_found", True), ("bad_arguments", True), ("timeout", False), ("busy", False), ("tool_crash", False)]:
        memory, call = CallMemory(), "read"
        memory.ran(call, READ, failed(slug))
        assert (memory.earlier(call) is not None) == remembered, slug


def test_a_write_is_never_answered_from_memory_and_clears_it():
    memory = CallMemory()
    memory.ran("read", READ, FINE)
    memory.ran("write", WRITE, FINE)
    assert memory.earlier("read") is None
    assert memory.earlier("write") is None


@pytest.mark.parametrize(
    ("before", "stuck"),
    [("", False), ("a", False), ("aa", True), ("ba", False), ("aba", False), ("ababb", False), ("babab", True), ("bbabab", True), ("caa", True),
     ("bcabcabc", True), ("xbcabcabc", True), ("cabcab", False), ("bcabcxbc", False), ("bcdabcdabcd", False)],
)
def test_a_call_is_stuck_the_third_time_in_a_row_or_the_third_time_in_turn(before, stuck):
    memory = CallMemory()
    for name in before:
        memory.ran(name, READ, FINE)
    assert memory.stuck("a") is stuck


OWNS_UP = ["I cannot confirm it.", "The price is unknown.", "There is no data for that.", "No such symbol was not found: it does not exist",
           "The service timed out.", "无法确认该价格。", "没有找到这个产品。", "I don’t know.", "I do not know.", "I am not sure.",
           "There is no such product.", "It couldn’t be read.", "我不知道。", "查不到该价格。", "没能找到。", "无此商品。", "该服务不可用。",
           "请求超时。", "这一点不清楚。", "暂无数据。", "系统出错了。", "無法確認。", "查無此商品。"]  # fmt: skip
CLAIMS = ["I know that it is 12.", "库存共12件。", "The price is 41.37 USD.", "There are 12 units.", "价格是 12 元。", "It costs nothing."]


@pytest.mark.parametrize("answer", OWNS_UP)
def test_an_answer_that_owns_up_is_known(answer):
    assert ADMISSION.search(answer)


@pytest.mark.parametrize("answer", CLAIMS)
def test_a_claim_does_not_own_up(answer):
    assert not ADMISSION.search(answer)


STRAY = [
    ("How many?", ["12 rows"], "There are 12.", ""),
    ("How many?", ["12 rows"], "There are 13.", "13"),
    ("What is 15% of 1,234?", ["185.1"], "15% of 1234 is 185.10.", ""),
    ("?", ["509.796"], "It costs 509.80.", ""),
    ("?", ["509.796"], "It costs about 510.", ""),
    ("?", ["509.796"], "It costs 512.", "512"),
    ("?", ["3"], "It is 4.", "4"),
    ("?", ["-414.73"], "The difference is -414.73.", ""),
    ("?", ["version v2.5 of x"], "nothing numeric", ""),
    ("?", ['{"rows": [[1e6]]}'], "It is 1,000,000.", ""),
    ("有几个？", ["库存12件"], "共有12个。", ""),
    ("有几个？", ["库存12件"], "共有13个。", "13"),
    ("第7批有几个？", ["库存12件，单价3.50元"], "第7批有12个，单价3.5元。", ""),
    ("몇 개?", ["재고12개"], "재고는13개.", "13"),
    ("?", ["-414.73"], "It is 414.73 less.", ""),
    ("?", ["0.153"], "It is 15.3 %, about 15 percent.", ""),
    ("?", ["0.153"], "It is 16 %.", "16"),
    ("?", ["1203450"], "There are about 1.2 million.", ""),
    ("?", ["1203450"], "There are 1 million.", "1"),
    ("?", ["1203450"], "约120万", ""),
    ("?", ["12,034,500,000"], "It is 12 billion.", ""),
    ("?", ["a, b and c"], "They are:\n1. a\n2. b\n 3) c, for 5", "5"),
    ("?", ["a"], "5. That is all.", "5"),
    ("?", ["2031-05-17T14:30:00Z, v1.2, A7"], "On May 17, 2031 at 14:30, as 1.2, in A-7.", ""),
    ("?", ["1e999 " + "9" * 400], "It is " + "9" * 400 + ".", ""),
]


@pytest.mark.parametrize(("question", "seen", "answer", "stray"), STRAY)
def test_a_number_comes_from_somewhere_or_is_named(question, seen, answer, stray):
    grounding = Grounding(check_numbers=True)
    grounding.asked(question)
    for content in seen:
        grounding.observed(Observation(content))
    assert grounding.stray_number(answer) == stray


def test_an_answer_of_nothing_but_numbers_is_checked_in_no_time():
    """One by one, these would be ten billion comparisons."""
    grounding = Grounding(check_numbers=True)
    for start in range(0, 200_000, 1000):
        grounding.observed(Observation(" ".join(map(str, range(start, start + 1000)))))
    assert grounding.stray_number("199999 " * 50_000) == ""
    assert grounding.stray_number("199999 " * 50_000 + "200001") == "200001"


CALCULATED = [
    ("46 * 3.85", None), ("2*60 + 24", None), ("3.850 * 046", None), ("46 * 0.85", None), ("46 * (1 - 0.15)", None), ("46 * 1.15", None), ("-46", None),
    ("1,000 / 46", None), ("46 * 17", "17"), ("46 * 3.86", "3.86"), ("0.84", "0.84"), ("sqrt(5)", "5"), ("", None),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "stray"), CALCULATED)
def test_a_calculation_has_its_numbers_from_somewhere(expression, stray):
    grounding = Grounding(check_numbers=True)
    grounding.asked("What do 46 saws weigh, 15 percent less?")
    grounding.observed(Observation("saws.md: 3.85 kilograms"))
    call = ToolCall("calculator", {"expression": expression})
    objection = grounding.objection_to(call)
    assert (objection.what if objection else None) == stray
    assert grounding.objection_to(call) is None  # said once
    assert Grounding().objection_to(call) is None


def test_a_long_calculation_over_many_numbers_is_checked_in_no_time():
    """One by one, these would be ten billion comparisons."""
    grounding = Grounding(check_numbers=True)
    grounding.observed(Observation(" ".join(map(str, range(200_000)))))
    assert grounding.objection_to(ToolCall("calculator", {"expression": "199999 + " * 50_000 + "0.123456"})).what == "0.123456"


AMOUNTS = [
    ("How many kilobytes are 258 wheels?", ["258"]),
    ("What do 17 pieces cost, with a discount of 15 percent?", ["17", "15"]),
    ("I own 1,250 shares of ABC. How much are they worth?", ["1,250"]),
    ("Is the price above 50 right now? Give it.", []),
    ("Is it worth more than 20.5 dollars, and at least 18?", []),
    ("单价超过 50 吗？", []),
    ("买258个要多少钱？", ["258"]),
    ("What was released in 1998?", []),
    ("Which flag does version 3.11.5 of 'Tool 500' have, in HTTP/11 or on 2031-05-17?", []),
    ("What is 'Set 15' of \"Box 16\" and `x 18`?", []),
    ("How long are 3 weeks of 24 hours, twice?", []),
    # dates and times
    ("Which trains leave between 14:30 and 18:45, or at 9 am, 17 p.m. or 11 o'clock?", []),
    ("What was said on 17 May 2031, on May 18, on the 19th of June and on 05/17?", []),
    ("3月15日14点的销售额是多少？", []), ("5월 17일 14시 매출은?", []), ("买17个要500日元吗？", ["17", "500"]),
    # names, numbers of things, what counts off
    ("What is new in Python 3.11 and on page 17 of section 12?", []),
    ("What does error 404 or E-404 mean for A-17 on port 8080?", []),
    ("Who has the number +49 170 1234567, or 555-1234, or 0800?", []),
    ("Who has ticket #1042? Name the top 5, the first 15 and the last 20.", []),
    ("第17批的前5名是谁？", []),
    # bounds
    ("Which have 50 or more, or 10-20?", []), ("价格50以上的有哪些？", []), ("50 이상인 것은?", []),
    # amounts all the same
    ("Does it cost 17 pieces? Do 18, or 2e5, or -25 degrees, or 15%? And USD 250, or 2.5 million?", ["17", "18", "2e5", "-25", "15", "250", "2.5"]),
    ("买２５８个要多少钱？", ["２５８"]), ("사과 258개는 얼마?", ["258"]), ("What are 258GB in bytes, times 17.5?", ["258", "17.5"]),
    ("1,2345 and 1,234,567", ["2345", "1,234,567"]),
    ("9" * 400, ["9" * 400]), ("1e999", ["1e999"]),
]


@pytest.mark.parametrize(("question", "expected"), AMOUNTS)
def test_what_an_answer_must_have_been_calculated_with(question, expected):
    assert [written for written, _ in amounts(question)] == expected


USED = [
    ("sql_query", {"query": "SELECT price * 17 * 0.85 FROM t"}, False, None),
    ("sql_query", {"query": "SELECT price * (1 - 0.15) FROM t"}, False, "17"),
    ("sql_query", {"query": "SELECT price FROM t"}, False, "17"),
    ("calculator", {"expression": "2 * 3"}, True, None),
]


@pytest.mark.parametrize(("name", "given", "calculates", "unused"), USED)
def test_a_number_of_the_question_that_no_call_had_is_asked_for(name, given, calculates, unused):
    grounding = Grounding(check_numbers=True, can_calculate=True)
    grounding.asked("What do 17 pieces cost, 15 percent less?")
    grounding.observed(Observation("{}"))
    grounding.succeeded_with(ToolCall(name, given), calculates=calculates)
    objection = grounding.objection("17 pieces cost 15.")
    assert (objection.what if objection else None) == unused
    assert grounding.objection("17 pieces cost 15.") is None  # said once


NAMES = [
    ("The variable is `QUILL_TOKEN`.", "QUILL_TOKEN"),
    ("The variable is QUILL_TOKEN_FILE.", ""),
    ("It is quill_token_file, in other letters.", ""),
    ("Use `--sent`, or --headers.", "--sent"),
    ("Use `quill --headers` on well-known hosts.", ""),
    ("The class is ConnectionPool.", "ConnectionPool"),
    ("The class is HostPool(limit=None).", ""),
    ("Call `HostPool(limit)` in `C:\\Docs`.", ""),
    ("Plain words such as Paris, e-mail and Anna's.", ""),
    ("I cannot confirm that there is a `QUILL_TOKEN`.", ""),
]


@pytest.mark.parametrize(("answer", "stray"), NAMES)
def test_a_name_that_is_no_word_comes_from_somewhere_or_is_asked_for(answer, stray):
    grounding = Grounding(check_numbers=True)
    grounding.asked("Which variable does quill read?")
    grounding.observed(Observation('{"ok": true, "result": "QUILL_TOKEN_FILE --headers HostPool C:\\\\Docs"}'))
    objection = grounding.objection(answer)
    assert (objection.what if objection else "") == stray
    assert objection is None or objection.slug == "not_looked_up"
    assert grounding.objection(answer) is None  # said once
    assert Grounding().objection(answer) is None


LONG = ["a" * 100_000, "1" * 100_000, "x." + "1" * 100_000, "1e" * 50_000, "“" * 100_000, "‘「" * 50_000, "17 " * 30_000, "字1" * 50_000, "a-1." * 30_000,
        "least " * 20_000 + "17", "over" + " " * 100_000 + "17", "1," * 50_000, "1,111" * 20_000, "+1 " * 30_000, "(1) " * 30_000]  # fmt: skip


@pytest.mark.parametrize("question", LONG, ids=lambda question: question[:6])
def test_a_long_question_is_read_in_no_time(question):
    """Looked at from every place to its end, these would be five billion characters."""
    assert len(list(amounts(question))) <= len(question)


LEARNT = [
    ('{"ok": true, "result": "a\\n12 rows\\t13\\nQUILL_TOKEN"}', "There are 12 or 13 in QUILL_TOKEN."),
    ("id,units\n17,120,450", "Of 17 there are 120, and 450."),
    ("变量QUILL_TOKEN用于12个", "It is QUILL_TOKEN的值, for 12."),
    ("1,2345", "It is 2345."),
]


@pytest.mark.parametrize(("seen", "answer"), LEARNT)
def test_what_was_read_is_known_however_it_was_written(seen, answer):
    grounding = Grounding(check_numbers=True)
    grounding.asked("How many?")
    grounding.observed(Observation(seen))
    assert grounding.objection(answer) is None


def test_numbers_of_several_arguments_are_known_one_by_one():
    grounding = Grounding(check_numbers=True)
    grounding.asked("Which is more, 120 or 450?")
    assert grounding.objection_to(ToolCall("calculator", {"expression": "max(120,450)"})) is None
    assert grounding.objection_to(ToolCall("calculator", {"expression": "max(120,451)"})).what == "120,451"


def test_a_name_without_end_is_not_looked_for():
    grounding = Grounding(check_numbers=True)
    grounding.observed(FINE)
    assert grounding.stray_name("A" + "b_" * 500_000) == ""


def test_numbers_are_read_as_people_write_them():
    assert [(w, v) for w, v in numbers("1,234.5 of x2 and -3 or 1e3, v1.2, 50%")] == [("1,234.5", 1234.5), ("-3", -3.0), ("1e3", 1000.0), ("50", 50.0)]
