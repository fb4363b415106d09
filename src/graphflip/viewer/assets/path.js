// The slider along the latent path, with the curve of the target's probability or of the value above it.

import * as api from "./api.js";
import { $, figure, makeSvg, say } from "./elements.js";

const [HEIGHT, EDGE] = [72, 8]; // the edge is half as wide as the slider's thumb
let steps = null; // the path that is shown
let giveUp = null; // ends the request for a path that nobody waits for any more

// Fetch the path of an answer; `moved` is called with the drawing and texts of a step, or with null at the end.
export async function show(job, number, { record, goal }, moved) {
  giveUp?.abort();
  giveUp = new AbortController();
  const { signal } = giveUp;
  steps = null;
  $("path").hidden = false;
  $("slider").disabled = true;
  $("curve").replaceChildren();
  $("path-text").textContent = "";
  inform("Decoding the way …");
  try {
    const path = await api.path(job, number, signal);
    if (signal.aborted) return;
    steps = { ...path, goal, moved, scale: scale(path.probabilities, record.target, goal) };
    inform("");
    $("slider").disabled = false;
    $("slider").max = path.positions.length - 1;
    $("slider").value = path.positions.length - 1;
    draw();
  } catch (problem) {
    if (!signal.aborted) inform(problem.message);
  }
}

// Show a message in place of the hint; "" shows the hint again.
function inform(message) {
  say("path-message", message);
  $("path-hint").hidden = Boolean(message);
}

export function hide() {
  giveUp?.abort();
  steps = null;
  $("path").hidden = true;
}

export function start() {
  window.addEventListener("resize", () => steps && draw());
  $("slider").addEventListener("input", () => {
    if (!steps) return;
    place();
    const at = Number($("slider").value);
    const isLast = at === steps.positions.length - 1;
    const [drawing, prediction, probability] = [steps.drawings[at], steps.predictions[at], steps.probabilities[at]];
    steps.moved(isLast ? null : { drawing, prediction, probability, text: words(at) });
  });
}

function draw() {
  $("curve").replaceChildren(curve());
  place();
}

function place() {
  const at = Number($("slider").value);
  $("path-text").textContent = words(at);
  $("slider").setAttribute("aria-valuetext", words(at));
  const dot = $("curve").querySelector(".dot");
  const [x, y] = point(steps.positions[at], steps.probabilities[at]);
  dot.setAttribute("cx", x);
  dot.setAttribute("cy", y);
}

function words(at) {
  const edits = steps.num_edits[at];
  const counted = `${edits} ${edits === 1 ? "edit" : "edits"}`;
  const what = steps.goal.unit === "value" ? "value" : steps.goal.words;
  return `step ${at} of ${steps.positions.length - 1}: ${what} ${figure(steps.probabilities[at], steps.goal.unit)}, ${counted}`;
}

// Lowest and highest number of the curve, and the bounds of the target, which are drawn as lines.
function scale(numbers, target, goal) {
  if (goal.unit !== "value") return { least: 0, most: 1, bounds: [0.5] };
  const bounds = [target.low, target.high].filter((bound) => bound !== null);
  return { least: Math.min(...numbers, ...bounds), most: Math.max(...numbers, ...bounds), bounds };
}

const width = () => $("curve").clientWidth;

function point(position, number) {
  const { least, most } = steps.scale;
  return [EDGE + position * (width() - 2 * EDGE), HEIGHT - EDGE - ((number - least) / (most - least || 1)) * (HEIGHT - 2 * EDGE)];
}

function curve() {
  const places = steps.positions.map((position, at) => point(position, steps.probabilities[at]));
  const lines = steps.scale.bounds.map((bound) => point(0, bound)[1]);
  return makeSvg(
    "svg",
    { viewBox: `0 0 ${width()} ${HEIGHT}` },
    ...lines.map((y) => makeSvg("line", { class: "half", x1: 0, x2: width(), y1: y, y2: y })),
    makeSvg("polyline", { class: "line", points: places.map((place) => place.join(",")).join(" ") }),
    makeSvg("circle", { class: "dot", r: 6, cx: places[0][0], cy: places[0][1] }),
  );
}
