"""The table of real molecules: what is stored is read back, and real molecules are found in it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem

from graphflip.errors import ModelFileError
from graphflip.realism.comparison import synthetic_accessibility
from graphflip.realism.corpus import Corpus, Counts, ring_key
from graphflip.realism.groups import UNSTABLE, unstable_groups
from graphflip.realism.portrait import Portrait
from graphflip.realism.rings import ring_systems

DRUGS = (
    "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C)C(=O)N2C", "CC(C)Cc1ccc(C(C)C(=O)O)cc1", "CC(=O)Nc1ccc(O)cc1",
    "CN1CCCC1c1cccnc1", "OC(=O)CCCc1ccc(N(CCCl)CCCl)cc1", "Cc1ccc(-c2cc(C(F)(F)F)nn2-c2ccc(S(N)(=O)=O)cc2)cc1",
)  # fmt: skip


@given(st.dictionaries(st.integers(0, 2**32 - 1), st.integers(1, 10**6), max_size=20), st.integers(0, 2**32 - 1))
def test_counts_are_read_back_within_a_step(counts, other):
    packed = Counts.of(counts)
    for key, count in counts.items():
        assert packed[[key]][0] == pytest.approx(count, rel=0.03)
    assert packed[[other]][0] == pytest.approx(counts.get(other, 0), rel=0.03)


def test_a_corpus_is_read_back(tmp_path):
    corpus = Corpus(Counts.of({1: 5}), Counts.of({1: 2, 7: 1}), Counts.of({ring_key("c1ccccc1"): 9}))
    corpus.save(tmp_path / "corpus.npz")
    again = Corpus.load(tmp_path / "corpus.npz")
    assert np.allclose(again.environment_counts([1, 7, 8]), [7, 1, 0], rtol=0.05)
    assert again.knows_ring("c1ccccc1")
    assert not again.knows_ring("c1ccncc1")
    assert not again.knows_ring("c1ccccc1", minimum=100.0)


def test_a_damaged_corpus_is_refused(tmp_path):
    (tmp_path / "corpus.npz").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(ModelFileError, match="table of molecules"):
        Corpus.load(tmp_path / "corpus.npz")


@pytest.mark.parametrize("smiles", DRUGS)
def test_drugs_are_familiar(smiles):
    mol, corpus = Chem.MolFromSmiles(smiles), Corpus.packaged()
    portrait = Portrait(mol)
    assert all(corpus.knows_ring(system.smiles) for system in ring_systems(mol))
    assert min(corpus.environment_counts(list(portrait.environments[1]))) >= 3
    assert not portrait.unstable


@pytest.mark.parametrize("smiles", [*DRUGS, "C1CC2CCC1C2", "CC12CCC3C(CCC4=CC(=O)CCC34C)C1CCC2O", "C" * 30])
def test_ease_of_synthesis_is_that_of_its_authors(smiles):
    mol = Chem.MolFromSmiles(smiles)
    assert Portrait(mol).synthetic_accessibility(Corpus.packaged()) == pytest.approx(
        synthetic_accessibility(mol), abs=0.02
    )


def test_similarity_is_that_of_environments():
    first, second = (Portrait(Chem.MolFromSmiles(text)) for text in DRUGS[:2])
    assert first.similarity(first) == 1
    assert first.similarity(second) == second.similarity(first) < 0.3


UNSTABLE_MOLECULES = {
    "enol": "C=C(C)O",
    "thioenol": "C=C(C)S",
    "enamine with NH2": "C=C(C)N",
    "imine with NH": "CC(C)=N",
    "imidic acid": "CC(O)=NC",
    "nitroso beside CH": "CC(C)N=O",
    "azo beside CH": "CCN=NC",
    "ynol or ynamine with H": "CC#CO",
    "hemiacetal": "CC(O)OC",
    "hemiaminal": "CC(O)N(C)C",
    "aminal with NH2": "CC(N)NC",
    "thiol beside OH, SH or N": "CC(O)S",
    "halogen beside OH, SH or NH": "CC(O)Cl",
    "halogen beside amine": "CN(C)CCl",
    "acyl halide": "CC(=O)Cl",
    "sulfonyl or sulfinyl halide": "CS(=O)(=O)Cl",
    "phosphorus halide": "CP(C)Cl",
    "halogen on N, O or S": "CN(C)Cl",
    "silyl halide": "C[Si](C)(C)Cl",
    "carbamic acid": "CNC(=O)O",
    "acyl nitroso": "CC(=O)N=O",
    "O-nitroso acid": "CC(=O)ON=O",
    "peroxide": "COOC",
    "chain of four heteroatoms": "CNONOC",
    "cumulene": "C=C=C",
    "ketene": "C=C=O",
    "sulfur bound to sulfur by a double bond": "CS(C)=S",
    "thioaldehyde or thioketone": "CC(C)=S",
    "ring of three with sulfur": "C1CS1",
    "ring of three with two heteroatoms": "C1NO1",
    "isonitrile": "C[N+]#[C-]",
    "diazo beside carbon": "C=[N+]=[N-]",
    "nitrene or carbene": "C[C]C",
    "sulfur with a double bond to carbon and more": "CS(C)=C",
    "sulfurane": "CS(C)(C)C",
    "phosphorane": "CP(C)(C)(C)C",
    "phosphorus with five bonds, none of them double": "CP(C)(C)(C)C",
    "halogen with several bonds": "CI(Cl)Cl",
    "metal bound to an atom": "C[Na]",
}

# Other molecules with the same groups, so that each alternative of a pattern is there.
VARIANTS = (
    "CC#CS", "CC#CN", "CC#CNC", "CC(N)OC", "CC(S)S", "CC(S)N(C)C", "CC(O)F", "CC(Cl)S", "CC(Br)N", "CC(I)N(C)C",
    "CC(F)=N", "CC(=S)Br", "CC(=O)I", "CS(=O)(=O)F", "CS(=O)Cl", "CP(C)Br", "CN(C)Cl", "COF", "CSI", "C[SiH2]I",
    "CNC(=O)O", "CC(=S)N=O", "CC(=O)ON=O", "CN(C)N(C)N(C)N(C)C", "CONOC", "CSON=NSC", "CN=NN=NC", "CC(=C=O)C", "C=C=S",
    "C1NN1", "C1ON1C", "C1=NN1", "C1OO1", "C1OS1", "[C-]#[N+]c1ccccc1", "CC(C)=[N+]=[N-]", "[CH2]C", "C[N]",
    "C[S](C)=C", "CP(Cl)(Cl)(Cl)Cl", "C[K]", "[Li]C", "OC=N", "OC(=NC)N", "CC(=N)C=C", "OC=C", "NC=C", "SC=C",
    "C=C=C=C",
)  # fmt: skip


def test_every_unstable_group_has_an_example():
    assert set(UNSTABLE_MOLECULES) == {group.name for group in UNSTABLE}


@pytest.mark.parametrize(("name", "smiles"), UNSTABLE_MOLECULES.items(), ids=UNSTABLE_MOLECULES)
def test_unstable_groups_are_found(name, smiles):
    assert unstable_groups(Chem.MolFromSmiles(smiles))[name]


@pytest.mark.parametrize("smiles", [*UNSTABLE_MOLECULES.values(), *VARIANTS, *DRUGS])
def test_a_group_is_nowhere_that_what_it_needs_is_not(smiles):
    mol = Chem.MolFromSmiles(smiles)
    every = {group.name: len(mol.GetSubstructMatches(Chem.MolFromSmarts(group.smarts))) for group in UNSTABLE}
    assert unstable_groups(mol) == {name: number for name, number in every.items() if number}
