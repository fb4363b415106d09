"""The work on a shard: rows in, a Parquet table of answers out. A row that cannot be explained has an answer too."""

import hashlib
import json
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..data.inputs import InputRow
from ..data.source import Source
from ..describe.wording import describe
from ..edits import heavy_edits
from ..errors import ConfigError, DataError, GraphError, JobError, MissingExtra, SchemaError
from ..explain.counterfactual import Counterfactual
from ..explain.explainer import Explainer, load
from ..explain.kit import find_kit, kit_schema
from ..explain.moves.restrictions import check_types
from ..explain.records import to_record
from ..models.adapters.black_box import BlackBox
from ..models.storage.store import CARD
from ..version import __version__
from .settings import JobSettings
from .tables import TIMING, to_parquet

BAD_INPUT, FAILED, CRASHED = "bad_input", "failed", "crashed"
"""Outcomes of rows, besides those of searches: it could not be read; an error came up; its process died of it."""


class Order(NamedTuple):
    """Everything a worker must know besides the rows; `kit` and `version` are those of the process that asks."""

    settings: JobSettings
    kit: str
    version: str = __version__


def explain_rows(order: Order, rows: Sequence[InputRow], tick: Callable[[], None] = lambda: None) -> bytes:
    """A Parquet file with the answers to these rows. Computed by one thread, so that it is the same everywhere."""
    import torch

    if (order.version, order.kit) != (__version__, kit_digest(order.settings.model)):
        raise JobError(
            f"All workers must have graphflip {order.version} and the same files of the kit {order.settings.model}; "
            f"this one has graphflip {__version__} or other files. Install the same on all machines."
        )
    with _ONE_AT_A_TIME:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            explainer = explainer_of(order.settings)
            answers = []
            for row in rows:
                answers += _answers(explainer, order.settings, row)
                tick()
            return to_parquet(answers)
        finally:
            torch.set_num_threads(threads)


_ONE_AT_A_TIME = threading.Lock()  # the number of threads belongs to the whole process


def explainer_of(settings: JobSettings) -> Explainer:
    """The explainer that settings ask for, loaded once in each process."""
    return _loaded(settings.model, settings.classifier)


def check(settings: JobSettings) -> None:
    """Raise if no row at all could be explained with these settings."""
    explainer = explainer_of(settings)
    explainer.request(settings.query.target)
    check_types(settings.query.constraints, explainer.kit.schema)
    explainer.search(settings.query)


@lru_cache(maxsize=1)
def _loaded(model: str, classifier: str | None) -> Explainer:
    if classifier is None:
        return load(model)
    from ..models.adapters.factory import load_factory

    return load(model, classifier=load_factory(classifier, kit_schema(model)))


@lru_cache(maxsize=1)
def kit_digest(model: str) -> str:
    """sha256 of a kit's cards, knowledge and preferences; the cards hold the sha256 of the weights."""
    folder, digest = find_kit(model), hashlib.sha256()
    for path in sorted([*folder.glob(f"*/{CARD}"), *folder.glob("*.json")]):
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def crashed(row: InputRow) -> bytes:
    """The answer to a row whose explanation ended the process it ran in."""
    note = "The process that worked on this input died each time. It may have run out of memory."
    return to_parquet([_without_answer(row, RowFailure(CRASHED, note))])


class RowFailure(NamedTuple):
    """Why a row has no explanation."""

    outcome: str
    note: str


def explain_now(settings: JobSettings, source: Source) -> Iterator[str]:
    """The explanations of a source's rows as texts to print, or what was wrong with them."""
    check(settings)
    explainer = explainer_of(settings)
    for row in source.nonempty():
        found = _explained(explainer, settings, row)
        if isinstance(found, RowFailure):
            yield f"{row.id}: {found.outcome}. {found.note}"
        else:
            yield from map(str, found)


def _answers(explainer: Explainer, settings: JobSettings, row: InputRow) -> list[dict[str, Any]]:
    found = _explained(explainer, settings, row)
    if isinstance(found, RowFailure):
        return [_without_answer(row, found)]
    return [_answer(row, k, one) for k, one in enumerate(found)]


def _explained(explainer: Explainer, settings: JobSettings, row: InputRow) -> list[Counterfactual] | RowFailure:
    classifier = explainer.kit.classifier
    if isinstance(classifier, BlackBox):
        classifier.renew()  # its budget is for each row: an answer must not depend on the rows before
    try:
        return next(explainer.explain_each([row], query=settings.query))
    except MissingExtra:
        raise  # of the machine, not of the row
    except (DataError, GraphError, SchemaError, ConfigError) as error:
        return RowFailure(BAD_INPUT, str(error))
    except Exception as error:  # one row of many must not end the others, whatever a classifier of the user's does
        return RowFailure(FAILED, f"{type(error).__name__}: {error}")


def _answer(row: InputRow, number: int, found: Counterfactual) -> dict[str, Any]:
    record = to_record(found)
    seconds = record.pop(TIMING)
    smiles = record.get("smiles", {})
    return {
        "row": row.number,
        "answer": number,
        "id": row.id,
        "input": row.text,
        "outcome": found.outcome.value,
        "flipped": found.flipped,
        "target": found.class_name(found.target),
        "p_factual": record["p_factual"],
        "p_counterfactual": record["p_counterfactual"],
        "smiles_factual": smiles.get("factual"),
        "smiles_counterfactual": smiles.get("counterfactual"),
        "num_edits": len(found.edits),
        "num_heavy_edits": len(heavy_edits(found.factual, found.edits)),
        "edits": "; ".join(describe(found)),
        "note": " ".join(filter(None, [found.note, *found.remarks, "" if found.flipped else found.outcome.advice])),
        "record": json.dumps(record, ensure_ascii=False, allow_nan=False),
        TIMING: seconds if math.isfinite(seconds) else None,
    }


def _without_answer(row: InputRow, problem: RowFailure) -> dict[str, Any]:
    told = {"row": row.number, "answer": 0, "id": row.id, "input": row.text}
    return told | {"outcome": problem.outcome, "note": problem.note, "flipped": False}
