"""Molecules as people write them: SMILES with a name after it, InChI, MOL blocks; and why one cannot be used."""

import re
from typing import Any, NamedTuple

from ...data.molecules.building import no_logs, rdkit_chem
from ...data.molecules.famous import gallery_molecules
from ...data.molecules.reading import INCHI, likely_mistake, smiles_of_inchi
from ...data.molecules.salts import num_parts, parent_of
from ...errors import DataError, GraphflipError
from ...schema import Schema


class WrittenMolecule(NamedTuple):
    """A molecule as SMILES, and its name if one was written."""

    smiles: str
    name: str = ""


class Unusable(GraphflipError):
    """An input cannot be used. `actions` are what the page may offer: a label, and the fields of the form to set."""

    def __init__(self, message: str, actions: tuple[dict[str, Any], ...] = ()):
        super().__init__(message)
        self.actions = list(actions)


def read_written(text: str) -> WrittenMolecule:
    """Read what was typed or pasted; raises DataError if it is neither SMILES nor InChI nor a MOL block."""
    text = text.strip("\ufeff \t\r\n") if "M  END" not in text else text
    if "M  END" in text:
        return _from_molblock(text)
    if text.startswith(INCHI):
        return _from_inchi(text)
    smiles, _, name = text.partition(text[match.start()] if (match := re.search(r"\s", text)) else "\n")
    if not smiles or any(not "!" <= letter <= "~" for letter in smiles):
        raise DataError("A molecule must be written as SMILES, InChI or a MOL block: c1ccccc1O, say.")
    return WrittenMolecule(smiles, " ".join(name.split())[:200])


def _from_molblock(block: str) -> WrittenMolecule:
    from ...data.molecules.drawn import write_source
    from ...data.molecules.sdf import parse_molblock

    mol = parse_molblock(block)
    title = block.splitlines()[0].strip() if block.splitlines() else ""
    return WrittenMolecule(write_source(mol).partition(" ")[0], title[:200])


def _from_inchi(text: str) -> WrittenMolecule:
    first, _, name = text.partition(" ")
    return WrittenMolecule(smiles_of_inchi(first), name.strip()[:200])


def why_unusable(error: GraphflipError, smiles: str, schema: Schema) -> Unusable:
    """Say in a chemist's words why a SMILES cannot be used, with what to do about it."""
    chem = rdkit_chem()
    with no_logs():
        mol = chem.MolFromSmiles(smiles, sanitize=False)
        problems = [] if mol is None else list(chem.DetectChemistryProblems(mol))
    if mol is None:
        return _no_smiles(smiles)
    if problems:
        return Unusable(_problem(problems[0], mol))
    with no_logs():
        mol = chem.MolFromSmiles(smiles)
    if mol is None:
        return _no_smiles(smiles)
    parent = parent_of(mol)
    small = chem.MolToSmiles(parent)
    offers: tuple[dict[str, Any], ...] = ()
    if num_parts(mol) > 1 or small != chem.MolToSmiles(mol):
        offers = ({"label": "Use the neutral parent", "smiles": small, "parent": True},)
    return Unusable(_size(mol, schema) or _elements(mol, schema) or _plain(str(error), smiles), offers)


def _no_smiles(text: str) -> Unusable:
    """Say what is wrong with a text that is no SMILES; what may be a name is offered as a molecule if it is known."""
    known = [one for one in gallery_molecules() if one.name.lower() == text.lower()]
    offers = tuple({"label": f"Use {one.name}", "smiles": one.smiles} for one in known)
    if known or re.fullmatch(r"[A-Za-z][A-Za-z-]{3,}", text):
        return Unusable("This cannot be read as SMILES, and names are not looked up.", offers)
    return Unusable(f"This cannot be read as SMILES{likely_mistake(text)}.")


def _size(mol: Any, schema: Schema) -> str:
    """A sentence if a molecule is too large."""
    explicit = schema.chemistry is not None and schema.chemistry.explicit_hydrogens
    count = rdkit_chem().AddHs(mol).GetNumAtoms() if explicit else mol.GetNumHeavyAtoms()
    if count <= schema.max_nodes:
        return ""
    which = "hydrogens included" if explicit else "hydrogens not counted"
    return f"This model takes molecules of at most {schema.max_nodes} atoms, {which}; this one has {count}."


def _elements(mol: Any, schema: Schema) -> str:
    """A sentence if a molecule has elements that the schema lacks, and cannot read as others."""
    known = next((column.values for column in schema.nodes if column.name == "type"), ())
    unknown = sorted({atom.GetSymbol() for atom in mol.GetAtoms()} - set(known))
    if not unknown or not known or "other" in known:
        return ""
    return f"This model knows the elements {', '.join(known)}; {', '.join(unknown)} is not among them."


def _problem(problem: Any, mol: Any) -> str:
    """A sentence about the first thing that RDKit finds wrong with a molecule."""
    kind = problem.GetType()
    if kind == "AtomValenceException":
        atom = mol.GetAtomWithIdx(problem.GetAtomIdx())
        bonds = sum(bond.GetBondTypeAsDouble() for bond in atom.GetBonds())
        return f"Atom {atom.GetIdx()} ({atom.GetSymbol()}) has too many bonds: {bonds:g} in all. Remove one of them."
    if "Kekulize" in kind:
        return (
            "An aromatic ring cannot be drawn with alternating double bonds. A hydrogen may be missing at a ring "
            "nitrogen: write [nH], as in c1cc[nH]c1."
        )
    return f"RDKit does not accept this molecule: {problem.Message()}."


def _plain(message: str, smiles: str) -> str:
    """A message of the library without the SMILES before it and without advice for programs."""
    message = message.removeprefix(f"{smiles}: ")
    for begin, words in _UNREAD.items():
        if (match := re.match(rf"(Atom \d+ \([A-Za-z]+\)) {begin}", message)) is not None:
            return f"{match[1]} {words}"
    message = re.sub(r" Write the neutral form, or read it so with `[^`]*`\.", " Draw the neutral form.", message)
    return re.sub(r" Its largest part can be read: give .*$", "", message)


_UNREAD = {
    "must have a filled valence": (
        "has too few or too many bonds for this model: it reads no radicals, carbenes, perchlorates."
    ),
    "must have the charge and hydrogens": (
        "has a charge or an open valence that this model does not know. "
        "Draw the neutral form, with all valences filled."
    ),
}
"""Words for what a model cannot read, by how the library's message goes on."""
