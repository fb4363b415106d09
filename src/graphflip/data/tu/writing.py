"""Datasets as folders in the format of the TU collection (Morris et al., 2020)."""

from pathlib import Path

import torch
from torch import Tensor

from ...errors import DataError
from ..dataset import GraphDataset
from .notes import LabelNotes


def write_tu(dataset: GraphDataset, folder: str | Path) -> None:
    """Write a dataset as a folder in the format of the TU collection; `load_tu` reads it back.

    The files are NAME_A.txt, NAME_graph_indicator.txt and so on, NAME being that of the folder. Names of columns,
    categories and classes go into NAME_label_readme.txt. The format has no place for split, chemistry and `max_nodes`.

    Args:
        dataset: The graphs.
        folder: Folder to write to; it is made if it does not exist.

    Raises:
        DataError: A name has commas, brackets, tabs, or blanks at its ends.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from graphflip.data.planted.motif import planted
        >>> folder = Path(tempfile.mkdtemp()) / "MOTIF"
        >>> write_tu(planted(num_graphs=8), folder)
        >>> (folder / "MOTIF_A.txt").exists()
        True
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, text in _texts(dataset).items():
        (folder / f"{folder.name}_{suffix}.txt").write_text(text)


def _texts(dataset: GraphDataset) -> dict[str, str]:
    """Content of each file of the set by its suffix."""
    schema = dataset.schema
    owner = torch.repeat_interleave(torch.arange(len(dataset)), dataset.num_nodes)
    edge_owner = torch.repeat_interleave(torch.arange(len(dataset)), dataset.num_edges)
    edges, E = dataset.edges + dataset.node_ptr[edge_owner][:, None] + 1, dataset.E
    if not schema.directed:
        edges, E = torch.cat([edges, edges.flip(1)]), torch.cat([E, E])
    names, maps = {}, {}
    texts = {"A": _lines(edges), "graph_indicator": _lines(owner[:, None] + 1)}
    for kind, rows, slices in (("node", dataset.V, schema.node_slices()), ("edge", E, schema.edge_slices())):
        parts = [(column, rows[:, at]) for column, at in slices]
        groups = [(column, part) for column, part in parts if not column.is_continuous]
        reals = [(column, part) for column, part in parts if column.is_continuous]
        if groups:
            names[f"{kind} labels"] = [column.name for column, _ in groups]
            maps[f"{kind} labels"] = [dict(enumerate(column.values)) for column, _ in groups]
            texts[f"{kind}_labels"] = _lines(torch.stack([part.argmax(1) for _, part in groups], 1))
        if reals:
            names[f"{kind} attributes"] = [column.name for column, _ in reals]
            texts[f"{kind}_attributes"] = _lines(torch.cat([part for _, part in reals], 1))
    names["edge direction"] = ["directed" if schema.directed else "undirected"]
    if dataset.classes:
        maps["class labels"] = [dict(enumerate(dataset.classes))]
    texts["graph_labels" if dataset.classes else "graph_attributes"] = _lines(dataset.labels[:, None])
    return texts | {"label_readme": _checked(LabelNotes(names, maps))}


def _checked(notes: LabelNotes) -> str:
    text = notes.format()
    if LabelNotes.parse(text) != notes:
        raise DataError(
            f"Names in a TU set must not have commas, brackets, tabs, or blanks at their ends; got {notes}. "
            "Rename the columns, categories or classes."
        )
    return text


def _lines(rows: Tensor) -> str:
    return "".join(", ".join(repr(value) for value in row) + "\n" for row in rows.tolist())
