"""Rings of a molecule by slot, with the names that chemists give them."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ..graph import Graph

if TYPE_CHECKING:
    import rdkit.Chem

RINGS = {
    "c1ccccc1": "benzene",
    "c1ccncc1": "pyridine",
    "c1cc[nH+]cc1": "pyridinium",
    "c1cncnc1": "pyrimidine",
    "c1cnccn1": "pyrazine",
    "c1ccnnc1": "pyridazine",
    "c1ncncn1": "1,3,5-triazine",
    "c1ccsc1": "thiophene",
    "c1ccoc1": "furan",
    "c1cc[nH]c1": "pyrrole",
    "c1c[nH]cn1": "imidazole",
    "c1cn[nH]c1": "pyrazole",
    "c1cscn1": "thiazole",
    "c1cnsc1": "isothiazole",
    "c1cocn1": "oxazole",
    "c1cnoc1": "isoxazole",
    "c1nnc[nH]1": "1,2,4-triazole",
    "c1c[nH]nn1": "1,2,3-triazole",
    "c1nnn[nH]1": "tetrazole",
    "c1nnco1": "1,3,4-oxadiazole",
    "c1nnsc1": "1,2,3-thiadiazole",
    "c1nncs1": "1,3,4-thiadiazole",
    "C1CCCCC1": "cyclohexane",
    "C1=CCCCC1": "cyclohexene",
    "C1=CC=CCC1": "cyclohexadiene",
    "C1=CCC=CC1": "1,4-cyclohexadiene",
    "C1CCCC1": "cyclopentane",
    "C1=CCCC1": "cyclopentene",
    "C1=CCC=C1": "cyclopentadiene",
    "C1CCC1": "cyclobutane",
    "C1CCCCCC1": "cycloheptane",
    "C1CCNCC1": "piperidine",
    "C1CCNC1": "pyrrolidine",
    "C1CNCCN1": "piperazine",
    "C1COCCN1": "morpholine",
    "C1CSCCN1": "thiomorpholine",
    "C1CCOCC1": "oxane",
    "C1CCOC1": "oxolane",
    "C1=CNCC1": "2-pyrroline",
    "C1=CCNC1": "3-pyrroline",
    "C1=CNCCC1": "1,2,3,4-tetrahydropyridine",
    "C1=CCNCC1": "1,2,3,6-tetrahydropyridine",
    "C1=COCC1": "2,3-dihydrofuran",
    "C1=CCOC1": "2,5-dihydrofuran",
    "C1=COCCC1": "3,4-dihydropyran",
    "C1COCCO1": "1,4-dioxane",
    "C1COCO1": "1,3-dioxolane",
    "C1=COCO1": "1,3-dioxole",
    "C1CCSCC1": "thiane",
    "C1CCSC1": "thiolane",
    "C1CNC1": "azetidine",
    "C1COC1": "oxetane",
    "C1CC1": "cyclopropane",
    "C1CO1": "epoxide",
    "C1CN1": "aziridine",
    "C1CS1": "thiirane",
}
"""SMILES of single rings in any spelling, and their names; substituents and hydrogens do not matter."""

_NUMBERS = ["three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]

Ring = frozenset[int]
"""Slots of the atoms of one of the smallest rings of a molecule."""


@dataclass(frozen=True, eq=False)
class RingNames:
    """Smallest rings of a molecule.

    Args:
        mol: The sanitized molecule.
        slots: Slot of each of its atoms.
        aromatic: Each ring, and True if all of its bonds are aromatic.
        aromatic_bonds: Ends of each aromatic bond, the lower slot first.
    """

    mol: "rdkit.Chem.Mol"
    slots: list[int]
    aromatic: dict[Ring, bool]
    aromatic_bonds: frozenset[tuple[int, ...]]

    @classmethod
    def of(cls, graph: Graph) -> "RingNames":
        """Find the rings of a hard graph; raises GraphError if it is no valid molecule."""
        from ..data.molecules.molecule import to_mol

        mol = to_mol(graph)
        slots = [i for i, node in enumerate(graph.nodes()) if node is not None]
        info = mol.GetRingInfo()
        is_aromatic = [all(mol.GetBondWithIdx(k).GetIsAromatic() for k in bonds) for bonds in info.BondRings()]
        rings = [frozenset(slots[k] for k in atoms) for atoms in info.AtomRings()]
        ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in mol.GetBonds() if bond.GetIsAromatic()]
        bonds = frozenset(tuple(sorted((slots[i], slots[j]))) for i, j in ends)
        return cls(mol, slots, dict(zip(rings, is_aromatic, strict=True)), bonds)

    def name(self, ring: Ring) -> str | None:
        """Name of a ring; None if it has none."""
        return _names().get(_skeleton(self.mol, [k for k, i in enumerate(self.slots) if i in ring]))

    def the(self, ring: Ring) -> str:
        """Name of a ring with its article: "the benzene ring", "the ring of six"."""
        name = self.name(ring)
        return f"the {name} ring" if name else f"the {_of_size(ring)}"

    def a(self, ring: Ring) -> str:
        """Name of a new ring with its article: "a benzene ring", "an epoxide ring", "a ring of six"."""
        name = self.name(ring)
        return f"{'an' if name[0] in 'aeiou' else 'a'} {name} ring" if name else f"a {_of_size(ring)}"


def _of_size(ring: Ring) -> str:
    number = dict(enumerate(_NUMBERS, start=3)).get(len(ring), str(len(ring)))
    return f"ring of {number}"


@cache
def _names() -> dict[str, str]:
    from ..data.molecules.building import rdkit_chem

    mols = [(rdkit_chem().MolFromSmiles(smiles), name) for smiles, name in RINGS.items()]
    return {_skeleton(mol, range(mol.GetNumAtoms())): name for mol, name in mols}


def _skeleton(mol: "rdkit.Chem.Mol", atoms: Collection[int]) -> str:
    """Write the atoms of a ring as canonical SMILES without hydrogens and without what hangs on them.

    In a ring that is not aromatic as a whole, bonds that it shares with an aromatic one count as double: the ring of
    tetralin that has hydrogens is cyclohexene.
    """
    from ..data.molecules.building import rdkit_chem

    Chem, part, number = rdkit_chem(), rdkit_chem().RWMol(), {}
    ends = [(bond, bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in mol.GetBonds()]
    inside = [(bond, i, j) for bond, i, j in ends if i in atoms and j in atoms]
    aromatic = all(bond.GetIsAromatic() for bond, *_ in inside)
    for k in atoms:
        atom = Chem.Atom(mol.GetAtomWithIdx(k).GetAtomicNum())
        atom.SetFormalCharge(mol.GetAtomWithIdx(k).GetFormalCharge())
        atom.SetIsAromatic(aromatic)
        atom.SetNoImplicit(True)
        number[k] = part.AddAtom(atom)
    for bond, i, j in inside:
        kind = Chem.BondType.DOUBLE if bond.GetIsAromatic() and not aromatic else bond.GetBondType()
        part.AddBond(number[i], number[j], kind)
    part.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(part)
    return Chem.MolToSmiles(part)
