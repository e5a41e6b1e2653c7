"use strict";
// Text that strangers wrote: it only ever becomes text nodes, and what cannot be seen is made visible.

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

function visible(text) {
  return String(text)
    .replaceAll("\r\n", "\n")
    .replace(UNSEEN, (sign) => {
      const code = sign.codePointAt(0);
      return code < 0x20 ? String.fromCodePoint(0x2400 + code) : `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
    });
}

// Adds nodes and texts to an element; every text of the page passes here. What is null, false or empty is left out.
function add(element, ...children) {
  const shown = children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false && child !== "");
  element.append(...shown.map((child) => (child instanceof Node ? child : visible(child))));
  return element;
}

// An element: attributes by name, listeners as functions (onclick), then its children.
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  return add(element, ...children);
}

const plural = (count, word, words = `${word}s`) => `${number(count)} ${count === 1 ? word : words}`;
const number = (value) => Number(value).toLocaleString("en");
const words = (slug) => String(slug).replaceAll("_", " ");

function duration(seconds) {
  if (!seconds) return "0 s";
  if (seconds < 0.001) return "< 1 ms";
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const [big, small, per] = whole < 3600 ? ["min", "s", 60] : ["h", "min", 3600];
  const rest = Math.floor((whole % per) / (per / 60));
  return `${Math.floor(whole / per)} ${big}${rest ? ` ${rest} ${small}` : ""}`;
}

function firstLine(text, most = 240) {
  const line = String(text).replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most)} …` : line;
}

// A number that JavaScript would write differently (a long integer, 1.0) is kept as it was written.
class Exact {
  constructor(source) {
    this.source = source;
  }
}

function parseExact(text) {
  const keep = (key, value, context) =>
    typeof value === "number" && context?.source !== undefined && String(value) !== context.source ? new Exact(context.source) : value;
  return JSON.parse(text, keep);
}

const isPlain = (value) => value === null || typeof value !== "object" || value instanceof Exact;
const plainText = (value) => (value instanceof Exact ? value.source : JSON.stringify(value));

// JSON on one line.
function compact(value) {
  if (isPlain(value)) return plainText(value);
  if (Array.isArray(value)) return `[${value.map(compact).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${compact(item)}`)
    .join(", ")}}`;
}

// JSON as indented, coloured text.
function pretty(value, indent = "") {
  if (isPlain(value)) {
    const kind = typeof value === "string" ? "string" : value === null || typeof value === "boolean" ? "word" : "number";
    return [el("span", { class: `json-${kind}` }, plainText(value))];
  }
  const isList = Array.isArray(value);
  const entries = isList ? value.map((item) => [null, item]) : Object.entries(value);
  const short =
    entries.every(([, item]) => isPlain(item)) && entries.map(([key, item]) => `${key ?? ""}${plainText(item)}`).join(", ").length < 72;
  const inner = short ? "" : `${indent}  `;
  const pieces = entries.map(([key, item], at) => [
    at ? (short ? ", " : `,\n${inner}`) : "",
    key === null ? "" : [el("span", { class: "json-key" }, JSON.stringify(key)), ": "],
    pretty(item, inner),
  ]);
  const [open, close] = isList ? "[]" : "{}";
  return short ? [open, pieces, close].flat(Infinity) : [`${open}\n${inner}`, pieces, `\n${indent}${close}`].flat(Infinity);
}

const block = (text, name = "") => el("pre", { class: `text ${name}`, tabindex: "0" }, text);

// JSON text, drawn as what it is: a table of rows, a long text, or the JSON itself.
function structured(value) {
  if (typeof value === "string") return block(value);
  const table = tableOf(value);
  return table ?? el("pre", { class: "text json", tabindex: "0" }, pretty(value));
}

function jsonBlock(text) {
  try {
    return structured(parseExact(text));
  } catch {
    return block(text); // not JSON, or nested deeper than the stack
  }
}

const MOST_ROWS = 500;

// {columns, rows, ...} of a query, or a list of like objects, as {columns, rows, rest}; null for anything else.
function rowsOf(value) {
  let [columns, rows, rest] = [null, null, {}];
  if (Array.isArray(value)) {
    columns = Object.keys(value[0] ?? {});
    const alike = value.every((row) => !isPlain(row) && !Array.isArray(row) && Object.keys(row).join("\n") === columns.join("\n"));
    rows = alike ? value.map((row) => Object.values(row)) : [];
  } else if (!isPlain(value)) {
    ({ columns, rows, ...rest } = value);
  }
  if (!Array.isArray(columns) || !columns.length || !Array.isArray(rows) || !rows.length) return null;
  const whole = rows.every((row) => Array.isArray(row) && row.length === columns.length && row.every(isPlain));
  return whole ? { columns, rows, rest } : null;
}

function tableOf(value) {
  const table = rowsOf(value);
  return (
    table &&
    el("div", {}, el("div", { class: "scroll", tabindex: "0" }, tableElement(table.columns, table.rows)), under(table.rows, table.rest))
  );
}

const cellText = (value) => (typeof value === "string" ? value : compact(value));

// A result in one line.
function resultLine(value) {
  const table = rowsOf(value);
  if (!table) return cellText(value);
  const names = table.columns.map(cellText);
  return table.rows.length > 1
    ? `${number(table.rows.length)} rows of ${names.join(", ")}`
    : table.rows[0].map((cell, at) => `${names[at]} = ${cellText(cell)}`).join(", ");
}

function tableElement(columns, rows) {
  const isNumber = (cell) => typeof cell === "number" || cell instanceof Exact;
  const cell = (value) => el("td", { class: isNumber(value) ? "number" : value === null ? "null" : false }, cellText(value));
  return el(
    "table",
    {},
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        columns.map((name) => el("th", { scope: "col" }, cellText(name))),
      ),
    ),
    el(
      "tbody",
      {},
      rows.slice(0, MOST_ROWS).map((row) => el("tr", {}, row.map(cell))),
    ),
  );
}

function under(rows, rest) {
  const more = rows.length > MOST_ROWS ? `${number(rows.length - MOST_ROWS)} more rows; they are in the raw request of the next step` : "";
  const others = Object.entries(rest).filter(([, value]) => value !== null);
  return [
    more && el("p", { class: "small" }, more),
    others.length > 0 && el("pre", { class: "text json small", tabindex: "0" }, pretty(Object.fromEntries(others))),
  ];
}
