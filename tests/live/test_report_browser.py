"""The report in a real browser: nothing hostile runs in it, it reacts to keys and search, and it is looked at in each dress."""

import re

import pytest
from devtools import Browser, find_browser
from report_traces import ANSWER, HOSTILE, completion, hostile_events, long_events, request, started, varied_events, write

from react_agent.report import render_report
from react_agent.trace_events import DecisionMade, ToolEnded, ToolStarted

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(find_browser() is None, reason="there is no Chromium on this machine (Debian: apt-get install chromium)"),
]
ROWS_SHOWN = "[...document.querySelectorAll('.step:not([hidden])')].map((row) => Number(row.id.slice(5)))"
ROWS_OPEN = "[...document.querySelectorAll('.step:has(> .body:not([hidden]))')].map((row) => Number(row.id.slice(5)))"
TEXT = "document.querySelector('main').textContent"
FORBIDDEN_EVENTS = (
    "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening", "Page.windowOpen",
)  # fmt: skip
FOCUSED = "document.activeElement.closest('.step')?.id ?? document.activeElement.id"


@pytest.fixture(scope="module")
def browser():
    with Browser(find_browser()) as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """pages(events) is the report of these events, as a file."""
    folder = tmp_path_factory.mktemp("reports")

    def pages(events, name="run"):
        page = folder / f"{name}.html"
        page.write_text(render_report(write(folder / f"{name}.jsonl", events)), "utf-8", newline="\n")
        return page

    return pages


@pytest.fixture
def varied(browser, pages):
    """A window with the varied run."""
    page = pages(varied_events())
    browser.open(page)
    return lambda **window: browser.open(page, **window)


def unfold_everything(browser):
    """Open all steps, and all folds in them, until nothing more unfolds."""
    browser.press("e")
    for _ in range(4):
        browser.value("document.querySelectorAll('details').forEach((fold) => (fill(fold), (fold.open = true)))")


def assert_quiet(browser):
    """The page asked for itself alone, and nothing went wrong or was blocked in it."""
    assert len(browser.events_named("Network.requestWillBeSent")) == 1
    for event in FORBIDDEN_EVENTS:
        assert browser.events_named(event) == []


UNHARMED = [
    ("typeof pwned", "undefined"), ("typeof ({}).polluted", "undefined"),
    ("document.querySelectorAll('img, iframe, svg, object, embed, base, link, main style, main script').length", 0),
    ("[...document.querySelectorAll('[href]')].every((node) => node.getAttribute('href').startsWith('#'))", True),
    ("[...document.querySelectorAll('*')].some((node) => node.getAttributeNames().some((name) => name.startsWith('on')))", False),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_runs_or_becomes_markup(browser, pages, text):
    browser.open(pages(hostile_events(text), "hostile"))
    unfold_everything(browser)
    for what, expected in UNHARMED:
        assert browser.value(what) == expected
    shown = browser.value(TEXT)
    assert not set("\x00\x07\x1b\u202e\u2066\ufeff") & set(shown) and "Side effects (2)" in shown
    assert_quiet(browser)


ATTACKS = [
    "document.body.innerHTML = '<img src=x onerror=window.pwned=1>'",
    "eval('window.pwned = 1')",
    "new Function('window.pwned = 1')()",
    "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.pwned = 1'}))",
    "document.body.setAttribute('onclick', 'window.pwned = 1')",
    "location.href = 'javascript:window.pwned=1'",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_policy_refuses_what_a_hole_in_the_page_would_be_used_for(browser, pages, attack):
    """With the policy nothing of it runs; without it all of it would."""
    page = pages(varied_events(), "attacked")
    attempt = f"setTimeout(() => {{ try {{ {attack} }} catch {{}} document.body.click(); setTimeout(done, 100) }})"
    for policy, expected in ((True, "undefined"), (False, "number")):
        if not policy:
            page.write_text(re.sub(r'<meta http-equiv="Content-Security-Policy".*>', "", page.read_text("utf-8")), "utf-8")
        browser.open(page)
        browser.value(f"new Promise((done) => {attempt})")
        assert browser.value("typeof window.pwned") == expected


def test_the_page_tells_the_run(browser, varied):
    shown = browser.value(TEXT)
    for words in ("Answered after 8 steps, on the last one allowed", ANSWER, "8 of 12", "5,720 of 20,000", "13.8 s of 2 min", "0.003180",
                  "outcome unknown: it may or may not have happened", "Problems 5"):  # fmt: skip
        assert words in shown
    assert browser.value("document.title").endswith("· completed")
    unfold_everything(browser)
    shown = browser.value(TEXT)
    for words in ("small-3b-q4", "en@91ab22", "KeyError: 'returns'", "Could not read your reply. Send exactly one JSON object.",
                  "single quotes", "Coerced: limit: '10' -> 10", "90071992547409931", "You answer with one JSON object.",
                  "I need the table.", "temperature was refused and left out", "context overflow", "Two orders are open.",
                  "The run was resumed here."):  # fmt: skip
        assert words in shown
    assert_quiet(browser)


def test_details_are_built_when_they_are_opened(browser, varied):
    assert browser.value("document.querySelectorAll('.body > *').length") == 0
    browser.press("j", "o")
    assert browser.value("[...document.querySelectorAll('.body')].map((body) => body.childElementCount > 0)") == [True] + [False] * 7


def test_keys_go_from_step_to_step(browser, varied):
    browser.press("j", "j")
    assert browser.value(FOCUSED) == "step-2"
    browser.press("ArrowDown", "ArrowDown", "ArrowUp", "k", "k")
    assert browser.value(FOCUSED) == "step-1"
    browser.press("k")
    assert browser.value(FOCUSED) == "step-1"
    browser.press("o")
    assert browser.value(ROWS_OPEN) == [1]
    browser.press("Enter")
    assert browser.value(ROWS_OPEN) == []
    browser.press("j", "r")
    assert browser.value("[...document.querySelectorAll('#step-2 details.raw')].map((fold) => fold.open)") == [True, True]
    browser.press("e")
    assert browser.value(ROWS_OPEN) == list(range(1, 9))
    browser.press("e")
    assert browser.value(ROWS_OPEN) == []


def test_search_filters_marks_and_goes_to_what_was_found(browser, varied):
    browser.press("/", *"OPEN.TXT")
    assert browser.value(ROWS_SHOWN) == [5, 7]
    assert browser.value("document.getElementById('found').textContent") == "2 of 8 steps"
    browser.press("Enter")
    assert (browser.value(FOCUSED), browser.value(ROWS_OPEN)) == ("step-5", [])
    assert browser.value("[...CSS.highlights.get('found')].map((range) => range.toString())") == ["open.txt"] * 2
    browser.press("Escape")
    assert browser.value(ROWS_SHOWN) == list(range(1, 9))
    browser.press("/", *"nowhere to be found")
    assert browser.value("document.getElementById('found').textContent") == "No step holds this"
    browser.press("Escape", "p")
    assert browser.value(ROWS_SHOWN) == [1, 3, 4, 6, 7]


def test_search_reaches_every_text_of_a_step(browser, pages):
    browser.open(pages(hostile_events("needle"), "needle"))
    browser.press("/", *"needle")
    assert browser.value(ROWS_SHOWN) == [1, 2, 3, 4, 5]


def test_raw_requests_are_put_together(browser, varied):
    messages = "requests(STEPS[2], %d).map((message) => message.content)"
    first = ["You answer with one JSON object.", "How many orders are open?", "{}"]
    assert browser.value(messages % 0) == [*first, "Observation from sql_query: ..."]
    assert browser.value(messages % 1) == [*first, "shorter"]


def test_an_address_opens_its_step(browser, varied):
    varied(anchor="#step-6")
    browser.value("new Promise((done) => setTimeout(done, 50))")
    assert (browser.value(ROWS_OPEN), browser.value(FOCUSED)) == ([6], "step-6")
    browser.value("document.querySelector('#effects a').click()")
    browser.value("new Promise((done) => setTimeout(done, 50))")
    assert browser.value(FOCUSED) == "step-5"


def test_dark_and_light_follow_the_system_and_the_toggle(browser, varied):
    ground = "getComputedStyle(document.body.parentElement).backgroundColor"
    light, dark = "rgb(246, 246, 243)", "rgb(18, 19, 21)"
    assert browser.value(ground) == light
    varied(theme="dark")
    assert browser.value(ground) == dark
    browser.press("t")
    assert browser.value(ground) == light
    browser.press("t")
    assert browser.value(ground) == dark


def test_a_thousand_steps_open_at_once_and_stay_lazy(browser, pages):
    browser.open(pages(long_events(1000), "long"))
    assert browser.value("document.querySelectorAll('.step').length") == 1000
    assert browser.value("document.querySelectorAll('.body > *').length") == 0
    assert browser.value("document.querySelectorAll('#chart g').length") == 1000
    browser.press("/", *"where id = 77")
    assert browser.value(ROWS_SHOWN) == [77, *range(770, 780)]
    assert browser.value("reveal(999), document.activeElement.closest('.step').id") == "step-1000"
    assert_quiet(browser)


def test_deep_and_long_texts_are_shown_as_they_are(browser, pages):
    deep, long = '{"ok": true, "result": ' + "[" * 30_000 + "]" * 30_000 + "}", "a long line " * 150_000
    events = [
        started(), request(1), completion(1, long), DecisionMade(1, "t", "sql_query", {}), ToolStarted(1, "sql_query", {}, True),
        ToolEnded(1, "sql_query", deep),
    ]  # fmt: skip
    browser.open(pages(events, "deep"))
    unfold_everything(browser)
    shown = browser.value("[...document.querySelectorAll('#steps pre')].map((node) => node.textContent)")
    assert deep in shown and long in shown
    assert_quiet(browser)


def test_print_holds_the_details_and_leaves_the_screen_as_it_was(browser, varied):
    browser.press("j", "o")
    assert browser.print().startswith(b"%PDF")
    assert browser.value(ROWS_OPEN) == [1]


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_wider_than_the_window(browser, varied, width):
    varied(width=width)
    unfold_everything(browser)
    assert browser.value("document.documentElement.scrollWidth") <= width


ROLES = ("button", "link", "searchbox", "textbox", "DisclosureTriangle")


def test_what_can_be_pressed_has_a_name_and_headings_do_not_skip_a_level(browser, varied):
    varied(height=12_000)  # what is not in the window is not in the tree
    unfold_everything(browser)
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    pressed = [node for node in tree if node["role"]["value"] in ROLES and not node["ignored"]]
    assert len(pressed) > 40 and all(node["name"]["value"].strip() for node in pressed)
    levels = browser.value("[...document.querySelectorAll('main :is(h1, h2, h3, h4)')].map((node) => Number(node.tagName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_painted(browser, varied, theme, width, tmp_path):
    varied(theme=theme, width=width, anchor="#step-3")
    picture = browser.picture(tmp_path / "report.png")
    assert picture.startswith(b"\x89PNG") and len(picture) > 30_000
