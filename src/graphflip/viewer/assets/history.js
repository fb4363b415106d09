// The list of earlier questions and tables of this session; it is made anew while something is computed.

import * as address from "./address.js";
import * as api from "./api.js";
import { $, make } from "./elements.js";
import * as question from "./question.js";

const PAUSE = 3; // seconds between two looks at what is being computed; while somebody looks, it is not given up
let page = null;
let looking = false;

export function start(given) {
  page = given;
}

export async function show() {
  const [jobs, tables] = await Promise.all([api.jobs(), api.tables()]);
  const kept = jobs.filter((job) => job.state === "done" || api.isOpen(job));
  const entries = [...tables.map(tableEntry), ...kept.reverse().map(entry)];
  $("history").hidden = !entries.length;
  const before = [...$("history-list").children];
  const isSame = entries.length === before.length && entries.every((one, k) => one.isEqualNode(before[k]));
  if (!isSame) $("history-list").replaceChildren(...entries); // else the focus stays where it is
  if (kept.some(api.isOpen) || tables.some(({ state }) => state === "running")) lookAgain();
}

// One request now and then for all of them: connections that wait would be missing elsewhere.
async function lookAgain() {
  if (looking) return;
  looking = true;
  await api.pause(PAUSE);
  looking = false;
  await show().catch(lookAgain); // the server does not answer: it may do so later
}

function entry(job) {
  const name = job.name || job.input?.smiles || "graph";
  const isOpen = api.isOpen(job);
  const words = isOpen ? "computing …" : job.asked ? question.describe(job.asked) : "from a file";
  const which = page.service().models.length > 1 ? `${job.model}: ` : "";
  const place = job.asked && job.input ? address.ofQuestion({ ...job, name: job.name }, page.options()) : address.ofJob(job.id);
  const link = make("a", { href: place }, name, make("span", { class: "hint" }, ` ${which}${words}`));
  const cancel = make("button", { type: "button", class: "small", "aria-label": `Cancel ${name}`, onclick: () => api.cancel(job.id) }, "Cancel");
  return make("li", { class: isOpen ? "open" : null }, link, isOpen ? cancel : null);
}

function tableEntry({ id, name, counts, state }) {
  const total = Object.values(counts).reduce((a, b) => a + b, 0);
  const words = state === "running" ? `computing, ${counts.done ?? 0} of ${total}` : `table, ${counts.done ?? 0} of ${total}`;
  return make("li", {}, make("a", { href: address.ofTable(id) }, name || "table", make("span", { class: "hint" }, ` ${words}`)));
}
