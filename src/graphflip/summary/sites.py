"""Sites: where in a graph a transformation can be made, and what stands around there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..explain.moves.attributes import Attributes
from ..explain.moves.connectivity import bridges
from ..explain.moves.moves import Moves
from ..explain.moves.rings.aromatic import AromaticRings
from ..explain.moves.sketch import Sketch
from .transformations import PatternEdge, Transformation, Wildcards

Site = tuple[int | None, ...]
"""For each node of a transformation the slot of the graph that it is; None for nodes that are new."""

Surrounding = tuple[int, str]
"""A node of a transformation, by its place, and something that is true there, such as "in an aromatic ring"."""


@dataclass(frozen=True, eq=False)
class PatternIndex:
    """A graph prepared for looking up patterns in it.

    Args:
        sketch: The graph.
        moves: Moves of its schema.
    """

    sketch: Sketch
    moves: Moves

    @cached_property
    def heavy(self) -> set[int]:
        """Nodes that patterns are about: all but hydrogens that fill valences."""
        return set(self.moves.heavy(self.sketch))

    @cached_property
    def near(self) -> dict[int, dict[int, Attributes]]:
        """Edges of either direction between these nodes."""
        near = self.sketch.near
        if not self.sketch.directed:
            return {i: {j: edge for j, edge in near[i].items() if j in self.heavy} for i in self.heavy}
        return {i: {j: near[i].get(j, ()) for j in self.sketch.around(i)} for i in self.heavy}

    @cached_property
    def classes(self) -> dict[int, int]:
        """A number for each node, equal for nodes that three rounds of Weisfeiler-Leman do not tell apart."""
        known: dict[object, int] = {}
        color = {i: known.setdefault(self.sketch.nodes[i], len(known)) for i in sorted(self.heavy)}
        for _ in range(3):
            seen: dict[object, int] = {}
            color = {
                i: seen.setdefault((color[i], tuple(sorted((e, color[j]) for j, e in self.near[i].items()))), len(seen))
                for i in color
            }
        return color

    @cached_property
    def rings(self) -> dict[int, str]:
        """For each node "in an aromatic ring", "in a ring" or "in no ring"."""
        single = bridges(self.sketch)
        places = {
            i: "in a ring" if any((i, j) not in single for j in self.near[i]) else "in no ring" for i in self.heavy
        }
        if self.moves.schema.chemistry is not None:
            aromatic = AromaticRings.of(self.sketch, self.moves.schema).bonds
            places |= {i: "in an aromatic ring" for pair in aromatic for i in pair if i in places}
        return places

    def sites(self, change: Transformation, context: frozenset[Surrounding] = frozenset(), most: int = 8) -> list[Site]:
        """List sites of a transformation, one of each class of sites that look alike.

        Args:
            change: The transformation.
            context: What must be true around a site.
            most: Largest number of sites; the first ones are taken.

        Returns:
            Slots of the nodes of the transformation, for each site.
        """
        found: dict[tuple, Site] = {}
        for site in self._matches(change, _plan(change)):
            alike = tuple(None if i is None else self.classes[i] for i in site)
            if alike not in found and (not context or context <= self.surroundings(site)):
                found[alike] = site
            if len(found) >= most:
                break
        return list(found.values())

    def surroundings(self, site: Site) -> frozenset[Surrounding]:
        """List what is true of the nodes of a site: rings they are in, neighbors outside of the site, and theirs."""
        inside = {i for i in site if i is not None}
        true: set[Surrounding] = set()
        for place, i in enumerate(site):
            if i is None:
                continue
            true.add((place, self.rings[i]))
            for j in self.near[i].keys() - inside:
                beside = f"beside {self.named(i, j)}"
                true.add((place, beside))
                for k in self.near[j].keys() - {i}:
                    true.add((place, f"{beside}, which is beside {self.named(j, k)}"))
        return frozenset(true)

    def named(self, i: int, j: int) -> str:
        """A node by its attributes, and the edge that leads to it."""
        node, edge = (_said(values) for values in (self.sketch.nodes[j], self.near[i][j]))
        return f"{node} ({edge})" if edge else node

    def _matches(self, change: Transformation, plan: "list[tuple[int, int | None]]") -> Iterator[Site]:
        """Every assignment of slots to the nodes of a pattern, by backtracking along its edges."""
        nodes, edges = change.nodes, _edges_of(change)
        site: list[int | None] = [None] * len(nodes)
        used: set[int] = set()

        def extend(step: int) -> Iterator[Site]:
            if step == len(plan):
                yield tuple(site)
                return
            k, anchor = plan[step]
            choices = sorted(self.near[site[anchor]]) if anchor is not None else self._like(nodes[k].before)  # type: ignore[index]
            for i in choices:
                if i not in used and self._fits(change, k, i, site, edges[k]):
                    site[k] = i
                    used.add(i)
                    yield from extend(step + 1)
                    used.discard(i)
                    site[k] = None

        return extend(0)

    def _like(self, wanted: Wildcards | None) -> Sequence[int]:
        return [i for i in sorted(self.heavy) if wanted is not None and _agrees(self.sketch.nodes[i], wanted)]

    def _fits(self, change: Transformation, k: int, i: int, site: list[int | None], edges: list[PatternEdge]) -> bool:
        node = change.nodes[k]
        if node.before is None or not _agrees(self.sketch.nodes[i], node.before):
            return False
        if node.closed and len(self.near[i]) != sum(edge.before is not None for edge in edges):
            return False
        for edge in edges:
            a, b = (i if end == k else site[end] for end in (edge.i, edge.j))
            if a is None or b is None:
                continue
            there = self.sketch.near[a].get(b)
            if (there is None) != (edge.before is None) or (there is not None and not _agrees(there, edge.before)):
                return False
        return True


def _plan(change: Transformation) -> list[tuple[int, int | None]]:
    """The order in which the old nodes of a pattern are looked up, each with one that it is joined to, if any is."""
    left = [k for k, node in enumerate(change.nodes) if node.before is not None]
    joined = {(a, b) for i, j, before, _ in change.edges if before is not None for a, b in ((i, j), (j, i))}
    plan: list[tuple[int, int | None]] = []
    while left:
        done = [k for k, _ in plan]
        reach = [(k, next(d for d in done if (d, k) in joined)) for k in left if any((d, k) in joined for d in done)]
        step = reach[0] if reach else (left[0], None)
        plan.append(step)
        left.remove(step[0])
    return plan


def _edges_of(change: Transformation) -> list[list[PatternEdge]]:
    return [[edge for edge in change.edges if k in edge[:2]] for k in range(len(change.nodes))]


def _agrees(attributes: Attributes, wanted: Wildcards | None) -> bool:
    return wanted is not None and all(b is None or a == b for a, b in zip(attributes, wanted, strict=True))


def _said(values: Attributes) -> str:
    return " ".join(f"{value:.2g}" if isinstance(value, float) else str(value) for value in values if value != "0")
