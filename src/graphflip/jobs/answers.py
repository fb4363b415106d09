"""The work on a shard: rows in, a Parquet table of answers out. A row that cannot be explained has an answer too."""

import faulthandler
import hashlib
import json
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple, TypeVar

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
from ..models.storage.files import weights_blob
from ..models.storage.store import CARD
from ..summary.studies import Study
from ..version import __version__
from .plain_json import without_halves
from .settings import JobSettings
from .tables import TIMING, to_parquet

BAD_INPUT, FAILED, CRASHED, OUT_OF_TIME, TRIED = "bad_input", "failed", "crashed", "out_of_time", "tried"
"""Outcomes of rows, besides those of searches: it could not be read; an error came up; its process died of it; it took
too long; the recourses of a study were tried on it."""

ROW_FAILURES = {BAD_INPUT, FAILED, CRASHED, OUT_OF_TIME}
"""Those of rows that no search gave an answer to."""

Found = TypeVar("Found")


class Order(NamedTuple):
    """Everything a worker must know besides the rows; `kit` and `versions` are those of the process that asks.

    `weights` is the sha256 of the weights of a classifier of the user's. After `row_seconds` with one row a worker that
    has no other supervision ends itself.
    """

    settings: JobSettings
    kit: str
    versions: Mapping[str, str]
    weights: str | None = None
    row_seconds: float | None = None


def explain_rows(order: Order, rows: Sequence[InputRow], tick: Callable[[], None] = lambda: None) -> bytes:
    """A Parquet file with the answers to these rows."""
    answers = []
    for found in answer_rows(order, rows):
        if found is not None:
            answers += found
            tick()
    return to_parquet(answers)


def answer_rows(order: Order, rows: Iterable[InputRow]) -> Iterator[list[dict[str, Any]] | None]:
    """Yield None when the models are loaded, then the answers to each row.

    They are computed by one thread, so that they are the same everywhere.
    """
    _check_worker(order)
    explainer = explainer_of(order.settings)
    yield None
    for row in rows:
        with one_thread(), _watchdog(order.row_seconds):
            found = _answers(explainer, order.settings, row)
        yield found


_ONE_AT_A_TIME = threading.Lock()  # the number of threads belongs to the whole process


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread within the block."""
    import torch

    with _ONE_AT_A_TIME:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


@contextmanager
def _watchdog(seconds: float | None) -> Iterator[None]:
    """End the process if the block takes longer; nothing else ends native code that hangs."""
    if seconds is None:
        yield
        return
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _check_worker(order: Order) -> None:
    """Raise a JobError unless this process has the packages, the kit and the classifier of the one that asks."""
    ours = package_versions()
    different = [
        f"{name} {ours[name]}, not {wanted}" for name, wanted in order.versions.items() if ours[name] != wanted
    ]
    different += [] if order.kit == kit_digest(order.settings.model) else [f"other files of {order.settings.model}"]
    if not different and order.weights not in (None, weights_digest(order.settings)):
        different = [f"other weights of {order.settings.classifier}"]
    if different:
        raise JobError(
            f"All workers must have the same packages, kit and classifier; this one has {', '.join(different)}. "
            "Install the same on all machines."
        )


def package_versions() -> dict[str, str]:
    """Versions of the packages that answers depend on."""
    return {"graphflip": __version__} | {name: _version(name) for name in _PACKAGES}


_PACKAGES = ("torch", "numpy", "rdkit")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


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


def weights_digest(settings: JobSettings) -> str:
    """sha256 of the weights of the classifier that settings name."""
    return hashlib.sha256(weights_blob(explainer_of(settings).kit.classifier)).hexdigest()


def crashed(row: InputRow) -> dict[str, Any]:
    """The answer to a row whose explanation ended the process it ran in."""
    note = "The process that worked on this input died each time. It may have run out of memory or of time."
    return _without_answer(row, RowFailure(CRASHED, note))


def out_of_time(row: InputRow, seconds: float) -> dict[str, Any]:
    """The answer to a row whose explanation took longer than allowed."""
    note = f"It took longer than {seconds:g} s. Give a smaller graph, or allow more with --row-seconds."
    return _without_answer(row, RowFailure(OUT_OF_TIME, note))


class RowFailure(NamedTuple):
    """Why a row has no explanation."""

    outcome: str
    note: str


_SHOWN = 80  # characters of an id; that of a molecule by itself is its SMILES


class Said(NamedTuple):
    """An explanation of a row as text, or what was wrong with it; `answered` is True for an explanation."""

    text: str
    answered: bool


def explain_now(settings: JobSettings, source: Source) -> Iterator[Said]:
    """The explanations of a source's rows as texts to print, or what was wrong with them."""
    check(settings)
    explainer = explainer_of(settings)
    for row in source.nonempty():
        with one_thread():
            found = _explained(explainer, settings, row)
        if isinstance(found, RowFailure):
            name = row.id if len(row.id) <= _SHOWN else row.id[:_SHOWN] + "…"
            yield Said(f"{name}: {found.outcome}. {found.note}", answered=False)
        else:
            yield from (Said(str(one), answered=True) for one in found)


def _answers(explainer: Explainer, settings: JobSettings, row: InputRow) -> list[dict[str, Any]]:
    if settings.study is not None:
        return [_tried(explainer, settings.study, row)]
    found = _explained(explainer, settings, row)
    if isinstance(found, RowFailure):
        return [_without_answer(row, found)]
    return [without_halves(_answer(row, k, one)) for k, one in enumerate(found)]


def _tried(explainer: Explainer, study: str, row: InputRow) -> dict[str, Any]:
    """Try the recourses of a study on a row; the record holds their results."""
    found = _kept(explainer, lambda: _study(study, explainer).results(explainer.read(row)))
    if isinstance(found, RowFailure):
        return _without_answer(row, found)
    flipped = any(one and any(flips for flips, *_ in one.values()) for one in found)
    told = {"row": row.number, "answer": 0, "id": row.id, "input": row.text, "outcome": TRIED, "flipped": flipped}
    return without_halves(told | {"note": "", "record": json.dumps(found)})


@lru_cache(maxsize=1)
def _study(text: str, explainer: Explainer) -> Study:
    return Study.from_text(text, explainer)


def _explained(explainer: Explainer, settings: JobSettings, row: InputRow) -> list[Counterfactual] | RowFailure:
    return _kept(explainer, lambda: next(explainer.explain_each([row], query=settings.query)))


def _kept(explainer: Explainer, work: Callable[[], Found]) -> Found | RowFailure:
    """The result of work on one row, or why there is none: no row ends the others."""
    classifier = explainer.kit.classifier
    if isinstance(classifier, BlackBox):
        classifier.renew()  # its budget is for each row: an answer must not depend on the rows before
    try:
        return work()
    except MissingExtra:
        raise  # of the machine, not of the row
    except (DataError, GraphError, SchemaError, ConfigError) as error:
        return RowFailure(BAD_INPUT, str(error))
    except (Exception, SystemExit) as error:  # no row ends the others, whatever a classifier of the user's does
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
    note = problem.note if len(problem.note) <= _LONGEST_NOTE else f"{problem.note[:_LONGEST_NOTE]} …"
    return without_halves(told | {"outcome": problem.outcome, "note": note, "flipped": False})


_LONGEST_NOTE = 2000
