// The page: what stands in the field and what is on the stage are always about one and the same graph.

import * as address from "./address.js";
import * as api from "./api.js";
import * as comparison from "./comparison.js";
import { capitalized } from "./answers.js";
import { best } from "./choices.js";
import * as editor from "./editor.js";
import { $, figure, isUnsure, likeliest, make } from "./elements.js";
import * as files from "./files.js";
import * as freezing from "./freezing.js";
import * as memory from "./history.js";
import * as progress from "./progress.js";
import * as question from "./question.js";
import * as single from "./single.js";
import * as stage from "./stage.js";
import * as table from "./table.js";
import * as theme from "./theme.js";

// The state of this browser tab.
const tab = {
  service: null, // models, options and limits of the server
  input: null, // the input that is shown: {smiles} or {graph}; null if there is none or it could not be read
  name: "", // name of the input in its file or among the examples
  text: "", // what stands in the field and was read, or could not be
  reading: null, // the promise of the request that reads it
  giveUp: null, // ends that request
  shown: null, // the response to it: prediction, drawing and graph
  followed: null, // the id of the job whose progress is shown
};
const PAUSE = 350; // milliseconds after the last key, when what was typed is read

const model = () => tab.service.models.find(({ name }) => name === $("model").value);
const options = () => tab.service.options;

async function start() {
  theme.start();
  tab.service = await api.service();
  for (const { name } of tab.service.models) $("model").append(make("option", { value: name }, name));
  $("model").hidden = tab.service.models.length < 2;
  listen();
  question.adapt();
  memory.show();
  const shown = (await arrive()) || (field() ? readField() : tryExample()); // somebody may have written already
  $("explain").disabled = false; // only now: there was nothing to explain before
  await shown;
}

function listen() {
  $("model").addEventListener("change", () => { question.adapt(); changeModel(); });
  let timer = null;
  $("smiles").addEventListener("input", () => {
    clearTimeout(timer);
    stage.setStale(field() !== tab.text);
    timer = setTimeout(() => readField({ quietly: true }), PAUSE);
  });
  $("smiles").addEventListener("change", () => readField());
  $("smiles").addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text");
    if (!text.trim().includes("\n")) return;
    event.preventDefault();
    if (text.includes("M  END")) look({ text });
    else files.openText("pasted.smi", text);
  });
  $("example").addEventListener("change", () => {
    const example = model().examples[Number($("example").value)];
    if (example) look({ smiles: example.smiles }, example.name);
  });
  $("ask").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  $("cancel").addEventListener("click", () => tab.followed && api.cancel(tab.followed));
  $("draw").addEventListener("click", () => editor.open(tab.input?.smiles ?? "", "Draw a molecule", null, { graph: tab.shown?.graph, picture: $("before") }));
  window.addEventListener("popstate", async () => (await arrive()) || tryExample());
  document.addEventListener("click", (event) => { // a link within the page must not take the place of the question
    if (!event.target.closest?.("a[href='#stage']")) return;
    event.preventDefault();
    $("stage").focus();
    $("stage").scrollIntoView();
  });
  const page = { model, options, service: () => tab.service, look, openRecord, ask, askFor, go, tab, setInput };
  for (const part of [question, files, single, table, comparison, editor, memory]) part.start(page);
}

const field = () => $("smiles").value.trim();

// Put an address into the bar: a new entry of the history, unless the current one is only a look at an input.
function go(place, { replace = false } = {}) {
  if (place === location.hash) return;
  const isLook = /[#&]look(&|$)/.test(location.hash);
  history[replace || isLook ? "replaceState" : "pushState"](null, "", place);
}

const changeModel = () => (tab.input?.smiles && model().molecules ? look(tab.input, tab.name) : tryExample());

function tryExample() {
  const [first] = model().examples;
  if (first) return look({ smiles: first.smiles }, first.name, { silently: true });
  setInput(null);
  stage.showMessage("Open a file of graphs to begin");
  return null;
}

// Take an input over as the one that field and stage are about.
function setInput(input, name = "") {
  tab.giveUp?.abort();
  Object.assign(tab, { input, name, shown: null, reading: null, text: input?.smiles ?? input?.text?.split("\n")[0] ?? "" });
  $("smiles").value = tab.text;
  $("example").value = model().examples.findIndex(({ smiles }) => smiles === input?.smiles);
  markField("");
  progress.detach();
  tab.followed = null;
  stage.setStale(false);
}

// Read what stands in the field, unless it has been read. While somebody types, what cannot be read is not complained of.
function readField({ quietly = false } = {}) {
  const text = field();
  if (!model().molecules) return tab.reading;
  if (text === tab.text) return tab.reading;
  if (!text) {
    setInput(null);
    stage.showMessage("Enter a molecule to begin", "As SMILES or InChI, drawn, or from a file.");
    return null;
  }
  return look({ text }, "", { quietly, keepField: true });
}

function look(input, name = "", how = {}) {
  const text = $("smiles").value;
  setInput(input, name);
  if (how.keepField) { $("smiles").value = text; tab.text = text.trim(); }
  tab.giveUp = new AbortController();
  tab.reading = read(input, tab.giveUp.signal, how);
  return tab.reading;
}

// Read a graph and show its prediction.
async function read(input, signal, { quietly = false, silently = false }) {
  stage.setStale(true);
  try {
    const shown = await api.read($("model").value, input, question.parent(), signal);
    if (signal.aborted) return;
    Object.assign(tab, { input: shown.input, shown, name: tab.name || shown.name });
    if (!silently) go(address.ofQuestion({ model: $("model").value, input: shown.input, name: tab.name }, options()));
    freezing.set({ nodes: [], edges: [] });
    showInput();
  } catch (problem) {
    if (signal.aborted) return;
    Object.assign(tab, { input: null, reading: null });
    if (quietly && problem.status === 422) tab.text = null; // it is read again, with a complaint, when the field is left
    else complain(problem);
  }
}

// Show the graph and its prediction, without any answer.
function showInput() {
  const { prediction, smiles, remarks } = tab.shown;
  const [name, p] = likeliest(prediction);
  const what = capitalized(tab.name || (model().molecules ? "this molecule" : "this graph"));
  const unsure = isUnsure(prediction) ? `, but the classifier is unsure: ${figure(p)}` : "";
  const title = model().unit === "value" ? `${what} has the predicted value ${figure(p, "value")}` : `${what} is predicted ${name}${unsure}`;
  stage.setStale(false);
  stage.show("single", title, smiles ?? "", remarks.join(" "));
  single.showInput(tab.shown);
}

// Show why the input cannot be used, in place of everything that was about another one.
function complain(problem) {
  const actions = (problem.actions ?? []).map(({ label, smiles, parent }) => make("button", {
    type: "button",
    onclick: () => { if (parent) question.setParent(true); look({ smiles }); },
  }, label));
  stage.setStale(false);
  stage.showProblem(problem.message, actions);
  markField(problem.message);
}

// Say below the field that its content cannot be used, in the place of the hint: nothing moves.
function markField(problem) {
  $("smiles").toggleAttribute("aria-invalid", false);
  if (problem) $("smiles").setAttribute("aria-invalid", "true");
  $("smiles-hint").classList.toggle("bad", Boolean(problem));
  const { max_rows: rows } = tab.service;
  const { molecules, max_nodes: most } = model();
  const limits = molecules ? `Up to ${most} atoms. Files: .smi, .csv, .sdf, .mol, .jsonl, up to ${rows} rows; or drop one.` : `Up to ${most} nodes. Drop a file of graphs anywhere: .jsonl, up to ${rows} rows.`;
  $("smiles-hint").replaceChildren(problem ? make("a", { href: "#stage" }, "This cannot be used: see why") : limits);
}

async function ask() {
  if (!$("table").hidden && !field()) return table.explainAll();
  while (model().molecules && field() !== (tab.text ?? "") || (tab.reading && !tab.shown)) {
    const before = field();
    await readField();
    if (field() === before) break;
  }
  if (tab.reading) await tab.reading;
  const asked = question.asked();
  if (!tab.shown) {
    if ($("smiles").getAttribute("aria-invalid") !== "true") complain({ message: model().molecules ? "Enter a molecule first: as SMILES, InChI, a drawing, or from a file." : "There is no graph to explain yet. Open a file of graphs." });
    return null;
  }
  return asked && askFor({ model: $("model").value, input: tab.input, name: tab.name, asked });
}

// Ask a question about the input that is shown: it has an address from now on. One that was asked before is found again.
async function askFor(asking, { replace = false } = {}) {
  go(address.ofQuestion(asking, options()), { replace });
  const { input } = tab;
  try {
    await follow(await api.explain(asking.model, asking.input, asking.name ?? "", asking.asked), input, asking.answer ?? null);
  } catch (problem) {
    if (tab.input === input) stage.showTrouble(problem.message);
  }
}

// Follow a job until it has ended, and show its answers unless another input is shown by then.
async function follow(job, input, number = null) {
  if (!api.isOpen(job)) return job.state === "done" ? showAnswers(job, number) : stage.showTrouble(job.message);
  tab.followed = job.id;
  progress.begin(job, model().unit);
  stage.showTrouble("");
  memory.show();
  const ended = await api.follow(job.id, (now) => tab.followed === job.id && showNews(now));
  memory.show();
  if (tab.followed !== job.id || tab.input !== input) return null;
  tab.followed = null;
  progress.end();
  if (ended.state === "done") return showAnswers(ended, number);
  return stage.showTrouble(ended.state === "cancelled" ? "Cancelled." : ended.message);
}

// Show how far a job is, and its first answer as soon as there is one.
function showNews(job) {
  if (!api.isOpen(job)) return;
  progress.show(job);
  if (!job.answers.length) return;
  const isNew = $("stage").dataset.first !== String(job.id);
  single.showFirst(job);
  if (isNew) stage.bringIntoView();
}

function showAnswers(job, number) {
  const isFirst = !$("stage").dataset.first;
  single.showJob(job, number ?? best(job));
  if (isFirst) stage.bringIntoView();
  stage.showTrouble(job.message);
}

async function openRecord(record) {
  try {
    const job = await api.openRecord($("model").value, record);
    go(address.ofJob(job.id));
    showStored(job, 0);
    memory.show();
  } catch (problem) {
    complain(problem);
  }
}

// Show the answers of a job that has no question of its own: an explanation from a file, or a row of a table.
function showStored(job, number) {
  if ($("model").value !== job.model) { $("model").value = job.model; question.adapt(); }
  const { factual } = job.answers[0].record;
  setInput(job.input ?? { graph: factual }, job.name);
  $("smiles").value = tab.text = job.input?.smiles ?? "";
  tab.shown = { graph: factual, input: tab.input };
  if (job.asked) question.restore(job.asked);
  else freezing.set({ nodes: [], edges: [] });
  single.showJob(job, number);
}

// Show what the address names; returns true if it names something.
async function arrive() {
  const place = address.parse(location.hash, options());
  if (!place) return false;
  const known = tab.service.models.some(({ name }) => name === place.model);
  if (place.input && !known) {
    stage.showProblem(`This link is about the model ${place.model ?? "(none)"}, which this server does not have. It has ${tab.service.models.map(({ name }) => name).join(", ")}.`, []);
    return true;
  }
  try {
    await arriveAt(place);
  } catch (problem) {
    stage.showProblem(problem.status === 404 ? "This link is about something that only the browser that made it has. Ask for a link to the question." : problem.message, []);
  }
  return true;
}

async function arriveAt(place) {
  if (place.compare) return comparison.show(place.compare);
  if (place.table) return table.arrive(place.table, place.row, showStored);
  if (place.job) return showStored(await api.job(place.job), place.answer);
  if ($("model").value !== place.model) { $("model").value = place.model; question.adapt(); }
  const isShown = tab.shown && JSON.stringify(tab.input) === JSON.stringify(place.input);
  if (!isShown) await look(place.input, place.name, { silently: true });
  if (!tab.shown) return null;
  question.restore(place.asked);
  if (place.look) return showInput();
  return askFor({ ...place, input: tab.input }, { replace: true });
}

start().catch((problem) => { $("headline").textContent = problem.message; });
