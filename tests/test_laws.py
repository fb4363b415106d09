"""Every model through the laws of graphs: order, padding, batch, gradients, precision. A new model is one more line."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.graph import Graph
from graphflip.models.networks.classifier import (
    AttentionClassifier,
    AveragingClassifier,
    ClassifierConfig,
    InvariantClassifier,
    RelationalGIN,
)
from graphflip.models.networks.counts import CountClassifier, CountConfig
from graphflip.models.networks.decode import MostLikely, Soft
from graphflip.models.networks.pegvae import PAPER, PEGVAE, PEGVAEConfig
from graphflip.models.networks.plain import PlainGCN, PlainGIN
from graphflip.nn.initialize import reset_parameters
from graphflip.schema import Categories, Continuous, Schema
from graphflip.testing import assert_batch_free, assert_equivariant, assert_invariant, assert_padding_free, random_graph

SMALL = ClassifierConfig(width=8, depth=4, hidden=8)
CLASSIFIERS = {
    "invariant": lambda schema: InvariantClassifier(schema, SMALL),
    "relational": lambda schema: RelationalGIN(schema, SMALL.model_copy(update={"dropout": 0.3})),
    "averaging": lambda schema: AveragingClassifier(schema, SMALL.model_copy(update={"dropout": 0.3})),
    "attention": lambda schema: AttentionClassifier(schema, SMALL.model_copy(update={"dropout": 0.3})),
    "gcn": lambda schema: PlainGCN(schema, SMALL),
    "gin": lambda schema: PlainGIN(schema, SMALL),
}
HARD_ONLY = {
    "counts": lambda schema: CountClassifier(schema, CountConfig(bins=32, hidden=(8, 6))),
    "linear": lambda schema: CountClassifier(schema, CountConfig(bins=32, hidden=())),
}
DESIGNS = {
    "paper": PAPER.model_copy(update={"width": 6, "dz": 2}),
    "modern": PEGVAEConfig(dz=4, width=8, pair_width=4, depth=2, decoder_depth=1),
    "linear": PEGVAEConfig(design="linear", dz=30, width=4),
}
TYPE, SIZE = Categories(name="type", values=("a", "b", "c")), Continuous(name="size", mean=1.0, scale=2.0)
SCHEMAS = {
    "undirected": Schema(nodes=(TYPE,), edges=(TYPE,), max_nodes=9),
    "directed": Schema(nodes=(TYPE, SIZE), edges=(SIZE, TYPE), max_nodes=9, directed=True),
    "no edge labels": Schema(nodes=(TYPE,), max_nodes=9),
    "no labels": Schema(max_nodes=9),
}
every_classifier = pytest.mark.parametrize(
    "make", [*CLASSIFIERS.values(), *HARD_ONLY.values()], ids=[*CLASSIFIERS, *HARD_ONLY]
)
few = settings(max_examples=5)
INPUTS = given(n=st.integers(1, 7), seed=st.integers(0, 2**16), relaxed=st.booleans())


def build(make, schema, dtype=torch.float64):
    """A model whose weights and statistics have no special values, in eval mode."""
    model = make(schema)
    reset_parameters(model, torch.Generator().manual_seed(5))
    rng = torch.Generator().manual_seed(6)
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if name.endswith("running_var"):
                tensor.mul_(0.5 + torch.rand(tensor.shape, generator=rng))
            else:
                tensor.add_(torch.randn(tensor.shape, generator=rng) / 5)
    return model.to(dtype).eval().requires_grad_(False)


def autoencoder(design, schema, dtype=torch.float64):
    return build(lambda schema: PEGVAE(schema, DESIGNS[design]), schema, dtype)


def codes(vae, num_graphs, seed, dtype=torch.float64):
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(num_graphs, vae.schema.max_nodes, vae.config.dz, generator=rng, dtype=dtype) * 2


def carry(graph: Graph, extra) -> Graph:
    """A graph that takes numbers along with its slots: they ride as columns of V that no schema knows."""
    return Graph.trusted(graph.B, torch.cat([graph.V, extra], -1), graph.A, graph.E, graph.schema)


def uncarry(graph: Graph) -> tuple[Graph, torch.Tensor]:
    dv = graph.schema.dv
    return Graph.trusted(graph.B, graph.V[..., :dv], graph.A, graph.E, graph.schema), graph.V[..., dv:]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@every_classifier
@few
@INPUTS
def test_classifiers(make, schema, dtype, n, seed, relaxed):
    relaxed = relaxed and make not in HARD_ONLY.values()
    model, graph = build(make, schema, dtype), random_graph(schema, n=n, seed=seed, relaxed=relaxed).to(dtype)
    for f in (model, model.embed):
        assert_invariant(f, graph, seed=seed)
        assert_padding_free(f, graph)
        assert_batch_free(f, graph)
    assert model(graph).dtype == dtype
    torch.testing.assert_close(model(graph), model.head(model.embed(graph)))


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("make", CLASSIFIERS.values(), ids=CLASSIFIERS)
@few
@INPUTS
def test_classifiers_have_finite_gradients_for_every_part_of_a_graph(make, schema, n, seed, relaxed):
    model, graph = build(make, schema), random_graph(schema, n=n, seed=seed, relaxed=relaxed).to(torch.float64)
    parts = B, V, A, E = [part.clone().requires_grad_() for part in (graph.B, graph.V, graph.A, graph.E)]
    logits = model(Graph.trusted(B, V, A, E, schema))
    for gradient in torch.autograd.grad(logits[:, 0].sum(), parts, allow_unused=True):
        assert gradient is None or bool(gradient.isfinite().all())


@every_classifier
def test_classifiers_answer_for_graphs_without_nodes(make):
    model = build(make, SCHEMAS["undirected"])
    nothing = random_graph(SCHEMAS["undirected"], n=0).to(torch.float64)
    torch.testing.assert_close(model(nothing), model(nothing.pad(3)))
    assert bool(model(nothing).isfinite().all())


@every_classifier
def test_gradients_reach_every_weight_of_a_classifier(make):
    schema = SCHEMAS["directed"]
    model, graph = build(make, schema).train().requires_grad_(), random_graph(schema, n=7, num_graphs=16, seed=1)
    model(graph.to(torch.float64)).square().sum().backward()
    for name, parameter in model.named_parameters():
        if not (name.endswith("linear.bias") and len(parameter) == 1):  # normalization takes it away again
            assert bool((parameter.grad != 0).any()), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("design", DESIGNS)
@few
@given(n=st.integers(1, 7), seed=st.integers(0, 2**16))
def test_encoders(design, schema, dtype, n, seed):
    """The code is permuted with the pair (graph, identity), and does not know about padding or neighbors."""
    vae, graph = autoencoder(design, schema, dtype), random_graph(schema, n=n, seed=seed).to(dtype)
    graph = graph.pad(schema.max_nodes)

    def mean(carrying):
        plain, identity = uncarry(carrying)
        posterior = vae.encode(plain, identity=identity)
        return torch.cat([posterior.mean, posterior.log_var], -1)

    full = carry(graph, vae.draw_identity(graph, torch.Generator().manual_seed(seed)))
    assert_equivariant(mean, full, seed=seed)
    assert_batch_free(mean, full)
    rngs = [torch.Generator() for _ in range(len(graph))]
    codes = [
        vae.encode(padded, [rng.manual_seed(seed) for rng in rngs]).mean
        for padded in (graph.trim(), graph.trim().pad(8))
    ]
    torch.testing.assert_close(*codes, atol=1e-3 if dtype == torch.float32 else 1e-8, rtol=1e-3)


@pytest.mark.parametrize("infer", [Soft(), MostLikely()], ids=["soft", "most likely"])
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("design", DESIGNS)
@few
@given(seed=st.integers(0, 2**16))
def test_decoders(design, schema, infer, seed):
    """The graph is permuted with the code."""
    vae = autoencoder(design, schema)
    z = codes(vae, 3, seed)
    order = torch.rand(z.shape[:2], generator=torch.Generator().manual_seed(seed)).argsort(1)
    expected = vae.decode(z, infer).permute(order)
    found = vae.decode(z.gather(1, order[..., None].expand_as(z)), infer)
    for name in "BVAE":
        torch.testing.assert_close(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("design", DESIGNS)
def test_gradients_reach_every_weight_of_an_autoencoder(design):
    schema = SCHEMAS["directed"]
    vae, graph = autoencoder(design, schema).train().requires_grad_(), random_graph(schema, n=7, num_graphs=16, seed=1)
    vae.neg_elbo(graph.to(torch.float64), torch.Generator().manual_seed(0))[0].sum().backward()
    for name, parameter in vae.named_parameters():
        if not (name.endswith("linear.bias") and len(parameter) == 1):
            assert bool((parameter.grad != 0).any()), name


def test_a_model_that_looks_at_empty_slots_is_caught():
    model = build(CLASSIFIERS["relational"], SCHEMAS["undirected"])
    graph = random_graph(SCHEMAS["undirected"], n=5, seed=2).to(torch.float64)

    def careless(graph):
        return model(Graph.trusted(torch.ones_like(graph.B), graph.V, graph.A, graph.E, graph.schema))

    with pytest.raises(AssertionError, match="depends on padding"):
        assert_padding_free(careless, graph)
