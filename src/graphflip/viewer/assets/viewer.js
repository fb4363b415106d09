// The page: reads inputs, asks questions, and shows their answers.

import * as api from "./api.js";
import { capitalized, headline, describeShortfall, showChanges, showChoices, showEvidence, showVerdict } from "./answers.js";
import { download } from "./downloads.js";
import { highlight, mount, watch } from "./drawing.js";
import { $, figure, likeliest, make, say } from "./elements.js";
import * as files from "./files.js";
import * as freezing from "./freezing.js";
import { showHistory } from "./history.js";
import * as path from "./path.js";
import * as progress from "./progress.js";
import * as question from "./question.js";
import * as theme from "./theme.js";

// The state of this browser tab.
const tab = {
  service: null, // models and limits of the server
  input: null, // the input that is shown: {smiles} or {graph}; null if it could not be read
  name: "", // name of the input in its file or among the examples
  reading: null, // the promise of the request that reads it
  shown: null, // the response to that request: prediction, drawing and graph
  job: null, // the job whose answers are shown
  running: null, // the id of the job that is waiting or running
  number: 0, // the number of the answer that is shown
  answer: null, // that answer, after undoing the unchecked changes
  undone: new Set(), // numbers of the unchecked changes
};

const model = () => tab.service.models.find(({ name }) => name === $("model").value);

async function start() {
  theme.start();
  path.start();
  tab.service = await api.service();
  for (const { name } of tab.service.models) $("model").append(make("option", { value: name }, name));
  $("model").hidden = tab.service.models.length < 2;
  listen();
  question.adapt();
  await showHistory();
  const reading = (await restore()) || tryExample();
  $("explain").disabled = false; // only now: there was nothing to explain before
  await reading;
}

function listen() {
  $("model").addEventListener("change", () => { $("entries").hidden = true; question.adapt(); tryExample(); });
  $("smiles").addEventListener("change", readSmiles);
  $("smiles").addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); readSmiles(); }
  });
  $("example").addEventListener("change", () => {
    const example = model().examples[Number($("example").value)];
    if (example) look({ smiles: example.smiles }, example.name);
  });
  $("ask").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  $("cancel").addEventListener("click", () => tab.running && api.cancel(tab.running));
  for (const button of $("downloads").querySelectorAll("button")) {
    button.addEventListener("click", () => download(button.dataset.kind, tab.answer));
  }
  for (const side of ["before", "after"]) {
    watch($(side), (mark) => hover(changes().find((change) => change.marks.includes(mark)) ?? null));
  }
  window.addEventListener("hashchange", restore);
  files.start({ model, look, openRecord });
  question.start(model);
}

async function tryExample() {
  const [first] = model().examples;
  if (first) return look({ smiles: first.smiles }, first.name);
  Object.assign(tab, { input: null, shown: null });
  $("smiles").value = "";
  clear("Open a file of graphs to begin", "");
  for (const id of ["before", "before-class", "before-bar"]) $(id).replaceChildren();
}

// Read the SMILES in the field, unless it has been read already.
function readSmiles() {
  const text = $("smiles").value.trim();
  if (text === (tab.input?.smiles ?? "")) return tab.reading;
  if (!text) return complain("Enter a molecule as SMILES, for example c1ccccc1O.");
  return look({ smiles: text });
}

function look(input, name = "") {
  Object.assign(tab, { input, name, shown: null, reading: read(input) });
  return tab.reading;
}

// Read a graph and show its prediction.
async function read(input) {
  $("smiles").value = input.smiles ?? "";
  $("example").value = model().examples.findIndex(({ smiles }) => smiles === input.smiles);
  say("smiles-message", "");
  $("smiles").removeAttribute("aria-invalid");
  try {
    const shown = await api.read($("model").value, input);
    if (tab.input !== input) return;
    tab.shown = shown;
    freezing.set({ nodes: [], edges: [] });
    showInput(shown);
  } catch (problem) {
    if (tab.input === input) complain(problem.message);
  }
}

// Show beside the field why the input cannot be used.
function complain(message) {
  Object.assign(tab, { input: null, shown: null });
  say("smiles-message", message);
  $("smiles").setAttribute("aria-invalid", "true");
}

function showInput(shown) {
  const [name, p] = likeliest(shown.prediction);
  const what = capitalized(tab.name || (model().molecules ? "this molecule" : "this graph"));
  clear(model().unit === "value" ? `${what} has the predicted value ${figure(p, "value")}` : `${what} is predicted ${name}`, shown.smiles ?? "");
  drawBefore(shown.drawing);
  verdict("before", shown.prediction);
}

// Remove the answer from the page.
function clear(title, subline) {
  Object.assign(tab, { job: null, answer: null, undone: new Set() });
  history.replaceState(null, "", location.pathname);
  $("headline").textContent = title;
  $("subline").textContent = subline;
  for (const id of ["after-card", "details", "choices", "legend"]) $(id).hidden = true;
  path.hide();
  say("note", "");
  say("job-message", "");
}

function drawBefore(drawing) {
  freezing.attach(mount($("before"), drawing, "The graph as it is; its parts can be kept"), tab.shown?.graph);
}

const verdict = (side, ...rest) => showVerdict(side, model().unit, ...rest);

async function ask() {
  if (tab.running) return;
  await readSmiles();
  const asked = question.asked();
  if (!tab.shown && $("smiles-message").hidden) complain("There is no graph to explain yet. Open a file of graphs.");
  if (!tab.shown || !asked) return;
  say("job-message", "");
  const { input, name } = tab;
  try {
    await compute(await api.explain($("model").value, input, name, asked), input);
  } catch (problem) {
    say("job-message", problem.message);
  }
}

// Follow a job until it has ended, and show its answers unless another input is shown by then.
async function compute(job, input) {
  tab.running = job.id;
  progress.begin(job, model().unit);
  try {
    const ended = await api.follow(job.id, progress.show);
    if (ended.state !== "done") say("job-message", ended.state === "cancelled" ? "Cancelled." : ended.message);
    else if (tab.input === input) { showJob(ended); bringIntoView($("stage")); }
  } finally {
    tab.running = null;
    progress.end();
    showHistory();
  }
}

// On a narrow page the answer is below the form: scroll to it.
function bringIntoView(element) {
  if (element.getBoundingClientRect().top > innerHeight / 2) element.scrollIntoView();
}

function showJob(job, number = 0) {
  tab.job = job;
  choose(Math.min(number, job.answers.length - 1));
}

function choose(number, focus = false) {
  const answer = tab.job.answers[number];
  Object.assign(tab, { number, undone: new Set() });
  history.replaceState(null, "", `#${tab.job.id}/${number}`);
  showChoices(tab.job.answers, number, choose);
  if (focus) $("tabs").querySelector("[tabindex='0']").focus();
  sayUndone("");
  showAnswer(answer);
  const canSlide = model().has_path && answer.record.counterfactual && answer.record.edits.length;
  if (canSlide) path.show(tab.job.id, number, answer, slide);
  else path.hide();
}

function showAnswer(answer) {
  tab.answer = answer;
  const { record } = answer;
  $("headline").textContent = headline(answer, tab.undone.size);
  $("subline").textContent = describeSmiles(record);
  const hasChange = record.counterfactual !== null && record.outcome !== "already_there";
  const notes = tab.undone.size ? [] : [record.note, ...(record.remarks ?? []), answer.advice, describeShortfall(tab.job)];
  say("note", notes.filter((text) => text && text !== $("headline").textContent).join(" "));
  drawBefore(answer.drawings.factual);
  verdict("before", answer.predictions.factual, answer, record.p_factual);
  drawAfter(answer);
  showChanges(answer, tab.job.answers[tab.number], tab.undone, toggleUndone, hover);
  showEvidence(answer);
  $("python").textContent = answer.python;
  for (const id of ["after-card", "details", "legend"]) $(id).hidden = !hasChange;
}

const changes = () => tab.job?.answers[tab.number].words ?? [];

// Highlight a change in both drawings and in the list; null highlights none.
function hover(change) {
  highlight([$("before"), $("after")], change?.marks ?? []);
  [...$("changes").children].forEach((row, number) => row.classList.toggle("pointed", changes()[number] === change));
}

function describeSmiles({ smiles, edits }) {
  if (!smiles) return "";
  return edits.length ? `${smiles.factual} → ${smiles.counterfactual ?? "no molecule"}` : smiles.factual;
}

function drawAfter(answer) {
  const { record, drawings, predictions } = answer;
  if (drawings.counterfactual === null) return;
  $("after-title").textContent = tab.undone.size ? "With changes undone" : record.flipped ? "Changed" : "Closest attempt";
  mount($("after"), drawings.counterfactual, "The graph as changed");
  verdict("after", predictions.counterfactual, answer, record.p_counterfactual);
}

// Show a step of the latent path in place of the changed graph; null, at the end of the slider, shows that again.
function slide(step) {
  if (step === null) return drawAfter(tab.answer);
  $("after-title").textContent = "On the way";
  mount($("after"), step.drawing, step.text);
  verdict("after", step.prediction, tab.answer, step.probability);
}

async function toggleUndone(number, isUndone) {
  tab.undone[isUndone ? "add" : "delete"](number);
  const [job, at, undone] = [tab.job, tab.number, [...tab.undone]];
  const { goal } = tab.job.answers[at];
  try {
    const answer = undone.length ? await api.undo(job.id, at, undone) : job.answers[at];
    if (tab.job !== job || tab.number !== at || undone.length !== tab.undone.size) return;
    showAnswer(answer);
    const holds = answer.record.flipped ? "Still" : "No longer";
    sayUndone(undone.length ? `${holds} ${goal.words}: ${figure(answer.record.p_counterfactual, goal.unit)}` : "");
  } catch (problem) {
    sayUndone(problem.message);
  }
  $("changes").querySelectorAll("input")[number]?.focus();
}

function sayUndone(text) {
  say("undo-text", text);
  $("undo-hint").hidden = Boolean(text);
}

async function openRecord(record) {
  try {
    restoreAnswer(await api.openRecord($("model").value, record), 0);
    freezing.set({ nodes: [], edges: [] });
    showHistory();
  } catch (problem) {
    complain(problem.message);
  }
}

// Show the job that the address names; returns true if there is one.
async function restore() {
  const [id, number] = location.hash.slice(1).split("/");
  if (!id || (tab.job?.id === id && String(tab.number) === number)) return Boolean(id);
  try {
    const job = await api.job(id);
    if ($("model").value !== job.model) { $("model").value = job.model; question.adapt(); }
    if (job.state === "done") restoreAnswer(job, Number(number) || 0);
    else await look(job.input, job.name);
    if (job.asked) question.restore(job.asked);
    if (job.state === "waiting" || job.state === "running") compute(job, tab.input);
    return true;
  } catch {
    return false;
  }
}

function restoreAnswer(job, number) {
  const { factual } = job.answers[0].record;
  Object.assign(tab, { input: job.input ?? { graph: factual }, name: job.name, shown: { graph: factual } });
  $("smiles").value = job.input?.smiles ?? "";
  showJob(job, number);
}

start().catch((problem) => { $("headline").textContent = problem.message; });
