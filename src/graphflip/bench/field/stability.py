"""Stability of methods: the same question with another seed, a perturbed graph, or a retrained classifier."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ...edits import Edit
from ...explain.counterfactual import Counterfactual
from ...explain.goals.batches import reached_each
from ...explain.goals.stored import goals_of
from ...explain.method import AbstractExplainer
from ...explain.moves.revert import apply_some
from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ...rivals.edge_weights import drawn, pair_list, toggled
from ..progress import Watch, counter
from ..quality.material import Material
from ..quality.runs import material_of
from .benchmark import FieldPlan, unable
from .methods import FieldMethod, LeanSettings, TakenRow, chosen_methods
from .oracles import FieldSource
from .sets import set_name
from .write import read_table, write_field, write_table


def run_stability(plan: FieldPlan, out: Path, count: int, watch: Watch = lambda what, done, total: None) -> Path:
    """Measure the stability of the plan's methods, and add it to the folder's tables.

    Args:
        plan: Sets, methods and oracles; its limit is not used.
        out: Folder of the benchmark.
        count: Number of graphs of each set, drawn by the plan's `sample`.
        watch: Called with the name of the current method, the number of methods done, and the total.

    Returns:
        `out`. A method whose stability is in the table, with the same settings and graphs, is not measured again.
    """
    methods = chosen_methods(plan.methods)
    tick = counter(watch, len(plan.data) * len(plan.oracles) * len(methods))
    for spec in plan.data:
        for oracle in plan.oracles:
            source, retrained = (
                FieldSource(out, oracle, plan.part, count, plan.sample, seed=seed) for seed in (0, plan.seed + 1)
            )
            for method in methods:
                if not unable(method, spec, plan, out):
                    subject = Retrial(material_of(source, spec), material_of(retrained, spec), method, plan)
                    _measure(subject, out, set_name(spec), oracle)
                tick(f"stability of {method.name}: {set_name(spec)}, {oracle}", 1)
    return write_field(out)


@dataclass(frozen=True, eq=False)
class Retrial:
    """A method on a set with an oracle, and with the oracle trained again."""

    material: Material
    retrained: Material
    method: FieldMethod
    plan: FieldPlan

    @property
    def digest(self) -> str:
        """Hash of everything that the figures depend on."""
        settings = LeanSettings(self.method.spec or self.method.name, self.plan.ged_seconds)
        about = [settings(self.material), settings(self.retrained), self.plan.sample, self.plan.seed]
        ids = list(self.material.graphs.ids)
        return hashlib.sha256(json.dumps([about, ids], sort_keys=True).encode()).hexdigest()[:16]

    def explainer(self, material: Material) -> AbstractExplainer:
        """The method for a classifier."""
        return TakenRow(self.method.spec or self.method.name, self.plan.ged_seconds)(material)


def _measure(subject: Retrial, out: Path, name: str, oracle: str) -> None:
    content, digest = read_table(out), subject.digest
    block = content.setdefault("stability", {}).setdefault(name, {}).setdefault(oracle, {})
    if block.get(subject.method.name, {}).get("settings") != digest:
        block[subject.method.name] = stability(subject) | {"settings": digest}
        write_table(out, content)


def stability(subject: Retrial) -> dict[str, Any]:
    """Figures of a method: its answers, and what becomes of them under each change."""
    graph, seed = subject.material.graphs.graphs(), subject.plan.seed
    explainer = subject.explainer(subject.material)
    first = [answer for answer in explainer.explain(graph, seed=seed, batch_size=16) if answer.flipped]
    figures: dict[str, Any] = {"n": len(graph), "flipped": len(first)}
    if not first:
        return figures
    factuals, targets = Graph.cat([answer.factual for answer in first]), [answer.target for answer in first]
    again = explainer.explain(factuals, goals_of(targets), seed=seed + 1, batch_size=16)
    figures["seed"] = _compared(first, again, [answer.flipped for answer in again])
    figures["noise"] = _under_noise(first, explainer, seed)
    figures["retrained"] = _retrained(first, subject, seed)
    return figures


def _under_noise(first: list[Counterfactual], explainer: AbstractExplainer, seed: int) -> dict[str, Any]:
    noisy = Graph.cat(
        [perturbed(answer.factual, torch.Generator().manual_seed(seed + k)) for k, answer in enumerate(first)]
    )
    kept = _not_reached(explainer.classifier, noisy, first)
    if not kept:
        return {}
    those = [first[k] for k in kept]
    factuals = noisy[kept]
    again = explainer.explain(factuals, goals_of([answer.target for answer in those]), seed=seed, batch_size=16)
    valid = [_still_flips(explainer.classifier, factuals[k], answer) for k, answer in enumerate(those)]
    return _compared(those, again, valid)


def _retrained(first: list[Counterfactual], subject: Retrial, seed: int) -> dict[str, Any]:
    other = subject.retrained.kit.classifier
    kept = _not_reached(other, Graph.cat([answer.factual for answer in first]), first)
    if not kept:
        return {}
    those = [first[k] for k in kept]
    factuals, targets = Graph.cat([answer.factual for answer in those]), [answer.target for answer in those]
    again = subject.explainer(subject.retrained).explain(factuals, goals_of(targets), seed=seed, batch_size=16)
    after = Graph.cat([answer.counterfactual for answer in those if answer.counterfactual is not None])
    with torch.no_grad():
        valid = reached_each(goals_of(targets), other(after)).tolist()
    return _compared(those, again, valid)


def perturbed(graph: Graph, rng: torch.Generator) -> Graph:
    """The graph with 1 to 5 % of its edges perturbed, at least one: each removed, or one added elsewhere."""
    share = 0.01 + 0.04 * float(torch.rand((), generator=rng))
    chosen = []
    for _ in range(max(1, round(share * int(graph.num_edges)))):
        removes = bool(torch.rand((), generator=rng) < 0.5)
        chosen += drawn(pair_list(graph, removes) or pair_list(graph), 1, rng)
    return toggled(graph, list(dict.fromkeys(chosen)))


@torch.no_grad()
def _not_reached(classifier: AbstractClassifier, graphs: Graph, answers: Sequence[Counterfactual]) -> list[int]:
    """Numbers of graphs for which the goal is not reached anyway: there is still something to explain."""
    outputs = classifier(graphs.pad(graphs.schema.max_nodes))
    there = reached_each(goals_of([answer.target for answer in answers]), outputs)
    return (~there).nonzero()[:, 0].tolist()


@torch.no_grad()
def _still_flips(classifier: AbstractClassifier, factual: Graph, answer: Counterfactual) -> bool:
    """True if the edits of an answer can be made in another graph, and flip it."""
    after = apply_some(factual, answer.edits)
    if after is None:
        return False
    return bool(answer.goal.reached(classifier(after.pad(factual.schema.max_nodes)))[0])


def _compared(
    first: Sequence[Counterfactual], again: Sequence[Counterfactual], valid: Sequence[bool]
) -> dict[str, float]:
    """Shares of answers that stay valid and that are found again, and the similarity of edits of those."""
    pairs = [(one.edits, other.edits) for one, other in zip(first, again, strict=True) if other.flipped]
    figures = {
        "n": float(len(first)),
        "valid": sum(valid) / len(first),
        "flips_again": sum(other.flipped for other in again) / len(first),
    }
    return figures | ({"similarity": sum(jaccard(*pair) for pair in pairs) / len(pairs)} if pairs else {})


def jaccard(edits: Sequence[Edit], others: Sequence[Edit]) -> float:
    """Similarity of two lists of edits: edits in both, divided by edits in any.

    Example:
        >>> cut, tie = Edit("remove_edge", (0, 1)), Edit("add_edge", (2, 3))
        >>> jaccard([cut, tie], [cut])
        0.5
    """
    one, other = set(edits), set(others)
    return len(one & other) / len(one | other) if one | other else 1.0
