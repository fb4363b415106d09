// Files that are opened or dropped: the server reads them, and the page lists their entries.

import * as api from "./api.js";
import { $, figure, likeliest, make, say } from "./elements.js";

let page = null;

export function start(given) {
  page = given;
  $("open").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", () => {
    if ($("file").files.length) open($("file").files[0]);
    $("file").value = "";
  });
  let depth = 0;
  document.addEventListener("dragenter", () => { depth += 1; $("drop").hidden = false; });
  document.addEventListener("dragleave", () => { depth -= 1; $("drop").hidden = depth <= 0; });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    depth = 0;
    $("drop").hidden = true;
    if (event.dataTransfer.files.length) open(event.dataTransfer.files[0]);
  });
}

async function open(file) {
  say("smiles-message", "");
  try {
    const { rows, left_out: leftOut } = await api.readFile(page.model().name, file.name, await file.text());
    $("entries").hidden = false;
    $("entries-title").textContent = file.name;
    $("entries-note").textContent = leftOut ? `The first ${rows.length} entries` : `${rows.length} ${rows.length === 1 ? "entry" : "entries"}`;
    $("entries-list").replaceChildren(...rows.map(entry));
    const first = rows.find((row) => !row.problem);
    if (first) choose(first);
  } catch (problem) {
    say("smiles-message", problem.message);
  }
}

function entry(row) {
  const note = row.problem ?? (row.record ? "explanation" : describe(row.prediction));
  const content = [row.id, make("span", { class: "hint" }, ` ${note}`)];
  if (row.problem) return make("li", { class: "problem" }, ...content);
  return make("li", {}, make("button", { type: "button", class: "link", onclick: () => choose(row) }, ...content));
}

function describe(prediction) {
  const [name, p] = likeliest(prediction);
  return `${name} ${figure(p, page.model().unit)}`;
}

const choose = (row) => (row.record ? page.openRecord(row.record) : page.look(row.input, row.id));
