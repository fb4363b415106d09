"""What a result depends on changes its description, what it does not depend on does not."""

import json
from dataclasses import replace

import torch

from graphflip.bench.digests import described, model_digest, settings_of
from graphflip.data.planted.motif import planted
from graphflip.explain.edits.search import EditSearch
from graphflip.explain.moves.environments import EnvironmentCounts
from graphflip.explain.moves.fragments import FragmentVocabulary
from graphflip.explain.moves.moves import Moves

from .stand_ins import CountsRed

SMALL = planted(40, max_nodes=8, min_nodes=5)


def search(**changes):
    train = SMALL.part("train")
    made = EditSearch(CountsRed(SMALL.schema), Moves(SMALL.schema), EnvironmentCounts.mine(train))
    return replace(made, **changes)


def test_equal_explainers_have_equal_descriptions():
    assert settings_of(search()) == settings_of(search())
    assert settings_of(search()) == settings_of(search(watch=print))


def test_whatever_matters_shows():
    fewer = EnvironmentCounts.mine(SMALL.part("test"))
    changes = [
        {"confidence": 0.8},
        {"beam": 3},
        {"environments": None},
        {"environments": fewer},
        {"moves": Moves(SMALL.schema, FragmentVocabulary.mine(SMALL.part("train")))},
        {"surrogates": (CountsRed(SMALL.schema),)},
        {"classifier": CountsRed(SMALL.schema, 3.0)},
    ]
    told = [json.dumps(settings_of(search(**change))) for change in [{}, *changes]]
    assert len(set(told)) == len(told)


def test_descriptions_are_short_json():
    for name, value in settings_of(search()).items():
        assert len(json.dumps(value)) <= 200, name


def test_weights_decide_a_models_digest():
    one, same, other = CountsRed(SMALL.schema), CountsRed(SMALL.schema), CountsRed(SMALL.schema, 1.0)
    assert model_digest(one) == model_digest(same) != model_digest(other)
    assert described(torch.zeros(3)) != described(torch.ones(3))
    assert described({"a": 1}) != described({"a": 2})
