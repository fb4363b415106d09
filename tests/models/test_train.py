"""Training: same seed, same weights, also after a kill; schedules, early stopping, refusals."""

import math
import signal
import subprocess
import sys
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from graphflip.data.planted.motif import planted
from graphflip.errors import ConfigError, DataError, ModelFileError
from graphflip.models.networks.classifier import AttentionClassifier, ClassifierConfig, RelationalGIN
from graphflip.models.networks.counts import CountClassifier, CountConfig
from graphflip.models.networks.pegvae import PEGVAE, PEGVAEConfig
from graphflip.models.storage.files import write_tensors
from graphflip.models.training.checkpoint import CHECKPOINT
from graphflip.models.training.loop import fit, read_result
from graphflip.models.training.objectives import Classification, Imitation, Reconstruction
from graphflip.models.training.schedule import Epoch, TrainConfig, learning_rate

DATA = planted(48, seed=1)
SETTINGS = TrainConfig(epochs=4, batch_size=16, seed=3)
CLASSIFIER = ClassifierConfig(width=8, depth=2, hidden=8, dropout=0.3)
VAE = PEGVAEConfig(dz=3, width=8, pair_width=4, depth=1, decoder_depth=1)
MODELS = {
    "classifier": (lambda: RelationalGIN(DATA.schema, CLASSIFIER), Classification()),
    "counts": (lambda: CountClassifier(DATA.schema, CountConfig(bins=64, hidden=(8,))), Classification()),
    "surrogate": (
        lambda: RelationalGIN(DATA.schema, CLASSIFIER),
        Imitation.of(AttentionClassifier(DATA.schema, CLASSIFIER), DATA, hide=0.1),
    ),
    "vae": (lambda: PEGVAE(DATA.schema, VAE), Reconstruction(beta=0.1)),
}
each_model = pytest.mark.parametrize(("make", "objective"), MODELS.values(), ids=MODELS)


class Stop(Exception):
    pass


def trained(make, objective, settings=SETTINGS, **options):
    model = make()
    history = fit(model, objective, DATA, settings, **options)
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}, history


def assert_same_run(found, expected):
    assert found[1] == expected[1]
    assert found[0].keys() == expected[0].keys()
    assert all(torch.equal(found[0][name], expected[0][name]) for name in expected[0])


@each_model
def test_the_seed_decides_every_bit(make, objective):
    """Whatever torch's global generator has been through; and it is left as it was."""
    first = trained(make, objective)
    torch.rand(7)
    state = torch.random.get_rng_state()
    model = make()
    torch.random.set_rng_state(state)
    again = {}, fit(model, objective, DATA, SETTINGS)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert_same_run((model.state_dict(), again[1]), first)
    other, _ = trained(make, objective, SETTINGS.model_copy(update={"seed": 4}))
    assert any(not torch.equal(other[name], first[0][name]) for name in other)


def test_a_trained_model_is_trained_anew_from_its_seed():
    make, objective = MODELS["classifier"]
    model = make()
    fit(model, objective, DATA, SETTINGS)
    history = fit(model, objective, DATA, SETTINGS)
    assert_same_run((model.state_dict(), history), trained(make, objective))


@each_model
@pytest.mark.parametrize("epochs", [1, 3])
def test_a_stopped_run_goes_on_to_the_same_weights(make, objective, epochs, tmp_path):
    def stop(progress):
        if progress.epoch == epochs:
            raise Stop

    with pytest.raises(Stop):
        trained(make, objective, folder=tmp_path, watch=stop, checkpoint_seconds=0.0)
    seen = []
    resumed = trained(make, objective, folder=tmp_path, resume=True, watch=lambda p: seen.append(p.epoch))
    assert seen == list(range(epochs + 1, 5))
    assert_same_run(resumed, trained(make, objective))


KILLED = """
import os, signal, sys
from pathlib import Path
from graphflip.data.planted.motif import planted
from graphflip.models.networks.classifier import ClassifierConfig, RelationalGIN
from graphflip.models.training.loop import fit
from graphflip.models.training.objectives import Classification
from graphflip.models.training.schedule import TrainConfig

class Fatal:
    score, calls = Classification().score, 0
    settings = Classification().settings
    measure = Classification().measure
    def loss(self, *arguments):
        self.calls += 1
        if self.calls == 9:
            os.kill(os.getpid(), signal.SIGKILL)
        return Classification().loss(*arguments)

data = planted(48, seed=1)
model = RelationalGIN(data.schema, ClassifierConfig.model_validate_json(sys.argv[2]))
fit(model, Fatal(), data, TrainConfig.model_validate_json(sys.argv[3]), Path(sys.argv[1]), checkpoint_seconds=0.0)
"""


def test_a_run_killed_in_the_middle_of_an_epoch_goes_on_to_the_same_weights(tmp_path):
    """38 graphs are 3 batches an epoch: the ninth step is the last of the third epoch."""
    arguments = [str(tmp_path), CLASSIFIER.model_dump_json(), SETTINGS.model_dump_json()]
    killed = subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    make, objective = MODELS["classifier"]
    seen = []
    resumed = trained(make, objective, folder=tmp_path, resume=True, watch=lambda p: seen.append(p.epoch))
    assert seen == [3, 4]
    assert_same_run(resumed, trained(make, objective))


def test_a_finished_run_is_read_and_not_repeated(tmp_path):
    make, objective = MODELS["classifier"]
    run = trained(make, objective, folder=tmp_path)
    assert_same_run(trained(make, objective, folder=tmp_path, resume=True, watch=pytest.fail), run)
    model = make()
    assert_same_run((model.state_dict(), read_result(model, tmp_path)), run)


def test_without_resume_a_run_starts_anew(tmp_path):
    make, objective = MODELS["classifier"]
    seen = []
    for _ in range(2):
        trained(make, objective, folder=tmp_path, watch=lambda p: seen.append(p.epoch))
    assert seen == [1, 2, 3, 4] * 2


def test_resuming_with_other_settings_is_refused_with_the_difference(tmp_path):
    make, objective = MODELS["classifier"]
    trained(make, objective, folder=tmp_path)
    changed = SETTINGS.model_copy(update={"epochs": 9, "rate": 0.5})
    with pytest.raises(ConfigError, match=r"these differ: epochs: 4 -> 9, rate: 0.002 -> 0.5. Give the old settings"):
        trained(make, objective, changed, folder=tmp_path, resume=True)
    with pytest.raises(ConfigError, match=r"these differ: data: \w+ -> \w+"):
        fit(make(), objective, DATA.split_randomly(seed=9), SETTINGS, tmp_path, resume=True)
    with pytest.raises(ConfigError, match="must be of the model that is trained; this one has other"):
        trained(*MODELS["vae"], folder=tmp_path, resume=True)


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    make, objective = MODELS["classifier"]
    write_tensors(tmp_path / CHECKPOINT, {"x": torch.ones(1)}, {})
    with pytest.raises(ModelFileError, match="not a checkpoint of a run"):
        trained(make, objective, folder=tmp_path, resume=True)
    (tmp_path / CHECKPOINT).write_bytes(b"half")
    with pytest.raises(ModelFileError, match="not a readable safetensors file"):
        trained(make, objective, folder=tmp_path, resume=True)


def test_too_few_graphs_are_refused():
    split = {"train": torch.tensor([0]), "validation": torch.tensor([1])}
    small = planted(4).__class__.from_graphs("tiny", [DATA.graphs([0, 1])], [0, 1], ("a", "b"), split=split)
    with pytest.raises(DataError, match="tiny: training needs 2 graphs and 1 to validate; got 1, 1"):
        fit(MODELS["classifier"][0](), Classification(), small, SETTINGS)


class Scripted:
    """Pretends to measure: the scores of successive epochs are given."""

    score = "score"
    settings = {}

    def __init__(self, scores):
        self.scores = iter(scores)

    def loss(self, model, batch, rng, progress):
        return model.weight.square().sum()

    def measure(self, model, dataset):
        return {"score": next(self.scores)}


def run_scripted(scores, **settings):
    seen, model = [], nn.Linear(2, 2)
    config = TrainConfig(**{"epochs": len(scores), "batch_size": 64, "average": 0, "rate": 0.1, **settings})

    def watch(progress):
        seen.append(model.weight.clone())

    return model, fit(model, Scripted(scores), DATA, config, watch=watch), seen


def test_the_best_weights_are_kept():
    model, history, seen = run_scripted([0.1, 0.5, 0.3, 0.5])
    assert [line.best for line in history] == [True, True, False, False]
    assert torch.equal(model.weight, seen[1])


def test_the_last_weights_are_kept_where_asked():
    model, history, seen = run_scripted([0.5, 0.1], keep="last")
    assert [line.best for line in history] == [True, False]
    assert torch.equal(model.weight, seen[1])


def test_a_score_that_is_no_number_never_wins():
    model, history, seen = run_scripted([math.nan, math.nan, 0.2, math.nan, 0.1])
    assert [line.best for line in history] == [True, True, True, False, False]
    assert torch.equal(model.weight, seen[2])


@pytest.mark.parametrize(("patience", "every", "epochs"), [(0, 1, 10), (2, 1, 4), (3, 1, 5), (1, 3, 6), (3, 3, 6)])
def test_training_stops_when_patience_ends(patience, every, epochs):
    """On an epoch that was measured, so that nothing unmeasured is thrown away."""
    scores = [0.1, 0.2, *[0.0] * 8] if every == 1 else [0.2, *[0.0] * 9]
    _, history, _ = run_scripted(scores, epochs=10, patience=patience, validate_every=every)
    assert len(history) == epochs
    assert history[-1].figures


def test_the_last_epoch_is_measured_and_unmeasured_ones_are_not():
    _, history, _ = run_scripted([0.1, 0.2, 0.3], epochs=5, validate_every=2)
    assert [bool(line.figures) for line in history] == [False, True, False, True, True]


def test_kept_weights_are_a_moving_average():
    """Short at first: after one step it is one eleventh of the way old."""
    plain, _, _ = run_scripted([0.1], epochs=1)
    averaged, _, _ = run_scripted([0.1], epochs=1, average=0.99)
    start = nn.Linear(2, 2)
    fit(start, Scripted([0.1]), DATA, TrainConfig(epochs=1, batch_size=64, average=0, rate=1e-12))
    torch.testing.assert_close(averaged.weight, start.weight / 11 + plain.weight * 10 / 11)


@given(st.floats(0, 1), st.floats(0, 0.5), st.sampled_from(["cosine", "plateau"]))
def test_the_rate_lies_between_zero_and_the_one_asked_for(progress, warm_up, decay):
    config = TrainConfig(rate=0.3, warm_up=warm_up, decay=decay)
    assert 0 <= learning_rate(config, progress, []) <= 0.3 * (1 + 1e-12)


def test_the_rate_warms_up_and_decays():
    config = TrainConfig(rate=1.0, warm_up=0.2)
    rates = [learning_rate(config, k / 50, []) for k in range(51)]
    assert rates[0] == pytest.approx(0.01)
    assert rates[-1] == pytest.approx(0.0)
    assert all(a < b for a, b in pairwise(rates[:10]))
    assert all(a > b for a, b in pairwise(rates[10:]))
    assert learning_rate(TrainConfig(rate=1.0, warm_up=0), 0.5, []) == pytest.approx(0.5)


def test_the_rate_halves_on_every_plateau():
    config = TrainConfig(rate=1.0, warm_up=0, decay="plateau", plateau=3)

    def rate(best):
        history = [Epoch(epoch=k + 1, loss=0, rate=1, best=bool(b)) for k, b in enumerate(best)]
        return learning_rate(config, 0.5, history)

    assert rate([1, 0, 0]) == 1
    assert rate([1, 0, 0, 0]) == 0.5
    assert rate([1, 0, 0, 1, 0, 0]) == 1
    assert rate([1, 0, 0, 0, 0, 0, 0]) == 0.25


def test_gradients_are_clipped():
    class Steep(Scripted):
        def loss(self, model, batch, rng, progress):
            return 1e6 * model.weight.square().sum()

    gradients = []
    model = nn.Linear(2, 2)
    fit(
        model,
        Steep([0.1]),
        DATA,
        TrainConfig(epochs=1, batch_size=64, clip=0.5),
        watch=lambda p: gradients.append(nn.utils.get_total_norm([model.weight.grad])),
    )
    assert float(gradients[0]) <= 0.5 + 1e-6


def test_a_step_in_parts_is_the_step_on_the_whole_batch():
    class Sizes(Scripted):
        def loss(self, model, batch, rng, progress):
            at_once.append(len(batch.index) * batch.graph.num_slots**2)
            return model(batch.graph.num_nodes[:, None].float()).sub(batch.labels[:, None]).square().mean()

    weights, most = [], 100
    for pairs in (None, most):
        at_once, model = [], nn.Linear(1, 1)
        fit(model, Sizes([0.1]), DATA, TrainConfig(epochs=1, batch_size=16, average=0, seed=2, pairs=pairs))
        weights.append(torch.cat([model.weight.flatten(), model.bias]))
        largest = max(at_once)
        assert largest > most if pairs is None else largest <= max(most, int(DATA.num_nodes.max()) ** 2)
    torch.testing.assert_close(weights[1], weights[0])
    assert not torch.equal(weights[1], torch.zeros(2))
