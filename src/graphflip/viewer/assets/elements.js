// Elements of the page: create, find and fill them. No text is ever parsed as HTML.

export const $ = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Set the text of an element, and hide the element if there is none.
export function say(id, text) {
  $(id).textContent = text;
  $(id).hidden = !text;
}

// Format a probability with two decimals, a value with four significant digits.
export function figure(number, unit = "probability") {
  if (number === null || number === undefined) return "–";
  return unit === "value" ? String(Number(number.toPrecision(4))) : number.toFixed(2);
}

export const likeliest = (prediction) => Object.entries(prediction).sort((a, b) => b[1] - a[1])[0];

// True if the likeliest class leads the second by so little that the classifier is unsure; of two, it has at most 0.55.
export function isUnsure(prediction) {
  const [first, second] = Object.values(prediction).sort((a, b) => b - a);
  return second !== undefined && first - second <= 0.1;
}

// A bar for a number from 0 to 1. Screen readers skip it, because the number stands beside it.
export const meter = (p) => bar("share", ["whole", 0, 1], ["part", 0, Math.max(0, Math.min(1, p))]);

// A bar for a value: the target range is a part of it, the value a mark. `others` widen the scale.
export function gauge(value, { low, high }, others) {
  const known = [value, low, high, ...others].filter(Number.isFinite);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const place = (number, open) => (Number.isFinite(number) ? 0.05 + (0.9 * (number - least)) / (most - least || 1) : open);
  const [from, to, at] = [place(low, 0), place(high, 1), place(value, 0)];
  return bar("share gauge", ["whole", 0, 1], ["wanted", from, Math.max(to, from + 0.01)], ["part", at - 0.008, at + 0.008]);
}

function bar(className, ...parts) {
  const rects = parts.map(([name, from, to]) => makeSvg("rect", { class: name, x: 100 * from, width: 100 * (to - from), height: 4 }));
  return makeSvg("svg", { class: className, viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, ...rects);
}
