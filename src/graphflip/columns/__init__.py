"""Columns of V and E: groups of categories and numbers, their values, encodings and distances."""

from .categories import Categories as Categories
from .column import Column as Column
from .column import map_categories as map_categories
from .continuous import JUMPS as JUMPS
from .continuous import STEPS as STEPS
from .continuous import Continuous as Continuous
from .values import AttributeDict as AttributeDict
from .values import Value as Value
from .values import shortened as shortened
