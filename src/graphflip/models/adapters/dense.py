"""DenseClassifier: any torch function of the dense tensors of a batch of graphs."""

import inspect
from collections.abc import Callable
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from ...errors import ClassifierError
from ...graph import Graph
from ...schema import Schema
from ..networks.classifier import AbstractClassifier
from .checks import check_answers, check_edges_matter, check_gradients, copied, sample_graphs
from .outputs import Place, ReturnType, as_logits, check_number_of_classes, check_scale, checked_return_type, taken
from .probe import Hints, recognize, single_precision, wide_sample

NAMES = {"B": "B", "mask": "B", "V": "V", "x": "V", "A": "A", "adj": "A", "E": "E", "edge_attr": "E"}
"""Tensor that each name of an argument stands for: the paper's letters, or the names in PyG's dense layers."""


class DenseClassifier(AbstractClassifier):
    """Classifier around a torch function of the dense tensors of a batch; its embedding is the logits.

    The answer must not depend on the order of nodes, on empty slots or on the rest of the batch, and must have finite
    gradients. This is tried on sample graphs.

    Args:
        function: Function or module that takes some of B ("b n"), V ("b n dv"), A ("b n n") and E ("b n n de") by
            name, and returns "b c". `mask`, `x`, `adj` and `edge_attr` are other names for them. A module is copied,
            in eval mode.
        schema: Schema of the graphs.
        num_classes: Expected number of classes. Default: as many as the function returns.
        return_type: Kind of the numbers returned: "raw" (logits), "log_probs", "probs", or "value" (regression).
            Default: recognized by trying the function on graphs; a value must be said.
        output: Position or key of the logits, if the function returns several things. Default: recognized.
        sample: Graphs to try the function on; the first four are used, and more to recognize its outputs. Default:
            random graphs of the schema.

    Raises:
        ClassifierError: The function breaks a rule; each rule has its own kind, such as `OrderDependent`.
        ConfigError: `return_type` is not one of these words.

    Example:
        >>> import torch
        >>> from graphflip import Graph, Schema
        >>> schema = Schema(max_nodes=4)
        >>> classifier = DenseClassifier(lambda A, B: torch.stack([A.sum((1, 2)), B.sum(1)], 1), schema)
        >>> classifier(Graph.build(schema, [{}, {}, {}], [(0, 1, {})]))
        tensor([[2., 3.]])
    """

    def __init__(
        self,
        function: Callable[..., Tensor],
        schema: Schema,
        num_classes: int | None = None,
        *,
        return_type: ReturnType | None = None,
        output: Place = None,
        sample: Graph | None = None,
    ):
        super().__init__()
        self.schema, self.names = schema, dense_arguments(function)
        self.function: Any = single_precision(copied(function)) if isinstance(function, nn.Module) else function
        given, sample = sample, sample_graphs(schema, sample, self.function)
        hints = Hints("columns", "columns", output, None if return_type is None else checked_return_type(return_type))
        self.recognized = recognize(
            lambda graph, *_: self._called(graph), schema, wide_sample(schema, given, sample), hints
        )
        self.return_type: ReturnType = self.recognized.return_type
        self.output = self.recognized.output
        check_answers(self, sample)
        logits = self(sample)
        check_number_of_classes(logits.shape[1], num_classes)
        check_scale(logits, self.return_type)
        check_edges_matter(self, sample)
        check_gradients(self, sample)

    def embed(self, graph: Graph) -> Float[Tensor, "b c"]:
        """Call the function: logits, or values."""
        graph = graph if graph.num_slots else graph.pad(1)
        return as_logits(taken(self._called(graph), self.output), len(graph), self.return_type).to(graph.B)

    def _called(self, graph: Graph) -> Any:
        weights = self.function.parameters() if isinstance(self.function, nn.Module) else ()
        dtype = next((weight.dtype for weight in weights if weight.is_floating_point()), graph.B.dtype)
        return self.function(**{name: getattr(graph, NAMES[name]).to(dtype) for name in self.names})

    def head(self, embedding: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
        """Return the embedding, which is the logits already."""
        return embedding


def dense_arguments(function: Callable[..., Tensor]) -> list[str]:
    """Names of the arguments of a function; raises ClassifierError unless they are names of dense tensors."""
    called = function.forward if isinstance(function, nn.Module) else function
    parameters = inspect.signature(called).parameters
    required = [name for name, parameter in parameters.items() if parameter.default is parameter.empty]
    unknown = [name for name in required if name not in NAMES]
    if unknown or not NAMES.keys() & parameters.keys():
        raise ClassifierError(
            f"A function of dense tensors must take some of {', '.join(NAMES)}; this one takes "
            f"{', '.join(parameters) or 'nothing'}. Rename its arguments."
        )
    return [name for name in parameters if name in NAMES]
