"""Files and foreign objects, read into one GraphDataset."""

from typing import TYPE_CHECKING

from ..lazy import attach

if TYPE_CHECKING:
    from .dataset import BadRow as BadRow
    from .dataset import GraphDataset as GraphDataset
    from .molecules.molecule import from_mol as from_mol
    from .molecules.molecule import from_smiles as from_smiles
    from .molecules.molecule import to_mol as to_mol
    from .molecules.molecule import to_smiles as to_smiles
    from .nx import from_networkx as from_networkx
    from .nx import to_networkx as to_networkx
    from .pyg.objects import from_pyg as from_pyg
    from .pyg.objects import to_pyg as to_pyg
    from .source import load_dataset as load_dataset
    from .splits import Batch as Batch
    from .tu.reading import load_paper_dataset as load_paper_dataset
    from .tu.reading import load_tu as load_tu
    from .tu.writing import write_tu as write_tu

__getattr__, __dir__ = attach(__name__, __file__)
