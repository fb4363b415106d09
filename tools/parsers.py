"""Everything that reads a file of somebody else's: each may raise an error of ours, and nothing else."""

import hashlib
import io
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import torch
from small_kit import SCHEMA, make_kit, write_molecules
from torch_geometric.data import Data

from graphflip.data.molecules.molecule import from_smiles
from graphflip.data.tu.reading import load_tu
from graphflip.errors import GraphflipError
from graphflip.explain.knowledge import Knowledge
from graphflip.explain.neighbors import NEIGHBORS, TrainingMolecules
from graphflip.explain.preferences import read_preferences
from graphflip.explain.records import read_records
from graphflip.jobs import JobSettings, explained, open_source, run_job
from graphflip.jobs.export import export
from graphflip.jobs.folder import JobFolder, ShardCard, read_manifest
from graphflip.models.networks.trees import TreeClassifier, TreesConfig
from graphflip.models.storage.files import read_tensors, write_tensors
from graphflip.models.storage.store import load_model, save_model

TU_FILES = ("A", "graph_indicator", "graph_labels", "node_labels", "edge_labels", "node_attributes")
TU_BREAK = b"\n---\n"


def tu(content: bytes, folder: Path) -> None:
    for suffix, part in zip(TU_FILES, content.split(TU_BREAK), strict=False):
        (folder / f"fuzz_{suffix}.txt").write_bytes(part)
    load_tu(folder)


def tu_zip(content: bytes, folder: Path) -> None:
    (folder / "fuzz.zip").write_bytes(content)
    load_tu(folder / "fuzz.zip")


def rows(suffix: str) -> Callable[[bytes, Path], None]:
    def read(content: bytes, folder: Path) -> None:
        path = folder / f"fuzz{suffix}"
        path.write_bytes(content)
        for row in open_source(str(path)).rows():
            try:
                row.graph(SCHEMA)
            except GraphflipError:
                continue

    return read


def explanations(content: bytes, folder: Path) -> None:
    (folder / "fuzz.jsonl").write_bytes(content)
    list(read_records(folder / "fuzz.jsonl", SCHEMA))


def card(content: bytes, folder: Path) -> None:
    (folder / "card.json").write_bytes(content)
    load_model(folder)


def weights(content: bytes, folder: Path) -> None:
    stored = json.loads((folder / "card.json").read_text()) | {"sha256": hashlib.sha256(content).hexdigest()}
    (folder / "card.json").write_text(json.dumps(stored))
    (folder / "weights.safetensors").write_bytes(content)
    load_model(folder)


def knowledge(content: bytes, folder: Path) -> None:
    (folder / "knowledge.json").write_bytes(content)
    Knowledge.load(folder / "knowledge.json", SCHEMA)


def neighbors(content: bytes, folder: Path) -> None:
    """Somebody who writes a table can write the checksum that fits it."""
    path = folder / NEIGHBORS
    path.write_bytes(content)
    tensors, metadata = read_tensors(path)
    digest = hashlib.sha256(b"".join(tensors[name].numpy().tobytes() for name in sorted(tensors))).hexdigest()
    about = re.sub(r'"sha256": *"[^"]*"', f'"sha256":"{digest}"', metadata.get("about", ""))
    write_tensors(path, tensors, {"about": about})
    TrainingMolecules.load(path)


def trees(content: bytes, folder: Path) -> None:
    """Whatever trees are stored, an answer comes, or an error of ours."""
    stored = json.loads((folder / "card.json").read_text()) | {"sha256": hashlib.sha256(content).hexdigest()}
    (folder / "card.json").write_text(json.dumps(stored))
    (folder / "weights.safetensors").write_bytes(content)
    load_model(folder)(from_smiles("CCO", SCHEMA))


def preferences(content: bytes, folder: Path) -> None:
    (folder / "preferences.json").write_bytes(content)
    read_preferences(folder, SCHEMA)


def manifest(content: bytes, folder: Path) -> None:
    (folder / "manifest.json").write_bytes(content)
    found = read_manifest(folder)
    next(JobFolder(folder, found).answers(), None)


def shard(content: bytes, folder: Path) -> None:
    """Somebody who writes a shard can write the card that fits it."""
    job = JobFolder(folder, read_manifest(folder))
    job.shard(0).write_bytes(content)
    stored = ShardCard.model_validate_json((folder / "shards/0000/0000000.json").read_bytes())
    card = stored.model_copy(update={"sha256": hashlib.sha256(content).hexdigest()}).sealed()
    (folder / "shards/0000/0000000.json").write_text(card.model_dump_json())
    export(folder, folder / "answers.csv")
    list(explained(folder))


PARSERS: dict[str, Callable[[bytes, Path], None]] = {
    "tu": tu,
    "tu_zip": tu_zip,
    "csv": rows(".csv"),
    "smi": rows(".smi"),
    "sdf": rows(".sdf"),
    "graphs": rows(".jsonl"),
    "pyg": rows(".pt"),
    "explanations": explanations,
    "card": card,
    "weights": weights,
    "knowledge": knowledge,
    "neighbors": neighbors,
    "trees": trees,
    "preferences": preferences,
    "manifest": manifest,
    "shard": shard,
}


BESIDE = {"card": "kit/classifier", "weights": "kit/classifier", "trees": "trees", "manifest": "job", "shard": "job"}


def parse(name: str, content: bytes, folder: Path, made: Path) -> bool:
    """Whether a parser takes this content; what it raises besides our errors comes through.

    `made` has a kit and a job: what stands beside the file in question comes from there.
    """
    shutil.rmtree(folder, ignore_errors=True)
    if name in BESIDE:
        shutil.copytree(made / BESIDE[name], folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        PARSERS[name](content, folder)
    except GraphflipError:
        return False
    return True


def make(folder: Path) -> Path:
    """A kit and a job, whose files are examples."""
    kit, table = make_kit(folder / "kit"), write_molecules(folder / "molecules.csv", 6)
    settings = JobSettings.of(model=str(kit), prefer="minimal", target="fancy", budget=1)
    run_job(open_source(str(table)), settings, folder / "job", shard_size=6)
    judge = TreeClassifier(SCHEMA, TreesConfig(num_trees=2, num_nodes=3, bins=64))
    judge.child.copy_(torch.tensor([[1, 2], [1, 1], [2, 2]]))
    save_model(judge, folder / "trees")
    return folder


_INCHI = b'id,inchi\na,"InChI=1S/C8H9NO2/c1-6(10)9-7-2-4-8(11)5-3-7/h2-5,11H,1H3,(H,9,10)"\n'


def examples(name: str, made: Path) -> list[bytes]:
    """Contents that a parser takes, to start from."""
    kit, job = made / "kit", made / "job"
    shown = {
        "tu": [TU_BREAK.join([b"1, 2\n2, 1\n3, 4\n4, 3\n", b"1\n1\n2\n2\n", b"0\n1\n", b"0\n1\n0\n0\n"])],
        "csv": [b'id,smiles\na,CCO\nb,"C(=O)N"\n', b"smiles,label\nC1CC1,1\n", _INCHI],
        "smi": [b"CCO ethanol 1\nc1ccccc1\n"],
        "sdf": [_SDF],
        "graphs": [(job / "counterfactuals.jsonl").read_bytes(), b'{"nodes": [{"type": "C"}], "edges": []}\n'],
        "pyg": [_pyg()],
        "explanations": (job / "counterfactuals.jsonl").read_bytes().splitlines(keepends=True)[:2],
        "card": [(kit / "classifier" / "card.json").read_bytes()],
        "weights": [(kit / "classifier" / "weights.safetensors").read_bytes()],
        "knowledge": [(kit / "knowledge.json").read_bytes()],
        "neighbors": [(kit / NEIGHBORS).read_bytes()],
        "trees": [(made / "trees" / "weights.safetensors").read_bytes()],
        "preferences": [b'{"minimal": {"beam": 2}, "balanced": {"confidence": 0.6, "agreement": 0.7}}'],
        "manifest": [(job / "manifest.json").read_bytes()],
        "shard": [(job / "shards" / "0000" / "0000000.parquet").read_bytes()],
        "tu_zip": [_zip()],
    }
    return shown[name]


def _pyg() -> bytes:
    sink = io.BytesIO()
    bond = {"edge_index": torch.tensor([[0, 1], [1, 0]]), "edge_attr": torch.tensor([1, 1])}
    torch.save([Data(x=torch.tensor([[0], [2]]), **bond)], sink)
    return sink.getvalue()


def _zip() -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for suffix, text in (("A", "1, 2\n2, 1\n"), ("graph_indicator", "1\n1\n"), ("graph_labels", "0\n")):
            archive.writestr(f"fuzz/fuzz_{suffix}.txt", text)
    return sink.getvalue()


_SDF = b"""ethanol
     RDKit          2D

  3  2  0  0  0  0  0  0  0  0999 V2000
    0.0000    0.0000    0.0000 C   0  0  0  0  0  0  0  0  0  0  0  0
    1.2990    0.7500    0.0000 C   0  0  0  0  0  0  0  0  0  0  0  0
    2.5981   -0.0000    0.0000 O   0  0  0  0  0  0  0  0  0  0  0  0
  1  2  1  0
  2  3  1  0
M  END
$$$$
"""
