"""What may be asked of an explainer: said in words, before anything is searched, where it may not."""

import os
from collections.abc import Iterator, Mapping, Set
from numbers import Integral, Real
from typing import Any

from torch.utils.data import Dataset

from ..data.dataset import GraphDataset
from ..errors import ConfigError, DataError
from ..graph import Graph
from .constraints import Constraints


def is_single(what: Any) -> bool:
    """Whether this is one input (or nothing that can be explained) rather than several, one after the other."""
    if isinstance(what, Graph):
        return len(what) == 1
    if isinstance(what, GraphDataset | Dataset) or hasattr(what, "to_data_list"):
        return False  # a set or a batch of PyG's has an `edge_index`, too
    if isinstance(what, str | bytes) or hasattr(what, "GetAtoms") or hasattr(what, "edge_index"):
        return True
    if isinstance(what, Mapping | Set) or hasattr(what, "columns"):
        raise DataError(
            "Several inputs must come one after the other, in a list, an array, a column of a table or a generator; "
            f"got a {type(what).__name__}. Give its values as a list, or one column of it."
        )
    try:
        iter(what)
    except TypeError:
        return True
    return False


def one_by_one(inputs: Any) -> Iterator[Any]:
    """The inputs; a batch of PyG's, or batches of a loader, taken apart."""
    for one in [inputs] if hasattr(inputs, "to_data_list") else inputs:
        if hasattr(one, "to_data_list"):
            yield from one.to_data_list()
        else:
            yield one


def check_answers(num: Any, frontier: bool) -> None:
    """Raise unless so many answers can be asked for."""
    if not isinstance(num, Integral) or isinstance(num, bool) or num < 1:
        raise ConfigError(f"`num` must be a whole number, at least 1; got {num!r}. Leave it out for one answer.")
    if frontier and int(num) > 1:
        raise ConfigError(
            f"Either `num` different answers or the whole `frontier` must be asked for; got num={num} and a frontier. "
            "Leave one of them out."
        )


def check_wishes(prefer: Any, constraints: Any, confidence: Any) -> None:
    """Raise unless these are a preference's name, constraints and a probability, or nothing."""
    if not isinstance(prefer, str):
        raise ConfigError(
            f"`prefer` must be the name of a preference, as in prefer='balanced'; got {prefer!r}. "
            "Leave it out for that one."
        )
    if constraints is not None and not isinstance(constraints, Constraints):
        raise ConfigError(
            f"`constraints` must be graphflip.Constraints; got a {type(constraints).__name__}. "
            "Write constraints=graphflip.Constraints(freeze_nodes={3}, budget=4), say."
        )
    if confidence is not None and not (isinstance(confidence, Real) and 0 < float(confidence) < 1):
        raise ConfigError(
            f"`confidence` must be a number between 0 and 1; got {confidence!r}. "
            "Write confidence=0.9, say, or leave it out for what the preference asks."
        )


def check_source(source: Any) -> None:
    """Raise unless a kit can be looked for by this."""
    if not isinstance(source, str | os.PathLike):
        raise ConfigError(
            f"A kit must be named by a text or a path; got {source!r}. Give the name of one, as in "
            "graphflip.load('mutagenicity'), or the folder that `graphflip fit` wrote."
        )


def not_a_molecule() -> ConfigError:
    """What is said where the parent of something is asked for that is not given as a molecule."""
    return ConfigError(
        "`parent` must be asked of molecules alone (SMILES, SD files, RDKit molecules); this is a graph. Leave it out."
    )
