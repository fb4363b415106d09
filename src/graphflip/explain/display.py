"""Registry of functions that stand above explanations: words, pictures and summaries register here."""

from importlib import import_module
from typing import Any, Literal

Form = Literal["text", "html", "summary"]

_SHOWN: dict[Form, tuple[str, str]] = {}


def register(form: Form, module: str, function: str) -> None:
    """Name the function that shows explanations in this form; it is imported when first used."""
    _SHOWN[form] = module, function


def shown(form: Form, explanation: Any) -> str:
    """Show an explanation in a form."""
    module, function = _SHOWN[form]
    return getattr(import_module(module), function)(explanation)


def summarize(self: Any, graphs: Any, target: Any = None, **options: Any) -> Any:
    """Summarize what the classifier goes by: changes that flip its prediction for many graphs.

    Args:
        graphs: Many inputs, as `explain` takes them.
        target: One target, as in `explain`; by default every class in turn. A model of values must be told.
        **options: `ids`, `name`, and fields of `graphflip.summary.SummaryOptions`, such as `num` and `theta`.

    Returns:
        A `graphflip.summary.ModelSummary`: print it, or write it with `graphflip.report.summary_page.write_summary`.

    Raises:
        ConfigError: If an option cannot be used, or the classifier has no such target.
        DataError: If an input cannot be read.

    Example:
        >>> explainer = graphflip.load("ames")                                            # doctest: +SKIP
        >>> print(explainer.summarize(graphflip.load_dataset("ames"), "nonmutagen"))      # doctest: +SKIP
    """
    module, function = _SHOWN["summary"]
    return getattr(import_module(module), function)(self, graphs, target, **options)
