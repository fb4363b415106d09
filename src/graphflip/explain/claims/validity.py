"""Validity: degrees in which a graph is a sound one of its kind, and flips that SMILES do not lose."""

from typing import NamedTuple

import torch

from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ...nn.sharing import shared
from ..goals.stored import Target, goal_of
from ..moves.sketch import Sketch


class Validity(NamedTuple):
    """Degrees of validity of a graph.

    Args:
        num_parts: Number of connected parts.
        charge: Absolute sum of formal charges; 0 if the graph is no molecule.
        filled: True if no atom has an open valence, or the graph is no molecule.
        molecule: True if RDKit reads the molecule, or the graph is none.
    """

    num_parts: int
    charge: int = 0
    filled: bool = True
    molecule: bool = True

    @classmethod
    def of(cls, graph: Graph) -> "Validity":
        """Validity of one hard graph; where gradients are off it is found once and kept with the graph."""
        return shared(graph, "validity", cls._found)

    @classmethod
    def _found(cls, graph: Graph) -> "Validity":
        num_parts = len(Sketch.of(graph).parts())
        if graph.schema.chemistry is None:
            return cls(num_parts)
        from ...data.molecules.building import formal_charges
        from ...data.molecules.validity import is_molecule, is_radical_free

        charge = abs(sum(formal_charges(graph)))
        return cls(num_parts, charge, bool(is_radical_free(graph)[0]), bool(is_molecule(graph, None)[0]))

    def weaker(self, other: "Validity") -> "Validity":
        """The validity that both reach."""
        return Validity(
            max(self.num_parts, other.num_parts),
            max(self.charge, other.charge),
            self.filled and other.filled,
            self.molecule and other.molecule,
        )

    def reaches(self, least: "Validity") -> bool:
        """True if this is at least as valid."""
        return self.weaker(least) == least


@torch.no_grad()
def survives_round_trip(classifier: AbstractClassifier, graph: Graph, target: Target) -> bool:
    """True if a molecule, written as SMILES and read back, still reaches the target."""
    from ...data.molecules.molecule import round_trip

    again = round_trip(graph, kekule=False)
    if again is None:
        return False
    return bool(goal_of(target).reached(classifier(again.ample()))[0])
