"""Alignment: slots for the new nodes of a sketch, so that few edits lead to it from the factual."""

from itertools import chain, islice
from typing import TypeVar

from .sketch import Sketch

Value = TypeVar("Value")


def align(factual: Sketch, sketch: Sketch, max_nodes: int) -> Sketch | None:
    """Give the new nodes of a sketch slots; None if there are not enough.

    A new node takes the slot of a removed neighbor of the node that it is joined to: a hydrogen that is replaced by
    chlorine is then one changed attribute. Other new nodes take the first free slots.
    """
    new = [i for i in sketch.nodes if i < 0]
    if not new:
        return sketch
    if len(sketch.nodes) > max_nodes:
        return None
    slot = _inherited_slots(factual, sketch, new)
    rest = sorted((i for i in new if i not in slot), reverse=True)
    if rest:
        used = sketch.nodes.keys() | slot.values()
        fresh = (k for k in range(max_nodes) if k not in used and k not in factual.nodes)
        left = (k for k in range(max_nodes) if k not in used and k in factual.nodes)
        slot |= zip(rest, islice(chain(fresh, left), len(rest)), strict=True)
    return renumber(sketch, slot)


def renumber(sketch: Sketch, slot: dict[int, int]) -> Sketch:
    """The same graph, where each node i of `slot` has the number `slot[i]`."""
    beside = {j for i in slot for j in sketch.around(i)}
    nodes, near = _renamed(sketch.nodes, slot), _renamed(sketch.near, slot)
    for i in {slot.get(i, i) for i in (*slot, *beside)}:
        near[i] = {slot.get(j, j): attributes for j, attributes in near[i].items()}
    touched = {slot.get(i, i) for i in sketch.touched}
    return Sketch(nodes, near, sketch.directed, touched)


def _inherited_slots(factual: Sketch, sketch: Sketch, new: list[int]) -> dict[int, int]:
    """Slots of removed nodes for new ones, outward from the nodes that both sketches have."""
    slot: dict[int, int] = {}
    taken: set[int] = set()
    beside = {j for i in new for j in sketch.around(i) if j >= 0 and j in factual.nodes}
    todo = [(i, i) for i in sketch.nodes if i in beside]
    while todo:
        here, there = todo.pop(0)
        missing = [k for k in factual.around(there) if k not in sketch.nodes and k not in taken]
        fresh = [j for j in sketch.around(here) if j < 0 and j not in slot] if missing else []
        for _, _, j, k in sorted([_misfit(sketch, here, j, factual, there, k) for j in fresh for k in missing]):
            if j not in slot and k not in taken:
                slot[j] = k
                taken.add(k)
                todo.append((j, k))
    return slot


def _misfit(sketch: Sketch, here: int, j: int, factual: Sketch, there: int, k: int) -> tuple[int, int, int, int]:
    """Sort key of new node j in the slot of node k of the factual: attributes that differ, then the age of j."""
    edge = sketch.near[here].get(j) != factual.near[there].get(k)
    return int(edge) + int(sketch.nodes[j] != factual.nodes[k]), -j, j, k


def _renamed(table: dict[int, Value], slot: dict[int, int]) -> dict[int, Value]:
    """The same values under other keys, in the same order."""
    tail = list(islice(reversed(table), len(slot)))
    if slot.keys() != set(tail) or not table.keys().isdisjoint(slot.values()):
        return {slot.get(i, i): value for i, value in table.items()}
    # New nodes come last and take numbers that are free, so only the end of the table has to be written anew.
    renamed = table.copy()
    for i in reversed(tail):
        renamed[slot[i]] = renamed.pop(i)
    return renamed
