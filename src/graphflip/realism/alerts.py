"""Structural alerts for mutagenicity from the literature, counted in molecules.

Sources: Kazius, McGuire and Bursi, J. Med. Chem. 48 (2005) 312-320: toxicophores with the substituents that detoxify
them; Benigni, Bossa, Jeliazkova, Netzeva and Worth, EUR 23241 EN (2008): alerts of genotoxic carcinogens, those that
concern bacterial mutagenicity. The patterns are written anew from the chemical descriptions.

The alerts are a measure of answers and evidence beside them. No search may use them: an answer must be the
classifier's, not the textbook's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from ..data.molecules.building import rdkit_chem

if TYPE_CHECKING:
    import rdkit.Chem

MUTAGEN, NONMUTAGEN = "mutagen", "nonmutagen"
"""Names of the classes of sets about mutagenicity."""
KAZIUS, BENIGNI = "Kazius 2005", "Benigni and Bossa 2008"


@dataclass(frozen=True)
class Alert:
    """A structural alert.

    Args:
        name: Name of the group.
        smarts: Pattern of the group, with its exceptions.
        source: The publication that names it.
    """

    name: str
    smarts: str
    source: str = KAZIUS


def _rings_with(group: str) -> str:
    """Patterns of an atom in an aromatic ring of five or six atoms that carries a group elsewhere."""
    six = [f"$(a1:a({group}):a:a:a:a1)", f"$(a1:a:a({group}):a:a:a1)", f"$(a1:a:a:a({group}):a:a1)"]
    return ",".join([*six, f"$(a1:a({group}):a:a:a1)", f"$(a1:a:a({group}):a:a1)"])


def _fused_with(group: str) -> str:
    """Patterns of an atom of fused aromatic rings that carry a group elsewhere."""
    return ",".join(f"$({':'.join('a' * length)}{group})" for length in range(2, 8))


_SULFONIC = "[$(S(=O)(=O)[OX2H,OX1-])]"
_CALMING = "[$(C(F)(F)F),$(S(=O)(=O)[NX3]),$(S(=O)(=O)[OX2H,OX1-]),$(S(=O)(=O)a)]"
_RING = f"[a;!$([{_rings_with(_CALMING)}])]"
_AMINE_RING = f"[a;!$([{_rings_with(_CALMING)}]);!$(a:a[CX3](=O)[OX2H,OX1-])]"
_AZO_RING = f"[a;!$([{_fused_with(_SULFONIC)}])]"
_HYDRAZINE = "[NX3;!H2;+0;!$(N[C,S]=[O,S]);!$(N[#7]=*);!$(N[#7+])]"

ALERTS = (
    Alert("aromatic nitro", f"{_RING}[$([NX3+](=O)[O-])]"),
    Alert("primary aromatic amine", f"{_AMINE_RING}[NX3;H2;+0]"),
    Alert("aromatic methylamine", f"{_AMINE_RING}[NX3;H1,H0;$([N;+0]([CH3])a);!$(N[!#6]);!$(NC=[O,S,N]);!$(N(a)a)]"),
    Alert("aromatic hydroxylamine or its ester", "a[$([NX3;+0]-[OX2;H1,$(O[C,S]=O)])]"),
    Alert("nitroso", "[#6][$([NX2]=O)]"),
    Alert("N-nitroso", "[#7][$([NX2]=O)]"),
    Alert("alkyl nitrite", "[#6][OX2][$([NX2]=O)]"),
    Alert("N-nitro", "[#7][$([NX3+](=O)[O-])]"),
    Alert("three-membered ring with O, N or S", "[#6]1[O,N,S][#6]1"),
    Alert("azide", "[#6][$([NX2]=[NX2+]=[NX1-]),$([NX2-][NX2+]#[NX1])]"),
    Alert("diazo", "[#6]=[$([NX2+]=[NX1-])]"),
    Alert("diazonium", "[#6][$([NX2+]#[NX1])]"),
    Alert("triazene", "[NX3][$([NX2]=[NX2][#6])]"),
    Alert("aromatic azo", f"{_AZO_RING}[NX2]=[NX2]a"),
    Alert("aromatic azoxy", "a[$([NX2]=[NX3+]([O-])a)]"),
    Alert("aliphatic azo or azoxy", "[CX4][$([NX2]=[NX2]),$([NX2]=[NX3+][O-]),$([NX3+]([O-])=[NX2])]", BENIGNI),
    Alert("hydrazine or hydrazone", "[#7][NX3;H2;+0]"),
    Alert("substituted hydrazine", f"{_HYDRAZINE}{_HYDRAZINE}", BENIGNI),
    Alert("hydroxylamine", "[NX3;+0;!$(Na)][OX2;H1]"),
    Alert("hydroperoxide", "[OX2][OX2;H1]"),
    Alert("aliphatic halide", "[CX4;!H0;!$(C[CX4][NX3,SX2])][Cl,Br,I]"),
    Alert("nitrogen or sulfur mustard", "[NX3,SX2][CX4][CX4;!H0][F,Cl,Br,I]"),
    Alert("acyl halide", "[CX3](=O)[F,Cl,Br,I]"),
    Alert("sulfonate or sulfate ester", "[CX4;!H0]O[$(S(=O)(=O)[#6,#8])]"),
    Alert("small lactone or sultone", "[$(O1CCC1=O),$(O1CCCS1(=O)=O)]"),
    Alert("unsaturated aldehyde", "[$([CX3;H1]=O)]C=C"),
    Alert("quinone", "O=C1[#6]=,:[#6]C(=O)[#6]=,:[#6]1", BENIGNI),
    Alert("isocyanate or isothiocyanate", "[#6]N=C=[O,S]", BENIGNI),
    Alert("vinyl halide", "[CX3]=[CX3;H1][Cl,Br,I]", BENIGNI),
    Alert("unsaturated ether", "C=C[OX2][CX4]", BENIGNI),
    Alert("aromatic N-oxide", "[n+][O-]", BENIGNI),
)
"""Alerts with a pattern; `count_alerts` counts polycyclic aromatic systems beside them."""

POLYCYCLIC = "polycyclic aromatic system"
_FUSED_RINGS = 3


def count_alerts(mol: "rdkit.Chem.Mol") -> dict[str, int]:
    """Count the structural alerts for mutagenicity in a molecule; for measures and evidence, never for a search.

    Args:
        mol: A sanitized molecule of heavy atoms.

    Returns:
        Number of occurrences of each alert that occurs, by name; three or more aromatic rings that are fused to each
        other are one polycyclic aromatic system.

    Example:
        >>> from rdkit import Chem
        >>> count_alerts(Chem.MolFromSmiles("O=[N+]([O-])c1ccc2ccc3cccc4ccc1c2c34"))
        {'aromatic nitro': 1, 'polycyclic aromatic system': 1}
    """
    counts = {name: len(mol.GetSubstructMatches(pattern)) for name, pattern in _patterns()}
    counts[POLYCYCLIC] = sum(num_rings >= _FUSED_RINGS for num_rings in _fused_rings(mol))
    return {name: count for name, count in counts.items() if count}


def alerts_moved(before: "rdkit.Chem.Mol", after: "rdkit.Chem.Mol") -> Literal[-1, 0, 1]:
    """Sign of the change in the number of alerts: 1 if a molecule has more than before, -1 if it has fewer.

    For measures and evidence, never for a search.

    Example:
        >>> from rdkit import Chem
        >>> alerts_moved(Chem.MolFromSmiles("Nc1ccccc1"), Chem.MolFromSmiles("Oc1ccccc1"))
        -1
    """
    first, second = (sum(count_alerts(mol).values()) for mol in (before, after))
    return 1 if second > first else -1 if second < first else 0


def claimed_move(classes: Sequence[str], toward: str) -> Literal[-1, 0, 1]:
    """Sign of the change in alerts that an answer towards a class claims; 0 unless classes are about mutagenicity."""
    if set(classes) != {MUTAGEN, NONMUTAGEN}:
        return 0
    return 1 if toward == MUTAGEN else -1 if toward == NONMUTAGEN else 0


@cache
def _patterns() -> list[tuple[str, Any]]:
    Chem = rdkit_chem()
    return [(alert.name, Chem.MolFromSmarts(alert.smarts)) for alert in ALERTS]


def _fused_rings(mol: "rdkit.Chem.Mol") -> list[int]:
    """Number of aromatic rings of each system of flat rings that share bonds, as in pyrene or fluoranthene."""
    systems: list[tuple[set[int], int]] = []
    for ring in map(set, mol.GetRingInfo().BondRings()):
        bonds = [mol.GetBondWithIdx(index) for index in ring]
        if all(bond.GetIsConjugated() for bond in bonds):
            joined = [system for system in systems if system[0] & ring]
            count = all(bond.GetIsAromatic() for bond in bonds) + sum(count for _, count in joined)
            systems = [system for system in systems if system not in joined]
            systems.append((ring.union(*(bonds for bonds, _ in joined)), count))
    return [count for _, count in systems]
