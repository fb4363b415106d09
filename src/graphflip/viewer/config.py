"""Configuration of the viewer: the kits it serves, its address, and its limits."""

import os
from dataclasses import dataclass

from ..errors import ConfigError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERYWHERE = ("0.0.0.0", "::", "")
_COUNTS = (
    *("workers", "max_waiting", "max_active", "max_bytes", "max_smiles", "max_rows", "max_sessions", "max_jobs"),
    "max_kept",
)


@dataclass(frozen=True)
class ViewerConfig:
    """Kits to serve, the address, and limits.

    Args:
        models: Names of packaged kits, or folders of kits.
        token: Secret that requests must bring, as a cookie or in a header; empty if anybody may ask.
        classifier: `package.module:factory` of a classifier that replaces those of the kits.
        host: Address to listen on.
        port: Port to listen on.
        names: Further host names by which browsers may address the server.
        workers: Number of processes that search for explanations.
        max_waiting: Most jobs in the queue.
        max_active: Most jobs of one session that are waiting or running.
        seconds: Time limit of a job.
        quick_seconds: Time limit of every other request.
        max_bytes: Longest body of a request.
        max_smiles: Longest SMILES, in characters.
        max_rows: Most entries that are read of a file.
        max_sessions: Most sessions in memory.
        max_jobs: Most jobs that one session keeps, with their answers.
        max_kept: Most bytes of answers that one session keeps, in memory; all sessions together have ten times as many.
        read_seconds: Time in which a request must have arrived as a whole.
        patience: Seconds after which a job is cancelled that no page asks about any more.
        keep: Folder in which sessions are kept, so that they survive a restart; None keeps them in memory alone.
        summaries: Folders that `graphflip summarize` wrote, for the page "What it goes by".
    """

    models: tuple[str, ...] = ("ames",)
    classifier: str | None = None
    token: str = ""
    host: str = "127.0.0.1"
    port: int = 8765
    names: tuple[str, ...] = ()
    workers: int = 1
    max_waiting: int = 16
    max_active: int = 8
    seconds: float = 60.0
    quick_seconds: float = 20.0
    max_bytes: int = 1_000_000
    max_smiles: int = 500
    max_rows: int = 200
    max_sessions: int = 200
    max_jobs: int = 30
    max_kept: int = 20_000_000
    read_seconds: float = 20.0
    patience: float = 60.0
    keep: str | None = None
    summaries: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.models:
            raise ConfigError("The viewer needs at least one kit; got none. Name one: --model ames.")
        if len(set(self.titles)) != len(self.models):
            raise ConfigError(f"Kits must have different names; got {', '.join(self.titles)}. Rename a folder.")
        if self.host in _EVERYWHERE and not self.names:
            raise ConfigError(
                f"To listen on every address ({self.host or 'empty'}), say by which names browsers may reach the "
                "server: --name my-machine.example. Or keep the default 127.0.0.1."
            )
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must be at least 1; got {getattr(self, name)}.")
        if min(self.seconds, self.quick_seconds, self.read_seconds, self.patience) <= 0:
            raise ConfigError("Time limits must be more than 0 seconds.")

    @property
    def titles(self) -> tuple[str, ...]:
        """Names of the kits as the page shows them: of a folder, its name without the path to it."""
        return tuple(map(title_of, self.models))

    def source(self, title: str) -> str:
        """The name or folder of the kit with this title, as it stands in `models`."""
        return self.models[self.titles.index(title)]

    @property
    def cookie(self) -> str:
        """Name of the session cookie. It contains the port, because browsers share cookies between ports of a host."""
        return f"graphflip_{self.port}"

    @property
    def key_cookie(self) -> str:
        """Name of the cookie that holds the token."""
        return f"{self.cookie}_key"

    @property
    def entrance(self) -> str:
        """URL that opens the page for whoever has it: the address with the token."""
        return f"{self.address}/?token={self.token}" if self.token else self.address

    @property
    def address(self) -> str:
        """URL of the page."""
        name = self.names[0] if self.host in _EVERYWHERE else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"

    @property
    def is_local(self) -> bool:
        """True if the server listens on a loopback address only."""
        return self.host in LOOPBACK

    @property
    def is_private(self) -> bool:
        """True if only loopback clients can connect; further host names mean a proxy, which lets others in."""
        return self.is_local and not self.names

    @property
    def hosts(self) -> frozenset[str]:
        """Host names that a request may be addressed to, in lower case."""
        own = () if self.host in _EVERYWHERE else (self.host,)
        return frozenset(name.lower().strip("[]") for name in (*LOOPBACK, *own, *self.names))


def title_of(model: str) -> str:
    """The name of a kit as the page shows it."""
    return os.path.basename(os.path.abspath(model))
