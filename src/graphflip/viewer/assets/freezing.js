// Freezing: places on the drawing of the factual to click, or to reach with the keyboard, that stay as they are.

import { key } from "./drawing.js";
import { makeSvg } from "./elements.js";

let hits = [];

// Put a place over each drawn node and edge of a graph; `toggle` is called with a number or a pair of them.
export function attach(container, graph, toggle) {
  hits = [];
  const svg = container.querySelector("svg");
  if (!svg || !graph) return;
  svg.setAttribute("role", "group");
  const name = (i) => `${graph.nodes[i]?.type ?? "node "}${i}`;
  const edges = graph.edges.map(([i, j]) => ({ part: [i, j], className: `bond-${Math.min(i, j)}-${Math.max(i, j)}`, label: `bond ${name(i)} to ${name(j)}`, size: 0.7 }));
  const nodes = graph.nodes.map((_, i) => ({ part: i, className: `atom-${i}`, label: `atom ${name(i)}`, size: 1 }));
  const unit = svg.viewBox.baseVal.width / 40;
  for (const place of [...edges, ...nodes]) {
    const drawn = svg.querySelector(`.${place.className}`);
    if (drawn) hits.push(hit(svg, drawn, place, unit, toggle));
  }
  hits.reverse();
  svg.append(makeSvg("g", { class: "hits" }, ...hits.toReversed()));
  hits.forEach((one, at) => one.addEventListener("keydown", (event) => move(event, at)));
  if (hits.length) hits[0].setAttribute("tabindex", 0);
}

export function mark(frozen) {
  const kept = new Set([...(frozen?.nodes ?? []), ...(frozen?.edges ?? [])].map(key));
  for (const one of hits) one.setAttribute("aria-checked", String(kept.has(one.dataset.part)));
}

// What is frozen after a click on a part.
export function toggled({ nodes, edges }, part) {
  const others = (parts) => parts.filter((one) => key(one) !== key(part));
  const isNew = others(nodes).length + others(edges).length === nodes.length + edges.length;
  const added = (isNew && [part]) || [];
  return Array.isArray(part)
    ? { nodes, edges: [...others(edges), ...added] }
    : { nodes: [...others(nodes), ...added], edges };
}

function hit(svg, drawn, { part, label, size }, unit, toggle) {
  const box = drawn.getBBox();
  const place = makeSvg("circle", {
    class: "hit", role: "checkbox", "aria-checked": "false", "aria-label": `keep ${label}`, tabindex: -1,
    cx: box.x + box.width / 2, cy: box.y + box.height / 2, r: unit * size,
  });
  place.dataset.part = key(part);
  place.append(makeSvg("title", {}, `keep ${label}`));
  place.addEventListener("click", () => toggle(part));
  return place;
}

function move(event, at) {
  if (event.key === " " || event.key === "Enter") {
    event.preventDefault();
    hits[at].dispatchEvent(new Event("click"));
  }
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  hits[at].setAttribute("tabindex", -1);
  const next = hits[(at + step + hits.length) % hits.length];
  next.setAttribute("tabindex", 0);
  next.focus();
}
