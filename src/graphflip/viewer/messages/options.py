"""Options of a question as the page shows them, derived from the fields of `graphflip.Query`."""

from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ...explain.query import Query

OptionKind = Literal["choice", "flag", "number", "text", "texts", "nodes", "edges"]


class OptionView(BaseModel):
    """An option of a question: its name, what it is, and in which form it is given.

    `choices` are all values that it may have, `among` names the list of a model (`node_types`, `edge_types`) that its
    members come from. A number has limits where there are some.
    """

    name: str
    kind: OptionKind
    description: str
    default: Any
    choices: list[str] = []
    among: str | None = None
    whole: bool = False
    above: float | None = None
    below: float | None = None


_AMONG = {"forbid_node_types": "node_types", "forbid_edge_types": "edge_types", "forbid_ops": "ops"}


def option_views(kind: type[Query] = Query) -> list[OptionView]:
    """Describe each field of a query, in their order."""
    return [_view(name, field) for name, field in kind.model_fields.items()]


def _view(name: str, field: FieldInfo) -> OptionView:
    kinds = [part for part in _flat(field.annotation) if part is not type(None)]
    form, choices = _form(kinds)
    limits = {
        key: getattr(part, key) for part in field.metadata for key in ("ge", "gt", "le", "lt") if hasattr(part, key)
    }
    return OptionView(
        name=name,
        kind=form,
        description=field.description or "",
        default=field.default,
        choices=choices,
        among=_AMONG.get(name),
        whole=kinds == [int],
        above=limits.get("ge", limits.get("gt")),
        below=limits.get("le", limits.get("lt")),
    )


def _form(kinds: list[Any]) -> tuple[OptionKind, list[str]]:
    """The form of a field of these types, and the choices if it has some."""
    if get_origin(kinds[0]) is Literal:
        return "choice", list(get_args(kinds[0]))
    if kinds == [bool]:
        return "flag", []
    if get_origin(kinds[0]) is tuple:
        member = _flat(get_args(kinds[0])[0])[0]
        if get_origin(member) is tuple:
            return "edges", []
        return ("texts" if member is str else "nodes"), []
    return ("number" if kinds in ([int], [float]) else "text"), []


def _flat(annotation: Any) -> list[Any]:
    """The types of a union without metadata; others alone."""
    if hasattr(annotation, "__metadata__"):
        return _flat(get_args(annotation)[0])
    if get_args(annotation) and get_origin(annotation) not in (tuple, Literal):
        return [kind for part in get_args(annotation) for kind in _flat(part)]
    return [annotation]
