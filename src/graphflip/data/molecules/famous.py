"""A dozen molecules that many chemists know, with their results in the Ames test, to try a model on."""

from typing import NamedTuple


class Molecule(NamedTuple):
    """Molecule by name; `mutagen` is True if it is known to be positive in the Ames test."""

    name: str
    smiles: str
    mutagen: bool


def famous_molecules() -> list[Molecule]:
    """List the molecules, mutagens first; all fit the schema of Mutagenicity (at most 50 atoms with hydrogens)."""
    return [
        Molecule("2-nitrofluorene", "O=[N+]([O-])c1ccc2c(c1)Cc1ccccc1-2", True),
        Molecule("1-nitropyrene", "O=[N+]([O-])c1ccc2ccc3cccc4ccc1c2c34", True),
        Molecule("4-nitroquinoline N-oxide", "O=[N+]([O-])c1cc[n+]([O-])c2ccccc12", True),
        Molecule("benzo[a]pyrene", "c1ccc2c(c1)cc1ccc3cccc4ccc2c1c34", True),
        Molecule("2-aminoanthracene", "Nc1ccc2cc3ccccc3cc2c1", True),
        Molecule("9-aminoacridine", "Nc1c2ccccc2nc2ccccc12", True),
        Molecule("ethyl methanesulfonate", "CCOS(C)(=O)=O", True),
        Molecule("N-nitrosodimethylamine", "CN(C)N=O", True),
        Molecule("caffeine", "Cn1c(=O)c2c(ncn2C)n(C)c1=O", False),
        Molecule("aspirin", "CC(=O)Oc1ccccc1C(=O)O", False),
        Molecule("ibuprofen", "CC(C)Cc1ccc(cc1)C(C)C(=O)O", False),
        Molecule("paracetamol", "CC(=O)Nc1ccc(O)cc1", False),
        Molecule("vanillin", "COc1cc(C=O)ccc1O", False),
        Molecule("menthol", "CC(C)C1CCC(C)CC1O", False),
    ]
