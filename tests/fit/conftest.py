"""A kit that is fitted once, and settings that make fitting quick."""

from functools import partial

import pytest

from graphflip.fit import kit as fit
from graphflip.fit.kit import fit_kit
from graphflip.models.networks.trees import TreesConfig
from graphflip.models.training import train

from .own_models import PLANTED, QUICK


@pytest.fixture(scope="package")
def kit(tmp_path_factory):
    """A kit of the planted set, and what fitting it said."""
    folder = tmp_path_factory.mktemp("fit") / "kit"
    seen = []
    readiness = fit_kit(PLANTED, folder, minutes=QUICK, watch=lambda *progress: seen.append(progress))
    return folder, readiness, seen


@pytest.fixture
def few_models(monkeypatch):
    """One surrogate and few trees: enough to see what becomes of the data."""
    monkeypatch.setattr(train, "TreesConfig", partial(TreesConfig, num_trees=5))
    monkeypatch.setattr(fit, "SURROGATES", fit.SURROGATES[:1])
