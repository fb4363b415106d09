"""Kinds of edit, by the names that edits, constraints and files use."""

from typing import Literal

Op = Literal["remove_edge", "remove_node", "add_node", "set_node", "add_edge", "set_edge"]
"""In the order in which `edits_between` lists them: edges go before their nodes, nodes come before their edges."""
