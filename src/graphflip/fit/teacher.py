"""A user's classifier as a teacher: it is asked once about each batch, and about graphs near those of the data."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.dataset import GraphDataset
from ..explain.knowledge import Knowledge
from ..explain.moves.apply import apply_differences
from ..explain.moves.difference import Difference
from ..explain.moves.moves import Moves
from ..explain.moves.sketch import Sketch
from ..graph import Graph
from ..models.adapters.black_box import BlackBox
from ..models.networks.classifier import AbstractClassifier
from ..models.storage.files import read_tensors, write_tensors

ANSWERS = "answers.safetensors"
_AROUND, _STEPS = 10, 6  # graphs that are tried from each graph of a walk, and steps of a walk
_MOST, _FEWEST = 4800, 600
_TRIES = 4  # drafts that are made for each graph that is wanted: some are not valid


class AskedOnce(AbstractClassifier):
    """A classifier that is asked once about each hard graph, also after a restart.

    Args:
        teacher: The classifier to ask.
        path: File of answers, read if it is there.
    """

    has_gradients: ClassVar[bool] = False

    def __init__(self, teacher: AbstractClassifier, path: Path):
        super().__init__()
        self.teacher, self.schema, self.path = teacher, teacher.schema, path
        stored = read_tensors(path)[0] if path.is_file() else {}
        keys = [bytes(row) for row in stored["keys"].tolist()] if stored else []
        self.known = dict(zip(keys, stored["answers"], strict=True)) if stored else {}

    @property
    def calls(self) -> int:
        """Number of graphs that the classifier was asked about, before a restart as well."""
        return len(self.known)

    def embed(self, graph: Graph) -> Float[Tensor, "b c"]:
        keys = [_key(graph, k) for k in range(len(graph))]
        new = {key: k for k, key in enumerate(keys) if key not in self.known}
        if new:
            with torch.no_grad():
                self.known |= zip(new, self.teacher(graph.select(list(new.values()))), strict=True)
        return torch.stack([self.known[key] for key in keys])

    def head(self, embedding: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
        return embedding

    def save(self) -> None:
        """Write the answers, so that a run that is resumed does not ask again."""
        keys = torch.tensor([list(key) for key in self.known], dtype=torch.uint8)
        write_tensors(self.path, {"keys": keys, "answers": torch.stack([*self.known.values()])}, {})


def _key(graph: Graph, k: int) -> bytes:
    """Hash of one graph's nodes and edges in their order, whatever its empty slots are."""
    here = graph.B[k] > 0.5
    parts = graph.V[k][here], graph.A[k][here][:, here], graph.E[k][here][:, here]
    return hashlib.blake2b(b"".join(part.numpy().tobytes() for part in parts), digest_size=16).digest()


def num_nearby(dataset: GraphDataset, own: AbstractClassifier) -> int:
    """Number of nearby graphs to ask a classifier about: thrice those of the train part, within the budget of a box."""
    wanted = min(max(3 * len(dataset.part("train")), _FEWEST), _MOST)
    if isinstance(own, BlackBox) and own.budget is not None:
        wanted = min(wanted, own.budget - own.calls - len(dataset))
    return max(wanted, 0)


def with_nearby(
    dataset: GraphDataset, teacher: AskedOnce, knowledge: Knowledge, num: int, seed: int = 0
) -> GraphDataset:
    """Add graphs that a search would meet to the train and validation parts of a dataset.

    From graphs of each part walks lead towards another class than the one predicted: each step tries some random moves
    and goes on from the one that the teacher likes best. All graphs that were tried are added, with the label of the
    graph that the walk began at; surrogates learn the teacher's answers to them.

    Args:
        dataset: Dataset with its split.
        teacher: Classifier that the surrogates will imitate.
        knowledge: Groups and environments of the data, for the moves.
        num: Number of graphs to add to the train part; a quarter as many are added to the validation part.
        seed: Seed of all draws.

    Returns:
        The larger dataset; the test part stays as it is.
    """
    split, parts, more = dict(dataset.split), [], len(dataset)
    for part, count in (("train", num), ("validation", num // 4)):
        if count < _AROUND * _STEPS:
            continue
        near = _nearby(dataset.part(part), teacher, knowledge, count, seed)
        parts.append(near)
        split[part] = torch.cat([split[part], torch.arange(more, more + len(near))])
        more += len(near)
    return replace(_joined([replace(dataset, split={}), *parts]), split=split)


def _nearby(part: GraphDataset, teacher: AskedOnce, knowledge: Knowledge, count: int, seed: int) -> GraphDataset:
    rng = torch.Generator().manual_seed(seed)
    bonds = None if part.schema.has_continuous else knowledge.environments.bonds
    moves = Moves(part.schema, knowledge.vocabulary, bonds)
    walkers = torch.randperm(len(part), generator=rng)[: max(count // (_AROUND * _STEPS), 1)].tolist()
    states = {k: (part.graphs([k]), Sketch.of(part.graphs([k]))) for k in walkers}
    factuals = {k: sketch for k, (_, sketch) in states.items()}
    toward = {k: teacher(part.graphs([k]))[0] for k in walkers}
    found: list[tuple[int, Graph]] = []
    for _ in range(_STEPS):
        for k, (graph, sketch) in list(states.items()):
            tried = _tried(moves, sketch, factuals[k], rng)
            if not tried:
                continue
            graphs = apply_differences(graph, [Difference.between(sketch, after) for after in tried])
            best = int(_gain(teacher(graphs), toward[k]).argmax())
            found += [(k, graphs.select(at).trim()) for at in range(len(tried))]
            states[k] = graphs.select(best), tried[best]
    names = [f"near {part.ids[k]}/{at}" for at, (k, _) in enumerate(found)]
    labels = part.labels[[k for k, _ in found]]
    return GraphDataset.from_graphs(part.name, [graph for _, graph in found], labels, part.classes, names)


def _tried(moves: Moves, state: Sketch, factual: Sketch, rng: torch.Generator) -> list[Sketch]:
    """Make a few random moves of a state that are valid."""
    drafts = list(moves.drafts(state, factual, largest=2))
    tried = []
    for at in torch.randperm(len(drafts), generator=rng)[: _TRIES * _AROUND].tolist():
        after = moves.made(state, drafts[at], factual)
        if after is not None and after.nodes:
            tried.append(after)
        if len(tried) == _AROUND:
            break
    return tried


def _gain(answers: Float[Tensor, "b c"], before: Float[Tensor, " c"]) -> Float[Tensor, " b"]:
    """Distance of answers from what was predicted for the graph that a walk began at."""
    if len(before) == 1:
        return (answers - before)[:, 0].abs()
    return -answers.log_softmax(-1)[:, int(before.argmax())]


def _joined(datasets: list[GraphDataset]) -> GraphDataset:
    """One dataset of several of the same schema and classes, without a split."""
    first = datasets[0]

    def pointers(name: str) -> Tensor:
        counts = [getattr(one, name).diff() for one in datasets]
        return torch.nn.functional.pad(torch.cat(counts).cumsum(0), (1, 0))

    return replace(
        first,
        node_ptr=pointers("node_ptr"),
        V=torch.cat([one.V for one in datasets]),
        edge_ptr=pointers("edge_ptr"),
        edges=torch.cat([one.edges for one in datasets]),
        E=torch.cat([one.E for one in datasets]),
        labels=torch.cat([one.labels for one in datasets]),
        ids=tuple(name for one in datasets for name in one.ids),
    )
