// The list of earlier questions and tables of this session; those that are being computed are followed.

import * as address from "./address.js";
import * as api from "./api.js";
import { $, make } from "./elements.js";
import * as question from "./question.js";

let page = null;
const followed = new Set(); // ids of open jobs that this tab asks about, so that they are not given up

export function start(given) {
  page = given;
}

export async function show() {
  const [jobs, tables] = await Promise.all([api.jobs(), api.tables()]);
  const kept = jobs.filter((job) => job.state === "done" || api.isOpen(job));
  const entries = [...tables.map(tableEntry), ...kept.reverse().map(entry)];
  $("history").hidden = !entries.length;
  $("history-list").replaceChildren(...entries);
  for (const job of kept.filter(api.isOpen)) keepAlive(job.id);
}

function keepAlive(id) {
  if (followed.has(id)) return;
  followed.add(id);
  api.follow(id, () => {}).catch(() => {}).finally(() => { followed.delete(id); show(); });
}

function entry(job) {
  const name = job.name || job.input?.smiles || "graph";
  const isOpen = api.isOpen(job);
  const words = isOpen ? "computing …" : job.asked ? question.describe(job.asked) : "from a file";
  const place = job.asked && job.input ? address.ofQuestion({ ...job, name: job.name }, page.options()) : address.ofJob(job.id);
  const link = make("a", { href: place }, name, make("span", { class: "hint" }, ` ${words}`));
  const cancel = make("button", { type: "button", class: "small", "aria-label": `Cancel ${name}`, onclick: () => api.cancel(job.id) }, "Cancel");
  return make("li", { class: isOpen ? "open" : null }, link, isOpen ? cancel : null);
}

function tableEntry({ id, name, counts, state }) {
  const total = Object.values(counts).reduce((a, b) => a + b, 0);
  const words = state === "running" ? `computing, ${counts.done ?? 0} of ${total}` : `table, ${counts.done ?? 0} of ${total}`;
  return make("li", {}, make("a", { href: address.ofTable(id) }, name || "table", make("span", { class: "hint" }, ` ${words}`)));
}
