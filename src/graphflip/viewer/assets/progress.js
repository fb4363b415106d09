// How far a question has come, shown in place of the button that asked it.

import { $, figure, say } from "./elements.js";

let unit = null; // what numbers of the model that was asked are

export function begin(job, given) {
  unit = given;
  $("bar").removeAttribute("value");
  show(job);
  $("progress").hidden = false;
  $("explain").hidden = true;
  $("cancel").focus();
}

export function show({ state, ahead, progress }) {
  if (state === "waiting") return say("progress-text", ahead ? `Waiting; ${ahead} before you` : "Waiting");
  if (!progress) return say("progress-text", "Looking …");
  $("bar").value = progress.turn / progress.max_turns;
  say("progress-text", `Round ${progress.turn}: ${progress.calls} graphs tried, best ${figure(progress.probability, unit)}`);
}

// Who waited at the button that cancels is at the one that asks again.
export function end() {
  const wasHere = $("progress").contains(document.activeElement);
  $("progress").hidden = true;
  $("explain").hidden = false;
  if (wasHere) $("explain").focus({ preventScroll: true });
}
