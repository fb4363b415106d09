"""Laws of the scoring: what is asked once is not asked again, and the verdict is the same."""

import pytest

from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.explain.edits.candidates import Candidate
from graphflip.explain.edits.search import EditSearch
from graphflip.explain.edits.settings import Level
from graphflip.explain.goals.classes import ClassGoal
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.sketch import Sketch

from .oracles import CountsType

SCHEMA = molecule_schema(("C", "O", "N", "H"), max_nodes=14, explicit_hydrogens=True)


@pytest.mark.parametrize("asked", [(0.5, 0.5), (0.999999, 0.5)])
def test_a_molecule_is_read_back_once(asked):
    """Whatever is asked for meanwhile, the verdict is that of a scoring which never saw the molecule."""
    graph = from_smiles("CCO", SCHEMA)
    factual = Sketch.of(graph)
    search = EditSearch(CountsType(SCHEMA, "N", 1), Moves(SCHEMA))
    after = [after for _, after in search.moves.steps(factual, factual)]
    scoring = search.start(graph, ClassGoal(1), search.classifier(graph)).scoring
    for one in (Candidate.of(factual, sketch, SCHEMA) for sketch in after):
        first = scoring.survives_smiles(one)
        calls = scoring.calls
        assert scoring.survives_smiles(Candidate.of(factual, one.sketch, SCHEMA)) == first
        scoring.demand(Level(*asked))
        fresh = search.start(graph, ClassGoal(1), search.classifier(graph)).scoring
        fresh.demand(Level(*asked))
        assert scoring.survives_smiles(one) == fresh.survives_smiles(one)
        assert scoring.calls == calls
        scoring.demand(Level(0.5, 0.5))
    assert scoring.calls > 1
