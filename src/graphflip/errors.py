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
