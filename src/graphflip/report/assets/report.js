// Filter and sort the rows of the report, and highlight changes in the drawings.
"use strict";
const table = document.querySelector(".table");
if (table) {
  const body = table.tBodies[0], rows = [...body.rows];
  const form = document.querySelector(".controls"), shown = form.querySelector("output");
  const heads = [...table.querySelectorAll("th[data-key]")];
  const text = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const plural = (count) => `${count} explanation${count === 1 ? "" : "s"}`;

  // "all" wants that each judge agrees, "+name" and "-name" that this one does or does not.
  function agreesWith(row, wanted) {
    const votes = (row.dataset.votes ?? "").split("|").filter(Boolean);
    if (!wanted) return true;
    return wanted === "all" ? votes.length > 0 && votes.every((vote) => vote.startsWith("+")) : votes.includes(wanted);
  }

  function filter() {
    const words = form.elements.find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { outcome, origin, direction, judge } = form.elements;
    let count = 0;
    for (const row of rows) {
      const fits = (!outcome.value || row.dataset.outcome === outcome.value)
        && (!origin || !origin.value || row.dataset.origin === origin.value)
        && (!direction || !direction.value || row.dataset.direction === direction.value)
        && (!judge || agreesWith(row, judge.value))
        && words.every((word) => text.get(row).includes(word));
      row.hidden = !fits;
      count += fits;
    }
    shown.textContent = count === rows.length ? plural(count) : `${count} of ${plural(rows.length)}`;
  }

  function sort(key, down) {
    const value = (row) => key === "order" ? rows.indexOf(row) : row.dataset[key] ?? "";
    const number = (row) => (value(row) === "" ? NaN : Number(value(row)));
    const isText = rows.some((row) => value(row) !== "" && Number.isNaN(number(row)));
    const position = new Map(rows.map((row, k) => [row, k]));
    const order = (a, b) => {
      if (isText) return value(a).localeCompare(value(b), undefined, { numeric: true }) * (down ? -1 : 1);
      if (Number.isNaN(number(a)) || Number.isNaN(number(b))) return Number.isNaN(number(a)) - Number.isNaN(number(b));
      return (number(a) - number(b)) * (down ? -1 : 1);
    };
    body.append(...[...rows].sort((a, b) => order(a, b) || position.get(a) - position.get(b)));
    for (const head of heads) {
      if (head.dataset.key === key) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  }

  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(head.dataset.key, head.getAttribute("aria-sort") === "ascending"));
  }
  form.elements.sort.addEventListener("change", (event) => {
    const [key, way] = event.target.value.split(" ");
    sort(key, way === "down");
  });
  form.addEventListener("input", filter);
  form.elements.matters?.addEventListener("change", ({ target }) => document.body.classList.toggle("colored", target.checked));
  form.addEventListener("submit", (event) => event.preventDefault());

  const highlight = (item, on) => {
    item.classList.toggle("hot", on);
    for (const key of item.dataset.at.split(" ").filter(Boolean)) {
      for (const part of item.closest("tr").getElementsByClassName((key.includes("-") ? "bond-" : "atom-") + key)) {
        part.classList.toggle("hot", on);
      }
    }
  };
  // The list item of the sentence about a part of a picture.
  const itemOf = (part) => part && part.closest("tr").querySelector(`li[data-at~="${part.classList[0].replace(/^[a-z]+-/, "")}"]`);
  for (const [event, on] of [["pointerover", true], ["pointerout", false]]) {
    body.addEventListener(event, (fired) => {
      const item = fired.target.closest("li[data-at]") ?? itemOf(fired.target.closest("g.added, g.removed, g.changed"));
      if (item) highlight(item, on);
    });
  }
  form.hidden = false;
  filter();
}
