"""Names of groups, by their SMILES with `*` for the atom that the group hangs on."""

from functools import cache
from typing import Any

from ..errors import require
from ..graph import Graph

GROUPS = {
    "*C": "methyl",
    "*CC": "ethyl",
    "*CCC": "propyl",
    "*C(C)C": "isopropyl",
    "*CCCC": "butyl",
    "*CC(C)C": "isobutyl",
    "*C(C)CC": "sec-butyl",
    "*C(C)(C)C": "tert-butyl",
    "*C1CC1": "cyclopropyl",
    "*C1CCCCC1": "cyclohexyl",
    "*=C": "methylidene",
    "*C=C": "vinyl",
    "*CC=C": "allyl",
    "*C(C)=C": "isopropenyl",
    "*C#C": "ethynyl",
    "*c1ccccc1": "phenyl",
    "*Cc1ccccc1": "benzyl",
    "*c1ccc(C)cc1": "tolyl",
    "*c1ccccn1": "2-pyridyl",
    "*c1cccnc1": "3-pyridyl",
    "*c1ccncc1": "4-pyridyl",
    "*c1ccco1": "furyl",
    "*c1cccs1": "thienyl",
    "*F": "fluoro",
    "*Cl": "chloro",
    "*Br": "bromo",
    "*I": "iodo",
    "*CF": "fluoromethyl",
    "*C(F)F": "difluoromethyl",
    "*C(F)(F)F": "trifluoromethyl",
    "*CCl": "chloromethyl",
    "*C(Cl)Cl": "dichloromethyl",
    "*C(Cl)(Cl)Cl": "trichloromethyl",
    "*CBr": "bromomethyl",
    "*CCCl": "2-chloroethyl",
    "*CCBr": "2-bromoethyl",
    "*O": "hydroxy",
    "*[O-]": "oxide",
    "*=O": "oxo",
    "*OC": "methoxy",
    "*OCC": "ethoxy",
    "*OCCC": "propoxy",
    "*OC(C)C": "isopropoxy",
    "*Oc1ccccc1": "phenoxy",
    "*OCc1ccccc1": "benzyloxy",
    "*OO": "hydroperoxy",
    "*OC=O": "formyloxy",
    "*OC(C)=O": "acetoxy",
    "*OC(F)(F)F": "trifluoromethoxy",
    "*CO": "hydroxymethyl",
    "*CCO": "2-hydroxyethyl",
    "*COC": "methoxymethyl",
    "*C1CO1": "oxiranyl",
    "*CC1CO1": "oxiranylmethyl",
    "*C=O": "formyl",
    "*C(C)=O": "acetyl",
    "*C(=O)CC": "propanoyl",
    "*C(=O)c1ccccc1": "benzoyl",
    "*C(=O)O": "carboxy",
    "*CC(=O)O": "carboxymethyl",
    "*C(=O)OC": "methoxycarbonyl",
    "*C(=O)OCC": "ethoxycarbonyl",
    "*C(=O)N": "carbamoyl",
    "*C(=O)NC": "methylcarbamoyl",
    "*C(=O)N(C)C": "dimethylcarbamoyl",
    "*C(=O)F": "fluorocarbonyl",
    "*C(=O)Cl": "chlorocarbonyl",
    "*C(=O)Br": "bromocarbonyl",
    "*N": "amino",
    "*[NH3+]": "ammonio",
    "*NC": "methylamino",
    "*N(C)C": "dimethylamino",
    "*[N+](C)(C)C": "trimethylammonio",
    "*NCC": "ethylamino",
    "*N(CC)CC": "diethylamino",
    "*Nc1ccccc1": "anilino",
    "*NC=O": "formamido",
    "*NC(C)=O": "acetamido",
    "*NC(N)=O": "ureido",
    "*NC(=N)N": "guanidino",
    "*C(=N)N": "amidino",
    "*CN": "aminomethyl",
    "*CCN": "2-aminoethyl",
    "*NN": "hydrazinyl",
    "*NO": "hydroxyamino",
    "*N=O": "nitroso",
    "*[N+](=O)[O-]": "nitro",
    "*O[N+](=O)[O-]": "nitrooxy",
    "*ON=O": "nitrosooxy",
    "*C[N+](=O)[O-]": "nitromethyl",
    "*N(C)N=O": "methyl(nitroso)amino",
    "*N=N": "diazenyl",
    "*N=Nc1ccccc1": "phenyldiazenyl",
    "*N=[N+]=[N-]": "azido",
    "*[N+]#N": "diazonio",
    "*=[N+]=[N-]": "diazo",
    "*C#N": "cyano",
    "*CC#N": "cyanomethyl",
    "*[N+]#[C-]": "isocyano",
    "*OC#N": "cyanato",
    "*N=C=O": "isocyanato",
    "*SC#N": "thiocyanato",
    "*N=C=S": "isothiocyanato",
    "*=N": "imino",
    "*=NO": "hydroxyimino",
    "*C=N": "iminomethyl",
    "*C=NO": "hydroxyiminomethyl",
    "*N1CCCC1": "pyrrolidino",
    "*N1CCCCC1": "piperidino",
    "*N1CCOCC1": "morpholino",
    "*N1CCNCC1": "piperazino",
    "*N1CC1": "aziridino",
    "*S": "sulfanyl",
    "*=S": "thioxo",
    "*SC": "methylsulfanyl",
    "*Sc1ccccc1": "phenylsulfanyl",
    "*S(C)=O": "methylsulfinyl",
    "*S(C)(=O)=O": "methylsulfonyl",
    "*S(=O)(=O)c1ccccc1": "phenylsulfonyl",
    "*S(=O)(=O)c1ccc(C)cc1": "tosyl",
    "*S(=O)(=O)O": "sulfo",
    "*S(=O)(=O)N": "sulfamoyl",
    "*S(=O)(=O)Cl": "chlorosulfonyl",
    "*S(=O)(=O)F": "fluorosulfonyl",
    "*OS(C)(=O)=O": "methylsulfonyloxy",
    "*OS(=O)(=O)O": "sulfooxy",
    "*NS(C)(=O)=O": "methylsulfonamido",
    "*P(=O)(O)O": "phosphono",
    "*OP(=O)(O)O": "phosphonooxy",
    "*P(=O)(OC)OC": "dimethoxyphosphoryl",
    "*OP(=O)(OC)OC": "dimethoxyphosphoryloxy",
    "*[Si](C)(C)C": "trimethylsilyl",
    "*B(O)O": "borono",
}
"""SMILES in any spelling, and the name of the group as a substituent."""


def name_group(graph: Graph, anchor: int, members: set[int]) -> tuple[str, bool]:
    """Name of a group of heavy atoms that hangs on `anchor`, and True: "nitro group", True.

    A group without a name is written as SMILES from the bond it hangs on, with False: "group -NC(C)=O", False.
    """
    mol = _cut_out(graph, anchor, members)
    known = _names().get(_canonical(mol))
    if known is not None:
        return f"{known} group", True
    root = next(atom.GetIdx() for atom in mol.GetAtoms() if atom.GetAtomicNum() == 0)
    text = _chem().MolToSmiles(mol, rootedAtAtom=root).removeprefix("[*]").removeprefix("*")
    return f"group {text if text[0] in '=#' else '-' + text}", False


@cache
def _names() -> dict[str, str]:
    return {_canonical(_chem().MolFromSmiles(smiles)): name for smiles, name in GROUPS.items()}


def _cut_out(graph: Graph, anchor: int, members: set[int]) -> Any:
    """The group as a molecule of its own, with a dummy atom for the one that it hangs on."""
    from ..data.molecules.molecule import to_mol

    chem, chemistry = _chem(), graph.schema.chemistry
    mol = chem.RWMol(to_mol(graph, sanitize=False))
    nodes = [(i, node["type"]) for i, node in enumerate(graph.nodes()) if node is not None]
    near = {k for i, j, _ in graph.edges() if members & {i, j} for k in (i, j)}
    keep = members | {anchor} | {i for i, kind in nodes if kind == "H" and i in near}
    for k, (i, _) in enumerate(nodes):
        atom = mol.GetAtomWithIdx(k)
        atom.SetNoImplicit(chemistry is not None and chemistry.explicit_hydrogens)
        if i == anchor:
            atom.SetAtomicNum(0)
            atom.SetFormalCharge(0)
    for k in reversed([k for k, (i, _) in enumerate(nodes) if i not in keep]):
        mol.RemoveAtom(k)
    with require("rdkit.rdBase", "mol", "Naming groups of molecules").BlockLogs():
        mol = chem.RemoveHs(mol, sanitize=False)
        chem.SanitizeMol(mol, catchErrors=True)  # a group that is no molecule is written as it is
    return mol


def _canonical(mol: Any) -> str:
    return _chem().MolToSmiles(mol)


def _chem() -> Any:
    return require("rdkit.Chem", "mol", "Naming groups of molecules")
