"""The demo: well-known molecules, explained with the models that the package carries."""

from collections.abc import Callable
from pathlib import Path

import torch

from ..data.famous import famous_molecules
from ..data.molecule import from_smiles, to_smiles, why_invalid
from ..explain.explainer import Counterfactual, target_probability
from ..explain.knowledge import Knowledge
from ..explain.moves import Moves
from ..explain.records import write_records
from ..explain.search import EditSearch
from ..models.store import find_model, load_model, read_card
from .page import Entry, write_page

_JUDGES = {
    "judge": "a GNN of another family gives the target",
    "trees": "boosted trees on fingerprints give the target",
}


def run_demo(out: Path, say: Callable[[str], None]) -> Path:
    """Explain, write `counterfactuals.jsonl` and `index.html`, and return the page's path."""
    classifier, card = load_model("mutagenicity/classifier"), read_card(find_model("mutagenicity/classifier"))
    classes = card.data.classes if card.data else ("0", "1")
    knowledge = Knowledge.packaged("mutagenicity", classifier.schema)
    moves = Moves(classifier.schema, knowledge.vocabulary)
    search = EditSearch(classifier, moves, knowledge.environments, confidence=0.7, beam=2)
    molecules, found = famous_molecules(), []
    for molecule in molecules:
        (one,) = search.explain(from_smiles(molecule.smiles, classifier.schema), ids=[molecule.name])
        found.append(one)
        after = to_smiles(one.counterfactual) if one.counterfactual is not None else None
        say(f"{one.id}: {to_smiles(one.factual)} → {after or 'no molecule'} ({one.outcome.value})")
    write_records(out / "counterfactuals.jsonl", found)
    entries = [_entry(one, molecule.mutagen, classes) for one, molecule in zip(found, molecules, strict=True)]
    flipped = sum(one.flipped for one in found)
    auroc = card.figures["auroc"]
    summary = (
        f"{flipped} of {len(found)} molecules have a counterfactual: a valid molecule, as few changes away as the "
        f"search could find, that the classifier (AUROC {auroc:.2f} on its test split) assigns to the other class with "
        "a probability of at least 0.7. Each list of edits is minimal: undo any one of them and the answer is lost. "
        "Every surrounding of an atom that was created occurs in the training data. Two models that the search never "
        "asked give their own opinion: where they disagree, the change may have fooled the classifier rather than the "
        "chemistry."
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
