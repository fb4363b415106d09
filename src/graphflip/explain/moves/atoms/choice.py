"""The rules that fit a schema."""

from ....schema import Schema
from .charges import StoredCharges
from .plain import PlainRules
from .rules import AbstractRules
from .valence import Valence


def rules_of(schema: Schema) -> AbstractRules:
    """Choose the rules for the graphs of a schema."""
    if schema.chemistry is None:
        return PlainRules(schema)
    rules = StoredCharges if schema.chemistry.stored_charges else Valence
    return rules(schema, schema.chemistry)
