"""Readiness of a kit: the figures of its models on the test part of the data, as a table to read."""

from pydantic import BaseModel, ConfigDict

from .levels import AskedLevel

READINESS = "readiness.json"


class Trial(BaseModel):
    """Result of explaining a few test graphs.

    Args:
        graphs: Number of graphs that were explained.
        flipped: Share of them that were flipped.
        mean_edits: Mean number of heavy edits where the graph was flipped; None if none was.
        seconds: Mean processor time for a graph; None in the file, which does not depend on how fast a machine is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    graphs: int
    flipped: float
    mean_edits: float | None
    seconds: float | None = None


class Readiness(BaseModel):
    """Figures of a kit on the test part of its data.

    Args:
        name: Name of the dataset.
        parts: Number of graphs in each part of the dataset.
        classes: Number of training graphs of each class; empty if labels are numbers.
        max_nodes: Largest graph that the models can take.
        reconstruction: Shares of nodes, edges and whole graphs that the autoencoder rebuilds; `node_error` and
            `edge_error` are mean errors of continuous attributes, in standard deviations.
        plausible_limit: Negative log-likelihood, in nats per node, that 99 % of the validation graphs do not exceed;
            None if the autoencoder cannot tell real graphs from rewired ones.
        plausible_share: Share of test graphs that do not exceed it.
        auroc: AUROC of each model that predicts a class.
        r2: Share of the labels' variance that is explained, for each model that predicts a value.
        agreement: Share of test graphs to which a surrogate gives the classifier's class; if the classifier predicts a
            value, share of the variance of these values that the surrogate explains.
        trial: Result of explaining a few test graphs; None if the kit has no classifier.
        labels_given: False if the labels are the answers of the user's classifier.
        unused: Surrogates that were set aside because they do not know what the classifier goes by, with their AUROC
            for its classes (R² for its values) on the validation part.
        unused_judges: Judges that were set aside because they hardly know the labels, with their AUROC (R²) on the
            validation part.
        levels: Preferences that ask for less than usual, because the models are not surer of real graphs.
        calls: Graphs that the user's classifier was asked about while surrogates learned from it.
        expect: The meaning of the figures for explanations, in sentences.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    parts: dict[str, int]
    classes: dict[str, int]
    max_nodes: int
    reconstruction: dict[str, float]
    plausible_limit: float | None = None
    plausible_share: float | None = None
    auroc: dict[str, float] = {}
    r2: dict[str, float] = {}
    agreement: dict[str, float] = {}
    trial: Trial | None = None
    labels_given: bool = True
    unused: dict[str, float] = {}
    unused_judges: dict[str, float] = {}
    levels: dict[str, AskedLevel] = {}
    calls: int = 0
    expect: tuple[str, ...] = ()

    def __str__(self) -> str:
        sizes = ", ".join(f"{count} {part}" for part, count in self.parts.items())
        members = ", ".join(f"{name} {count}" for name, count in self.classes.items())
        labels = f"classes in train: {members}" if members else "labels are values" if self.r2 else "no labels"
        rows = {
            "graphs": f"{sizes}; {labels}; up to {self.max_nodes} nodes",
            "rebuilt": _figures({name.replace("atoms", "nodes"): share for name, share in self.reconstruction.items()}),
            "plausible": self._plausible(),
            "AUROC": _figures(self.auroc) or ("" if self.r2 else "not measured"),
            "R²": _figures(self.r2),
            "agreement": _figures(self.agreement),
        }
        lines = [f"{what:<10} {text}" for what, text in rows.items() if text]
        lines += [f"asked      your classifier, about {self.calls} graphs"] if self.calls else []
        return "\n".join([f"{self.name}: what the kit can do, on the test part", *lines, "", *self.expect])

    def _plausible(self) -> str:
        if self.plausible_limit is None or self.plausible_share is None:
            return ""
        return f"up to {self.plausible_limit:.2f} nats per node; {self.plausible_share:.0%} of test graphs"


def _figures(figures: dict[str, float]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in figures.items())
