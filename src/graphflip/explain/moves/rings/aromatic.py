"""Aromatic rings of a molecule, and changes that leave them aromatic, by RDKit's perception."""

from dataclasses import dataclass
from functools import cached_property

from ....chemistry import BOND_ORDERS
from ....schema import Schema
from ..atoms.orders import column_index
from ..attributes import Attributes
from ..difference import Difference
from ..sketch import Pair, Sketch


@dataclass(frozen=True, eq=False)
class AromaticRings:
    """The aromatic rings of one molecule.

    Args:
        factual: The molecule.
        schema: Its schema, with a chemistry.
        bonds: Bonds of all aromatic rings, as pairs i < j.
    """

    factual: Sketch
    schema: Schema
    bonds: frozenset[Pair]

    @classmethod
    def of(cls, factual: Sketch, schema: Schema) -> "AromaticRings":
        """Find the aromatic rings of a molecule; of one that RDKit does not accept, none."""
        bonds = _aromatic_bonds(factual.nodes, _edges(factual), schema)
        return cls(factual, schema, frozenset(bonds or ()))

    def stay(self, difference: Difference) -> bool:
        """True if every bond of an aromatic ring is aromatic after a change that cuts none of them."""
        if not self._may_break(difference):
            return True
        nodes, edges = dict(self.factual.nodes), _edges(self.factual)
        nodes |= {i: change.after for i, change in difference.nodes.items() if change.after is not None}
        edges |= {pair: change.after for pair, change in difference.edges.items() if change.after is not None}
        for i in (i for i, change in difference.nodes.items() if change.after is None):
            nodes.pop(i, None)
        for pair in (pair for pair, change in difference.edges.items() if change.after is None):
            edges.pop(pair, None)
        bonds = _aromatic_bonds(nodes, edges, self.schema)
        return bonds is not None and self.bonds <= bonds

    def _may_break(self, difference: Difference) -> bool:
        """False for changes that no ring minds: those elsewhere, and single bonds at carbon atoms of rings."""
        if not self._atoms or difference.touched.isdisjoint(self._atoms | self._beside):
            return False
        if any(i in self._atoms or i in self._beside for i in difference.nodes):
            return True
        at, kind = column_index(self.schema.edges, "type"), column_index(self.schema.nodes, "type")
        for pair, change in difference.edges.items():
            ends = self._atoms.intersection(pair)
            multiple = any(BOND_ORDERS[str(side[at])] > 1 for side in change if side is not None)
            if ends and (multiple or any(self.factual.nodes[i][kind] != "C" for i in ends)):
                return True
        return False

    @cached_property
    def _atoms(self) -> frozenset[int]:
        return frozenset(i for pair in self.bonds for i in pair)

    @cached_property
    def _beside(self) -> frozenset[int]:
        """Atoms that a multiple bond joins to a ring, as the oxygen of a pyridone: rings depend on what they are."""
        at = column_index(self.schema.edges, "type")
        joined = ((j, bond) for i in self._atoms for j, bond in self.factual.near[i].items())
        return frozenset(j for j, bond in joined if BOND_ORDERS[str(bond[at])] > 1)


def _edges(sketch: Sketch) -> dict[Pair, Attributes]:
    return {(min(i, j), max(i, j)): attributes for i, j, attributes in sketch.edges()}


def _aromatic_bonds(nodes: dict[int, Attributes], edges: dict[Pair, Attributes], schema: Schema) -> set[Pair] | None:
    """Bonds that RDKit finds aromatic; None if it does not accept the molecule."""
    from ....data.molecules.building import build_mol, sanitize_mol

    kind, order = column_index(schema.nodes, "type"), column_index(schema.edges, "type")
    slots = sorted(nodes)
    number = {slot: k for k, slot in enumerate(slots)}
    symbols = [str(nodes[i][kind]) for i in slots]
    bonds = [(number[i], number[j], BOND_ORDERS[str(bond[order])]) for (i, j), bond in edges.items()]
    mol = build_mol(symbols, bonds, _charges(schema, [nodes[i] for i in slots], symbols, bonds))
    if sanitize_mol(mol) is not None:
        return None
    ends = ((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in mol.GetBonds() if bond.GetIsAromatic())
    return {(min(slots[i], slots[j]), max(slots[i], slots[j])) for i, j in ends}


def _charges(schema: Schema, atoms: list[Attributes], symbols: list[str], bonds: list) -> list[int]:
    """Formal charges, stored or by the charge rule."""
    if schema.node_charge is not None:
        at = column_index(schema.nodes, schema.node_charge.name)
        return [int(atom[at]) for atom in atoms]
    return [] if schema.chemistry is None else schema.chemistry.formal_charges(symbols, bonds)
