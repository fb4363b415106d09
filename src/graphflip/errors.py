"""Every error that graphflip raises on purpose: each message says what must hold, what came, and what to do."""


class GraphflipError(Exception):
    """Base of all errors a user can cause; the command line prints its message without a traceback."""


class GraphError(GraphflipError):
    """The tensors of a graph do not belong together: shapes, NaN, asymmetry, edges at empty slots, one-hot rows."""


class SchemaError(GraphflipError):
    """A graph, a label or a model does not fit the schema it is used with."""


class DataError(GraphflipError):
    """A dataset or an input file cannot be used; the message names the file and the line, row or index."""


class ConfigError(GraphflipError):
    """A setting is unknown or out of range."""


class ModelFileError(GraphflipError):
    """A model folder is damaged, incomplete, or was written by a newer version."""


class JobError(GraphflipError):
    """A job cannot go on: its folder is in use, full, not writable or damaged, or holds another job."""


class ClassifierError(GraphflipError):
    """A user's classifier cannot be called, or breaks a rule that explanations rest on; each rule has its own class."""


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
    """A black box was to be shown more graphs than its budget allows; `left` more it may be shown."""

    def __init__(self, message: str, left: int = 0):
        super().__init__(message)
        self.left = left


class MissingExtra(GraphflipError):
    """An optional package is needed for what was asked; the message says which extra to install."""


def require(package: str, extra: str, purpose: str):
    """Import an optional package, or say which extra brings it.

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
