"""Laws of the measures of a run."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.bench.measure import Yardstick, are_molecules, measure, stack
from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.data.planted.motif import planted
from graphflip.explain.counterfactual import Counterfactual, Outcome
from graphflip.graph import Graph
from graphflip.models.networks.classifier import InvariantClassifier, RelationalGIN
from graphflip.models.networks.pegvae import PAPER, PEGVAE

SMALL = planted(12, max_nodes=7, min_nodes=5)
GRAPHS = stack([SMALL.graphs()])


@pytest.fixture(scope="module")
def yardstick():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        vae = PEGVAE(SMALL.schema, PAPER).eval()
        classifier, judge = InvariantClassifier(SMALL.schema).eval(), RelationalGIN(SMALL.schema).eval()
    return Yardstick(classifier, vae, {"nafr": judge, "nafr_other": judge}, nll_limit=8.0, ged_seconds=0.03)


def pair(factual, counterfactual, target=1):
    return Counterfactual("x", "test", target, factual, counterfactual, 0.1, 0.9, Outcome.FLIPPED)


def values(found, yardstick):
    count = len(found)
    return measure(found, torch.zeros(count, dtype=torch.long), torch.zeros(count), yardstick)


@settings(max_examples=8)
@given(k=st.integers(0, 11), other=st.integers(0, 11), seed=st.integers(0, 99), target=st.integers(0, 1))
def test_renumbering_both_graphs_changes_nothing(yardstick, k, other, seed, target):
    order = torch.randperm(GRAPHS.num_slots, generator=torch.Generator().manual_seed(seed))
    found = [
        pair(GRAPHS[k], GRAPHS[other], target),
        pair(GRAPHS[k].permute(order), GRAPHS[other].permute(order), target),
    ]
    columns = values(found, yardstick)
    if not bool(columns["ged_exact_share"].all()):  # bounds of the first seconds depend on where the search starts
        columns = {name: column for name, column in columns.items() if not name.startswith("ged")}
    for name, (one, same) in columns.items():
        assert one.isnan() == same.isnan(), name
        assert one.isnan() or float(one) == pytest.approx(float(same), abs=1e-3), name


@settings(max_examples=8)
@given(k=st.integers(0, 11), other=st.integers(0, 11), seed=st.integers(0, 99))
def test_renumbering_one_graph_changes_what_depends_on_alignment_only(yardstick, k, other, seed):
    order = torch.randperm(GRAPHS.num_slots, generator=torch.Generator().manual_seed(seed))
    columns = values([pair(GRAPHS[k], GRAPHS[other]), pair(GRAPHS[k], GRAPHS[other].permute(order))], yardstick)
    for name in ("flip_ratio", "sic", "led_aligned", "cosine", "nafr", "plausible"):
        one, same = columns[name].tolist()
        assert one == pytest.approx(same, abs=1e-3), name
    if bool(columns["ged_exact_share"].all()):
        assert columns["ged"][0] == columns["ged"][1]


def test_answers_do_not_depend_on_who_else_is_measured(yardstick):
    found = [pair(GRAPHS[k], GRAPHS[(k + 1) % 12]) for k in range(12)]
    missing = replace(found[3], counterfactual=None, p_counterfactual=None, outcome=Outcome.NOTHING_TO_OFFER)
    whole, fewer = values(found, yardstick), values([*found[:3], missing, *found[4:]], yardstick)
    rest = torch.arange(12) != 3
    for name in set(whole) - {"ged", "ged_lower", "ged_exact_share"}:  # bounds depend on the time there was
        torch.testing.assert_close(whole[name][rest], fewer[name][rest], equal_nan=True, atol=1e-5, rtol=1e-4)
    assert fewer["flip_ratio"][3] == fewer["nafr"][3] == 0
    assert fewer["ged"][3].isnan()


def test_an_empty_graph_is_no_flip(yardstick):
    nothing = Graph.build(SMALL.schema, [], []).pad(GRAPHS.num_slots)
    for target in (0, 1):
        columns = values([pair(GRAPHS[0], nothing, target)], yardstick)
        assert columns["flip_ratio"] == columns["flip_ratio_label"] == columns["nafr"] == 0
        assert columns["ged"] == columns["edits"] == GRAPHS[0].num_nodes + GRAPHS[0].num_edges


def test_molecules_may_have_as_many_parts_as_their_factual():
    schema = molecule_schema(("C", "O", "N"), 8, explicit_hydrogens=False)
    whole, salt, broken = (
        from_smiles("CCO", schema),
        from_smiles("CC.O", schema),
        Graph.build(schema, [{"type": "O"}] + [{"type": "C"}] * 4, [(0, k, {"type": "single"}) for k in range(1, 5)]),
    )
    graphs, factuals = Graph.cat([whole, salt, salt, broken]), Graph.cat([salt, whole, salt, whole])
    assert are_molecules(graphs, factuals).tolist() == [1, 0, 1, 0]
