"""Codes: many hard graphs as arrays of whole numbers, one for each different set of attributes; 0 is "not there"."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Int

from ...explain.moves.attributes import Attributes
from ...explain.moves.sketch import Sketch


@dataclass(eq=False)
class Codebook:
    """Numbers for attributes of nodes and of edges, given in the order in which they are first seen.

    Args:
        nodes: Numbers of the attributes of nodes, from 1.
        edges: Numbers of the attributes of edges, from 1.
    """

    nodes: dict[Attributes, int] = field(default_factory=dict)
    edges: dict[Attributes, int] = field(default_factory=dict)

    def node(self, attributes: Attributes | None) -> int:
        """Number of a node; 0 for none."""
        return 0 if attributes is None else self.nodes.setdefault(attributes, len(self.nodes) + 1)

    def edge(self, attributes: Attributes | None) -> int:
        """Number of an edge; 0 for none."""
        return 0 if attributes is None else self.edges.setdefault(attributes, len(self.edges) + 1)

    def read(self, sketches: Sequence[Sketch], slots: int) -> "CodedGraphs":
        """Code graphs, nodes in the slots that they have."""
        labels = np.zeros((len(sketches), slots), dtype=np.int16)
        links = np.zeros((len(sketches), slots, slots), dtype=np.int16)
        for g, sketch in enumerate(sketches):
            for i, attributes in sketch.nodes.items():
                labels[g, i] = self.node(attributes)
            for i, near in sketch.near.items():
                for j, attributes in near.items():
                    links[g, i, j] = self.edge(attributes)
        return CodedGraphs(labels, links, bool(sketches) and sketches[0].directed)

    def sketch(self, graphs: "CodedGraphs", g: int) -> Sketch:
        """The graph that the codes at place g stand for."""
        nodes, edges = list(self.nodes), list(self.edges)
        made = Sketch({}, {}, graphs.directed)
        for i in np.flatnonzero(graphs.labels[g]).tolist():
            made.set_node(i, nodes[graphs.labels[g, i] - 1])
        for i, j in np.argwhere(graphs.links[g]).tolist():
            made.join(i, j, edges[graphs.links[g, i, j] - 1])
        return made


@dataclass(frozen=True, eq=False)
class CodedGraphs:
    """Graphs in codes.

    Args:
        labels: Codes of the nodes of each graph.
        links: Codes of its edges; symmetric if edges are undirected.
        directed: True if edges have a direction.
    """

    labels: Int[np.ndarray, "g n"]
    links: Int[np.ndarray, "g n n"]
    directed: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, rows: Sequence[int] | np.ndarray) -> "CodedGraphs":
        at = np.asarray(rows, dtype=int)
        return replace(self, labels=self.labels[at], links=self.links[at])

    @property
    def num_nodes(self) -> Int[np.ndarray, " g"]:
        """Number of nodes of each graph."""
        return (self.labels > 0).sum(1)

    @property
    def sizes(self) -> Int[np.ndarray, " g"]:
        """Number of nodes and edges of each graph."""
        return self.num_nodes + (self.links > 0).sum((1, 2)) // (1 if self.directed else 2)

    @property
    def bare(self) -> "CodedGraphs":
        """The same graphs with edges that are there or not, whatever their attributes."""
        return replace(self, links=np.sign(self.links))

    def reordered(self, order: Int[np.ndarray, "g n"]) -> "CodedGraphs":
        """Graphs whose slot i is slot `order[g, i]` of these."""
        rows = np.arange(len(self))[:, None]
        return replace(
            self, labels=self.labels[rows, order], links=self.links[rows[..., None], order[:, :, None], order[:, None]]
        )


def edits_between(one: CodedGraphs, other: CodedGraphs) -> Int[np.ndarray, " g"]:
    """Number of nodes and edges in which graphs differ, slot by slot: an upper bound of their edit distance.

    A change of attributes counts 1, which is the most that it can cost.
    """
    links = (one.links != other.links).sum((1, 2))
    return (one.labels != other.labels).sum(1) + (links if one.directed else links // 2)
