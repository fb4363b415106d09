// The choice between several answers: buttons, and a chart of those of a frontier.

import { evidenceOf } from "./answers.js";
import { $, figure, make, makeSvg } from "./elements.js";

// What an answer is measured by: edits, belief of the independent judges from 0 to 1 (their lowest probability; of values
// the share that agrees), and the number of other things that speak against it.
export function measures(answer) {
  const { record, goal, agreed, num_edits: edits } = answer;
  const judges = Object.keys(agreed);
  const votes = judges.filter((judge) => agreed[judge]).length;
  const belief = !judges.length ? null : goal.unit === "value" ? votes / judges.length : Math.min(...judges.map((judge) => record.evidence.judges[judge]));
  const doubts = evidenceOf(answer).slice(judges.length).filter(([, , good]) => good === false).length;
  const believed = belief === null ? figure(record.p_counterfactual, goal.unit) : goal.unit === "value" ? `${votes} of ${judges.length} judges` : `judges ${figure(belief)}`;
  const words = [`${edits} ${edits === 1 ? "edit" : "edits"}`, believed, doubts ? `${doubts} ${doubts === 1 ? "doubt" : "doubts"}` : ""];
  return { edits, belief: belief ?? 0, doubts, words: words.filter(Boolean).join(" · ") };
}

// Numbers of the answers to show: of a frontier, those that no other one equals or beats in all that they are measured by.
export function shownOf({ asked, answers }) {
  const all = answers.map(measures);
  const beats = (a, b) => a.edits <= b.edits && a.belief >= b.belief && a.doubts <= b.doubts;
  const isBeaten = (one, k) => all.some((other, j) => j !== k && beats(other, one) && (!beats(one, other) || j < k));
  return answers.map((_, k) => k).filter((k) => !asked?.frontier || !isBeaten(all[k], k));
}

// The number of the answer to begin with: of a frontier, the smallest that judges believe and least speaks against.
export function best(job) {
  if (!job.asked?.frontier) return 0;
  const rank = (number) => {
    const { doubts, edits } = measures(job.answers[number]);
    return [doubts + Object.values(job.answers[number].agreed).filter((agrees) => !agrees).length, edits];
  };
  return shownOf(job).sort((a, b) => rank(a)[0] - rank(b)[0] || rank(a)[1] - rank(b)[1])[0];
}

export function showChoices(job, chosen, choose) {
  const numbers = shownOf(job);
  const answers = numbers.map((number) => ({ number, isChosen: number === chosen, ...measures(job.answers[number]) }));
  const left = job.answers.length - numbers.length;
  $("choices").hidden = numbers.length < 2;
  $("tabs").replaceChildren(...answers.map((answer, place) => tab(answer, (step) => choose(numbers[(place + step + numbers.length) % numbers.length], true), choose)));
  $("chart").querySelector("svg")?.remove();
  const isJudged = job.answers.every(({ agreed }) => Object.keys(agreed).length);
  $("chart").hidden = numbers.length < 2 || !isJudged;
  $("chart-words").textContent = `Fewer edits to the left, more believed by independent models to the top; pale: something speaks against it.${left ? ` ${left} more ${left === 1 ? "answer is" : "answers are"} not shown: another one is at least as good in all three.` : ""}`;
  if (!$("chart").hidden) $("chart").prepend(chart(answers, choose));
}

function tab({ number, isChosen, words, edits, belief, doubts }, move, choose) {
  const button = make("button", { type: "button", role: "radio", "aria-checked": String(isChosen), tabindex: isChosen ? 0 : -1, "data-measures": JSON.stringify([edits, belief, doubts]) }, words);
  button.addEventListener("click", () => choose(number));
  button.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    move(step);
  });
  return button;
}

// Edits from left to right, belief from bottom to top. Dots that would overlap are moved apart.
function chart(answers, choose) {
  const [width, height, edge] = [300, 110, 16];
  const counts = answers.map(({ edits }) => edits);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const places = [];
  for (const { edits, belief } of answers) {
    let x = edge + ((edits - least) / (most - least || 1)) * (width - 4 * edge);
    const y = height - edge - belief * (height - 2 * edge);
    while (places.some(([a, b]) => Math.hypot(a - x, b - y) < 12)) x += 13;
    places.push([x, y]);
  }
  const dots = answers.map(({ number, isChosen, doubts }, k) => {
    const dot = makeSvg("circle", { class: `dot${isChosen ? " chosen" : ""}${doubts ? " doubted" : ""}`, cx: places[k][0], cy: places[k][1], r: isChosen ? 7 : 5 });
    dot.addEventListener("click", () => choose(number));
    return dot;
  });
  const [top, middle, bottom] = [edge, height / 2, height - edge];
  return makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    makeSvg("path", { class: "axes", d: `M0 ${top - 8}V${bottom + 8}H${width}` }),
    makeSvg("line", { class: "half", x1: 0, x2: width, y1: middle, y2: middle }), ...dots);
}
