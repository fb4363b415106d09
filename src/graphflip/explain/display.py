"""How explanations are shown. What stands above them (words, pictures) is registered here and found by its name."""

from importlib import import_module
from typing import Any, Literal

Form = Literal["text", "html"]

_SHOWN: dict[Form, tuple[str, str]] = {}


def register(form: Form, module: str, function: str) -> None:
    """Show explanations in this form with a function, imported when first used."""
    _SHOWN[form] = module, function


def shown(form: Form, explanation: Any) -> str:
    """An explanation in a form."""
    module, function = _SHOWN[form]
    return getattr(import_module(module), function)(explanation)
