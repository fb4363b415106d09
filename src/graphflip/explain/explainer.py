"""What explainers take and give: AbstractExplainer, Counterfactual, Outcome."""

import dataclasses
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..edits import Edit, edits_between, heavy_edits
from ..errors import ConfigError
from ..graph import Graph
from ..models.classifier import AbstractClassifier
from .evidence import Evidence


class Outcome(Enum):
    """How a search ended; `advice` says what it means and what to try."""

    FLIPPED = "flipped"
    ALREADY_THERE = "already_there"
    OUT_OF_STEPS = "out_of_steps"
    NOT_FLIPPED = "not_flipped"
    EMPTY = "empty"
    NOTHING_TO_OFFER = "nothing_to_offer"
    NOT_A_NUMBER = "not_a_number"
    NOT_CONFIDENT = "not_confident"
    OUT_OF_MOVES = "out_of_moves"
    NO_MOVE_ALLOWED = "no_move_allowed"
    OUT_OF_CALLS = "out_of_calls"

    @property
    def advice(self) -> str:
        return _ADVICE[self]


_ADVICE = {
    Outcome.FLIPPED: "The classifier assigns the target class to the counterfactual; a second look confirmed it.",
    Outcome.ALREADY_THERE: "The classifier predicts the target for the factual itself. Ask for another class.",
    Outcome.OUT_OF_STEPS: (
        "No graph on the way was classified as the target. Allow more steps, larger ones, or other seeds."
    ),
    Outcome.NOT_FLIPPED: "The method's one proposal is not classified as the target. Use a method that searches.",
    Outcome.EMPTY: "The code decoded to a graph without nodes. The autoencoder does not know graphs like this one.",
    Outcome.NOTHING_TO_OFFER: "The training data have no graph with the target label. Use another method.",
    Outcome.NOT_A_NUMBER: "The classifier or the decoder returned NaN or infinity. Check the model on this graph.",
    Outcome.NOT_CONFIDENT: (
        "The classifier assigns the target class, but with less confidence than asked, or another model does "
        "not agree. Ask for less confidence, fewer opinions, or allow more moves."
    ),
    Outcome.OUT_OF_MOVES: (
        "No graph within the allowed moves was classified as the target. Allow more moves, a wider beam, or "
        "loosen the constraints that ruled out most."
    ),
    Outcome.OUT_OF_CALLS: (
        "The classifier may not be asked any more. Allow more calls, or let a latent walk propose fewer graphs."
    ),
    Outcome.NO_MOVE_ALLOWED: "The constraints rule out every valid move. Loosen the one that is named.",
}


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """One explanation: what was asked, what was found, and the way there.

    `factual` and `counterfactual` are aligned: slot i is the same node in both. `counterfactual` is the graph that was
    classified, never a fresh draw; it is None where there was nothing to offer. Where the outcome is not FLIPPED it
    is the last attempt. `probabilities` are those of the target along the path, one for each step; `path` are the
    latent codes. `one_minimal`: it was checked that no edit can be undone without losing what was asked. `evidence` is
    what independent models say. `classes` are names of classes. `classifier_calls` counts the graphs that the
    classifier was shown, where the method keeps count; `note` says what stood in the way of a flip.
    """

    id: str
    method: str
    target: int
    factual: Graph
    counterfactual: Graph | None
    p_factual: float
    p_counterfactual: float | None
    outcome: Outcome
    seed: int = 0
    steps: int = 0
    seconds: float = 0.0
    probabilities: tuple[float, ...] = ()
    path: Float[Tensor, "t n dz"] | None = None
    classifier_calls: int = 0
    note: str = ""
    classes: tuple[str, ...] = ()
    one_minimal: bool | None = None
    evidence: Evidence | None = None

    @property
    def flipped(self) -> bool:
        return self.outcome is Outcome.FLIPPED

    @cached_property
    def edits(self) -> list[Edit]:
        """The typed list of edits that turns the factual into the counterfactual."""
        return [] if self.counterfactual is None else edits_between(self.factual, self.counterfactual)

    def class_name(self, index: int) -> str:
        """The name of a class, or its number."""
        return self.classes[index] if index < len(self.classes) else str(index)

    def __str__(self) -> str:
        from .words import describe

        words = describe(self)
        heavy, total = len(heavy_edits(self.factual, self.edits)), len(self.edits)
        counted = f"{total} edits" if heavy == total else f"{heavy} edits, {total} with hydrogens"
        checked = ", none of which can be undone" if self.one_minimal else ""
        found = "" if self.p_counterfactual is None else f"; {self.p_factual:.2f} -> {self.p_counterfactual:.2f}"
        lines = [f"{self.id}: {self.outcome.value}; target {self.class_name(self.target)}{found}; {counted}{checked}"]
        if self.factual.schema.chemistry is not None and self.counterfactual is not None:
            from ..data.molecule import to_smiles

            lines.append(f"  {to_smiles(self.factual)} -> {to_smiles(self.counterfactual)}")
        lines += [f"  {word}" for word in words[:20]] + (["  …"] if len(words) > 20 else [])
        lines += [f"  {self.evidence}"] if self.evidence is not None else []
        reasons = [f"  {text}" for text in (self.note, self.outcome.advice) if text]
        return "\n".join(lines if self.flipped else [*lines, *reasons])

    def _repr_html_(self) -> str:
        import graphflip  # pictures stand above explanations: they are reached by the package's name

        return graphflip.to_html(self)


class AbstractExplainer(ABC):
    """Finds a counterfactual for each graph of a batch. `method` is its name in tables and files."""

    method: str
    classifier: AbstractClassifier

    @abstractmethod
    def explain_batch(self, question: "Question") -> list[Counterfactual]:
        """Answer for every graph of a batch; a graph's answer depends on nothing but the graph, its target and seed."""

    def explain_several(self, question: "Question", num: int) -> list[list[Counterfactual]]:
        """Up to `num` answers for every graph: by default those of the seeds `seed`, `seed + 1`, …"""
        rounds = [self.explain_batch(question.reseeded(question.seed + turn)) for turn in range(num)]
        return [list(together) for together in zip(*rounds, strict=True)]

    def explain(
        self,
        graph: Graph,
        target: int | Sequence[int] | None = None,
        ids: Sequence[str] = (),
        seed: int = 0,
        batch_size: int = 64,
        num: int = 1,
    ) -> list[Counterfactual]:
        """Up to `num` counterfactuals for each graph; those of a graph stand together.

        By default the target is the likeliest class that is not predicted.
        """
        batches = (graph[at : at + batch_size] for at in range(0, len(graph), batch_size))
        return list(self.explain_all(batches, target, ids, seed, num))

    def explain_all(
        self,
        batches: Iterable[Graph],
        target: int | Sequence[int] | None = None,
        ids: Sequence[str] = (),
        seed: int = 0,
        num: int = 1,
    ) -> Iterator[Counterfactual]:
        """The same for a stream of batches: memory does not grow with the number of graphs."""
        done = 0
        for graph in batches:
            span = slice(done, done + len(graph))
            wanted = target if target is None or isinstance(target, int) else target[span]
            names = ids[span] or [str(done + k) for k in range(len(graph))]
            for several in self.explain_several(ask(self.classifier, graph, wanted, names, seed), num):
                yield from several
            done += len(graph)


@dataclass(frozen=True)
class Question:
    """A batch of factuals, padded to all slots of the schema, with target classes.

    All slots, because then every graph is computed in the same shapes, whatever its neighbors in the batch are.
    """

    graph: Graph
    logits: Float[Tensor, "b c"]
    target: Int[Tensor, " b"]
    ids: list[str]
    seed: int

    @cached_property
    def seeds(self) -> list[int]:
        """A seed for each graph, from its content: order does not matter."""
        return [_scramble(f"{self.seed}/{self.graph.digest(k)}") for k in range(len(self.graph))]

    def reseeded(self, seed: int) -> "Question":
        """The same question with another seed."""
        return dataclasses.replace(self, seed=seed)

    @property
    def p_factual(self) -> Float[Tensor, " b"]:
        return target_probability(self.logits, self.target)

    def rngs(self, stream: str) -> list[torch.Generator]:
        """A generator for each graph; streams of different names are independent."""
        return [torch.Generator().manual_seed(_scramble(f"{seed}/{stream}")) for seed in self.seeds]

    def answer(self, k: int, method: str, found: Graph | None, outcome: Outcome, **more) -> Counterfactual:
        """The Counterfactual of graph k with everything that the question knows."""
        return Counterfactual(
            id=self.ids[k],
            method=method,
            target=int(self.target[k]),
            factual=self.graph[k],
            counterfactual=found,
            p_factual=float(self.p_factual[k]),
            outcome=outcome,
            seed=self.seed,
            **more,
        )


@torch.no_grad()
def ask(
    classifier: AbstractClassifier, graph: Graph, target: int | Sequence[int] | None, ids: Sequence[str], seed: int
) -> Question:
    """Predict, and choose targets."""
    graph = graph.pad(graph.schema.max_nodes)
    logits = classifier(graph)
    classes = logits.shape[1]
    if target is None:
        predicted = logits.argmax(-1, keepdim=True)
        wanted = logits.scatter(1, predicted, -torch.inf).argmax(-1)
    else:
        wanted = torch.as_tensor(target, dtype=torch.long).expand(len(graph))
        if bool(((wanted < 0) | (wanted >= classes)).any()):
            raise ConfigError(f"A target must be a class of 0..{classes - 1}; got {target}.")
    return Question(graph, logits, wanted, list(ids), seed)


@torch.no_grad()
def verdict(
    classifier: AbstractClassifier, graph: Graph, target: Int[Tensor, " b"]
) -> tuple[list[Outcome], Float[Tensor, " b"]]:
    """What the classifier says of hard graphs, with the probability of the target: the last word on a flip."""
    logits = classifier(graph)
    probability = target_probability(logits, target)
    outcomes = []
    for k in range(len(graph)):
        if not bool(logits[k].isfinite().all()):
            outcomes.append(Outcome.NOT_A_NUMBER)
        elif float(graph.B[k].sum()) == 0:
            outcomes.append(Outcome.EMPTY)
        else:
            outcomes.append(Outcome.FLIPPED if int(logits[k].argmax()) == int(target[k]) else Outcome.NOT_FLIPPED)
    return outcomes, probability


def target_probability(logits: Float[Tensor, "b c"], target: Int[Tensor, " b"]) -> Float[Tensor, " b"]:
    """Probability that each row of logits gives to its target class."""
    return logits.softmax(-1).gather(1, target[:, None])[:, 0]


def _scramble(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "big")
