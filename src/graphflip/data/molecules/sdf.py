"""Molecules of SD files, one record at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...errors import DataError, require
from ...graph import Graph
from ...schema import Schema
from .molecule import check_size, from_mol

if TYPE_CHECKING:
    import rdkit.Chem

_END = "$$$$"
_PER_NODE = 500
_LONGEST = 1_000_000
"""Characters of a record that are kept: far more than any molecule that a schema has room for."""


class SdfRecord(NamedTuple):
    """Molecule of an SD file; `row` counts records from 1, `block` is its text up to the properties."""

    row: int
    id: str
    block: str


def read_sdf(path: Path | str) -> Iterator[SdfRecord]:
    """Read the records of an SD file as text, so that a wrong one does not keep the others from being read.

    The id is the record's title line, or the file's name with the number of the record. Bytes that are not UTF-8, and
    all of a record beyond a million characters, are dropped.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            for number, lines in enumerate(_records(file), start=1):
                block = "".join(lines)
                title = lines[0].strip() if lines else ""
                yield SdfRecord(number, title or f"{path.stem}/{number}", block.partition("M  END")[0] + "M  END\n")
    except OSError as error:
        raise DataError(f"{path}: the file must be readable; {error.strerror}. Check the path.") from error


def from_molblock(block: str, schema: Schema, strict: bool = True, parent: bool = False) -> Graph:
    """Read a molecule in MDL's format (molfile); for `strict` and `parent` see `from_mol`."""
    check_size("record", len(block), schema, _PER_NODE)
    return from_mol(parse_molblock(block), schema, strict, parent)


def parse_molblock(block: str) -> "rdkit.Chem.Mol":
    """Parse a molfile; hydrogens stay, and stereo is that of the drawing or of the coordinates."""
    Chem = require("rdkit.Chem", "mol", "Reading SD files")
    with require("rdkit.rdBase", "mol", "Reading SD files").BlockLogs():
        try:
            mol = Chem.MolFromMolBlock(block, sanitize=False, removeHs=False)
            if mol is None or mol.GetNumAtoms() == 0:
                raise DataError("A record of an SD file must be a molecule; RDKit cannot read this one. Correct it.")
            Chem.SanitizeMol(mol)
            if mol.GetConformer().Is3D():
                Chem.AssignStereochemistryFrom3D(mol)
            else:
                Chem.AssignChiralTypesFromBondDirs(mol)
                Chem.DetectBondStereochemistry(mol)
            Chem.AssignStereochemistry(mol, cleanIt=True, force=True)
        except (Chem.MolSanitizeException, RuntimeError) as error:
            raise DataError(f"The record must be a valid molecule; RDKit says: {str(error).strip()}.") from error
    return mol


def _records(file) -> Iterator[list[str]]:
    """Lines of each record, without those beyond the limit."""
    lines: list[str] = []
    room = _LONGEST
    while line := file.readline(_LONGEST):
        if line.rstrip() == _END:
            yield lines
            lines, room = [], _LONGEST
        elif len(line) <= room:
            lines.append(line)
            room -= len(line)
    if any(line.strip() for line in lines):
        yield lines
