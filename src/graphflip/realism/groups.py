"""Groups that no chemist could put into a flask: they rearrange, fall apart, or react with water at once."""

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..data.molecules.building import rdkit_chem

if TYPE_CHECKING:
    import rdkit.Chem

_HALOGENS, _SULFUR, _PHOSPHORUS, _METALS = "[F,Cl,Br,I]", "[#16]", "[#15]", "[Li,Na,K]"
_HYDROXYL, _AMINO, _NITROGEN, _LINEAR = "[OX2H]", "[NX3H2]", "[NX2]", "[CX2]"
_HETEROATOMS, _RING_OF_THREE = "[N,O,S]~[N,O]", "[#7,#8;r3]"


class UnstableGroup(NamedTuple):
    """A group that cannot be isolated.

    Args:
        name: Its name.
        smarts: Pattern that finds it.
        needs: Pattern of an atom or two that is in each such group and in many others: where it is not, none need be
            sought.
    """

    name: str
    smarts: str
    needs: str = "*"


UNSTABLE = (
    # Tautomers that do not exist as drawn.
    UnstableGroup("enol", "[OX2H][#6X3;!a]=[#6X3;!a]", _HYDROXYL),
    UnstableGroup("thioenol", "[SX2H][#6X3;!a]=[#6X3;!a]", _SULFUR),
    UnstableGroup("enamine with NH2", "[NX3H2][#6X3;!a;!$(C=[O,N,S])]=[#6X3;!a]", _AMINO),
    UnstableGroup("imine with NH", "[CX3;!a;!$(C[N,O,S])]=[NX2H]", _NITROGEN),
    UnstableGroup("imidic acid", "[OX2H][CX3;!a]=[NX2]", _NITROGEN),
    UnstableGroup("nitroso beside CH", "[CX4;!H0][NX2]=O", _NITROGEN),
    UnstableGroup("azo beside CH", "[CX4;!H0][NX2]=[NX2][#6]", _NITROGEN),
    UnstableGroup("ynol or ynamine with H", "[OX2H,SX2H,NX3H2,NX3H1][CX2]#C", _LINEAR),
    # Two heteroatoms on one saturated carbon, of which one leaves.
    UnstableGroup("hemiacetal", "[OX2H][CX4;!R][OX2]", _HYDROXYL),
    UnstableGroup("hemiaminal", "[OX2H][CX4;!R][NX3;!$(N*=[O,S])]", _HYDROXYL),
    UnstableGroup("aminal with NH2", "[NX3H2][CX4][NX3,OX2]", _AMINO),
    UnstableGroup("thiol beside OH, SH or N", "[SX2H][CX4][OX2H,NX3,SX2H]", _SULFUR),
    UnstableGroup("halogen beside OH, SH or NH", "[F,Cl,Br,I][CX4][OX2H,SX2H,NX3H1,NX3H2]", _HALOGENS),
    UnstableGroup("halogen beside amine", "[Cl,Br,I][CX4][NX3;!$(N*=[O,S])]", _HALOGENS),
    # Groups that water takes apart.
    UnstableGroup("acyl halide", "[CX3](=[O,S,N])[F,Cl,Br,I]", _HALOGENS),
    UnstableGroup("sulfonyl or sulfinyl halide", "[#16X4,#16X3](=O)[F,Cl,Br,I]", _HALOGENS),
    UnstableGroup("phosphorus halide", "[#15][F,Cl,Br,I]", _HALOGENS),
    UnstableGroup("halogen on N, O or S", "[#7,#8,#16;!$([#16](=O)(=O))][F,Cl,Br,I]", _HALOGENS),
    UnstableGroup("silyl halide", "[#14][Cl,Br,I]", _HALOGENS),
    UnstableGroup("carbamic acid", "[OX2H][CX3](=O)[NX3]", _HYDROXYL),
    # Groups that fall apart by themselves.
    UnstableGroup("acyl nitroso", "[CX3](=[O,S])[NX2]=O", _NITROGEN),
    UnstableGroup("O-nitroso acid", "[CX3](=O)O[NX2]=O", _NITROGEN),
    UnstableGroup("peroxide", "[OX2][OX2]", _HETEROATOMS),
    UnstableGroup(
        "chain of four heteroatoms",
        "[N,O,S;!a;!$(*~[#8-])]~[N,O;!a]~[N,O;!a;!$([#7+])]~[N,O,S;!a;!$([#7-])]",
        _HETEROATOMS,
    ),
    UnstableGroup("cumulene", "[#6]=[CX2]=[#6]", _LINEAR),
    UnstableGroup("ketene", "[#6]=[CX2]=[O,S]", _LINEAR),
    UnstableGroup("sulfur bound to sulfur by a double bond", "[#16]=[#16]", _SULFUR),
    UnstableGroup("thioaldehyde or thioketone", "[#6][CX3;!a](=[SX1])[#6,#1]", _SULFUR),
    UnstableGroup("ring of three with sulfur", "[#16r3]", _SULFUR),
    UnstableGroup("ring of three with two heteroatoms", "[#7,#8;r3]~[#7,#8;r3]", _RING_OF_THREE),
    UnstableGroup("isonitrile", "[CX1-]#[NX2+]", _NITROGEN),
    UnstableGroup("diazo beside carbon", "[#6]=[N+]=[N-]", _NITROGEN),
    UnstableGroup("nitrene or carbene", "[#6X2v2,#7X1v1;+0]"),
    # Valences that these elements do not have in molecules that one can buy.
    UnstableGroup("sulfur with a double bond to carbon and more", "[#16;v4,v6]=[#6]", _SULFUR),
    UnstableGroup("sulfurane", "[#16;X4;v4,$([#16;X4;v6;!$(*=[O,N,S])])]", _SULFUR),
    UnstableGroup("phosphorane", "[#15;X5]", _PHOSPHORUS),
    UnstableGroup("phosphorus with five bonds, none of them double", "[#15;v5;!$(*=[#8,#7,#16,#6])]", _PHOSPHORUS),
    UnstableGroup("halogen with several bonds", "[Cl,Br,I;v3,v5,v7;!$(*=O)]", _HALOGENS),
    UnstableGroup("metal bound to an atom", "[Li,Na,K;!X0]", _METALS),
)
"""A change that brings one of these is not believable; one that was there before may stay."""


def unstable_groups(mol: "rdkit.Chem.Mol") -> Counter[str]:
    """Count the groups of `UNSTABLE` in a molecule.

    Args:
        mol: A sanitized molecule of heavy atoms.

    Returns:
        Numbers by name, without those that do not occur.

    Example:
        >>> from rdkit import Chem
        >>> dict(unstable_groups(Chem.MolFromSmiles("C=C(O)C(=O)Cl")))
        {'enol': 1, 'acyl halide': 1}
    """
    there = {needs: mol.HasSubstructMatch(pattern) for needs, pattern in _needs()}
    able = [(group, pattern) for group, pattern in _patterns() if there[group.needs]]
    found = ((group.name, len(mol.GetSubstructMatches(pattern))) for group, pattern in able)
    return Counter({name: number for name, number in found if number})


@cache
def _patterns() -> tuple[tuple[UnstableGroup, Any], ...]:
    Chem = rdkit_chem()
    return tuple((group, Chem.MolFromSmarts(group.smarts)) for group in UNSTABLE)


@cache
def _needs() -> tuple[tuple[str, Any], ...]:
    """The parts that groups need, each once, with its pattern."""
    return tuple((needs, rdkit_chem().MolFromSmarts(needs)) for needs in sorted({group.needs for group in UNSTABLE}))
