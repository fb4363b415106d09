"""Messages of the viewer's API: what may be asked, what is answered; explanations are as in docs/concepts/format.md."""

from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, SkipValidation, create_model, model_validator

from ..explain.query import Query
from .queue import JobState

Number = Annotated[int, Field(ge=0, lt=10_000)]
Short = Annotated[str, Field(max_length=200)]
ShortOrNone = Short | None
AttributeDict = dict[str, str | float]
Unit = Literal["probability", "value"]


class ProblemView(BaseModel):
    """Problem of a request: a sentence for the person who made it, and the field it is about."""

    message: str
    field: str | None = None


class JsonGraph(BaseModel):
    """A graph in the form of docs/concepts/format.md."""

    nodes: list[AttributeDict | None] = Field(max_length=1000)
    edges: list[tuple[Number, Number, AttributeDict]] = Field(max_length=10_000)


class Input(BaseModel):
    """Input of a question: a molecule as SMILES, or a graph."""

    model_config = ConfigDict(extra="forbid")
    smiles: str | None = Field(default=None, examples=["O=[N+]([O-])c1ccccc1"])
    graph: JsonGraph | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "Input":
        if (self.smiles is None) == (self.graph is None):
            raise ValueError("exactly one of `smiles` and `graph` must be given")
        return self


def limited(kind: type[Query]) -> type[Query]:
    """A query with the limits of a public server: on the length of texts and lists, and on large numbers."""
    fields: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        inner, limits = _limits(field.annotation)
        limits = [*limits, Field(le=_MOST[name])] if name in _MOST else limits
        kept = [part for part in field.metadata if not isinstance(part, _SKIP)]
        metadata = (*limits, *kept, Field(description=field.description))
        fields[name] = _annotated(inner, metadata), field.default
    return create_model(f"Limited{kind.__name__}", __base__=kind, **fields)


_SKIP: Any = SkipValidation
_MOST = {"num": 8, "budget": 1000, "seed": 2**53}


def _limits(annotation: Any) -> tuple[Any, list[Any]]:
    """The type of a field with limits on its members, and limits on the whole."""
    if annotation == tuple[str, ...]:
        return tuple[Short, ...], [Field(max_length=100)]
    if get_origin(annotation) is tuple:
        is_pair = get_origin(get_args(annotation)[0]) is tuple
        return tuple[tuple[Number, Number] if is_pair else Number, ...], [Field(max_length=1000)]
    return (ShortOrNone if str in get_args(annotation) else annotation), []


def _annotated(kind: Any, metadata: tuple[Any, ...]) -> Any:
    for part in metadata:
        kind = Annotated[kind, part]
    return kind


class QuestionView(limited(Query)):
    """The fields of `graphflip.Query`, which `Explainer.explain` and `graphflip explain` take under the same names."""


class ReadRequest(BaseModel):
    """A graph to look at."""

    model: Short
    input: Input


class ExplainRequest(ReadRequest):
    """A graph to explain, and how."""

    id: Short = ""
    asked: QuestionView = QuestionView()


class FileRequest(BaseModel):
    """The text of a file; its name says what format it has, and is used for nothing else."""

    model: Short
    name: Short = Field(examples=["molecules.smi"])
    text: str


class RecordRequest(BaseModel):
    """An explanation from a file."""

    model: Short
    record: dict[str, Any]


class UndoRequest(BaseModel):
    """Numbers of the changes (entries of `words`) to take back."""

    undo: list[Number] = Field(max_length=1000)


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


class Service(BaseModel):
    """Kits that are served, and the limits of the server."""

    version: str
    models: list[Model]
    max_smiles: int
    max_bytes: int
    max_rows: int
    seconds: float


class Shown(BaseModel):
    """A graph, what the classifier says of it, and a drawing."""

    input: Input
    smiles: str | None
    graph: JsonGraph
    prediction: dict[str, float]
    drawing: str


class FileRow(BaseModel):
    """One entry of a file: an input or an explanation, or what is wrong with it."""

    id: str
    input: dict[str, Any] | None
    record: dict[str, Any] | None
    problem: str | None
    prediction: dict[str, float] | None


class FileRows(BaseModel):
    """Entries of a file; `left_out` if there were more."""

    rows: list[FileRow]
    left_out: bool


class ChangeView(BaseModel):
    """A change in words, the edits of the record that it stands for, and the drawn elements that it is about."""

    text: str
    edits: list[int]
    marks: list[str]


class Drawings(BaseModel):
    """SVG of both graphs, for the page, and of both together, as a file of its own."""

    factual: str
    counterfactual: str | None
    file: str


class Predictions(BaseModel):
    """The classifier's probability of each class, or its value, for both graphs."""

    factual: dict[str, float]
    counterfactual: dict[str, float] | None


class GoalView(BaseModel):
    """The target in words, and what the numbers of the record are."""

    words: str
    unit: Unit


class Answer(BaseModel):
    """An explanation (`record` is the CLI's line) with words, predictions, drawings and Python lines.

    `agreed` says of each judge whether it finds the goal reached.
    """

    record: dict[str, Any]
    goal: GoalView
    agreed: dict[str, bool]
    words: list[ChangeView]
    num_edits: int
    advice: str
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
    """A question, how it stands, and its answers."""

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


class LatentPathView(BaseModel):
    """Steps of the way through the latent space: probabilities of the target or values, and all that is predicted."""

    positions: list[float]
    probabilities: list[float]
    predictions: list[dict[str, float]]
    num_edits: list[int]
    smiles: list[str | None]
    drawings: list[str]
