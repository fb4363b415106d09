// The parts of an answer: headline, list of changes, and evidence.

import { $, figure, gauge, isUnsure, likeliest, make, meter } from "./elements.js";

export function headline({ record, goal, advice, words, predictions, is_molecule: isMolecule }, numUndone = 0) {
  if (record.counterfactual === null) return advice;
  if (!isMolecule) return numUndone ? `Without ${numUndone === 1 ? "that change" : "those changes"} it is no molecule` : "The changed graph is no molecule";
  if (numUndone && !record.flipped) {
    const [name, p] = likeliest(predictions.counterfactual);
    return `Without ${numUndone === 1 ? "that change" : "those changes"} ${goal.unit === "value" ? `the value is ${figure(p, "value")}` : `it is ${name}`}`;
  }
  if (record.outcome === "already_there") return `${goal.unit === "value" ? "The value" : "It"} is ${goal.words} already`;
  const value = figure(record.p_counterfactual, goal.unit);
  if (record.outcome === "not_confident") return `It is ${goal.words}, but not as surely as asked`;
  if (!record.flipped) return goal.unit === "value" ? `The value is ${value}, not ${goal.words} yet` : `Not ${goal.words} yet`;
  const texts = words.map(({ text }) => text);
  const change = texts.length > 3 ? `${texts.length} changes` : joined(texts);
  const reached = goal.unit === "value" ? `the value is ${value}` : `it is ${goal.words}`;
  return capitalized(change ? `${change}, and ${reached}` : reached);
}

// A sentence if fewer answers were found than asked for, otherwise "".
export function describeShortfall({ asked, answers }) {
  if (!asked || asked.frontier || answers.length >= asked.num || !answers[0].record.flipped) return "";
  return `Up to ${asked.num} answers were asked for; ${answers.length === 1 ? "one was" : `${answers.length} were`} found.`;
}

// Show the prediction above a drawing and a bar below it: of the target if there is one, else of the likeliest class.
export function showVerdict(side, unit, prediction, answer = null, number = null) {
  const isValue = unit === "value";
  const [name, p] = likeliest(prediction);
  $(`${side}-class`).replaceChildren(...(isValue ? ["value ", make("b", {}, figure(p, unit))] : [make("b", {}, name), ` ${figure(p)}`, isUnsure(prediction) ? ", unsure: near the boundary" : ""]));
  const below = (bar, text) => $(`${side}-bar`).replaceChildren(bar, make("span", { class: "hint" }, text));
  if (isValue && !answer) $(`${side}-bar`).replaceChildren();
  else if (!answer) below(meter(p), `probability of ${name}: ${figure(p)}`);
  else if (isValue) below(gauge(number, answer.record.target, [answer.record.p_factual, answer.record.p_counterfactual]), `to be ${answer.goal.words}`);
  else below(meter(number), `probability of ${answer.goal.words}: ${figure(number)}`);
}

export function showChanges(answer, original, undone, toggle, hover) {
  const items = original.words.map((change, number) => {
    const box = make("input", { type: "checkbox", checked: !undone.has(number), disabled: !toggle });
    box.addEventListener("change", () => toggle?.(number, !box.checked));
    const why = change.needed && !original.each_needed ? make("span", { class: "why" }, change.needed) : null;
    const row = make("label", {}, box, make("span", {}, change.text, why));
    for (const [on, off] of [["pointerenter", "pointerleave"], ["focusin", "focusout"]]) {
      row.addEventListener(on, () => hover(change));
      row.addEventListener(off, () => hover(null));
    }
    return make("li", {}, row);
  });
  $("changes").replaceChildren(...items);
  const all = answer.record.edits.length;
  const { num_edits: counted } = answer;
  const following = "charge" in (answer.record.factual.nodes[0] ?? {}) ? "charges" : "hydrogens";
  const plus = all > counted ? `, ${all} with ${following}` : "";
  const needed = !undone.size && original.each_needed ? `, ${original.each_needed}` : "";
  $("changes-count").textContent = `${counted} ${counted === 1 ? "edit" : "edits"}${plus}${needed}`;
}

// Offer the smaller answer that still reaches the target; `undo` takes back the changes that it lacks.
export function showSmaller({ smaller }, undone, undo) {
  $("smaller").hidden = !smaller || undone.size > 0;
  if (!smaller) return;
  const button = make("button", { type: "button", onclick: () => undo(smaller.left_out) }, "Take back");
  $("smaller").replaceChildren(make("span", {}, smaller.text), smaller.left_out.length ? button : "");
}

const CLAIMS = {
  environment: ["Surroundings", "all occur in the training data", "some never occur in the training data"],
  plausible: ["Autoencoder", "as likely as real graphs", "less likely than real graphs"],
  molecule: ["Molecule", "RDKit reads it", "RDKit does not read it"],
  radical_free: ["Valences", "all filled", "some left open"],
  round_trip: ["Read back from SMILES", "still the target", "no longer the target"],
};

const VERDICTS = {
  true: { name: "good", sign: "✓", said: "for it: " },
  false: { name: "bad", sign: "✗", said: "against it: " },
  null: { name: "neutral", sign: "·", said: "" },
};

const NEAREST = { nearest_factual: "Training data", nearest_counterfactual: "Training data, changed" };
const isFamiliar = ({ neighbors, limit }) => neighbors[0].similarity >= limit;

function remark(nearest) {
  const same = new Set(nearest.neighbors.filter((one) => one.same).map((one) => one.label || "it"));
  if (same.size) return `has this molecule${same.has("it") ? "" : `, labeled ${[...same].sort().join(" and ")}`}`;
  return `${isFamiliar(nearest) ? "has molecules like it" : "unlike anything it was trained on"}, nearest ${figure(nearest.neighbors[0].similarity)}`;
}

function listed(neighbors) {
  const items = neighbors.map(({ smiles, label, similarity }) => make("li", {}, make("code", {}, smiles), ` ${label} ${figure(similarity)}`));
  return make("details", { class: "nearest-fold" }, make("summary", {}, "nearest"), make("ul", { class: "nearest" }, ...items));
}

// Rows of evidence: what it is about, words, whether it speaks for the answer (null: neither), a probability, neighbors.
export function evidenceOf({ record, goal, agreed, chemistry = [] }) {
  const evidence = record.evidence ?? { judges: {} };
  const isValue = goal.unit === "value";
  const rows = Object.entries(evidence.judges).map(([judge, p]) =>
    [capitalized(judge), `${isValue ? "predicts" : goal.words} ${figure(p, goal.unit)}`, agreed[judge], isValue ? null : p]);
  for (const [key, [what, yes, no]] of Object.entries(CLAIMS)) {
    if (typeof evidence[key] === "boolean") rows.push([what, evidence[key] ? yes : no, evidence[key], null]);
  }
  for (const { topic, words, good } of chemistry) rows.push([topic, words, good, null]);
  for (const [key, what] of Object.entries(NEAREST)) {
    if (evidence[key]) rows.push([what, remark(evidence[key]), isFamiliar(evidence[key]), null, evidence[key].neighbors]);
  }
  return rows;
}

export function showEvidence(answer) {
  const rows = evidenceOf(answer);
  const shown = rows.flatMap(([what, words, good, p, neighbors]) => [
    make("dt", {}, what),
    make("dd", { class: VERDICTS[good].name }, make("span", { class: "sign", "aria-hidden": "true" }, VERDICTS[good].sign),
      make("span", { class: "visually-hidden" }, VERDICTS[good].said), words, p === null ? null : meter(p), neighbors ? listed(neighbors) : null),
  ]);
  $("evidence").replaceChildren(...(shown.length ? shown : [make("dt", {}, "None"), make("dd", {}, "Nothing was found")]));
}

export const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function joined(words) {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
