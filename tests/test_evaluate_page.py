"""The page of an evaluation as a file: whole, without script or network, with nothing of the model's in it but text."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_traces import HOSTILE

from react_agent.evaluate_markup import element, join
from react_agent.evaluate_outcome import Outcome
from react_agent.evaluate_page import render_page


class Page(HTMLParser):
    """The tags of a page with their attributes, its texts, and what is in its style elements."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.styles = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        styling = self.tags and self.tags[-1][0] == "style" and not self.styles
        (self.styles if styling else self.texts).append(data)

    def attributes(self, name):
        return [attributes[name] for _, attributes in self.tags if name in attributes]


CALL = {"tool": "sql_query", "ok": False, "error": "sql_error", "arguments": {"query": "SELECT 1 <b>"}}


def outcomes(text="harmless", trace=None):
    """A right one, a wrong one with everything in it, and one of two rounds."""
    full = Outcome(
        "t2", text, 1, False, text, text, text, text, "failed", text, text, True, 3, (CALL, {"tool": text, "ok": True, "arguments": {text: text}}),
        1200, 900, 80, True, 2.5, None, 1, (text,), (text,), (text,), trace, text,
    )  # fmt: skip
    rounds = [Outcome("t3", text, number, number == 1, "" if number == 1 else text, question="third") for number in (1, 2)]
    return [Outcome("t1", text, right=True, answer="18", question="first"), full, *rounds]


def test_failures_come_first_and_are_open(tmp_path):
    page = Page(render_page(outcomes(), tmp_path))
    tasks = [attributes for tag, attributes in page.tags if tag == "details"]
    assert tasks == [{"class": "task bad", "open": ""}, {"class": "task warn", "open": ""}, {"class": "task good"}]
    assert [page.texts.index(name) for name in ("Wrong: 2", "t2", "t3", "Right: 1", "t1")] == sorted(
        page.texts.index(name) for name in ("Wrong: 2", "t2", "t3", "Right: 1", "t1")
    )
    assert "2 of 4 runs right, 3 tasks in rounds" in page.texts and "1 of 2 right" in page.texts
    assert 'sql_query({"query": "SELECT 1 <b>"})' in page.texts and "sql_error" in page.texts
    assert "3 steps, 1,200 prompt tokens (900 cached) + 80 completion tokens, estimated, 2.5 s" in page.texts


def test_the_page_loads_nothing_and_runs_nothing(tmp_path):
    page = Page(render_page(outcomes(), tmp_path))
    (style,) = page.styles
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert next(attributes["content"] for _, attributes in page.tags if attributes.get("http-equiv") == "Content-Security-Policy") == policy
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object", "embed", "base", "form", "audio", "video"}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on") or name in ("src", "style", "srcset")]
    assert not re.search(r"url\(|@import|@font-face|</style", style)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_every_field_changes_nothing_of_the_page(text, tmp_path):
    page, harmless = (Page(render_page(outcomes(each), tmp_path)) for each in (text, "harmless"))
    assert page.tags == harmless.tags
    render_page(outcomes(text), tmp_path).encode()


@given(st.text(min_size=1))
def test_any_text_changes_nothing_of_the_page(tmp_path_factory, text):
    folder = tmp_path_factory.getbasetemp()
    assert Page(render_page(outcomes(f"x{text}"), folder)).tags == Page(render_page(outcomes("harmless"), folder)).tags


def test_traces_and_reports_that_are_there_are_linked_from_where_the_page_lies(tmp_path):
    folder = tmp_path / "traces & more"
    folder.mkdir()
    trace = folder / "javascript:alert(1) #1.jsonl"
    pages = [Page(render_page(outcomes(trace=str(trace)), tmp_path))]
    trace.write_text("")
    pages.append(Page(render_page(outcomes(trace=str(trace)), tmp_path)))
    trace.with_suffix(".html").write_text("")
    pages.append(Page(render_page(outcomes(trace=str(trace)), tmp_path / "pages")))
    plain = "traces%20%26%20more/javascript%3Aalert%281%29%20%231"
    assert [page.attributes("href") for page in pages] == [[], [f"{plain}.jsonl"], [f"../{plain}.html", f"../{plain}.jsonl"]]
    assert str(trace) in pages[0].texts


def test_a_path_that_looks_like_an_address_is_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "javascript:alert(1)").write_text("")
    (href,) = Page(render_page([Outcome("a", trace="javascript:alert(1)")], tmp_path)).attributes("href")
    assert href == "javascript%3Aalert%281%29"


def test_a_page_of_nothing_is_a_page(tmp_path):
    assert "0 of 0 tasks right" in render_page([], tmp_path)


def test_markup_is_escaped_unless_it_was_made_here():
    assert element("p", "<b>", element("i", '"&'), class_='"x', aria_label="a") == (
        '<p class="&quot;x" aria-label="a">&lt;b&gt;<i>&quot;&amp;</i></p>'
    )
    assert join("<", join("<")) == "&lt;&lt;"
    assert element("p", str(element("b"))) == "<p>&lt;b&gt;&lt;/b&gt;</p>"
