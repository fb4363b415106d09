"""Model folders: what is saved is loaded, bit for bit, and whatever is wrong with a folder is said."""

import json
import pickle

import pytest
import torch
from safetensors.torch import load_file, save_file

from graphflip.data.planted.motif import planted
from graphflip.errors import ConfigError, ModelFileError
from graphflip.models.networks.classifier import (
    AbstractClassifier,
    AttentionClassifier,
    AveragingClassifier,
    ClassifierConfig,
    InvariantClassifier,
    RelationalGIN,
)
from graphflip.models.networks.counts import CountClassifier, CountConfig
from graphflip.models.networks.decode import Soft
from graphflip.models.networks.pegvae import PAPER, PEGVAE, PEGVAEConfig
from graphflip.models.networks.plain import PlainGCN, PlainGIN
from graphflip.models.networks.trees import TreesConfig, fit_trees
from graphflip.models.storage import store
from graphflip.models.storage.store import (
    CARD,
    CLASSES,
    WEIGHTS,
    DataCard,
    find_model,
    load_model,
    read_card,
    save_model,
)
from graphflip.nn.initialize import reset_parameters
from graphflip.schema import Schema

DATA = planted(40)
SMALL = ClassifierConfig(width=8, depth=3, hidden=8)
MODELS = {
    "InvariantClassifier": lambda: InvariantClassifier(DATA.schema, SMALL),
    "RelationalGIN": lambda: RelationalGIN(DATA.schema, SMALL),
    "AveragingClassifier": lambda: AveragingClassifier(DATA.schema, SMALL),
    "AttentionClassifier": lambda: AttentionClassifier(DATA.schema, SMALL),
    "PlainGCN": lambda: PlainGCN(DATA.schema, SMALL),
    "PlainGIN": lambda: PlainGIN(DATA.schema, SMALL),
    "CountClassifier": lambda: CountClassifier(DATA.schema, CountConfig(bins=32, hidden=(8, 4))),
    "TreeClassifier": lambda: fit_trees(DATA, TreesConfig(num_trees=3, bins=32)),
    "PEGVAE": lambda: PEGVAE(DATA.schema, PEGVAEConfig(dz=3, width=8, pair_width=4, depth=1)),
    "PEGVAE paper": lambda: PEGVAE(DATA.schema, PAPER.model_copy(update={"width": 4})),
    "PEGVAE float64": lambda: PEGVAE(DATA.schema, PAPER.model_copy(update={"width": 4})).double(),
    "PEGVAE no labels": lambda: PEGVAE(Schema(max_nodes=5), PEGVAEConfig(dz=3, width=8, pair_width=4, depth=1)),
}


@torch.no_grad()
def answers(model):
    if isinstance(model, PEGVAE):
        dtype = next(model.parameters()).dtype
        rng = torch.Generator().manual_seed(0)
        z = torch.randn(2, model.schema.max_nodes, model.config.dz, generator=rng).to(dtype)
        graph = model.decode(z, Soft())
        return torch.cat([part.flatten() for part in (graph.B, graph.V, graph.A, graph.E)])
    return model(DATA.graphs([0, 1, 2]))


@pytest.fixture
def folder(tmp_path):
    save_model(MODELS["RelationalGIN"](), tmp_path / "model")
    return tmp_path / "model"


def test_every_class_is_tried():
    assert {name.split()[0] for name in MODELS} == set(CLASSES)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_what_is_saved_is_loaded(make, tmp_path):
    model = make().eval()
    save_model(model, tmp_path)
    loaded = load_model(tmp_path)
    assert type(loaded) is type(model)
    assert (loaded.schema, loaded.config) == (model.schema, model.config)
    assert torch.equal(answers(loaded), answers(model))
    assert not loaded.training
    assert not any(parameter.requires_grad for parameter in loaded.parameters())
    assert all(tensor.device.type == "cpu" for tensor in loaded.state_dict().values())


def test_the_card_says_where_a_model_comes_from(tmp_path):
    figures = {"auroc": 0.5, "undefined": float("nan")}
    save_model(MODELS["RelationalGIN"](), tmp_path, DataCard.of(DATA), {"seed": 3}, figures)
    card = read_card(tmp_path)
    assert card.kind == "RelationalGIN"
    assert card.data.fingerprint == DATA.fingerprint()
    assert card.data.split == {"train": 32, "validation": 4, "test": 4}
    assert card.training == {"seed": 3}
    assert card.figures == {"auroc": 0.5}  # JSON has no NaN
    assert sorted(file.name for file in tmp_path.iterdir()) == [CARD, WEIGHTS]


def rewrite_card(**changes):
    def change(folder):
        card = json.loads((folder / CARD).read_text())
        (folder / CARD).write_text(json.dumps({**card, **changes}))

    return change


def flip_a_byte(folder):
    blob = bytearray((folder / WEIGHTS).read_bytes())
    blob[-1] ^= 1
    (folder / WEIGHTS).write_bytes(blob)


def rewrite_weights(change):
    """A file of other tensors, with a card that vouches for it."""

    def rewrite(folder):
        import hashlib

        tensors = load_file(folder / WEIGHTS)
        change(tensors)
        save_file(tensors, folder / WEIGHTS)
        rewrite_card(sha256=hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest())(folder)

    return rewrite


def drop_key(folder):
    card = json.loads((folder / CARD).read_text())
    del card["kind"]
    (folder / CARD).write_text(json.dumps(card))


def pickled_weights(folder):
    import hashlib

    (folder / WEIGHTS).write_bytes(pickle.dumps({"a": 1}))
    rewrite_card(sha256=hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest())(folder)


small = SMALL.model_dump()
FAULTS = {
    "changed byte": (flip_a_byte, "sha256 is not the one on the card: the file is damaged"),
    "missing weights": (lambda folder: (folder / WEIGHTS).unlink(), "weights.safetensors: no such file.*incomplete"),
    "pickled weights": (pickled_weights, "not a readable safetensors file"),
    "missing tensor": (rewrite_weights(lambda t: t.pop("out.bias")), r"do not fit the configuration.*out\.bias"),
    "extra tensor": (rewrite_weights(lambda t: t.update(more=torch.ones(1))), r"do not fit .*more"),
    "other shape": (rewrite_weights(lambda t: t.update({"out.bias": torch.ones(5)})), r"do not fit .*out\.bias"),
    "other numbers": (
        rewrite_weights(lambda t: t.update({"out.bias": torch.ones(2).long()})),
        r"do not fit .*out\.bias",
    ),
    "newer format": (rewrite_card(format=99, version="7.0"), "format 99 by graphflip 7.0.*Install a newer graphflip"),
    "unknown kind": (rewrite_card(kind="os.system"), "`kind` must be one of .*got 'os.system'"),
    "missing key": (drop_key, "card.json: `kind`: Field required"),
    "extra key": (rewrite_card(code="import os"), "card.json: `code`"),
    "not JSON": (lambda folder: (folder / CARD).write_text("{"), "not a readable JSON file"),
    "not text": (lambda folder: (folder / CARD).write_bytes(b"\xff\xfe\x00"), "not a readable JSON file"),
    "a list": (lambda folder: (folder / CARD).write_text("[]"), "card.json: "),
    "wrong config": (rewrite_card(config={**small, "width": "wide"}), "card.json: `width`"),
    "absurd config": (rewrite_card(config={**small, "width": 10**7}), "card.json: `width`"),
    "config of another": (rewrite_card(config={**small, "depth": 4}), "do not fit the configuration"),
    "kind of another": (rewrite_card(kind="InvariantClassifier"), "do not fit the configuration"),
    "indivisible width": (
        rewrite_card(kind="AttentionClassifier", config={**small, "width": 6}),
        "card.json: `width` must be a multiple of 4",
    ),
    "wrong schema": (rewrite_card(graphs={"max_nodes": -1}), "card.json: .*max_nodes"),
    "other schema": (rewrite_card(graphs={"max_nodes": 9}), "do not fit the configuration"),
}


@pytest.mark.parametrize(("spoil", "message"), FAULTS.values(), ids=FAULTS)
def test_what_is_wrong_with_a_folder_is_said(spoil, message, folder):
    spoil(folder)
    with pytest.raises(ModelFileError, match=message):
        load_model(folder)


def test_a_missing_model_is_said_with_the_names_of_those_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "PRETRAINED", tmp_path)
    save_model(MODELS["RelationalGIN"](), tmp_path / "aids" / "classifier")
    assert find_model("aids/classifier") == tmp_path / "aids" / "classifier"
    assert isinstance(load_model("aids/classifier"), RelationalGIN)
    with pytest.raises(ConfigError, match=r"or one of aids/classifier; got 'aids/nothing'"):
        load_model("aids/nothing")
    with pytest.raises(ConfigError, match="A model must be a folder"):
        load_model("../aids/classifier")
    with pytest.raises(ModelFileError, match="no such file"):
        read_card(tmp_path)


def test_a_model_of_another_kind_than_needed_is_refused(folder):
    assert isinstance(load_model(folder, AbstractClassifier), RelationalGIN)
    with pytest.raises(ModelFileError, match="a PEGVAE is needed here; this is a RelationalGIN"):
        load_model(folder, PEGVAE)


def test_half_a_save_over_an_older_model_does_not_load(folder, monkeypatch):
    """New weights beside the old card: the hash on the card gives it away."""

    def killed(path, blob, write=store.write_atomically):
        if path.name == CARD:
            raise KeyboardInterrupt
        write(path, blob)

    monkeypatch.setattr(store, "write_atomically", killed)
    other = MODELS["RelationalGIN"]()
    reset_parameters(other, torch.Generator().manual_seed(9))
    with pytest.raises(KeyboardInterrupt):
        save_model(other, folder)
    with pytest.raises(ModelFileError, match="not the one on the card"):
        load_model(folder)
