"""BlackBox: a model without gradients, say scikit-learn on fingerprints, a remote service, an ensemble."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from ...data.molecules.molecule import to_smiles
from ...data.pyg.objects import to_pyg
from ...errors import BudgetSpent, ClassifierError, ConfigError, NotDifferentiable, NotFinite, WrongOutput
from ...graph import Graph
from ...schema import Schema
from ..networks.classifier import AbstractClassifier
from .checks import check_answers, check_word, sample_graphs

Takes = Literal["graphs", "smiles", "pyg"]
"""Form in which a model is given graphs: a list of Graphs of one, of SMILES texts, or of PyG Data objects."""

_LEAST = 1e-6  # a probability of 0 would have no logarithm
_REMEMBERED = 100_000


class BlackBox(AbstractClassifier):
    """Classifier around a function that can only be called: no gradients, hard graphs alone.

    `calls` counts the graphs that `predict` was given. With SMILES, answers are remembered and not asked for again. A
    graph without nodes, or without SMILES where these are taken, is never asked for: all its classes are equally
    likely, and its value is NaN.

    Args:
        predict: Function from a list of graphs to probabilities (graphs x classes; for two classes one number for each
            graph will do, the probability of the second), to class numbers, or with `num_classes=1` to values.
        schema: Schema of the graphs.
        num_classes: Number of classes, 2 or more; 1 if `predict` returns a value to regress on.
        takes: Elements of the list that `predict` is given: "graphs" (`Graph`s of one), "smiles" or "pyg" (`Data`).
        budget: Largest number of graphs that `predict` may be given until `renew`. Default: no limit.
        sample: Graphs on which the function is tried at once: it must answer the same when asked again, whatever the
            order of nodes and the rest of the list. Default: it is not tried.

    Raises:
        ConfigError: A setting is out of its range, or SMILES are asked for without a chemistry.
        ClassifierError: `predict` breaks a rule on the sample; each rule has its own kind, such as `OrderDependent`.

    Example:
        >>> from graphflip import Graph, Schema
        >>> box = BlackBox(lambda graphs: [float(graph.num_edges) / 10 for graph in graphs], Schema(max_nodes=4))
        >>> box(Graph.build(box.schema, [{}, {}], [(0, 1, {})])).softmax(-1)
        tensor([[0.9000, 0.1000]])
        >>> box.calls
        1
    """

    has_gradients: ClassVar[bool] = False

    def __init__(
        self,
        predict: Callable[[list[Any]], Any],
        schema: Schema,
        num_classes: int = 2,
        *,
        takes: Takes = "graphs",
        budget: int | None = None,
        sample: Graph | None = None,
    ):
        super().__init__()
        if num_classes < 1 or (budget is not None and budget < 1):
            raise ConfigError(
                "A black box must have two classes or more, or 1 if it predicts a value, and a budget of at least 1; "
                f"got num_classes={num_classes}, budget={budget}."
            )
        check_word("takes", takes, Takes)
        if takes == "smiles" and schema.chemistry is None:
            raise ConfigError('`takes="smiles"` needs a schema of molecules; this one has no chemistry.')
        self.predict, self.schema, self.num_classes, self.takes = predict, schema, num_classes, takes
        self.budget, self.calls = budget, 0
        self._known: dict[str, Tensor] = {}
        if sample is not None:
            check_answers(self, sample_graphs(schema, sample, predict))

    def renew(self) -> None:
        """Set `calls` to 0 and forget all answers, so that the next explanation does not depend on earlier ones."""
        self.calls, self._known = 0, {}

    def embed(self, graph: Graph) -> Float[Tensor, "b c"]:
        """Call the model: logarithms of its probabilities, or values.

        Args:
            graph: Hard graphs of the schema.

        Returns:
            One row for each graph, one column for each class.

        Raises:
            NotDifferentiable: The graphs are relaxed.
            BudgetSpent: More graphs than `budget` would be shown; none of these is.
            ClassifierError: `predict` raised an error, or returned something else than it must.
        """
        if not graph.is_hard:
            raise NotDifferentiable(
                "A black box can be asked about hard graphs only; got a relaxed one. Use `EditSearch`, which tries "
                "hard graphs, or a model with gradients."
            )
        shown = self._shown(graph.detach())
        unknown = torch.nan if self.num_classes == 1 else 1 / self.num_classes
        answers = torch.full((len(graph), self.num_classes), unknown)
        asked = [k for k, item in enumerate(shown) if item is not None]
        if asked:
            answers[asked] = self._answers([shown[k] for k in asked])
        return (answers if self.num_classes == 1 else answers.clamp(min=_LEAST).log()).to(graph.B)

    def head(self, embedding: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
        """Return the embedding, which is the logits already."""
        return embedding

    def _shown(self, graph: Graph) -> list[Any]:
        """Each graph in the form that `predict` takes; None if it has no nodes, or no SMILES."""
        if self.takes == "smiles":
            return [to_smiles(graph, k) or None for k in range(len(graph))]
        shown: list[Any] = [None] * len(graph)
        with_nodes = graph.B.any(1).nonzero()[:, 0].tolist()
        if with_nodes:
            some = graph[with_nodes]
            ready = to_pyg(some) if self.takes == "pyg" else [single.trim() for single in some]
            for k, item in zip(with_nodes, ready, strict=True):
                shown[k] = item
        return shown

    def _answers(self, shown: list[Any]) -> Float[Tensor, "k c"]:
        if self.takes != "smiles":
            return self._ask(shown)
        unknown = [smiles for smiles in dict.fromkeys(shown) if smiles not in self._known]
        answers = self._known | dict(zip(unknown, self._ask(unknown), strict=True)) if unknown else self._known
        self._known = answers if len(answers) <= _REMEMBERED else {}
        return torch.stack([answers[smiles] for smiles in shown])

    def _ask(self, shown: list[Any]) -> Float[Tensor, "k c"]:
        if self.budget is not None and self.calls + len(shown) > self.budget:
            raise BudgetSpent(
                f"The black box may be shown {self.budget} graphs; {self.calls} are spent and {len(shown)} more were "
                "to follow. Give a larger budget, or search with a narrower beam.",
                left=self.budget - self.calls,
            )
        self.calls += len(shown)
        try:
            returned = self.predict(shown)
        except Exception as error:
            raise ClassifierError(
                f"`predict` must answer for a list of {self.takes}; it raised {type(error).__name__}: {error}."
            ) from error
        rows = _numbers(returned)
        if self.num_classes == 1:
            return _values(rows, len(shown))
        return _probabilities(rows, len(shown), self.num_classes)


def _numbers(returned: Any) -> Tensor:
    try:
        return torch.as_tensor(returned)
    except (TypeError, ValueError, RuntimeError) as error:
        raise WrongOutput(
            f"`predict` must return numbers, probabilities or class numbers; got {type(returned).__name__} ({error})."
        ) from error


def _values(rows: Tensor, count: int) -> Float[Tensor, "k 1"]:
    if rows.shape not in ((count,), (count, 1)):
        raise WrongOutput(
            f"`predict` must return one value for each of {count} graphs; got shape {tuple(rows.shape)}. "
            "Correct `num_classes`, or what it returns."
        )
    if not bool(rows.isfinite().all()):
        raise NotFinite("`predict` must return finite values; it returned NaN or infinity.")
    return rows.reshape(count, 1).float()


def _probabilities(rows: Tensor, count: int, num_classes: int) -> Float[Tensor, "k c"]:
    if rows.shape == (count,) and rows.is_floating_point() and num_classes == 2:
        rows = torch.stack([1 - rows, rows], 1)
    elif rows.shape == (count,) and not rows.is_floating_point():
        rows = _one_hot(rows.long(), num_classes)
    if rows.shape != (count, num_classes) or not rows.is_floating_point():
        raise WrongOutput(
            f"`predict` must return {num_classes} probabilities or one class number for each of {count} graphs; "
            f"got shape {tuple(rows.shape)} of {rows.dtype}. Correct `num_classes`, or what it returns."
        )
    if not bool(rows.isfinite().all()):
        raise NotFinite("`predict` must return finite probabilities; it returned NaN or infinity.")
    if bool((rows < -1e-6).any()) or bool(((rows.sum(1) - 1).abs() > 1e-3).any()):
        raise WrongOutput(
            f"`predict` must return probabilities, which sum to 1 for each graph; got {rows[0].tolist()}. "
            "Take the softmax of logits first."
        )
    return rows.float()


def _one_hot(labels: Tensor, num_classes: int) -> Float[Tensor, "k c"]:
    if bool(((labels < 0) | (labels >= num_classes)).any()):
        raise WrongOutput(f"Class numbers must lie in 0..{num_classes - 1}; got {labels.unique().tolist()}.")
    return torch.nn.functional.one_hot(labels, num_classes).float()
