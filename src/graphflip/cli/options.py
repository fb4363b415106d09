"""Options of the command line that are made from the fields of `Query`."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from inspect import Parameter, signature
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, cast, get_args, get_origin

import typer
from annotated_types import Ge
from pydantic.fields import FieldInfo

from ..explain.query import Query

_FLAGS = {"freeze_nodes": "--freeze"}
"""Flags that are not the name of the field: of a list, without the plural's s."""
_OPPOSITES = {"parent": "--as-is"}
"""Flags that ask for the opposite of a field that is True by default."""


def with_options(kind: type[Query], after: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each field of a query, after one of its parameters.

    The command takes the query as `query`, which the options that were given make.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        options = {name: _option(name, field) for name, field in kind.model_fields.items()}

        def run(**given: Any) -> None:
            asked = {name: option.read(given.pop(name)) for name, option in options.items()}
            command(query=kind.of(**asked), **given)

        own = [parameter for name, parameter in signature(command).parameters.items() if name != "query"]
        at = [parameter.name for parameter in own].index(after) + 1
        parameters = [*own[:at], *(option.parameter for option in options.values()), *own[at:]]
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        setattr(run, "__signature__", signature(command).replace(parameters=parameters))  # noqa: B010
        return run

    return decorate


class _Option(NamedTuple):
    """A parameter of a command, and how what was typed becomes the value of the field."""

    parameter: Parameter
    read: Callable[[Any], Any]


def _option(name: str, field: FieldInfo) -> _Option:
    """The option of a field: a flag, a choice, a list with commas, or a value."""
    help, flag, kind = field.description, f"--{name.replace('_', '-')}", _plain(field.annotation)
    if kind is bool:
        flags = f"{flag}/{_OPPOSITES[name]}" if name in _OPPOSITES else flag
        return _make(name, bool, typer.Option(flags, help=help), field.default)
    if get_origin(kind) is Literal:
        choices: Any = StrEnum(name, {choice: choice for choice in get_args(kind)})
        return _make(name, choices, typer.Option(flag, help=help), choices(field.default), lambda chosen: chosen.value)
    if get_origin(kind) is tuple:
        member = _plain(get_args(kind)[0])
        read, example = _MEMBERS[get_origin(member) or member]
        option = typer.Option(_FLAGS.get(name, flag.removesuffix("s")), help=f"{help} {example}")
        return _make(name, list[str], option, [], lambda texts: [read(text) for text in _split(texts)])
    least = next((limit.ge for limit in field.metadata if isinstance(limit, Ge)), None)
    option = typer.Option(flag, min=cast(Any, least), help=help)
    return _make(name, kind if field.default is not None else kind | None, option, field.default)


def _make(name: str, kind: Any, option: Any, default: Any, read: Callable[[Any], Any] = lambda value: value) -> _Option:
    parameter = Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])
    return _Option(parameter, read)


def _plain(annotation: Any) -> Any:
    """The type without metadata and None; of a choice of types, text."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        kinds = [_plain(kind) for kind in get_args(annotation) if kind is not type(None)]
        return kinds[0] if len(kinds) == 1 else str
    return annotation


def _split(texts: Iterable[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def _node(text: str) -> int:
    if not text.isdecimal():
        raise typer.BadParameter(f"a node must be given by its number, from 0; got {text!r}.")
    return int(text)


def _pair(text: str) -> tuple[int, int]:
    i, dash, j = text.partition("-")
    if not dash:
        raise typer.BadParameter(f"an edge must be given by two nodes, as in 2-5; got {text!r}.")
    return _node(i.strip()), _node(j.strip())


_MEMBERS: dict[Any, tuple[Callable[[str], Any], str]] = {
    int: (_node, "Several as in 3,4."),
    tuple: (_pair, "Several as in 2-5,2-6."),
    str: (str, "Several with commas."),
}
