// Reasons to trust a prediction or not: the classifier's figures, the judges, and the training molecules nearest to it.

import { $, figure, isUnsure, likeliest, make } from "./elements.js";

// `trust` comes with a graph that was read; of an answer, `nearest` is what its evidence says of the factual.
export function showTrust(model, prediction, trust, nearest = null) {
  const neighbors = trust?.neighbors ?? nearest?.neighbors ?? [];
  const known = neighbors.filter(({ same }) => same).map(({ label }) => label).filter(Boolean);
  const familiar = trust ? trust.familiar : nearest ? nearest.neighbors[0].similarity >= nearest.limit : null;
  const labels = [...new Set(known)].join(" and ");
  const isWrong = known.length > 0 && !("value" in prediction) && !known.includes(likeliest(prediction)[0]);
  const rows = [
    figures(model),
    ["This prediction", unsure(prediction)],
    ...Object.entries(trust?.judges ?? {}).map(([name, said]) => [`Judge: ${name}`, words(said)]),
    neighbors.length ? ["Training data", known.length ? `has this very molecule, labeled ${labels}${isWrong ? ": here the classifier is wrong" : ""}` : familiar ? "has molecules like it, not itself" : "has nothing like it: do not rely on the prediction"] : null,
    neighbors.length ? ["Nearest there", list(neighbors)] : null,
  ].filter((row) => row && row[1]);
  $("trust").hidden = rows.length === 0;
  $("trust-short").textContent = short(model, prediction, isWrong ? `labeled ${labels} in the training data` : labels && "in the training data", familiar);
  $("trust-facts").replaceChildren(...rows.flatMap(([what, said]) => [make("dt", {}, what), make("dd", {}, said)]));
}

function figures({ figures: known, training }) {
  const parts = [];
  if (known.accuracy) parts.push(`right for ${Math.round(100 * known.accuracy)} of 100 test graphs`);
  if (known.auroc) parts.push(`AUROC ${figure(known.auroc)}`);
  if (known.r2) parts.push(`R² ${figure(known.r2)}`);
  return ["Classifier", [parts.join(", "), training].filter(Boolean).join("; ")];
}

const words = (said) => ("value" in said ? `value ${figure(said.value, "value")}` : `${likeliest(said)[0]} ${figure(likeliest(said)[1])}`);

function unsure(prediction) {
  if ("value" in prediction) return "";
  return isUnsure(prediction) ? `unsure: ${words(prediction)} is near the boundary` : words(prediction);
}

function short({ figures: known }, prediction, seen, familiar) {
  const parts = [];
  if (known.accuracy) parts.push(`classifier ${Math.round(100 * known.accuracy)} % right`);
  if (isUnsure(prediction)) parts.push("unsure here");
  if (seen) parts.push(seen);
  else if (familiar === false) parts.push("unlike the training data");
  return parts.length ? `· ${parts.join(" · ")}` : "";
}

const list = (neighbors) => make("ul", { class: "nearest" }, ...neighbors.map(({ smiles, label, similarity, same }) =>
  make("li", {}, make("code", {}, smiles), ` ${label} ${same ? "the same" : figure(similarity)}`)));
