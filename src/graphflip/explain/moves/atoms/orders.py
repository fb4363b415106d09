"""Orders of bonds by their attributes."""

from ....chemistry import BOND_ORDERS
from ....schema import Column
from ..attributes import Attributes


class BondOrders(dict[Attributes, int]):
    """Order of each bond, computed when it is first asked for.

    Args:
        at: Index of the type among the attributes of a bond.
    """

    def __init__(self, at: int):
        super().__init__()
        self.at = at

    def __missing__(self, bond: Attributes) -> int:
        order = self[bond] = BOND_ORDERS[str(bond[self.at])]
        return order


def column_index(columns: tuple[Column, ...], name: str) -> int:
    """Index of the categories of this name among the attributes."""
    return next(k for k, column in enumerate(columns) if column.name == name and column.values)
