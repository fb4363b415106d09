// The stage: headline, remarks and problems, and which of its views is shown.

import { $, make, say } from "./elements.js";

const VIEWS = ["single", "table", "comparison"];

// Show a view with its headline; what does not belong to it goes. One that takes the place of another begins at its top.
export function show(view, title, subline = "", note = "") {
  const isAnother = view && VIEWS.some((name) => name !== view && !$(name).hidden);
  for (const name of VIEWS) $(name).hidden = name !== view;
  $("headline").textContent = title;
  $("subline").textContent = subline;
  say("note", note);
  $("problem").hidden = true;
  say("way-back", "");
  document.title = `${title.slice(0, 80)} – graphflip`;
  if (isAnother && $("headline").getBoundingClientRect().top < 0) $("stage").scrollIntoView();
}

export function showMessage(title, note = "") {
  show(null, title, "", note);
}

export function showProblem(message, actions) {
  show(null, "This cannot be used");
  box(message, actions);
}

// Say what went wrong with a question; the graph that it was about stays.
export function showTrouble(message) {
  $("problem").hidden = true;
  if (!message) return;
  box(message, []);
  $("problem").scrollIntoView({ block: "nearest" });
}

function box(message, actions) {
  $("problem").replaceChildren(make("p", {}, message), ...(actions.length ? [make("div", { class: "downloads" }, ...actions)] : []));
  $("problem").hidden = false;
}

// While the field has another text than the one that was read, the stage is pale.
export function setStale(isStale) {
  $("stage").classList.toggle("stale", isStale);
  $("stage").setAttribute("aria-busy", String(isStale));
}

export function setWayBack(...content) {
  $("way-back").replaceChildren(...content);
  $("way-back").hidden = !content.length;
}

// On a narrow page the answer is below the form, and beside a long form above what is seen: scroll to it.
export function bringIntoView() {
  if ($("stage").getBoundingClientRect().top > innerHeight / 2 || $("headline").getBoundingClientRect().bottom < 0) $("stage").scrollIntoView();
}
