"""Errors of graphflip: each message says what must hold, what came, and what to do."""


class GraphflipError(Exception):
    """Base class of all errors that a user can cause and mend.

    The command line prints the message without a traceback.

    Example:
        >>> from graphflip import Graph, Schema
        >>> try:
        ...     Graph.build(Schema(max_nodes=2), [{}, {}], [(0, 5, {})])
        ... except GraphflipError as error:
        ...     print(error)
        An edge must join two different nodes of 0..1; got (0, 5). Remove it.
    """


class GraphError(GraphflipError):
    """The tensors or lists of a graph are not a graph: shapes, NaN, asymmetry, edges at empty slots, one-hot rows."""


class SchemaError(GraphflipError):
    """A graph, an attribute or a model does not fit the schema it is used with."""


class DataError(GraphflipError):
    """A dataset or an input file cannot be used; the message names the file and the line, row or index."""


class ConfigError(GraphflipError):
    """A setting is unknown or out of range."""


class ModelFileError(GraphflipError):
    """A model folder is damaged, incomplete, or was written by a newer version."""


class JobError(GraphflipError):
    """A job cannot go on: its folder is in use, full, not writable or damaged, or holds another job."""


class ClassifierError(GraphflipError):
    """A user's classifier cannot be called, or breaks a rule that explanations rely on; each rule is a subclass."""


class WrongOutput(ClassifierError):
    """A classifier does not give one row of numbers for each graph, or not as many classes as it should."""


class NotFinite(ClassifierError):
    """A classifier gives NaN or infinity."""


class NotDeterministic(ClassifierError):
    """A classifier answers differently when asked again."""


class OrderDependent(ClassifierError):
    """A classifier's answer depends on the order of nodes."""


class BatchDependent(ClassifierError):
    """A classifier's answer for a graph depends on the other graphs of the batch, or on empty slots."""


class IgnoresEdges(ClassifierError):
    """A classifier gives the same answer with and without edges."""


class NotDifferentiable(ClassifierError):
    """A classifier has no usable gradients with respect to the graph."""


class BudgetSpent(GraphflipError):
    """A black box would be called on more graphs than its budget allows; `left` is the number still allowed."""

    def __init__(self, message: str, left: int = 0):
        super().__init__(message)
        self.left = left


class MissingExtra(GraphflipError):
    """An optional package is missing; the message says which extra to install."""


def require(package: str, extra: str, purpose: str):
    """Import an optional package.

    Args:
        package: Name of the package or module.
        extra: Extra of graphflip that installs it.
        purpose: Beginning of the error message, as in "Reading molecules".

    Returns:
        The imported module.

    Raises:
        MissingExtra: If it is not installed.

    Example:
        >>> require("json", "mol", "Reading molecules").dumps([1])
        '[1]'
    """
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtra(
            f"{purpose} needs the package `{package.split('.')[0]}`, which is not installed. "
            f"Install it with: pip install 'graphflip[{extra}]'"
        ) from error
