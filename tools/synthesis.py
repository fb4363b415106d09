"""Pack the published scores of fragments into the table that the package carries, beside the keys of its corpus.

Usage: python tools/synthesis.py
"""

import gzip
import pickle
from pathlib import Path

import numpy as np
from rdkit import RDConfig

from graphflip.realism.corpus import Corpus
from graphflip.realism.synthesis import SYNTHESIS


def main() -> None:
    with gzip.open(Path(RDConfig.RDContribDir) / "SA_Score" / "fpscores.pkl.gz") as file:
        stored = pickle.load(file)
    rows = {key: place for place, row in enumerate(stored) for key in row[1:]}
    keys = Corpus.packaged().fragments.keys.tolist()
    if set(keys) != set(rows):
        raise SystemExit("The corpus has other fragments than RDKit: run tools/corpus.py first.")
    scores, codes = np.unique([row[0] for row in stored], return_inverse=True)
    packed = codes[[rows[key] for key in keys]].astype(np.uint16)
    np.savez_compressed(SYNTHESIS, codes=packed, scores=scores)
    print(f"{len(packed)} fragments, {len(scores)} scores, {SYNTHESIS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
