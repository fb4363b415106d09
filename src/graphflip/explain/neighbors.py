"""Training molecules by fingerprint: the nearest ones say if a model has been trained on anything like a molecule."""

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64, Int64, UInt8
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor

from ..data.dataset import GraphDataset
from ..errors import ModelFileError, require
from ..graph import Graph
from ..models.storage.files import read_tensors, write_tensors
from ..schema import first_problem
from ..version import __version__
from .evidence import Nearest, Neighbor

NEIGHBORS = "neighbors.safetensors"
_FORMAT = 1
_RADIUS, _BITS = 2, 1024
# A molecule is familiar if it is no further from the training data than 99 % of validation molecules are.
_UNFAMILIAR = 0.01
_MOST_COMPARED = 1000
_MOST_BYTES = 2**28


@dataclass(frozen=True, eq=False)
class TrainingMolecules:
    """Molecules that a kit was trained on: SMILES, ids, labels as text, and packed Morgan fingerprints (radius 2).

    Similarity is that of Tanimoto: the number of bits that both fingerprints have, divided by the number that either
    has. `limit` is the similarity to the nearest training molecule that 99 % of validation molecules reach.
    """

    smiles: tuple[str, ...]
    ids: tuple[str, ...]
    labels: tuple[str, ...]
    fingerprints: UInt8[np.ndarray, "g bytes"]
    limit: float

    @classmethod
    def of(cls, dataset: GraphDataset) -> "TrainingMolecules | None":
        """Collect the train part of a dataset; None if graphs are no molecules, or there are none to validate with."""
        if dataset.schema.chemistry is None:
            return None
        train, validation = dataset.part("train"), dataset.part("validation")
        every = max(-(-len(validation) // _MOST_COMPARED), 1)
        asked = [text for text in _all_smiles(validation)[::every] if text]
        kept = [(text, k) for k, text in enumerate(_all_smiles(train)) if text]
        if not kept or not asked:
            return None
        smiles, rows = zip(*kept, strict=True)
        ids, labels = [train.ids[k] for k in rows], _label_names(train)
        prints = _fingerprints(smiles)
        sizes = _num_bits(prints)
        limit = np.quantile([_similarities(one, prints, sizes).max() for one in _fingerprints(asked)], _UNFAMILIAR)
        return cls(smiles, tuple(ids), tuple(labels[k] for k in rows), prints, round(float(limit), 4))

    def nearest(self, graph: Graph, num: int = 3) -> Nearest | None:
        """Find the `num` training molecules that are most similar to a graph; None if it is no molecule."""
        smiles = _all_smiles(graph)[0]
        if not smiles:
            return None
        num = max(num, 1)
        similarity = _similarities(_fingerprints([smiles])[0], self.fingerprints, self._sizes)
        canonical = _canonical(smiles)
        same = {int(k) for k in np.flatnonzero(similarity == 1) if _canonical(self.smiles[k]) == canonical}
        first = similarity.copy()
        first[list(same)] = 2.0
        order = np.argsort(-first, kind="stable")[: 4 * num].tolist()
        once = {(self.smiles[k], self.labels[k]): k for k in reversed(order)}  # the set may repeat molecules
        found = [
            Neighbor(self.ids[k], self.smiles[k], self.labels[k], round(float(similarity[k]), 4), k in same)
            for k in [*reversed(once.values())][:num]
        ]
        return Nearest(tuple(found), self.limit)

    @cached_property
    def _sizes(self) -> Int64[np.ndarray, " g"]:
        return _num_bits(self.fingerprints)

    def save(self, path: Path) -> None:
        """Write a safetensors file of compressed tables, atomically."""
        table = _Table(smiles=self.smiles, ids=self.ids, labels=self.labels)
        tensors = {
            "fingerprints": _packed(self.fingerprints.tobytes()),
            "table": _packed(table.model_dump_json().encode()),
        }
        about = _About(count=len(self.smiles), limit=self.limit, sha256=_checksum(tensors))
        write_tensors(path, tensors, {"about": about.model_dump_json()})

    @classmethod
    def load(cls, path: Path) -> "TrainingMolecules":
        """Read what `save` wrote; raises ModelFileError if the file is damaged or of a newer format."""
        tensors, metadata = read_tensors(path)
        try:
            about = _About.model_validate_json(metadata.get("about", ""))
            if about.format > _FORMAT:
                raise ValueError(f"format {about.format} is newer than this graphflip, {__version__}")
            if set(tensors) != {"fingerprints", "table"} or _checksum(tensors) != about.sha256:
                raise ValueError("its sha256 is not the one that it names")
            size = about.count * _BITS // 8
            prints = np.frombuffer(_unpacked(tensors["fingerprints"], size), np.uint8).reshape(about.count, -1)
            table = _Table.model_validate_json(_unpacked(tensors["table"], _MOST_BYTES))
            if {len(table.smiles), len(table.ids), len(table.labels)} != {about.count} or prints.size != size:
                raise ValueError("its tables are not of one length")
        except (ValueError, zlib.error, MemoryError) as error:
            reason = first_problem(error) if isinstance(error, ValidationError) else str(error)
            raise ModelFileError(
                f"{path}: not a readable file of training molecules ({reason}). Copy it or fit the kit again."
            ) from error
        return cls(table.smiles, table.ids, table.labels, prints, about.limit)


def save_training_molecules(dataset: GraphDataset, folder: Path) -> None:
    """Write the training molecules of a dataset to the folder of its kit, if its graphs are molecules."""
    known = TrainingMolecules.of(dataset)
    if known is not None:
        known.save(folder / NEIGHBORS)


class _About(BaseModel):
    """Head of the file."""

    model_config = ConfigDict(frozen=True)
    format: int = _FORMAT
    count: int = Field(gt=0, le=_MOST_BYTES * 8 // _BITS)
    limit: float = Field(ge=0, le=1)
    sha256: str


class _Table(BaseModel):
    """Columns of the file that are texts."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    smiles: tuple[str, ...]
    ids: tuple[str, ...]
    labels: tuple[str, ...]


def _all_smiles(graphs: Graph | GraphDataset) -> list[str | None]:
    from ..data.molecules.molecule import to_smiles

    if isinstance(graphs, Graph):
        return [to_smiles(graphs, k) for k in range(len(graphs))]
    return [to_smiles(graphs.graphs([k])) for k in range(len(graphs))]


def _canonical(smiles: str) -> str:
    """SMILES as the RDKit that is installed writes it: another version may have written the file."""
    chem = require("rdkit.Chem", "mol", "Comparing molecules")
    mol = chem.MolFromSmiles(smiles)
    return smiles if mol is None else chem.MolToSmiles(mol)


def _fingerprints(smiles: Sequence[str]) -> UInt8[np.ndarray, "g bytes"]:
    """Packed Morgan fingerprints; that of a text which RDKit does not accept is empty."""
    chem = require("rdkit.Chem", "mol", "Comparing molecules")
    generators = require("rdkit.Chem.rdFingerprintGenerator", "mol", "Comparing molecules")
    generator = generators.GetMorganGenerator(radius=_RADIUS, fpSize=_BITS)
    logs = require("rdkit.rdBase", "mol", "Comparing molecules").BlockLogs()
    mols: list[Any] = [chem.MolFromSmiles(text) for text in smiles]
    del logs  # RDKit may complain again
    blank = np.zeros(_BITS, np.uint8)
    return np.stack([np.packbits(blank if mol is None else generator.GetFingerprintAsNumPy(mol)) for mol in mols])


def _similarities(
    one: UInt8[np.ndarray, " bytes"], others: UInt8[np.ndarray, "g bytes"], num_bits: Int64[np.ndarray, " g"]
) -> Float64[np.ndarray, " g"]:
    """Tanimoto similarity of one packed fingerprint to each of several, which have so many bits."""
    (there,) = one.nonzero()
    both = _num_bits(others[:, there] & one[there])
    return both / np.maximum(num_bits + _num_bits(one[None]) - both, 1)


def _num_bits(prints: UInt8[np.ndarray, "g bytes"]) -> Int64[np.ndarray, " g"]:
    return _NUM_BITS[prints].sum(1, dtype=np.int64)


_NUM_BITS = np.array([value.bit_count() for value in range(256)], np.uint8)


def _label_names(dataset: GraphDataset) -> list[str]:
    """Names of the labels' classes, or the values; empty if all labels are the same, as where there are none."""
    labels = dataset.labels.tolist()
    if len(set(labels)) < 2:
        return [""] * len(labels)
    return [dataset.classes[label] if dataset.classes else f"{label:.4g}" for label in labels]


def _packed(content: bytes) -> UInt8[Tensor, " packed"]:
    return torch.frombuffer(bytearray(zlib.compress(content, 9)), dtype=torch.uint8)


def _unpacked(tensor: Tensor, most: int) -> bytes:
    """Decompress a tensor of bytes, up to `most`: a small file must not become a large one."""
    unpacker = zlib.decompressobj()
    content = unpacker.decompress(_bytes(tensor), most + 1)
    if not unpacker.eof or len(content) > most:
        raise ValueError("a table is cut off, or longer than it may be")
    return content


def _checksum(tensors: dict[str, Tensor]) -> str:
    return hashlib.sha256(b"".join(_bytes(tensors[name]) for name in sorted(tensors))).hexdigest()


def _bytes(tensor: Tensor) -> bytes:
    if tensor.dtype != torch.uint8:
        raise ValueError("its tensors are not bytes")
    return tensor.numpy().tobytes()
