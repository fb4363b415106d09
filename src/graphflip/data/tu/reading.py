"""Sets in the format of the TU collection (Morris et al., 2020), and the three sets as the paper filters them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ...chemistry import Chemistry
from ...errors import ConfigError, DataError
from ...schema import Categories, Column, Continuous, Schema
from ..dataset import GraphDataset
from .files import README, Integers, Numbers, TuFiles, find_tu
from .known import KNOWN, NAMED, PAPER_LABEL_COUNT, KnownSet
from .molecular import as_molecules
from .notes import LabelNotes, Labels, labels_beside, labels_template, merged
from .tables import TuTables, read_tables, verify_published

PAPER_SETS = {name.lower(): name for name in KNOWN}


def load_tu(
    source: str | Path,
    max_nodes: int | None = None,
    min_label_count: int = 0,
    attributes: bool = True,
    target: int | None = None,
    seed: int = 0,
) -> GraphDataset:
    """Load a set in the format of the TU collection, split 80/10/10.

    Edges are undirected if all of them are listed both ways, with equal attributes. Names of labels are those of a
    `labels.json` beside the data (`write_labels` makes one to fill in), of the set's label_readme or README, or public
    ones of a set of this name. Where they are elements and bonds, graphs are molecules: aromatic bonds become
    alternating ones, and the schema has a chemistry.

    Args:
        source: Folder or zip file of the set, or its name. A name is looked up in the folder that the environment
            variable GRAPHFLIP_DATA names, and else downloaded with PyG.
        max_nodes: Graphs with more nodes are left out. Default: none is.
        min_label_count: Graphs with a node label that fewer nodes of the whole set have are left out.
        attributes: False to drop node and edge attributes and keep labels alone.
        target: Column of the graph attributes to regress on. Default: graph labels, which are classes, or in a set
            without them the first graph attribute.
        seed: Decides the split.

    Returns:
        The dataset; the id of a graph is `NAME/` and its number in the files, counted from 0.

    Raises:
        DataError: A file is missing, damaged or not the published one, or no graph passes the filters; the message
            names file and line.
        ConfigError: There is no such `target`.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from graphflip.data import write_tu
        >>> from graphflip.data.planted.motif import planted
        >>> folder = Path(tempfile.mkdtemp()) / "MOTIF"
        >>> write_tu(planted(num_graphs=8), folder)
        >>> load_tu(folder).classes
        ('no motif', 'motif')
    """
    files = find_tu(source)
    known = KNOWN.get(files.name)
    if known is not None:
        verify_published(files, known)
    given = _given_labels(files)
    notes = _notes(files, given)
    raw = read_tables(files, notes, target)
    if not attributes:
        raw = replace(raw, node_attributes=raw.node_attributes[:, :0], edge_attributes=raw.edge_attributes[:, :0])
    chemistry = known.chemistry if known else None
    if known is None and given.molecules:
        raw, notes, chemistry = as_molecules(raw, notes)
    names = _names(raw, notes, known)
    kept = _frequent(raw.node_labels, names.maps["node labels"], min_label_count)
    keep = _kept_graphs(raw, kept, max_nodes)
    if not keep.any():
        raise DataError(
            f"{files.where}: at least one graph must pass the filter max_nodes={max_nodes}, "
            f"min_label_count={min_label_count}; none of {len(keep)} does. Relax the filter."
        )
    dataset = _assemble(raw.select(keep), names, kept, max_nodes, chemistry)
    return dataset.split_randomly(seed).with_scales()


def write_labels(source: str | Path) -> Path | None:
    """Write a `labels.json` with the integers of a TU set, for names to be filled in.

    Args:
        source: Folder or zip file of the set.

    Returns:
        The file, in the folder or beside the zip; None if all labels have names, or there is such a file.

    Raises:
        DataError: The set cannot be read.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from graphflip.data import write_tu
        >>> from graphflip.data.planted.motif import planted
        >>> folder = Path(tempfile.mkdtemp()) / "MOTIF"
        >>> write_tu(planted(num_graphs=8), folder)
        >>> write_labels(folder) is None  # it has names
        True
    """
    files = find_tu(source)
    path = labels_beside(files.where)
    notes = _notes(files, Labels())
    raw = read_tables(files, notes, None)
    columns = {"nodes": ("node labels", raw.node_labels), "edges": ("edge labels", raw.edge_labels)}
    if np.issubdtype(raw.graph_labels.dtype, np.integer):
        columns["classes"] = ("class labels", raw.graph_labels[:, None])
    unnamed = {
        kind: table[:, 0] for kind, (what, table) in columns.items() if table.shape[1] == 1 and what not in notes.maps
    }
    if path.exists() or files.name in KNOWN or not {*unnamed} - {"classes"}:
        return None
    path.write_text(labels_template(unnamed), encoding="utf-8")
    return path


def _given_labels(files: TuFiles) -> Labels:
    path = labels_beside(files.where)
    return Labels.read(path) if path.is_file() else Labels()


def _notes(files: TuFiles, given: Labels) -> LabelNotes:
    """Names of labels: those given, else those of the set's own notes, else public ones."""
    texts = [files.content.get(suffix, b"").decode("utf-8", errors="replace") for suffix in ("label_readme", README)]
    public = LabelNotes({}, {kind: [names] for kind, names in NAMED.get(files.name, {}).items()})
    return merged([*map(LabelNotes.parse, texts), public]).with_labels(given)


def load_paper_dataset(name: str, seed: int = 0) -> GraphDataset:
    """Load AIDS, Mutagenicity or NCI1 as the paper uses them, split 80/10/10.

    Kept are graphs all of whose node labels occur on more than 50 nodes of the set, with at most 30 (AIDS) or 50
    nodes. Attributes are dropped.

    Args:
        name: "aids", "mutagenicity" or "nci1". The files are found as in `load_tu`.
        seed: Decides the split.

    Returns:
        The dataset, with names for elements, bonds and classes.

    Raises:
        ConfigError: The name is none of these.
        DataError: The set is not on this machine and cannot be downloaded, or its files are not the published ones.

    Example:
        >>> load_paper_dataset("aids")  # doctest: +SKIP
        GraphDataset(aids: 1635 graphs of up to 30 nodes, 2 classes)
    """
    if name not in PAPER_SETS:
        raise ConfigError(f"A set of the paper must be one of {', '.join(PAPER_SETS)}; got {name!r}.")
    full = PAPER_SETS[name]
    dataset = load_tu(full, KNOWN[full].max_nodes, PAPER_LABEL_COUNT, attributes=False, seed=seed)
    return replace(dataset, name=name, ids=tuple(f"{name}/{k.rpartition('/')[2]}" for k in dataset.ids))


def _frequent(
    labels: Integers, names: Sequence[dict[int, str]], min_count: int = 0
) -> list[Int[np.ndarray, " values"]]:
    """Values of each column of labels, occurring or named in the set's notes, that at least `min_count` rows have."""
    kept = []
    for column, named in zip(labels.T, names, strict=True):
        values = np.union1d(column, np.array(list(named), dtype=np.int64))
        counts = np.bincount(np.searchsorted(values, column), minlength=len(values))
        kept.append(values[counts >= min_count])
    return kept


def _kept_graphs(raw: TuTables, kept_labels: list[np.ndarray], max_nodes: int | None) -> Bool[np.ndarray, " g"]:
    keep = np.ones(len(raw.number), dtype=bool)
    for labels, kept in zip(raw.node_labels.T, kept_labels, strict=True):
        keep[raw.graph_of[~np.isin(labels, kept)]] = False
    if max_nodes is not None:
        keep &= np.bincount(raw.graph_of, minlength=len(keep)) <= max_nodes
    return keep


def _names(raw: TuTables, notes: LabelNotes, known: KnownSet | None) -> LabelNotes:
    """Names of every column and of its integers: known ones, else those of the set's notes, else defaults."""
    names, maps = dict(notes.names), dict(notes.maps)
    for kind, width in (
        ("node labels", raw.node_labels.shape[1]),
        ("edge labels", raw.edge_labels.shape[1]),
        ("node attributes", raw.node_attributes.shape[1]),
        ("edge attributes", raw.edge_attributes.shape[1]),
    ):
        if len(set(names.setdefault(kind, []))) != width:
            word = "type" if kind.endswith("labels") else "attribute"
            names[kind] = [word] if width == 1 else [f"{word}_{k}" for k in range(width)]
        if len(maps.setdefault(kind, [])) != width:
            maps[kind] = [{} for _ in range(width)]
    maps["class labels"] = maps.get("class labels") or [{}]
    if known is not None:
        names |= {"node labels": ["type"], "edge labels": ["type"] if known.bonds else []}
        maps |= {"node labels": [known.elements], "edge labels": [known.bonds] if known.bonds else []}
        maps["class labels"] = [known.classes]
    return LabelNotes(names, maps)


def _assemble(
    raw: TuTables, notes: LabelNotes, kept_labels: list[np.ndarray], max_nodes: int | None, chemistry: Chemistry | None
) -> GraphDataset:
    sizes = np.bincount(raw.graph_of, minlength=len(raw.number))
    edge_values = _frequent(raw.edge_labels, notes.maps["edge labels"])
    nodes, V = _columns("node", notes, raw.node_labels, kept_labels, raw.node_attributes)
    edges, E = _columns("edge", notes, raw.edge_labels, edge_values, raw.edge_attributes)
    schema = Schema(
        nodes=nodes, edges=edges, max_nodes=max_nodes or int(sizes.max()), directed=raw.directed, chemistry=chemistry
    )
    owner = raw.graph_of[raw.edges[:, 0]]
    node_ptr, edge_ptr = (
        np.concatenate([[0], np.cumsum(c)]) for c in (sizes, np.bincount(owner, minlength=len(sizes)))
    )
    labels, classes = torch.from_numpy(raw.graph_labels).float(), ()
    if np.issubdtype(raw.graph_labels.dtype, np.integer):
        (values,) = _frequent(raw.graph_labels[:, None], notes.maps["class labels"])
        labels = torch.from_numpy(np.searchsorted(values, raw.graph_labels))
        classes = _texts_of(values, notes.maps["class labels"][0])
    return GraphDataset(
        name=raw.name,
        schema=schema,
        node_ptr=torch.from_numpy(node_ptr),
        V=V,
        edge_ptr=torch.from_numpy(edge_ptr),
        edges=torch.from_numpy(raw.edges - node_ptr[owner][:, None]),
        E=E,
        labels=labels,
        classes=classes,
        ids=tuple(f"{raw.name}/{k}" for k in raw.number),
    )


def _columns(
    kind: str, notes: LabelNotes, labels: Integers, kept: Sequence[np.ndarray], attributes: Numbers
) -> tuple[tuple[Column, ...], Float[Tensor, "rows d"]]:
    columns: list[Column] = []
    blocks = [np.empty((len(labels), 0), dtype=np.float32)]
    for k, values in enumerate(kept):
        texts = _texts_of(values, notes.maps[f"{kind} labels"][k])
        columns.append(Categories(name=notes.names[f"{kind} labels"][k], values=texts))
        blocks.append(np.eye(len(values), dtype=np.float32)[np.searchsorted(values, labels[:, k])])
    for k in range(attributes.shape[1]):
        columns.append(Continuous(name=notes.names[f"{kind} attributes"][k]))
    blocks.append(attributes.astype(np.float32))
    return tuple(columns), torch.from_numpy(np.concatenate(blocks, axis=1))


def _texts_of(values: np.ndarray, names: dict[int, str]) -> tuple[str, ...]:
    return tuple(names.get(int(value), str(int(value))) for value in values)
