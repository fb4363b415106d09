"""KnownBonds: pairs of neighbors and edges between them that occur in the data, charges left aside."""

from ..sketch import Bond
from .rules import AbstractRules


class KnownBonds(dict[Bond, bool]):
    """True for two nodes and an edge that may be neighbors; charges, which follow from bonds, are left aside."""

    def __init__(self, bonds: frozenset[Bond], rules: AbstractRules):
        super().__init__()
        self.bare = rules.bare
        self.bonds = {(self.bare(node), edge, self.bare(neighbor)) for node, edge, neighbor in bonds}

    def __missing__(self, bond: Bond) -> bool:
        node, edge, neighbor = self.bare(bond[0]), bond[1], self.bare(bond[2])
        known = self[bond] = (node, edge, neighbor) in self.bonds or (neighbor, edge, node) in self.bonds
        return known
