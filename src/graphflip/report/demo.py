"""The demo: well-known molecules, explained with the models of the package."""

from collections.abc import Callable
from pathlib import Path

from ..data.molecules.famous import famous_molecules
from ..explain.explainer import load
from ..explain.query import Query
from ..explain.records import write_records
from ..models.storage.files import check_own_folder
from .about import about_question
from .page import write_report
from .paths import along_latent_paths
from .results import RECORDS, Results, ResultSet


def run_demo(out: Path, say: Callable[[str], None]) -> Path:
    """Explain well-known molecules, write `counterfactuals.jsonl` and `index.html`, and return the page's path.

    `say` is called with a line for each molecule. A folder that holds other files is refused.
    """
    check_own_folder(out, RECORDS)
    explainer, molecules, explanations = load("ames"), famous_molecules(), []
    for molecule in molecules:
        counterfactual = explainer.explain(molecule.smiles, ids=[molecule.name])
        smiles, outcome = counterfactual.smiles, counterfactual.outcome.value
        say(f"{counterfactual.id}: {smiles.factual} → {smiles.counterfactual or 'no molecule'} ({outcome})")
        explanations.append(counterfactual)
    write_records(out / RECORDS, explanations)
    known = {each.name: "known as a mutagen" if each.mutagen else "not known as a mutagen" for each in molecules}
    result_set, page = ResultSet("famous molecules", tuple(explanations), len(explanations)), out / "index.html"
    about = about_question("ames", Query().prefer, command="graphflip demo")
    results = Results("Is it mutagenic? What would change the answer", (result_set,), remarks=known, about=about)
    write_report(page, along_latent_paths(results, explainer))
    return page
