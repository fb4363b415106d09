"""Query: the options of a question, described and checked once.

The keywords of `Explainer.explain`, the options of `graphflip explain`, the manifest of a job, the viewer's API and the
scripts that it writes are derived from the fields of this class: a new option is a new field, and nothing else.
"""

import dataclasses
import difflib
import operator
from collections.abc import Collection, Mapping
from numbers import Real
from typing import Annotated, Any, Literal, NamedTuple, Protocol, TypedDict, TypeVar, Unpack, runtime_checkable

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    SkipValidation,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from ..errors import ConfigError
from ..schema import first_problem
from .constraints import Constraints

Prefer = Literal["minimal", "balanced", "believable"]


@runtime_checkable
class GoalRequest(Protocol):
    """A target as an object: makes a goal from the classifier's outputs (see `graphflip.explain.goals`)."""

    def at(self, outputs: Any, /) -> Any:
        """The goal for a graph with these outputs."""
        ...


Target = int | str | GoalRequest | None


class Expected(NamedTuple):
    """Words of an option's error: what it must be, and what to do."""

    must_be: str
    advice: str


def _whole(value: Any) -> Any:
    """Whole numbers of any type as `int`; texts and booleans are none."""
    if isinstance(value, str | bool):
        raise ValueError(f"must be a whole number; got {value!r}")
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return operator.index(value) if hasattr(value, "__index__") else value


def _real(value: Any) -> Any:
    """Real numbers of any type as `float`; texts are none."""
    if value is not None and not isinstance(value, Real):
        raise ValueError(f"must be a number; got {value!r}")
    return None if value is None else float(value)


def _in_order(values: Any) -> Any:
    """Members of a list or a set once, sorted, so that equal questions are equal values."""
    if isinstance(values, str | Mapping) or not isinstance(values, Collection):
        return values
    try:
        return tuple(sorted(set(map(_member, values))))
    except TypeError:  # what has no order is not of one kind, which the type of the field says
        return values


def _member(value: Any) -> Any:
    """Whole numbers of any type as `int`, pairs as tuples."""
    if isinstance(value, list | tuple):
        return tuple(map(_member, value))
    return operator.index(value) if hasattr(value, "__index__") else value


# In `Annotated`, limits stand before validators: then they are in the JSON schema, too.
Whole = BeforeValidator(_whole)
Probability = Annotated[
    float | None,
    Field(gt=0, lt=1),
    BeforeValidator(_real),
    Expected("a number between 0 and 1", "Write 0.9, say, or leave it out."),
]
Sorted = BeforeValidator(_in_order)
_NUMBER = Expected("a whole number, at least 1", "Leave it out for one answer.")
_LIMIT = Expected("a whole number, at least 1 edit", "Leave it out for no limit.")
_NODES = Expected("a set or a list of node numbers", "Write {3} for one node, say.")
_EDGES = Expected("a set or a list of pairs of nodes", "Write {(2, 5)} for one edge, say.")
_PATTERNS = Expected("a set or a list of SMARTS patterns", "Write {'c1ccccc1'} for one of them, say.")
_NAMES = Expected("a set or a list of texts", "Write {'Cl'} for one of them, say.")


AnyQuery = TypeVar("AnyQuery", bound="Query")


class Query(BaseModel):
    """Everything that may be asked about a graph: one frozen value, checked when it is made.

    Make one with `Query.of`, whose errors say what to write instead. Lists and sets are kept sorted, each member once.

    Example:
        >>> query = Query.of(prefer="minimal", freeze_nodes=[3, 1], budget=4)
        >>> query.changes()
        {'prefer': 'minimal', 'freeze_nodes': (1, 3), 'budget': 4}
        >>> Query.of(query, num=3).num
        3
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    target: SkipValidation[int | str | SkipJsonSchema[InstanceOf[GoalRequest]] | None] = Field(
        default=None,
        description="A class by name or number, any, or a change of a predicted value: 'raise by 0.5', 'below 2'. "
        "By default the likeliest class that is not predicted.",
    )
    prefer: Annotated[Prefer, Expected("one of minimal, balanced, believable", "Leave it out for balanced.")] = Field(
        default="balanced", description="Small changes, believable ones, or in between."
    )
    num: Annotated[int, Field(ge=1), Whole, Expected("a whole number, at least 1", "Leave it out for one answer.")] = (
        Field(default=1, description="Number of different answers for each input.")
    )
    frontier: bool = Field(
        default=False, description="All answers from the smallest change to the most believable one."
    )
    parent: bool = Field(
        default=True,
        description="Of a salt or a mixture, explain the largest organic part, and carry the others along; else the "
        "molecule as it is. For molecules.",
    )
    confidence: Probability = Field(
        default=None, description="Least probability of the target. By default the preference's."
    )
    agreement: Probability = Field(
        default=None,
        description="Least probability of the target that the surrogates give on average. By default the preference's.",
    )
    thorough: bool = Field(
        default=False,
        description="Make every move and ask about it, not only the most promising ones: often fewer edits, in three "
        "to ten times the time.",
    )
    freeze_nodes: Annotated[tuple[int, ...], Sorted, _NODES] = Field(
        default=(), description="Nodes that keep their attributes and edges, by number from 0."
    )
    freeze_edges: Annotated[tuple[tuple[int, int], ...], Sorted, _EDGES] = Field(
        default=(), description="Pairs of nodes whose edge, or missing edge, stays as it is."
    )
    freeze_rings: bool = Field(default=False, description="All edges of rings stay as they are.")
    freeze_smarts: Annotated[tuple[str, ...], Sorted, _PATTERNS] = Field(
        default=(), description="Patterns in SMARTS whose atoms keep their attributes and bonds. For molecules."
    )
    forbid_node_types: Annotated[tuple[str, ...], Sorted, _NAMES] = Field(
        default=(), description="Types of nodes that are not introduced, such as Cl."
    )
    forbid_edge_types: Annotated[tuple[str, ...], Sorted, _NAMES] = Field(
        default=(), description="Types of edges that are not introduced, such as triple."
    )
    forbid_ops: Annotated[tuple[str, ...], Sorted, _NAMES] = Field(
        default=(),
        description="Kinds of edit that are not made: remove_edge, remove_node, add_node, set_node, add_edge, "
        "set_edge.",
    )
    budget: Annotated[int | None, Field(ge=1), Whole, _LIMIT] = Field(
        default=None, description="Largest number of edits."
    )
    seed: Annotated[int, Field(ge=0), Whole, Expected("a whole number, at least 0", "Leave it out for 0.")] = Field(
        default=0, description="Seed of methods that draw random numbers; the search over edits draws none."
    )

    @classmethod
    def of(
        cls: type[AnyQuery], query: "Query | None" = None, target: Target = None, **options: "Unpack[QueryOptions]"
    ) -> AnyQuery:
        """Make a query, or change some options of one.

        Args:
            query: The query to start from; by default all options have their defaults.
            target: The target, as in `Explainer.explain`; None keeps the one of `query`.
            **options: Fields of this class by name, or `constraints`, which stands for all fields of `Constraints`.

        Returns:
            The checked query.

        Raises:
            ConfigError: If an option is unknown, is not of its kind, or does not go with another one.

        Example:
            >>> Query.of(seed=-1)
            Traceback (most recent call last):
            graphflip.errors.ConfigError: `seed` must be a whole number, at least 0; got -1. Leave it out for 0.
        """
        given: dict[str, Any] = dict(query or {}) | _spread(options)
        if target is not None:
            given["target"] = target
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise ConfigError(_sentence(cls, given, error)) from error

    @property
    def constraints(self) -> Constraints:
        """The part of the question that no answer may break."""
        return Constraints(**{name: getattr(self, name) for name in _CONSTRAINTS})

    def changes(self) -> dict[str, Any]:
        """Options that differ from their defaults, by name."""
        return {
            name: getattr(self, name)
            for name, field in type(self).model_fields.items()
            if getattr(self, name) != field.default
        }

    @model_validator(mode="after")
    def _fits_together(self) -> "Query":
        if self.frontier and self.num > 1:
            raise ValueError(
                f"Either `num` different answers or the whole `frontier` must be asked for; got num={self.num} and a "
                "frontier. Leave one of them out."
            )
        try:
            _ = self.constraints
        except ConfigError as error:
            raise ValueError(str(error)) from error
        return self


class CommonOptions(TypedDict, total=False):
    """The fields of `Query` as keywords, for editors, without those that say how many answers there are."""

    prefer: Prefer
    parent: bool
    confidence: float | None
    agreement: float | None
    thorough: bool
    freeze_nodes: Collection[int]
    freeze_edges: Collection[tuple[int, int]]
    freeze_rings: bool
    freeze_smarts: Collection[str]
    forbid_node_types: Collection[str]
    forbid_edge_types: Collection[str]
    forbid_ops: Collection[str]
    budget: int | None
    seed: int
    constraints: Constraints | None


class QueryOptions(CommonOptions, total=False):
    """The fields of `Query` as keywords, for editors; a test holds the names equal."""

    num: int
    frontier: bool


_CONSTRAINTS = tuple(field.name for field in dataclasses.fields(Constraints))


def _spread(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with `constraints` replaced by the fields that it stands for."""
    given = dict(options)
    constraints = given.pop("constraints", None)
    if constraints is None:
        return given
    if not isinstance(constraints, Constraints):
        raise ConfigError(
            f"`constraints` must be graphflip.Constraints; got a {type(constraints).__name__}. "
            "Write constraints=graphflip.Constraints(freeze_nodes={3}, budget=4), say."
        )
    return {name: getattr(constraints, name) for name in _CONSTRAINTS} | given


def _sentence(kind: type[Query], given: Mapping[str, Any], error: ValidationError) -> str:
    """The first thing that pydantic objects to, in the words of the option."""
    problem = error.errors()[0]
    if not problem["loc"]:
        return str(problem.get("ctx", {}).get("error", problem["msg"]))
    name = str(problem["loc"][0])
    if name not in kind.model_fields:
        near = difflib.get_close_matches(name, kind.model_fields, 1)
        return f"`{name}` is no option of a question. " + (f"Did you mean `{near[0]}`?" if near else "Leave it out.")
    for expected in kind.model_fields[name].metadata:
        if isinstance(expected, Expected):
            return f"`{name}` must be {expected.must_be}; got {given[name]!r}. {expected.advice}"
    return f"An option cannot be used: {first_problem(error)}."
