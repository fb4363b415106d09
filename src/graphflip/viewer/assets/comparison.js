// Answers side by side: those to one question, those of several preferences or models, or any that were added.

import * as address from "./address.js";
import { capitalized } from "./answers.js";
import * as api from "./api.js";
import { mount } from "./drawing.js";
import { $, figure, likeliest, make, meter } from "./elements.js";
import * as memory from "./history.js";
import * as question from "./question.js";
import * as stage from "./stage.js";

const KEY = "graphflip-comparison";
let page = null;
let shown = null; // what is shown now, to know when it is something else

export function start(given) {
  page = given;
}

const pinned = () => JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
const same = (a, b) => a.job === b.job && a.number === b.number;

// Add an answer to the comparison of this tab, and show it if there are several.
export function pin(item, button) {
  const items = [...pinned().filter((other) => !same(other, item)), item];
  sessionStorage.setItem(KEY, JSON.stringify(items));
  if (items.length > 1) open(items);
  else { button.textContent = "Added: add another one"; setTimeout(() => { button.textContent = "Add to comparison"; }, 2000); }
}

export function open(items) {
  page.go(address.ofComparison(items));
  return show(items);
}

// Models that can be asked about the graph that is shown.
export const comparable = () => page.service().models.filter(({ molecules }) => molecules === page.model().molecules);

// Ask the question of a job with each preference, or of each model, and compare what is found.
export async function askEach(job, what) {
  const questions = what === "prefer"
    ? page.model().preferences.map((prefer) => ({ model: job.model, asked: { ...job.asked, prefer, frontier: false, num: 1 } }))
    : comparable().map(({ name }) => ({ model: name, asked: { ...job.asked, target: null, frontier: false, num: 1 } }));
  try {
    const jobs = [];
    for (const { model, asked } of questions) jobs.push(await api.explain(model, job.input, job.name, asked));
    await open(jobs.map(({ id }) => ({ job: id, number: 0 })));
  } catch (problem) {
    stage.showTrouble(problem.message);
  }
}

export async function show(items) {
  const token = shown = {};
  page.setInput(null);
  stage.show("comparison", "Side by side");
  const cards = items.map(() => make("article", { class: "card compared", "aria-busy": "true" }, make("p", { class: "hint" }, "Looking …")));
  const clear = make("button", { type: "button", onclick: () => { sessionStorage.removeItem(KEY); history.back(); } }, "Close the comparison");
  const original = make("article", { class: "card original" }, make("h2", {}, "As it is"), make("div", { class: "drawing" }));
  $("comparison").replaceChildren(make("div", { class: "grid" }, original, ...cards), make("div", { class: "downloads" }, clear));
  const jobs = await Promise.all(items.map((item, k) => fill(cards[k], item, token)));
  if (shown !== token) return;
  memory.show();
  await showOriginal(original, jobs.filter(Boolean), token).catch(() => original.remove()); // the comparison can do without
}

// If all answers are about one graph, that comes first; its place is there from the start, so that nothing moves.
async function showOriginal(card, jobs, token) {
  const factuals = new Set(jobs.map(({ answers }) => answers[0].record.smiles?.factual ?? JSON.stringify(answers[0].record.factual)));
  if (jobs.length < 2 || factuals.size > 1 || !jobs[0].input) { card.remove(); return; }
  const { smiles, drawing } = await api.read(jobs[0].model, jobs[0].input, jobs[0].asked?.parent ?? true);
  if (shown !== token) return;
  const place = make("div", { class: "drawing" });
  mount(place, drawing, "The graph as it is");
  const models = new Map(jobs.map((job) => [job.model, job.answers[0].predictions.factual]));
  const said = [...models].flatMap(([name, prediction]) => {
    const [first, p] = likeliest(prediction);
    return [make("dt", {}, name), make("dd", {}, "value" in prediction ? figure(p, "value") : `${first} ${figure(p)}`)];
  });
  const code = smiles ? make("code", { class: "subline" }, smiles) : null;
  card.replaceChildren(make("h2", {}, "As it is"), place, ...(code ? [code] : []), make("dl", { class: "evidence" }, ...said));
}

async function fill(card, { job: id, number }, token) {
  try {
    const job = await api.follow(id, (now) => shown === token && waiting(card, now), () => shown !== token);
    if (!job || shown !== token) return null;
    if (job.state !== "done") throw new api.Problem(job.state === "cancelled" ? "Cancelled." : job.message, 0);
    card.replaceChildren(...content(job, Math.min(number, job.answers.length - 1)));
    card.removeAttribute("aria-busy");
    return job;
  } catch (problem) {
    card.replaceChildren(make("p", { class: "message" }, problem.status === 404 ? "This answer is not kept any more." : problem.message));
    card.removeAttribute("aria-busy");
    return null;
  }
}

function waiting(card, { progress, ahead, asked, model }) {
  const words = progress ? `${progress.calls} graphs tried` : ahead ? `Waiting; ${ahead} before it` : "Looking …";
  card.replaceChildren(make("h2", {}, `${model}: ${asked ? question.describe(asked) : ""}`), make("p", { class: "hint" }, words));
}

function content(job, number) {
  const answer = job.answers[number];
  const { record, goal, agreed, num_edits: edits } = answer;
  const drawing = make("div", { class: "drawing" });
  mount(drawing, answer.drawings.counterfactual ?? answer.drawings.factual, answer.drawings.counterfactual ? "The graph as changed" : "The graph as it is");
  const similarity = record.evidence?.chemistry?.similarity;
  const facts = [
    ["Edits", String(edits)],
    [goal.unit === "value" ? "Value" : capitalized(goal.words), make("span", {}, `${figure(record.p_factual, goal.unit)} → ${figure(record.p_counterfactual, goal.unit)}`, goal.unit === "value" ? null : meter(record.p_counterfactual ?? 0))],
    ...Object.entries(record.evidence?.judges ?? {}).map(([name, p]) => [capitalized(name), `${agreed[name] ? "✓" : "✗"} ${figure(p, goal.unit)}`]),
    similarity === undefined ? null : ["Similarity", figure(similarity)],
  ].filter(Boolean);
  const doubts = answer.chemistry.filter(({ good }) => good === false).map(({ words }) => make("li", {}, `✗ ${capitalized(words)}`));
  const place = job.asked && job.input ? address.ofQuestion({ ...job, answer: number }, page.options()) : address.ofJob(job.id, number);
  return [
    make("h2", {}, make("a", { href: place }, `${job.model}: ${job.asked ? question.describe(job.asked) : job.name}`)),
    make("p", { class: record.flipped ? "hint" : "message" }, record.flipped ? (job.name || record.smiles?.factual || "") : `${(record.outcome ?? "").replaceAll("_", " ")}: ${answer.advice}`),
    drawing,
    record.smiles?.counterfactual ? make("code", { class: "subline" }, record.smiles.counterfactual) : null,
    make("ul", { class: "plain" }, ...answer.words.map(({ text }) => make("li", {}, text))),
    make("dl", { class: "evidence" }, ...facts.flatMap(([what, said]) => [make("dt", {}, what), make("dd", {}, said)])),
    doubts.length ? make("ul", { class: "plain doubts", "aria-label": "What speaks against it" }, ...doubts) : null,
  ].filter(Boolean);
}
