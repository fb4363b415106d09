// Many graphs: the entries of a file as a table that can be sorted and filtered, explained row by row, and taken along.

import * as address from "./address.js";
import * as api from "./api.js";
import { copy, save } from "./copying.js";
import { mount } from "./drawing.js";
import { $, figure, likeliest, make, say } from "./elements.js";
import * as memory from "./history.js";
import * as question from "./question.js";
import * as stage from "./stage.js";

const KINDS = { csv: "CSV", sdf: "SDF", jsonl: "JSON lines", png: "PNG", svg: "SVG", html: "Report" };
const STATES = { open: "not yet", waiting: "waiting", running: "computing …", done: "", failed: "failed", problem: "unusable" };
const COLUMNS = [
  ["id", "Name", (row) => row.id],
  ["", "As it is → changed", null],
  ["prediction", "Prediction", (row) => (row.predicted ? `${likeliest(row.predicted)[0]} ${figure(1 - likeliest(row.predicted)[1])}` : "")],
  ["outcome", "Outcome", (row) => words(row)],
  ["num_edits", "Edits", (row) => row.num_edits ?? Infinity],
  ["after", "Target", (row) => row.p_counterfactual ?? -1],
  ["agreed", "Judges", (row) => share(row.agreed)],
  ["similarity", "Similarity", (row) => row.similarity ?? -1],
];

let page = null;
const now = { id: null, name: "", rows: [], state: "", order: ["", 1], chosen: null, leftOut: false, followed: null };

export function start(given) {
  page = given;
}

// Show the entries of a file that nothing was asked about yet.
export function showFile(name, rows, leftOut) {
  const entries = rows.map((row, number) => ({ number, id: row.id, input: row.input, record: row.record, message: row.problem ?? "", state: row.problem ? "problem" : "open", predicted: row.prediction, drawings: row.drawing ? [row.drawing] : [] }));
  Object.assign(now, { id: null, name, rows: entries, state: "file", order: ["", 1], chosen: null, leftOut, followed: null });
  page.setInput(null);
  render();
}

// Show a table of this session, or a row of it.
export async function arrive(id, row, showStored) {
  if (now.id !== id) {
    Object.assign(now, { id, rows: [], order: ["", 1], chosen: null, leftOut: false });
    await follow(id);
  }
  if (row === null) { page.setInput(null); return render(); }
  return openRow(row, showStored);
}

async function openRow(number, showStored) {
  now.chosen = number;
  const job = await api.row(now.id, number);
  showStored(job, 0);
  const step = (by) => now.rows.filter((row) => row.state === "done").map((row) => row.number).sort((a, b) => a - b).find((other, at, all) => (by > 0 ? other > number && (at === 0 || all[at - 1] <= number) : other < number && (at === all.length - 1 || all[at + 1] >= number)));
  const link = (to, text) => (to === undefined ? null : make("a", { href: address.ofTable(now.id, to) }, text));
  const links = [link(null, `← ${now.name || "Table"}`), link(step(-1), "previous"), link(step(1), "next")].filter(Boolean);
  stage.setWayBack(...links);
}

// Follow a table of the server until it is finished; resolves when its rows are there for the first time.
function follow(id) {
  now.followed = id;
  return new Promise((resolve, reject) => {
    const changed = (view) => {
      if (now.followed !== id) return;
      Object.assign(now, { id, name: view.name, state: view.state, model: view.model });
      for (const row of view.rows) now.rows[row.number] = { ...row, predicted: row.prediction };
      resolve();
      if (!$("table").hidden) render();
    };
    api.followTable(id, changed, () => now.followed !== id).then(() => memory.show(), reject);
  });
}

export async function explainAll() {
  const asked = question.asked();
  if (!asked || now.id !== null) return;
  const rows = now.rows.filter((row) => !row.record).map(({ id, input, message, state }) => ({ id, input: state === "problem" ? null : input, problem: state === "problem" ? message : null }));
  try {
    const view = await api.explainTable(page.model().name, now.name, rows, asked);
    Object.assign(now, { id: view.id, rows: [], state: view.state });
    page.go(address.ofTable(view.id));
    await follow(view.id);
    render();
    memory.show();
  } catch (problem) {
    stage.showTrouble(problem.message);
  }
}

async function stopOrGoOn() {
  if (now.state === "running") { await api.stopTable(now.id); return; }
  await api.resumeTable(now.id);
  follow(now.id);
}

function render() {
  const total = now.rows.length;
  const done = now.rows.filter(({ state }) => state === "done" || state === "failed").length;
  const bad = now.rows.filter(({ state }) => state === "problem").length;
  const counted = `${total} ${total === 1 ? "entry" : "entries"}${bad ? `, ${bad} of them unusable` : ""}`;
  const note = now.leftOut ? `These are the first ${total} of the file, as many as the page takes. For more: graphflip explain FILE --out FOLDER.` : "";
  const focus = $("table").contains(document.activeElement) ? document.activeElement.dataset.focus : null;
  const filters = Object.fromEntries([...$("table").querySelectorAll("[name]")].map(({ name, value }) => [name, value]));
  stage.show("table", now.name || "Table", now.id ? `${done} of ${total - bad} explained` : counted, note);
  $("table").replaceChildren(controls(done, total - bad), list());
  for (const [name, value] of Object.entries(filters)) $("table").querySelector(`[name=${name}]`).value = value;
  filter();
  if (focus) $("table").querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
}

function controls(done, total) {
  const isFile = now.id === null;
  const left = total - done;
  const act = isFile
    ? make("button", { type: "button", class: "primary", "data-focus": "act", onclick: explainAll }, `Explain all ${total}`)
    : left || now.state === "running" ? make("button", { type: "button", "data-focus": "act", onclick: stopOrGoOn }, now.state === "running" ? "Stop" : `Go on with ${left}`) : null;
  const bar = isFile ? null : make("progress", { max: total || 1, value: done, "aria-label": "Progress" });
  const downloads = isFile || !done ? null : make("div", { class: "downloads" }, ...Object.entries(KINDS).map(([kind, name]) =>
    make("button", { type: "button", "data-focus": kind, onclick: (event) => download(kind, event.target) }, name)), copyButton());
  const find = make("label", {}, make("span", { class: "visually-hidden" }, "Find"), make("input", { type: "search", name: "find", placeholder: "Find a name, nitro, C=O …", "data-focus": "find", oninput: filter }));
  const kinds = [...new Set(now.rows.map(words))].filter(Boolean);
  const which = make("label", {}, make("span", { class: "visually-hidden" }, "Outcome"), make("select", { name: "which", "data-focus": "which", onchange: filter }, make("option", { value: "" }, "all outcomes"), ...kinds.map((kind) => make("option", { value: kind }, kind))));
  return make("div", { class: "table-controls" }, make("div", { class: "table-work" }, act, bar), downloads, make("div", { class: "table-filters" }, find, which, make("output", { id: "table-count", class: "hint" })), make("p", { id: "table-message", class: "message", role: "alert", hidden: true }));
}

function copyButton() {
  const text = () => now.rows.filter(({ after }) => after).map(({ id, after }) => `${after} ${id.replace(/\s+/g, "_")}`).join("\n");
  return make("button", { type: "button", "data-focus": "copy", onclick: (event) => copy(text(), event.target) }, "Copy changed SMILES");
}

async function download(kind, button) {
  say("table-message", "");
  button.disabled = true;
  try {
    const { name, content } = await api.tableFile(now.id, kind);
    save(name, content);
  } catch (problem) {
    say("table-message", problem.message);
  } finally {
    button.disabled = false;
  }
}

function list() {
  const [key, way] = now.order;
  const heads = columns().map(([name, title]) => {
    if (!name) return make("th", { scope: "col" }, title);
    const sorted = key === name ? (way > 0 ? "ascending" : "descending") : null;
    return make("th", { scope: "col", "aria-sort": sorted }, make("button", { type: "button", "data-focus": `by ${name}`, onclick: () => sort(name) }, title));
  });
  const value = COLUMNS.find(([name]) => name === key)?.[2] ?? ((row) => row.number);
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b);
  const ordered = [...now.rows].sort((a, b) => way * compare(value(a), value(b)) || a.number - b.number);
  return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Rows" }, make("table", { class: "rows" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...ordered.map(entry))));
}

// Of a file that was not explained yet there is less to show.
const columns = () => (now.id === null ? COLUMNS.slice(0, 4) : COLUMNS);

function sort(name) {
  const [key, way] = now.order;
  now.order = [name, key === name ? -way : 1];
  render();
}

function filter() {
  const find = $("table").querySelector("[name=find]").value.toLowerCase().split(/\s+/).filter(Boolean);
  const which = $("table").querySelector("[name=which]").value;
  let shown = 0;
  for (const row of $("table").querySelectorAll("tbody tr")) {
    const fits = (!which || row.dataset.outcome === which) && find.every((word) => row.textContent.toLowerCase().includes(word));
    row.hidden = !fits;
    shown += fits;
  }
  $("table-count").textContent = shown === now.rows.length ? "" : `${shown} of ${now.rows.length}`;
}

function entry(row) {
  const { id, number, state, message, drawings = [], changes = [], unit } = row;
  const name = state === "problem" || (now.id && state !== "done") ? make("span", {}, id) : opener(row);
  const pictures = make("div", { class: "thumbs" }, ...drawings.map((drawing, k) => thumb(drawing, k ? `${id} changed` : id)));
  const predicted = row.predicted ? `${likeliest(row.predicted)[0]} ${figure(likeliest(row.predicted)[1], unit ?? page.model().unit)}` : "";
  const cells = [
    make("th", { scope: "row" }, name, row.before ? make("code", {}, row.before) : row.input?.smiles ? make("code", {}, row.input.smiles) : null),
    make("td", {}, drawings.length ? pictures : "", changes.length ? make("span", { class: "hint" }, changes.join("; ")) : null, message ? make("span", { class: "hint reason" }, message) : null),
    make("td", {}, predicted),
    make("td", { class: state === "problem" || state === "failed" ? "bad" : null }, words(row)),
    make("td", { class: "number" }, row.num_edits === null || row.num_edits === undefined || state !== "done" ? "" : String(row.num_edits)),
    make("td", { class: "number" }, row.p_counterfactual === null || row.p_counterfactual === undefined ? "" : figure(row.p_counterfactual, unit)),
    make("td", {}, row.agreed?.length ? `${row.agreed.filter(Boolean).length} of ${row.agreed.length}` : ""),
    make("td", { class: "number" }, row.similarity === null || row.similarity === undefined ? "" : figure(row.similarity)),
  ];
  return make("tr", { "data-outcome": words(row), class: number === now.chosen ? "chosen" : null, "aria-current": number === now.chosen ? "true" : null }, ...cells.slice(0, columns().length));
}

function opener(row) {
  if (now.id !== null) return make("a", { href: address.ofTable(now.id, row.number), "data-focus": `row ${row.number}` }, row.id);
  const open = () => { now.chosen = row.number; if (row.record) page.openRecord(row.record); else page.look(row.input, row.id).then(offerWayBack); };
  return make("button", { type: "button", class: "link", "data-focus": `row ${row.number}`, onclick: open }, row.id);
}

// From an entry of a file that was not explained as a whole, back to the list.
function offerWayBack() {
  stage.setWayBack(make("button", { type: "button", class: "link", onclick: () => { page.setInput(null); render(); } }, `← ${now.name}`));
}

function thumb(drawing, label) {
  const place = make("div", { class: "thumb" });
  mount(place, drawing, label);
  return place;
}

function words({ state, outcome, flipped }) {
  if (state !== "done") return STATES[state] ?? state;
  return flipped ? "flipped" : (outcome ?? "").replaceAll("_", " ");
}

const share = (agreed) => (agreed?.length ? agreed.filter(Boolean).length / agreed.length : -1);
