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

// Open the editor with a molecule; `shown` is its graph and the picture of it in the page, whose places it keeps.
export async function open(smiles, title, goal = null, shown = null) {
  $("editor-title").textContent = title;
  target = goal;
  $("editor").showModal();
  if (!drawing) {
    $("editor-verdict").textContent = "Loading the editor …";
    chemistry = await import("./openchemlib.js");
    drawing = new chemistry.CanvasEditor($("canvas"));
    drawing.setOnChangeListener(() => { clearTimeout(timer); timer = setTimeout(judge, 250); });
  }
  drawing.setMolecule(molecule(smiles, shown));
  judge();
}

// What openchemlib cannot read is left out: an empty canvas.
function molecule(smiles, shown) {
  try {
    const [plain, placed] = [chemistry.Molecule.fromSmiles(smiles), shown?.graph ? asDrawn(shown) : null];
    const isSame = placed?.getIDCode() === plain.getIDCode(); // a graph has no stereo marks, isotopes, counter-ions
    $("canvas").dataset.asDrawn = String(isSame);
    return isSame ? placed : plain;
  } catch {
    return new chemistry.Molecule(0, 0);
  }
}

const ORDERS = { single: 1, double: 2, triple: 3 };

// The molecule of a graph with its atoms where they stand in a picture; hydrogens that are not drawn follow by themselves.
function asDrawn({ graph: { nodes, edges }, picture }) {
  const made = new chemistry.Molecule(nodes.length, edges.length);
  const atoms = new Map();
  nodes.forEach(({ type, charge = 0 }, i) => {
    const spot = picture.querySelector(`.atom-${i} circle.spot`);
    if (!spot) return;
    const atom = made.addAtom(chemistry.Molecule.getAtomicNoFromLabel(type));
    made.setAtomX(atom, Number(spot.getAttribute("cx")));
    made.setAtomY(atom, Number(spot.getAttribute("cy")));
    if (Number(charge)) made.setAtomCharge(atom, Number(charge));
    atoms.set(i, atom);
  });
  for (const [i, j, { type }] of edges) {
    if (atoms.has(i) && atoms.has(j)) made.setBondOrder(made.addBond(atoms.get(i), atoms.get(j)), ORDERS[type]);
  }
  return made;
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
