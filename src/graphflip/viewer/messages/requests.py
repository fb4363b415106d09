"""Requests of the viewer's API: what may be asked; explanations are as in docs/concepts/format.md."""

from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SkipValidation, create_model, model_validator

from ...explain.query import Query
from ...jobs.plain_json import check_depth, without_halves

Number = Annotated[int, Field(ge=0, lt=10_000)]
Short = Annotated[str, Field(max_length=200)]
ShortOrNone = Short | None
AttributeDict = dict[str, str | float]
Record = Annotated[dict[str, Any], AfterValidator(check_depth), AfterValidator(without_halves)]
FileKind = Literal["csv", "html", "jsonl", "png", "sdf", "smi", "svg"]


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


class Written(BaseModel):
    """A molecule as a person writes it: SMILES, perhaps with a name after it, InChI, or a MOL block."""

    model_config = ConfigDict(extra="forbid")
    text: str


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
    """A graph to look at; of a salt the parent, or all as it is."""

    model: Short
    input: Input | Written
    parent: bool = True


class MatchRequest(BaseModel):
    """A molecule and SMARTS patterns."""

    model: Short
    input: Input
    smarts: list[Short] = Field(max_length=20)


class ExplainRequest(BaseModel):
    """A graph to explain, and how."""

    model: Short
    input: Input
    id: Short = ""
    asked: QuestionView = QuestionView()


class TableRequest(BaseModel):
    """Inputs to explain one after the other, with one question about each; `name` is that of their file."""

    model: Short
    name: Short = ""
    rows: list["TableInput"] = Field(min_length=1, max_length=10_000)
    asked: QuestionView = QuestionView()


class TableInput(BaseModel):
    """A row to explain, or what is wrong with it."""

    id: Short
    input: Input | None = None
    problem: str | None = Field(default=None, max_length=2000)


class ExportRequest(BaseModel):
    """Explanations to write as a file of some kind; a report says what was asked, if that is given."""

    model: Short
    asked: QuestionView | None = None
    records: list[Record] = Field(min_length=1, max_length=200)


class FileRequest(BaseModel):
    """The text of a file; its name says what format it has, and is used for nothing else."""

    model: Short
    name: Short = Field(examples=["molecules.smi"])
    text: str


class RecordRequest(BaseModel):
    """An explanation from a file."""

    model: Short
    record: Record


class UndoRequest(BaseModel):
    """Numbers of the changes (entries of `words`) to take back."""

    undo: list[Number] = Field(max_length=1000)
