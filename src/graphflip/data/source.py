"""What a command's DATA argument may name."""

from pathlib import Path

from ..errors import DataError
from .dataset import GraphDataset
from .tu import PAPER_SETS, load_paper_dataset, load_tu

_SMILES = (".csv", ".smi", ".tsv")
_ACCEPTED = (
    f"{', '.join(PAPER_SETS)} (the paper's sets), planted, rdkit (molecules that come with RDKit), "
    f"a file of SMILES ({', '.join(_SMILES)}), or a TU folder or zip"
)


def load_dataset(spec: str, skip_bad: bool = False) -> GraphDataset:
    """The dataset that `spec` names: a known set, or a path. `skip_bad` leaves out unreadable rows of a SMILES file."""
    if spec in PAPER_SETS:
        return load_paper_dataset(spec)
    if spec == "planted":
        from .planted import planted

        return planted()
    if spec == "rdkit":
        from .smiles import load_rdkit_molecules

        return load_rdkit_molecules()
    path = Path(spec)
    if path.suffix.lower() in _SMILES and path.is_file():
        from .smiles import load_smiles_csv

        return load_smiles_csv(path, skip_bad=skip_bad)
    if path.is_dir() or (path.suffix.lower() == ".zip" and path.is_file()):
        return load_tu(path)
    came = "there is no such file" if path.suffix or len(path.parts) > 1 else "no set has this name"
    raise DataError(f"Data must be one of: {_ACCEPTED}; got {spec!r} ({came}).")
