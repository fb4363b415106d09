"""Learning a teacher's answers: cross-entropy to its probabilities, gaps that only the pupil has, refusals."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip.data.dataset import GraphDataset
from graphflip.data.planted.motif import planted
from graphflip.data.splits import Batch
from graphflip.errors import ConfigError, SchemaError
from graphflip.models.networks.classifier import AttentionClassifier, ClassifierConfig, RelationalGIN
from graphflip.models.storage.store import load_model, save_model
from graphflip.models.training.evaluate import measure_classifier
from graphflip.models.training.objectives import Classification, Imitation, with_gaps
from graphflip.models.training.train import train_model
from graphflip.nn.initialize import reset_parameters
from graphflip.schema import Schema
from graphflip.testing import random_graph, random_schema

DATA = planted(40, seed=1)
UNLABELED = GraphDataset.from_graphs("bare", [DATA.graphs()], torch.zeros(40), ("unlabeled",)).split_randomly()
TRAIN, SOME = DATA.part("train"), torch.tensor([3, 0, 9, 4, 20, 11, 8, 7])
QUICK = {"epochs": 2, "batch_size": 16}
SEEDS = st.integers(0, 2**16)


def classifier(cls=RelationalGIN, seed=0, schema=DATA.schema):
    """One whose answers differ from graph to graph."""
    model = cls(schema, ClassifierConfig(width=8, depth=2, hidden=8, dropout=0.5))
    reset_parameters(model, torch.Generator().manual_seed(seed))
    torch.nn.init.normal_(model.out.weight, generator=torch.Generator().manual_seed(seed))
    return model.eval()


def loss_of(objective, model):
    batch = Batch(SOME, TRAIN.graphs(SOME), TRAIN.labels[SOME])
    return objective.loss(model, batch, torch.Generator().manual_seed(0), 0.5)


def test_the_loss_is_cross_entropy_to_soft_targets():
    teacher, pupil = classifier(), classifier(seed=1)
    graph = TRAIN.graphs(SOME)
    prob, log_prob = teacher(graph).softmax(-1).tolist(), pupil(graph).log_softmax(-1).tolist()
    expected = -sum(p * q for ps, qs in zip(prob, log_prob, strict=True) for p, q in zip(ps, qs, strict=True)) / 8
    assert loss_of(Imitation.of(teacher, DATA), pupil).item() == pytest.approx(expected, rel=1e-5)
    assert float(torch.tensor(prob)[:, 0].std()) > 0.01


def test_a_sure_teacher_is_a_label():
    pupil, sure = classifier(seed=1), torch.nn.functional.one_hot(TRAIN.labels).float()
    torch.testing.assert_close(loss_of(Imitation(classifier(), sure), pupil), loss_of(Classification(), pupil))


def test_a_pupil_that_answers_as_the_teacher_has_nothing_to_learn():
    teacher, pupil = classifier(), classifier()
    loss_of(Imitation.of(teacher, DATA), pupil).backward()
    assert all(float(p.grad.abs().max()) < 1e-6 for p in pupil.parameters() if p.grad is not None)
    assert all(p.grad is None for p in teacher.parameters())
    figures = Imitation.of(teacher, DATA).measure(pupil, DATA)
    prob = teacher(DATA.graphs()).softmax(-1)
    assert figures["agreement"] == 1
    assert figures["likeness"] == pytest.approx((prob * prob.log()).sum(1).mean().item(), rel=1e-5)


def test_agreement_counts_graphs_of_the_same_class():
    teacher, pupil = classifier(), classifier(AttentionClassifier, seed=4)
    same = teacher(DATA.graphs()).argmax(-1) == pupil(DATA.graphs()).argmax(-1)
    figures = Imitation.of(teacher, DATA).measure(pupil, DATA)
    assert figures["agreement"] == pytest.approx(float(same.float().mean()))
    assert measure_classifier(pupil, DATA).items() <= figures.items()
    assert Imitation.of(teacher, DATA).measure(pupil, UNLABELED).keys() == {"agreement", "likeness"}


def test_a_teacher_does_not_learn_and_does_not_guess():
    teacher = classifier().train()
    before = {name: tensor.clone() for name, tensor in teacher.state_dict().items()}
    objective = Imitation.of(teacher, DATA, hide=0.3)
    loss_of(objective, classifier(seed=1).train()).backward()
    torch.testing.assert_close(objective.answers, classifier()(TRAIN.graphs()).softmax(-1).detach())
    assert all(torch.equal(before[name], tensor) for name, tensor in teacher.state_dict().items())


@pytest.mark.parametrize("objective", [Classification(hide=0.5), Imitation.of(classifier(), DATA, hide=0.5)])
def test_a_pupil_sees_gaps(objective, monkeypatch):
    pupil, seen = classifier(seed=1), []
    monkeypatch.setattr(pupil, "embed", lambda graph, embed=pupil.embed: seen.append(graph) or embed(graph))
    loss_of(objective, pupil)
    whole = TRAIN.graphs(SOME)
    assert torch.equal(seen[0].B, whole.B)
    assert float(seen[0].A.sum()) < float(whole.A.sum())


@given(seed=SEEDS, n=st.integers(0, 7), share=st.floats(0, 1))
def test_gaps_take_away_and_never_add(seed, n, share):
    graph = random_graph(random_schema(seed), n=n, num_graphs=3, seed=seed)
    thinned = with_gaps(graph, share, torch.Generator().manual_seed(seed + 1))
    assert torch.equal(thinned.B, graph.B)
    for name in "VAE":
        found, whole = getattr(thinned, name), getattr(graph, name)
        assert bool(((found == whole) | (found == 0)).all())
    known = (thinned.V != 0).any(-1)
    assert torch.equal(thinned.V[known], graph.V[known])
    assert torch.equal(thinned.E[thinned.A > 0], graph.E[thinned.A > 0])
    assert not bool(thinned.E[thinned.A == 0].any())
    if not graph.schema.directed:
        assert torch.equal(thinned.A, thinned.A.transpose(1, 2))


def test_gaps_are_as_many_as_asked_for():
    graph = random_graph(DATA.schema, n=DATA.schema.max_nodes, num_graphs=60, seed=0)
    thinned = with_gaps(graph, 0.25, torch.Generator().manual_seed(1))
    assert float(thinned.A.sum() / graph.A.sum()) == pytest.approx(0.75, abs=0.03)
    assert float(thinned.V.sum() / graph.V.sum()) == pytest.approx(0.75, abs=0.05)
    assert with_gaps(graph, 0.0, torch.Generator()) is graph


def test_a_surrogate_is_taught_without_labels(tmp_path):
    taught_by = save_model(classifier(), tmp_path / "teacher")
    teacher = load_model(tmp_path / "teacher")
    card = train_model("surrogate", UNLABELED, tmp_path / "pupil", "linear", QUICK, teacher=teacher)
    assert card.training["teacher"] == taught_by.sha256
    assert card.figures.keys() == {"agreement", "likeness"}
    pupil, test = load_model(tmp_path / "pupil"), UNLABELED.part("test").graphs()
    agreement = float((pupil(test).argmax(-1) == teacher(test).argmax(-1)).float().mean())
    assert card.figures["agreement"] == pytest.approx(agreement)
    on_labels = train_model("surrogate", DATA, tmp_path / "labels", "linear", QUICK)
    assert on_labels.training["teacher"] is None
    assert on_labels.sha256 != card.sha256


def test_a_surrogate_has_the_classes_of_its_teacher(tmp_path):
    three = RelationalGIN(DATA.schema, ClassifierConfig(num_classes=3, width=8, depth=2, hidden=8))
    card = train_model("surrogate", DATA, tmp_path, "counts", QUICK, teacher=three)
    assert card.config["num_classes"] == 3
    assert "auroc" not in card.figures


def test_what_no_teacher_can_do_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="A teacher is for a surrogate; got one for a judge"):
        train_model("judge", DATA, tmp_path, teacher=classifier())
    stranger = classifier(schema=Schema(max_nodes=4))
    with pytest.raises(SchemaError, match="must have the teacher's schema"):
        train_model("surrogate", DATA, tmp_path, teacher=stranger)
    assert not list(tmp_path.iterdir())


def test_a_run_goes_on_with_its_own_teacher_only(tmp_path):
    train_model("surrogate", DATA, tmp_path, "linear", QUICK, teacher=classifier())
    train_model("surrogate", DATA, tmp_path, "linear", QUICK, resume=True, teacher=classifier())
    for other in (classifier(seed=1), None):
        with pytest.raises(ConfigError, match=r"these differ: teacher: \w+ -> \w+"):
            train_model("surrogate", DATA, tmp_path, "linear", QUICK, resume=True, teacher=other)
    train_model("surrogate", DATA, tmp_path / "labels", "linear", QUICK)
    with pytest.raises(ConfigError, match=r"these differ: teacher: None -> \w+"):
        train_model("surrogate", DATA, tmp_path / "labels", "linear", QUICK, resume=True, teacher=classifier())
