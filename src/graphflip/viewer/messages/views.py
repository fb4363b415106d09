"""Responses of the viewer's API: what is answered; explanations are as in docs/concepts/format.md."""

from typing import Any, Literal

from pydantic import BaseModel

from ..queue import JobState
from ..tables import TableState
from .options import OptionView
from .requests import Input, JsonGraph, QuestionView

Unit = Literal["probability", "value"]


class ProblemView(BaseModel):
    """Problem of a request: a sentence for the person who made it, and the field it is about.

    `actions` are ways out: a label, and fields of the request that would be different.
    """

    message: str
    field: str | None = None
    actions: list[dict[str, Any]] = []


class Example(BaseModel):
    """A molecule to try."""

    name: str
    smiles: str


class Model(BaseModel):
    """A kit that is served; `unit` is what its classifier predicts. For a value, `suggestion` is a target to try."""

    name: str
    classes: list[str]
    unit: Unit
    suggestion: str
    molecules: bool
    directed: bool
    max_nodes: int
    has_path: bool
    preferences: list[str]
    examples: list[Example]
    node_types: list[str] = []
    edge_types: list[str] = []
    figures: dict[str, float] = {}
    training: str = ""


class Service(BaseModel):
    """Kits that are served, the options of a question, and the limits of the server."""

    version: str
    models: list[Model]
    options: list[OptionView]
    ops: list[str]
    keeps: bool
    max_smiles: int
    max_bytes: int
    max_rows: int
    seconds: float


class NeighborView(BaseModel):
    """A molecule of the training data that is similar to another."""

    smiles: str
    label: str
    similarity: float
    same: bool


class Trust(BaseModel):
    """Reasons to believe a prediction or not: judges, and what the training data have that is like the input.

    `judges` are the predictions of models that no search consults; `familiar` is false if the input is unlike anything
    in the training data, `known` the label if it is itself there.
    """

    judges: dict[str, dict[str, float]] = {}
    neighbors: list[NeighborView] = []
    familiar: bool | None = None
    known: str | None = None


class Shown(BaseModel):
    """A graph, what the classifier says of it, and a drawing; `name` if one was written beside it.

    `remarks` say what the model does not see of the input; `importance`, as in records, what the prediction hangs on.
    """

    input: Input
    name: str = ""
    smiles: str | None
    graph: JsonGraph
    prediction: dict[str, float]
    drawing: str
    importance: dict[str, Any] | None = None
    remarks: list[str] = []
    trust: Trust = Trust()


class Matches(BaseModel):
    """Numbers of the atoms that match."""

    nodes: list[int]


class FileRow(BaseModel):
    """One entry of a file: an input or an explanation, or what is wrong with it."""

    id: str
    input: dict[str, Any] | None
    record: dict[str, Any] | None
    problem: str | None
    prediction: dict[str, float] | None
    drawing: str = ""


class FileRows(BaseModel):
    """Entries of a file; `left_out` if there were more."""

    rows: list[FileRow]
    left_out: bool


class ChangeView(BaseModel):
    """A change in words, the edits of the record that it stands for, and the drawn elements that it is about.

    `needed` says what is lost without it; it is empty where that was not checked.
    """

    text: str
    edits: list[int]
    marks: list[str]
    needed: str


class SmallerView(BaseModel):
    """A smaller answer in words, and the numbers of the changes that it lacks; none if it is no part of the answer."""

    text: str
    left_out: list[int]


class Drawings(BaseModel):
    """SVG of both graphs, for the page, and both small, for tables."""

    factual: str
    counterfactual: str | None
    small: list[str] = []


class Predictions(BaseModel):
    """The classifier's probability of each class, or its value, for both graphs."""

    factual: dict[str, float]
    counterfactual: dict[str, float] | None


class GoalView(BaseModel):
    """The target in words, and what the numbers of the record are."""

    words: str
    unit: Unit


class FindingView(BaseModel):
    """A measure of chemistry in words; `good` is null if it speaks neither for nor against the change."""

    topic: str
    words: str
    good: bool | None


class Answer(BaseModel):
    """An explanation (`record` is the CLI's line) with words, predictions, drawings and Python lines.

    `agreed` says of each judge whether it finds the goal reached; `each_needed` says what all changes are needed for,
    if that is one thing; `chemistry` are measures of the change of a molecule; `note` is that of the record in plain
    words.
    """

    record: dict[str, Any]
    goal: GoalView
    agreed: dict[str, bool]
    chemistry: list[FindingView] = []
    words: list[ChangeView]
    each_needed: str
    smaller: SmallerView | None
    num_edits: int
    advice: str
    note: str = ""
    is_molecule: bool = True
    predictions: Predictions
    drawings: Drawings
    python: str


class ProgressView(BaseModel):
    """Progress of a search."""

    turn: int
    max_turns: int
    calls: int
    probability: float


class JobView(BaseModel):
    """A question, how it stands, and its answers; one that is running may have a first answer, found in haste.

    A job that is done and has a message was stopped: its answer is such a first one.
    """

    id: str
    state: JobState
    version: int
    ahead: int
    model: str
    name: str
    input: dict[str, Any] | None
    asked: QuestionView | None
    progress: ProgressView | None
    message: str
    answers: list[Answer]


class RowView(BaseModel):
    """A row of a table in short: the state of its job and what was found; `number` is its place in the table."""

    number: int
    id: str
    state: JobState | Literal["open", "problem"]
    message: str
    input: dict[str, Any] | None
    job: str | None = None
    outcome: str | None = None
    flipped: bool | None = None
    prediction: dict[str, float] | None = None
    before: str | None = None
    after: str | None = None
    p_factual: float | None = None
    p_counterfactual: float | None = None
    target: str = ""
    unit: Unit = "probability"
    num_edits: int | None = None
    changes: list[str] = []
    agreed: list[bool] = []
    similarity: float | None = None
    drawings: list[str] = []


class TableView(BaseModel):
    """A table: its state, how many rows it has in each state, and the rows that have changed since `seen`."""

    id: str
    name: str
    state: TableState
    version: int
    model: str
    asked: QuestionView
    counts: dict[str, int]
    rows: list[RowView]


class LatentPathView(BaseModel):
    """Steps of the way through the latent space: probabilities of the target or values, and all that is predicted."""

    positions: list[float]
    probabilities: list[float]
    predictions: list[dict[str, float]]
    num_edits: list[int]
    smiles: list[str | None]
    drawings: list[str]
