"""Pairs of nodes that are near each other, by products of sparse matrices: never all pairs of a large graph."""

import numpy as np
from numpy.typing import NDArray

from ...moves.connectivity import PARTNERS
from ...moves.sketch import Sketch

# In graphs of more nodes than all of which may be joined, new edges are between nodes at most so many edges apart.
_APART = 3


def near_pairs(sketch: Sketch) -> NDArray[np.int64]:
    """Pairs of nodes without an edge that a move may join, a row for each; i < j if edges have no direction."""
    from scipy.sparse import csr_matrix, eye_array, triu  # molecules do not need it

    nodes = np.array(sorted(sketch.nodes), dtype=np.int64)
    row = {i: k for k, i in enumerate(nodes.tolist())}
    ends = np.array([(row[i], row[j]) for i, near in sketch.near.items() for j in near], dtype=np.int64).reshape(-1, 2)
    n = len(nodes)
    joined = csr_matrix((np.ones(len(ends), dtype=bool), (ends[:, 0], ends[:, 1])), shape=(n, n))
    if n <= PARTNERS + 1:
        near = np.ones((n, n), dtype=bool) & ~joined.toarray() & ~np.eye(n, dtype=bool)
        i, j = (near if sketch.directed else np.triu(near)).nonzero()
    else:
        around = ((joined + joined.T) > 0) + eye_array(n, dtype=bool, format="csr")
        reached = around
        for _ in range(_APART - 1):
            reached = (reached @ around) > 0
        near = (reached > joined).tocsr()  # bool: reached and not joined
        i, j = (near if sketch.directed else triu(near, 1)).nonzero()
        i, j = i[i != j], j[i != j]
    return np.stack([nodes[i], nodes[j]], axis=1)
