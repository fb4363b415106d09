"""Summarize: from single answers and single moves to a short list of recourses that change many predictions."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from statistics import fmean
from typing import Any

import numpy as np
import torch

from ..data.inputs import named_inputs
from ..errors import ConfigError, DataError
from ..explain.counterfactual import Counterfactual
from ..explain.explainer import Explainer
from ..graph import Graph
from .coverage import greedy_cover
from .figures import SeenInput, Shortlist, Tried, curve_of, described, why_uncovered
from .graphs.standing import standing_for
from .proposals import Proposed, from_answers, from_moves
from .recourses import Recourse, SiteResult, sharpened
from .results.summary import MOST_LISTED, DirectionSummary, ModelSummary
from .studies import Seen, Study, SummaryOptions, Tries
from .transformations import Transformation
from .trials import NO_TRIAL
from .wording import graph_text
from .worth import little_to_say, remarks_on

_FREQUENT = "most frequent changes of single answers, on held-out graphs"

Rows = Callable[[], Iterable[tuple[int, str, Graph]]]
"""Gives places, ids and graphs of the inputs, from the beginning each time that it is called."""

Answers = Callable[[Sequence[tuple[str, Graph]], Any, str], Iterable[Counterfactual]]
"""Gives single answers for some graphs, a target and a preference."""

Trials = Callable[[Study], Iterable[tuple[int, Sequence[Tries]]]]
"""Tries the recourses of a study on all graphs; gives their places, with the results of each direction."""


def summarize(
    explainer: Explainer,
    graphs: Any,
    target: Any = None,
    *,
    ids: Sequence[str] = (),
    name: str = "these graphs",
    options: SummaryOptions | None = None,
) -> ModelSummary:
    """Summarize what a classifier goes by, from many graphs.

    Args:
        explainer: The explainer of the classifier.
        graphs: Inputs as `Explainer.explain` takes them, at least a few dozen.
        target: One target; by default every class in turn. A model that predicts a value must be told: "raise by 1".
        ids: Names of the inputs; by default their SMILES, or their numbers.
        name: Name of the graphs, for the text.
        options: Settings; by default those of `SummaryOptions`.

    Returns:
        The summary; it does not depend on the order of the graphs.

    Raises:
        ConfigError: If a setting is out of range, or the classifier has no such target.
        DataError: If an input cannot be read, or there are none.

    Example:
        >>> explainer = graphflip.load("ames")                                            # doctest: +SKIP
        >>> print(explainer.summarize(graphflip.load_dataset("ames"), "nonmutagen"))      # doctest: +SKIP
    """
    study = Study.of(explainer, target, options)
    rows = [(at, key, explainer.read(given)) for at, (key, given) in enumerate(named_inputs(graphs, ids))]

    def answers(sample: Sequence[tuple[str, Graph]], wanted: Any, prefer: Any) -> Iterator[Counterfactual]:
        names, asked = [key for key, _ in sample], [graph for _, graph in sample]
        for several in explainer.explain_each(asked, wanted, prefer=prefer, ids=names):
            yield several[0]

    def trials(full: Study) -> Iterator[tuple[int, Sequence[Tries]]]:
        return ((at, full.results(graph)) for at, _, graph in rows)

    return Summarizer(study, lambda: rows, answers, trials, name).run()


def summarize_with(
    explainer: Explainer,
    graphs: Any,
    target: Any = None,
    ids: Sequence[str] = (),
    name: str = "these graphs",
    **options: Any,
) -> ModelSummary:
    """Summarize with settings given by name: what `Explainer.summarize` calls."""
    known = {field.name for field in fields(SummaryOptions)}
    if wrong := sorted(options.keys() - known):
        raise ConfigError(f"`{wrong[0]}` is no option of a summary. Give one of {', '.join(sorted(known))}.")
    return summarize(explainer, graphs, target, ids=ids, name=name, options=SummaryOptions(**options))


@dataclass(frozen=True, eq=False)
class Summarizer:
    """The steps of a summary; where single answers and trials are computed is up to the caller.

    Args:
        study: What is asked.
        rows: The graphs.
        answers: Computes single answers.
        trials: Tries recourses on all graphs.
        name: Name of the graphs, for the text.
        sides: True for graphs that are held out; by default it is drawn from the graph itself.
    """

    study: Study
    rows: Rows
    answers: Answers
    trials: Trials
    name: str
    sides: Callable[[SeenInput], bool] | None = None

    def run(self) -> ModelSummary:
        """Look at all graphs, choose recourses on some, try them on all, and put the figures together."""
        inputs = [SeenInput(at, key, self.study.look(graph)) for at, key, graph in self.rows()]
        if not inputs:
            raise DataError("A summary must have graphs; there are none. Give a file or a dataset with some.")
        full, tried = self.tries(inputs)
        seen = [one.seen for one in inputs]
        parts = tuple(self._direction(full, d, tried[d], seen) for d in range(len(tried)))
        remarks = remarks_on(seen, self.study.explainer.kit.classes)
        kit, options = self.study.explainer.kit, asdict(self.study.options)
        return ModelSummary(kit.name, self.name, parts, options, remarks, self._inputs(inputs, parts))

    def _inputs(self, inputs: Sequence[SeenInput], parts: Sequence[DirectionSummary]) -> dict[str, Any]:
        """Graphs that some recourse flips, by id, in a form that can be asked about again."""
        wanted = {name for part in parts for one in part.recourses for name in one.covers[:MOST_LISTED]}
        graphs = self._graphs([one for one in inputs if one.id in wanted])
        return {one.id: graph_text(graphs[one.place]) for one in inputs if one.id in wanted}

    def tries(self, inputs: Sequence[SeenInput]) -> tuple[Study, list[Tried]]:
        """Choose a shortlist for each direction, and try it on all graphs."""
        directions = range(len(self.study.targets))
        own = [self._own(inputs, direction) for direction in directions]
        lists = [self._shortlist(direction, own[direction]) for direction in directions]
        full = self.study.with_recourses([one.recourses for one in lists])
        tried = [Tried.empty(lists[d], own[d], [self.is_held_out(one) for one in own[d]]) for d in directions]
        for at, row in self.trials(full):
            for direction, results in enumerate(row):
                tried[direction].add(at, results)
        return full, tried

    def _own(self, inputs: Sequence[SeenInput], direction: int) -> list[SeenInput]:
        """Inputs whose prediction is not the target, in an order that depends on the graphs alone."""
        own = [one for one in inputs if self.study.goal(direction, one.seen.outputs) is not None]
        return sorted(own, key=lambda one: (one.seen.digest, one.id, one.place))

    def is_held_out(self, one: SeenInput) -> bool:
        """True for graphs that recourses are not chosen on; equal graphs are on the same side."""
        return one.seen.draw < self.study.options.held_out if self.sides is None else self.sides(one)

    def _shortlist(self, direction: int, own: Sequence[SeenInput]) -> Shortlist:
        """Recourses that do most in a sample, with their contexts; and the most frequent of the single answers."""
        options = self.study.options
        sample = [one for one in own if not self.is_held_out(one)][: options.sample]
        graphs = self._graphs(sample)
        asked = [(one.id, graphs[one.place]) for one in sample[: options.answers]]
        frequent = from_answers(self.answers(asked, self.study.targets[direction], options.prefer), self.study.moves)
        found, flipping = Counter(frequent), []
        for one in sample:
            changes, share = self._moves(direction, one, graphs[one.place])
            found.update(changes)
            flipping.append(share)
        pool = [Recourse(change) for change in _ranked(found)[: 4 * options.shortlist]]
        flips = self._flips(direction, pool, [graphs[one.place] for one in sample])
        kept = most_useful(flips, [one.rank for one in pool], options.shortlist)
        recourses = [
            sharpened(
                pool[k], self._site_results(direction, pool[k], [sample[c] for c in np.flatnonzero(flips[k])], graphs)
            )
            for k in kept
        ]
        plain = [Recourse(change) for change in _ranked(frequent)[: options.num]]
        return Shortlist((*recourses, *plain), len(recourses), fmean(flipping) if flipping else 0.0)

    def _flips(self, direction: int, pool: Sequence[Recourse], graphs: Sequence[Graph]) -> np.ndarray:
        """Try recourses on graphs; True where one flips a graph."""
        study = self.study.with_recourses([pool if d == direction else () for d in range(len(self.study.targets))])
        flips = np.zeros((len(pool), len(graphs)), dtype=bool)
        for column, graph in enumerate(graphs):
            trials = study.try_on(graph)[direction] or [NO_TRIAL] * len(pool)
            flips[:, column] = [trial.flipped for trial in trials]
        return flips

    def _moves(self, direction: int, one: SeenInput, graph: Graph) -> Proposed:
        goal = self.study.goal(direction, one.seen.outputs)
        if goal is None:
            return Proposed([], 0.0)
        score = float(goal.score(torch.tensor(one.seen.outputs)))
        return from_moves(graph, goal, score, self.study.explainer.kit.classifier, self.study.moves)

    def _site_results(
        self, direction: int, recourse: Recourse, flipped: Sequence[SeenInput], graphs: dict[int, Graph]
    ) -> list[SiteResult]:
        """Results of a recourse at the sites of some graphs."""
        results = []
        for one in flipped:
            goal = self.study.goal(direction, one.seen.outputs)
            if goal is not None:
                index, sites = self.study.trier.sites_of(graphs[one.place], goal, recourse)
                results += [SiteResult(one.place, index.surroundings(site), trial.flipped) for site, trial in sites]
        return results

    def _direction(self, study: Study, direction: int, tried: Tried, seen: Sequence[Seen]) -> DirectionSummary:
        """The part of the summary on one direction."""
        usual = tried.flips[: tried.num_chosen_from]
        recourses = study.recourses[direction]
        ranks = [one.rank for one in recourses[: tried.num_chosen_from]]
        cover = greedy_cover(usual[:, ~tried.held_out], self.study.options.num, ranks)
        figures = described(study, direction, tried, cover.chosen, self._graphs)
        curve, held_out = (
            curve_of(tried.flips[list(cover.chosen)][:, part]) for part in (~tried.held_out, tried.held_out)
        )
        frequent = tried.flips[tried.num_chosen_from :][:, tried.held_out]
        total = max(1, int((~tried.held_out).sum()))
        part = DirectionSummary(
            study.name(direction),
            len(tried.inputs),
            int((~tried.held_out).sum()),
            figures,
            curve,
            tuple(bound / total for bound in cover.bounds),
            held_out,
            {_FREQUENT: curve_of(frequent)} if len(frequent) else {},
            why_uncovered(tried, cover.chosen),
            graphs=standing_for(study, direction, tried, self._graphs),
        )
        return replace(part, reasons=little_to_say(part, seen, study.explainer.kit.classes, tried.flipping))

    def _graphs(self, wanted: Sequence[SeenInput]) -> dict[int, Graph]:
        """The graphs of some inputs, by place; read from the beginning."""
        places = {one.place for one in wanted}
        return {at: graph for at, _, graph in self.rows() if at in places}


def most_useful(flips: np.ndarray, ranks: Sequence[tuple], most: int) -> list[int]:
    """Numbers of the recourses of a shortlist: covers of the sample, one after another, each of what is left."""
    left, kept = list(range(len(flips))), []
    while left and len(kept) < most:
        cover = greedy_cover(flips[left], most - len(kept), [ranks[k] for k in left])
        if not cover.chosen:
            break
        chosen = [left[k] for k in cover.chosen]
        kept += chosen
        left = [k for k in left if k not in set(chosen)]
    return kept


def _ranked(found: Counter[Transformation]) -> list[Transformation]:
    """Transformations, the most frequent first."""
    return sorted(found, key=lambda change: (-found[change], change.num_edits, change.key))
