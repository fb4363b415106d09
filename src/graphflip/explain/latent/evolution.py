"""LatentSearch: counterfactuals of models without gradients, from batches of codes around the factual's."""

import math
import time
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ...errors import BudgetSpent, ConfigError, SchemaError
from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ...models.networks.pegvae import PEGVAE
from ..counterfactual import Counterfactual, Outcome
from ..edits.candidates import Candidate, votes_for
from ..goals.goal import AbstractGoal
from ..method import AbstractExplainer, Question
from ..moves.apply import apply_differences
from ..moves.feasible import feasible
from ..moves.moves import Moves
from ..moves.revert import revert_all, reverted
from ..moves.sketch import Sketch
from .anchored import Anchor

_FASTER = 1.3  # the step grows by this factor, or shrinks


@dataclass(frozen=True)
class LatentSearch(AbstractExplainer):
    """Search the latent space without gradients, by an evolution strategy: draw codes around the best, keep the best.

    A code is decoded relative to the factual (see `anchored`), so that a small step changes little, and only changes
    that lead from one valid graph to the next are made (see `feasible`). Each round moves some slots of the best codes
    by Gaussian steps and shows the classifier the new graphs in one batch. The step grows while few graphs are new, and
    shrinks while most are. Once a round reaches the target, the graph with the fewest edits is taken, and edits are
    undone as long as it still flips.

    Args:
        vae: Autoencoder that gives codes and decodes them.
        classifier: Model to explain; it needs no gradients.
        moves: Changes that lead from one valid graph to the next.
        rounds: Most rounds.
        batch_size: Codes drawn in each round.
        parents: Number of best codes that new ones are drawn around.
        step: First standard deviation of a step, in the latent space; above 0.
        price: Points of score that an edit costs when graphs are ranked.
        max_calls: Most graphs shown to the classifier, the factual included; None for no limit but that of a
            `BlackBox`. The answer has the number in `classifier_calls`.
        method: Name in tables and files.

    Raises:
        ConfigError: If a count is below 1, or `step` is not above 0.
        SchemaError: If autoencoder, classifier and moves differ in their schema.

    Example:
        >>> from graphflip.explain import Moves
        >>> from graphflip.models import PEGVAE, RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=4, num_graphs=1, seed=0)
        >>> vae, classifier = PEGVAE(graph.schema).eval(), RelationalGIN(graph.schema).eval()
        >>> search = LatentSearch(vae, classifier, Moves(graph.schema), rounds=2, batch_size=8, max_calls=20)
        >>> search.explain(graph)[0].classifier_calls <= 20
        True
    """

    vae: PEGVAE
    classifier: AbstractClassifier
    moves: Moves
    rounds: int = 60
    batch_size: int = 32
    parents: int = 4
    step: float = 1.0
    price: float = 0.05
    max_calls: int | None = None
    method: str = "latent-search"

    def __post_init__(self) -> None:
        for name in ("rounds", "batch_size", "parents"):
            if getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must be at least 1; got {getattr(self, name)}.")
        if not self.step > 0:
            raise ConfigError(f"`step` must be above 0; got {self.step}.")
        if not self.vae.schema == self.classifier.schema == self.moves.schema:
            raise SchemaError("Autoencoder, classifier and moves must have one schema; these differ.")

    def explain_batch(self, question: Question) -> list[Counterfactual]:
        return [self._explain_one(question, k, rng) for k, rng in enumerate(question.rngs("codes"))]

    def _explain_one(self, question: Question, k: int, rng: torch.Generator) -> Counterfactual:
        started = time.perf_counter()
        search = _Search(self, question.graph[k], question.goals[k], question.logits[k : k + 1], rng)
        if not bool(question.logits[k].isfinite().all()):
            outcome = Outcome.NOT_A_NUMBER
        elif bool(question.already_there[k]):
            outcome = Outcome.ALREADY_THERE
        else:
            outcome = search.run()
        return question.answer(
            k,
            self.method,
            apply_differences(question.graph[k], [search.best.difference]),
            outcome,
            p_counterfactual=None if outcome is Outcome.NOT_A_NUMBER else search.best.probability,
            steps=search.turn,
            seconds=time.perf_counter() - started,
            probabilities=tuple(search.trace),
            classifier_calls=search.calls,
            one_minimal=search.one_minimal,
        )


class _Search:
    """The state of a search for one graph; `codes` are those of the candidates that are parents."""

    def __init__(
        self,
        settings: LatentSearch,
        graph: Graph,
        goal: AbstractGoal,
        logits: Float[Tensor, "1 c"],
        rng: torch.Generator,
    ):
        self.settings, self.graph, self.goal, self.rng = settings, graph, goal, rng
        self.factual, self.anchor = Sketch.of(graph), Anchor.at(settings.vae, graph)
        self.step, self.turn, self.calls = settings.step, 0, 1
        self.best = self._candidate(self.factual).with_votes(votes_for(logits, goal))
        self.parents = [(self.best, self.anchor.z[0])]
        self.seen, self.trace = {self.best.key()}, list[float]()
        self.one_minimal: bool | None = None

    @torch.no_grad()
    def run(self) -> Outcome:
        """Search until the target is reached, or rounds or calls are used up."""
        try:
            while self.turn < self.settings.rounds:
                self.turn += 1
                tried = self._tried()
                self.parents = sorted([*self.parents, *tried], key=self._rank)[: self.settings.parents]
                self.best = self.parents[0][0]
                self.trace.append(self.best.probability)
                reached = [one for one, _ in tried if one.predicted]
                if reached:
                    self.best = revert_all(min(reached, key=self._cost), self._smaller)
                    return Outcome.FLIPPED
        except BudgetSpent:
            return Outcome.FLIPPED if self.best.predicted else Outcome.OUT_OF_CALLS
        return Outcome.OUT_OF_STEPS

    def _candidate(self, sketch: Sketch) -> Candidate:
        return Candidate.of(self.factual, sketch, self.graph.schema)

    def _rank(self, one: tuple[Candidate, Tensor]) -> float:
        return self.settings.price * one[0].weight - one[0].classifier_score

    def _cost(self, one: Candidate) -> tuple[float, int, float]:
        return one.weight, one.size, -one.classifier_score

    def _tried(self) -> list[tuple[Candidate, Tensor]]:
        """New graphs around the parents, with what the classifier says, and their codes."""
        z, fresh = self._codes(), {}
        for code, graph in zip(z, self.anchor.repeated(len(z)).hard(z), strict=True):
            one = self._candidate(feasible(self.settings.moves, self.factual, Sketch.of(graph)))
            if one.key() not in self.seen:
                self.seen.add(one.key())
                fresh[one] = code
        self.step = self.step * _FASTER if len(fresh) < len(z) / 2 else self.step / _FASTER
        return list(zip(self._asked(list(fresh)), fresh.values(), strict=False))

    def _codes(self) -> Float[Tensor, "k n dz"]:
        """A step of some of the factual's slots, from one parent after the other."""
        size, here = self.settings.batch_size, self.graph.B[0]
        start = torch.stack([self.parents[k % len(self.parents)][1] for k in range(size)])
        share = torch.rand(size, 1, generator=self.rng)  # of slots, in each code another
        moved = (torch.rand(size, len(here), generator=self.rng) < share).to(here) * here
        return start + self.step * torch.randn(start.shape, generator=self.rng).to(start) * moved[..., None]

    def _asked(self, candidates: list[Candidate]) -> list[Candidate]:
        """As many as may be asked about, with the classifier's votes."""
        left = math.inf if self.settings.max_calls is None else self.settings.max_calls - self.calls
        if left < 1:
            raise BudgetSpent(f"{self.settings.max_calls} graphs may be shown to the classifier; more are needed.")
        shown = candidates[: int(min(left, len(candidates)))]
        if not shown:
            return []
        try:
            logits = self.settings.classifier(apply_differences(self.graph, [one.difference for one in shown]))
        except BudgetSpent as error:
            if not error.left:
                raise
            return self._asked(shown[: error.left])
        votes = votes_for(logits, self.goal)
        self.calls += len(shown)
        return [one.with_votes([vote]) for one, vote in zip(shown, votes, strict=True)]

    def _smaller(self, answer: Candidate) -> Candidate | None:
        """The cheapest graph that lacks one change of an answer and still flips; None if there is none."""
        sketches = reverted(self.settings.moves, self.factual, answer.sketch)
        fewer = [self._candidate(sketch) for sketch in sketches]
        fewer = [candidate for candidate in fewer if 0 < candidate.weight and candidate.size < answer.size]
        try:
            asked = self._asked(fewer) if fewer else []
        except BudgetSpent:
            return None
        reached = [candidate for candidate in asked if candidate.predicted]
        if not reached and len(asked) == len(fewer):
            self.one_minimal = True
        return min(reached, key=self._cost, default=None)
