// Small things for building a page: nothing here ever parses a text as HTML.

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

export function say(id, text) {
  $(id).textContent = text;
  $(id).hidden = !text;
}

export const percent = (p) => (p === null || p === undefined ? "–" : p.toFixed(2));

export const likeliest = (prediction) => Object.entries(prediction).sort((a, b) => b[1] - a[1])[0];

// A bar that shows a share of one; the number stands beside it, so it is hidden from screen readers.
export function meter(p) {
  const bar = makeSvg("svg", { class: "share", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" });
  bar.append(makeSvg("rect", { class: "whole", width: 100, height: 4 }));
  bar.append(makeSvg("rect", { class: "part", width: Math.max(0, Math.min(1, p)) * 100, height: 4 }));
  return bar;
}
