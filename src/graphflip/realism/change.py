"""Chemistry of a change: the outside measures of a pair of molecules, gathered, and in words."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..errors import GraphError
from ..graph import Graph
from .alerts import count_alerts
from .comparison import halogens_added, new_stereocenters, scaffold_kept, similarity, synthetic_accessibility
from .corpus import Corpus
from .groups import unstable_groups
from .pairs import MoleculePair
from .rings import aromatic_kept, has_aromatic_ring, ring_systems

HARDER = 1.0
"""Rise of the score of synthetic accessibility from which a molecule is much harder to make."""


class Observation(NamedTuple):
    """A measure of a change in words.

    Args:
        topic: Subject of the measure, such as "Synthesis".
        words: The result.
        good: True if a chemist would nod, False if not, None if it speaks neither for nor against the change.
        detail: Names or numbers that belong to it.
    """

    topic: str
    words: str
    good: bool | None
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.words} ({self.detail})" if self.detail else self.words


@dataclass(frozen=True)
class ChemicalChange:
    """Outside measures of a change of a molecule; none of them comes from a model.

    Args:
        aromatic_kept: True if each aromatic ring is kept, or changed as a whole; None if there was none.
        scaffold_kept: True if the Murcko scaffold is the same.
        new_rings: SMILES of ring systems that came with the change.
        strange_rings: Those of them that no molecule of the corpus has.
        unstable: Groups that came with the change and cannot be isolated, by name.
        synthesis: Rise of Ertl's score of synthetic accessibility; None where it is not known.
        similarity: Tanimoto similarity of Morgan fingerprints of radius 2, from 0 to 1.
        new_stereocenters: Number of stereocentres that came with the change.
        halogens_added: Number of halogen atoms that came with the change.
        claim: Claim of the answer about structural alerts for mutagenicity: 1 for more of them, -1 for fewer, 0 for
            none; then they are not counted.
        alerts_before: Numbers of alerts before the change, by name.
        alerts_after: The same after the change.
    """

    aromatic_kept: bool | None
    scaffold_kept: bool
    new_rings: tuple[str, ...]
    strange_rings: tuple[str, ...]
    unstable: tuple[str, ...]
    synthesis: float | None
    similarity: float
    new_stereocenters: int
    halogens_added: int
    claim: int = 0
    alerts_before: Mapping[str, int] = field(default_factory=dict)
    alerts_after: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def between(cls, factual: Graph, counterfactual: Graph, corpus: Corpus, claim: int = 0) -> "ChemicalChange | None":
        """Measure single aligned graphs whose schema has a chemistry; None if one of them is no molecule.

        Graphs of other tools may pass for molecules though their rings, cut out, do not: these are none either.
        """
        pair = MoleculePair.of(factual, counterfactual)
        if pair is None:
            return None
        before, after = pair.before, pair.after
        try:
            old = {system.smiles for system in ring_systems(before)}
            fresh = dict.fromkeys(system.smiles for system in ring_systems(after) if system.smiles not in old)
        except GraphError:
            return None
        return cls(
            aromatic_kept(before, after, pair.kept_atoms) if has_aromatic_ring(before) else None,
            scaffold_kept(before, after),
            tuple(fresh),
            tuple(ring for ring in fresh if not corpus.knows_ring(ring)),
            tuple(unstable_groups(after) - unstable_groups(before)),
            round(synthetic_accessibility(after) - synthetic_accessibility(before), 4),
            round(similarity(before, after), 4),
            new_stereocenters(before, after),
            halogens_added(before, after),
            claim,
            count_alerts(before) if claim else {},
            count_alerts(after) if claim else {},
        )

    @property
    def easy_to_make(self) -> bool | None:
        """True if the score of synthetic accessibility rises by at most 1; None if it is not known."""
        return None if self.synthesis is None else self.synthesis <= HARDER

    @property
    def more_alerts(self) -> int:
        """Number of alerts after the change minus that before."""
        return sum(self.alerts_after.values()) - sum(self.alerts_before.values())

    @property
    def sound(self) -> bool:
        """True if no ring is broken or unknown, no group unstable, and the molecule not much harder to make."""
        return not any(finding.good is False for finding in (*self._rings(), *self._stability(), *self._synthesis()))

    def findings(self) -> list[Observation]:
        """Say each measure in words; what there is nothing to say about is left out."""
        stereo = self.new_stereocenters
        more = "no new stereocentre" if not stereo else f"{stereo} new stereocentre{'s' if stereo > 1 else ''}"
        return [
            *self._rings(),
            *self._stability(),
            *self._synthesis(),
            Observation("Stereocentres", more, not stereo),
            *self._alerts(),
            Observation("Similarity", f"similarity {self.similarity:.2f} to the original", None),
        ]

    def _rings(self) -> list[Observation]:
        found = []
        if self.aromatic_kept is not None:
            words = "no aromatic ring broken" if self.aromatic_kept else "an aromatic ring is broken"
            found.append(Observation("Aromatic rings", words, self.aromatic_kept))
        if self.new_rings:
            known, shown = not self.strange_rings, self.strange_rings or self.new_rings
            words = "a ring system that real molecules have" if known else "a ring system that no known molecule has"
            found.append(Observation("Ring systems", words, known, ", ".join(shown)))
        return found

    def _stability(self) -> list[Observation]:
        words = "a group that cannot be isolated" if self.unstable else "no new group that falls apart"
        return [Observation("Stability", words, not self.unstable, ", ".join(self.unstable))]

    def _synthesis(self) -> list[Observation]:
        if self.synthesis is None:
            return []
        words = "much harder to make" if not self.easy_to_make else "not much harder to make"
        return [Observation("Synthesis", words, self.easy_to_make, f"SA score {self.synthesis:+.1f}")]

    def _alerts(self) -> list[Observation]:
        """Alerts that come and go; good if they move as the answer claims, bad if against it."""
        if not self.claim:
            return []
        before, after = Counter(self.alerts_before), Counter(self.alerts_after)
        moves = {"gone": list(before - after), "new": list(after - before)}
        said = [f"{verb}: {', '.join(names)}" for verb, names in moves.items() if names]
        words = "known alerts for mutagenicity" if said else "no known alert for mutagenicity comes or goes"
        moved = self.more_alerts * self.claim
        return [Observation("Alerts", words, moved > 0 if moved else None, "; ".join(said))]
