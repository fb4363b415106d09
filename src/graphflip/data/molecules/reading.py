"""Reading of RDKit molecules: the part that is read, its atoms as nodes, its bonds as edges."""

import re
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ...chemistry import OTHER, Chemistry
from ...columns import shortened
from ...errors import DataError, GraphflipError, SchemaError, require
from ...schema import AttributeDict, Schema
from .building import chemistry_of, no_logs, rdkit_chem, sanitize_mol
from .charges import charge_mismatch, plain_mol, settled_mol
from .salts import largest_part, num_parts, parent_of

if TYPE_CHECKING:
    import rdkit.Chem

UNREADABLE = "\ufffd"
"""Sign with which a reader of tables begins what it gives in place of a line that it cannot read."""


INCHI = "InChI="
"""Letters with which every InChI begins."""


class NodesAndEdges(NamedTuple):
    """A graph as lists, in the form that `Graph.build` takes."""

    nodes: list[AttributeDict]
    edges: list[tuple[int, int, AttributeDict]]


def parse_smiles(smiles: str) -> "rdkit.Chem.Mol":
    """Parse a SMILES text; rings are aromatic only if the text has aromatic (lower-case) atoms. Hydrogens stay.

    An InChI is read as the SMILES that `smiles_of_inchi` makes of it.
    """
    smiles = smiles_of_inchi(smiles) if smiles.startswith(INCHI) else smiles
    if smiles.startswith(UNREADABLE):
        raise DataError(
            "A row must be one line of at most a million characters, with quotes in pairs; "
            f"this one is {smiles.removeprefix(UNREADABLE).strip('()')}. Correct the line."
        )
    Chem = rdkit_chem()
    with no_logs():
        # RDKit passes over a NUL, at which other programs take the text to end, and cannot take half a character.
        is_text = "\0" not in smiles and not any("\ud800" <= sign <= "\udfff" for sign in smiles)
        mol = Chem.MolFromSmiles(smiles, sanitize=False) if is_text else None
        if mol is None or mol.GetNumAtoms() == 0:
            raise DataError(
                f"A molecule must be written as SMILES; got {shortened(smiles)}, which RDKit cannot read"
                f"{likely_mistake(smiles)}. Correct it."
            )
        problem = sanitize_mol(mol, aromatic=any(atom.GetIsAromatic() for atom in mol.GetAtoms()))
    if problem:
        raise DataError(f"{smiles}: the SMILES must be a valid molecule; RDKit says: {problem}. Correct it.")
    return mol


def smiles_of_inchi(inchi: str) -> str:
    """The molecule of an InChI as SMILES; raises DataError if it cannot be read."""
    chem = rdkit_chem()
    with no_logs():
        is_text = inchi.isascii() and inchi.isprintable()  # RDKit ends at a NUL, and would read half of it
        mol = chem.MolFromInchi(inchi) if is_text else None
        if mol is None:
            raise DataError(
                f"An InChI must be whole; got {shortened(inchi)}, which RDKit cannot read. "
                "Check that nothing of it is missing."
            )
        return chem.MolToSmiles(_usual_tautomer(mol, inchi))


def _usual_tautomer(mol: Any, inchi: str) -> Any:
    """The form of a molecule that chemists draw, of those that an InChI with mobile hydrogens means.

    RDKit reads the InChI of an amide as an imidic acid.
    """
    if "(H" not in inchi:
        return mol
    chem, tautomers = rdkit_chem(), require("rdkit.Chem.MolStandardize.rdMolStandardize", "mol", "Reading InChI")
    enumerator = tautomers.TautomerEnumerator()
    enumerator.SetRemoveSp3Stereo(False)
    enumerator.SetRemoveBondStereo(False)
    enumerator.SetMaxTautomers(100)
    forms = [form for form in enumerator.Enumerate(mol) if chem.MolToInchi(form) == inchi]
    return max([mol, *forms], key=enumerator.ScoreTautomer)


def likely_mistake(smiles: str) -> str:
    """The likely mistake in a text that is no SMILES, after a colon; empty if it is not known."""
    for opening, closing, what in (("(", ")", "parenthesis"), ("[", "]", "bracket")):
        more = smiles.count(opening) - smiles.count(closing)
        if more:
            return f": a {what} is not {'closed' if more > 0 else 'opened'}"
    bare = re.sub(r"\[[^\]]*\]", "", smiles)
    rings = Counter(re.findall(r"%\d\d|\d", bare))
    if open_rings := sorted(ring for ring, count in rings.items() if count % 2):
        return f": ring {open_rings[0].lstrip('%')} is not closed"
    return ""


def read_mol(
    mol: "rdkit.Chem.Mol", schema: Schema, strict: bool = True, parent: bool = False
) -> tuple["rdkit.Chem.Mol", NodesAndEdges]:
    """Read a molecule, for the arguments see `from_mol`: a molecule whose atoms are the nodes, and the lists of these.

    With `parent`, the first of `readable_forms` that can be read is taken.
    """
    forms = readable_forms(mol, chemistry_of(schema)) if parent else [lambda: mol]
    problem = None
    for form in forms:
        try:
            complete = _complete(form(), schema, strict)
            return complete, _nodes_and_edges(complete, schema)
        except GraphflipError as error:
            problem = problem or error
    raise problem or DataError("A molecule must have at least one atom; this one has none. Leave it out.")


def readable_forms(mol: "rdkit.Chem.Mol", chemistry: Chemistry) -> list[Callable[[], "rdkit.Chem.Mol"]]:
    """Functions that make the forms in which the largest part of a molecule may be read, the preferred one first.

    Where charges are stored that is the part as it is drawn. Where they are not, a molecule of one part is read as it
    is drawn if that is possible, and else, as mixtures are, in its neutral form.
    """
    if chemistry.stored_charges:
        return [lambda: largest_part(mol) if num_parts(mol) > 1 else mol]
    return [lambda: mol, lambda: parent_of(mol)][num_parts(mol) > 1 :]


def _complete(mol: "rdkit.Chem.Mol", schema: Schema, strict: bool) -> "rdkit.Chem.Mol":
    """The molecule with one atom for each node; raises DataError if a graph cannot have its charges."""
    chemistry = chemistry_of(schema)
    add_hydrogens = rdkit_chem().AddHs if chemistry.explicit_hydrogens else rdkit_chem().Mol
    with no_logs():
        plain = plain_mol(mol)
        complete = add_hydrogens(plain)
        problem = charge_mismatch(complete, chemistry)
        if problem and not strict:
            complete = add_hydrogens(settled_mol(plain, chemistry))
            problem = charge_mismatch(complete, chemistry)
    if problem:
        _nodes_and_edges(complete, schema)  # an element that the schema lacks is the better reason
        raise DataError(problem)
    return complete


def _nodes_and_edges(mol: "rdkit.Chem.Mol", schema: Schema) -> NodesAndEdges:
    names = schema.edge_type.values if schema.edge_type else ()
    elements = schema.node_type.values if schema.node_type else ()
    nodes = [_node(atom, schema, elements) for atom in mol.GetAtoms()]
    edges = []
    for bond in mol.GetBonds():
        i, j, name = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), bond.GetBondType().name.lower()
        if name not in names:
            raise SchemaError(f"The bond of atoms {i} and {j} must be one of {', '.join(names)}; got {name}.")
        edges.append((i, j, {"type": name}))
    return NodesAndEdges(nodes, edges)


def _node(atom: "rdkit.Chem.Atom", schema: Schema, elements: tuple[str, ...]) -> AttributeDict:
    """Attributes of the node of an atom; `elements` are those of the schema."""
    symbol = atom.GetSymbol()
    if symbol not in elements and OTHER not in elements:
        raise SchemaError(
            f"Atom {atom.GetIdx()} must be one of {', '.join(elements)}; got {symbol}. "
            "Leave the molecule out, or fit a model on data that contains this element."
        )
    element: AttributeDict = {"type": symbol if symbol in elements else OTHER}
    return element if schema.node_charge is None else {**element, "charge": _charge(atom, schema.node_charge.values)}


def _charge(atom: "rdkit.Chem.Atom", charges: tuple[str, ...]) -> str:
    charge = f"{atom.GetFormalCharge():+d}".replace("+0", "0")
    if charge not in charges:
        raise SchemaError(
            f"Atom {atom.GetIdx()} ({atom.GetSymbol()}) must have a charge among {', '.join(charges)}; "
            f"got {charge}. Leave the molecule out."
        )
    return charge
