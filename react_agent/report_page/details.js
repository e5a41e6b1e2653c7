// A step's details, built when it is first opened.

const part = (label, ...content) =>
  content.flat().some(Boolean) && el("section", { class: "part" }, el("h4", {}, label), el("div", { class: "content" }, ...content));

// A <details> whose content is made when it is first opened.
function folded(summary, make, name = "") {
  const fold = el("details", { class: name }, el("summary", {}, summary));
  fold.addEventListener("toggle", () => fold.open && fill(fold));
  MAKERS.set(fold, make);
  return fold;
}

const MAKERS = new WeakMap();

function fill(fold) {
  const make = MAKERS.get(fold);
  MAKERS.delete(fold);
  if (make) add(fold, make());
}

function details(step, requests) {
  const { decision, unreadable, completion } = step;
  return [
    part(
      "Notes",
      step.resumed && el("p", {}, "The run was resumed here."),
      step.notes.map((note) => el("p", {}, tag(words(note.slug), "warn"), " ", note.message)),
    ),
    part("Summary", step.summaries.map(summaryText)),
    part("Endpoint", step.attempts.filter((attempt) => attempt.failure).map(failureText)),
    part("Reasoning", completion?.reasoning && folded(plural(completion.reasoning.length, "character"), () => block(completion.reasoning))),
    part("Thought", decision?.thought && el("p", { class: "prose" }, decision.thought)),
    decision?.tool && callPart(step),
    part(
      "Observation",
      step.ended && observation(step.ended.content),
      step.ended?.truncated && el("p", { class: "small" }, "It was shortened for the model."),
    ),
    part("Traceback", step.ended?.crash && folded("for the programmer; the model did not see it", () => block(step.ended.crash, "bad"))),
    part(
      OUTCOMES[step.outcome][0],
      typeof decision?.final_answer === "string" && el("p", { class: "prose answer" }, decision.final_answer),
    ),
    unreadable && unreadableParts(unreadable, completion),
    part("Repairs", decision?.repairs.length > 0 && repairList(decision.repairs, completion?.text ?? "")),
    part("Figures", figures(step)),
    part("Raw", rawRequests(step, requests), completion && rawReply(completion)),
  ];
}

function summaryText({ text, usage }) {
  const cost = `written by the model to make room: ${plural(usage.input_tokens, "prompt token")}, ${plural(usage.output_tokens, "reply token")}`;
  return el("div", {}, el("p", { class: "prose" }, text), el("p", { class: "small" }, cost));
}

function failureText({ failure, seconds }) {
  const known = [
    failure.status && `HTTP ${failure.status}`,
    failure.limit && `window ${number(failure.limit)} tokens`,
    failure.used && `prompt ${number(failure.used)} tokens`,
    `after ${duration(seconds)}`,
  ];
  return el(
    "div",
    {},
    el("p", {}, tag(words(failure.kind), "bad"), " ", failure.message),
    failure.hint && el("p", {}, failure.hint),
    el("p", { class: "small" }, known.filter(Boolean).join(", ")),
  );
}

function callPart({ decision, started, ended, outcome }) {
  const reasons = {
    call_not_run: "It was not run: the run ended here.",
    call_repeated: "It was not run: the model was given its earlier observation.",
    call_cut: started?.read_only ? "It has no end: the run was cut while it ran." : "It has no end: whether it took effect is unknown.",
  };
  const refused = ended && !started && "It was refused before it ran.";
  return part(
    "Call",
    el(
      "p",
      { class: "call-name" },
      code(decision.tool),
      started && tag(started.read_only ? "read-only" : "side effects", started.read_only ? "plain" : "warn"),
    ),
    jsonBlock(started?.arguments ?? decision.arguments),
    started?.coercions.length > 0 && el("p", { class: "small" }, `Coerced: ${started.coercions.join("; ")}`),
    (reasons[outcome] || refused) && el("p", { class: "small" }, reasons[outcome] || refused),
  );
}

function observation(content) {
  try {
    const body = parseExact(content);
    if (body.ok === false) {
      const { type, message, hint } = body.error;
      return [el("p", {}, tag(type, "bad"), " ", message), hint && el("p", {}, hint)];
    }
    if (body.ok === true) {
      const remarks = [body.note, body.cut].filter(Boolean).map((text) => el("p", { class: "small" }, text));
      return [structured(body.result ?? null), ...remarks];
    }
  } catch {
    // not an observation as JSON, or nested deeper than the stack: shown as it is
  }
  return [jsonBlock(content)];
}

function unreadableParts(unreadable, completion) {
  return [
    part(
      "Unreadable",
      el("p", {}, tag(words(unreadable.reason), "warn"), " ", unreadable.hint),
      completion && block(completion.text || "(nothing)", "short"),
    ),
    part(
      "Model was told",
      unreadable.reprompt
        ? block(unreadable.reprompt)
        : el("p", { class: "small" }, "Nothing: it was asked again as before, or the run ended here."),
    ),
  ];
}

function repairList(repairs, text) {
  const signs = Array.from(text); // offsets count characters, not UTF-16 units
  const around = (offset) =>
    signs
      .slice(Math.max(0, offset - 16), offset + 16)
      .join("")
      .replaceAll("\n", "␊");
  return el(
    "ul",
    { class: "repairs" },
    repairs.map(([name, offset]) =>
      el(
        "li",
        {},
        tag(words(name), "note"),
        ` at ${number(offset)} `,
        offset < signs.length && el("code", { class: "small" }, around(offset)),
      ),
    ),
  );
}

function figures({ completion, attempts, counted }) {
  const usage = completion?.usage;
  const request = attempts.at(-1);
  const told = [
    usage && `${usage.estimated ? "about " : ""}${plural(usage.input_tokens, "prompt token")}`,
    usage?.cached_tokens !== null && usage && `${number(usage.cached_tokens)} of them cached`,
    usage && plural(usage.output_tokens, "reply token"),
    usage?.reasoning_tokens && `${number(usage.reasoning_tokens)} of them reasoning`,
    request && `reply limited to ${number(request.max_output_tokens)}`,
    request && `estimate before the call ${number(request.estimated_tokens)}`,
    counted && `server's count ${number(counted)}`,
    completion && `model ${duration(completion.seconds)}`,
    completion && (completion.closed_early ? "stream closed when the decision was whole" : `finish reason ${completion.finish_reason}`),
    completion?.model && completion.model,
  ];
  const notes = completion?.notes.map((note) => el("p", { class: "small" }, note)) ?? [];
  return [
    told.some(Boolean) && el("p", { class: "small" }, told.filter(Boolean).join(" · ")),
    completion?.refusal && el("p", {}, `Refusal: ${completion.refusal}`),
    ...notes,
  ];
}

function rawRequests(step, requests) {
  return step.attempts.map((attempt, at) => {
    const name = step.attempts.length > 1 ? `Request ${at + 1} of ${step.attempts.length}` : "Request";
    const added = number(attempt.add.length);
    const size = attempt.keep ? `${number(attempt.keep)} messages as before, ${added} new` : plural(attempt.add.length, "message");
    return folded(`${name}: ${size}`, () => requestMessages(requests(step, at), attempt), "raw");
  });
}

function requestMessages(messages, { keep, add: added }) {
  const before = messages.slice(0, keep);
  return [
    copyButton(() => JSON.stringify(messages, null, 2), "Copy as JSON"),
    before.length > 0 && folded(`${plural(before.length, "message")} as before`, () => before.map((message) => messageBlock(message))),
    added.map((message) => messageBlock(message, before.length > 0)),
  ];
}

const messageBlock = (message, isNew = false) =>
  el("div", { class: "message" }, el("p", { class: "role" }, message.role, isNew && tag("new", "note")), block(message.content, "short"));

const rawReply = (completion) =>
  folded(
    `Reply, as it came: ${plural(completion.text.length, "character")}`,
    () => [copyButton(() => completion.text, "Copy"), block(completion.text)],
    "raw",
  );

function copyButton(text, label) {
  const button = el("button", { type: "button", class: "copy" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "The browser does not allow it";
    }
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}
