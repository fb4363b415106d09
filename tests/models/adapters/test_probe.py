"""Models are recognized without a hint: forms of inputs, kinds of outputs, precision, modes, names of arguments."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv, GINConv, GINEConv, global_add_pool

from graphflip.data.dataset import GraphDataset
from graphflip.data.molecules.molecule import drug_schema, from_smiles
from graphflip.errors import ClassifierError, WrongOutput
from graphflip.models.adapters import DenseClassifier, PyGClassifier
from graphflip.models.adapters.diagnosis import diagnose
from graphflip.models.adapters.outputs import find_output, recognize_type
from graphflip.testing import random_graph

from .networks import DE, LAYERS, SCHEMA, WIDTH, D, Plain

GRAPHS = random_graph(SCHEMA, n=6, num_graphs=24, seed=5)
GRAPHS = GRAPHS.select(GRAPHS.A.flatten(1).any(1).nonzero()[:, 0])


def plain(seed=0, **kwargs):
    torch.manual_seed(seed)
    model = Plain(LAYERS["gin"], **kwargs).eval()
    with torch.no_grad():
        model.out.weight.mul_(8)
    return model


class Wrapped(nn.Module):
    """A plain model with another last function and other names."""

    def __init__(self, last, model=None):
        super().__init__()
        self.model, self.last = model or plain(), last

    def forward(self, x, edge_index, batch):
        return self.last(self.model(x, edge_index, batch))


def odds(logits):
    return logits[:, 1] - logits[:, 0]


@pytest.mark.parametrize(
    ("last", "kind", "output"),
    [
        (lambda logits: logits, "raw", None),
        (lambda logits: logits.softmax(-1), "probs", None),
        (lambda logits: logits.log_softmax(-1), "log_probs", None),
        (lambda logits: odds(logits)[:, None], "raw", None),
        (lambda logits: odds(logits).sigmoid(), "probs", None),
        (lambda logits: (logits, torch.zeros(len(logits), 16)), "raw", 0),
        (lambda logits: [torch.zeros(len(logits), 16), logits.softmax(-1)], "probs", 1),
        (lambda logits: {"embedding": logits[:, :1], "logits": logits}, "raw", "logits"),
    ],
    ids=["logits", "probs", "log probs", "one logit", "sigmoid", "tuple", "list", "dictionary"],
)
def test_outputs_are_recognized(last, kind, output):
    expected = plain()
    classifier = PyGClassifier(Wrapped(last), SCHEMA)
    assert (classifier.recognized.return_type, classifier.recognized.output) == (kind, output)
    wanted = PyGClassifier(expected, SCHEMA, return_type="raw")(GRAPHS).softmax(-1)
    torch.testing.assert_close(classifier(GRAPHS).softmax(-1), wanted, atol=1e-5, rtol=1e-5)


class Embeds(nn.Module):
    def __init__(self, flat):
        super().__init__()
        self.flat = flat
        self.atoms, self.bonds = nn.Embedding(D, WIDTH), nn.Embedding(DE, WIDTH)
        self.layer, self.out = GINEConv(nn.Linear(WIDTH, WIDTH)), nn.Linear(WIDTH, 2)

    def forward(self, x, edge_index, edge_attr, batch):
        x, edge_attr = (x, edge_attr) if self.flat else (x[:, 0], edge_attr[:, 0])
        return self.out(global_add_pool(self.layer(self.atoms(x), edge_index, self.bonds(edge_attr)).tanh(), batch))


@pytest.mark.parametrize(("flat", "form"), [(True, "id"), (False, "ids")])
def test_integers_are_recognized(flat, form):
    torch.manual_seed(0)
    recognized = PyGClassifier(Embeds(flat), SCHEMA).recognized
    assert (recognized.x, recognized.edge_attr) == (form, form)
    assert "integers" in str(recognized)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_any_precision_is_explained(dtype):
    classifier = PyGClassifier(plain().to(dtype), SCHEMA)
    answers = classifier(GRAPHS)
    assert answers.dtype == torch.float32
    torch.testing.assert_close(answers, PyGClassifier(plain(), SCHEMA)(GRAPHS), atol=0.2, rtol=0.1)


def test_a_model_left_in_train_mode_is_explained_in_eval_mode():
    model = nn.Sequential()
    model = Wrapped(nn.Dropout(0.5)).train()
    classifier = PyGClassifier(model, SCHEMA)
    assert model.training
    torch.testing.assert_close(classifier(GRAPHS), classifier(GRAPHS))
    single = torch.cat([classifier(one) for one in GRAPHS])  # batch norm on single graphs
    torch.testing.assert_close(single, classifier(GRAPHS), atol=1e-5, rtol=1e-5)


class OtherNames(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = plain()

    def forward(self, features, edges, batch_idx, num_graphs, edge_weight=None):
        assert num_graphs == int(batch_idx.max()) + 1
        return self.model(features, edges, batch_idx)


class TakesData(OtherNames):
    def forward(self, graph):
        assert graph.num_graphs == int(graph.batch.max()) + 1
        return self.model(graph.x, graph.edge_index, graph.batch)


class OneGraph(OtherNames):
    def forward(self, x, edge_index):
        return self.model(x, edge_index, torch.zeros(len(x), dtype=torch.long))[0]


@pytest.mark.parametrize("kind", [OtherNames, TakesData, OneGraph])
def test_arguments_are_recognized(kind):
    classifier = PyGClassifier(kind(), SCHEMA)
    torch.testing.assert_close(classifier(GRAPHS), PyGClassifier(plain(), SCHEMA)(GRAPHS), atol=1e-5, rtol=1e-5)


class NeedsEdges(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.out = GINConv(nn.Linear(D, WIDTH)), nn.Linear(WIDTH, 2)

    def forward(self, x, edge_index, batch):
        assert edge_index.shape[1], "no edges"
        return self.out(global_add_pool(self.layer(x, edge_index).tanh(), batch))


def test_a_model_that_fails_without_edges_is_not_shown_such_graphs():
    torch.manual_seed(0)
    classifier = PyGClassifier(NeedsEdges(), SCHEMA)
    bare = random_graph(SCHEMA, n=1, num_graphs=2, seed=0)
    assert classifier.needs_edges
    assert not classifier(bare).any()
    assert classifier(GRAPHS).abs().sum(1).gt(0).all()


class OneNumber(nn.Module):
    """A model whose one output lies between 0 and 1, as a logit or as a probability."""

    def __init__(self, last):
        super().__init__()
        self.layer, self.out, self.last = GCNConv(D, WIDTH), nn.Linear(WIDTH, 1), last
        with torch.no_grad():
            self.out.weight.mul_(0.01)
            self.out.bias.fill_(0.4)

    def forward(self, x, edge_index, batch):
        return self.last(self.out(global_add_pool(self.layer(x, edge_index), batch)))


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        (lambda rows: rows, "raw"),
        (lambda rows: rows.squeeze(-1), "raw"),
        (lambda rows: rows.view(-1), "raw"),
        (lambda rows: rows.sigmoid().view(-1), "probs"),
        (lambda rows: rows.sigmoid_(), "probs"),
        (lambda rows: torch.sigmoid(rows)[:, 0], "probs"),
    ],
    ids=["linear", "squeezed", "viewed", "sigmoid", "in place", "column"],
)
def test_a_logit_between_0_and_1_is_told_from_a_probability(last, kind):
    torch.manual_seed(0)
    classifier = PyGClassifier(OneNumber(last), SCHEMA)
    assert classifier.return_type == kind


def test_refusals_name_the_hint():
    class TooWide(Plain):
        pass

    with pytest.raises(ClassifierError, match=r'`x="ids"`, `edge_attr="id"`'):
        PyGClassifier(TooWide(lambda d: GINConv(nn.Linear(99, WIDTH))), SCHEMA)
    with pytest.raises(WrongOutput, match="sum to 1"):
        recognize_type(torch.rand(200, 3, generator=torch.Generator().manual_seed(0)))
    with pytest.raises(WrongOutput, match="a tuple of shape"):
        find_output((torch.zeros(7, 2), 3), 4)


def test_functions_of_dense_tensors_are_recognized_too():
    def answer(A, B):
        share = (A.sum((1, 2)) / (1 + B.sum(1)) ** 2).clamp(0.01, 0.99)
        return {"probs": share, "extra": B.sum()}

    recognized = DenseClassifier(answer, SCHEMA).recognized
    assert (recognized.return_type, recognized.output) == ("probs", "probs")


def test_a_diagnosis_says_what_was_found():
    dataset = GraphDataset.from_graphs("some", [GRAPHS], [k % 2 for k in range(len(GRAPHS))], ("no", "yes"))
    text = str(diagnose(Wrapped(lambda logits: (odds(logits).sigmoid(),), plain().half().train()), dataset))
    for words in ("half", "train mode", "one column of probabilities (output 0)", "GINConv", "auroc", "no "):
        assert words in text
    refused = diagnose(Plain(lambda d: GCNConv(7, WIDTH)), dataset)
    assert not refused.usable
    assert "ClassifierError" in str(refused)
    assert "hint" not in str(refused)  # that of molecules
    three = GraphDataset.from_graphs("some", [GRAPHS], [k % 3 for k in range(len(GRAPHS))], ("no", "yes", "maybe"))
    refused = diagnose(plain(), three)
    assert not refused.usable
    assert "an output for each class of the data (no, yes, maybe); this one has 2" in str(refused)


def test_a_refused_model_of_molecules_may_know_the_labels_of_the_file():
    schema = drug_schema(6)
    graphs = [from_smiles(text, schema) for text in ("CCO", "C=CN", "CC", "CO")]
    dataset = GraphDataset.from_graphs("some", graphs, [0, 1, 0, 1], ("no", "yes"))
    refused = diagnose(Plain(lambda d: GCNConv(7, WIDTH)), dataset)
    assert '{"molecules": false}' in refused[-1]
