"""Registry of the functions that show explanations: words and pictures, which stand above them, register here."""

from importlib import import_module
from typing import Any, Literal

Form = Literal["text", "html"]

_SHOWN: dict[Form, tuple[str, str]] = {}


def register(form: Form, module: str, function: str) -> None:
    """Name the function that shows explanations in this form; it is imported when first used."""
    _SHOWN[form] = module, function


def shown(form: Form, explanation: Any) -> str:
    """Show an explanation in a form."""
    module, function = _SHOWN[form]
    return getattr(import_module(module), function)(explanation)
