"""Tables of the field: figures of every method, what each can do, ranks, failures by reason."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ...errors import ConfigError
from ...rivals.rival import Abilities, About
from ..paper.tables import NAMES
from ..quality.material import Material
from ..tables import Column, Row, Table, TablePart, markdown_lines
from .methods import METHODS, OURS, FieldMethod
from .statistics import Ranking, ranking

BESIDE = ("graphs", "oracle")
"""Keys of a block that are no methods."""
RANKED = {
    "flip_ratio": ("flip ratio", True),
    "believed": ("flips that both judges confirm, mean of the two NAFR", True),
    "heavy_edits": ("heavy edits of flips; no flip at all ranks last", False),
    "ged": ("edit distance of flips, hydrogens included; no flip at all ranks last", False),
    "seconds": ("seconds", False),
}
"""Figures by which methods are ranked: in words, and True if more is better."""

FOOTNOTES = {
    "flips": "Shares of all inputs: flip ratio and NAFR (flips that a judge of another family confirms). In brackets "
    "bootstrap intervals of 95 % over graphs. All other figures are means over answers that flip.",
    "ged": "Upper bound of the labelled edit distance, whatever the order of nodes; `proved` is the share of pairs for "
    "which it is proved to be the distance.",
    "heavy": "Edits by the best alignment known, without hydrogens that come and go with their bonds and charges that "
    "follow from others. A method that breaks valences may move hydrogens alone and have less than 1 here: GED counts "
    "them.",
    "minimal": "No single change can be taken back so that a valid, smaller graph remains which still flips.",
    "known": "Share of all inputs for which the true class changes, with the fewest edits possible.",
    "seconds": "Processor time of the method alone, one thread; without training (CLEAR, autoencoders).",
    "calls": "Graphs shown to the classifier, relaxed ones included; a dash if the method does not count.",
}

CHANGES = {
    "seed": "another seed",
    "noise": "1–5 % of edges perturbed",
    "retrained": "classifier retrained with another seed",
}
"""Changes under which a method is asked again, in words."""

_SUBJECT = (Column("data", "dataset"), Column("oracle", "oracle"), Column("method", "row"))
_PARTS = (
    TablePart(
        "Does it flip, and do other models believe it?",
        (
            *_SUBJECT,
            Column("flip ratio ↑", "flip_ratio_text", note="flips"),
            Column("NAFR, GNN ↑", "nafr_text"),
            Column("NAFR, trees ↑", "nafr_other_text"),
            Column("environment ↑", "environment", 2),
            Column("molecule ↑", "molecule", 2),
            Column("radical-free ↑", "radical_free", 2),
            Column("aromatic kept ↑", "aromatic_kept", 2),
            Column("known answer ↑", "known_answer", 2, note="known"),
            Column("graphs", "n", 0),
        ),
    ),
    TablePart(
        "How small is it, and what does it cost?",
        (
            *_SUBJECT,
            Column("heavy edits ↓", "heavy_edits_text", note="heavy"),
            Column("edits ↓", "edits", 1),
            Column("GED ↓", "ged_text", note="ged"),
            Column("proved", "proved", 2),
            Column("EdgeSp ↑", "edge_sp", 2),
            Column("1-minimal ↑", "one_minimal", 2, note="minimal"),
            Column("seconds ↓", "seconds", 2, note="seconds"),
            Column("calls ↓", "calls", 0, note="calls"),
        ),
    ),
)


def rows_of(content: Mapping[str, Any]) -> list[Row]:
    """One row for each set, oracle and method that was measured."""
    rows: list[Row] = []
    for name, oracles in blocks_of(content).items():
        for oracle, block in oracles.items():
            for method in in_order(block):
                figures = block[method]
                if "cannot" not in figures:
                    subject = {"dataset": NAMES.get(name, name), "oracle": oracle, "row": method}
                    rows.append(
                        {**subject, **{k: v for k, v in figures.items() if not isinstance(v, dict)}, **_texts(figures)}
                    )
    return rows


def field_table(content: Mapping[str, Any]) -> Table:
    """The table of all figures."""
    return Table("table", _PARTS, rows_of(content), FOOTNOTES)


def summary_lines(content: Mapping[str, Any]) -> list[str]:
    """Markdown: one row for each method, one column for each set with an oracle, three figures in each cell."""
    blocks = {
        f"{NAMES.get(name, name)}, {oracle} ({_most(block)})": block
        for name, oracles in blocks_of(content).items()
        for oracle, block in oracles.items()
    }
    names = [method.name for method in methods_of(content)]
    cells = [[f"`{name}`", *(_three(block.get(name, {})) for block in blocks.values())] for name in names]
    return markdown_lines(["method", *blocks], cells)


def _most(block: Mapping[str, Any]) -> int:
    """Number of graphs of a block; slow methods may have fewer."""
    return max((int(block[name].get("n", 0)) for name in in_order(block)), default=0)


def _three(figures: Mapping[str, Any]) -> str:
    """Flip ratio, believed (mean of the two NAFR) and edit distance of flips; a dash where nothing was measured."""
    if figures.get("flip_ratio") is None:
        return "–"
    ged = figures.get("ged")
    believed = _ranked(figures, "believed", 0.0)
    return f"{figures['flip_ratio']:.2f} / {believed:.2f} / " + ("–" if ged is None else f"{ged:.1f}")


def blocks_of(content: Mapping[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Figures by set and oracle, without what is told of the whole."""
    return {name: value for name, value in content.items() if name not in ("provenance", "stability", "ranks")}


def in_order(block: Mapping[str, Any]) -> list[str]:
    """Methods of a block in the order of the table; those that were added from files come last."""
    known = [name for name in METHODS if name in block]
    return known + sorted(name for name in block if name not in METHODS and name not in BESIDE)


def methods_of(content: Mapping[str, Any]) -> list[FieldMethod]:
    """Methods of the table: those of the package, then classes of the user, as the table describes them."""
    there: dict[str, dict[str, Any]] = {}
    for oracles in blocks_of(content).values():
        for block in oracles.values():
            there |= {name: block[name] for name in in_order(block)}
    own = []
    for name, figures in there.items():
        if name not in METHODS and "about" in figures:
            able = Abilities(
                **{**figures["about"]["abilities"], "needs": tuple(figures["about"]["abilities"]["needs"])}
            )
            own.append(FieldMethod(name, About(**{**figures["about"], "abilities": able}), _not_built))
    return [*(method for name, method in METHODS.items() if name in there), *own]


def _not_built(material: Material) -> NoReturn:
    raise ConfigError("A method that is read from a table can be shown, not run.")


def rankings(content: Mapping[str, Any]) -> dict[str, Ranking]:
    """Ranks of the methods that were measured in all blocks, by each of `RANKED`."""
    found = {}
    blocks = [block for oracles in blocks_of(content).values() for block in oracles.values()]
    for figure, (_, higher) in RANKED.items():
        worst = 0.0 if higher else float("inf")
        values = [
            {name: _ranked(block[name], figure, worst) for name in in_order(block) if "cannot" not in block[name]}
            for block in blocks
        ]
        ranked = ranking(values, higher)
        if ranked is not None:
            found[figure] = ranked
    return found


def rank_lines(content: Mapping[str, Any]) -> list[str]:
    """Markdown: mean ranks, critical differences, and the groups that the test does not tell apart."""
    lines = []
    for figure, ranked in rankings(content).items():
        words, _ = RANKED[figure]
        lines += [f"#### By {words}", "", ", ".join(f"{name} {rank:.1f}" for name, rank in ranked.ranks.items()), ""]
        if ranked.p_value is not None and ranked.critical_difference is not None:
            lines.append(
                f"Mean ranks over {ranked.blocks} blocks (a set with an oracle each; blocks of one set are not "
                f"independent). Friedman p = {ranked.p_value:.2g}; mean ranks that differ by less than "
                f"{ranked.critical_difference:.1f} are not told apart (Nemenyi, 95 %)."
            )
            lines.append("")
    return lines


def ability_lines(methods: Sequence[FieldMethod]) -> list[str]:
    """Markdown: what each method can do, what it needs, where it is from."""
    marks = list(methods[0].about.abilities.marks) if methods else []
    cells = []
    for method in methods:
        able = method.about.abilities
        usual = "defaults" if method.name in OURS else "usual ones"
        can = ["yes" if yes else "no" for yes in able.marks.values()]
        needs = ", ".join(able.needs) or "nothing but answers"
        cells.append([f"`{method.name}`", method.about.title, *can, needs, method.changes or usual])
    return markdown_lines(["method", "name", *marks, "needs", "settings"], cells)


def failure_lines(content: Mapping[str, Any]) -> list[str]:
    """Markdown: answers that do not flip, by reason; and methods that could not be measured."""
    cells = []
    for name, oracles in blocks_of(content).items():
        for oracle, block in oracles.items():
            for method in in_order(block):
                figures = block[method]
                reasons = ", ".join(f"{reason} {count}" for reason, count in figures.get("failures", {}).items())
                reasons = reasons or (f"not measured: {figures['cannot']}" if "cannot" in figures else "")
                if reasons:
                    cells.append([NAMES.get(name, name), oracle, method, reasons])
    return markdown_lines(["data", "oracle", "method", "reasons"], cells) if cells else []


def oracle_lines(content: Mapping[str, Any]) -> list[str]:
    """Markdown: accuracy of each oracle on the whole test part."""
    cells = [
        [
            NAMES.get(name, name),
            oracle,
            *(f"{block['oracle'].get(key, float('nan')):.3f}" for key in ("accuracy", "auroc")),
        ]
        for name, oracles in blocks_of(content).items()
        for oracle, block in oracles.items()
        if block.get("oracle")
    ]
    return markdown_lines(["data", "oracle", "accuracy", "AUROC"], cells)


def stability_lines(content: Mapping[str, Any]) -> list[str]:
    """Markdown: for each method and each change, the share that stays valid and the similarity of edits."""
    header = ["data", "oracle", "method", "graphs"]
    header += [f"{words}: {what}" for words in CHANGES.values() for what in ("valid", "flips again", "same edits")]
    cells = []
    for name, oracles in content["stability"].items():
        for oracle, methods in oracles.items():
            for method, figures in methods.items():
                row = [NAMES.get(name, name), oracle, method, str(figures["n"])]
                for change in CHANGES:
                    found = figures.get(change, {})
                    row += [_share(found.get(key)) for key in ("valid", "flips_again", "similarity")]
                cells.append(row)
    note = (
        "Of graphs that the method flips: valid, the same edits still flip (for the perturbed graph, or for the "
        "retrained classifier where it predicts the same class for the factual); flips again, the method finds a flip "
        "under the change; same edits, mean Jaccard similarity of the two lists of edits. Measured with `--stability`, "
        "added to the command of the rows."
    )
    return [*markdown_lines(header, cells), "", note]


def _ranked(figures: Mapping[str, Any], figure: str, worst: float) -> float:
    if figure == "believed":
        both = [figures.get(name) for name in ("nafr", "nafr_other")]
        known = [value for value in both if value is not None]
        return sum(known) / len(known) if known else worst
    value = figures.get(figure)
    return worst if value is None else float(value)


def _texts(figures: Mapping[str, Any]) -> Row:
    """Figures with their intervals."""
    texts: Row = {}
    for name, digits in (("flip_ratio", 2), ("nafr", 2), ("nafr_other", 2), ("heavy_edits", 1), ("ged", 1)):
        value, low, high = (figures.get(name + end) for end in ("", "_low", "_high"))
        if value is not None:
            ends = f" [{low:.{digits}f}, {high:.{digits}f}]" if low is not None and high is not None else ""
            texts[f"{name}_text"] = f"{value:.{digits}f}{ends}"
    return texts


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
