// Drawings: SVG from the server, put into the page as nodes; highlighting, and choosing what to freeze.

export function mount(container, text, label) {
  const parsed = new DOMParser().parseFromString(text, "text/html").body.firstElementChild;
  const svg = document.importNode(parsed, true);
  svg.setAttribute("aria-label", label);
  container.replaceChildren(svg);
  return svg;
}

export function highlight(containers, marks, on) {
  for (const container of containers) {
    container.classList.toggle("pointing", on);
    for (const mark of marks) {
      for (const element of container.getElementsByClassName(mark)) element.classList.toggle("lit", on);
    }
  }
}

export const key = (part) => (Array.isArray(part) ? part.join("-") : String(part));

// "3, 4, 2-5" as { nodes: [3, 4], edges: [[2, 5]] }; null if it is not of that form. Only in directed graphs are 2-5 and
// 5-2 two edges.
export function parseFrozen(text, directed) {
  const parts = text.split(/[\s,;]+/).filter(Boolean);
  if (!parts.every((part) => /^\d{1,4}(-\d{1,4})?$/.test(part))) return null;
  const pairs = parts.filter((part) => part.includes("-")).map((part) => part.split("-").map(Number));
  const edges = directed ? pairs : pairs.map((pair) => pair.sort((a, b) => a - b));
  const nodes = parts.filter((part) => !part.includes("-")).map(Number);
  return { nodes: [...new Set(nodes)], edges };
}

export const printFrozen = ({ nodes, edges }) =>
  [...[...nodes].sort((a, b) => a - b), ...edges.map((edge) => key(edge))].join(", ");
