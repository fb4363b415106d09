"""The demo: a dozen well-known molecules, explained with the models that the package carries."""

from collections.abc import Callable
from pathlib import Path

import torch

from ..data.famous import famous_molecules
from ..data.molecule import from_smiles, to_smiles, why_invalid
from ..explain import Counterfactual, LatentTraversal
from ..explain.explainer import target_probability
from ..explain.records import write_records
from ..explain.refine import Refine
from ..graph import Graph
from ..models.store import load_model, read_card, find_model
from .page import Entry, write_page

_JUDGES = {"judge": "another GNN's probability", "trees": "boosted trees' probability"}


def run_demo(out: Path, steps: int, say: Callable[[str], None]) -> Path:
    """Explain, write `counterfactuals.jsonl` and `index.html`, and return the page's path."""
    vae, classifier = load_model("mutagenicity/vae"), load_model("mutagenicity/classifier")
    card = read_card(find_model("mutagenicity/classifier"))
    classes = card.data.classes if card.data else ("0", "1")
    molecules = famous_molecules()
    graph = Graph.cat([from_smiles(molecule.smiles, vae.schema) for molecule in molecules])
    walk = LatentTraversal(vae, classifier, steps=steps, anchor="factual", regularization=0.1, infer="most_likely")
    say(f"Walking through the latent space for {len(graph)} molecules …")
    found = Refine(walk).explain(graph, ids=[molecule.name for molecule in molecules])
    write_records(out / "counterfactuals.jsonl", found)
    entries = [_entry(one, molecule.mutagen, classes) for one, molecule in zip(found, molecules, strict=True)]
    flipped = sum(one.flipped for one in found)
    for one in found:
        say(f"  {one.id}: {to_smiles(one.factual)} → {to_smiles(one.counterfactual) or 'no molecule'} ({one.outcome.value})")
    summary = (
        f"{flipped} of {len(found)} molecules have a counterfactual: a changed graph that the classifier (AUROC "
        f"{card.figures['auroc']:.2f} on its test split) assigns to the other class. Each list of edits is minimal: undo any "
        "one of them and the class flips back. These walks are the paper's method on a better autoencoder; they do not yet "
        "keep valences, so some results are no molecules, and each says so."
    )
    page = out / "index.html"
    write_page(page, "Is it mutagenic? What would change the answer", summary, entries)
    return page


def _entry(found: Counterfactual, mutagen: bool, classes: tuple[str, ...]) -> Entry:
    known = "known as a mutagen" if mutagen else "not known as a mutagen"
    if found.counterfactual is None:
        return Entry(f"{found.id} ({known})", found, classes)
    reason = why_invalid(found.counterfactual)
    smiles = to_smiles(found.counterfactual)
    notes = (f"no molecule: {reason}",) if reason else (f"SMILES: {smiles}",)
    return Entry(f"{found.id} ({known})", found, classes, _verdicts(found), notes)


@torch.no_grad()
def _verdicts(found: Counterfactual) -> tuple[tuple[str, float], ...]:
    """What models that the search never saw say of the counterfactual."""
    target = torch.tensor([found.target])
    rows = []
    for name, words in _JUDGES.items():
        judge = load_model(f"mutagenicity/{name}")
        rows.append((words, float(target_probability(judge(found.counterfactual), target))))
    return tuple(rows)
