// Drawings: SVG from the server, put into the page as nodes, and what is highlighted in them.

const LARGEST = 2.4; // times its own size: small graphs do not fill the page

export function mount(container, text, label) {
  const parsed = new DOMParser().parseFromString(text, "text/html").body.firstElementChild;
  const svg = document.importNode(parsed, true);
  svg.setAttribute("aria-label", label);
  svg.style.maxWidth = `${LARGEST * svg.getAttribute("width")}px`;
  container.replaceChildren(svg);
  return svg;
}

// Light up these marks and no others.
export function highlight(containers, marks) {
  for (const container of containers) {
    container.classList.toggle("pointing", marks.length > 0);
    for (const element of [...container.getElementsByClassName("lit")]) element.classList.remove("lit");
    for (const mark of marks) {
      for (const element of container.getElementsByClassName(mark)) element.classList.add("lit");
    }
  }
}

// Call `pointed` with the mark of what changes under the pointer, or with null.
export function watch(container, pointed) {
  container.addEventListener("pointerover", ({ target }) => pointed(target.closest("g.removed, g.added, g.changed")?.classList[0] ?? null));
  container.addEventListener("pointerleave", () => pointed(null));
}
