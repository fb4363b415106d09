"""Files and foreign objects, read into one GraphDataset."""

from .dataset import BadRow as BadRow
from .dataset import Batch as Batch
from .dataset import GraphDataset as GraphDataset
from .tu import load_paper_dataset as load_paper_dataset
from .tu import load_tu as load_tu
from .tu import write_tu as write_tu
