// Freezing: nodes and edges that must not change, written in a field, or chosen in the drawing by mouse or keyboard.

import { $, figure, makeSvg } from "./elements.js";

let page = null;
const model = () => page.model();
let places = [];

export function start(given) {
  page = given;
  $("freeze").addEventListener("input", () => { isReadable(); mark(parts()); });
}

// The frozen parts in the field, as { nodes: [3, 4], edges: [[2, 5]] }; null if it cannot be read. 2-5 and 5-2 are the
// same edge unless the graph is directed.
export function parts() {
  const texts = $("freeze").value.split(/[\s,;]+/).filter(Boolean);
  if (!texts.every((text) => /^\d{1,4}(-\d{1,4})?$/.test(text))) return null;
  const pairs = texts.filter((text) => text.includes("-")).map((text) => text.split("-").map(Number));
  const edges = model().directed ? pairs : pairs.map((pair) => pair.sort((a, b) => a - b));
  const nodes = texts.filter((text) => !text.includes("-")).map(Number);
  return { nodes: [...new Set(nodes)], edges };
}

export const print = ({ nodes, edges }) => [...[...nodes].sort((a, b) => a - b), ...edges.map(key)].join(", ");

export function set({ nodes, edges }) {
  $("freeze").value = print({ nodes, edges });
  isReadable();
  mark({ nodes, edges });
}

// True if the field can be read; otherwise the hint below it, which keeps its place, says what to write.
export function isReadable() {
  const [nodes, edges] = model().molecules ? ["atoms", "bonds"] : ["nodes", "edges"];
  const isFine = parts() !== null;
  $("freeze-hint").textContent = isFine ? `Click ${nodes} or ${edges}, or write their numbers: 3, 4, 2-5` : `Write numbers of ${nodes}, and ${edges} as pairs of them: 3, 4, 2-5`;
  $("freeze-hint").classList.toggle("bad", !isFine);
  if (isFine) $("freeze").removeAttribute("aria-invalid");
  else $("freeze").setAttribute("aria-invalid", "true");
  return isFine;
}

// Let each drawn node and edge of a graph be clicked.
export function attach(svg, graph) {
  places = [];
  if (!graph) return;
  svg.setAttribute("role", "group");
  svg.classList.add("can-freeze");
  graph.nodes.forEach((node, i) => addPlace(svg, `atom-${i}`, i, `keep ${name(node, i)}${numbers(node)}`));
  for (const [i, j, edge] of graph.edges) {
    const label = `keep ${edge.type ? "bond" : "edge"} ${name(graph.nodes[i], i)} to ${name(graph.nodes[j], j)}${numbers(edge)}`;
    addPlace(svg, `bond-${i}-${j}`, [i, j], label);
  }
  places.forEach((place, at) => place.addEventListener("keydown", (event) => move(event, at)));
  places[0]?.setAttribute("tabindex", 0);
  mark(parts());
}

const key = (part) => (Array.isArray(part) ? part.join("-") : String(part));

function mark(frozen) {
  const kept = new Set([...(frozen?.nodes ?? []), ...(frozen?.edges ?? [])].map(key));
  for (const place of places) place.setAttribute("aria-checked", String(kept.has(place.dataset.part)));
}

function toggle(part) {
  const { nodes, edges } = parts() ?? { nodes: [], edges: [] };
  const isPart = (other) => key(other) === key(part);
  const toggled = (list) => (list.some(isPart) ? list.filter((other) => !isPart(other)) : [...list, part]);
  set(Array.isArray(part) ? { nodes, edges: toggled(edges) } : { nodes: toggled(nodes), edges });
}

const name = (node, i) => `${node?.type ?? "node "}${i}`;

// Numeric attributes, which the drawing does not show: " (heat 0.31)".
function numbers(attributes) {
  const numeric = Object.entries(attributes ?? {}).filter(([, value]) => typeof value === "number");
  return numeric.length ? ` (${numeric.map(([attribute, value]) => `${attribute} ${figure(value, "value")}`).join(", ")})` : "";
}

function addPlace(svg, className, part, label) {
  const [place] = svg.getElementsByClassName(className);
  if (!place) return; // a hydrogen that is not drawn
  place.dataset.part = key(part);
  for (const [attribute, value] of Object.entries({ role: "checkbox", "aria-checked": "false", "aria-label": label, tabindex: -1 })) {
    place.setAttribute(attribute, value);
  }
  place.append(makeSvg("title", {}, label));
  place.addEventListener("click", () => toggle(part));
  places.push(place);
}

function move(event, at) {
  if (event.key === " " || event.key === "Enter") {
    event.preventDefault();
    places[at].dispatchEvent(new Event("click"));
  }
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  places[at].setAttribute("tabindex", -1);
  const next = places[(at + step + places.length) % places.length];
  next.setAttribute("tabindex", 0);
  next.focus();
}
