"""Outside measures in the tables: figures of every method whose counterfactuals a folder holds."""

from collections.abc import Callable, Sequence
from typing import Any

from ..measure import Measures
from ..realism import realism_figures
from ..summary import number
from ..workers import Map
from .runs import QualityRun, realism_scorer


def add_realism(
    results: dict[str, Any],
    runs: Sequence[Sequence[QualityRun]],
    counted: Sequence[QualityRun],
    pool: Map,
    tick: Callable[[str, int], None],
) -> None:
    """Add the figures of realism to those of each method, and the share of real graphs whose rings are known.

    Args:
        results: Figures of each dataset and method; those of realism are added.
        runs: All runs of each dataset; those whose counterfactuals the folder does not hold are left out.
        counted: Runs that `tick` counts.
        pool: Map over processes.
        tick: Called with the name of a run and a number of graphs.
    """
    for those in runs:
        measured: dict[str, list[Measures]] = {}
        for run in those:
            what = f"{run.dataset}: realism of {run.row.name}, seed {run.seed}"
            weight = int(run in counted)
            part = run.realism(pool, lambda count, what=what, weight=weight: tick(what, count * weight))
            if part is not None:
                measured.setdefault(run.row.name, []).append(part)
        if measured:
            known = {"rings_known_real": number(_rings_known(those[0]))}
            figures = results[those[0].dataset]
            for name, parts in measured.items():
                figures[name] = figures.get(name, {}) | realism_figures(parts) | known


def _rings_known(run: QualityRun) -> float:
    """Share of the real graphs of the part all of whose ring systems are known."""
    material = run.material
    return realism_scorer(run.source, run.dataset).rings_known(material.dataset.part(material.part))
