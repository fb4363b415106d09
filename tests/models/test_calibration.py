"""Calibration: the error of known probabilities, the temperature that was hidden, and models that carry it."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip.data.planted.motif import planted
from graphflip.models.networks.classifier import Outputs
from graphflip.models.storage.store import CLASSES, load_model, save_model
from graphflip.models.training.calibration import fit_temperature, reliability, save_reliability
from graphflip.models.training.evaluate import measure_classifier, predict
from graphflip.models.training.train import train_model

DATA = planted(60, seed=1)


def drawn(logits, seed):
    """Labels drawn from the probabilities that the logits claim."""
    return torch.multinomial(logits.softmax(-1), 1, generator=torch.Generator().manual_seed(seed))[:, 0]


def some_logits(num_classes, seed, num_graphs=4000):
    return 2 * torch.randn(num_graphs, num_classes, generator=torch.Generator().manual_seed(seed))


@given(num_classes=st.integers(2, 5), seed=st.integers(0, 2**16), bins=st.integers(1, 20))
def test_the_error_is_that_of_a_slow_count(num_classes, seed, bins):
    logits = some_logits(num_classes, seed, 40)
    labels = torch.arange(40) % num_classes
    curve, error = reliability(logits, labels, bins), 0.0
    for k in range(bins):
        inside = [
            (float(row.max()), int(row.argmax()) == label)
            for row, label in zip(logits.double().softmax(-1), labels.tolist(), strict=True)
            if k <= float(row.max()) * bins and (float(row.max()) * bins < k + 1 or k == bins - 1)
        ]
        error += abs(sum(sure - right for sure, right in inside)) / 40
    assert curve.ece == pytest.approx(error)
    assert sum(curve.counts) == 40
    assert all(0 <= share <= 1 for share in curve.accuracy)


@pytest.mark.parametrize("num_classes", [2, 4])
@pytest.mark.parametrize("hidden", [0.4, 1.0, 3.0])
def test_the_hidden_temperature_is_found(num_classes, hidden):
    logits = some_logits(num_classes, seed=num_classes)
    labels = drawn(logits, seed=5)
    found = fit_temperature(hidden * logits, labels)
    assert found == pytest.approx(hidden, rel=0.1)
    assert reliability(hidden * logits / found, labels).ece < 0.03
    assert hidden == 1 or reliability(hidden * logits, labels).ece > 0.05


@given(seed=st.integers(0, 2**16))
def test_no_other_temperature_has_a_lower_cross_entropy(seed):
    logits = some_logits(3, seed, 1000)
    labels = drawn(logits, seed)
    weights = (0.5, 1.0, 3.0)

    def loss(temperature):
        return torch.nn.functional.cross_entropy(logits.double() / temperature, labels, torch.tensor(weights).double())

    best = fit_temperature(logits, labels, weights)
    # The smoothing of labels moves the optimum a little.
    assert all(loss(best) <= loss(best * factor) + 1e-3 for factor in (0.8, 0.9, 1.1, 1.25))


def test_few_graphs_without_a_fault_make_no_classifier_sure_beyond_reason():
    logits, labels = torch.tensor([[1.0, -1.0], [-1.0, 1.0]] * 3), torch.tensor([0, 1] * 3)
    sure = (logits / fit_temperature(logits, labels)).softmax(-1).max()
    assert float(sure) == pytest.approx(6.5 / 7)  # six of six, and one in doubt


@given(temperature=st.floats(0.1, 10), seed=st.integers(0, 100))
def test_a_temperature_divides_logits_and_leaves_values_alone(temperature, seed):
    outputs = some_logits(2, seed, 5)
    assert torch.equal(Outputs().scaled(outputs), outputs)
    assert torch.allclose(Outputs(temperature=temperature).scaled(outputs), outputs / temperature)
    values = Outputs(num_classes=1, center=1.0, spread=2.0, temperature=temperature).scaled(outputs[:, :1])
    assert torch.equal(values, 1 + 2 * outputs[:, :1])


@pytest.mark.parametrize(
    ("role", "preset"), [("classifier", "default"), ("judge", "gnn"), ("surrogate", "gin"), ("classifier", "paper")]
)
def test_trained_classifiers_carry_their_temperature(role, preset, tmp_path):
    card = train_model(role, DATA, tmp_path, preset, {"epochs": 2, "batch_size": 16})
    model, test = load_model(tmp_path), DATA.part("test")
    assert card.figures["ece"] == pytest.approx(measure_classifier(model, test)["ece"])
    if preset == "paper":
        assert model.config.temperature == 1
        assert not {"temperature", "ece_before"} & card.figures.keys()
        return
    found = card.figures["temperature"]
    assert model.config.temperature == found != 1
    plain = type(model)(model.schema, model.config.model_copy(update={"temperature": 1.0}))
    plain.load_state_dict(model.state_dict())
    validation = DATA.part("validation")
    assert fit_temperature(predict(plain, validation), validation.labels) == pytest.approx(found)
    assert measure_classifier(plain, test)["ece"] == pytest.approx(card.figures["ece_before"])


def test_cards_from_before_have_no_temperature(tmp_path):
    cls, config = CLASSES["RelationalGIN"]
    save_model(cls(DATA.schema, config(width=4, depth=1, hidden=4)), tmp_path)
    card = json.loads((tmp_path / "card.json").read_text())
    del card["config"]["temperature"]
    (tmp_path / "card.json").write_text(json.dumps(card))
    assert load_model(tmp_path).config.temperature == 1


def test_a_curve_is_written_as_numbers_and_as_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    curve = reliability(some_logits(2, 0, 50), torch.arange(50) % 2)
    save_reliability(curve, tmp_path / "curve.json")
    assert type(curve).model_validate_json((tmp_path / "curve.json").read_text()) == curve
    assert (tmp_path / "curve.svg").read_bytes().lstrip().startswith(b"<?xml")
