"""Recourses as directions of the latent space, against transformations read off the edits of the same answers.

A single answer moves the equivariant code of a graph, slot by slot: the slots of an answer are those of its factual,
so that they are matched. The slots that move most give displacements, which are clustered. A cluster's mean
displacement is added to the codes of new graphs, at slots whose codes are like those that it was seen at, and decoded.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ...explain.counterfactual import Counterfactual
from ...explain.goals.classes import ClassGoal
from ...explain.latent.anchored import Anchor
from ...explain.moves.sketch import Sketch
from ...graph import Graph
from ...models.networks.pegvae import PEGVAE
from ...summary.coverage import greedy_cover
from ...summary.figures import curve_of
from ...summary.proposals import from_answers
from ...summary.studies import Study
from .measure import GRAPHS, frequent
from .subject import DESIRED, SummarySubject, Timer

ANSWERS, INPUTS, CLUSTERS, SITES = 30, 40, 24, 5
_SCALES = 1.0, 2.0
_MOVED = 0.5
"""Share of the largest displacement of an answer from which a slot counts as moved."""


class Directions(NamedTuple):
    """Mean codes at which displacements were seen, and the mean displacements, for each cluster."""

    origins: Float[Tensor, "k dz"]
    moves: Float[Tensor, "k dz"]


def direction_figures(subject: SummarySubject) -> dict[str, Any]:
    """Share of held-out graphs that ten directions flip, and that ten transformations of the same answers flip.

    Both are chosen greedily on inputs of the other splits, and count within the same cost; `_any` also where they
    create surroundings that the data do not have, or break an aromatic ring.
    """
    timer, study = Timer(), Study.of(subject.explainer, DESIRED[subject.name], subject.options)
    train, test = ([graph for at, _, graph in subject.rows if at % 2 == odd] for odd in (0, 1))
    asked = train[:: max(1, len(train) // ANSWERS)][:ANSWERS]
    answers = [several[0] for several in subject.explainer.explain_each(asked, DESIRED[subject.name])]
    timer.stop("answers")
    sides = [several[1 :: max(1, len(several) // INPUTS)][:INPUTS] for several in (train, test)]
    free = replace(study, options=replace(study.options, valid=False))
    figures = {
        name: _transfer(*(_by_edits(one, answers, several) for several in sides))
        for name, one in (("edits", study), ("edits_any", free))
    }
    timer.stop("edits")
    latent = [_by_directions(subject, study, answers, several) for several in sides]
    figures |= {name: _transfer(*(side[k] for side in latent)) for k, name in enumerate(("latent", "latent_any"))}
    timer.stop("directions")
    kept = max(("edits", "latent"), key=lambda name: figures[name]["held_out"])
    return {"directions": {**figures, "answers": len(answers), "kept": kept, "seconds": timer.rounded}}


def _transfer(train: Bool[np.ndarray, "k n"], test: Bool[np.ndarray, "k m"]) -> dict[str, Any]:
    chosen = list(greedy_cover(train, GRAPHS).chosen)
    shares = {name: (curve_of(flips[chosen]) or (0.0,))[-1] for name, flips in (("train", train), ("held_out", test))}
    return {**shares, "num": len(train), "inputs_test": test.shape[1]}


def _by_edits(study: Study, answers: Sequence[Counterfactual], graphs: Sequence[Graph]) -> Bool[np.ndarray, "k n"]:
    """For each transformation of the answers, the graphs that it flips."""
    recourses = frequent(from_answers(answers, study.moves))[:CLUSTERS]
    own, flips = study.with_recourses([recourses]), np.zeros((len(recourses), len(graphs)), dtype=bool)
    for column, graph in enumerate(graphs):
        for k, (flipped, _, _) in (own.results(graph)[0] or {}).items():
            flips[k, column] = flipped
    return flips


def _by_directions(
    subject: SummarySubject, study: Study, answers: Sequence[Counterfactual], graphs: Sequence[Graph]
) -> Bool[np.ndarray, "2 k n"]:
    """For each direction of the answers, the graphs that it flips validly, and those that it flips at all."""
    kit = subject.explainer.kit
    goal = ClassGoal(kit.classes.index(DESIRED[subject.name]))
    if kit.vae is None:
        return np.zeros((2, 0, len(graphs)), dtype=bool)
    found = directions_of(kit.vae, answers)
    columns = [flips_of(kit.vae, study, found, goal, graph) for graph in graphs]
    return np.stack(columns, 2) if columns else np.zeros((2, len(found.moves), 0), dtype=bool)


@torch.no_grad()
def directions_of(vae: PEGVAE, answers: Sequence[Counterfactual]) -> Directions:
    """Cluster the displacements of the slots that answers move most."""
    origins, moves = [], []
    for answer in answers:
        if answer.counterfactual is not None:
            before, after = (
                vae.encode(graph.pad(graph.schema.max_nodes)).mean[0]
                for graph in (answer.factual, answer.counterfactual)
            )
            gap = after - before
            size = gap.norm(dim=-1) * torch.maximum(
                *(graph.pad(len(gap)).B[0] for graph in (answer.factual, answer.counterfactual))
            )
            at = size >= _MOVED * size.max()
            origins.append(before[at])
            moves.append(gap[at])
    return _clustered(torch.cat(origins), torch.cat(moves))


def _clustered(origins: Float[Tensor, "m dz"], moves: Float[Tensor, "m dz"], rounds: int = 25) -> Directions:
    """Lloyd's k-means on the displacements; the first centers are far from each other."""
    centers = moves[:1]
    while len(centers) < min(CLUSTERS, len(moves)):
        centers = torch.cat([centers, moves[torch.cdist(moves, centers).amin(1).argmax()][None]])
    for _ in range(rounds):
        owner = torch.cdist(moves, centers).argmin(1)
        centers = torch.stack(
            [moves[owner == k].mean(0) if bool((owner == k).any()) else centers[k] for k in range(len(centers))]
        )
    owner = torch.cdist(moves, centers).argmin(1)
    kept = [k for k in range(len(centers)) if bool((owner == k).any())]
    return Directions(torch.stack([origins[owner == k].mean(0) for k in kept]), centers[kept])


@torch.no_grad()
def flips_of(vae: PEGVAE, study: Study, found: Directions, goal: ClassGoal, graph: Graph) -> Bool[np.ndarray, "2 k"]:
    """For each direction, True if it flips a graph within the cost at one of the slots most like its own.

    First validly: all surroundings are known, aromatic rings stay, nothing falls apart. Then at all.
    """
    anchor = Anchor.at(vae, graph)
    z, here = anchor.z[0], anchor.graph.B[0] > 0.5
    apart = torch.cdist(found.origins, z).masked_fill(~here, torch.inf)
    sites = apart.topk(min(SITES, int(here.sum())), largest=False).indices  # k s
    codes = z.repeat(len(found.moves), len(_SCALES), sites.shape[1], 1, 1)  # k c s n dz
    for k, move in enumerate(found.moves):
        for c, scale in enumerate(_SCALES):
            for s, slot in enumerate(sites[k].tolist()):
                codes[k, c, s, slot] += scale * move
    flat = codes.flatten(0, 2)
    made = anchor.repeated(len(flat)).hard(flat)
    cost = _edits(anchor.graph, made) / (
        made.num_nodes + made.num_edges + float(graph.num_nodes[0] + graph.num_edges[0])
    )
    reached = goal.reached(study.explainer.kit.classifier(made))
    flipped = (reached & (cost <= study.options.theta) & (cost > 0)).view(len(found.moves), -1)
    valid, before = torch.zeros_like(flipped), Sketch.of(anchor.graph)
    for k, c in flipped.nonzero().tolist():
        if not bool(valid[k].any()):
            valid[k, c] = _is_valid(study, before, Sketch.of(made, k * flipped.shape[1] + c))
    return torch.stack([valid.any(1), flipped.any(1)]).numpy()


def _is_valid(study: Study, before: Sketch, after: Sketch) -> bool:
    return len(after.parts()) <= len(before.parts()) and study.trier.applier.allows(before, after)


def _edits(graph: Graph, others: Graph) -> Float[Tensor, " b"]:
    """Number of nodes and edges in which graphs differ from one, slot by slot."""
    nodes = ((others.B != graph.B) | (others.V != graph.V).any(-1)).sum(1)
    edges = ((others.A != graph.A) | (others.E != graph.E).any(-1)).sum((1, 2))
    return nodes + edges / (1 if graph.schema.directed else 2)
