"""Recourses in words: what becomes what, and where."""

import re
from typing import Any

from ..describe.wording import sentences
from ..graph import Graph
from ..jsongraph import graph_to_json
from .recourses import Recourse
from .transformations import Wildcards

_NUMBER = re.compile(r"(?<=[A-Za-z])\d+\b|(?<=node )\d+\b")
_REPLACE = re.compile(r"replace (?P<gone>.+) on (?P<at>[^ ]+) by (?P<came>.+)")
_ADD = re.compile(r"add (?P<came>.+) to (?P<at>[^ ]+)")
_REMOVE = re.compile(r"remove (?P<gone>.+) from (?P<at>[^ ]+)")


def recourse_words(before: Graph, after: Graph) -> str:
    """Say a change as it was made in one graph, without the numbers of nodes.

    Args:
        before: The graph, a batch of one.
        after: The graph after the change was made once.

    Returns:
        Such as "nitro group → carboxy group".

    Example:
        >>> from graphflip.data.molecules.molecule import from_smiles, molecule_schema
        >>> schema = molecule_schema(("C", "N", "O"), max_nodes=12, explicit_hydrogens=False)
        >>> recourse_words(from_smiles("c1ccccc1C", schema), from_smiles("c1ccccc1O", schema))
        'methyl group → hydroxy group'
    """
    n = max(before.num_slots, after.num_slots)
    said = [_plain(one.text, before.schema.chemistry is not None) for one in sentences(before.pad(n), after.pad(n))]
    return "; ".join(dict.fromkeys(said)) or "no change"


def _plain(text: str, molecule: bool) -> str:
    for pattern in (_REPLACE, _ADD, _REMOVE) if molecule else ():
        if match := pattern.fullmatch(text):
            named = match.groupdict()
            return f"{named.get('gone', 'hydrogen').removeprefix('the ')} → {named.get('came', 'hydrogen')}"
    return _NUMBER.sub("", text)


def graph_words(graph: Graph) -> str:
    """Name one graph: the SMILES of a molecule, the size of any other graph."""
    text = graph_text(graph)
    if isinstance(text, str):
        return text
    return f"a graph of {int(graph.num_nodes[0])} nodes and {int(graph.num_edges[0])} edges"


def graph_text(graph: Graph) -> str | dict[str, Any]:
    """One graph as it can be asked about again: the SMILES of a molecule, any other graph as JSON."""
    if graph.schema.chemistry is not None:
        from ..data.molecules.molecule import to_smiles

        written = to_smiles(graph)
        if written is not None:
            return written
    return graph_to_json(graph)


def context_words(recourse: Recourse) -> tuple[str, ...]:
    """Say the conditions of a recourse, such as "where C is in an aromatic ring"."""
    nodes = recourse.change.nodes
    return tuple(f"where {_name(nodes[place].before)} is {said}" for place, said in sorted(recourse.context))


def _name(attributes: Wildcards | None) -> str:
    known = [str(value) for value in attributes or () if value not in (None, "0")]
    return " ".join(known) or "the node"
