// Freezing: nodes and edges of the factual's drawing, to click or to reach with the keyboard, that stay as they are.

import { key } from "./drawing.js";
import { figure, makeSvg } from "./elements.js";

let places = [];

// Make each drawn node and edge of a graph a place; `toggle` is called with a number or a pair of them.
export function attach(svg, graph, toggle) {
  places = [];
  if (!graph) return;
  svg.setAttribute("role", "group");
  svg.classList.add("can-freeze");
  graph.nodes.forEach((node, i) => addPlace(svg, `atom-${i}`, i, `keep ${name(node, i)}${numbers(node)}`, toggle));
  for (const [i, j, edge] of graph.edges) {
    const label = `keep ${edge.type ? "bond" : "edge"} ${name(graph.nodes[i], i)} to ${name(graph.nodes[j], j)}${numbers(edge)}`;
    addPlace(svg, `bond-${i}-${j}`, [i, j], label, toggle);
  }
  places.forEach((place, at) => place.addEventListener("keydown", (event) => move(event, at)));
  places[0]?.setAttribute("tabindex", 0);
}

export function mark(frozen) {
  const kept = new Set([...(frozen?.nodes ?? []), ...(frozen?.edges ?? [])].map(key));
  for (const place of places) place.setAttribute("aria-checked", String(kept.has(place.dataset.part)));
}

// What is frozen after a click on a part.
export function toggled({ nodes, edges }, part) {
  const others = (parts) => parts.filter((one) => key(one) !== key(part));
  const added = (parts) => (others(parts).length === parts.length ? [part] : []);
  return Array.isArray(part)
    ? { nodes, edges: [...others(edges), ...added(edges)] }
    : { nodes: [...others(nodes), ...added(nodes)], edges };
}

const name = (node, i) => `${node?.type ?? "node "}${i}`;

// Numbers that are not in the drawing: " (heat 0.31)".
function numbers(attributes) {
  const said = Object.entries(attributes ?? {}).filter(([, value]) => typeof value === "number");
  return said.length ? ` (${said.map(([what, value]) => `${what} ${figure(value, "value")}`).join(", ")})` : "";
}

function addPlace(svg, className, part, label, toggle) {
  const [place] = svg.getElementsByClassName(className);
  if (!place) return; // a hydrogen that is not drawn
  place.dataset.part = key(part);
  for (const [name, value] of Object.entries({ role: "checkbox", "aria-checked": "false", "aria-label": label, tabindex: -1 })) {
    place.setAttribute(name, value);
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
