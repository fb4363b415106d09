"""The demo: well-known molecules, explained with the models that the package carries."""

from collections.abc import Callable
from pathlib import Path

from ..data.molecules.famous import famous_molecules
from ..data.molecules.molecule import to_smiles
from ..explain.explainer import load
from ..explain.records import write_records
from .page import write_report
from .paths import along_latent_paths
from .results import RECORDS, Lot, Results


def run_demo(out: Path, say: Callable[[str], None]) -> Path:
    """Explain, write `counterfactuals.jsonl` and `index.html`, and return the page's path."""
    explainer, molecules, found = load("mutagenicity"), famous_molecules(), []
    for molecule in molecules:
        one = explainer.explain(molecule.smiles, ids=[molecule.name])
        after = to_smiles(one.counterfactual) if one.counterfactual is not None else None
        say(f"{one.id}: {to_smiles(one.factual)} → {after or 'no molecule'} ({one.outcome.value})")
        found.append(one)
    write_records(out / RECORDS, found)
    known = {one.name: "known as a mutagen" if one.mutagen else "not known as a mutagen" for one in molecules}
    lot, page = Lot("famous molecules", tuple(found), len(found)), out / "index.html"
    results = Results("Is it mutagenic? What would change the answer", (lot,), remarks=known)
    write_report(page, along_latent_paths(results, explainer))
    return page
