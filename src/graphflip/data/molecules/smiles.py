"""Molecules from files: SMILES tables, and the molecules that come with RDKit."""

import csv
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from ...errors import ConfigError, DataError, GraphflipError, require
from ...graph import Graph
from ...schema import Schema
from ..dataset import BadRow, GraphDataset
from ..tables import SmilesRow, is_regression, read_smiles
from .molecule import drug_schema, from_smiles, molecule_schema, to_smiles
from .salts import largest_part, num_parts, parent_of

_MOST_ATOMS = 100
_UNLABELED = "unlabeled"


def load_smiles_csv(
    path: Path | str,
    smiles_column: str | None = None,
    label_column: str | None = None,
    schema: Schema | None = None,
    max_nodes: int | None = None,
    explicit_hydrogens: bool = False,
    classes: Sequence[str] = (),
    strict: bool = True,
    skip_bad: bool = False,
    seed: int = 0,
) -> GraphDataset:
    """Load the molecules of a .csv, .tsv or .smi file, split at random by `seed`.

    Columns that are not named are guessed from the header. Of salts and mixtures the largest part is read, see
    `from_mol`, also for `strict`.

    Args:
        path: File with one molecule in each row.
        smiles_column: Name of the column of SMILES, in a table with a header.
        label_column: Name of the column of labels; if it is given, rows with a blank there are left out. Labels that
            are numbers with decimals, or more than 20 different whole numbers, make a regression set; all others name
            classes. Without labels all molecules are of one class.
        schema: Schema of a model, say. Default: `drug_schema` with room for the largest molecule of up to 100 atoms.
        max_nodes: Largest number of atoms, without a `schema`.
        explicit_hydrogens: True if hydrogens are to be nodes and charges those of the rule, without a `schema`.
        classes: Names of the classes in their order. Default: sorted.
        strict: False to read ions in the form that the charge rule gives them.
        skip_bad: True to list rows that cannot be used in the dataset's `bad`; else the first is an error.
        seed: Decides the split.

    Returns:
        The dataset; ids are those of the file, or its name with the number of the line.

    Raises:
        DataError: The file cannot be read, or a row cannot be used; the message names it.
    """
    path = Path(path)
    rows = list(read_smiles(path, smiles_column, label_column))
    if label_column is not None:
        rows = [row for row in rows if row.label]
    schema = schema or _infer_schema(rows, max_nodes, explicit_hydrogens)
    encode, classes = _label_code([row.label for row in rows], classes)

    def convert(row: SmilesRow) -> tuple[Graph, float]:
        return from_smiles(row.smiles, schema, strict, parent=True), encode(row.label)

    return _collect(path, rows, convert, classes, skip_bad).split_randomly(seed)


def load_rdkit_molecules(
    label: str = "nitro", max_nodes: int = 100, limit: int | None = None, seed: int = 0
) -> GraphDataset:
    """Load molecules that come with RDKit (the first `limit` of 4,999 rows), labeled by RDKit, in `drug_schema`.

    With `label="nitro"` the classes are molecules without and with a nitro group; with "logp" the labels are Crippen's
    estimate of log P, to regress on; of mixtures, of their largest part. Radicals, molecules of more than `max_nodes`
    heavy atoms and texts that are no molecules are skipped and listed in `bad`.
    """
    measure, classes = _rdkit_label(label)
    path = Path(require("rdkit.RDConfig", "mol", "Loading RDKit's molecules").RDDataDir) / "NCI" / "first_5K.smi"
    Chem = require("rdkit.Chem", "mol", "Loading RDKit's molecules")
    schema = drug_schema(max_nodes)

    def convert(row: SmilesRow) -> tuple[Graph, float]:
        graph, mol = from_smiles(row.smiles, schema, parent=True), Chem.MolFromSmiles(row.smiles)
        return graph, measure(mol if num_parts(mol) == 1 else Chem.MolFromSmiles(Chem.MolToSmiles(largest_part(mol))))

    rows = list(islice(read_smiles(path), limit))
    return _collect(path, rows, convert, classes, skip_bad=True, name="rdkit").split_randomly(seed)


def write_smiles_csv(dataset: GraphDataset, path: Path | str) -> None:
    """Write id, SMILES and label of each graph; bonds as they stand, so that reading gives the same graphs."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "smiles", "label"])
        for k, (name, label) in enumerate(zip(dataset.ids, dataset.labels.tolist(), strict=True)):
            smiles = to_smiles(dataset.graphs([k]), kekule=True)
            if smiles is None:
                raise DataError(
                    f"{dataset.name}: graph {k} ({name}) must be a molecule to be written as SMILES; it is not."
                )
            writer.writerow([name, smiles, dataset.classes[label] if dataset.classes else label])


def _collect(
    path: Path,
    rows: Sequence[SmilesRow],
    convert: Callable[[SmilesRow], tuple[Graph, float]],
    classes: tuple[str, ...],
    skip_bad: bool,
    name: str | None = None,
) -> GraphDataset:
    graphs, labels, ids, bad = [], [], [], []
    for row in rows:
        try:
            graph, label = convert(row)
        except GraphflipError as error:
            bad.append(BadRow(str(path), row.row, str(error)))
            continue
        graphs.append(graph)
        labels.append(label)
        ids.append(row.id)
    if bad and not skip_bad:
        raise DataError(
            f"{path}, row {bad[0].row}: {bad[0].reason} {len(bad)} of {len(rows)} rows cannot be used; leave them out "
            "with --skip-bad (in Python: `skip_bad=True`)."
        )
    if not graphs:
        first = f" The first problem, in row {bad[0].row}: {bad[0].reason}" if bad else ""
        raise DataError(f"{path}: the file must have a molecule that can be used; {len(rows)} rows, none can.{first}")
    return GraphDataset.from_graphs(name or path.stem, graphs, labels, classes, ids, bad=bad)


def _infer_schema(rows: Sequence[SmilesRow], max_nodes: int | None, explicit_hydrogens: bool) -> Schema:
    """Schema with room for the molecules that can be read and are not over `max_nodes`."""
    Chem = require("rdkit.Chem", "mol", "Reading SMILES")
    part = (lambda mol: Chem.AddHs(parent_of(mol))) if explicit_hydrogens else largest_part
    limit = max_nodes or (None if explicit_hydrogens else _MOST_ATOMS)
    counts, largest = Counter[str](), 1
    with require("rdkit.rdBase", "mol", "Reading SMILES").BlockLogs():
        for mol in filter(None, (Chem.MolFromSmiles(row.smiles) for row in rows if row.smiles)):
            symbols = [atom.GetSymbol() for atom in part(mol).GetAtoms()]
            if limit is None or len(symbols) <= limit:
                largest = max(largest, len(symbols))
                counts.update(symbols)
    if not explicit_hydrogens:
        return drug_schema(max_nodes or largest)
    elements = sorted(counts, key=lambda symbol: (-counts[symbol], symbol)) or ["C"]
    return molecule_schema(elements, max_nodes or largest, explicit_hydrogens=True)


def _label_code(
    labels: Sequence[str | None], classes: Sequence[str]
) -> tuple[Callable[[str | None], float], tuple[str, ...]]:
    """Function from the text of a label to its number, and the names of the classes (none for regression)."""
    texts = {text for text in labels if text}
    if not texts:
        return lambda text: 0.0, (_UNLABELED,)
    numbers = {text: number for text in texts if (number := _number(text)) is not None}
    if not classes and is_regression(texts):
        return lambda text: _label_of(text, numbers, "a number"), ()
    if not classes:
        classes = sorted(texts, key=lambda text: (numbers.get(text, float("inf")), text))
    codes = {name: k for k, name in enumerate(classes)}
    return lambda text: _label_of(text, codes, f"one of {', '.join(classes)}"), tuple(classes)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def _label_of(text: str | None, codes: dict, must: str) -> float:
    if text not in codes:
        raise DataError(f"The label must be {must}; got {text or 'nothing'}. Correct it.")
    return float(codes[text])


def _rdkit_label(label: str) -> tuple[Callable[..., float], tuple[str, ...]]:
    if label == "nitro":
        nitro = require("rdkit.Chem", "mol", "Loading RDKit's molecules").MolFromSmarts("[N+](=O)[O-]")
        return lambda mol: float(mol.HasSubstructMatch(nitro)), ("no nitro", "nitro")
    if label == "logp":
        return require("rdkit.Chem.Crippen", "mol", "Loading RDKit's molecules").MolLogP, ()
    raise ConfigError(f"`label` must be nitro or logp; got {label!r}.")
