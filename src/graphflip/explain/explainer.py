"""Explainer: what most users need. Load it, hand it a graph or a molecule, print the answer."""

import copy
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.dataset import GraphDataset
from ..errors import ConfigError, DataError
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier, num_outputs
from ..models.networks.pegvae import PEGVAE
from .asked import check_answers, check_source, check_wishes, is_single, not_a_molecule, one_by_one
from .assess import Assessor
from .constraints import Constraints
from .counterfactual import Counterfactual
from .edits.beam import Round
from .edits.search import EditSearch
from .goals.goal import AbstractRequest
from .goals.targets import parse_goal
from .kit import Kit, load_kit
from .latent.anchored import LatentPath, latent_path
from .moves.moves import Moves
from .moves.sketch import Bond
from .preferences import less_than, preference

Input = Any
"""One thing to explain: a Graph, a SMILES text, an RDKit molecule or a PyG Data object."""


@dataclass(frozen=True, eq=False)
class Explainer:
    """Answers what the smallest believable change is that changes the classifier's answer.

    >>> explainer = graphflip.load("mutagenicity")                          # doctest: +SKIP
    >>> print(explainer.explain("O=[N+]([O-])c1ccccc1"))                    # doctest: +SKIP
    """

    kit: Kit

    def explain(
        self,
        what: Input | Iterable[Input],
        target: int | str | AbstractRequest | None = None,
        *,
        prefer: str = "balanced",
        num: int = 1,
        frontier: bool = False,
        constraints: Constraints | None = None,
        confidence: float | None = None,
        parent: bool = False,
        ids: Sequence[str] = (),
        watch: Callable[[Round], None] = lambda _: None,
    ) -> Any:
        """The counterfactual of one input, or the list of them for several: a list, an array, a generator, a PyG batch.

        `target` is a class by number or name, or "any" other one; by default the likeliest that is not predicted. Where
        the model predicts a value it is a change of that: "raise by 0.5", "lower by 1", "below 2", "above 3",
        "between 1 and 2". With `num` above 1 or with `frontier` there is a list for each input: several that differ,
        or the whole way from the smallest change to the most believable one. With `parent`, of a salt or an ion the
        neutral molecule is explained (see `graphflip.data.molecules.salts`). `watch` is called after every round
        of a search; what it raises ends the search.
        """
        settings = {"prefer": prefer, "num": num, "frontier": frontier}
        settings |= {"constraints": constraints, "confidence": confidence, "parent": parent, "watch": watch}
        single = is_single(what)
        inputs: Any = [what] if single else what
        answers = list(self.explain_each(inputs, target, ids=ids, **settings))
        if num == 1 and not frontier:
            answers = [several[0] for several in answers]
        return answers[0] if single else answers

    def explain_each(
        self,
        inputs: Iterable[Input] | GraphDataset,
        target: int | str | AbstractRequest | None = None,
        *,
        prefer: str = "balanced",
        num: int = 1,
        frontier: bool = False,
        constraints: Constraints | None = None,
        confidence: float | None = None,
        parent: bool = False,
        ids: Iterable[str] = (),
        watch: Callable[[Round], None] = lambda _: None,
    ) -> Iterator[list[Counterfactual]]:
        """The answers to a stream of inputs, one list for each, as they are found: memory does not grow."""
        check_answers(num, frontier)
        search = self.search(prefer, constraints, confidence)
        search = dataclasses.replace(search, frontier=frontier, watch=watch)
        goal, names = self.request(target), iter(ids)
        if isinstance(inputs, GraphDataset):
            inputs, names = inputs.graphs(), iter(list(ids) or inputs.ids)
        elif not isinstance(inputs, Graph) and is_single(inputs):
            raise DataError(f"`explain_each` takes several inputs; got one {type(inputs).__name__}. Use `explain`.")
        for number, one in enumerate(one_by_one(inputs)):
            name = next(names, one if isinstance(one, str) else str(number))
            found = search.explain(self.read(one, parent), goal, ids=[name], num=num)
            yield [self.assess(answer) for answer in found]

    def search(
        self, prefer: str = "balanced", constraints: Constraints | None = None, confidence: float | None = None
    ) -> EditSearch:
        """The search behind `explain`, with the settings of a preference."""
        check_wishes(prefer, constraints, confidence)
        kit, wish = self.kit, preference(prefer, self.kit.preferences)
        known = kit.knowledge.environments if wish.environments else None
        return EditSearch(
            kit.classifier,
            Moves(kit.schema, kit.knowledge.vocabulary, None if known is None else self._bonds),
            known,
            constraints=constraints or Constraints(),
            confidence=wish.confidence if confidence is None else confidence,
            concede_to=min(0.5, wish.confidence) if confidence is None else confidence,
            content_with=less_than(wish, kit.preferences),
            surrogates=kit.surrogates if wish.agreement else (),
            agreement=wish.agreement or 0.5,
            beam=wish.beam,
            price=wish.price,
            hydrogen_price=wish.hydrogen_price,
            shortlist=wish.shortlist,
            method=prefer,
        )

    @torch.no_grad()
    def predict(self, what: Input) -> dict[str, float]:
        """The classifier's probability of each class; of a model that predicts a value, that `value`."""
        outputs = self.kit.classifier(self.read(what).pad(self.kit.schema.max_nodes))[0]
        if len(outputs) == 1:
            return {"value": float(outputs)}
        names = self.kit.classes or tuple(map(str, range(len(outputs))))
        return dict(zip(names, outputs.softmax(-1).tolist(), strict=True))

    def assess(self, found: Counterfactual) -> Counterfactual:
        """A counterfactual, of whatever origin, with the evidence of judges and rules, and the names of classes."""
        return self._assessor.assess(dataclasses.replace(found, classes=found.classes or self.kit.classes))

    def path(self, found: Counterfactual, steps: int = 24) -> LatentPath:
        """Graphs and probabilities along the latent line from the factual to the counterfactual."""
        if self.kit.vae is None or found.counterfactual is None:
            what = "a counterfactual" if self.kit.vae is not None else "a kit with an autoencoder"
            raise ConfigError(f"A latent path needs {what}; there is none here.")
        return latent_path(self.kit.vae, self.kit.classifier, found.factual, found.counterfactual, found.target, steps)

    def read(self, what: Input, parent: bool = False) -> Graph:
        """An input as a Graph of the classifier's schema; if asked, of a molecule its `parent`. A label is not read."""
        if parent and not (isinstance(what, str) or hasattr(what, "GetAtoms")):
            raise not_a_molecule()
        if isinstance(what, Graph):
            if what.schema != self.kit.schema:
                raise DataError(
                    "A graph must have the schema of the classifier; this one has another. "
                    "Load it with `schema=explainer.kit.schema`."
                )
            return what
        if isinstance(what, str):
            from ..data.molecules.molecule import from_smiles

            return from_smiles(what, self.kit.schema, parent=parent)
        if hasattr(what, "GetAtoms"):
            from ..data.molecules.molecule import from_mol

            return from_mol(what, self.kit.schema, parent=parent)
        if hasattr(what, "edge_index"):
            from ..data.pyg.objects import from_pyg

            unlabeled = copy.copy(what)
            unlabeled.y = torch.zeros(1, dtype=torch.long)
            return from_pyg([unlabeled], schema=self.kit.schema).graphs()
        raise DataError(
            f"What is to be explained must be a Graph, a SMILES text, an RDKit molecule or a PyG Data object; "
            f"got {type(what).__name__}."
        )

    def request(self, target: int | str | AbstractRequest | None) -> AbstractRequest:
        """What a target that is given by number or in words asks for; raises if the classifier has no such outputs."""
        asked = parse_goal(target, self.kit.classes)
        asked.at(self._undecided)
        return asked

    @cached_property
    def _undecided(self) -> Float[Tensor, " c"]:
        """Outputs of the classifier's number that say nothing."""
        return torch.zeros(num_outputs(self.kit.classifier))

    @cached_property
    def _bonds(self) -> frozenset[Bond] | None:
        # What no known environment has cannot pass: moves need not even be tried.
        return None if self.kit.schema.has_continuous else self.kit.knowledge.environments.bonds(minimum=5)

    @cached_property
    def _assessor(self) -> Assessor:
        kit = self.kit
        return Assessor(
            kit.classifier, kit.judges, kit.knowledge.environments, kit.vae, nll_limit=kit.knowledge.nll_limit
        )


def load(
    source: str | Path,
    classifier: Any = None,
    vae: PEGVAE | None = None,
    surrogates: Sequence[AbstractClassifier] | None = None,
) -> Explainer:
    """The explainer of a kit: one that the package carries (`"mutagenicity"`, `"aids"`, `"nci1"`) or a folder that
    `graphflip fit` wrote. Models given here take the place of the kit's; a kit without a classifier needs one. It may
    be one of graphflip's, a PyG module, or a function of dense tensors (see `graphflip.models.adapters`)."""
    check_source(source)
    kit = load_kit(source, classifier)
    parts: dict[str, Any] = {"vae": vae, "surrogates": None if surrogates is None else tuple(surrogates)}
    return Explainer(dataclasses.replace(kit, **{name: part for name, part in parts.items() if part is not None}))
