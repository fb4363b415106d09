// The question: the options of an explanation, in the fields of the form. Those without a field of their own are made
// from the server's description of graphflip.Query.

import { $, figure, make } from "./elements.js";
import * as freezing from "./freezing.js";

const HINTS = {
  minimal: "The fewest edits that change the classifier's answer.",
  balanced: "Few edits that other models agree with, made of parts that occur in the data.",
  believable: "A change that the classifier and other models are sure of, at the price of more edits.",
};
const OWN = ["target", "prefer", "num", "frontier", "freeze_nodes", "freeze_edges", "freeze_rings"]; // fields of their own
const LABELS = {
  parent: "Of a salt, its largest part",
  confidence: "Least confidence",
  agreement: "Least agreement",
  thorough: "Try every move",
  freeze_smarts: "Keep what matches (SMARTS)",
  forbid_node_types: "May be introduced",
  forbid_edge_types: "Bonds that may be introduced",
  forbid_ops: "Kinds of edit that may be made",
  budget: "Most edits",
  seed: "Seed",
};
const OPS = { remove_edge: "remove a bond", remove_node: "remove an atom", add_node: "add an atom", set_node: "exchange an atom", add_edge: "add a bond", set_edge: "change a bond" };

let page = null;
const model = () => page.model();

export function start(given) {
  page = given;
  freezing.start(given);
  $("prefer").addEventListener("change", hintPreference);
  $("options").addEventListener("input", countChanged);
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
  for (const id of ["smiles", "draw"]) $(id).disabled = !molecules;
  $("smiles").placeholder = molecules ? "SMILES or InChI" : "from a file";
  for (const element of document.querySelectorAll("[data-graph]")) {
    element.dataset.molecule ??= element.textContent;
    element.textContent = molecules ? element.dataset.molecule : element.dataset.graph;
  }
  for (const kind of ["smi", "sdf"]) $("downloads").querySelector(`[data-kind=${kind}]`).hidden = !molecules;
  $("options").replaceChildren(...derived().map(optionField));
  countChanged();
  freezing.isReadable();
}

const derived = () => page.options().filter(({ name, description }) => !OWN.includes(name) && (model().molecules || !description.includes("For molecules")));
const members = ({ among }) => (among === "ops" ? page.service().ops : model()[among]);
const control = (name) => $("options").querySelector(`[name="${name}"]`);

// A field for an option: a check box, a number, a list of texts, or check boxes for what is allowed.
function optionField(option) {
  const { name, kind, description, whole, above, below } = option;
  const label = LABELS[name] ?? name.replaceAll("_", " ");
  const [id, hint] = [`option-${name}`, `option-${name}-hint`];
  if (kind === "flag") {
    const box = make("input", { type: "checkbox", name, checked: option.default, "aria-describedby": hint });
    return make("div", { class: "option" }, make("label", { class: "check" }, box, make("span", {}, label)), make("p", { class: "hint", id: hint }, description));
  }
  if (option.among) {
    const boxes = members(option).map((value) => make("label", { class: "check" }, make("input", { type: "checkbox", name, value, checked: true }), make("span", {}, OPS[value] ?? value)));
    return make("fieldset", { class: "allowed", title: description }, make("legend", {}, label), ...boxes);
  }
  const input = kind === "number"
    ? make("input", { type: "number", id, name, step: whole ? 1 : "any", min: above, max: below, placeholder: option.default ?? "the usual", "aria-describedby": hint })
    : make("input", { type: "text", id, name, placeholder: "nothing", autocomplete: "off", spellcheck: "false", "aria-describedby": hint });
  return make("div", { class: "option" }, make("label", { for: id }, label), input, make("p", { class: "hint", id: hint }, description));
}

function optionValue(option) {
  const { name, kind, default: usual } = option;
  if (kind === "flag") return control(name).checked;
  if (option.among) return [...$("options").querySelectorAll(`[name="${name}"]:not(:checked)`)].map(({ value }) => value);
  const text = control(name).value.trim();
  if (kind === "number") return text === "" ? usual : Number(text);
  return text === "" ? usual : [...new Set(text.split(/\s+/))].sort();
}

function setOptionValue(option, value) {
  const { name, kind } = option;
  if (kind === "flag") control(name).checked = value;
  else if (option.among) for (const box of $("options").querySelectorAll(`[name="${name}"]`)) box.checked = !value.includes(box.value);
  else control(name).value = kind === "number" ? (value === option.default ? "" : value) : value.join(" ");
}

function countChanged() {
  const changed = derived().filter((option) => JSON.stringify(optionValue(option)) !== JSON.stringify(option.default));
  $("more-count").textContent = changed.length ? `${changed.length} set` : "";
}

export const parent = () => control("parent")?.checked ?? true;
export function setParent(isParent) {
  if (control("parent")) control("parent").checked = isParent;
  countChanged();
}

// The options in the fields, under the API's names; null if one of them cannot be read.
export function asked() {
  if (!freezing.isReadable()) { $("freeze").focus(); return null; }
  const bad = $("options").querySelector(":invalid");
  if (bad) { $("more").open = true; bad.reportValidity(); return null; }
  const { nodes, edges } = freezing.parts();
  const several = $("num").value;
  return {
    target: target().value.trim() || null,
    prefer: preference(),
    num: Number(several) || 1,
    frontier: several === "frontier",
    freeze_nodes: [...nodes].sort((a, b) => a - b),
    freeze_edges: edges,
    freeze_rings: $("rings").checked,
    ...Object.fromEntries(derived().map((option) => [option.name, optionValue(option)])),
  };
}

// Options as a short text: "balanced, frontier, to mutagen, keeping 3, 2-5".
export function describe(question) {
  const { prefer, frontier, num, target: wanted, freeze_nodes: nodes, freeze_edges: edges, freeze_rings: rings, freeze_smarts: smarts = [] } = question;
  const several = frontier ? "frontier" : num > 1 ? `up to ${num}` : "";
  const kept = [rings ? "rings" : "", ...smarts, freezing.print({ nodes, edges })].filter(Boolean).join(", ");
  const more = [["budget", "at most {} edits"], ["confidence", "confidence {}"], ["agreement", "agreement {}"]]
    .filter(([name]) => question[name] !== null && question[name] !== undefined)
    .map(([name, words]) => words.replace("{}", figure(question[name], "value")));
  const without = ["forbid_node_types", "forbid_edge_types", "forbid_ops"].flatMap((name) => question[name] ?? []).map((value) => OPS[value] ?? value);
  return [prefer, question.thorough ? "every move" : "", several, wanted ? `to ${wanted}` : "", kept ? `keeping ${kept}` : "", ...more, without.length ? `without ${without.join(", ")}` : ""].filter(Boolean).join(", ");
}

// Fill the fields with the options of an earlier question.
export function restore(question) {
  $("prefer").querySelector(`input[value=${question.prefer}]`).checked = true;
  target().value = question.target ?? "";
  $("num").value = question.frontier ? "frontier" : String(question.num);
  if ($("num").value === "") { // a number that the list does not have
    $("num").append(make("option", { value: question.num }, `up to ${question.num}`));
    $("num").value = String(question.num);
  }
  freezing.set({ nodes: question.freeze_nodes, edges: question.freeze_edges });
  $("rings").checked = question.freeze_rings;
  for (const option of derived()) setOptionValue(option, question[option.name] ?? option.default);
  countChanged();
  hintPreference();
}

const target = () => $(model().unit === "value" ? "wanted" : "target");
const preference = () => $("prefer").querySelector("input:checked").value;
const hintPreference = () => { $("prefer-hint").textContent = HINTS[preference()]; };

const setOptions = (id, options) => $(id).replaceChildren(...options.map(([value, words]) => make("option", { value }, words)));
