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
from .checks import check_answers, check_edges_matter, check_gradients, check_word, copied, sample_graphs
from .outputs import ReturnType, as_logits, check_number_of_classes, check_scale

NAMES = {"B": "B", "mask": "B", "V": "V", "x": "V", "A": "A", "adj": "A", "E": "E", "edge_attr": "E"}
"""Which of the four tensors an argument means: the paper's letters, or the names in PyG's dense layers."""


class DenseClassifier(AbstractClassifier):
    """A function, or a copy of a module in eval mode, that takes some of B, V, A, E by name and returns logits.

    `mask`, `x`, `adj` and `edge_attr` are other names for them. It is held to the same rules as every classifier: no
    regard to the order of nodes, to empty slots and to the rest of the batch; finite gradients. The embedding is the
    logits.
    """

    def __init__(
        self,
        function: Callable[..., Tensor],
        schema: Schema,
        num_classes: int | None = None,
        *,
        return_type: ReturnType = "raw",
        sample: Graph | None = None,
    ):
        super().__init__()
        check_word("return_type", return_type, ReturnType)
        self.schema = schema
        self.return_type: ReturnType = return_type
        self.names = dense_arguments(function)
        self.function: Any = copied(function) if isinstance(function, nn.Module) else function
        sample = sample_graphs(schema, sample, self.function)
        check_answers(self, sample)
        logits = self(sample)
        check_number_of_classes(logits.shape[1], num_classes)
        check_scale(logits, return_type)
        check_edges_matter(self, sample)
        check_gradients(self, sample)

    def embed(self, graph: Graph) -> Float[Tensor, "b c"]:
        graph = graph if graph.num_slots else graph.pad(1)
        returned = self.function(**{name: getattr(graph, NAMES[name]) for name in self.names})
        return as_logits(returned, len(graph), self.return_type)

    def head(self, embedding: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
        return embedding


def dense_arguments(function: Callable[..., Tensor]) -> list[str]:
    """Names of a function's arguments, which must be names of dense tensors."""
    called = function.forward if isinstance(function, nn.Module) else function
    parameters = inspect.signature(called).parameters
    unknown = [name for name, one in parameters.items() if name not in NAMES and one.default is one.empty]
    if unknown or not NAMES.keys() & parameters.keys():
        raise ClassifierError(
            f"A function of dense tensors must take some of {', '.join(NAMES)}; this one takes "
            f"{', '.join(parameters) or 'nothing'}. Rename its arguments."
        )
    return [name for name in parameters if name in NAMES]
