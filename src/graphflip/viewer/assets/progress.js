// The progress of a job, shown in place of the button that started it.

import { $, figure, say } from "./elements.js";

let unit = null; // "probability" or "value": the unit of the numbers

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

// If the focus was on the cancel button, move it to the explain button.
export function end() {
  const hadFocus = $("progress").contains(document.activeElement);
  $("progress").hidden = true;
  $("explain").hidden = false;
  if (hadFocus) $("explain").focus({ preventScroll: true });
}
