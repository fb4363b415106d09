// What an answer consists of: its headline, the list of changes, the evidence, and the choice between answers.

import { $, make, makeSvg, meter, percent } from "./elements.js";

export function headline(answer, model) {
  const { record } = answer;
  const target = className(record.target, model);
  if (record.counterfactual === null || record.outcome === "already_there") return answer.advice;
  const words = answer.words.map((one) => one.text);
  const change = words.length > 3 ? `${words.length} changes` : joined(words);
  if (!record.flipped) return `Not ${target} yet`;
  return change ? `${capitalized(change)}, and it is ${target}` : `It is ${target}`;
}

export function className(index, model) {
  return model.classes[index] ?? `class ${index}`;
}

export function showChanges(answer, original, undone, toggle, hover) {
  const items = original.words.map((change, number) => {
    const box = make("input", { type: "checkbox", checked: !undone.has(number) });
    box.addEventListener("change", () => toggle(number, !box.checked));
    const row = make("label", {}, box, make("span", {}, change.text));
    for (const [on, off] of [["pointerenter", "pointerleave"], ["focusin", "focusout"]]) {
      row.addEventListener(on, () => hover(change.marks, true));
      row.addEventListener(off, () => hover(change.marks, false));
    }
    return make("li", {}, row);
  });
  $("changes").replaceChildren(...items);
  const all = answer.record.edits.length;
  const { num_edits: counted } = answer;
  const plus = all > counted ? `, ${all} with hydrogens` : "";
  const minimal = answer.record.one_minimal ? ", each needed" : "";
  $("changes-count").textContent = `${counted} ${counted === 1 ? "edit" : "edits"}${plus}${minimal}`;
}

const CLAIMS = {
  environment: ["Surroundings", "all occur in the training data", "some never occur in the training data"],
  plausible: ["Autoencoder", "as likely as real graphs", "less likely than real graphs"],
  molecule: ["Molecule", "valid", "not valid"],
  radical_free: ["Valences", "all filled", "some left open"],
  round_trip: ["Read back from SMILES", "still the target", "no longer the target"],
};

export function showEvidence({ record }, model) {
  const evidence = record.evidence ?? { judges: {} };
  const target = className(record.target, model);
  const rows = Object.entries(evidence.judges).map(([judge, p]) => [capitalized(judge), `${target} ${percent(p)}`, p >= 0.5, p]);
  for (const [key, [what, yes, no]] of Object.entries(CLAIMS)) {
    if (typeof evidence[key] === "boolean") rows.push([what, evidence[key] ? yes : no, evidence[key], null]);
  }
  const shown = rows.flatMap(([what, words, good, p]) => [
    make("dt", {}, what),
    make("dd", { class: good ? "good" : "bad" }, make("span", { class: "sign", "aria-hidden": "true" }, good ? "✓" : "✗"),
      make("span", { class: "visually-hidden" }, good ? "for it: " : "against it: "), words, p === null ? null : meter(p)),
  ]);
  $("evidence").replaceChildren(...(shown.length ? shown : [make("dt", {}, "None"), make("dd", {}, "Nothing was found")]));
}

// How far the independent judges believe an answer: the least convinced of them.
const belief = ({ record }) => {
  const said = Object.values(record.evidence?.judges ?? {});
  return said.length ? Math.min(...said) : (record.p_counterfactual ?? 0);
};

export function showChoices(answers, chosen, choose) {
  $("choices").hidden = answers.length < 2;
  const tabs = answers.map((answer, number) => {
    const isChosen = number === chosen;
    const words = `${answer.num_edits} ${answer.num_edits === 1 ? "edit" : "edits"} · ${percent(answer.record.p_counterfactual)}`;
    const tab = make("button", { type: "button", role: "radio", "aria-checked": String(isChosen), tabindex: isChosen ? 0 : -1 },
      make("b", {}, String(number + 1)), ` ${words}`);
    tab.addEventListener("click", () => choose(number));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      choose((number + step + answers.length) % answers.length, true);
    });
    return tab;
  });
  $("tabs").replaceChildren(...tabs);
  $("chart").hidden = answers.length < 2;
  $("chart").querySelector("svg")?.remove();
  if (answers.length > 1) $("chart").prepend(chart(answers, chosen, choose));
}

function chart(answers, chosen, choose) {
  const [width, height, edge] = [300, 110, 14];
  const most = Math.max(...answers.map((answer) => answer.num_edits), 2);
  const least = Math.min(...answers.map((answer) => answer.num_edits), 1);
  const places = answers.map((answer) => [
    edge + ((answer.num_edits - least) / Math.max(1, most - least)) * (width - 2 * edge),
    height - edge - belief(answer) * (height - 2 * edge),
  ]);
  const dots = places.map(([x, y], number) => {
    const dot = makeSvg("circle", { class: number === chosen ? "dot chosen" : "dot", cx: x, cy: y, r: number === chosen ? 7 : 5 });
    dot.addEventListener("click", () => choose(number));
    return dot;
  });
  return makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    makeSvg("line", { class: "half", x1: 0, x2: width, y1: height / 2, y2: height / 2 }), ...dots);
}

export const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function joined(words) {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
