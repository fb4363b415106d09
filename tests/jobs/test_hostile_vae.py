"""Autoencoders that know nothing: the outcome says so, and nothing is reported as flipped that is not."""

import json

import pytest
import torch

from graphflip.data.molecules.molecule import from_smiles
from graphflip.explain import LatentTraversal, Outcome
from graphflip.explain.kit import load_kit
from graphflip.graph import Graph
from graphflip.jobs import JobSettings, explained, open_source, run_job
from graphflip.models.networks.pegvae import PEGVAE
from graphflip.models.storage.store import save_model
from graphflip.nn.initialize import reset_parameters

from .conftest import answers_of, small_kit

SCALES = {"untrained": 1.0, "huge": 1e20, "not a number": float("nan")}


def ignorant(scale):
    vae = PEGVAE(small_kit.SCHEMA)
    reset_parameters(vae, torch.Generator().manual_seed(0))
    with torch.no_grad():
        for weight in vae.parameters():
            weight.mul_(scale)
    return vae.eval().requires_grad_(False)


@pytest.mark.parametrize("name", SCALES)
def test_a_walk_says_what_came_of_it(name, kit):
    classifier = load_kit(kit).classifier
    graphs = Graph.cat([from_smiles(small_kit.molecule(k), small_kit.SCHEMA) for k in (1, 2, 4, 6)])
    found = LatentTraversal(ignorant(SCALES[name]), classifier, steps=10).explain(graphs)
    for one in found:
        assert not one.flipped or int(classifier(one.counterfactual).argmax()) == one.target
    if name != "untrained":
        assert {one.outcome for one in found} == {Outcome.NOT_A_NUMBER}


def test_a_job_with_such_a_kit_has_the_flips_of_the_classifier(tmp_path):
    kit = small_kit.make_kit(tmp_path / "kit", common=0.9)
    save_model(ignorant(SCALES["not a number"]), kit / "vae")
    (tmp_path / "two.smi").write_text("CCC\nCOCC\n")
    settings = JobSettings.of(model=str(kit), prefer="minimal", target="fancy", budget=1)
    run_job(open_source(str(tmp_path / "two.smi")), settings, tmp_path / "job")
    assert [answer["outcome"] for answer in answers_of(tmp_path / "job")] == ["flipped", "already_there"]
    first = next(explained(tmp_path / "job"))
    assert int(load_kit(kit).classifier(first.counterfactual).argmax()) == 1
    for answer in answers_of(tmp_path / "job"):
        json.loads(answer["record"], parse_constant=pytest.fail)  # NaN is no JSON
