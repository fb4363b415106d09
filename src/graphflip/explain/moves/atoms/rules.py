"""AbstractRules: what a schema lets moves do to nodes and edges, and what must follow from a change."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from ..attributes import Attributes
from ..connectivity import bridges, partners
from ..sketch import Sketch


class AbstractRules(ABC):
    """Rules for the nodes of a kind of graphs."""

    @abstractmethod
    def heavy(self, sketch: Sketch) -> list[int]:
        """Nodes that moves change: all but hydrogens that fill valences."""

    @abstractmethod
    def is_hydrogen(self, sketch: Sketch, i: int) -> bool:
        """True if a node is an explicit hydrogen with one bond, to a heavy atom, whose valence it fills."""

    @abstractmethod
    def order(self, edge: Attributes) -> int:
        """Amount of room that an edge takes at its ends."""

    @abstractmethod
    def limit(self, node: Attributes) -> int:
        """Largest sum of the orders of the edges of a node that keeps its attributes."""

    @abstractmethod
    def room(self, sketch: Sketch, i: int) -> int:
        """Sum of the orders of further edges that a node may get."""

    def partners(self, sketch: Sketch, nodes: Sequence[int]) -> Mapping[int, Sequence[int]]:
        """Nodes that each of the nodes may be joined with by a new edge."""
        return partners(sketch, nodes)

    @abstractmethod
    def alternatives(self, sketch: Sketch, i: int, room: int) -> Iterable[Attributes]:
        """Attributes that a move may give a node instead of its own; `room` is that of the node."""

    @abstractmethod
    def fresh(self, known: Iterable[Attributes]) -> list[Attributes]:
        """Attributes that a new node may have; those of `known` if there are too many to list."""

    @abstractmethod
    def as_new(self, node: Attributes, sketch: Sketch, i: int) -> Attributes | None:
        """Attributes of a new node that is like node i of a sketch, `node`; None if none may be created."""

    @abstractmethod
    def bare(self, node: Attributes) -> Attributes:
        """The attributes without what follows from the node's surroundings."""

    @property
    def counts_hydrogens(self) -> bool:
        """True if hydrogens that fill valences are nodes."""
        return False

    def hydrogens_gained(self, sketch: Sketch, i: int, node: Attributes, orders: int = 0, bonds: int = 0) -> int | None:
        """Explicit hydrogens that `settle` will give a node; None if that depends on more than the node itself.

        Args:
            sketch: Sketch before the change.
            i: Number of the node.
            node: Attributes that it will have.
            orders: Orders of the edges to other nodes than hydrogens that it will have more.
            bonds: Number of such edges that it will have more.
        """
        return 0

    @abstractmethod
    def settle(self, before: Sketch, after: Sketch, changed: set[int], factual: Sketch) -> bool:
        """Make what follows from a change, in place: hydrogens, or charges.

        Args:
            before: Sketch before the change.
            after: Changed copy of it.
            changed: Heavy nodes that were changed, added or removed.
            factual: Sketch that the search started from.

        Returns:
            False if the graph cannot be made valid, or if the sum of charges moves away from zero.
        """


class AbstractMoleculeRules(AbstractRules):
    """Rules for molecules: nodes are atoms, edges are bonds."""

    @abstractmethod
    def symbol(self, atom: Attributes) -> str:
        """Symbol of the element of an atom."""

    @abstractmethod
    def charges(self, sketch: Sketch) -> Mapping[int, int]:
        """Formal charges of the atoms that have one."""

    def partners(self, sketch: Sketch, nodes: Sequence[int]) -> Mapping[int, Sequence[int]]:
        """Atoms with which a bond closes a ring of three with a heteroatom; larger rings change as a whole."""
        inside, single = set(nodes), bridges(sketch)
        near = {
            i: [(k, j) for k in sketch.near[i] for j in sketch.near[k] if {k, j} <= inside and j != i] for i in nodes
        }
        # Across a ring, a bond would make a cage.
        ways = {i: [(k, j) for k, j in pairs if (i, k) in single or (k, j) in single] for i, pairs in near.items()}
        return {i: [j for k, j in pairs if self._has_hetero(sketch, (i, k, j))] for i, pairs in ways.items()}

    def _has_hetero(self, sketch: Sketch, atoms: Iterable[int]) -> bool:
        return any(self.symbol(sketch.nodes[i]) != "C" for i in atoms)
