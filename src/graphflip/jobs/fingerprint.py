"""Fingerprint of a classifier of the user's: a job must go on with the one that it was begun with."""

import hashlib
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ..data.inputs import InputRow
from ..errors import GraphflipError
from .answers import explainer_of, weights_digest
from .child import Child, Died, End
from .settings import JobSettings

_ROWS = 16
_SECONDS = 20.0
_DECIMALS = 3


def classifier_fingerprint(
    settings: JobSettings, rows: Iterable[InputRow], row_seconds: float = math.inf
) -> tuple[str, ...]:
    """Digests of a classifier's weights and of its answers to each of the first rows; empty if it is the kit's own.

    It is asked in another process: of a classifier that dies of a row, or needs more than `row_seconds` for it, the
    answers before are known.
    """
    if settings.classifier is None:
        return ()
    heard: list[str] = []
    child, deadline = Child(), time.monotonic() + _SECONDS
    try:
        child.give(_ask, settings, tuple(islice(rows, _ROWS)))
        while child.connection.poll(max(0.0, _patience(deadline, row_seconds if heard else math.inf))):
            said = child.take()
            if isinstance(said, End):
                break
            heard.append(said)
    except Died:
        pass
    finally:
        child.kill()
    return tuple(heard)


def _patience(deadline: float, row_seconds: float) -> float:
    """Seconds to wait for the next answer."""
    return min(deadline - time.monotonic(), row_seconds)


def _ask(settings: JobSettings, rows: Sequence[InputRow]) -> Iterator[str]:
    """Yield digests of the weights, and of what the classifier says of each row, rounded."""
    explainer = explainer_of(settings)
    yield weights_digest(settings)[:16]
    for row in rows:
        try:
            said = explainer.predict(row.graph(explainer.kit.schema, settings.query.parent))
            yield _digest([round(value, _DECIMALS) for value in said.values()])
        except GraphflipError:
            continue  # not a graph that it could be asked about
        except (Exception, SystemExit) as error:  # of the user's code
            yield _digest(type(error).__name__)


def _digest(said: object) -> str:
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]
