"""Carrying: counterfactuals written with what a model does not see, wherever nothing has changed."""

from typing import NamedTuple

from ...graph import Graph
from .building import rdkit_chem
from .drawn import atom_states, draw
from .molecule import to_smiles
from .redraw import redraw
from .remarks import remarks_on


class SmilesPair(NamedTuple):
    """SMILES of a factual and its counterfactual, None of what is none, and remarks on what the model does not see."""

    factual: str | None
    counterfactual: str | None
    remarks: tuple[str, ...] = ()


def carry(source: str, factual: Graph, counterfactual: Graph | None) -> SmilesPair:
    """Write a factual and its counterfactual as SMILES with what the drawn molecule has and the graphs have not.

    Carried along are isotopes of atoms that stay, stereo marks where atom, bonds and neighbors stay, elements that the
    schema has no name for, charges as they are drawn, counter-ions and solvents; charged parts only if the net charge
    of the explained part stays.

    Args:
        source: The molecule as SMILES, as it was given; empty if that was a graph.
        factual: The graph that was read from it.
        counterfactual: A graph that is aligned with it, or None.

    Returns:
        Both as SMILES. Without a source that fits the factual they are those of `to_smiles`, without remarks.

    Example:
        >>> from graphflip.data.molecules.molecule import drug_schema, from_smiles
        >>> schema, source = drug_schema(), "[Na+].[O-]C(=O)[C@H](C)CO"
        >>> before = from_smiles(source, schema, parent=True)
        >>> carry(source, before, from_smiles("[O-]C(=O)C(C)CN", schema)).counterfactual
        'C[C@H](CN)C(=O)[O-].[Na+]'
    """
    plain = SmilesPair(_plain(factual), _plain(counterfactual))
    drawn = draw(source, factual) if source and plain.factual is not None else None
    before = None if drawn is None else redraw(drawn, drawn.before)
    if drawn is None or before is None:
        return plain
    after = None if counterfactual is None else redraw(drawn, atom_states(counterfactual))
    Chem = rdkit_chem()
    changed = plain.counterfactual if after is None else Chem.MolToSmiles(after)
    return SmilesPair(Chem.MolToSmiles(before), changed, remarks_on(drawn, before, after))


def _plain(graph: Graph | None) -> str | None:
    return None if graph is None or graph.schema.chemistry is None else to_smiles(graph)
