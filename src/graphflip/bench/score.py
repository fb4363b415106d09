"""Scores of counterfactuals, whichever tool made them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.dataset import GraphDataset
from ..explain.claims.validity import survives_round_trip
from ..explain.counterfactual import Counterfactual
from ..explain.explainer import Explainer
from ..explain.kit import Kit
from ..explain.query import Prefer
from ..metrics import share
from .measure import Columns, Measures, Pairs, are_molecules, edit_counts, in_batches, plausibility, sparsity, validity
from .minimality import Requirement, is_one_minimal
from .nitro import touches_nitro
from .reality import Reality, judges_of
from .summary import Figures, number, summary

SCORES = (
    "flip_ratio", "p_target", "nafr", "nafr_ceiling", "nafr_other", "nafr_other_ceiling",
    "edge_sp", "node_sp", "molecule", "radical_free", "environment", "plausible", "round_trip",
    "edits", "heavy_edits", "ged", "ged_lower", "ged_exact_share", "one_minimal", "nitro_touched",
    "seconds", "classifier_calls",
)  # fmt: skip

_OF_ALL = ("flip_ratio", "nafr", "nafr_other", "seconds", "classifier_calls")
"""Figures that are means over all inputs; the others are means over the counterfactuals that flip."""

_RENAMED = {"edits": "mean_edits", "heavy_edits": "mean_heavy_edits"}
_MUTAGEN = "mutagen"


@dataclass(frozen=True, eq=False)
class Scorer:
    """Measures counterfactuals with the models of a kit.

    Args:
        kit: Models and knowledge.
        real: Measures of real graphs, for ceilings and for the limit of plausibility; None leaves ceilings out.
        ged_seconds: Time limit for the edit distance of a pair.
        own_demands: True to check that answers are 1-minimal by what their search was asked for; it takes time.
    """

    kit: Kit
    real: Reality | None = None
    ged_seconds: float = 0.1
    own_demands: bool = True

    @classmethod
    def of(cls, kit: Kit, real: GraphDataset | None = None, ged_seconds: float = 0.1) -> "Scorer":
        """Make a scorer; `real` are graphs that no model of the kit was trained on."""
        return cls(kit, None if real is None else Reality.of(kit, real), ged_seconds)

    @torch.no_grad()
    def score(self, answers: Sequence[Counterfactual], tick: Callable[[], None] = lambda: None) -> Measures:
        """Compute `SCORES` for every answer; one without a graph counts as not flipped. `tick` is called after each."""
        judges = judges_of(self.kit)
        values = dict.fromkeys(("flip_ratio", *judges), torch.zeros(len(answers)))
        values |= {
            "seconds": _known([answer.seconds for answer in answers]),
            "classifier_calls": _known([float(answer.classifier_calls) for answer in answers]),
        }
        pairs = Pairs.of(answers)
        if pairs is not None:
            columns = self._columns(pairs, [answers[k] for k in pairs.rows.tolist()], tick)
            values |= {name: pairs.spread(column, _empty(name)) for name, column in columns.items()}
        for _ in range(len(answers) - (0 if pairs is None else len(pairs.rows))):
            tick()
        return {name: values.get(name, torch.full((len(answers),), torch.nan)) for name in SCORES}

    def _columns(self, pairs: Pairs, answers: list[Counterfactual], tick: Callable[[], None]) -> Columns:
        columns = validity(pairs, self.kit.classifier, judges_of(self.kit)) | sparsity(pairs)
        columns |= self._believability(pairs) | edit_counts(pairs, self.ged_seconds, tick)
        if self.own_demands:
            columns["one_minimal"] = _claims([self._is_one_minimal(answer) for answer in answers])
        columns["nitro_touched"] = self._nitro(pairs, answers)
        if self.real is not None:
            sure = torch.where(columns["flip_ratio"], columns["p_target"], torch.nan)
            columns |= {f"{name}_ceiling": self.real.ceiling(name, sure) for name in judges_of(self.kit)}
        return columns

    def _believability(self, pairs: Pairs) -> Columns:
        kit, after = self.kit, pairs.counterfactual
        columns: Columns = {"environment": kit.knowledge.environments.created_are_known(pairs.factual, after)}
        limit = kit.knowledge.nll_limit if self.real is None else self.real.nll_limit
        if kit.vae is not None and limit is not None:
            columns["plausible"] = plausibility(after, kit.vae) <= limit
        if after.schema.chemistry is not None:
            from ..data.molecules.validity import is_radical_free

            wanted = zip(after, pairs.goals, strict=True)
            again = [survives_round_trip(kit.classifier, graph, goal) for graph, goal in wanted]
            columns["molecule"] = are_molecules(after, pairs.factual)
            columns["radical_free"] = is_radical_free(after)
            columns["round_trip"] = torch.tensor(again)
        return columns

    def _is_one_minimal(self, answer: Counterfactual) -> bool | None:
        prefer = answer.method.partition("+")[0]  # the requirements of "balanced+walk" are those of "balanced"
        asked = Requirement.of(self._searches[prefer]) if prefer in self._searches else Requirement(self.kit.classifier)
        return is_one_minimal(answer, asked, self._searches["minimal"].moves)

    def _nitro(self, pairs: Pairs, answers: list[Counterfactual]) -> Float[Tensor, " k"]:
        """1 if an edit touches a nitro group on a ring, else 0; NaN for molecules without one or not mutagenic."""
        if _MUTAGEN not in self.kit.classes:
            return torch.full((len(answers),), torch.nan)
        mutagenic = in_batches(self.kit.classifier, pairs.factual).argmax(1) == self.kit.classes.index(_MUTAGEN)
        asked = zip(answers, mutagenic.tolist(), strict=True)
        return _claims([touches_nitro(answer.factual, answer.edits) if yes else None for answer, yes in asked])

    @cached_property
    def _searches(self):
        """The search of each preference; it tells what the preference asks of its answers."""
        explainer = Explainer(self.kit)
        return {name: explainer.search(prefer=name) for name in get_args(Prefer)}


def figures_of(parts: Sequence[Measures], real: Reality | None = None) -> Figures:
    """Figures of one method from its measures, one part for each seed.

    Flips, confirmations by judges, time and classifier calls are averaged over all inputs; the other measures over the
    counterfactuals that flip.
    """
    counted = [{_RENAMED.get(name, name): _counted(part, name) for name in part} for part in parts]
    answered = share(~torch.cat([part["edits"] for part in parts]).isnan())
    figures: Figures = {"n": len(parts[0]["edits"]), "seeds": len(parts), "found": number(answered), **summary(counted)}
    figures["nitro_molecules"] = sum(int((~part["nitro_touched"].isnan()).sum()) for part in counted)
    if real is not None:
        figures["radical_free_real"] = real.figures.get("radical_free")
    return figures


def _counted(part: Measures, name: str) -> Float[Tensor, " b"]:
    return part[name] if name in _OF_ALL else torch.where(part["flip_ratio"] == 1, part[name], torch.nan)


def _empty(name: str) -> float:
    return 0.0 if name in ("flip_ratio", "nafr", "nafr_other") else torch.nan


def _claims(values: Sequence[bool | None]) -> Float[Tensor, " k"]:
    return torch.tensor([torch.nan if value is None else float(value) for value in values])


def _known(values: Sequence[float]) -> Float[Tensor, " b"]:
    """Column of numbers; a zero means that the tool did not report one, and becomes NaN."""
    return torch.tensor([value if value else torch.nan for value in values])
