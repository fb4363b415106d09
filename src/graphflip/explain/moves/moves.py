"""Moves: every valid single step from one hard graph to another, by the rules of its schema or of chemistry."""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ...edits import Edit
from ...errors import SchemaError
from ...graph import Graph
from ...jsongraph import single_hard
from ...schema import Schema
from .alignment import align
from .atoms.forecast import Forecast
from .atoms.rules import AbstractRules
from .attributes import has_many_choices
from .difference import Difference
from .draft import Draft, Family, MoveKind
from .drafts import Drafts, Vocabulary
from .fragments import Fragment, FragmentVocabulary
from .sketch import Bond, Sketch


@dataclass(frozen=True)
class Move:
    """A valid step from one graph to another.

    Args:
        kind: Kind of the move, such as "change node".
        after: The graph after the move.
        edits: Edits that lead there.
    """

    kind: MoveKind
    after: Sketch
    edits: list[Edit]


Step = tuple[MoveKind, Sketch]
"""A kind of move, and the graph after it."""


@dataclass(frozen=True)
class Moves:
    """Valid moves of the graphs of a schema.

    A move changes an attribute of a node or an edge; adds an edge, in graphs of more than 41 nodes only between nodes
    that are near each other; removes an edge of a ring; or removes, adds or replaces a group of nodes that is attached
    by one edge. It never splits a graph. In molecules every atom that a move reaches has its valence filled afterwards:
    hydrogens are added or removed if they are nodes, and stored charges follow. The sum of formal charges does not move
    away from zero.

    Args:
        schema: Schema of the graphs; its `chemistry` turns on the rules for molecules.
        vocabulary: Groups of nodes to add, besides single nodes. The default has none.
        bonds: Attributes of two neighbors and of the edge between them that moves may create, hydrogens aside, as
            `EnvironmentCounts.bonds` lists them; None allows all.

    Raises:
        SchemaError: If the schema is directed and the vocabulary has groups of several nodes.

    Example:
        >>> from graphflip.data import from_smiles
        >>> from graphflip.data.molecules.molecule import molecule_schema
        >>> schema = molecule_schema(("C", "O"), max_nodes=2, explicit_hydrogens=False)
        >>> moves = Moves(schema).valid(from_smiles("CO", schema))
        >>> sorted({move.kind for move in moves})
        ['change edge', 'change node', 'remove group', 'replace group']
        >>> moves[0].edits
        [Edit(op='set_node', at=(0,), before={'type': 'C'}, after={'type': 'O'})]
    """

    schema: Schema
    vocabulary: FragmentVocabulary = field(default_factory=FragmentVocabulary)
    bonds: frozenset[Bond] | None = None

    def __post_init__(self) -> None:
        if self.schema.directed and self.vocabulary.max_nodes > 1:
            raise SchemaError("Groups are for undirected graphs; this schema is directed. Leave the vocabulary out.")

    def __getstate__(self) -> dict[str, object]:
        """Moves that are copied, or sent to another process, leave behind what was looked up."""
        return {name: value for name, value in self.__dict__.items() if name in self.__dataclass_fields__}

    def valid(self, graph: Graph) -> list[Move]:
        """List the moves of a graph, each once.

        Args:
            graph: One hard graph of the schema.

        Returns:
            The moves, with the edits that each makes.

        Raises:
            GraphError: If there are several graphs, or the graph is relaxed.
        """
        before = Sketch.of(single_hard(graph))
        moves: dict[tuple[Edit, ...], Move] = {}
        for kind, after in self.steps(before, before):
            edits = Difference.between(before, after).edits(self.schema)
            if edits:
                moves.setdefault(tuple(edits), Move(kind, after, edits))
        return list(moves.values())

    def steps(
        self,
        state: Sketch,
        factual: Sketch,
        admits: Callable[[Sketch, Sketch], bool] = lambda before, after: True,
        largest: int | None = None,
        branches: float = 0.0,
    ) -> Iterator[Step]:
        """Yield every admitted move of a state.

        Two ways to the same graph are two steps, and a group replaced by an equal one is a step that changes nothing.

        Args:
            state: Sketch to start from.
            factual: Sketch of the factual: new nodes take slots such that few edits lead there from it.
            admits: Filter, called with the state and a draft of the result, whose new nodes have negative numbers.
            largest: Nodes of the largest group to add, hydrogens not counted; None for any.
            branches: Share of the heavy nodes that a branch may have which is removed; small groups always may go.

        Returns:
            Iterator over kinds of move and the sketches after them.
        """
        for draft in self.drafts(state, factual, largest, branches):
            after = self.made(state, draft, factual, admits)
            if after is not None:
                yield draft.kind, after

    def drafts(
        self, state: Sketch, factual: Sketch, largest: int | None = None, branches: float = 0.0
    ) -> Iterator[Draft]:
        """Yield every move of a state without making it; `settled` finishes what a draft builds.

        Arguments are those of `steps`.
        """
        for family in self.families(state, factual, largest, branches):
            yield from family.drafts()

    def families(
        self, state: Sketch, factual: Sketch, largest: int | None = None, branches: float = 0.0
    ) -> Iterator[Family]:
        """Yield the moves of a state without making them, those together that differ only in what they bring.

        Arguments are those of `steps`.
        """
        return self._drafts.of(state, self._groups(factual, largest), branches)

    def fragments(self, factual: Sketch, largest: int | None = None) -> list[Fragment]:
        """Groups of up to `largest` nodes that may be added, single nodes included; None for any."""
        return self._groups(factual, largest).fragments

    def made(
        self,
        state: Sketch,
        draft: Draft,
        factual: Sketch,
        admits: Callable[[Sketch, Sketch], bool] = lambda before, after: True,
    ) -> Sketch | None:
        """Make a move of a state; None if the result is not valid or not admitted. Arguments are those of `steps`."""
        built = draft.build()
        return None if built is None else self.settled(state, *built, factual, admits)

    def settled(
        self,
        before: Sketch,
        draft: Sketch,
        changed: set[int],
        factual: Sketch,
        admits: Callable[[Sketch, Sketch], bool] = lambda before, after: True,
    ) -> Sketch | None:
        """Fill in the hydrogens or charges of a draft, in place, and give its new nodes slots.

        Args:
            before: Sketch that the draft was made from.
            draft: Sketch after a change.
            changed: Heavy nodes that were changed, added or removed.
            factual: Sketch of the factual, for the choice of slots.
            admits: Filter, called with `before` and the filled draft.

        Returns:
            The finished sketch; None if it is not valid or not admitted.
        """
        if not draft.nodes or not self.rules.settle(before, draft, changed, factual):
            return None
        return align(factual, draft, self.schema.max_nodes) if admits(before, draft) else None

    def has_larger(self, largest: int) -> bool:
        """True if the vocabulary has groups of more than `largest` nodes."""
        return any(len(fragment.nodes) > largest for fragment in self.vocabulary.fragments)

    def heavy(self, sketch: Sketch) -> list[int]:
        """Nodes that moves change: all but hydrogens that fill valences."""
        return self.rules.heavy(sketch)

    def strip_hydrogens(self, draft: Sketch, i: int, keep: Container[int] = ()) -> None:
        """Remove the hydrogens that fill a node's valence, in place.

        Args:
            draft: Sketch to change.
            i: Number of the node.
            keep: Hydrogens to keep.
        """
        self._drafts.strip_hydrogens(draft, i, keep)

    @property
    def rules(self) -> AbstractRules:
        """Rules of the schema for nodes and edges."""
        return self._drafts.rules

    @cached_property
    def forecast(self) -> Forecast:
        """Nodes and edges that moves add, known before they are made."""
        return Forecast(self.schema, self.rules)

    @cached_property
    def _drafts(self) -> Drafts:
        return Drafts(self.schema, self.vocabulary.max_nodes, self.bonds)

    def _groups(self, factual: Sketch, largest: int | None) -> Vocabulary:
        """Groups that may be added, single nodes included."""
        if not self._has_usual_groups:
            return _no_larger(self._with_single_nodes(factual), largest)
        if largest not in self._usual_groups:
            self._usual_groups[largest] = _no_larger(self._with_single_nodes(Sketch({}, {})), largest)
        return self._usual_groups[largest]

    @cached_property
    def _has_usual_groups(self) -> bool:
        """True if the same groups may be added to all graphs, and nodes have few different attributes."""
        schema = self.schema
        return not (schema.has_continuous or has_many_choices(schema.nodes) or has_many_choices(schema.edges))

    @cached_property
    def _usual_groups(self) -> dict[int | None, Vocabulary]:
        return {}

    def _with_single_nodes(self, like: Sketch) -> list[Fragment]:
        """Groups of the vocabulary, and single nodes as in `FragmentVocabulary.of_single_nodes`, each once."""
        single = FragmentVocabulary.of_single_nodes(self.schema, like).fragments
        fragments = (*self.vocabulary.fragments, *single)
        return list({(fragment.nodes, fragment.edges, fragment.link): fragment for fragment in fragments}.values())


def _no_larger(fragments: list[Fragment], largest: int | None) -> Vocabulary:
    return Vocabulary([fragment for fragment in fragments if largest is None or len(fragment.nodes) <= largest])
