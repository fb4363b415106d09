// The slider along the latent path, with the curve of the target's probability above it.

import * as api from "./api.js";
import { $, makeSvg, percent, say } from "./elements.js";

const [WIDTH, HEIGHT, EDGE] = [600, 90, 6];
let steps = null;
let wanted = null;

// Fetch the path of an answer; `moved` is called with the drawing and texts of a step, or with null at the end.
export async function show(job, number, target, moved) {
  wanted = `${job}/${number}`;
  const mine = wanted;
  steps = null;
  $("path").hidden = false;
  $("slider").disabled = true;
  $("curve").replaceChildren();
  $("path-text").textContent = "";
  say("path-message", "Decoding the way …");
  try {
    const found = await api.path(job, number);
    if (wanted !== mine) return;
    steps = { ...found, target, moved };
    say("path-message", "");
    $("slider").disabled = false;
    $("slider").max = found.positions.length - 1;
    $("slider").value = found.positions.length - 1;
    $("curve").replaceChildren(curve(found.positions, found.probabilities));
    place();
  } catch (problem) {
    if (wanted === mine) say("path-message", problem.message);
  }
}

export function hide() {
  wanted = steps = null;
  $("path").hidden = true;
}

export function start() {
  $("slider").addEventListener("input", () => {
    if (!steps) return;
    place();
    const at = Number($("slider").value);
    const isLast = at === steps.positions.length - 1;
    steps.moved(isLast ? null : { drawing: steps.drawings[at], probability: steps.probabilities[at], text: words(at) });
  });
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
  return `step ${at} of ${steps.positions.length - 1}: ${steps.target} ${percent(steps.probabilities[at])}, ${counted}`;
}

const point = (position, probability) => [
  EDGE + position * (WIDTH - 2 * EDGE),
  HEIGHT - EDGE - probability * (HEIGHT - 2 * EDGE),
];

function curve(positions, probabilities) {
  const places = positions.map((position, at) => point(position, probabilities[at]));
  const half = point(0, 0.5)[1];
  return makeSvg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}` },
    makeSvg("line", { class: "half", x1: 0, x2: WIDTH, y1: half, y2: half }),
    makeSvg("polyline", { class: "line", points: places.map((place) => place.join(",")).join(" ") }),
    makeSvg("circle", { class: "dot", r: 6, cx: places[0][0], cy: places[0][1] }),
  );
}
