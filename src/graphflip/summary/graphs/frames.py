"""Frames: a center with the inputs around it, aligned, so that the effect of any edit on all distances is a lookup."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from .alignment import CAREFUL, Effort, align_pairs
from .codes import CodedGraphs, edits_between


class CodeChange(NamedTuple):
    """New codes of some nodes, as (slot, code), and of some edges, as (slot, slot, code); 0 takes away."""

    nodes: tuple[tuple[int, int], ...] = ()
    links: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Frame:
    """A center and inputs whose slot i is aligned with slot i of the center.

    Args:
        center: One coded graph.
        aligned: The inputs, in the order of the center's slots.
        theta: Largest normalized distance that counts as near.
        kinds: True if changes of an edge's attributes are edits; False counts edges only as there or not.
    """

    center: CodedGraphs
    aligned: CodedGraphs
    theta: float
    kinds: bool = True

    @classmethod
    def around(
        cls, center: CodedGraphs, inputs: CodedGraphs, theta: float, kinds: bool = True, effort: Effort = CAREFUL
    ) -> "Frame":
        """Align inputs with a center."""
        repeated, enough = center[np.zeros(len(inputs), dtype=int)], theta * (int(center.sizes[0]) + inputs.sizes)
        one, other = (repeated, inputs) if kinds else (repeated.bare, inputs.bare)
        return cls(center, inputs.reordered(align_pairs(one, other, enough, effort).images), theta, kinds)

    @cached_property
    def edits(self) -> Int[np.ndarray, " m"]:
        """Edits from the center to each input: upper bounds of the distances."""
        repeated = self.center[np.zeros(len(self.aligned), dtype=int)]
        return edits_between(repeated, self.aligned) if self.kinds else edits_between(repeated.bare, self.aligned.bare)

    @cached_property
    def slack(self) -> Float[np.ndarray, " m"]:
        """Edits that each input could be farther away and still near; negative for those that are not near."""
        return self.theta * (int(self.center.sizes[0]) + self.aligned.sizes) - self.edits

    def slack_after(self, changes: Sequence[CodeChange]) -> Float[np.ndarray, "c m"]:
        """The slack after each of some changes of the center, with the alignments as they are."""
        labels, links = self.center.labels[0], self.center.links[0]
        slack = np.tile(self.slack, (len(changes), 1))
        nodes = [(c, i, code) for c, change in enumerate(changes) for i, code in change.nodes]
        edges = [(c, i, j, code) for c, change in enumerate(changes) for i, j, code in change.links]
        if nodes:
            c, i, code = np.array(nodes).T
            self._add(slack, c, self.aligned.labels[:, i].T, labels[i], code)
        if edges:
            c, i, j, code = np.array(edges).T
            there, old = self.aligned.links[:, i, j].T, links[i, j]
            self._add(slack, c, *((there, old, code) if self.kinds else map(np.sign, (there, old, code))))
        return slack

    def _add(self, slack: np.ndarray, c: np.ndarray, there: np.ndarray, old: np.ndarray, new: np.ndarray) -> None:
        """Account for codes that become others, in place: one edit fewer where they agree then, one more if before."""
        gained = (there == new[:, None]).astype(np.float64) - (there == old[:, None])
        grown = (new > 0).astype(float) - (old > 0)
        np.add.at(slack, c, gained + self.theta * grown[:, None])

    def changed(self, change: CodeChange) -> "Frame":
        """The frame after a change of the center, with the alignments as they are."""
        return replace(self, center=applied(self.center, [change]))


def applied(center: CodedGraphs, changes: Sequence[CodeChange]) -> CodedGraphs:
    """The graphs that some changes make of one coded graph."""
    graphs = center[np.zeros(len(changes), dtype=int)]
    for c, change in enumerate(changes):
        for i, code in change.nodes:
            graphs.labels[c, i] = code
        for i, j, code in change.links:
            graphs.links[c, i, j] = code
            if not graphs.directed:
                graphs.links[c, j, i] = code
    return graphs


def all_changes(frame: Frame, most_new: int = 6) -> list[CodeChange]:
    """Single edits of a center that bring it nearer to some input, and leaves that come or go with their edge.

    Args:
        frame: The center with its inputs.
        most_new: Empty slots that new nodes may take: those that most inputs use.
    """
    labels, links = frame.center.labels[0], frame.center.links[0]
    here = np.flatnonzero(labels)
    changes = [
        CodeChange(((int(i), int(code)),))
        for i in here
        for code in np.unique(frame.aligned.labels[:, i])
        if code not in (0, labels[i])
    ]
    for at, i in enumerate(here):
        for j in here if frame.center.directed else here[at + 1 :]:
            wanted = (code for code in np.unique(frame.aligned.links[:, i, j]) if code != links[i, j])
            changes += [CodeChange((), ((int(i), int(j), int(code)),)) for code in wanted if i != j]
    return changes + _leaves_gone(frame, here) + _leaves_come(frame, here, most_new)


def _leaves_gone(frame: Frame, here: np.ndarray) -> list[CodeChange]:
    links, directed = frame.center.links[0], frame.center.directed
    near = (links > 0) | (links.T > 0)
    changes = []
    for i in (int(i) for i in here if near[i].sum() <= 1 < len(here)):
        ends = [(i, int(j)) for j in np.flatnonzero(near[i])]
        ends = [pair for i, j in ends for pair in ((i, j), (j, i)) if links[pair]] if directed else ends
        changes.append(CodeChange(((i, 0),), tuple((i, j, 0) for i, j in ends)))
    return changes


def _leaves_come(frame: Frame, here: np.ndarray, most_new: int) -> list[CodeChange]:
    used = (frame.aligned.labels > 0).sum(0)
    empty = [int(i) for i in np.argsort(-used, kind="stable") if frame.center.labels[0, i] == 0 and used[i]]
    changes = []
    for i in empty[:most_new]:
        for code in np.unique(frame.aligned.labels[:, i])[-6:]:
            for j in here:
                kinds = np.unique(frame.aligned.links[:, i, j])
                changes += [CodeChange(((i, int(code)),), ((i, int(j), int(kind)),)) for kind in kinds if code and kind]
    return changes
