"""EditSearch: a beam search over valid moves of the graph itself, refined until no edit is left over."""

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial

from jaxtyping import Float
from torch import Tensor

from ...errors import ConfigError, SchemaError
from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ..claims.examine import Examiner
from ..constraints import Constraints
from ..counterfactual import Counterfactual, Outcome
from ..goals.classes import AnyOther
from ..goals.goal import AbstractGoal
from ..latent.saliency import SaliencyWalk
from ..method import AbstractExplainer, Question
from ..moves.apply import apply_differences
from ..moves.difference import Difference
from ..moves.environments import EnvironmentCounts
from ..moves.moves import Moves
from .beam import BeamSearch, Finding, Round
from .effects import importance_of
from .experience.table import Experience
from .neighborhood import Neighborhood
from .realism import AbstractRealism
from .rounds.proposals import Proposals
from .scoring import Scoring
from .settings import Costs, Demand, Limits


@dataclass(frozen=True)
class EditSearch(AbstractExplainer):
    """Finds counterfactuals by trying every allowed move, keeping the best graphs, and going on from them.

    A graph passes if the classifier predicts the target with at least `confidence` and the surrogates give it at least
    `agreement` on average; where values are predicted, if the classifier's value and the surrogates' mean lie in the
    range that is asked for. Of the graphs that pass, the cheapest is taken, and the search goes on while a cheaper one
    is possible. Then changes are reverted, or exchanged for cheaper ones, for as long as the graph still passes; the
    answer says what each change is needed for (`needed_for`). A molecule must still pass when it is written as SMILES
    and read back, if one that does can be found.

    Candidates are ranked by `price * cost - support`, where support is the mean of the scores by the classifier and by
    the surrogates (log-probabilities, or minus distances from a range), each counted up to what is asked. Nothing is
    random: all seeds give the same answer.

    Args:
        classifier: The classifier to explain.
        moves: Moves of its schema.
        environments: Counts of environments in the data; edits must create only those that are frequent enough. By
            default any environment is allowed.
        minimum: Number of times that an environment must have been seen.
        constraints: Parts of a graph that must stay as they are.
        confidence: Probability of the target that the classifier must give, between 0 and 1.
        surrogates: Models that must agree with the classifier on average.
        agreement: Probability of the target that the surrogates must give on average, between 0 and 1.
        concede_to: Confidence that is accepted where nothing passes: first with half of the agreement that was asked,
            then without any, then with unknown environments; the answer's note says what it misses. By default nothing
            less is accepted.
        content_with: Pairs of confidence and agreement that are accepted before `concede_to`.
        walk: Latent walk that preselects the candidates of each round; by default all of them are classified.
        proposals: Candidates of a round that are classified if there is a walk.
        frontier: True to answer with a list from the smallest change to the most believable one.
        watch: Called with a `Round` after every round.
        beam: Graphs from which each round goes on; 1 is greedy search.
        max_moves: Rounds, that is moves in a row.
        max_calls: Graphs that the classifier is shown in all; None for any number.
        largest: Nodes of the largest group that is added before larger ones are tried.
        price: Score that a unit of cost is worth when candidates are ranked.
        hydrogen_price: Cost of an edit that only adds or removes a hydrogen or its bond, as a multiple of another's.
        edit_price: Cost of each edit.
        site_price: Cost of each separate place that is changed.
        realism: Knowledge of real graphs: what is strange has a price, what is not to be believed is left out. By
            default strangeness costs nothing.
        shortlist: Candidates of a round that the surrogates see, those that the classifier ranks first.
        batch_size: Graphs that a model is shown at once.
        patience: Rounds that the search goes on after the one that found its best answer.
        exchanges: Graphs with a change taken back from which another move is tried, when the answer is minimized.
        look: Candidates that are classified at a time where the most promising moves are made first; 0 to make all.
        experience: What moves have done to training graphs, by which the most promising ones are known from the start.
        method: Name of the explainer in tables and files.

    Raises:
        ConfigError: If a setting is out of range.
        SchemaError: If classifier, surrogates, moves and environments have different schemas.

    Example:
        >>> import torch, graphflip as gf
        >>> from graphflip.data.planted.motif import planted
        >>> from graphflip.explain import EditSearch, Moves
        >>> from graphflip.models.adapters import BlackBox
        >>> dataset = planted(num_graphs=4, seed=0, min_nodes=4, max_nodes=5)
        >>> def predict(graphs):  # the more red nodes, the likelier class 1
        ...     red = [sum(node["type"] == "red" for node in graph.nodes() if node) for graph in graphs]
        ...     return torch.sigmoid(torch.tensor([[1.5 - n, n - 1.5] for n in red]))
        >>> search = EditSearch(BlackBox(predict, dataset.schema), Moves(dataset.schema))
        >>> graph = gf.Graph.build(dataset.schema, [{"type": "gray"}, {"type": "red"}], [(0, 1, {"type": "thin"})])
        >>> (answer,) = search.explain(graph, target=1)
        >>> answer.flipped, [str(edit.op) for edit in answer.edits]
        (True, ['set_node'])
    """

    classifier: AbstractClassifier
    moves: Moves
    environments: EnvironmentCounts | None = None
    minimum: int = 5
    constraints: Constraints = field(default_factory=Constraints)
    confidence: float = 0.5
    surrogates: tuple[AbstractClassifier, ...] = ()
    agreement: float = 0.5
    concede_to: float | None = None
    content_with: tuple[tuple[float, float], ...] = ()
    walk: SaliencyWalk | None = None
    proposals: int = 64
    frontier: bool = False
    watch: Callable[[Round], None] = lambda _: None
    beam: int = 4
    max_moves: int = 8
    max_calls: int | None = None
    largest: int = 2
    price: float = 0.2
    hydrogen_price: float = 0.5
    edit_price: float = 1.0
    site_price: float = 0.0
    realism: AbstractRealism | None = None
    shortlist: int = 64
    batch_size: int = 256
    patience: int = 99
    exchanges: int = 999
    look: int = 0
    experience: Experience | None = None
    method: str = "search"

    def __post_init__(self) -> None:
        for settings in ("demand", "limits"):  # they check what they are made of
            getattr(self, settings)
        if self.minimum < 1:
            raise ConfigError(f"`minimum` must be at least 1; got {self.minimum}.")
        schemas = [model.schema for model in (self.classifier, *self.surrogates)]
        schemas += [self.environments.schema] if self.environments else []
        if any(schema != self.moves.schema for schema in schemas):
            raise SchemaError(
                "Classifier, surrogates, moves and environments must have one schema; these differ. "
                "Mine and train them on one dataset."
            )

    @cached_property
    def demand(self) -> Demand:
        """Levels of confidence and agreement that an answer must meet."""
        return Demand(self.confidence, self.agreement, self.concede_to, self.content_with)

    @cached_property
    def costs(self) -> Costs:
        """Costs of candidates."""
        return Costs(self.hydrogen_price, self.price, self.edit_price, self.site_price)

    @cached_property
    def limits(self) -> Limits:
        """Bounds on the effort."""
        return Limits(
            self.beam,
            self.max_moves,
            self.max_calls,
            self.largest,
            self.proposals,
            self.shortlist,
            self.batch_size,
            self.patience,
            self.exchanges,
            self.look,
        )

    @cached_property
    def examiner(self) -> Examiner:
        """Examiner of the answers: what each change is needed for, by the levels that are asked or accepted."""
        levels, class_alone = self.demand.levels(), not (self.surrogates or self.environments or self.frontier)
        return Examiner(
            self.classifier, self.moves, self.surrogates, levels, self.constraints, self.max_calls, class_alone
        )

    def explain_batch(self, question: Question) -> list[Counterfactual]:
        """Answer for every graph of a batch, with the first of several answers."""
        return [answers[0] for answers in self.explain_several(question, 1)]

    def explain_several(self, question: Question, num: int) -> list[list[Counterfactual]]:
        """Answer for every graph of a batch with up to `num` counterfactuals that differ.

        Args:
            question: Factuals and goals.
            num: Answers to each graph, at least 1. The first is the same as with `num=1`. With `frontier` it plays no
                part.

        Returns:
            A list for each graph, cheapest answer first.

        Raises:
            ConfigError: If `num` is below 1.
        """
        if num < 1:
            raise ConfigError(f"`num` must be at least 1; got {num}.")
        return [self._explain_one(question, k, num) for k in range(len(question.graph))]

    def start(self, graph: Graph, goal: AbstractGoal, logits: Float[Tensor, "1 c"]) -> BeamSearch:
        """Prepare the search for one graph.

        Args:
            graph: The factual, a batch of one hard graph.
            goal: The prediction that is wanted.
            logits: The classifier's outputs for the factual.

        Returns:
            A search that has tried nothing yet; `run` runs it.
        """
        graph = _without_empty_end(graph)
        around = Neighborhood(graph, self.moves, self.costs, self.constraints, self.environments, self.minimum)
        level = self.demand.levels()[0]
        strangeness = None if self.realism is None else self.realism.beside(around.factual)
        scoring = Scoring(graph, goal, self.classifier, self.surrogates, level, self.costs, self.limits, strangeness)
        propose = Proposals(self.walk, graph, goal, self.costs, self.proposals)
        return BeamSearch(around, scoring, propose, self.demand, self.limits, logits, self.watch, self.experience)

    def _explain_one(self, question: Question, k: int, num: int) -> list[Counterfactual]:
        started = time.perf_counter()
        search = self.start(question.graph[k], question.goals[k], question.logits[k : k + 1])
        if not bool(question.logits[k].isfinite().all()):
            findings = [Finding(search.root, Outcome.NOT_A_NUMBER)]
        elif bool(question.already_there[k]):
            findings = [Finding(search.root, Outcome.ALREADY_THERE)]
        else:
            findings = search.run_frontier() if self.frontier else search.run(num)
        found = [self._answer(question, k, search, finding) for finding in findings]
        answers = self.examiner.examine(found, partial(_said, search.scoring))
        importance = importance_of(search.scoring.first, search.root, question.goals[k])
        seconds = (time.perf_counter() - started) / len(answers)
        return [dataclasses.replace(answer, seconds=seconds, importance=importance) for answer in answers]

    def _answer(self, question: Question, k: int, search: BeamSearch, finding: Finding) -> Counterfactual:
        unknown = finding.outcome is Outcome.NOT_A_NUMBER
        return question.answer(
            k,
            self.method,
            apply_differences(question.graph[k], [finding.candidate.difference]),
            finding.outcome,
            p_counterfactual=None if unknown else finding.candidate.probability,
            steps=search.turn,
            probabilities=tuple(search.trace),
            classifier_calls=search.scoring.calls,
            note=search.note(finding),
        )


def _said(scoring: Scoring, difference: Difference) -> tuple[bool, float, float] | None:
    """The classifier's word on a graph of the search: whether it predicts the target, the score, the number to show.

    Nothing where any other class was the target: its score is not that of the class which an answer has.
    """
    vote = None if isinstance(scoring.goal, AnyOther) else scoring.memory.classifier_vote(difference)
    return None if vote is None else (vote.predicted, vote.score, vote.shown)


def _without_empty_end(graph: Graph) -> Graph:
    """The graph without the empty slots after its last node; one slot at least."""
    used = max((i for i, node in enumerate(graph.nodes()) if node is not None), default=0) + 1
    B, V, A, E = graph.B[:, :used], graph.V[:, :used], graph.A[:, :used, :used], graph.E[:, :used, :used]
    return Graph.trusted(B, V, A, E, graph.schema)
