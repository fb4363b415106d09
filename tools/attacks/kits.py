"""Attacks with kits: cards of impossible sizes, trees without an end, weights of other kinds."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save

from graphflip.data.molecules.molecule import from_smiles
from graphflip.errors import GraphflipError
from graphflip.explain.kit import load_kit
from graphflip.models.networks.trees import TreeClassifier, TreesConfig
from graphflip.models.storage.store import load_model, save_model

from .place import Place, attack, refused

HUGE = (10**30, 10**12, 2**63, -1, 1e308)


def _card(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    card = json.loads((folder / "card.json").read_text())
    change(card)
    (folder / "card.json").write_text(json.dumps(card))


def _weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> None:
    """Other weights, with the card that fits them."""
    blob = save(change(load_file(folder / "weights.safetensors")))
    (folder / "weights.safetensors").write_bytes(blob)
    _card(folder, lambda card: card.update(sha256=hashlib.sha256(blob).hexdigest()))


@attack
def cards_of_impossible_sizes(place: Place) -> None:
    """Widths of 10^30, graphs of 10^12 nodes: an error of ours, at once."""
    for key in ("width", "depth", "hidden", "num_classes"):
        for number in HUGE:
            folder = shutil.copytree(place.kit / "classifier", place.folder / f"{key}{number}")
            _card(folder, lambda card, key=key, number=number: card["config"].update({key: number}))
            refused(lambda folder=folder: load_model(folder), GraphflipError)
    for number in HUGE:
        folder = shutil.copytree(place.kit / "classifier", place.folder / f"nodes{number}")
        _card(folder, lambda card, number=number: card["graphs"].update(max_nodes=number))
        refused(lambda folder=folder: load_model(folder), GraphflipError)


@attack
def weights_of_other_kinds(place: Place) -> None:
    """Numbers of 16 or of 8 bits, or of two kinds, where the model has 32 of each."""
    for kind in (torch.bfloat16, torch.float16, torch.float8_e4m3fn):
        folder = shutil.copytree(place.kit / "classifier", place.folder / str(kind))
        _weights(folder, lambda found, kind=kind: {name: tensor.to(kind) for name, tensor in found.items()})
        refused(lambda folder=folder: load_model(folder), GraphflipError, "do not fit")
    folder = shutil.copytree(place.kit / "classifier", place.folder / "mixed")
    _weights(folder, lambda found: {name: one.double() if one.dim() > 1 else one for name, one in found.items()})
    refused(lambda: load_model(folder), GraphflipError, "do not fit")
    double = shutil.copytree(place.kit, place.folder / "double")
    _weights(double / "classifier", lambda found: {name: tensor.double() for name, tensor in found.items()})
    run = place.command("explain", "CCO", "--model", double)
    assert "Traceback" not in run.stderr


def _trees(place: Place, name: str, **config: Any) -> Path:
    schema = load_model(place.kit / "classifier").schema
    trees = TreeClassifier(schema, TreesConfig(num_trees=2, num_nodes=3, **config))
    trees.child.copy_(torch.tensor([[1, 2], [1, 1], [2, 2]]))
    save_model(trees, place.folder / name)
    return place.folder / name


@attack
def trees_without_an_end(place: Place) -> None:
    """Children that lead back, or nowhere, and features that there are not."""
    good = _trees(place, "good")
    schema = load_model(good).schema
    assert load_model(good)(from_smiles("CCO", schema)).shape == (1, 2)
    for k, child in enumerate(([[1, 2], [0, 0], [2, 2]], [[1, 1], [2, 2], [1, 1]], [[1, 7], [1, 1], [2, 2]])):
        folder = _trees(place, f"child{k}")
        _weights(folder, lambda found, child=child: found | {"child": torch.tensor([child] * 2, dtype=torch.int32)})
        refused(lambda folder=folder: load_model(folder), GraphflipError, "larger numbers")
    for k, feature in enumerate((-1, 10**6)):
        folder = _trees(place, f"feature{k}")
        _weights(folder, lambda found, at=feature: found | {"feature": torch.full((2, 3), at, dtype=torch.int32)})
        refused(lambda folder=folder: load_model(folder), GraphflipError, "larger numbers")


@attack
def environments_of_an_endless_radius(place: Place) -> None:
    folder = _trees(place, "wide")
    _card(folder, lambda card: card["config"].update(radius=10**9))
    refused(lambda: load_model(folder), GraphflipError, "radius")


@attack
def preferences_and_knowledge_of_other_forms(place: Place) -> None:
    """Whatever stands in these files, a kit loads or is refused."""
    odd = ["[]", "null", "{", '{"minimal": 3}', '{"minimal": {"beam": 1e999}}', '{"minimal": {"beam": 1000000000000}}']
    odd += ["[" * 100_000, '{"vocabulary": [], "environments": 3}', '{"minimal": {"confidence": NaN}}']
    for k, text in enumerate(odd):
        for name in ("preferences.json", "knowledge.json"):
            kit = shutil.copytree(place.kit, place.folder / f"{k}{name}")
            (kit / name).write_text(text)
            try:
                load_kit(kit)
            except GraphflipError:
                continue
            assert name == "preferences.json", text
