"""Explainer: what most users need. Load it, hand it a graph or a molecule, print the answer."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Unpack, cast, overload

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.dataset import GraphDataset
from ..data.inputs import is_single, named_inputs, read_graph, source_text
from ..errors import ConfigError
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier, num_outputs
from ..models.networks.pegvae import PEGVAE
from ..nn.memory import collecting_seldom
from .assess import Assessor
from .counterfactual import Counterfactual
from .display import summarize
from .edits.frontier import explain_frontier, watched
from .edits.matches import keep_matches
from .edits.search import EditSearch
from .edits.slopes.sensitivity import with_estimates
from .evidence import Neighbor
from .goals.goal import AbstractRequest
from .goals.targets import parse_goal
from .keywords import Input, OneAnswer, PreparedQuestion, SeveralAnswers, Watch
from .kit import Kit, load_kit
from .latent.anchored import LatentPath, latent_path
from .preferences import FRONTIER_ENDS, SEARCH_SETTINGS, asked_confidence, concession, less_than, preference, realism
from .query import Query, QueryOptions, Target


@dataclass(frozen=True, eq=False)
class Explainer:
    """Finds the smallest believable change of a graph that changes the classifier's answer.

    Args:
        kit: The classifier with what belongs to it: surrogates, judges, an autoencoder, and knowledge of its data.
            `graphflip.load` makes an explainer of a kit by its name or folder.

    Example:
        >>> explainer = graphflip.load("ames")                                  # doctest: +SKIP
        >>> print(explainer.explain("O=[N+]([O-])c1ccccc1"))                    # doctest: +SKIP
    """

    kit: Kit
    summarize = summarize

    @overload
    def explain(self, what: Input, target: Target = None, **options: Unpack[OneAnswer]) -> Counterfactual: ...
    @overload
    def explain(
        self, what: Input, target: Target = None, **options: Unpack[SeveralAnswers]
    ) -> list[Counterfactual]: ...
    @overload
    def explain(
        self, what: Iterable[Any] | GraphDataset, target: Target = None, **options: Unpack[OneAnswer]
    ) -> list[Counterfactual]: ...
    @overload
    def explain(
        self, what: Iterable[Any] | GraphDataset, target: Target = None, **options: Unpack[SeveralAnswers]
    ) -> list[list[Counterfactual]]: ...
    @overload
    def explain(self, what: Any, target: Target = None, **options: Unpack[PreparedQuestion]) -> Any: ...

    def explain(
        self,
        what: Any,
        target: Target = None,
        *,
        query: Query | None = None,
        ids: Sequence[str] = (),
        watch: Watch = lambda _: None,
        **options: Unpack[QueryOptions],
    ) -> Any:
        """Find the counterfactual of one input, or of each of several.

        Args:
            what: A Graph, a SMILES text, an RDKit molecule or a PyG Data object; or several of them in a list, an
                array, a generator, a GraphDataset, a Graph of several, or a PyG batch.
            target: A class by number or name, or "any" other one; by default the likeliest class that is not predicted.
                Where the model predicts a value, a change of it: "raise by 0.5", "lower by 1", "below 2", "above 3",
                "between 1 and 2".
            query: A question that was made before; `target` and `options` change it.
            ids: Names of the inputs; by default their SMILES, or their numbers.
            watch: Called after every round of a search; what it raises ends the search.
            **options: Fields of `graphflip.Query` by name, and `constraints`, a `graphflip.Constraints`.

        Returns:
            A Counterfactual for one input, a list of them for several. With `num` above 1 or with `frontier`, each of
            them is a list: several that differ, or all from the smallest change to the most believable one.

        Raises:
            ConfigError: If an option cannot be used, or the classifier has no such target.
            DataError: If an input cannot be read as a graph of the kit's schema.

        Example:
            >>> explainer = graphflip.load("ames")                                  # doctest: +SKIP
            >>> several = explainer.explain("CCN(CC)N=O", num=3, budget=4)          # doctest: +SKIP
        """
        query = Query.of(query, target, **options)
        single = is_single(what)
        answers: list[Any] = list(self.explain_each([what] if single else what, query=query, ids=ids, watch=watch))
        if query.num == 1 and not query.frontier:
            answers = [several[0] for several in answers]
        return answers[0] if single else answers

    def explain_each(
        self,
        inputs: Iterable[Any] | GraphDataset,
        target: Target = None,
        *,
        query: Query | None = None,
        ids: Iterable[str] = (),
        watch: Watch = lambda _: None,
        **options: Unpack[QueryOptions],
    ) -> Iterator[list[Counterfactual]]:
        """Answer a stream of inputs one by one; memory does not grow with their number.

        Args and errors are those of `explain`.

        Yields:
            The list of answers to each input, also if it is only one.
        """
        query = Query.of(query, target, **options)
        wishes = (query.prefer, *(FRONTIER_ENDS if query.frontier else ()))
        searches = watched([self.search(query, prefer=wish) for wish in wishes], watch)
        goal = self.request(query.target)
        for name, given in named_inputs(inputs, ids):
            graph = self.read(given, query.parent)
            first, *ends = (keep_matches(search, graph, query.freeze_smarts) for search in searches)
            find = partial(explain_frontier, first, ends) if ends else partial(first.explain, num=query.num)
            with collecting_seldom():
                found = with_estimates(find(graph, target=goal, ids=[name], seed=query.seed), self.kit.classifier)
                answers = [self.assess(dataclasses.replace(each, source=source_text(given))) for each in found]
            yield answers

    def search(self, query: Query | None = None, **options: Unpack[QueryOptions]) -> EditSearch:
        """Make the search behind `explain`, with the settings of the question's preference.

        Args:
            query: The question; by default all options have their defaults.
            **options: Fields of `graphflip.Query` that change it.

        Returns:
            A search over edits with the kit's classifier, surrogates and knowledge.

        Raises:
            ConfigError: If an option cannot be used, or `agreement` is asked of a kit that has no surrogates.
        """
        query = Query.of(query, **options)
        kit, wish = self.kit, preference(query.prefer, self.kit.preferences)
        wish = wish.model_copy(update={"look": 0}) if query.thorough else wish
        known = kit.knowledge.environments if wish.environments else None
        agreement = wish.agreement if query.agreement is None else query.agreement
        if query.agreement is not None and not kit.surrogates:
            raise ConfigError("`agreement` must be left out, because this kit has no surrogates that could agree.")
        return EditSearch(
            kit.classifier,
            kit.moves if known is None else kit.known_moves,  # others than known bonds need not even be tried
            known,
            kit.knowledge.environments.minimum,
            constraints=query.constraints,
            confidence=asked_confidence(query, wish, len(self._undecided)),
            concede_to=concession(query, wish),
            content_with=less_than(wish, kit.preferences),
            surrogates=kit.surrogates if agreement else (),
            agreement=agreement or 0.5,
            realism=realism(wish, kit.schema, kit.knowledge),
            experience=kit.experience,
            method=query.prefer,
            **wish.model_dump(include=set(SEARCH_SETTINGS)),
        )

    @torch.no_grad()
    def predict(self, what: Any) -> dict[str, float]:
        """Ask the classifier.

        Args:
            what: One input, as in `explain`.

        Returns:
            The probability of each class by its name; of a model that predicts a value, that `value`.
        """
        outputs = self.kit.classifier(self.read(what).ample())[0]
        if len(outputs) == 1:
            return {"value": float(outputs)}
        names = self.kit.classes or tuple(map(str, range(len(outputs))))
        return dict(zip(names, outputs.softmax(-1).tolist(), strict=True))

    def assess(self, counterfactual: Counterfactual) -> Counterfactual:
        """Add the evidence of judges and rules, and the names of classes, to a counterfactual of whatever origin.

        Args:
            counterfactual: An answer of any method, or one that was read from a file.

        Returns:
            A copy with `evidence` and `classes`.
        """
        classes = counterfactual.classes or self.kit.classes
        return self._assessor.assess(dataclasses.replace(counterfactual, classes=classes))

    def nearest(self, what: Any, num: int = 3) -> list[Neighbor]:
        """Find the training molecules that are most similar to an input, the nearest first.

        Args:
            what: One molecule, as in `explain`.
            num: Largest number of them.

        Returns:
            Their ids, SMILES, labels and similarities, from 0 to 1.

        Raises:
            ConfigError: If the kit does not know its training molecules.
        """
        if self.kit.training is None:
            raise ConfigError(f"A kit must know its training molecules to find the nearest; {self.kit.name} does not.")
        found = self.kit.training.nearest(self.read(what), num)
        return [] if found is None else list(found.neighbors)

    def path(self, counterfactual: Counterfactual, steps: int = 24) -> LatentPath:
        """Decode graphs along the latent line from the factual to the counterfactual.

        Args:
            counterfactual: An answer that has a counterfactual graph.
            steps: Number of points, both ends included.

        Returns:
            The graphs with their positions and the probabilities of the target.

        Raises:
            ConfigError: If the kit has no autoencoder, or the answer no counterfactual graph.
        """
        after, vae = counterfactual.counterfactual, self.kit.vae
        if vae is None or after is None:
            what = "a counterfactual" if vae is not None else "a kit with an autoencoder"
            raise ConfigError(f"A latent path needs {what}; there is none here.")
        return latent_path(vae, self.kit.classifier, counterfactual.factual, after, counterfactual.target, steps)

    def read(self, what: Any, parent: bool = True) -> Graph:
        """Read one input without its label; raises DataError if that cannot be done. `parent` is as in `Query`."""
        return read_graph(what, self.kit.schema, parent)

    def request(self, target: Target) -> AbstractRequest:
        """Parse a target, given as in `explain`, into an object that makes a goal from the classifier's outputs.

        Raises ConfigError if the classifier has no such class, or predicts no value.
        """
        request = parse_goal(cast(Any, target), self.kit.classes)
        request.at(self._undecided)
        return request

    @cached_property
    def _undecided(self) -> Float[Tensor, " c"]:
        """Outputs of the classifier's number that say nothing."""
        return torch.zeros(num_outputs(self.kit.classifier))

    @cached_property
    def _assessor(self) -> Assessor:
        kit, known = self.kit, self.kit.knowledge
        return Assessor(kit.classifier, kit.judges, known.environments, kit.vae, known.nll_limit, kit.training)


def load(
    source: str | Path,
    classifier: Any = None,
    vae: PEGVAE | None = None,
    surrogates: Sequence[AbstractClassifier] | None = None,
) -> Explainer:
    """Load the explainer of a kit.

    Args:
        source: The name of a kit that the package carries ("ames", "logp", "mutagenicity", "aids", "nci1"), or a
            folder that `graphflip fit` wrote.
        classifier: A model to explain instead of the kit's: one of graphflip's, a PyG module, or a function of dense
            tensors (see `graphflip.models.adapters`). A kit without a classifier needs one.
        vae: An autoencoder instead of the kit's.
        surrogates: Models that are asked whether they believe an answer, instead of the kit's.

    Returns:
        The explainer.

    Raises:
        ConfigError: If there is no such kit, or it needs a classifier.
        ModelFileError: If a file of the kit is damaged or of a newer version.

    Example:
        >>> graphflip.load("ames").predict("CCO")                               # doctest: +SKIP
    """
    parts: dict[str, Any] = {"vae": vae, "surrogates": None if surrogates is None else tuple(surrogates)}
    given = {name: part for name, part in parts.items() if part is not None}
    return Explainer(dataclasses.replace(load_kit(source, classifier), **given))
