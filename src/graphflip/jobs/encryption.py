"""Encryption of a Dask cluster: whoever can send to a scheduler can run code on all of its workers."""

import json
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from distributed import Security

_MAKE_KEY = (
    *("openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
    *("-days", "30", "-subj", "/CN=graphflip", "-keyout", "-", "-out", "-"),
)


def temporary_security() -> "Security":
    """A new key for one cluster, in memory alone: only processes that have it can connect.

    It is made with the package `cryptography`, or with the program `openssl`.
    """
    from distributed import Security

    if find_spec("cryptography") is not None:
        return Security.temporary()
    try:
        made = subprocess.run(_MAKE_KEY, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise MissingExtra(
            "A local Dask cluster is encrypted, for which it needs the package `cryptography` or the program "
            "`openssl`; neither can be used here. Install one: pip install cryptography"
        ) from error
    key, certificate = (_block(made, kind) for kind in (r"[A-Z ]*PRIVATE KEY", "CERTIFICATE"))
    pairs = {f"tls_{role}_{part}": text for role in _ROLES for part, text in (("key", key), ("cert", certificate))}
    return Security(require_encryption=True, tls_ca_file=certificate, **pairs)


_ROLES = ("scheduler", "worker", "client")


def check_encrypted(scheduler: str, unencrypted: bool) -> None:
    """Raise ConfigError if a scheduler, given by its address or file, has no TLS and this was not allowed in words."""
    address = scheduler
    if Path(scheduler).is_file():
        try:
            address = str(json.loads(Path(scheduler).read_bytes())["address"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise ConfigError(f"{scheduler}: must be the file of a Dask scheduler; it is not ({error}).") from error
    if not address.startswith("tls://") and not unencrypted:
        raise ConfigError(
            f"A scheduler must be encrypted (tls://…), because whoever reaches it can run code as you; got {address}. "
            "Start it with TLS, or, on a network that you trust, say --unencrypted."
        )


def _block(text: str, kind: str) -> str:
    """A part of a PEM text."""
    found = re.search(rf"-----BEGIN {kind}-----.*?-----END {kind}-----\n", text, re.DOTALL)
    if found is None:
        raise ConfigError("The program openssl must make a key and a certificate; it made none. Install another one.")
    return found[0]
