"""What MARK finds between objects, and where reasoning ends."""

import re

import pytest

from react_agent.segments import CHANNEL_END, CLOSING, MARK, OPENING, TURN_END, pair_of, reasoning_end

# Each: a text and the kinds of marks in it, in order.
MARKS = [
    ("plain prose, 3 < 4 and [1], {x} or {1, 2} {} {", []),
    ('{"a": 1}', ["object"]),
    ('{ \n"a" : 1}', ["object"]),
    ("{'a': 1} {a: 1} {“a”：1} {`a`: 1} {\\\"a\\\": 1}", ["object"] * 5),
    ('{"a: 1} {a": 1}', ["object"] * 2),
    ("｛\"a\"：1｝", ["object"]),
    ('{, "a": 1} {// x\n"a": 1} {/* x */ a: 1} {\u200b"a": 1} {# x\na: 1} {\\n \\"a\\": 1}', ["object"] * 6),
    ("\\text{Answer: 5} x_{a: 1} f{a: 1} ${a: 1}", []),
    ("\\text{\"a\": 5}", ["object"]),
    ("{x | x > 0} {x, y: z} {say \"hi\"}", []),
    ("<think> <THINKING > <thought id='1'> <reasoning> [THINK] ◁think▷ <|begin_of_thought|> <seed:think>", ["open"] * 8),
    ("</think> </Thought > [/THINK] ◁/think▷ <|end_of_thought|> </analysis>", ["close"] * 6),
    ("<|im_end|> </s> <|eot_id|> <end_of_turn> <｜end▁of▁sentence｜> <|return|> <|END|>", ["end"] * 7),
    ("<|im_start|>user <|start_header_id|>assistant<|end_header_id|> <start_of_turn>model <|start|>assistant", ["turn"] * 4),
    ("<|channel|>final<|message|> <|channel|>commentary to=functions.f <|constrain|>json<|message|>", ["channel"] * 2),
    ("<|user|> <|observation|> <｜User｜> <|END_OF_TURN_TOKEN|>", ["end"] * 4),
    ("<think /> <think/> {「a」: 1} {『a』: 1}", ["object"] * 2),
    ("<b> </p> <br/> <thinker> <|x|> <s> [INST] [/INST]", []),
    ("[think> {/think> <THINK] [/think> ◁think> <think▷ ◁/think> [|im_end|> [/s> ◁|begin_of_thought|> [|end_of_thought|>", []),
    ("</THINK] </think▷ [/think▷ ◁/THINK] ◁/think> {/s>", []),
    ("[|channel|>final<|message|> [|im_start|>user ｛|start|>user <|im_end▷ <|think|>", []),
]


@pytest.mark.parametrize(("text", "kinds"), MARKS)
def test_marks(text, kinds):
    assert [match.lastgroup for match in MARK.finditer(text)] == kinds


def test_what_a_mark_tells():
    channel = MARK.search("<|channel|>commentary to=functions.f <|constrain|>json<|message|>{")
    assert (channel["name"], channel["header"]) == ("commentary", " to=functions.f ")
    spaced = MARK.search("<|channel|> final <|constrain|> json <|message|>{")
    assert (spaced["name"], spaced["header"]) == ("final", " ")
    assert MARK.search("x <|im_start|>user\n")["role"] == "user"
    assert MARK.search("<|im_start|> \nuser\n")["role"] == "user"
    assert MARK.search("<|im_start|>{")["role"] == ""
    assert MARK.search("{a: 1}").end() == 1


# What begins with an object, whatever stands in front of its first key, and what only looks like it.
OBJECTS = ["{// x\na: 1}", '{#\n"a": 1}', '{/* a * b */"a": 1}', '{//\n"a": 1}', '{# x\n"a": 1}', "{#\na: 1}", '{/* x */"a": 1}', "{/* a * b */a: 1}", '{/**/"a": 1}', "{/**/a: 1}",
           '{/* x */ // y\n # z\n"a": 1}', '{\\n\\r\\t"a": 1}', "{\\n\\r\\ta: 1}", '{，,"a": 1}', "{，,a: 1}", "{\u200b \n\u200ba: 1}",
           '{"a:b": 1}', '{"it\'s [x] {y}": 1}', '{"a" \u200b: 1}', "{a \t\u200b：1", "{a.b-c_1: 1}", "{a': 1}", "{a”: 1}", "{＂a＂: 1}", "{«a»: 1}",
           "{「a」: 1}", "{『a』: 1}", "{„a“: 1}", "｛a：1", '{"a\nb": 1}', '{"": 1}', '{"a\\"b": 1}', "{'it\\'s': 1}", "{”a”: 1}", "{’a’: 1}",
           f'{{"{"a" * 500}": 1}}', '{"a" "b"', "{'a' 'b'", '{"a" {', '{"a"\n[', '{"a"“b”', '{"a"/* x */: 1}', '{"a" /* x */ : 1}']  # fmt: skip
NO_OBJECTS = ["{1a: 2}", "{-a: 1}", '{"a"}', '{"a" b: 1}', "x^{a: 1}", "$｛a: 1｝", "\\{a: 1}", '{/* x "a": 1}', '{// "a": 1}', '{"a"b": 1}', '{"a", "b"}', '{"a"} "b"', "{'a'}",
              "{“a” “b”}", '{"a', "{'a b"]


@pytest.mark.parametrize("text", OBJECTS)
def test_objects(text):
    assert MARK.match(text).lastgroup == "object"


@pytest.mark.parametrize("text", NO_OBJECTS)
def test_no_objects(text):
    assert not MARK.search(text)


ENDS = ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>", "<|end_of_turn|>", "<|END_OF_TURN_TOKEN|>",
        "<|end_of_message|>", "<|return|>", "<|call|>", "<|end|>", "<|eos|>", "<|user|>", "<|system|>", "<|tool|>", "<|observation|>", "</s>",
        "<end_of_turn>", "<eos>", "<｜end▁of▁sentence｜>", "<｜User｜>"]  # fmt: skip


@pytest.mark.parametrize("token", ENDS)
def test_what_ends_a_turn(token):
    """A token of the server; of a message that another one follows, only the message ends."""
    assert MARK.fullmatch(token).lastgroup == "end"
    assert TURN_END.match(f"{token}<b>")
    assert not TURN_END.match(f"[{token[1:]}")
    for follows in ("<|end|>", "<|channel|>final", "<|start|>assistant", "<|return|>", "<|CALL|>"):
        assert CHANNEL_END.match(f" \n{follows}")
        assert not TURN_END.match(f"{token}\n{follows}")


# Each: a text that begins with reasoning, and what is left of it.
REASONING = [
    ("<think>a</think>b", "b"),
    ("<think>a<think>b</think>c</think>d", "d"),
    ("<think>a<thinking>b</think>c", "c"),
    ("<think><thought>x</thought></think>d", "d"),
    ("<THINK>a</Think >b", "b"),
    ("<thought x='y'>a</thought>b", "b"),
    ("[THINK]a[/THINK]b", "b"),
    ("◁think▷a◁/think▷b", "b"),
    ("<|START_THINKING|>a<|END_THINKING|>b", "b"),
    ("<think>a<think>b</think>c", None),
    ("<think>a", None),
    ("[THINK]a</think>b", None),
]


@pytest.mark.parametrize(("text", "rest"), REASONING)
def test_where_reasoning_ends(text, rest):
    opener = OPENING.match(text)
    assert opener[0] == MARK.match(text)[0]
    end = reasoning_end(text, opener)
    assert (text[end:] if end >= 0 else None) == rest


def test_every_opening_tag_has_its_closing_tag():
    openers = ["<think>", "<thinking>", "<thought>", "<thoughts>", "<reasoning>", "<reflection>", "<scratchpad>", "<analysis>", "<seed:think>",
               "[THINK]", "◁think▷", "<|begin_of_thought|>", "<|START_THINKING|>"]  # fmt: skip
    for opener in openers:
        assert OPENING.fullmatch(opener)
        assert MARK.fullmatch(opener).lastgroup == "open"
        closer = re.sub(r"begin", "end", re.sub(r"START", "END", opener)) if "|" in opener else f"{opener[0]}/{opener[1:]}"
        assert CLOSING.fullmatch(closer)
        assert MARK.fullmatch(closer).lastgroup == "close"
        assert pair_of(opener).fullmatch(closer)[1]


@pytest.mark.parametrize("tag", ["<think >", "<think\tx='y'>", '<Think id="1">'])
def test_opening_tags_with_more_in_them(tag):
    assert OPENING.fullmatch(tag)
    assert MARK.fullmatch(tag).lastgroup == "open"
    assert CLOSING.fullmatch("</think \t>")
    assert MARK.fullmatch("</think\t >").lastgroup == "close"


@pytest.mark.parametrize("text", ["[think>", "<THINK]", "<think▷", "[|begin_of_thought|>", "<think />", "<think a<b>", "<think a\nb>", "[/think>",
                                  "</THINK]", "</think▷", "[|end_of_thought|>"])  # fmt: skip
def test_what_is_no_tag(text):
    assert not OPENING.match(text)
    assert not CLOSING.match(text)
    assert not MARK.match(text)
