"""The paper's three tables, with its figures beside ours."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from ..tables import Column, Row, Table, TablePart
from .runs import Method

NAMES = {"aids": "AIDS", "mutagenicity": "Mutagenicity", "nci1": "NCI1"}


@cache
def published() -> dict[str, Any]:
    """The paper's tables, and footnotes on definitions that differ from ours."""
    return json.loads(files("graphflip.bench.paper").joinpath("published.json").read_text(encoding="utf-8"))


def result_table(results: Mapping[str, Any], methods: Sequence[Method]) -> Table:
    """Table 1: measures of the counterfactuals of each method; the paper's first, then further ones."""
    rows: list[Row] = []
    for name, figures in results.items():
        for method in methods:
            paper = published()["table1"].get(name, {}).get(method.published, {})
            rows.append({"dataset": NAMES.get(name, name), "method": method.title, **figures[method.name]})
            rows[-1] |= {f"paper_{key}": value for key, value in paper.items()}
            # The spread of a 0/1 measure over graphs says nothing new: print the spread over seeds, if there is one.
            for key in ("flip_ratio", "flip_ratio_label", "nafr", "nafr_other"):
                rows[-1][f"{key}_spread"] = figures[method.name].get(f"{key}_seed_spread")
        real = {key: value for key, value in figures["real"].items() if key != "n"}
        rows.append({"dataset": NAMES.get(name, name), "method": "Real graphs", "n": figures["real"]["n"], **real})
    return Table("table1", (_PAPERS_METRICS, _FURTHER_METRICS), rows, published()["notes"])


_SUBJECT = (Column("data", "dataset"), Column("method", "method", note="method"))
_PAPERS_METRICS = TablePart(
    "Table 1: counterfactuals, mean ± spread over graphs (of ratios: over seeds)",
    (
        *_SUBJECT,
        Column("GED ↓ upper", "ged", 1, spread=True, note="ged"),
        Column("lower", "ged_lower", 1),
        Column("proved", "ged_exact_share"),
        Column("paper", "paper_ged", 1, spread=True),
        Column("LED ↓", "led", spread=True, note="led"),
        Column("aligned", "led_aligned", spread=True),
        Column("paper", "paper_led", spread=True),
        Column("cosine ↑", "cosine", spread=True, note="cosine"),
        Column("paper", "paper_cosine", spread=True),
        Column("SIC ↑", "sic", spread=True, note="sic"),
        Column("paper", "paper_sic", spread=True),
        Column("flip ratio ↑", "flip_ratio", 3, spread=True, note="flip_ratio"),
        Column("against the label", "flip_ratio_label", 3, spread=True, note="flip_ratio_label"),
        Column("paper", "paper_flip_ratio", 2),
    ),
)
_FURTHER_METRICS = TablePart(
    "Table 1, continued: measures that the paper does not have",
    (
        *(Column(column.title, column.key) for column in _SUBJECT),
        Column("NAFR ↑", "nafr", 3, spread=True, note="nafr"),
        Column("NAFR, trees ↑", "nafr_other", 3, spread=True),
        Column("molecule ↑", "molecule", 3, note="molecule"),
        Column("plausible ↑", "plausible", 3, note="plausible"),
        Column("EdgeSp ↑", "edge_sp", note="sparsity"),
        Column("NodeSp ↑", "node_sp"),
        Column("edits ↓", "edits", 1, spread=True, note="edits"),
        Column("heavy ↓", "heavy_edits", 1, spread=True),
        Column("seconds a graph ↓", "seconds", 3),
        Column("graphs", "n", 0),
    ),
)


def dataset_table(results: Mapping[str, Any]) -> Table:
    """Table 2: the datasets after the paper's filter."""
    keys = {"graphs": "graphs", "max_nodes": "nodes, at most"}
    keys |= {"node_attributes": "node types", "edge_attributes": "edge types"}
    columns = [Column("data", "dataset")]
    for key, title in keys.items():
        columns += [Column(title, key, 0, note="max_nodes" if key == "max_nodes" else None)]
        columns += [Column("paper", f"paper_{key}", 0)]
    columns += [Column(part, part, 0) for part in ("train", "validation", "test")]
    return _beside(results, "table2", "data", TablePart("Table 2: datasets after filtering", columns))


def model_table(results: Mapping[str, Any]) -> Table:
    """Table 3: the autoencoder and the classifier, measured on the test split."""
    columns = (
        Column("data", "dataset"),
        Column("KL", "kl", note="elbo"),
        Column("by its formula", "kl_published", note="elbo_published"),
        Column("paper", "paper_kl"),
        Column("reconstruction", "reconstruction", note="elbo"),
        Column("by its formula", "reconstruction_published", note="elbo_published"),
        Column("paper", "paper_reconstruction"),
        Column("-ELBO ↓", "neg_elbo", note="elbo"),
        Column("by its formula", "neg_elbo_published", note="elbo_published"),
        Column("paper", "paper_neg_elbo"),
        Column("AUROC ↑", "auroc", 3, note="auroc"),
        Column("paper", "paper_auroc"),
        Column("accuracy ↑", "accuracy", 3),
        Column("AUROC of the judge", "auroc_judge", 3),
        Column("AUROC of the trees", "auroc_trees", 3),
        Column("atoms rebuilt", "atoms", 3, note="rebuilt"),
        Column("edges rebuilt", "edges", 3),
        Column("graphs rebuilt", "graphs", 3),
    )
    return _beside(results, "table3", "models", TablePart("Table 3: auxiliary models on the test split", columns))


def split_table(results: Mapping[str, Any]) -> Table:
    """Table 4: means over random splits, with standard errors."""
    columns = (
        Column("data", "dataset"),
        Column("splits", "n_classifier", 0),
        Column("AUROC ↑", "auroc", 3, spread=True, note="auroc"),
        Column("all parts", "auroc_all", 3, spread=True, note="auroc_all"),
        Column("paper", "paper_auroc"),
        Column("nodes alone", "auroc_nodes", 3, spread=True, note="auroc_nodes"),
        Column("splits", "n_vae", 0),
        Column("epochs", "epochs", 0, note="split_epochs"),
        Column("-ELBO ↓", "neg_elbo", 1, spread=True, note="elbo"),
        Column("by its formula", "neg_elbo_published", 1, spread=True, note="elbo_published"),
        Column("paper", "paper_neg_elbo", 1),
        Column("splits", "n_walk", 0),
        Column("flip ratio ↑", "flip_ratio", 3, spread=True, note="flip_ratio"),
        Column("paper", "paper_flip_ratio"),
        Column("SIC ↑", "sic", 3, spread=True, note="sic"),
        Column("paper", "paper_sic"),
        Column("GED ↓ upper", "ged", 1, spread=True, note="ged"),
        Column("paper", "paper_ged", 1),
    )
    rows: list[Row] = []
    for name, figures in results.items():
        paper = published()["table3"].get(name, {}) | published()["table1"].get(name, {}).get("cgcf", {})
        rows.append({"dataset": NAMES.get(name, name), **figures})
        rows[-1] |= {f"paper_{key}": value for key, value in paper.items()}
    title = "Table 4: the paper's models and CGCF on random splits, mean ± standard error over splits"
    return Table("splits", (TablePart(title, columns),), rows, published()["notes"])


def _beside(results: Mapping[str, Any], name: str, key: str, part: TablePart) -> Table:
    rows: list[Row] = []
    for dataset, figures in results.items():
        paper = published()[name].get(dataset, {})
        ours = {"dataset": NAMES.get(dataset, dataset), **figures[key]}
        rows.append(ours | {f"paper_{column}": value for column, value in paper.items()})
    return Table(name, (part,), rows, published()["notes"])
