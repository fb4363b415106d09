"""StoredCharges: atoms that have their charge as an attribute, and hydrogens that follow from it and from bonds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from ....chemistry import HYPERVALENT, Chemistry
from ....schema import Schema
from ..attributes import Attributes, fresh_attributes, other_attributes
from ..sketch import Ions, Sketch
from .orders import BondOrders, column_index
from .rules import AbstractMoleculeRules

# Room of an atom that nothing may be joined to.
_NONE = -99


class _Atom(NamedTuple):
    """An atom by its attributes.

    Args:
        symbol: Its element.
        charge: Its formal charge.
        fixed: True if the element has no known valences ("other"): such an atom is removed whole or left alone.
        reach: Largest sum of bond orders, its charge adapted; `_NONE` if it is fixed.
    """

    symbol: str
    charge: int
    fixed: bool
    reach: int


@dataclass(frozen=True)
class StoredCharges(AbstractMoleculeRules):
    """The rules for charges, applied to sketches.

    An atom that has the charge of the charge rule ("natural") has it after every change: nitrogen is N+ with a fourth
    bond, and N without it. Another charge was meant so (an ammonium, a carboxylate) and stays while the bonds allow it.

    Args:
        schema: Schema of the molecules.
        chemistry: Its chemistry, with stored charges.
    """

    schema: Schema
    chemistry: Chemistry

    def symbol(self, atom: Attributes) -> str:
        return self._atoms[atom].symbol

    def charges(self, sketch: Sketch) -> dict[int, int]:
        charges = {i: self._atoms[node].charge for i, node in sketch.nodes.items()}
        return {i: charge for i, charge in charges.items() if charge}

    def heavy(self, sketch: Sketch) -> list[int]:
        return list(sketch.nodes)

    def is_hydrogen(self, sketch: Sketch, i: int) -> bool:
        return False

    def order(self, edge: Attributes) -> int:
        return self._orders[edge]

    def limit(self, node: Attributes) -> int:
        atom = self._atoms[node]
        return max(self.chemistry.ion_valences(atom.symbol, atom.charge), default=_NONE)

    def room(self, sketch: Sketch, i: int) -> int:
        return self._atoms[sketch.nodes[i]].reach - self._taken(sketch, i)

    def alternatives(self, sketch: Sketch, i: int, room: int) -> Iterator[Attributes]:
        atom = self._atoms[sketch.nodes[i]]
        if atom.fixed:
            return
        taken = atom.reach - room
        yield from (other for other in self._others(sketch.nodes[i]) if taken <= self._atoms[other].reach)
        if i in self._ions(sketch).meant:
            natural = self._recharged(sketch.nodes[i], self._natural(sketch, i))
            yield from () if natural is None else (natural,)

    def fresh(self, known: Iterable[Attributes]) -> list[Attributes]:
        plain = dict.fromkeys(map(self.bare, fresh_attributes(self.schema.nodes, known)))
        return [node for node in plain if not self._atoms[node].fixed]

    def as_new(self, node: Attributes, sketch: Sketch, i: int) -> Attributes | None:
        if self._atoms[node].fixed:
            return None
        return node if i in self._ions(sketch).meant else self.bare(node)

    def bare(self, node: Attributes) -> Attributes:
        return self._recharged(node, 0) or node

    def settle(self, before: Sketch, after: Sketch, changed: set[int], factual: Sketch) -> bool:
        touched, atoms, nodes = changed | after.touched, self._atoms, before.nodes
        shift = -sum(atoms[nodes[i]].charge for i in touched if i in nodes and i not in after.nodes)
        charged: list[int] = []
        for i in self._reached(before, after, touched):
            charge = self._settled_charge(before, after, i, factual)
            if charge is None or not self._recharge(after, i, charge):
                return False
            if charge:
                charged.append(i)
            shift += charge - (atoms[nodes[i]].charge if i in nodes else 0)
        if shift and not self._is_balanced(self._ions(before).total + shift, factual):
            return False
        return self._fixed_stay(before, after, factual) and not any(self._is_oxide(after, i) for i in charged)

    def _is_balanced(self, total: int, factual: Sketch) -> bool:
        """True if a sum of charges is that of the factual, or nearer to zero."""
        start = self._ions(factual).total
        return min(start, 0) <= total <= max(start, 0)

    def _reached(self, before: Sketch, after: Sketch, touched: set[int]) -> set[int]:
        """Atoms whose natural charge may be another: the touched ones, and neighbors of a nitrogen that has got or
        lost its fourth bond."""
        reached = touched & after.nodes.keys()
        for i in touched:
            if self._is_cation(before, i) != self._is_cation(after, i):
                beside = (*before.near.get(i, ()), *after.near.get(i, ()))
                reached.update(j for j in beside if j in after.nodes)
        return reached

    def _recharge(self, sketch: Sketch, i: int, charge: int) -> bool:
        """Give an atom a charge, in place; False if the schema does not have it."""
        node = sketch.nodes[i]
        if charge != self._atoms[node].charge:
            recharged = self._recharged(node, charge)
            if recharged is None:
                return False
            sketch.set_node(i, recharged)
        return True

    def _settled_charge(self, before: Sketch, after: Sketch, i: int, factual: Sketch) -> int | None:
        """Charge of an atom after a change; None if its bonds fit none."""
        node = after.nodes[i]
        symbol, charge, fixed, _ = self._atoms[node]
        if fixed:
            return charge
        around = self._surroundings(after, i)
        meant = self._is_meant(before, node, i, factual) and self._hydrogens(symbol, charge, around[1]) is not None
        charge = charge if meant else self._rule(*around)
        return None if self._hydrogens(symbol, charge, around[1]) is None else charge

    def _is_meant(self, before: Sketch, node: Attributes, i: int, factual: Sketch) -> bool:
        """True if an atom had another charge than the natural one; of a new atom, or a new element, if it has one."""
        if factual.nodes.get(i) == node:
            return i in self._ions(factual).meant
        was = before.nodes.get(i)
        if was is None or self._atoms[was].symbol != self._atoms[node].symbol:
            return self._atoms[node].charge != 0
        return i in self._ions(before).meant

    def _fixed_stay(self, before: Sketch, after: Sketch, factual: Sketch) -> bool:
        """True if fixed atoms are gone, or have the bonds and neighbors that they had."""
        suspects = [i for i in after.touched if i in after.nodes and self._atoms[after.nodes[i]].fixed]
        suspects += [i for i in self._ions(before).fixed if i in after.nodes]
        return all(_same_place(after, before, i) or _same_place(after, factual, i) for i in suspects)

    def _is_oxide(self, sketch: Sketch, i: int) -> bool:
        """True if an atom is a part of S(+)-O(-) or the like, which is read as S=O."""
        pairs = ((i, j) if self._atoms[sketch.nodes[i]].charge > 0 else (j, i) for j in sketch.near[i])
        return any(
            self._atoms[sketch.nodes[center]].symbol in HYPERVALENT
            and self._atoms[sketch.nodes[center]].charge > 0
            and self._atoms[sketch.nodes[end]][:2] == ("O", -1)
            for center, end in pairs
        )

    def _ions(self, sketch: Sketch) -> Ions:
        """Charges of a sketch at a glance, kept with it."""
        if sketch.ions is None:
            atoms = {i: self._atoms[node] for i, node in sketch.nodes.items()}
            fixed = frozenset(i for i, atom in atoms.items() if atom.fixed)
            meant = (i for i, atom in atoms.items() if not atom.fixed and atom.charge != self._natural(sketch, i))
            sketch.ions = Ions(sum(atom.charge for atom in atoms.values()), frozenset(meant), fixed)
        return sketch.ions

    def _natural(self, sketch: Sketch, i: int) -> int:
        return self._rule(*self._surroundings(sketch, i))

    def _surroundings(self, sketch: Sketch, i: int) -> tuple[str, int, int, bool]:
        """Element, sum of bond orders, number of bonds, and True if a neighbor is a nitrogen with four bonds."""
        near, nodes, orders, at = sketch.near[i], sketch.nodes, self._orders, self._element
        valence, beside = 0, False
        for j, bond in near.items():
            valence += orders[bond]
            if nodes[j][at] == "N" and self._taken(sketch, j) == 4:
                beside = True
        return str(nodes[i][at]), valence, len(near), beside

    def _is_cation(self, sketch: Sketch, i: int) -> bool:
        """True if a node is a nitrogen with four bonds."""
        node = sketch.nodes.get(i)
        return node is not None and node[self._element] == "N" and self._taken(sketch, i) == 4

    def _taken(self, sketch: Sketch, i: int) -> int:
        """Sum of the orders of an atom's bonds."""
        return sum(map(self._orders.__getitem__, sketch.near[i].values()))

    @cached_property
    def _element(self) -> int:
        """Index of the element among the attributes."""
        return column_index(self.schema.nodes, "type")

    @cached_property
    def _orders(self) -> BondOrders:
        return BondOrders(column_index(self.schema.edges, "type"))

    @cached_property
    def _atoms(self) -> "_Atoms":
        return _Atoms(self._element, column_index(self.schema.nodes, "charge"), self.chemistry)

    @cached_property
    def _others(self):
        @cache
        def others(node: Attributes) -> list[Attributes]:
            """Attributes with another element, neutral at first, or with another attribute that is no charge."""
            changed = [other for other in other_attributes(node, self.schema.nodes) if other[charge] == node[charge]]
            changed = [other if other[element] == node[element] else self.bare(other) for other in changed]
            return [other for other in changed if not self._atoms[other].fixed]

        element, charge = self._element, self._atoms.charge
        return others

    @cached_property
    def _recharged(self):
        @cache
        def recharged(node: Attributes, charge: int) -> Attributes | None:
            """The attributes with this charge; None if the schema does not have it."""
            text = texts.get(charge)
            return None if text is None else (*node[:at], text, *node[at + 1 :])

        at = self._atoms.charge
        texts = {int(text): text for text in self.schema.nodes[at].values}
        return recharged

    @cached_property
    def _rule(self):
        return cache(self.chemistry.formal_charge)

    @cached_property
    def _hydrogens(self):
        return cache(self.chemistry.num_hydrogens)


class _Atoms(dict[Attributes, _Atom]):
    """Atoms by their attributes; `element` and `charge` are the indices of both among these."""

    def __init__(self, element: int, charge: int, chemistry: Chemistry):
        super().__init__()
        self.element, self.charge, self.chemistry = element, charge, chemistry

    def __missing__(self, node: Attributes) -> _Atom:
        symbol, charge = str(node[self.element]), int(node[self.charge])
        fixed = not self.chemistry.ion_valences(symbol, 0)
        valences = self.chemistry.ion_valences(symbol, charge)
        reach = _NONE if fixed else max(self.chemistry.max_valence(symbol), *valences, 0)
        atom = self[node] = _Atom(symbol, charge, fixed, reach)
        return atom


def _same_place(after: Sketch, before: Sketch, i: int) -> bool:
    """True if a node has the same attributes, edges and neighbors in both sketches."""
    nodes, near = after.nodes, after.near[i]
    same = before.nodes.get(i) == nodes[i] and before.near[i] == near
    return same and all(before.nodes[j] == nodes[j] for j in near)
