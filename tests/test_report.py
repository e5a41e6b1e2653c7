"""The page as a file: one, whole, with nothing of the model's in it but data; and the colours that it is read in."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_traces import HOSTILE, TOOLS, hostile_events, long_events, started, varied_events, write

from react_agent.report import PAGE, SCRIPTS, is_report, render_report
from react_agent.report_data import json_text, run_data
from react_agent.report_fold import fold
from react_agent.report_view import Outcome
from react_agent.trace import Record

CSS = (PAGE / "page.css").read_text("utf-8")


class Page(HTMLParser):
    """The tags of a page with their attributes, and the content of its script and style elements."""

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.tags, self.raw, self._open = [], {"script": [], "style": []}, None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open = tag if tag in self.raw else None
        if self._open:
            self.raw[tag].append("")

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, data):
        if self._open:
            self.raw[self._open][-1] += data


def page_of(events):
    return render_report(fold([Record(float(at), event) for at, event in enumerate(events)], "run.jsonl"))


@pytest.fixture(scope="module")
def varied():
    return page_of(varied_events())


def test_the_policy_allows_the_pages_own_style_and_script_and_nothing_else(varied):
    page = Page(varied)
    policy = next(attributes["content"] for tag, attributes in page.tags if attributes.get("http-equiv") == "Content-Security-Policy")
    ((style,), (_, script)) = page.raw["style"], page.raw["script"]
    assert policy == (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_page_loads_nothing_and_leads_nowhere(varied):
    for tag, attributes in Page(varied).tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "audio", "video", "source")
        assert not {"src", "srcset", "action", "style", "ping", "background"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("href", "#").startswith("#")
    assert not re.search(r"url\(|@import|@font-face", CSS)


FORBIDDEN = (
    r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function|DOMParser|createContextualFragment"
    r"|fetch\(|XMLHttp|WebSocket|sendBeacon|import\("
)


def test_the_script_has_no_way_to_make_markup_of_text_or_to_reach_the_network():
    source = "".join((PAGE / name).read_text("utf-8") for name in SCRIPTS)
    assert not re.search(FORBIDDEN, source)
    assert not re.search("</script|<!--", source, re.IGNORECASE) and "</style" not in CSS
    assert [name for name in sorted(path.name for path in PAGE.iterdir()) if name not in (*SCRIPTS, "page.css", "page.html")] == []


def shape(text):
    """A page without what a run writes in it: its tags and attributes, and how often a raw element stands in it."""
    page = Page(text)
    return page.tags, {tag: len(elements) for tag, elements in page.raw.items()}


def data_of(text):
    return json.loads(Page(text).raw["script"][0])


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_every_field_changes_nothing_of_the_page(text):
    page = page_of(hostile_events(text))
    assert shape(page) == shape(page_of(hostile_events("harmless")))
    assert data_of(page)["question"] == text and data_of(page)["steps"][1]["ended"]["crash"] == text
    assert not set("<>&\u2028\u2029\x00") & set(Page(page).raw["script"][0])
    page.encode()  # lone surrogates are escaped


@given(st.text())
def test_any_text_changes_nothing_of_the_page_and_comes_back(text):
    page = page_of(hostile_events(text or "-"))
    assert shape(page) == shape(page_of(hostile_events("harmless")))
    data = data_of(page)
    assert (data["question"], data["steps"][1]["decision"]["thought"]) == (text or "-", text or "-")
    page.encode()


def test_the_page_holds_the_whole_run_with_arguments_as_exact_text():
    long_integer = 90071992547409931
    events = varied_events()
    events[6] = type(events[6])(2, "t", "sql_query", {"id": long_integer, "share": 1.0})
    run = fold([Record(float(at), event) for at, event in enumerate(events)], "run.jsonl")
    page, data = data_of(render_report(run)), run_data(run)
    assert page["steps"][1]["decision"]["arguments"] == '{"id": 90071992547409931, "share": 1.0}'
    assert page["tools"][0]["parameters"] == json.dumps(TOOLS[0]["parameters"])
    assert {name: value for name, value in page.items() if name not in ("steps", "tools", "side_effects")} == {
        name: json.loads(json_text(value)) for name, value in data.items() if name not in ("steps", "tools", "side_effects")
    }
    assert [step["attempts"] for step in page["steps"]] == [step["attempts"] for step in data["steps"]]


def test_without_script_the_page_still_says_question_ending_and_answer(tmp_path):
    page = render_report(write(tmp_path / "a <b>.jsonl", varied_events()))
    static = page[page.index("<noscript>") : page.index("</noscript>")]
    for words in ("How many orders are open", "Answered after 8 steps", "有两个未完成的订单", "react-agent show a &lt;b&gt;.jsonl"):
        assert words in static
    assert "<title>How many orders are open, and write it to open.txt? · completed</title>" in page


def test_a_cut_trace_is_reported_as_such():
    data = data_of(page_of(varied_events(ended=False)))
    assert (data["status"], data["stop_reason"], data["answer"]) == ("interrupted", None, None)
    assert data["sentence"].startswith("The run did not end: it was interrupted at step 7")


def test_numbers_that_json_has_not_are_null_and_lone_surrogates_are_escaped():
    assert json_text({"a": [float("inf"), float("nan"), 1.5], "b": "\ud800x"}) == '{"a": [null, null, 1.5], "b": "\\ud800x"}'
    assert data_of(page_of([started(limits={"max_seconds": float("inf")})]))["limits"] == {"max_seconds": None}


def test_a_run_of_a_thousand_steps_makes_one_page_of_its_size():
    page = page_of(long_events(1000))
    assert len(data_of(page)["steps"]) == 1000
    assert len(page) < 4_000_000


def test_the_script_knows_every_outcome():
    source = (PAGE / "row.js").read_text("utf-8")
    table = source[source.index("const OUTCOMES") : source.index("};")]
    assert re.findall(r"^  (\w+):", table, re.MULTILINE) == list(get_args(Outcome))


def test_a_report_is_known_again(tmp_path, varied):
    (tmp_path / "report.html").write_text(varied, "utf-8")
    (tmp_path / "other.html").write_text("<!doctype html><title>mine</title>")
    assert [is_report(tmp_path / name) for name in ("report.html", "other.html", "missing.html")] == [True, False, False]


# Contrast, by the formula of WCAG 2: text 4.5 to 1, what is no text 3 to 1.

COLOURS = {name: pair for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", CSS)}
TEXTS = [
    *((ink, ground) for ink in ("ink", "soft", "accent", "good", "warn", "bad") for ground in ("page", "card", "well")),
    *((tone, f"{tone}-wash") for tone in ("good", "warn", "bad")), ("accent", "note-wash"), ("soft", "plain-wash"), ("ink", "mark"),
    ("accent", "warn-wash"), ("bad", "warn-wash"), ("ink", "warn-wash"),
]  # fmt: skip
SHAPES = [(name, "card") for name in ("accent", "good", "warn", "bad", "bar-prompt", "bar-reply", "bar-model", "bar-tool", "edge")]


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_told_apart(scheme):
    def contrast(one, other):
        dark, light = sorted(luminance(COLOURS[name][scheme]) for name in (one, other))
        return (light + 0.05) / (dark + 0.05)

    poor = {pair: round(contrast(*pair), 2) for pairs, least in ((TEXTS, 4.5), (SHAPES, 3.0)) for pair in pairs if contrast(*pair) < least}
    assert poor == {}
