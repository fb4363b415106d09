// The theme: that of the system, until the user switches between dark and light.

import { $ } from "./elements.js";

const KEY = "graphflip-theme";

export function start() {
  apply(localStorage.getItem(KEY));
  $("theme").addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    localStorage.setItem(KEY, next);
    apply(next);
  });
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function apply(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}
