// The question: the options of an explanation, in the fields of the form.

import { $, make } from "./elements.js";
import * as freezing from "./freezing.js";

const HINTS = {
  minimal: "The fewest edits that change the classifier's answer.",
  balanced: "Few edits that other models agree with, made of parts that occur in the data.",
  believable: "A change that the classifier and other models are sure of, at the price of more edits.",
};

let model = null;

export function start(given) {
  model = given;
  freezing.start(given);
  $("prefer").addEventListener("change", hintPreference);
  hintPreference();
}

// Adapt the form to the chosen model: a class or a value as target, words for molecules or for graphs.
export function adapt() {
  const { classes, examples, molecules, unit, suggestion } = model();
  const others = classes.length > 2 ? [["", "likeliest other"], ["any", "any other"]] : [["", "other class"]];
  setOptions("target", [...others, ...classes.map((name) => [name, name])]);
  setOptions("example", [["-1", "Examples"], ...examples.map(({ name }, number) => [number, name])]);
  $("target").hidden = unit === "value";
  for (const id of ["wanted", "wanted-hint"]) $(id).hidden = unit !== "value";
  $("target-label").htmlFor = unit === "value" ? "wanted" : "target";
  $("wanted").value = $("wanted").placeholder = suggestion;
  $("example").disabled = !examples.length;
  $("smiles").disabled = !molecules;
  $("smiles").placeholder = molecules ? "SMILES" : "from a file";
  for (const element of document.querySelectorAll("[data-graph]")) {
    element.dataset.molecule ??= element.textContent;
    element.textContent = molecules ? element.dataset.molecule : element.dataset.graph;
  }
  $("downloads").querySelector("[data-kind=smi]").hidden = !molecules;
}

// The options in the fields, under the API's names; null if one of them cannot be read.
export function asked() {
  if (!freezing.isReadable()) return null;
  const { nodes, edges } = freezing.parts();
  const several = $("num").value;
  return {
    target: target().value.trim() || null,
    prefer: preference(),
    num: Number(several) || 1,
    frontier: several === "frontier",
    freeze_nodes: nodes,
    freeze_edges: edges,
    freeze_rings: $("rings").checked,
  };
}

// Options as a short text: "balanced, frontier, to mutagen, keeping 3, 2-5".
export function describe({ prefer, frontier, num, target: wanted, freeze_nodes: nodes, freeze_edges: edges, freeze_rings: rings }) {
  const several = frontier ? "frontier" : num > 1 ? `up to ${num}` : "";
  const kept = [rings ? "rings" : "", freezing.print({ nodes, edges })].filter(Boolean).join(", ");
  return [prefer, several, wanted ? `to ${wanted}` : "", kept ? `keeping ${kept}` : ""].filter(Boolean).join(", ");
}

// Fill the fields with the options of an earlier question.
export function restore(question) {
  $("prefer").querySelector(`input[value=${question.prefer}]`).checked = true;
  target().value = question.target ?? "";
  $("num").value = question.frontier ? "frontier" : String(question.num);
  freezing.set({ nodes: question.freeze_nodes, edges: question.freeze_edges });
  $("rings").checked = question.freeze_rings;
  hintPreference();
}

const target = () => $(model().unit === "value" ? "wanted" : "target");
const preference = () => $("prefer").querySelector("input:checked").value;
const hintPreference = () => { $("prefer-hint").textContent = HINTS[preference()]; };

const setOptions = (id, options) => $(id).replaceChildren(...options.map(([value, words]) => make("option", { value }, words)));
