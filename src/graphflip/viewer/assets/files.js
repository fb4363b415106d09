// Files that are opened, dropped or pasted: the server reads them, and the page shows their entries as a table.

import * as api from "./api.js";
import { $ } from "./elements.js";
import * as stage from "./stage.js";
import * as table from "./table.js";

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
  const { max_bytes: most } = page.service();
  if (file.size > most) {
    stage.showProblem(`A file may have at most ${Math.floor(most / 1000)} kB here; ${file.name} has ${Math.ceil(file.size / 1000)}. Send a part of it, or use graphflip explain FILE --out FOLDER.`, []);
    return;
  }
  await openText(file.name, decoded(new Uint8Array(await file.arrayBuffer())));
}

// The text of a file: UTF-8, UTF-16 where it begins with a mark, or else what spreadsheets write in Western Europe.
function decoded(bytes) {
  const mark = `${bytes[0]},${bytes[1]}`;
  if (mark === "255,254" || mark === "254,255") {
    return new TextDecoder(mark === "255,254" ? "utf-16le" : "utf-16be").decode(bytes);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

export async function openText(name, text) {
  try {
    const { rows, left_out: leftOut } = await api.readFile(page.model().name, name, text);
    const [only] = rows;
    if (rows.length > 1 || only.problem) table.showFile(name, rows, leftOut);
    else if (only.record) page.openRecord(only.record);
    else page.look(only.input, only.id);
  } catch (problem) {
    stage.showProblem(problem.message, []);
  }
}
