// The list of earlier questions of this session.

import * as api from "./api.js";
import { $, make } from "./elements.js";
import * as question from "./question.js";

export async function showHistory() {
  const jobs = (await api.jobs()).filter((job) => job.state === "done").reverse();
  $("history").hidden = !jobs.length;
  $("history-list").replaceChildren(...jobs.map(entry));
}

function entry(job) {
  const name = job.name || job.input?.smiles || "graph";
  const options = job.asked ? question.describe(job.asked) : "from a file";
  return make("li", {}, make("a", { href: `#${job.id}/0` }, name, make("span", { class: "hint" }, ` ${options}`)));
}
