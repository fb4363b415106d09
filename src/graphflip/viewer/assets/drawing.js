// Drawings: SVG from the server, put into the page as nodes, and what is highlighted in them.

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
