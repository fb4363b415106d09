"""Molecules that many chemists know, with their results in the Ames test, to try a model on."""

from typing import NamedTuple


class Molecule(NamedTuple):
    """Molecule by name; `mutagen` is its result in the Ames test, None if that is not known or disputed."""

    name: str
    smiles: str
    mutagen: bool | None


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


def gallery_molecules() -> list[Molecule]:
    """List the famous molecules and twenty more: drugs, salts, dyes, hydrocarbons, alkylators, natural products.

    They fit `drug_schema`. Results are those of the drugs' labels and of textbooks.
    """
    return [
        *famous_molecules(),
        Molecule("imatinib", "Cc1ccc(NC(=O)c2ccc(CN3CCN(C)CC3)cc2)cc1Nc1nccc(-c2cccnc2)n1", False),
        Molecule("sildenafil", "CCCc1nn(C)c2c1nc([nH]c2=O)-c1cc(ccc1OCC)S(=O)(=O)N1CCN(C)CC1", False),
        Molecule("losartan potassium", "CCCCc1nc(Cl)c(CO)n1Cc1ccc(cc1)-c1ccccc1-c1nn[n-]n1.[K+]", False),
        Molecule("ibuprofen sodium", "CC(C)Cc1ccc(cc1)C(C)C(=O)[O-].[Na+]", False),
        Molecule("thyroxine", "N[C@@H](Cc1cc(I)c(Oc2cc(I)c(O)c(I)c2)c(I)c1)C(=O)O", None),
        Molecule("diazepam", "CN1c2ccc(Cl)cc2C(=NCC1=O)c1ccccc1", None),
        Molecule("metformin hydrochloride", "CN(C)C(=N)NC(N)=N.Cl", False),
        Molecule("ciprofloxacin", "OC(=O)C1=CN(C2CC2)c2cc(N3CCNCC3)c(F)cc2C1=O", False),
        Molecule("nitrofurantoin", "O=C1CN(N=Cc2ccc(o2)[N+](=O)[O-])C(=O)N1", True),
        Molecule("metronidazole", "Cc1ncc([N+](=O)[O-])n1CCO", True),
        Molecule("methyl yellow", "CN(C)c1ccc(cc1)N=Nc1ccccc1", True),
        Molecule("crystal violet", "CN(C)c1ccc(cc1)C(=C1C=CC(=[N+](C)C)C=C1)c1ccc(cc1)N(C)C.[Cl-]", None),
        Molecule("chrysene", "c1ccc2c(c1)ccc1c2ccc2ccccc21", True),
        Molecule("dibenz[a,h]anthracene", "c1ccc2c(c1)ccc1cc3c(ccc4ccccc43)cc12", True),
        Molecule("cyclophosphamide", "O=P1(NCCCO1)N(CCCl)CCCl", True),
        Molecule("melphalan", "N[C@@H](Cc1ccc(cc1)N(CCCl)CCCl)C(=O)O", True),
        Molecule("styrene oxide", "C1OC1c1ccccc1", True),
        Molecule("quercetin", "Oc1cc(O)c2c(c1)oc(-c1ccc(O)c(O)c1)c(O)c2=O", True),
        Molecule("colchicine", "COc1cc2CC[C@H](NC(C)=O)c3cc(=O)c(OC)ccc3-c2c(OC)c1OC", False),
        Molecule("aflatoxin B1", "COc1cc2O[C@H]3OC=C[C@H]3c2c2oc(=O)c3C(=O)CCc3c12", True),
    ]
