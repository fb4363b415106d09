// One answer closely: both graphs, the changes that can be taken back, the evidence, and what to do with it.

import * as address from "./address.js";
import * as api from "./api.js";
import { capitalized, describeShortfall, headline, showChanges, showEvidence, showSmaller, showVerdict } from "./answers.js";
import { showChoices, shownOf } from "./choices.js";
import * as comparison from "./comparison.js";
import { copy, save } from "./copying.js";
import { highlight, mount, watch } from "./drawing.js";
import * as editor from "./editor.js";
import { $, figure, say } from "./elements.js";
import * as freezing from "./freezing.js";
import * as path from "./path.js";
import * as stage from "./stage.js";
import { showTrust } from "./trust.js";

let page = null;
const now = {
  job: null, // the job whose answers are shown
  number: 0, // the number of the answer that is shown
  answer: null, // that answer, after undoing the unchecked changes
  importance: null, // effects at each place of the graph as it is, which can be colored
  undone: new Set(), // numbers of the unchecked changes
  isFirst: false, // true while that is a first answer, and the search goes on
};
const FIRST = "A first answer, found in haste: still looking for the one that you asked for …";
let undoing = null; // ends the request for an answer without some changes

export function start(given) {
  page = given;
  path.start();
  for (const side of ["before", "after"]) {
    watch($(side), (mark) => hover(changes().find((change) => change.marks.includes(mark)) ?? null));
  }
  for (const button of $("downloads").querySelectorAll("button")) button.addEventListener("click", () => download(button));
  $("copy-smiles").addEventListener("click", () => copy(now.answer.record.smiles?.counterfactual ?? "", $("copy-smiles")));
  $("copy-python").addEventListener("click", () => copy(now.answer.python, $("copy-python")));
  $("copy-link").addEventListener("click", () => copy(location.href, $("copy-link")));
  $("edit").addEventListener("click", () => editor.open(now.answer.record.smiles?.counterfactual ?? "", "Edit the changed molecule", now.answer.goal, { graph: now.answer.record.counterfactual, picture: $("after") }));
  $("pin").addEventListener("click", () => comparison.pin({ job: now.job.id, number: now.number }, $("pin")));
  $("compare-answers").addEventListener("click", () => comparison.open(shownOf(now.job).map((number) => ({ job: now.job.id, number }))));
  $("compare-preferences").addEventListener("click", () => comparison.askEach(now.job, "prefer"));
  $("compare-models").addEventListener("click", () => comparison.askEach(now.job, "model"));
  $("numbers").addEventListener("change", showMarks);
  $("matters").addEventListener("change", showMarks);
  $("freeze").addEventListener("focus", () => { $("numbers").checked = true; showMarks(); });
}

function showMarks() {
  const isColored = Boolean(now.importance);
  $("matters-switch").hidden = !isColored;
  const isOn = isColored && $("matters").checked;
  $("single").classList.toggle("numbered", $("numbers").checked);
  $("single").classList.toggle("colored", isOn);
  $("matters-legend").hidden = !isOn;
  if (isOn) {
    const { nodes, edges, estimated = [] } = now.importance;
    const most = Math.max(0, ...[...nodes, ...edges, ...estimated].map((place) => Math.abs(place.at(-1))));
    const words = [nodes.length ? "mean effect of the single changes that were tried" : "", estimated.length ? `${nodes.length ? "small spots: " : ""}estimated from the classifier's gradient` : ""];
    $("matters-most").textContent = `${words.filter(Boolean).join("; ")}; the strongest color is a change of ${most.toPrecision(2)}`;
  }
}

// Show a graph without any answer.
export function showInput({ drawing, prediction, graph, trust, importance = null }) {
  Object.assign(now, { job: null, answer: null, importance, undone: new Set(), isFirst: false });
  delete $("stage").dataset.job;
  delete $("stage").dataset.first;
  for (const id of ["after-card", "details", "choices", "legend"]) $(id).hidden = true;
  path.hide();
  drawBefore(drawing, graph);
  verdict("before", prediction);
  showTrust(page.model(), prediction, trust);
  showMarks();
}

function drawBefore(drawing, graph) {
  freezing.attach(mount($("before"), drawing, "The graph as it is; its parts can be kept"), graph);
}

const verdict = (side, ...rest) => showVerdict(side, page.model().unit, ...rest);

// Show the answer that a search has found in haste and goes on from. There is nothing to do with it but to look.
export function showFirst(job) {
  Object.assign(now, { job, isFirst: true });
  $("stage").dataset.first = job.id;
  choose(0, { isFirst: true });
}

export function showJob(job, number = 0) {
  Object.assign(now, { job, isFirst: false });
  $("stage").dataset.job = job.id;
  delete $("stage").dataset.first;
  choose(Math.max(0, Math.min(number, job.answers.length - 1)), { isFirst: true });
}

function choose(number, { focus = false, isFirst = false } = {}) {
  const answer = now.job.answers[number];
  Object.assign(now, { number, undone: new Set() });
  if (!isFirst) page.go(placeOf(number), { replace: true });
  const select = (chosen, isByKey) => choose(chosen, { focus: isByKey });
  showChoices(now.job, number, select);
  $("compare-answers").hidden = shownOf(now.job).length < 2;
  $("compare-preferences").hidden = !now.job.asked;
  $("compare-models").hidden = !now.job.asked || comparison.comparable().length < 2;
  if (focus) $("tabs").querySelector("[tabindex='0']").focus();
  sayUndone("");
  showAnswer(answer);
  showPath();
}

function placeOf(answer) {
  if (!now.job.asked || location.hash.startsWith("#table=")) return location.hash;
  return address.ofQuestion({ ...now.job, answer }, page.options());
}

// The way belongs to the whole answer: without some of its changes there is none.
function showPath() {
  const answer = now.job.answers[now.number];
  const canSlide = !now.isFirst && page.model().has_path && !now.undone.size && answer.record.counterfactual && answer.record.edits.length;
  if (canSlide) path.show(now.job.id, now.number, answer, slide);
  else path.hide();
}

function showAnswer(answer) {
  const { record } = answer;
  Object.assign(now, { answer, importance: record.importance ?? null });
  const title = headline(answer, now.undone.size);
  const hasChange = record.counterfactual !== null && record.outcome !== "already_there";
  const notes = now.isFirst ? [FIRST] : now.undone.size ? [] : [answer.note ?? record.note, ...(record.remarks ?? []), answer.advice, describeShortfall(now.job)];
  const wayBack = [...$("way-back").childNodes];
  stage.show("single", title, describeSmiles(record), notes.filter((text) => text && text !== title).join(" "));
  stage.setWayBack(...wayBack);
  drawBefore(answer.drawings.factual, record.factual);
  verdict("before", answer.predictions.factual, answer, record.p_factual);
  drawAfter(answer);
  showChanges(answer, now.job.answers[now.number], now.undone, now.isFirst ? null : toggleUndone, hover);
  showSmaller(now.job.answers[now.number], now.undone, takeBack);
  showEvidence(answer);
  showTrust(page.model(), answer.predictions.factual, null, record.evidence?.nearest_factual);
  $("python").textContent = answer.python;
  for (const id of ["after-card", "details", "legend"]) $(id).hidden = !hasChange;
  $("details").classList.toggle("first", now.isFirst);
  for (const id of ["edit", "copy-smiles"]) $(id).hidden = !record.smiles?.counterfactual;
  showMarks();
}

const changes = () => now.job?.answers[now.number].words ?? [];

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
  const title = !answer.is_molecule ? "No molecule" : now.isFirst ? "First answer" : now.undone.size ? "With changes undone" : record.flipped ? "Changed" : "Closest attempt";
  $("after-title").textContent = title;
  $("after-card").classList.toggle("impossible", !answer.is_molecule);
  mount($("after"), drawings.counterfactual, "The graph as changed");
  verdict("after", predictions.counterfactual, answer, record.p_counterfactual);
}

// Show a step of the latent path in place of the changed graph; null, at the end of the slider, shows that again.
function slide(step) {
  if (step === null) return drawAfter(now.answer);
  $("after-title").textContent = "On the way";
  mount($("after"), step.drawing, step.text);
  return verdict("after", step.prediction, now.answer, step.probability);
}

function toggleUndone(number, isUndone) {
  now.undone[isUndone ? "add" : "delete"](number);
  return showUndone(number);
}

function takeBack(numbers) {
  now.undone = new Set(numbers);
  return showUndone(numbers[0]);
}

// Show the answer without the unchecked changes, and move the focus to a change. Only the last of several is wanted.
async function showUndone(number) {
  undoing?.abort();
  undoing = new AbortController();
  const { signal } = undoing;
  const [job, at, undone] = [now.job, now.number, [...now.undone]];
  const { goal } = now.job.answers[at];
  try {
    const answer = undone.length ? await api.undo(job.id, at, undone, signal) : job.answers[at];
    if (signal.aborted || now.job !== job || now.number !== at) return;
    showAnswer(answer);
    showPath();
    sayUndone(undone.length ? describeUndone(answer, goal) : "", !answer.is_molecule);
  } catch (problem) {
    if (!signal.aborted) sayUndone(problem.message, true);
  }
  $("changes").querySelectorAll("input")[number]?.focus();
}

function describeUndone({ record, is_molecule: isMolecule }, goal) {
  if (!isMolecule) return "What is left is no molecule: a valence is broken. The changes belong together.";
  return `${record.flipped ? "Still" : "No longer"} ${goal.words}: ${figure(record.p_counterfactual, goal.unit)}`;
}

function sayUndone(text, isBad = false) {
  say("undo-text", text);
  $("undo-text").classList.toggle("bad", isBad);
  $("undo-hint").hidden = Boolean(text);
}

async function download(button) {
  const { kind } = button.dataset;
  say("download-message", "");
  if (kind === "py") return save("reproduce.py", now.answer.python, "text/x-python");
  button.disabled = true;
  try {
    const { name, content } = await api.exported(page.model().name, [now.answer.record], kind, now.job.asked);
    save(name, content);
  } catch (problem) {
    say("download-message", capitalized(problem.message));
  } finally {
    button.disabled = false;
  }
  return null;
}
