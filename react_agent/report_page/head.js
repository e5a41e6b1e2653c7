// The run, and what stands above its steps: how it ended, totals, side effects, settings, the chart.

const RUN = JSON.parse(document.getElementById("run").textContent);
const STEPS = RUN.steps;
const MOST = { seconds: Math.max(...STEPS.map(secondsOf), 0.001), tokens: Math.max(...STEPS.map(tokensOf), 1) };
const BY_ID = (id) => document.getElementById(id);
const STATUS = {
  completed: ["Completed", "good"],
  failed: ["Failed", "bad"],
  budget_exhausted: ["Budget exhausted", "warn"],
  cancelled: ["Cancelled", "warn"],
  interrupted: ["Interrupted", "warn"],
};

// All messages of one request: each holds only what was added to the one before.
function requests(step, at) {
  let messages = [];
  for (const other of STEPS) {
    for (const [index, attempt] of other.attempts.entries()) {
      messages = [...messages.slice(0, attempt.keep), ...attempt.add];
      if (other === step && index === at) return messages;
    }
  }
  return messages;
}

function outcome() {
  const [label, tone] = STATUS[RUN.status] ?? [RUN.status, "plain"];
  const sentence = RUN.sentence.split("`").map((piece, at) => (at % 2 ? el("code", {}, piece) : piece));
  const reason = RUN.stop_reason && RUN.stop_reason !== "answer" && el("span", { class: "reason" }, words(RUN.stop_reason));
  add(
    BY_ID("outcome"),
    el("h1", { id: "question", lang: RUN.language, class: RUN.question.length > 140 && "long" }, RUN.question),
    el("p", { class: `ending ${tone}` }, el("strong", {}, label), reason, el("span", {}, sentence)),
    RUN.answer !== null &&
      el("div", { class: "the-answer" }, el("h2", {}, "Answer"), el("p", { class: "prose", lang: RUN.language }, RUN.answer)),
  );
  add(BY_ID("run-name"), RUN.trace);
}

function fact(label, value, under, used = null, most = null) {
  const gauge = most && el("span", { class: "bar gauge" }, el("span", { class: used >= most ? "full" : "used" }));
  if (gauge) gauge.firstChild.style.width = `${Math.min(100, (100 * used) / most)}%`;
  const of = most && el("span", { class: "of" }, ` of ${label === "Time" ? duration(most) : number(most)}`);
  return el(
    "div",
    { class: "fact" },
    el("dt", {}, label),
    el("dd", {}, el("span", { class: "value" }, value, of), gauge, el("span", { class: "under" }, under.filter(Boolean).join(", "))),
  );
}

function facts() {
  const { usage, limits, totals } = RUN;
  const sum = (values) => Object.values(values).reduce((total, value) => total + value, 0);
  const tools = Object.values(totals.calls);
  const count = (name) => tools.reduce((total, tool) => total + tool[name], 0);
  const unreadable = sum(totals.parse_failures);
  const total = usage.input_tokens + usage.output_tokens;
  add(
    BY_ID("facts"),
    el(
      "dl",
      { class: "facts" },
      fact(
        "Steps",
        number(totals.steps),
        [
          RUN.forced && "told to answer on the last",
          totals.resumes && (totals.resumes > 1 ? `resumed ${totals.resumes} times` : "resumed once"),
        ],
        totals.steps,
        limits.max_steps,
      ),
      fact(
        "Tokens",
        `${usage.estimated ? "≈\u00a0" : ""}${number(total)}`,
        [
          `${number(usage.input_tokens)} prompt`,
          usage.cached_tokens !== null && `${number(usage.cached_tokens)} cached`,
          `${number(usage.output_tokens)} reply`,
        ],
        total,
        limits.max_tokens,
      ),
      fact(
        "Time",
        duration(RUN.seconds),
        [`model ${duration(totals.model_seconds)}`, `tools ${duration(totals.tool_seconds)}`],
        RUN.seconds,
        limits.max_seconds,
      ),
      fact("Tool calls", number(count("calls")), [
        count("failed") && `${count("failed")} failed`,
        count("repeated") && `${count("repeated")} repeated`,
      ]),
      fact("Unreadable replies", number(unreadable), [sum(totals.repairs) && `${plural(sum(totals.repairs), "repair")} in the others`]),
      RUN.cost !== null && fact("Cost", RUN.cost.toFixed(RUN.cost < 0.1 ? 6 : 2), [], RUN.cost, limits.max_cost),
    ),
  );
}

function effects() {
  if (!RUN.side_effects.length) return;
  const told = {
    done: ["happened", "warn"],
    failed: ["failed; it may have happened in part", "bad"],
    unknown: ["outcome unknown: it may or may not have happened", "bad"],
  };
  const item = (effect) =>
    el(
      "li",
      {},
      stepLink(effect.step),
      " ",
      code(firstLine(`${effect.tool}(${callText(effect.arguments)})`)),
      " ",
      tag(told[effect.outcome][0], told[effect.outcome][1]),
    );
  add(
    BY_ID("effects"),
    el("h2", { id: "effects-title" }, `Side effects (${RUN.side_effects.length})`),
    el("ul", {}, RUN.side_effects.map(item)),
  );
  BY_ID("effects").hidden = false;
}

const stepLink = (number) => el("a", { href: `#step-${number}` }, `Step ${number}`);

function setup() {
  const rows = (pairs) =>
    el(
      "dl",
      { class: "rows" },
      pairs
        .filter(([, value]) => value !== null && value !== undefined && value !== "")
        .map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
    );
  const known = (values) =>
    Object.entries(values)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [words(name), cellText(value)]);
  const tool = (item) =>
    el(
      "li",
      {},
      code(item.name),
      " ",
      !item.read_only && tag("side effects", "warn"),
      " ",
      item.untrusted_output && tag("text from outside", "note"),
      " ",
      item.volatile && tag("volatile", "note"),
      el("p", {}, item.description ?? ""),
      folded("Parameters", () => jsonBlock(item.parameters)),
    );
  const about = [
    ["Model", RUN.models.join(", ")],
    ["Prompt", RUN.prompt],
    ["Language", RUN.language],
    ["Began", `${new Date(RUN.started * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`],
    ["Run", RUN.run_id],
    ["Window", RUN.context_window && `${number(RUN.context_window)} tokens`],
    ["Reply limit", RUN.max_output_tokens && `${number(RUN.max_output_tokens)} tokens`],
    ["Trace", `${RUN.trace}, format ${RUN.format}`],
  ];
  add(
    BY_ID("setup"),
    folded("Model, limits and settings", () => [
      rows(about),
      el("h3", {}, "Endpoint"),
      rows(known(RUN.endpoint)),
      el("h3", {}, "Limits"),
      rows(known(RUN.limits)),
      el("h3", {}, "Options"),
      rows(known(RUN.options)),
      RUN.instructions && [el("h3", {}, "Instructions"), block(RUN.instructions)],
    ]),
    folded(`Tools (${RUN.tools.length})`, () =>
      RUN.tools.length ? el("ul", { class: "tool-list" }, RUN.tools.map(tool)) : el("p", {}, "None: the model could only answer."),
    ),
    folded("Totals", totals),
    RUN.history.length > 0 &&
      folded(`Earlier dialogue (${plural(RUN.history.length, "message")})`, () => RUN.history.map((message) => messageBlock(message))),
  );
}

function totals() {
  const { totals: sums } = RUN;
  const counts = (title, values) =>
    Object.keys(values).length > 0 &&
    el(
      "div",
      {},
      el("h3", {}, title),
      el(
        "div",
        { class: "scroll" },
        tableElement(
          ["what", "times"],
          Object.entries(values).map(([name, value]) => [words(name), value]),
        ),
      ),
    );
  const calls = Object.entries(sums.calls).map(([name, tool]) => [
    name,
    tool.calls,
    tool.ran,
    tool.failed,
    tool.repeated,
    duration(tool.seconds),
  ]);
  const tables = [
    calls.length > 0 &&
      el(
        "div",
        {},
        el("h3", {}, "Calls"),
        el("div", { class: "scroll" }, tableElement(["tool", "calls", "ran", "failed", "repeated", "time"], calls)),
      ),
    counts("Failed calls", sums.tool_errors),
    counts("Unreadable replies", sums.parse_failures),
    counts("Repairs", sums.repairs),
    counts("Notes", sums.notes),
    counts("Endpoint errors", sums.endpoint_errors),
  ].filter(Boolean);
  return el("div", { class: "tables" }, tables.length ? tables : el("p", {}, "No calls, no repairs, no failures."));
}

// The chart: tokens above the line, time below it, a column for each step

const CHART_FROM = 12; // fewer steps are seen at a glance in their rows
const svg = (name, attributes) =>
  Object.entries(attributes).reduce(
    (node, [key, value]) => (node.setAttribute(key, value), node),
    document.createElementNS("http://www.w3.org/2000/svg", name),
  );

function chart() {
  if (STEPS.length < CHART_FROM) return;
  const [width, up, down] = [10, 64, 36];
  const picture = svg("svg", {
    viewBox: `0 0 ${STEPS.length * width} ${up + down + 2}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": "Tokens above and time below the line, one column a step",
  });
  STEPS.forEach((step, at) => {
    const column = svg("g", { class: OUTCOMES[step.outcome][1] });
    const label = svg("title", {});
    label.textContent = `Step ${step.step}: ${OUTCOMES[step.outcome][0]}, ${number(tokensOf(step))} tokens, ${duration(secondsOf(step))}`;
    const box = (name, y, height) => svg("rect", { class: name, x: at * width, y, width: STEPS.length > 150 ? width : width - 2, height });
    column.append(label, box("hit", 0, up + down + 2));
    let y = up;
    for (const [name, value] of step.completion ? tokenParts(step.completion.usage) : [])
      column.append(box(name, (y -= (value / MOST.tokens) * up), (value / MOST.tokens) * up));
    y = up + 2;
    for (const [name, value] of timeParts(step)) {
      column.append(box(name, y, (value / MOST.seconds) * down));
      y += (value / MOST.seconds) * down;
    }
    column.addEventListener("click", () => reveal(at));
    picture.append(column);
  });
  BY_ID("chart").append(picture);
}

function legend() {
  const item = (name, label) => el("span", {}, el("span", { class: `key ${name}` }), label);
  const cached = STEPS.some((step) => step.completion?.usage.cached_tokens);
  add(
    BY_ID("legend"),
    item("model", "model"),
    item("tool", "tool"),
    el("span", { class: "of" }, `time, up to ${duration(MOST.seconds)}`),
    cached && item("cached", "cached prompt"),
    item("prompt", "prompt"),
    item("reply", "reply"),
    el("span", { class: "of" }, `tokens, up to ${number(MOST.tokens)}`),
  );
}
