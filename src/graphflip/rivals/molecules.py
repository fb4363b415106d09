"""Molecules for methods that know SMILES only: reading their proposals, asking the classifier about them."""

import torch

from ..data.molecules.molecule import from_smiles, to_smiles
from ..errors import GraphflipError, SchemaError
from ..graph import Graph
from ..schema import Schema
from .rival import Asking


def smiles_of(asking: Asking) -> str | None:
    """The factual as SMILES without aromatic atoms, which all packages read; None if it is no molecule.

    Raises:
        SchemaError: The graphs are not molecules at all.
    """
    if asking.factual.schema.chemistry is None:
        raise SchemaError(
            "This method is for molecules; the graphs of this set are none. Leave it out, or give a set of molecules."
        )
    return to_smiles(asking.factual, kekule=True)


def readable(texts: list[str], schema: Schema) -> list[tuple[str, Graph]]:
    """Texts with their graphs, without those that the schema cannot hold (other elements, too large, charged)."""
    pairs = []
    for text in dict.fromkeys(texts):
        try:
            pairs.append((text, from_smiles(text, schema, strict=False)))
        except GraphflipError:
            continue
    return pairs


def flips(asking: Asking, pairs: list[tuple[str, Graph]], at_once: int = 64) -> list[bool]:
    """True for molecules that the classifier predicts as asked."""
    n, reached = asking.factual.num_slots, []
    for at in range(0, len(pairs), at_once):
        batch = Graph.cat([graph.pad(n) for _, graph in pairs[at : at + at_once]])
        reached += asking.reached(batch).tolist()
    return reached


def draw_seed(rng: torch.Generator) -> int:
    """Seed for a package that has a generator of its own."""
    return int(torch.randint(2**31, (), generator=rng))
