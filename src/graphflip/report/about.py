"""The head of a report: the model and its figures, the question, the date, and the command that asks it again."""

import shlex
from datetime import UTC, datetime
from pathlib import Path

from ..errors import GraphflipError
from ..explain.kit import find_kit
from ..explain.query import Query
from ..jobs.folder import MANIFEST, read_manifest
from ..models.storage.store import CARD, read_card
from ..version import __version__

Facts = tuple[tuple[str, str], ...]
"""Pairs of a name and what there is to say about it."""


def about_job(folder: Path) -> Facts:
    """Facts about a job from its manifest; nothing if the folder has none that can be read."""
    try:
        manifest = read_manifest(folder)
    except GraphflipError:
        return ()
    settings, query = manifest.settings, manifest.settings.query
    made = datetime.fromtimestamp((folder / MANIFEST).stat().st_mtime, UTC)
    model = Path(settings.model).name
    facts = [("Model", f"{model}, with the classifier {settings.classifier}" if settings.classifier else model)]
    if settings.classifier is None:
        facts += [("Classifier", words) for words in [figures_in_words(settings.model)] if words]
    facts += [
        ("Preference", query.prefer),
        *([("Options", in_words(query))] if in_words(query) else []),
        ("Input", f"{manifest.input}, {manifest.rows} {'row' if manifest.rows == 1 else 'rows'}"),
        ("Date", f"{made:%Y-%m-%d %H:%M} UTC"),
        ("Version", f"graphflip {manifest.versions.get('graphflip', __version__)}"),
        ("Command", command(manifest.input, model if settings.model == model else settings.model, query)),
    ]
    return tuple(facts)


def about_question(
    source: str, prefer: str, options: str = "", command: str = "", classifier: str | None = None
) -> Facts:
    """Facts about explanations that were made just now, by the kit of a name or folder."""
    model = Path(source).name
    facts = [
        ("Model", f"{model}, with the classifier {classifier}" if classifier else model),
        ("Classifier", "" if classifier else figures_in_words(source)),
        ("Preference", prefer),
        ("Options", options),
        ("Date", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        ("Version", f"graphflip {__version__}"),
        ("Command", command),
    ]
    return tuple(fact for fact in facts if fact[1])


def figures_of(source: str) -> tuple[dict[str, float], str]:
    """Figures of a kit's classifier on its test part, and a sentence on its data; nothing if they are not known."""
    try:
        folder = find_kit(source) / "classifier"
        card = read_card(folder) if (folder / CARD).is_file() else None
    except GraphflipError:
        card = None
    if card is None:
        return {}, ""
    figures = {name: round(value, 4) for name, value in card.figures.items() if isinstance(value, float | int)}
    split = card.data.split if card.data else {}
    if card.data is None or not {"train", "test"} <= split.keys():
        return figures, ""
    return figures, f"{card.data.name}: trained on {split['train']} graphs, tested on {split['test']}"


def figures_in_words(source: str) -> str:
    """The figures of a kit's classifier as a sentence; empty if they are not known."""
    figures, data = figures_of(source)
    said = [f"right for {100 * figures['accuracy']:.0f} of 100 test graphs"] if "accuracy" in figures else []
    said += [f"AUROC {figures['auroc']:.3f}"] if "auroc" in figures else []
    said += [f"R² {figures['r2']:.3f}"] if "r2" in figures else []
    return "; ".join([*([", ".join(said)] if said else []), *([data] if data else [])])


def in_words(query: Query) -> str:
    """The options of a question beside its preference that are not the default."""
    changes = {name: value for name, value in query.changes().items() if name != "prefer"}
    return ", ".join(f"{name.replace('_', ' ')} {_listed(value)}" for name, value in changes.items())


def command(source: str, model: str, query: Query) -> str:
    """The command that asks the question again."""
    parts = ["graphflip", "explain", source, "--model", model]
    for name, value in query.changes().items():
        flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
        if isinstance(value, bool):
            parts.append(flag)
        else:
            flag = flag.removesuffix("s") if isinstance(value, tuple) and name not in _FLAGS else flag
            parts += [flag, _listed(value)]
    return shlex.join([*parts, "--out", "FOLDER"])


_FLAGS = {"freeze_nodes": "--freeze", "parent": "--as-is"}
"""Flags of the command line that are not the name of the option."""


def _listed(value: object) -> str:
    """A value as the command line takes it."""
    if isinstance(value, tuple):
        return ",".join("-".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value)
    return "yes" if value is True else "no" if value is False else str(value)
