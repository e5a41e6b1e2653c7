import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.tokens import MESSAGE_OVERHEAD, TokenMeter, estimate_prompt, estimate_tokens
from react_agent.transcript import Transcript
from react_agent.types import Message


def note(tool, content):
    return f"({tool} left out)"


def made(exchanges=0):
    transcript = Transcript([Message("system", "rules")], note)
    transcript.ask("the question")
    for number in range(exchanges):
        transcript.good(f"decision {number}", f"observation {number} " + "word " * 50, "page")
    return transcript


def contents(transcript):
    return [message.content.split(" word")[0].strip() for message in transcript.messages]


def test_a_good_reply_removes_the_failed_exchange_before_it():
    transcript = made()
    transcript.sent()
    transcript.failed("bad", "again")
    assert contents(transcript) == ["rules", "the question", "bad", "again"]
    assert transcript.sent() == 2
    transcript.good("decision", "observation", "page")
    assert contents(transcript) == ["rules", "the question", "decision", "observation"]
    assert transcript.sent() == 2  # the two failed messages were sent before and are gone


def test_an_objection_stands_under_the_last_message():
    transcript = made(1)
    transcript.sent()
    transcript.failed("bad", "again")
    transcript.sent_back("no")
    assert [message.role for message in transcript.messages] == ["system", "user", "assistant", "user"]
    assert transcript.messages[-1].content.endswith("\n\nno") and transcript.sent() == 3
    assert transcript.tokens == estimate_prompt(transcript.messages)


def test_of_what_was_sent_back_the_last_lines_stay_where_room_is_needed():
    transcript = made()
    for number in range(4):
        transcript.sent_back(f"no {number} " + "why " * 50)
    transcript.good("decision", "observation", "page")
    for number in (4, 5):
        transcript.sent_back(f"no {number}")
    transcript.sent()
    assert transcript.compact(transcript.tokens - 60) == 2
    assert "the question\n\nno 2 why" in transcript.messages[1].content and transcript.shows("no 4") and not transcript.shows("no 1")
    assert transcript.compact(0) == 2
    assert contents(transcript) == ["rules", "the question", "decision", "observation\n\nno 4\n\nno 5"]
    assert transcript.sent() == 1 and transcript.tokens == estimate_prompt(transcript.messages)
    assert transcript.compact(0) == 0


def test_roles_alternate_and_an_empty_reply_is_not_an_empty_message():
    transcript = made(2)
    transcript.failed(" \n", "again")
    assert [m.role for m in transcript.messages] == ["system", "user"] + ["assistant", "user"] * 3
    assert transcript.messages[-2].content == "(nothing)"


def test_compaction_takes_the_oldest_observations_and_keeps_the_question_and_the_last_two():
    transcript = made(5)
    transcript.sent()
    before = transcript.tokens
    assert transcript.compact(before - 60) == 2
    assert contents(transcript)[:7] == ["rules", "the question", "decision 0", "(page left out)", "decision 1", "(page left out)", "decision 2"]
    assert transcript.tokens < before - 60
    assert transcript.sent() == 3  # everything before the first change is as the server has it
    assert transcript.compact(0) == 1  # three of five are gone now, the last two stay
    assert transcript.compact(0) == 0
    assert "observation 3" in transcript.messages[-3].content and "observation 4" in transcript.messages[-1].content


def test_where_observations_make_no_room_the_dialogue_before_and_old_replies_are_cut_but_never_the_question_or_the_last_two():
    long = "word " * 200
    decision = json.dumps({"thought": long, "action": "page", "action_input": {"texts": [long]}, "final_answer": None})
    history = [Message("user", f"earlier {long}"), Message("assistant", json.dumps({"final_answer": long}))]
    transcript = Transcript([Message("system", f"rules {long}")], note, history)
    transcript.ask(f"the question {long}")
    for number in range(4):
        transcript.good(decision, f"observation {number}", "page")
    transcript.sent()
    before = transcript.tokens
    assert transcript.compact(before - 100) == 1 and len(transcript.messages[1].content) < 130
    assert transcript.compact(0) == 3
    assert [len(message.content) > 1000 for message in transcript.messages] == [True, False, False, True, *[False] * 4, *[True, False] * 2]
    assert [message.role for message in transcript.messages] == ["system", "user", "assistant", "user"] + ["assistant", "user"] * 4
    cut = json.loads(transcript.messages[4].content)
    assert (cut["thought"], cut["action_input"], cut["final_answer"]) == (long[:120] + " ...", {"texts": [long[:120] + " ..."]}, None)
    assert transcript.sent() == 1 and transcript.tokens == estimate_prompt(transcript.messages)
    assert transcript.compact(0) == 0


def test_a_notice_stands_under_the_last_message_of_one_request_only():
    transcript = made(1)
    assert transcript.with_notice("answer now")[-1].content.endswith("word \n\nanswer now")
    assert "answer now" not in transcript.messages[-1].content


def test_the_meter_follows_the_server_and_estimates_only_what_came_since():
    meter = TokenMeter()
    meter.added(Message("user", "word " * 100))
    assert meter.tokens == 100 + MESSAGE_OVERHEAD and not meter.exact
    meter.reported(208)
    assert (meter.tokens, meter.factor, meter.exact) == (208, 2.0, True)
    meter.added(Message("user", "word " * 10))
    assert (meter.tokens, meter.exact) == (208 + 2 * (10 + MESSAGE_OVERHEAD), False)
    meter.removed(1)
    assert meter.tokens == 208
    meter.removed(1)
    assert meter.tokens == 0


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [("", 0, 0), ("Hello, world!", 2, 5), ("12345", 5, 5), ("客户有多少个订单", 4, 9), ("SELECT COUNT(*) FROM t WHERE a = 'b'", 8, 20)],
)
def test_estimates_are_near_what_a_tokenizer_says(text, least, most):
    assert least <= estimate_tokens(text) <= most


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("a", 1.0), ("sevenup", 1.0), ("eightlet", 1.6), ("7", 1.0), ("\u0667", 1.0), ("\uff17", 1.0), ("中", 0.8), ("é", 0.9), ("😀", 0.9), ("-", 0.6),
     ("\x00", 0.6), ("\x7f", 0.6), (" \n\t\x1c\u3000", 0.8), ("\xa0\u2003", 0.0), ("\ud800", 0.9)],
)
def test_a_word_a_digit_and_a_sign_of_each_script_have_their_weights(text, tokens):
    assert estimate_tokens(text) == tokens


@given(st.text())
def test_an_estimate_is_never_negative_and_never_more_than_the_characters(text):
    assert 0 <= estimate_tokens(text) <= len(text)
    assert estimate_prompt([Message("user", text)]) >= MESSAGE_OVERHEAD


@given(st.lists(st.sampled_from(["good", "failed", "answer", "compact", "sent", "sent_back"]), max_size=30))
def test_the_meter_never_loses_count(steps):
    transcript = made()
    for number, step in enumerate(steps):
        if step == "good":
            transcript.good(f"d{number}", "observation " * 30, "page")
        elif step == "failed":
            transcript.failed("bad " * 200, "again")
        elif step == "answer":
            transcript.answered("answer")
        elif step == "sent_back":
            transcript.sent_back("no " * 20)
        elif step == "compact":
            transcript.compact(50)
        else:
            assert 0 <= transcript.sent() <= len(transcript.messages)
    assert transcript.tokens == pytest.approx(estimate_prompt(transcript.messages), abs=1)
