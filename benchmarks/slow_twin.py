"""The slow twin: the paper's models as one would first write them, to compare with and for nothing else.

Every layer materializes the images of all basis maps, channels before nodes (`b d maps n n`), and contracts them with
one convolution: half the time of an einsum with channels last. Convolution, batch normalization and ReLU are modules of
their own; all graphs have all slots. Submodules are named as in `graphflip`, so that `copy_weights` makes the twin
compute the same numbers.
"""

import torch
from torch import Tensor, nn

from graphflip.graph import Graph
from graphflip.models.networks.classifier import InvariantClassifier
from graphflip.models.networks.pegvae import PEGVAE
from graphflip.nn.basis import NUM_MAPS
from graphflip.schema import Schema


class StackedLinear(nn.Module):
    """All basis images of order (k, l), stacked (`b d maps n (n)`) and contracted by one convolution."""

    def __init__(self, k: int, l: int, d: int, e: int):
        super().__init__()
        self.stack = {(1, 1): one_to_one, (1, 2): one_to_two, (2, 1): two_to_one, (2, 2): two_to_two}[k, l]
        self.weight = nn.Parameter(torch.randn(NUM_MAPS[k, l], d, e) * (2.0 / (NUM_MAPS[k, l] * d)) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(l, e))

    def forward(self, x: Tensor, B: Tensor) -> Tensor:
        images = self.stack(x, (B / B.sum(1, keepdim=True).clamp(min=1))[:, None]).flatten(1, 2)
        weight = self.weight.permute(2, 1, 0).flatten(1)  # e d*maps
        if images.ndim == 3:
            return nn.functional.conv1d(images, weight[..., None], self.bias[0])
        pairs = nn.functional.conv2d(images, weight[..., None, None], self.bias[0])
        return pairs + torch.diag_embed(self.bias[1][:, None].expand(-1, pairs.shape[-1]))


class StackedBlock(nn.Module):
    """Layer, 1x1 convolution, batch normalization and ReLU, one after the other."""

    def __init__(self, k: int, l: int, d: int, e: int):
        super().__init__()
        self.linear = StackedLinear(k, l, d, e)
        self.convolution = (nn.Conv1d if l == 1 else nn.Conv2d)(e, e, 1, bias=False)
        self.norm = (nn.BatchNorm1d if l == 1 else nn.BatchNorm2d)(e)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor, B: Tensor) -> Tensor:
        return self.relu(self.norm(self.convolution(self.linear(x, B))))


def one_to_one(x: Tensor, share: Tensor) -> Tensor:
    return torch.stack([x, _mean(x, share).expand_as(x)], 2)


def one_to_two(x: Tensor, share: Tensor) -> Tensor:
    pairs = x[..., None].expand(-1, -1, -1, x.shape[-1])
    mean = _mean(x, share)
    everywhere = mean[..., None].expand_as(pairs)
    on_diagonal = [torch.diag_embed(x), torch.diag_embed(mean.expand_as(x))]
    return torch.stack([pairs, pairs.mT, everywhere, *on_diagonal], 2)


def two_to_one(X: Tensor, share: Tensor) -> Tensor:
    diagonal, row, column = _pools(X, share)
    spread = [_mean(row, share).expand_as(row), _mean(diagonal, share).expand_as(row)]
    return torch.stack([diagonal, row, column, *spread], 2)


def two_to_two(X: Tensor, share: Tensor) -> Tensor:
    pools = _pools(X, share)
    at_i = [pool[..., None].expand_as(X) for pool in pools]
    at_j = [pool[:, :, None].expand_as(X) for pool in pools]
    diagonal, row, _ = pools
    means = [_mean(row, share), _mean(diagonal, share)]
    everywhere = [mean[..., None].expand_as(X) for mean in means]
    on_diagonal = [torch.diag_embed(pool) for pool in (*pools, *(mean.expand_as(row) for mean in means))]
    return torch.stack([X, X.mT, *at_i, *at_j, *everywhere, *on_diagonal], 2)


def _pools(X: Tensor, share: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    diagonal = X.diagonal(dim1=2, dim2=3)
    return diagonal, (X * share[:, :, None]).sum(3), (X * share[..., None]).sum(2)


def _mean(x: Tensor, share: Tensor) -> Tensor:
    return (x * share).sum(2, keepdim=True)


class SlowClassifier(nn.Module):
    """Twin of `InvariantClassifier`."""

    def __init__(self, schema: Schema, d: int = 20, hidden: int = 200, classes: int = 2):
        super().__init__()
        self.lift = StackedBlock(1, 2, 1 + schema.dv, d)
        self.pairs = nn.ModuleList([StackedBlock(2, 2, d + 1 + schema.de, d), StackedBlock(2, 2, d, d)])
        self.lower = StackedBlock(2, 1, d, d)
        self.hidden, self.out = nn.Linear(d, hidden), nn.Linear(hidden, classes)

    def forward(self, B: Tensor, V: Tensor, A: Tensor, E: Tensor) -> Tensor:
        X = torch.cat([self.lift(torch.cat([B[:, None], V], 1), B), A[:, None], E], 1)
        for block in self.pairs:
            X = block(X, B)
        pooled = (self.lower(X, B) * B[:, None]).amax(2)
        return self.out(self.hidden(pooled).relu())


class SlowEncoder(nn.Module):
    """Twin of `PaperEncoder`."""

    def __init__(self, schema: Schema, d: int = 20, dz: int = 1):
        super().__init__()
        self.lift = StackedBlock(1, 2, 1 + schema.dv, d)
        self.pairs = nn.ModuleList([StackedBlock(2, 2, d + 1 + schema.de, d), StackedBlock(2, 2, d, d)])
        self.lower = StackedBlock(2, 1, d, d)
        self.out = StackedLinear(1, 1, d + 1, 2 * dz)

    def forward(self, B: Tensor, V: Tensor, A: Tensor, E: Tensor) -> tuple[Tensor, Tensor]:
        X = torch.cat([self.lift(torch.cat([B[:, None], V], 1), B), A[:, None], E], 1)
        for block in self.pairs:
            X = block(X, B)
        X = X * (B[:, :, None] * B[:, None])[:, None]
        mean, log_var = self.out(torch.cat([self.lower(X, B), B[:, None]], 1), B).chunk(2, 1)
        return mean, log_var.clamp(-12, 8)


class SlowDecoder(nn.Module):
    """Twin of `PaperDecoder`."""

    def __init__(self, schema: Schema, d: int = 20, dz: int = 1):
        super().__init__()
        node = dz + 1 + schema.dv
        self.nodes, self.nodes_out = StackedBlock(1, 1, dz, d), StackedLinear(1, 1, d, 1)
        self.values, self.values_out = StackedBlock(1, 1, dz + 1, d), StackedLinear(1, 1, d, schema.dv)
        self.edges = nn.ModuleList([StackedBlock(1, 2, node, d), StackedBlock(2, 2, d, d)])
        self.edges_out = StackedLinear(2, 2, d, 1)
        self.edge_types = nn.ModuleList([StackedBlock(1, 2, node, d), StackedBlock(2, 2, d + 1, d)])
        self.edge_types_out = StackedLinear(2, 2, d, schema.de)

    def node_logits(self, z: Tensor) -> Tensor:
        everywhere = torch.ones_like(z[:, 0])
        return self.nodes_out(self.nodes(z, everywhere), everywhere)[:, 0]

    def node_values(self, z: Tensor, B: Tensor) -> Tensor:
        return self.values_out(self.values(torch.cat([z, B[:, None]], 1), B), B)

    def edge_logits(self, z: Tensor, B: Tensor, V: Tensor) -> Tensor:
        lift, mix = self.edges
        return self.edges_out(mix(lift(torch.cat([z, B[:, None], V], 1), B), B), B)[:, 0]

    def edge_values(self, z: Tensor, B: Tensor, V: Tensor, A: Tensor) -> Tensor:
        lift, mix = self.edge_types
        X = torch.cat([lift(torch.cat([z, B[:, None], V], 1), B), A[:, None]], 1)
        return self.edge_types_out(mix(X, B), B)


class SlowVAE(nn.Module):
    """Twin of `PEGVAE` in the paper's configuration, for one group of node and of edge types."""

    def __init__(self, schema: Schema):
        super().__init__()
        self.encoder, self.decoder = SlowEncoder(schema), SlowDecoder(schema)

    def neg_elbo(self, B: Tensor, V: Tensor, A: Tensor, E: Tensor, rng: torch.Generator, beta: float = 1.0) -> Tensor:
        """-E[log p(G | z)] + beta KL with one draw of z; what conditions a part is taken from the graph itself."""
        mean, log_var = self.encoder(B, V, A, E)
        z = mean + (log_var / 2).exp() * torch.randn(mean.shape, generator=rng)
        decoder = self.decoder
        log_bernoulli = nn.functional.binary_cross_entropy_with_logits
        nodes = log_bernoulli(decoder.node_logits(z), B, reduction="none").sum(1)
        values = -(decoder.node_values(z, B).log_softmax(1) * V).sum((1, 2))
        pairs = (B[:, :, None] * B[:, None]).triu(1)
        edges = (log_bernoulli(decoder.edge_logits(z, B, V), A, reduction="none") * pairs).sum((1, 2))
        types = -(decoder.edge_values(z, B, V, A).log_softmax(1) * E).sum((1, 2, 3)) / 2
        kl = 0.5 * (mean**2 + log_var.exp() - 1 - log_var).sum((1, 2))
        return nodes + values + edges + types + beta * kl

    def decode(self, z: Tensor, tau: float = 1.0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """B, V, A, E drawn from the Gumbel-softmax with straight-through gradients."""
        decoder = self.decoder
        B = _draw_binary(decoder.node_logits(z), tau)
        V = nn.functional.gumbel_softmax(decoder.node_values(z, B), tau, hard=True, dim=1) * B[:, None]
        A = _mirror(_draw_binary(decoder.edge_logits(z, B, V), tau)) * (B[:, :, None] * B[:, None])
        E = nn.functional.gumbel_softmax(decoder.edge_values(z, B, V, A), tau, hard=True, dim=1)
        return B, V, A, _mirror(E) * A[:, None]


class SlowWalk:
    """The walk through latent space as usually written: all graphs every step, weights not frozen, Adam on the code."""

    def __init__(self, vae: SlowVAE, classifier: SlowClassifier, graph: Graph, target: Tensor):
        self.vae, self.classifier, self.target = vae.eval(), classifier.eval(), target
        with torch.no_grad():
            self.z = vae.encoder(*all_slots(graph))[0].requires_grad_()
        self.optimizer = torch.optim.Adam([self.z], lr=0.05)

    def step(self) -> None:
        logits = self.classifier(*self.vae.decode(self.z))
        norm = (self.z**2).sum((1, 2)).sqrt()
        loss = nn.functional.cross_entropy(logits, self.target, reduction="sum") + norm.sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def all_slots(graph: Graph) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """B, V, A, E with all slots of the schema, as the slow twin takes them: channels before nodes."""
    graph = graph.pad(graph.schema.max_nodes)
    return graph.B, graph.V.mT.contiguous(), graph.A, graph.E.movedim(-1, 1).contiguous()


def slow_classifier(fast: InvariantClassifier) -> SlowClassifier:
    """The twin of a classifier, with its weights."""
    slow = SlowClassifier(fast.schema, fast.config.width, fast.config.hidden, fast.config.num_classes)
    copy_weights(fast, slow)
    return slow


def slow_vae(fast: PEGVAE) -> SlowVAE:
    """The twin of an autoencoder in the paper's configuration, with its weights."""
    slow = SlowVAE(fast.schema)
    copy_weights(fast, slow)
    return slow


@torch.no_grad()
def copy_weights(fast: nn.Module, slow: nn.Module) -> None:
    """Give `slow` the weights with which it computes what `fast` does for undirected graphs, module by module."""
    for name, twin in reversed(list(slow.named_modules())):  # a block's layer before the block
        if isinstance(twin, StackedBlock):
            _copy_block(fast.get_submodule(name), twin)
        elif isinstance(twin, StackedLinear | nn.Linear):
            module = fast.get_submodule(name)
            twin.bias.copy_(module.bias)
            twin.weight.copy_(module.weight)
            if isinstance(twin, StackedLinear):
                _make_symmetric(twin)


def _copy_block(block: nn.Module, twin: StackedBlock) -> None:
    twin.linear.bias[0] = 0  # graphflip leaves it out: the normalization would subtract it
    twin.convolution.weight.copy_(block.mix.T.reshape(twin.convolution.weight.shape))  # pyright: ignore[reportCallIssue]
    twin.norm.weight.copy_(block.norm.scale)
    twin.norm.bias.copy_(block.norm.shift)
    twin.norm.running_mean.copy_(block.norm.running_mean)
    twin.norm.running_var.copy_(block.norm.running_var)


def _make_symmetric(layer: StackedLinear) -> None:
    """What stands at i and what stands at j weigh the same: the part of the map that undirected graphs keep."""
    ends = {one_to_two: [(0, 1)], two_to_two: [(2, 5), (3, 6), (4, 7)]}
    for at_i, at_j in ends.get(layer.stack, []):
        layer.weight[[at_i, at_j]] = (layer.weight[at_i] + layer.weight[at_j]) / 2


def _draw_binary(logits: Tensor, tau: float) -> Tensor:
    uniform = torch.rand_like(logits).clamp(1e-6, 1 - 1e-6)
    relaxed = ((logits + uniform.log() - (-uniform).log1p()) / tau).sigmoid()
    return relaxed + ((relaxed > 0.5).to(relaxed) - relaxed).detach()


def _mirror(pairs: Tensor) -> Tensor:
    upper = pairs.triu(1)
    return upper + upper.mT
