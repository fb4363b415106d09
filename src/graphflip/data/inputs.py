"""Inputs: one thing to explain, in whatever form a user has it, read as a graph of a schema."""

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any, Literal, NamedTuple

import torch
from torch.utils.data import Dataset

from ..errors import DataError
from ..graph import Graph
from ..jsongraph import graph_from_json
from ..schema import Schema
from .dataset import GraphDataset
from .pyg.rows import from_pyg_text

Form = Literal["smiles", "molblock", "graph", "tu", "pyg"]


class InputRow(NamedTuple):
    """One input as text, so that it can be sent, hashed and stored: its number in the source, its id, and its form."""

    number: int
    id: str
    form: Form
    text: str

    def graph(self, schema: Schema, parent: bool = True) -> Graph:
        """Read the text as a graph of the schema; with `parent`, of a mixture of molecules the largest part."""
        if self.form == "smiles":
            return read_graph(self.text, schema, parent)
        if self.form == "molblock":
            from .molecules.sdf import from_molblock

            return from_molblock(self.text, schema, parent=parent)
        if self.form == "pyg":
            return from_pyg_text(self.text, schema)
        try:
            stored = json.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"A line must be a JSON object; {error}. See docs/concepts/format.md.") from error
        return graph_from_json(_known_part(stored, schema) if self.form == "tu" else stored, schema)


def read_graph(given: Any, schema: Schema, parent: bool = True) -> Graph:
    """Read one input as a graph of the schema; a label that it may have is not read.

    Args:
        given: A Graph, a SMILES text, an RDKit molecule, a PyG Data object, or an InputRow.
        schema: The schema of the classifier.
        parent: Reads the largest organic part of a salt or a mixture, as `from_mol` says; graphs are read as they are.
    """
    if isinstance(given, InputRow):
        return given.graph(schema, parent)
    if isinstance(given, str):
        from .molecules.molecule import from_smiles

        return from_smiles(given, schema, parent=parent)
    if hasattr(given, "GetAtoms"):
        from .molecules.molecule import from_mol

        return from_mol(given, schema, parent=parent)
    if isinstance(given, Graph):
        return _with_schema(given, schema)
    if hasattr(given, "edge_index"):
        return _from_pyg(given, schema)
    raise DataError(
        f"What is to be explained must be a Graph, a SMILES text, an RDKit molecule or a PyG Data object; "
        f"got {type(given).__name__}."
    )


def source_text(given: Any) -> str:
    """The molecule that was given as SMILES with all that graphs do not have, for `carry`; empty if that is none."""
    if isinstance(given, InputRow):
        return _ROW_SOURCES.get(given.form, lambda _: "")(given.text)
    if isinstance(given, str):
        return given.strip()
    return _of_mol(given) if hasattr(given, "GetAtoms") else ""


def _of_mol(mol: Any) -> str:
    from .molecules.drawn import write_source

    return write_source(mol)


def _of_molblock(block: str) -> str:
    from .molecules.sdf import parse_molblock

    return _of_mol(parse_molblock(block))


_ROW_SOURCES: dict[str, Callable[[str], str]] = {"smiles": str.strip, "molblock": _of_molblock}


def is_single(given: Any) -> bool:
    """True if this is one input (or nothing that can be explained) and not several, one after the other."""
    if isinstance(given, Graph):
        return len(given) == 1
    if isinstance(given, GraphDataset | Dataset) or hasattr(given, "to_data_list"):
        return False  # a set or a batch of PyG's has an `edge_index`, too
    if isinstance(given, str | bytes | InputRow) or hasattr(given, "GetAtoms") or hasattr(given, "edge_index"):
        return True
    if isinstance(given, Mapping | Set) or hasattr(given, "columns"):
        raise DataError(
            "Several inputs must come one after the other, in a list, an array, a column of a table or a generator; "
            f"got a {type(given).__name__}. Give its values as a list, or one column of it."
        )
    try:
        iter(given)
    except TypeError:
        return True
    return False


def named_inputs(inputs: Any, ids: Iterable[str] = ()) -> Iterator[tuple[str, Any]]:
    """Yield each of several inputs with its name: from `ids`, or its own (an id, a SMILES text), or its number."""
    if isinstance(inputs, GraphDataset):
        inputs, ids = inputs.graphs(), list(ids) or inputs.ids
    elif not isinstance(inputs, Graph) and is_single(inputs):
        raise DataError(f"`explain_each` takes several inputs; got one {type(inputs).__name__}. Use `explain`.")
    names = iter(ids)
    for number, given in enumerate(one_by_one(inputs)):
        own = given.id if isinstance(given, InputRow) else given if isinstance(given, str) else str(number)
        yield next(names, own), given


def one_by_one(inputs: Any) -> Iterator[Any]:
    """Yield the inputs; a batch of PyG's, or batches of a loader, are taken apart."""
    for given in [inputs] if hasattr(inputs, "to_data_list") else inputs:
        if hasattr(given, "to_data_list"):
            yield from given.to_data_list()
        else:
            yield given


def _with_schema(graph: Graph, schema: Schema) -> Graph:
    """The graph, if it has the schema."""
    if graph.schema != schema:
        raise DataError(
            "A graph must have the schema of the classifier; this one has another. "
            "Load it with `schema=explainer.kit.schema`."
        )
    return graph


def _from_pyg(data: Any, schema: Schema) -> Graph:
    """A PyG object as a graph; its label is replaced in a copy, because labels of any form may be there."""
    from .pyg.objects import from_pyg

    unlabeled = copy.copy(data)
    unlabeled.y = torch.zeros(1, dtype=torch.long)
    return from_pyg([unlabeled], schema=schema).graphs()


def _known_part(graph: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """A graph of a TU set without attributes that the schema does not have: such sets often have more than is used."""
    nodes, edges = ({column.name for column in columns} for columns in (schema.nodes, schema.edges))

    def known(attributes: dict[str, Any], names: set[str]) -> dict[str, Any]:
        return {name: value for name, value in attributes.items() if name in names}

    return {
        "nodes": [known(node, nodes) for node in graph["nodes"]],
        "edges": [[i, j, known(attributes, edges)] for i, j, attributes in graph["edges"]],
    }
