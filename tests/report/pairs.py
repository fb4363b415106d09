"""Explanations to draw: random pairs of aligned graphs, and molecules."""

import dataclasses

from graphflip.data.molecules.molecule import drug_schema, from_smiles, molecule_schema
from graphflip.explain.counterfactual import Counterfactual, Outcome
from graphflip.explain.evidence import Evidence
from graphflip.graph import Graph
from graphflip.jsongraph import aligned_pair
from graphflip.testing import random_graph, random_schema

EXPLICIT = molecule_schema(("C", "N", "O", "S", "Cl", "Br", "H"), 60, explicit_hydrogens=True)
IMPLIED = molecule_schema(("C", "N", "O", "S", "Cl", "Br"), 60, explicit_hydrogens=False)
CHARGED = drug_schema(60)


def random_pair(seed: int, n: int, m: int) -> tuple[Graph, Graph]:
    schema = random_schema(seed)
    first, second = (random_graph(schema, n=k, num_graphs=1, seed=seed + k) for k in (n, m))
    return first.pad(max(n, m)), second.pad(max(n, m))


def molecule_pair(before: str, after: str, schema=EXPLICIT) -> tuple[Graph, Graph]:
    """Two molecules whose first atoms are the same ones."""
    return aligned_pair(from_smiles(before, schema), from_smiles(after, schema))


def explanation(id: str = "x", before: str = "CCCl", after: str = "CCO", **more) -> Counterfactual:
    factual, changed = molecule_pair(before, after)
    evidence = Evidence({"another GNN": 0.8, "trees": 0.3}, environment=True, plausible=False, radical_free=True)
    settings = {"classes": ("safe", "mutagen"), "probabilities": (0.1, 0.4, 0.9), "evidence": evidence, "steps": 3}
    found = Counterfactual(id, "test", 1, factual, changed, 0.1, 0.9, Outcome.FLIPPED)
    return dataclasses.replace(found, **(settings | more))


def failure(id: str = "y", note: str = "Frozen nodes ruled out 12 moves.") -> Counterfactual:
    factual, _ = molecule_pair("CCCl", "CCO")
    return Counterfactual(id, "test", 1, factual, None, 0.1, None, Outcome.NO_MOVE_ALLOWED, note=note)
