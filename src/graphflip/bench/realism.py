"""Outside measures of counterfactual molecules, computed from counterfactuals alone: nothing is searched again."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import torch

from ..data.dataset import GraphDataset
from ..explain.counterfactual import Counterfactual
from ..explain.explainer import Explainer
from ..explain.kit import Kit
from ..explain.moves.moves import Moves
from ..realism.alerts import claimed_move
from ..realism.change import ChemicalChange
from ..realism.corpus import CORPUS, Corpus
from ..realism.pairs import heavy_mol, num_changes
from ..realism.rings import ring_systems
from .digests import described
from .measure import Measures
from .minimality import Requirement, is_one_minimal
from .summary import Figures, summary

REALISM = (
    "aromatic_kept", "scaffold_kept", "rings_known", "sa_up_le1", "similarity", "new_stereo", "halogens_added",
    "changes", "alerts_toward.mutagen", "alerts_toward.nonmutagen", "alerts_toward_all.mutagen",
    "alerts_toward_all.nonmutagen", "class_minimal",
)  # fmt: skip
"""Columns of the measures; only `class_minimal` is known of graphs that are no molecules."""

_BROKEN = {"aromatic_kept": 0.0, "scaffold_kept": 0.0, "rings_known": 0.0, "sa_up_le1": 0.0, "similarity": 0.0}
"""Measures of an answer that is no molecule though the factual is one."""


@dataclass(frozen=True, eq=False)
class RealismScorer:
    """Measures the chemistry of counterfactuals, and if a change can be undone while the class still flips.

    Args:
        kit: The classifier and the names of its classes.
        corpus: Real molecules, whose ring systems are known.
    """

    kit: Kit
    corpus: Corpus = field(default_factory=Corpus.packaged)

    def settings(self) -> dict[str, Any]:
        """Everything that the measures depend on besides the counterfactuals."""
        return {"measures": list(REALISM), "corpus": _digest(CORPUS), "classifier": described(self.kit.classifier)}

    @torch.no_grad()
    def score(self, answers: Sequence[Counterfactual]) -> Measures:
        """Compute `REALISM` for every answer; NaN where there is nothing to measure."""
        rows = [self._one(answer) for answer in answers]
        return {name: torch.tensor([row.get(name, torch.nan) for row in rows]) for name in REALISM}

    def rings_known(self, graphs: GraphDataset) -> float:
        """Share of real molecules all of whose ring systems are known: a ceiling; NaN if graphs are no molecules."""
        if graphs.schema.chemistry is None:
            return torch.nan
        mols = [heavy_mol(graphs.graphs([k])) for k in range(len(graphs))]
        known = [
            all(self.corpus.knows_ring(one.smiles) for one in ring_systems(mol)) for mol in mols if mol is not None
        ]
        return sum(known) / len(known) if known else torch.nan

    def _one(self, answer: Counterfactual) -> dict[str, float]:
        after = answer.counterfactual
        if after is None or not float(after.B.sum()):
            return {}
        minimal = is_one_minimal(answer, Requirement(self.kit.classifier), self._moves)
        row = {} if minimal is None else {"class_minimal": float(minimal)}
        if after.schema.chemistry is None or heavy_mol(answer.factual) is None:
            return row
        row["changes"] = float(num_changes(answer.factual, after))
        toward = answer.goal.name(self.kit.classes)
        claim = claimed_move(self.kit.classes, toward)
        change = ChemicalChange.between(answer.factual, after, self.corpus, claim)
        row |= _BROKEN if change is None else _columns(change)
        return row | (_alerts(change, claim, toward) if claim else {})

    @cached_property
    def _moves(self) -> Moves:
        return Explainer(self.kit).search(prefer="minimal").moves


def realism_figures(parts: Sequence[Measures]) -> Figures:
    """Means of `REALISM` over the counterfactuals that flip; each part is a seed and has the column `flip_ratio`."""
    return summary(
        [{name: torch.where(part["flip_ratio"] == 1, part[name], torch.nan) for name in REALISM} for part in parts]
    )


def _alerts(change: ChemicalChange | None, claim: int, toward: str) -> dict[str, float]:
    """1 if alerts move as the answer claims; of answers with fewer alerts, once for factuals that have any."""
    moved = float(change is not None and change.more_alerts * claim > 0)
    asked = claim > 0 or (change is not None and bool(change.alerts_before))
    return {f"alerts_toward_all.{toward}": moved} | ({f"alerts_toward.{toward}": moved} if asked else {})


def _columns(change: ChemicalChange) -> dict[str, float]:
    easy = change.easy_to_make
    return {
        "aromatic_kept": float(change.aromatic_kept is not False),
        "scaffold_kept": float(change.scaffold_kept),
        "rings_known": float(not change.strange_rings),
        "sa_up_le1": torch.nan if easy is None else float(easy),
        "similarity": change.similarity,
        "new_stereo": float(change.new_stereocenters > 0),
        "halogens_added": float(change.halogens_added),
    }


@cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
