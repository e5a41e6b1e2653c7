// A step's row in the timeline: what happened, and its time and tokens as bars.

const OUTCOMES = {
  answer: ["Answer", "good"],
  answer_sent_back: ["Answer sent back", "warn"],
  answer_refused: ["Answer not taken", "bad"],
  call: ["Call", "plain"],
  call_failed: ["Call failed", "bad"],
  call_repeated: ["Repeated call, answered from memory", "warn"],
  call_sent_back: ["Call sent back, not run", "warn"],
  call_not_run: ["Call not run", "warn"],
  call_cut: ["Call without an end", "bad"],
  unreadable: ["Unreadable reply", "warn"],
  endpoint_error: ["No reply", "bad"],
  unfinished: ["Unfinished", "warn"],
};

const isProblem = (step) =>
  !["answer", "call"].includes(step.outcome) || step.notes.length > 0 || step.attempts.some((attempt) => attempt.failure);

const tag = (text, tone = "plain") => el("span", { class: `tag ${tone}` }, text);
const code = (text) => el("code", {}, text);

function callText(args) {
  try {
    return Object.entries(parseExact(args))
      .map(([name, value]) => `${name}=${compact(value)}`)
      .join(", ");
  } catch {
    return args;
  }
}

// What the row says: its subject, what follows it in grey, and a second line.
function headline(step) {
  const { decision, unreadable, ended } = step;
  const failure = step.attempts.at(-1)?.failure;
  if (unreadable) return [words(unreadable.reason), "", unreadable.hint || step.completion?.text || ""];
  if (decision?.tool)
    return [code(decision.tool), `(${callText(decision.arguments)})`, ended ? `→ ${observedLine(ended)}` : decision.thought];
  if (decision) return [firstLine(decision.final_answer ?? ""), "", decision.thought];
  if (failure) return [words(failure.kind), "", failure.message];
  return [step.completion ? "the reply was read no further" : "no reply yet", "", step.completion?.text ?? ""];
}

function observedLine(ended) {
  try {
    const body = parseExact(ended.content);
    if (body.ok === false) return `${body.error.type}: ${body.error.message}`;
    if (body.ok === true) return resultLine(body.result ?? null);
  } catch {
    // not an observation as JSON: shown as it is
  }
  return ended.content;
}

function tags(step) {
  const [label, tone] = OUTCOMES[step.outcome];
  const failures = step.attempts.filter((attempt) => attempt.failure).length;
  return [
    step.outcome !== "call" && tag(label, tone),
    step.started && !step.started.read_only && tag("side effects", "warn"),
    step.decision?.repairs.length > 0 && tag(plural(step.decision.repairs.length, "repair"), "note"),
    step.notes.filter((note) => !["answer_sent_back", "call_sent_back", "repeated_call"].includes(note.slug)).map((note) => tag(words(note.slug), "warn")),
    failures > 0 && step.outcome !== "endpoint_error" && tag(plural(failures, "failed request"), "warn"),
    step.forced && tag("told to answer", "note"),
    step.resumed && tag("resumed here", "note"),
  ];
}

function bar(parts, most) {
  const track = el("span", { class: "bar" });
  for (const [name, value] of parts) {
    if (!value) continue;
    const piece = track.appendChild(el("span", { class: name }));
    piece.style.width = `${(100 * value) / most}%`;
  }
  return track;
}

function tokenParts(usage) {
  const cached = Math.min(usage.cached_tokens ?? 0, usage.input_tokens);
  return [
    ["cached", cached],
    ["prompt", usage.input_tokens - cached],
    ["reply", usage.output_tokens],
  ];
}

const timeParts = (step) => [
  ["model", step.model_seconds],
  ["tool", step.tool_seconds],
];
const tokensOf = (step) => (step.completion ? step.completion.usage.input_tokens + step.completion.usage.output_tokens : 0);
const secondsOf = (step) => step.model_seconds + step.tool_seconds;

function bars(step, most) {
  const { completion } = step;
  return el(
    "span",
    { class: "bars" },
    el("span", { class: "figure" }, duration(secondsOf(step))),
    bar(timeParts(step), most.seconds),
    el(
      "span",
      { class: "figure" },
      completion ? `${completion.usage.estimated ? "≈\u00a0" : ""}${number(tokensOf(step))}` : "–",
      el("span", { class: "unseen" }, " tokens"),
    ),
    completion ? bar(tokenParts(completion.usage), most.tokens) : el("span", { class: "bar" }),
  );
}

function row(step, most, toggle) {
  const [subject, rest, second] = headline(step);
  const head = el(
    "button",
    { type: "button", class: "head", "aria-expanded": "false", "aria-controls": `body-${step.step}`, onclick: toggle },
    el("span", { class: "no" }, el("span", { class: "unseen" }, "Step "), String(step.step)),
    el(
      "span",
      { class: "what" },
      el(
        "span",
        { class: "line" },
        el("span", { class: "subject" }, subject, rest && el("span", { class: "rest" }, firstLine(rest))),
        el("span", { class: "tags" }, tags(step)),
      ),
      second && el("span", { class: "second" }, firstLine(second)),
    ),
    bars(step, most),
  );
  const body = el("div", { class: "body", id: `body-${step.step}`, hidden: true });
  return el("li", { class: `step ${OUTCOMES[step.outcome][1]}`, id: `step-${step.step}` }, el("h3", {}, head), body);
}
