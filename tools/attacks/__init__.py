"""Attacks with files, rows, folders, code and requests: each must do no harm, and is a test and a row of figures."""

from importlib import import_module

from .commands import Commands
from .place import ATTACKS, Attack, Place

__all__ = ["ATTACKS", "Attack", "Commands", "Place"]

for _name in ("tables", "folders", "classifiers", "rows", "code", "bombs", "kits", "viewers", "silence"):
    import_module(f"{__name__}.{_name}")
