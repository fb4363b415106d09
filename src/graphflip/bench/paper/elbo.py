"""The paper's -ELBO by the formula of its published code, which is no bound, so that like stands beside like."""

import torch

from ...data.dataset import GraphDataset
from ...models.networks.pegvae import PEGVAE, LogLikelihood, Posterior
from ..summary import Figures, number

_BATCH = 128


@torch.no_grad()
def measure_published_elbo(vae: PEGVAE, dataset: GraphDataset, seed: int = 1) -> Figures:
    """Measure `kl_published`, `reconstruction_published` and their sum, `neg_elbo_published`: means over graphs.

    One code is drawn for each graph, from `seed`.
    """
    vae.eval()
    rng, kl, reconstruction = torch.Generator().manual_seed(seed), 0.0, 0.0
    for batch in dataset.batches(_BATCH):
        posterior = vae.encode(batch.graph, rng)
        likelihood = vae.log_likelihood(batch.graph, posterior.sample(rng))
        kl += float(published_kl(posterior).sum()) / len(dataset)
        reconstruction += float(published_reconstruction(likelihood).sum()) / len(dataset)
    figures = {"kl": kl, "reconstruction": reconstruction, "neg_elbo": kl + reconstruction}
    return {f"{name}_published": number(value) for name, value in figures.items()}


def published_kl(posterior: Posterior) -> torch.Tensor:
    """The KL term with sigma where sigma squared belongs: the sum of (mean^2 + sigma - 1 - log sigma) / 2."""
    log_sigma = posterior.log_var / 2
    return 0.5 * (posterior.mean**2 + log_sigma.exp() - 1 - log_sigma).sum((1, 2))


def published_reconstruction(likelihood: LogLikelihood) -> torch.Tensor:
    """-log p(G | z) with every undirected edge, and its type, counted in both directions.

    The published sum has the diagonal, too. Our decoder never joins a node to itself, which costs nothing there.
    """
    return -(likelihood.nodes + likelihood.node_values + 2 * (likelihood.edges + likelihood.edge_values))
