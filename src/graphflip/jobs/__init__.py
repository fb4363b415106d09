"""Many explanations that survive kills: streamed in, written in shards, the same whoever computes them."""

from typing import TYPE_CHECKING

from ..lazy import attach

if TYPE_CHECKING:
    from ..data.source import Source as Source
    from ..data.source import of_graphs as of_graphs
    from ..data.source import open_source as open_source
    from .answers import explain_now as explain_now
    from .engines import AbstractEngine as AbstractEngine
    from .engines import InProcess as InProcess
    from .engines import Processes as Processes
    from .export import explained as explained
    from .run import JobProgress as JobProgress
    from .run import JobSummary as JobSummary
    from .run import run_job as run_job
    from .settings import JobSettings as JobSettings

__getattr__, __dir__ = attach(__name__, __file__)
