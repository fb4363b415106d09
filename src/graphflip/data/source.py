"""What a command's DATA argument may name."""

from pathlib import Path

from ..errors import DataError, GraphflipError
from ..jsongraph import graph_from_json, graph_to_json
from ..schema import Schema
from .dataset import GraphDataset
from .tu.reading import PAPER_SETS, load_paper_dataset, load_tu

_SMILES = (".csv", ".smi", ".tsv")
_ACCEPTED = (
    f"{', '.join(PAPER_SETS)} (the paper's sets), planted, rdkit (molecules that come with RDKit), "
    f"a file of SMILES ({', '.join(_SMILES)}), a .pt file of PyG graphs, or a TU folder or zip"
)


def load_dataset(spec: str, skip_bad: bool = False, schema: Schema | None = None) -> GraphDataset:
    """The dataset that `spec` names: a known set, or a path. `skip_bad` leaves out unreadable rows of a SMILES file.

    With a `schema`, say a model's, the graphs are read as graphs of that schema; one that is not is an error.
    """
    path = Path(spec)
    if path.suffix.lower() in _SMILES and path.is_file():
        from .molecules.smiles import load_smiles_csv

        return load_smiles_csv(path, schema=schema, skip_bad=skip_bad)
    dataset = _load(spec, path)
    return dataset if schema is None or dataset.schema == schema else _read_as(dataset, schema)


def _load(spec: str, path: Path) -> GraphDataset:
    if spec in PAPER_SETS:
        return load_paper_dataset(spec)
    if spec == "planted":
        from .planted.motif import planted

        return planted()
    if spec == "rdkit":
        from .molecules.smiles import load_rdkit_molecules

        return load_rdkit_molecules()
    if path.is_dir() or (path.suffix.lower() == ".zip" and path.is_file()):
        return load_tu(path)
    if path.suffix.lower() == ".pt" and path.is_file():
        from .pyg.file import read_pyg_file
        from .pyg.objects import from_pyg

        return from_pyg(read_pyg_file(path), name=path.stem)
    came = "there is no such file" if path.suffix or len(path.parts) > 1 else "no set has this name"
    raise DataError(f"Data must be one of: {_ACCEPTED}; got {spec!r} ({came}).")


def _read_as(dataset: GraphDataset, schema: Schema) -> GraphDataset:
    """The same graphs, their attributes by name, as graphs of another schema."""
    graphs = []
    for k, name in enumerate(dataset.ids):
        try:
            graphs.append(graph_from_json(graph_to_json(dataset.graphs([k])), schema))
        except GraphflipError as error:
            raise DataError(
                f"{name}: the graph must be one of the schema that is asked for; it is not. {error}"
            ) from error
    return GraphDataset.from_graphs(
        dataset.name, graphs, dataset.labels, dataset.classes, dataset.ids, dataset.split, dataset.bad
    )
