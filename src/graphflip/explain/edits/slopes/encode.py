"""Attributes as rows of numbers, for estimates."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ....schema import Column
from ...moves.attributes import Attributes


def encode_all(rows: Sequence[Attributes], columns: Sequence[Column]) -> NDArray[np.float64]:
    """Entries of V or E for some attributes, a row for each."""
    width = sum(column.width for column in columns)
    known = {row: [x for column, value in zip(columns, row, strict=True) for x in column.encode(value)] for row in rows}
    return np.array([known[row] for row in rows], dtype=np.float64).reshape(len(rows), width)
