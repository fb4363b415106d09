"""ViewerConfig of the viewer: what it serves, to whom, and how much it takes on."""

import os
from dataclasses import dataclass

from ..errors import ConfigError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERYWHERE = ("0.0.0.0", "::", "")


@dataclass(frozen=True)
class ViewerConfig:
    """Kits to serve, the address, and limits.

    `names` are further host names by which browsers may address the server. `workers` processes search for
    explanations, `waiting` more questions may stand in line, `asked` of them by one session. A question may take
    `seconds`, everything else `quick_seconds`. Sizes: bytes of a request, characters of a SMILES, rows of a file.
    `classifier`, as `package.module:factory`, takes the place of the kits' own.
    """

    models: tuple[str, ...] = ("mutagenicity",)
    classifier: str | None = None
    host: str = "127.0.0.1"
    port: int = 8765
    names: tuple[str, ...] = ()
    workers: int = 1
    waiting: int = 16
    asked: int = 4
    seconds: float = 60.0
    quick_seconds: float = 20.0
    max_bytes: int = 1_000_000
    max_smiles: int = 500
    max_rows: int = 200
    max_sessions: int = 200
    kept: int = 30

    def __post_init__(self) -> None:
        if not self.models:
            raise ConfigError("The viewer needs at least one kit; got none. Name one: --model mutagenicity.")
        if len(set(self.titles)) != len(self.models):
            raise ConfigError(f"Kits must have different names; got {', '.join(self.titles)}. Rename a folder.")
        if self.host in _EVERYWHERE and not self.names:
            raise ConfigError(
                f"To listen on every address ({self.host or 'empty'}), say by which names browsers may reach the "
                "server: --name my-machine.example. Or keep the default 127.0.0.1."
            )
        for name in ("workers", "waiting", "asked", "max_bytes", "max_smiles", "max_rows", "max_sessions", "kept"):
            if getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must be at least 1; got {getattr(self, name)}.")
        if self.seconds <= 0 or self.quick_seconds <= 0:
            raise ConfigError("Time limits must be more than 0 seconds.")

    @property
    def titles(self) -> tuple[str, ...]:
        """Names of the kits as a page shows them: a folder's name, without the path to it."""
        return tuple(map(title_of, self.models))

    def source(self, title: str) -> str:
        """The kit of this title as it was named at the start."""
        return self.models[self.titles.index(title)]

    @property
    def cookie(self) -> str:
        """Cookies do not tell ports apart, so their name does."""
        return f"graphflip_{self.port}"

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        name = self.names[0] if self.host in _EVERYWHERE else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"

    @property
    def is_local(self) -> bool:
        return self.host in LOOPBACK

    @property
    def is_private(self) -> bool:
        """Whether nobody comes but from this machine: a further name is for a proxy, behind which there may be many."""
        return self.is_local and not self.names

    @property
    def hosts(self) -> frozenset[str]:
        """Host names that a request may be addressed to, in lower case."""
        own = () if self.host in _EVERYWHERE else (self.host,)
        return frozenset(name.lower().strip("[]") for name in (*LOOPBACK, *own, *self.names))


def title_of(model: str) -> str:
    """The name of a kit as a page shows it."""
    return os.path.basename(os.path.abspath(model))
