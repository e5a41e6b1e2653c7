// The steps as rows, search, keys, theme and print; starts the page.

const ROWS = STEPS.map((step, at) => row(step, MOST, () => toggle(at)));
const headOf = (at) => ROWS[at].querySelector(".head");
const isOpen = (at) => headOf(at).getAttribute("aria-expanded") === "true";

function toggle(at, open = !isOpen(at)) {
  const body = ROWS[at].querySelector(".body");
  if (!open && body.contains(document.activeElement)) headOf(at).focus();
  if (open && !body.childElementCount) add(body, details(STEPS[at], requests));
  body.hidden = !open;
  headOf(at).setAttribute("aria-expanded", String(open));
  if (open) highlight();
}

function focus(at) {
  headOf(at).focus({ preventScroll: true });
  ROWS[at].scrollIntoView({ block: "nearest" });
}

function reveal(at) {
  if (ROWS[at].hidden) showAll();
  toggle(at, true);
  headOf(at).focus({ preventScroll: true });
  ROWS[at].scrollIntoView({ block: "start" });
}

function openFromAddress() {
  const at = STEPS.findIndex((step) => `#step-${step.step}` === location.hash);
  if (at >= 0) reveal(at);
}

// Search and filter

let query = "";
let problemsOnly = false;
const HAYSTACKS = [];

function haystack(at) {
  const { decision, unreadable, completion, started, ended, notes, summaries, attempts, outcome } = STEPS[at];
  HAYSTACKS[at] ??= [
    decision?.thought,
    decision?.tool,
    decision?.arguments,
    decision?.final_answer,
    started?.arguments,
    ended?.content,
    ended?.error,
    ended?.crash,
    unreadable?.reason,
    unreadable?.hint,
    unreadable?.reprompt,
    completion?.text,
    completion?.reasoning,
    completion?.refusal,
    OUTCOMES[outcome][0],
    ...(completion?.notes ?? []),
    ...(decision?.repairs ?? []).map(([name]) => words(name)),
    ...summaries.map((summary) => summary.text),
    ...notes.flatMap((note) => [words(note.slug), note.message]),
    ...attempts.flatMap(({ failure }) => (failure ? [failure.kind, failure.message, failure.hint] : [])),
  ]
    .filter(Boolean)
    .join("\n")
    .toLowerCase();
  return HAYSTACKS[at];
}

function filter() {
  let shown = 0;
  ROWS.forEach((node, at) => {
    node.hidden = (problemsOnly && !isProblem(STEPS[at])) || (query !== "" && !haystack(at).includes(query));
    shown += !node.hidden;
  });
  const narrowed = query !== "" || problemsOnly;
  BY_ID("found").textContent = !narrowed ? "" : shown ? `${number(shown)} of ${plural(STEPS.length, "step")}` : "No step holds this";
  BY_ID("all").setAttribute("aria-pressed", String(!problemsOnly));
  BY_ID("problems").setAttribute("aria-pressed", String(problemsOnly));
  highlight();
}

function showAll() {
  [query, problemsOnly, BY_ID("search").value] = ["", false, ""];
  filter();
}

// Marks what was searched for, without touching the text.
function highlight() {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("found");
  if (!query) return;
  const ranges = [];
  const walker = document.createTreeWalker(BY_ID("steps"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < 2000; node = walker.nextNode()) {
    const text = node.data.toLowerCase();
    if (text.length !== node.length) continue; // a letter whose lower case is longer: the places would be wrong
    for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + query.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

function unfoldAll() {
  const shown = [...ROWS.keys()].filter((at) => !ROWS[at].hidden);
  const open = shown.some((at) => !isOpen(at));
  shown.forEach((at) => toggle(at, open));
  BY_ID("unfold").textContent = open ? "Close all" : "Open all";
}

// Keys

function current() {
  return ROWS.findIndex((node) => node.contains(document.activeElement));
}

function move(by) {
  const from = current();
  for (let at = from < 0 && by < 0 ? ROWS.length - 1 : from + by; at >= 0 && at < ROWS.length; at += by) {
    if (!ROWS[at].hidden) return focus(at);
  }
}

function openOrClose(at) {
  toggle(at);
  if (isOpen(at) && ROWS[at].getBoundingClientRect().bottom > innerHeight) ROWS[at].scrollIntoView({ block: "start" });
}

function rawOf(at) {
  toggle(at, true);
  const raw = [...ROWS[at].querySelectorAll("details.raw")];
  const open = raw.some((node) => !node.open);
  raw.forEach((node) => (node.open = open));
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  o: () => current() >= 0 && openOrClose(current()),
  r: () => current() >= 0 && rawOf(current()),
  "/": () => BY_ID("search").select(),
  p: () => ((problemsOnly = !problemsOnly), filter()),
  e: unfoldAll,
  t: switchTheme,
  "?": () => BY_ID("help").showModal(),
  Escape: showAll,
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || BY_ID("help").open) return;
  if (event.target === BY_ID("search")) return pressedInSearch(event);
  const onHead = event.target.classList?.contains("head");
  const key = onHead ? ({ ArrowDown: "j", ArrowUp: "k" }[event.key] ?? event.key) : event.key;
  if (!(key in KEYS)) return;
  event.preventDefault();
  KEYS[key]();
}

function pressedInSearch(event) {
  const first = ROWS.findIndex((node) => !node.hidden);
  if (event.key === "Enter") {
    event.preventDefault(); // or the key would press the row's button too
    if (first >= 0) focus(first);
  } else if (event.key === "Escape") {
    showAll();
    event.target.blur();
  }
}

// Theme and print

function switchTheme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(dark ? "light" : "dark");
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  try {
    if (theme) localStorage.setItem("react-agent-theme", theme);
  } catch {
    // a page from disk may have no storage
  }
}

function storedTheme() {
  try {
    return localStorage.getItem("react-agent-theme");
  } catch {
    return null;
  }
}

const MOST_PRINTED = 100; // of more steps, only those that are open are printed in full
let openedForPrint = [];

function start() {
  setTheme(storedTheme());
  outcome();
  facts();
  effects();
  setup();
  chart();
  legend();
  BY_ID("steps").append(...ROWS);
  BY_ID("problems").textContent = `Problems ${number(STEPS.filter(isProblem).length)}`;
  BY_ID("search").addEventListener("input", (event) => ((query = event.target.value.trim().toLowerCase()), filter()));
  BY_ID("all").addEventListener("click", () => ((problemsOnly = false), filter()));
  BY_ID("problems").addEventListener("click", () => ((problemsOnly = true), filter()));
  BY_ID("unfold").addEventListener("click", unfoldAll);
  BY_ID("theme").addEventListener("click", switchTheme);
  BY_ID("keys").addEventListener("click", KEYS["?"]);
  document.addEventListener("keydown", pressed);
  addEventListener("hashchange", openFromAddress);
  addEventListener("beforeprint", () => {
    openedForPrint = STEPS.length > MOST_PRINTED ? [] : [...ROWS.keys()].filter((at) => !isOpen(at));
    openedForPrint.forEach((at) => toggle(at, true));
    document.querySelectorAll("#setup > details").forEach((fold) => (fill(fold), (fold.open = true)));
  });
  addEventListener("afterprint", () => openedForPrint.splice(0).forEach((at) => toggle(at, false)));
  addEventListener("load", () => setTimeout(openFromAddress)); // after the browser has gone to the address itself
}

start();
