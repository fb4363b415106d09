// The progress of a job, shown in place of the button that started it. The bar never goes back, and is full at the end.

import { $, figure, say } from "./elements.js";

let unit = null; // "probability" or "value": the unit of the numbers
let share = 0;

export function begin(job, given) {
  [unit, share] = [given, 0];
  $("bar").removeAttribute("value");
  show(job);
  $("progress").hidden = false;
  $("explain").hidden = true;
  $("cancel").focus({ preventScroll: true });
}

export function show({ state, ahead, progress }) {
  if (state === "waiting") return say("progress-text", ahead ? `Waiting; ${ahead} before you` : "Waiting");
  if (!progress) return say("progress-text", "Looking …");
  share = Math.max(share, Math.min(progress.turn / progress.max_turns, 0.98));
  $("bar").value = share;
  return say("progress-text", `${progress.calls} graphs tried, best ${figure(progress.probability, unit)}`);
}

// If the focus was on the cancel button, move it to the explain button.
export function end() {
  const hadFocus = $("progress").contains(document.activeElement);
  detach();
  if (hadFocus) $("explain").focus({ preventScroll: true });
}

// Show the button again: the job is about another input than the one that is shown.
export function detach() {
  $("progress").hidden = true;
  $("explain").hidden = false;
}
