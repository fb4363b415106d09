"""Sessions in a folder, so that they survive a restart: a folder for each session, a file for each thing in it."""

import hashlib
import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import ConfigError

log = logging.getLogger(__name__)


class SessionStore:
    """A folder of sessions; without a folder, nothing is kept.

    Sessions are named by a digest of their token, so that nobody who reads the folder can use a session. The folder can
    be read by its owner alone. If there are more than `limit` sessions, those that were used least recently are
    dropped.
    """

    def __init__(self, folder: str | None, limit: int):
        self.folder, self.limit = None if folder is None else Path(folder).expanduser(), limit
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise ConfigError(
                f"The folder of sessions must be one that can be written: {self.folder}; {error.strerror}. "
                "Name another with --keep, or keep nothing with --forget."
            ) from error
        self._drop_old()

    def save(self, token: str, name: str, content: dict[str, Any]) -> None:
        """Write a thing of a session; a full disk is logged, and the session goes on in memory."""
        if self.folder is None:
            return
        path = self._folder_of(token) / f"{name}.json"
        try:
            path.parent.mkdir(exist_ok=True, mode=0o700)
            part = path.with_suffix(".part")
            part.write_text(json.dumps(content), encoding="utf-8")
            part.replace(path)  # whole or not at all
        except OSError as error:
            log.error("%s cannot be written: %s", path, error.strerror)

    def forget(self, token: str, *names: str) -> None:
        """Delete things of a session; a name may be a pattern with a star."""
        if self.folder is not None:
            for file in [file for name in names for file in self._folder_of(token).glob(f"{name}.json")]:
                file.unlink(missing_ok=True)

    def load(self, token: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Names and contents of all things of a session, the one first that was written first; damaged ones not."""
        if self.folder is None:
            return
        files = sorted(self._folder_of(token).glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
        for file in files:
            with suppress(OSError, ValueError):
                yield file.stem, json.loads(file.read_bytes())

    def _folder_of(self, token: str) -> Path:
        assert self.folder is not None
        return self.folder / hashlib.sha256(token.encode()).hexdigest()[:32]

    def _drop_old(self) -> None:
        assert self.folder is not None
        kept = [one for one in self.folder.iterdir() if one.is_dir() and len(one.name) == 32]
        for old in sorted(kept, key=lambda one: one.stat().st_mtime_ns, reverse=True)[self.limit :]:
            shutil.rmtree(old, ignore_errors=True)
