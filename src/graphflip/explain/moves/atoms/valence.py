"""Valence: the rules that keep a changed molecule valid, and the hydrogens that a change adds or removes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from ....chemistry import Chemistry
from ....schema import Schema
from ..attributes import Attributes, attribute_choices, fresh_attributes, other_attributes
from ..sketch import Sketch
from .filling import Census, Filling
from .lookups import Lookups
from .orders import BondOrders, column_index
from .rules import AbstractMoleculeRules
from .shells import Shells


@dataclass(frozen=True)
class Valence(AbstractMoleculeRules):
    """The valence and charge rules of a schema, applied to sketches.

    Only atoms that a change reaches are checked: unusual valences elsewhere in the factual stay as they are.

    Args:
        schema: Schema of the molecules.
        chemistry: Its chemistry: allowed valences and charges, and the treatment of hydrogens.
    """

    schema: Schema
    chemistry: Chemistry

    @cached_property
    def _types(self) -> tuple[int, int]:
        """Index of the type among the attributes of nodes and among those of edges."""
        return column_index(self.schema.nodes, "type"), column_index(self.schema.edges, "type")

    @cached_property
    def _hydrogen(self) -> tuple[Attributes, Attributes] | None:
        """Attributes of a hydrogen and of its bond; None if hydrogens are not nodes."""
        if not self.chemistry.explicit_hydrogens:
            return None
        nodes = [node for node in attribute_choices(self.schema.nodes) if node[self._types[0]] == "H"]
        bonds = [bond for bond in attribute_choices(self.schema.edges) if bond[self._types[1]] == "single"]
        return (nodes[0], bonds[0]) if nodes and bonds else None

    @cached_property
    def _orders(self) -> BondOrders:
        return BondOrders(self._types[1])

    def symbol(self, atom: Attributes) -> str:
        """Symbol of the element of an atom."""
        return str(atom[self._types[0]])

    def order(self, bond: Attributes) -> int:
        return self._orders[bond]

    def is_hydrogen(self, sketch: Sketch, i: int) -> bool:
        nodes, at = sketch.nodes, self._types[0]
        if nodes[i][at] != "H" or self._hydrogen is None or len(sketch.near[i]) != 1:
            return False
        (j,) = sketch.near[i]
        return nodes[j][at] != "H"

    def heavy(self, sketch: Sketch) -> list[int]:
        return [i for i in sketch.nodes if not self.is_hydrogen(sketch, i)]

    def room(self, sketch: Sketch, i: int) -> int:
        # Hydrogens can be removed.
        taken = sum(self.order(bond) for j, bond in sketch.near[i].items() if not self.is_hydrogen(sketch, j))
        return self.limit(sketch.nodes[i]) - taken

    def limit(self, node: Attributes) -> int:
        return self.chemistry.max_valence(self.symbol(node))

    def alternatives(self, sketch: Sketch, i: int, room: int) -> tuple[Attributes, ...]:
        return self._alternatives[sketch.nodes[i], room]

    @cached_property
    def _alternatives(self) -> Lookups[tuple[Attributes, ...]]:
        return Lookups(self._alternatives_of)

    def _alternatives_of(self, was: Attributes, room: int) -> tuple[Attributes, ...]:
        """Attributes that an atom with these may have instead."""
        others = (other for other in other_attributes(was, self.schema.nodes) if self.symbol(other) != "H")
        return tuple(other for other in others if room + self.limit(other) - self.limit(was) >= 0)

    def fresh(self, known: Iterable[Attributes]) -> list[Attributes]:
        return [node for node in fresh_attributes(self.schema.nodes, known) if "H" not in node]

    def as_new(self, node: Attributes, sketch: Sketch, i: int) -> Attributes | None:
        return node

    def bare(self, node: Attributes) -> Attributes:
        return node

    def charges(self, sketch: Sketch) -> dict[int, int]:
        if sketch.charges is None:
            sketch.charges = self._charges(sketch, sketch.nodes)
        return sketch.charges

    def net_charge(self, sketch: Sketch) -> int:
        """Sum of the charges of all atoms."""
        return sum(self._charges(sketch, sketch.nodes).values())

    def _charges(self, sketch: Sketch, atoms: Iterable[int]) -> dict[int, int]:
        """Formal charges of those atoms that can have one."""
        nodes, neutral = sketch.nodes, self._neutral
        charged = (i for i in atoms if i in nodes and nodes[i] not in neutral)
        return {i: self._shells.charge(*self._surroundings(sketch, i)) for i in charged}

    @cached_property
    def _neutral(self) -> set[Attributes]:
        """Attributes of atoms that have no formal charge, whatever their bonds."""
        cases = [(v, d, beside) for v in range(9) for d in range(9) for beside in (False, True)]
        atoms = attribute_choices(self.schema.nodes)
        return {atom for atom in atoms if not any(self._shells.charge(self.symbol(atom), *case) for case in cases)}

    @property
    def counts_hydrogens(self) -> bool:
        return self._hydrogen is not None

    def hydrogens_gained(self, sketch: Sketch, i: int, node: Attributes, orders: int = 0, bonds: int = 0) -> int | None:
        if self._filling is None:
            return 0
        census = self._census(sketch)
        atom = self._filling.known(sketch, census, i)
        if atom.is_cation or self._filling.is_beside(sketch, census, i):
            return None
        symbol, valence = self.symbol(node), atom.valence + orders
        wanted = self._shells.wanted(symbol, valence, atom.degree + bonds, False)
        if wanted is None or (symbol == "N" and valence + wanted == 4):
            return None
        return wanted - len(atom.hydrogens)

    def _census(self, sketch: Sketch) -> Census:
        """Atoms of a sketch that is not changed any more, at a glance; kept with it."""
        if sketch.census is None:
            charges = {i: charge for i, charge in self.charges(sketch).items() if charge}
            cations = frozenset(i for i in sketch.nodes if self._is_cation(sketch, i))
            sketch.census = Census(cations, charges, sum(charges.values()))
        return sketch.census

    @cached_property
    def _filling(self) -> Filling | None:
        """Fills valences by numbers of bonds alone, where that is enough; None if hydrogens are not nodes."""
        if self._hydrogen is None:
            return None
        return Filling(self._shells, self._orders, self._types[0], *self._hydrogen)

    def settle(self, before: Sketch, after: Sketch, changed: set[int], factual: Sketch) -> bool:
        if self._filling is not None:
            filled = self._filling.of(before, self._census(before), after, changed)
            if isinstance(filled, list):
                self._filling.write(after, filled)
            if filled is not None:
                return filled is not False
        return self._settle_by_turns(before, after, changed)

    def _settle_by_turns(self, before: Sketch, after: Sketch, changed: set[int]) -> bool:
        """Fill one atom after the other, in place, and look at what has become of its neighbors; as `settle`."""
        touched = changed | after.touched
        others_are_hydrogens = all(self._fills_well(after, i) for i in after.touched - changed if i in after.nodes)
        atoms = sorted((i for i in changed if i in after.nodes), key=lambda i: self._fills_first(after, i))
        # In a graph that is no molecule a changed atom may be a hydrogen which filling another one has removed.
        if not all(self._fill(after, i) for i in atoms if i in after.nodes):
            return False
        atoms = [i for i in atoms if i in after.nodes]
        if others_are_hydrogens and not self._has_cation(before, touched) and not self._has_cation(after, touched):
            # Neighbors stay filled: an atom depends on its own bonds, and on nitrogens with four bonds beside it.
            return all(self._filled(after, i) for i in atoms) and self._charge_is_kept(before, after, touched)
        return self._settle_neighbors(before, after, changed, atoms)

    def _settle_neighbors(self, before: Sketch, after: Sketch, changed: set[int], atoms: list[int]) -> bool:
        """Also fill neighbors of the atoms whose valence was filled before and is not any more; returns as `settle`."""
        near = {j for i in atoms for j in after.near[i]} - set(atoms)
        spoiled = [j for j in near if not self._filled(after, j) and (j not in before.nodes or self._filled(before, j))]
        if not all(self._fill(after, j) for j in spoiled if j in after.nodes) or not all(
            self._filled(after, i) for i in [*atoms, *spoiled] if i in after.nodes
        ):
            return False
        region = {*changed, *near}
        region |= {j for i in region if i in before.nodes for j in before.near[i]}
        region |= {j for i in region if i in after.nodes for j in after.near[i]}
        return self._charge_is_kept(before, after, region)

    def _fills_well(self, sketch: Sketch, i: int) -> bool:
        """True if a node is a hydrogen with one single bond, to a heavy atom."""
        return self.is_hydrogen(sketch, i) and self._filled(sketch, i)

    def _fills_first(self, sketch: Sketch, i: int) -> tuple[bool, int]:
        """Sort key of the atoms to fill: nitrogens without room first, as their charge decides about neighbors."""
        return self.symbol(sketch.nodes[i]) != "N" or self.room(sketch, i) > 0, i

    def _charge_is_kept(self, before: Sketch, after: Sketch, region: set[int]) -> bool:
        """True if the sum of charges does not move away from zero; they change in the region only."""
        charges = self.charges(before)
        was = sum(charges.get(i, 0) for i in region)
        now = sum(self._charges(after, region).values())
        if was == now:
            return True
        total = sum(charges.values())
        return abs(total - was + now) <= abs(total)

    def _has_cation(self, sketch: Sketch, atoms: set[int]) -> bool:
        """True if one of the atoms is a nitrogen with four bonds."""
        nodes, at = sketch.nodes, self._types[0]
        return any(i in nodes and nodes[i][at] == "N" and self._is_cation(sketch, i) for i in atoms)

    def _is_cation(self, sketch: Sketch, i: int) -> bool:
        """True if a node is a nitrogen with four bonds."""
        if i not in sketch.nodes or self.symbol(sketch.nodes[i]) != "N":
            return False
        return sum(map(self._orders.__getitem__, sketch.near[i].values())) == 4

    def _surroundings(self, sketch: Sketch, i: int) -> tuple[str, int, int, bool]:
        """Element, sum of bond orders, number of bonds, and True if a neighbor is a nitrogen with four bonds."""
        near, nodes, orders, at = sketch.near[i], sketch.nodes, self._orders, self._types[0]
        valence, beside = 0, False
        for j, bond in near.items():
            valence += orders[bond]
            if nodes[j][at] == "N" and self._is_cation(sketch, j):
                beside = True
        return str(nodes[i][at]), valence, len(near), beside

    @cached_property
    def _shells(self) -> Shells:
        return Shells(self.chemistry)

    def _filled(self, sketch: Sketch, i: int) -> bool:
        """True if an atom's valence is allowed; with implicit hydrogens, if it is not above the largest."""
        symbol, valence, degree, beside = self._surroundings(sketch, i)
        if self._hydrogen is None:
            return valence <= self.chemistry.max_valence(symbol)
        return self._shells.is_filled(symbol, valence, degree, beside)

    def _fill(self, sketch: Sketch, i: int) -> bool:
        """Give an atom the hydrogens that it needs, in place; False if no number of them fills its valence.

        It gets the fewest that leave it without a positive charge, or the fewest of all if none does.
        """
        if self._hydrogen is None:
            return self._filled(sketch, i)
        nodes, at = sketch.nodes, self._types[0]
        hydrogens = [j for j in sketch.near[i] if nodes[j][at] == "H" and self.is_hydrogen(sketch, j)]
        symbol, valence, degree, beside = self._surroundings(sketch, i)
        wanted = self._shells.wanted(symbol, valence - len(hydrogens), degree - len(hydrogens), beside)
        if wanted is None:
            return False
        for j in hydrogens[wanted:]:
            sketch.remove(j)
        hydrogen, bond = self._hydrogen
        for _ in range(wanted - len(hydrogens)):
            sketch.join(i, sketch.add(hydrogen), bond)
        return True
