"""Probing a user's module: forms of its inputs and kinds of its outputs, found by trying it on graphs of its schema."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, cast, get_args

import torch
from torch import nn

from ...errors import ClassifierError, ConfigError, GraphflipError
from ...graph import Graph
from ...schema import Schema
from ...testing import random_graph
from .checks import without_edges
from .outputs import LinearLayers, Place, ReturnType, find_output, output_rows, recognize_type, taken
from .sparse import Form, Reader

_WORDS = {
    "raw": "logits",
    "log_probs": "logarithms of probabilities",
    "probs": "probabilities",
    "value": "a value",
}
_MOST, _RANDOM = 64, 32

Call = Callable[[Graph, Reader, Reader], Any]
"""Function that calls a module on hard graphs with these readers of nodes and edges, and returns what it returns."""


@dataclass(frozen=True)
class Recognized:
    """Form of a module's inputs and kind of its outputs.

    Args:
        x: Form of the nodes.
        edge_attr: Form of the edges.
        output: Place of the logits among several outputs.
        return_type: Kind of the numbers.
        one_column: True if there is one number for each graph.
    """

    x: Form
    edge_attr: Form
    output: Place
    return_type: ReturnType
    one_column: bool = False

    def __str__(self) -> str:
        parts = [f"nodes as {_form(self.x)}", f"edges as {_form(self.edge_attr)}"]
        where = "" if self.output is None else f" (output {self.output!r})"
        kind = f"one column of {_WORDS[self.return_type]}" if self.one_column else _WORDS[self.return_type]
        return f"{', '.join(parts)}; returns {kind}{where}"


@dataclass(frozen=True)
class Hints:
    """Hints of a user about a module; None is to be recognized."""

    x: Form | None = None
    edge_attr: Form | None = None
    output: Place = None
    return_type: ReturnType | None = None


@torch.no_grad()
def recognize(call: Call, schema: Schema, sample: Graph, hints: Hints) -> Recognized:
    """Try a module with each form of nodes and edges, and take the first with which it gives a row for each graph.

    Args:
        call: Calls the module.
        schema: Schema of the graphs.
        sample: Graphs to try it on.
        hints: Forms that need not be tried.

    Raises:
        ClassifierError: If it accepts no form; the message quotes its errors and names the hints to give.
        WrongOutput: If it returns something else than a row for each graph.
    """
    sample = sample.select(sample.A.flatten(1).any(1).nonzero()[:, 0]) if bool(sample.A.any()) else sample
    failures: dict[str, Exception] = {}
    for x, edge_attr in _forms(schema, hints):
        try:
            readers = Reader(schema.nodes, x, "x"), Reader(schema.edges, edge_attr, "edge_attr")
        except ConfigError:
            if hints.x is not None or hints.edge_attr is not None:
                raise
            continue
        try:
            with LinearLayers() as layers:
                returned = call(sample, *readers)
            place = find_output(returned, len(sample)) if hints.output is None else hints.output
            rows = output_rows(taken(returned, place), len(sample))
        except Exception as error:
            failures[f'x="{x}"' + (f', edge_attr="{edge_attr}"' if schema.de else "")] = error
            continue
        kind = hints.return_type or ("raw" if layers.made(rows) else recognize_type(rows))
        return Recognized(x, edge_attr, place, kind, rows.shape[1] == 1)
    raise _refusal(failures, schema)


def wide_sample(schema: Schema, given: Graph | None, like: Graph) -> Graph:
    """Graphs on which the kind of outputs is recognized: the first 64 given, and 32 random ones."""
    drawn = random_graph(schema, n=min(10, schema.max_nodes), num_graphs=_RANDOM, seed=2)
    some = [drawn] if given is None else [given[:_MOST], drawn]
    several = Graph.cat(some).to(like.B.dtype).to(like.B.device)
    return several.select(several.B.any(1).nonzero()[:, 0])


@torch.no_grad()
def fails_without_edges(call: Callable[[Graph], Any], sample: Graph) -> bool:
    """True if a module raises an error on graphs that have no edges."""
    bare = without_edges(sample)
    try:
        call(bare.select(bare.B.any(1).nonzero()[:, 0]))
    except GraphflipError:
        raise
    except Exception:
        return True
    return False


def single_precision(model: nn.Module) -> nn.Module:
    """The model with weights of half precision turned into single precision, which processors can compute with."""
    halves = (torch.float16, torch.bfloat16)
    return model.float() if any(weight.dtype in halves for weight in model.parameters()) else model


def _forms(schema: Schema, hints: Hints) -> Iterator[tuple[Form, Form]]:
    """Forms of nodes and edges to try, the likeliest first."""
    words = cast(tuple[Form, ...], get_args(Form))
    nodes = words if hints.x is None else (hints.x,)
    edges = words if hints.edge_attr is None else (hints.edge_attr,)
    nodes = nodes if schema.dv or hints.x is not None else words[:1]
    edges = edges if schema.de or hints.edge_attr is not None else words[:1]
    yield from sorted(product(nodes, edges), key=lambda pair: (pair[0] != "columns") + (pair[1] != "columns"))


def _refusal(failures: dict[str, Exception], schema: Schema) -> ClassifierError:
    tried = {hint: f"{type(error).__name__}: {str(error).splitlines()[0][:160]}" for hint, error in failures.items()}
    ours = [error for error in failures.values() if isinstance(error, ClassifierError)]
    if ours:  # it accepted its inputs
        return ours[0]
    first = list(dict.fromkeys(tried.values()))[:3]  # most forms fail alike
    quoted = "; ".join(f"with {next(hint for hint in tried if tried[hint] == said)} {said}" for said in first)
    return ClassifierError(
        f"A classifier must accept graphs of its schema ({schema.dv} node columns, {schema.de} edge columns) as "
        f"columns or as integers; on a sample it raised errors: {quoted}. Check the width of its first layer, and give "
        'the form of its inputs: `x="ids"`, `edge_attr="id"` for models with embeddings.'
    )


def _form(form: Form) -> str:
    return {"columns": "columns", "ids": "integers, one for each group", "id": "integers, flat"}[form]
