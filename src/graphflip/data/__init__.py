"""Files and foreign objects, read into one GraphDataset."""

from .dataset import BadRow as BadRow
from .dataset import Batch as Batch
from .dataset import GraphDataset as GraphDataset
from .nx import from_networkx as from_networkx
from .nx import to_networkx as to_networkx
from .pyg import from_pyg as from_pyg
from .pyg import to_pyg as to_pyg
from .source import load_dataset as load_dataset
from .tu import load_paper_dataset as load_paper_dataset
from .tu import load_tu as load_tu
from .tu import write_tu as write_tu
