// Drawings: put SVG from the server into the page, and highlight parts of it.

const MAX_SCALE = 2.4; // so that small graphs do not fill the page

export function mount(container, text, label) {
  const parsed = new DOMParser().parseFromString(text, "text/html").body.firstElementChild;
  const svg = document.importNode(parsed, true);
  svg.setAttribute("aria-label", label);
  svg.style.maxWidth = `${MAX_SCALE * svg.getAttribute("width")}px`;
  container.replaceChildren(svg);
  return svg;
}

// Highlight the elements with these marks and no others.
export function highlight(containers, marks) {
  for (const container of containers) {
    container.classList.toggle("pointing", marks.length > 0);
    for (const element of [...container.getElementsByClassName("lit")]) element.classList.remove("lit");
    for (const mark of marks) {
      for (const element of container.getElementsByClassName(mark)) element.classList.add("lit");
    }
  }
}

// Call `pointed` with the mark of the changed element under the pointer, or with null.
export function watch(container, pointed) {
  container.addEventListener("pointerover", ({ target }) => pointed(target.closest("g.removed, g.added, g.changed")?.classList[0] ?? null));
  container.addEventListener("pointerleave", () => pointed(null));
}
