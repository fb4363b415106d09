"""What is strange has a price, and what no chemist would sign is left out."""

import math

import pytest

import graphflip as gf
from graphflip.data import from_smiles
from graphflip.data.molecules.molecule import drug_schema
from graphflip.explain.edits.candidates import Candidate, num_sites
from graphflip.explain.edits.realism import AbstractRealism, AbstractStrangeness, ChemicalRealism, FamiliarGraphs
from graphflip.explain.edits.settings import Costs
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.environments import EnvironmentCounts
from graphflip.explain.moves.sketch import Sketch
from graphflip.explain.preferences import MOLECULES, PREFERENCES, usual_preferences
from graphflip.realism.corpus import Corpus

SCHEMA = drug_schema(40)


class Free(AbstractRealism, AbstractStrangeness):
    """A training set in which nothing is rare."""

    def beside(self, factual):
        return self

    def price(self, candidate, lenient=False):
        return 0.0


def strangeness(before: str, after: str, realism: ChemicalRealism | None = None, lenient: bool = False) -> float:
    """Price of a molecule beside another whose atoms, in the order of the SMILES, it keeps."""
    realism = realism or ChemicalRealism(SCHEMA, Corpus.packaged(), Free())
    first, second = (Sketch.of(from_smiles(text, SCHEMA)) for text in (before, after))
    return realism.beside(first).price(Candidate.of(first, second, SCHEMA), lenient)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("c1ccccc1", "C1=CC=CCC1"),  # half of an aromatic ring
        ("CC(C)=O", "C=C(O)Cl"),  # a group that cannot be isolated
        ("CC(=O)O", "CC(=O)Cl"),
        ("C1CCCCC1", "C1=CC=C=CC1"),  # a ring that no molecule has
        ("CCO", "CCS(C)(C)C"),  # sulfur with four single bonds
    ],
)
def test_what_no_chemist_would_sign_is_left_out(before, after):
    assert strangeness(before, after) == math.inf


@pytest.mark.parametrize(
    ("before", "after"),
    [("c1ccccc1", "C1CCCCC1"), ("c1ccccc1", "c1ccncc1"), ("CCc1ccccc1", "CCc1ccccc1O"), ("CC(=O)O", "CC(=O)OC")],
)
def test_what_chemists_make_is_priced(before, after):
    assert 0 <= strangeness(before, after) < math.inf


def test_what_was_strange_before_may_stay():
    assert strangeness("CC(=O)Cl", "CC(=O)Cl") == 0
    assert strangeness("CC(=O)Cl", "CCC(=O)Cl") < math.inf


def test_rare_groups_cost_more_than_common_ones():
    assert strangeness("c1ccccc1", "c1ccccc1N=O") > strangeness("c1ccccc1", "c1ccccc1[N+](=O)[O-]")


def test_prices_add_up():
    dear = ChemicalRealism(SCHEMA, Corpus.packaged(), Free(), stereo=5.0)
    cheap = ChemicalRealism(SCHEMA, Corpus.packaged(), Free(), stereo=0.0)
    with_center, without = ("CCCC", "CCC(C)O"), ("CCCC", "CCCCO")
    assert strangeness(*with_center, dear) == pytest.approx(strangeness(*with_center, cheap) + 5)
    assert strangeness(*without, dear) == pytest.approx(strangeness(*without, cheap))


@pytest.mark.parametrize(
    ("before", "after", "paid"),
    [
        ("Cc1ccccc1C", "Cc1ccccc1Br", 0),
        ("Cc1ccccc1C", "Brc1ccccc1Cl", 1),
        ("Clc1ccccc1C", "Brc1ccccc1I", 0),
        ("Clc1ccccc1Br", "Cc1ccccc1C", 0),
    ],
)
def test_halogens_after_the_first_have_a_price(before, after, paid):
    dear, cheap = (ChemicalRealism(SCHEMA, Corpus.packaged(), Free(), halogens=price) for price in (7.0, 0.0))
    assert strangeness(before, after, dear) == pytest.approx(strangeness(before, after, cheap) + 7.0 * paid)


def test_environments_of_the_training_data_cost_less_the_more_there_are():
    first, second = (Sketch.of(from_smiles(text, SCHEMA)) for text in ("CC", "CO"))
    candidate = Candidate.of(first, second, SCHEMA)
    created = EnvironmentCounts(SCHEMA, {}).created(first, second, candidate.difference.touched)
    prices = []
    for number in (0, 10, 100, 1000, 10_000):
        counts = EnvironmentCounts(SCHEMA, {environment: number for _, environment in created})
        prices.append(FamiliarGraphs(counts).beside(first).price(candidate))
    assert prices == sorted(prices, reverse=True)
    assert prices[0] > prices[2] > 0
    assert prices[-1] == 0


@pytest.mark.parametrize(
    ("before", "after", "sites"),
    [
        ("c1ccccc1", "C1CCCCC1", 1),  # three bonds of one ring
        ("Cc1ccccc1", "Oc1ccccc1", 1),
        ("Cc1ccc(C)cc1", "Oc1ccc(O)cc1", 2),
        ("CCO", "CCO", 0),
    ],
)
def test_places_of_change_are_counted(before, after, sites):
    sketches = [Sketch.of(from_smiles(text, SCHEMA)) for text in (before, after)]
    difference = Difference.between(*sketches)
    assert num_sites(difference, *sketches) == sites


def test_one_place_is_cheaper_than_two():
    costs = Costs(edit_price=0.5, site_price=1.0)
    one, two = (
        Candidate.of(Sketch.of(from_smiles(a, SCHEMA)), Sketch.of(from_smiles(b, SCHEMA)), SCHEMA)
        for a, b in (("CCCCCC", "NOCCCC"), ("CCCCCC", "NCCCCO"))
    )
    assert one.heavy == two.heavy == 2
    assert costs.cost(one) == costs.cost(two) - 1


def test_kits_of_molecules_ask_for_realism_and_others_do_not():
    assert usual_preferences(SCHEMA)["balanced"] is MOLECULES["balanced"]
    assert (
        usual_preferences(gf.Schema(nodes=SCHEMA.nodes, edges=(), max_nodes=5))["balanced"] is PREFERENCES["balanced"]
    )
    assert MOLECULES["balanced"].realism
    assert not MOLECULES["minimal"].realism


def test_the_smallest_change_of_small_graphs_is_sought_among_all_moves():
    small, large = (gf.Schema(nodes=SCHEMA.nodes, edges=SCHEMA.edges, max_nodes=n) for n in (100, 101))
    assert usual_preferences(small)["minimal"].look == 0 < usual_preferences(large)["minimal"].look


@pytest.mark.parametrize(
    ("before", "after"),
    [("c1ccccc1", "C1=CC=CCC1"), ("CC(C)=O", "C=C(O)Cl")],  # half of an aromatic ring; what cannot be isolated
)
def test_what_is_never_believed_has_no_price(before, after):
    assert strangeness(before, after) == strangeness(before, after, lenient=True) == math.inf


def test_what_is_unfamiliar_has_a_high_price_where_nothing_better_is_found():
    before, after = "CCCCC", "CCC(Cl)(F)P"
    assert strangeness(before, after) == math.inf
    familiar = strangeness(before, "CCCC(C)C", lenient=True)
    assert familiar + 4 < strangeness(before, after, lenient=True) < math.inf
    assert familiar == strangeness(before, "CCCC(C)C")


def test_a_new_group_that_sprawls_costs_more_for_each_atom():
    free = ChemicalRealism(SCHEMA, Corpus.packaged(), Free(), rarity=0.0, synthesis=0.0, likeness=0.0)
    prices = [strangeness("CCO", f"CCO{'C' * count}", free) for count in range(1, 8)]
    assert prices == [0.0] * 4 + [5.0, 10.0, 15.0]
    assert strangeness("CCCO", "CCCOC", free) == strangeness("CCCO", "CCC(C)(C)OC(C)C", free)  # two small groups
