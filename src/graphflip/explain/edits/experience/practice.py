"""Practice: moves tried on training graphs, from which `Experience` is learned."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import lsqr

from ....graph import Graph
from ....models.networks.classifier import AbstractClassifier
from ...goals.batches import mean_outputs
from ...goals.classes import ClassGoal
from ...moves.apply import apply_differences
from ...moves.draft import Draft
from ..candidates import Candidate
from ..neighborhood import SearchStage
from ..search import EditSearch
from .table import COST_PARTS, Experience, feature_key, features_of

# Price that stands for moves that are not allowed, or lead to what is not to be believed.
DEAR = 16.0

_STAGE = SearchStage(None, 0.34, 1)
_DAMP, _STEPS = 3.0, 60


class _Tried(NamedTuple):
    """Moves of one graph: their features, and what they did (nan where a move could not be made)."""

    features: list[tuple[Hashable, ...]]
    effects: NDArray[np.float64]


def learn_experience(
    search: EditSearch, graphs: Iterable[Graph], per_graph: int = 96, minimum: int = 8, seed: int = 0
) -> Experience:
    """Try moves on training graphs and sum up what they do.

    Args:
        search: A search with the classifier, its surrogates and realism; its settings of effort play no part.
        graphs: Training graphs, one at a time.
        per_graph: Moves that are tried on each graph: half of them any, half of kinds in equal shares.
        minimum: Moves in which a feature must have been seen.
        seed: Seed of the choice of moves.

    Returns:
        The effects of all features that were seen often enough.
    """
    rng = np.random.default_rng(seed)
    tried = [_try(search, graph, per_graph, rng) for graph in graphs]
    counts = Counter(feature for one in tried for row in one.features for feature in row)
    number = {feature: k for k, feature in enumerate(feature for feature, n in counts.items() if n >= minimum)}
    rows = [[number[feature] for feature in row if feature in number] for one in tried for row in one.features]
    effects = np.concatenate([one.effects for one in tried])
    mean = np.nanmean(effects, axis=0)
    columns = [_fit(rows, column - center, len(number)) for column, center in zip(effects.T, mean, strict=True)]
    keys, order = np.unique([feature_key(feature) for feature in number], return_index=True)  # once, ascending
    return Experience(keys, np.stack(columns, axis=1)[order], mean)


@torch.no_grad()
def _try(search: EditSearch, graph: Graph, per_graph: int, rng: np.random.Generator) -> _Tried:
    """Make some moves of a graph and ask all models about the results."""
    logits = search.classifier(graph)
    begun = search.start(graph, ClassGoal(int(logits[0].argmin())), logits)
    around, scoring, root = begun.neighborhood, begun.scoring, begun.root
    drafts = _sample(list(around.drafts(root, _STAGE)), per_graph, rng)
    made = [around.made(root, draft, _STAGE, np.inf) for draft in drafts]
    voters = [[search.classifier], list(search.surrogates)]
    there = [candidate for candidate in made if candidate is not None]
    batch = apply_differences(scoring.graph, [root.difference, *(candidate.difference for candidate in there)])
    odds = np.concatenate([_log_odds(models, batch, logits.shape[-1]) for models in voters], axis=1)
    effects = np.full((len(drafts), odds.shape[1] + COST_PARTS + 1), np.nan)
    effects[:, -1] = DEAR
    rises = iter(odds[1:] - odds[0])
    for k, candidate in enumerate(made):
        if candidate is not None:
            strangeness = 0.0 if scoring.strangeness is None else min(scoring.strangeness.price(candidate), DEAR)
            effects[k] = [*next(rises), *cost_parts(candidate), strangeness]
    return _Tried(list(features_of(root.sketch, drafts)), effects)


def cost_parts(candidate: Candidate) -> tuple[float, float, float]:
    """Cost of the edits, hydrogens that come or go, and places that are changed: what `Costs` puts prices on."""
    return candidate.weight, float(candidate.size - candidate.heavy + candidate.unseen), float(candidate.sites)


def _sample(drafts: list[Draft], count: int, rng: np.random.Generator) -> list[Draft]:
    """Some moves, each once: half of them any, the others of kinds in equal shares."""
    by_kind: defaultdict[str, list[int]] = defaultdict(list)
    for k, draft in enumerate(drafts):
        by_kind[draft.kind].append(k)
    share = max(count // (2 * max(len(by_kind), 1)), 1)
    chosen = {int(k) for k in rng.permutation(len(drafts))[: count // 2]}
    chosen |= {int(k) for numbers in by_kind.values() for k in rng.permutation(numbers)[:share]}
    return [drafts[k] for k in sorted(chosen)]


def _log_odds(models: Sequence[AbstractClassifier], batch: Graph, classes: int) -> NDArray[np.float64]:
    """Log-odds of each class by the mean of some models; 0 if there are none."""
    if not models:
        return np.zeros((len(batch), classes))
    log_prob = mean_outputs(torch.stack([model(batch) for model in models])).log_softmax(-1).double()
    log_prob = log_prob.clamp(max=-1e-4)
    return (log_prob - torch.log(-torch.expm1(log_prob))).clamp(-12.0, 12.0).numpy()


def _fit(rows: list[list[int]], effects: NDArray[np.float64], num_features: int) -> NDArray[np.float64]:
    """Effects of features that fit those of the moves best, with a penalty on large ones."""
    known = np.flatnonzero(np.isfinite(effects))
    ends = np.cumsum([0, *(len(rows[k]) for k in known)])
    columns = np.fromiter((feature for k in known for feature in rows[k]), dtype=np.int64, count=int(ends[-1]))
    seen = csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(known), num_features))
    return lsqr(seen, effects[known], damp=_DAMP, iter_lim=_STEPS)[0]
