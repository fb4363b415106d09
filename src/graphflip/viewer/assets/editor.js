// The structure editor (openchemlib, loaded when it is first opened), with the models' verdict on what is drawn.

import * as api from "./api.js";
import { $, figure, likeliest, make } from "./elements.js";

let page = null;
let chemistry = null; // the library
let drawing = null; // its editor
let target = null; // the goal of the answer that is edited, if it is one
let giveUp = null; // ends the request for a verdict on an older drawing
let timer = null;

export function start(given) {
  page = given;
  $("editor-close").addEventListener("click", () => $("editor").close());
  $("editor-use").addEventListener("click", () => use(false));
  $("editor-explain").addEventListener("click", () => use(true));
}

export async function open(smiles, title, goal = null) {
  $("editor-title").textContent = title;
  target = goal;
  $("editor").showModal();
  if (!drawing) {
    $("editor-verdict").textContent = "Loading the editor …";
    chemistry = await import("./openchemlib.js");
    drawing = new chemistry.CanvasEditor($("canvas"));
    drawing.setOnChangeListener(() => { clearTimeout(timer); timer = setTimeout(judge, 250); });
  }
  drawing.setMolecule(molecule(smiles));
  judge();
}

// What openchemlib cannot read is left out: an empty canvas.
function molecule(smiles) {
  try {
    return chemistry.Molecule.fromSmiles(smiles);
  } catch {
    return new chemistry.Molecule(0, 0);
  }
}

const drawn = () => drawing.getMolecule().toIsomericSmiles();

async function judge() {
  giveUp?.abort();
  giveUp = new AbortController();
  const { signal } = giveUp;
  const smiles = drawn();
  $("editor-smiles").textContent = smiles;
  for (const id of ["editor-use", "editor-explain"]) $(id).disabled = !smiles;
  if (!smiles) { $("editor-verdict").textContent = "Draw a molecule: the models say at once what they think of it."; return; }
  try {
    const { prediction, trust } = await api.read(page.model().name, { smiles }, true, signal);
    if (!signal.aborted) $("editor-verdict").replaceChildren(...verdicts(prediction, trust));
  } catch (problem) {
    if (!signal.aborted) $("editor-verdict").replaceChildren(make("p", { class: "message" }, problem.message));
  }
}

function verdicts(prediction, { judges, known }) {
  const one = (name, said) => {
    const [first, p] = likeliest(said);
    const isValue = "value" in said;
    const sign = target && !isValue ? (first === target.words ? "✓ " : "✗ ") : "";
    return make("li", {}, `${sign}${name}: `, make("b", {}, isValue ? figure(p, "value") : first), isValue ? "" : ` ${figure(p)}`);
  };
  const items = [one("classifier", prediction), ...Object.entries(judges).map(([name, said]) => one(name, said))];
  const wanted = target ? make("p", { class: "hint" }, `Wanted: ${target.words}`) : null;
  const seen = known ? make("p", { class: "hint" }, `In the training data, labeled ${known}`) : null;
  return [wanted, make("ul", { class: "verdicts" }, ...items), seen].filter(Boolean);
}

async function use(alsoExplain) {
  const smiles = drawn();
  $("editor").close();
  await page.look({ smiles });
  if (alsoExplain) page.ask();
}
