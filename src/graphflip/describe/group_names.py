"""Names of groups, by their SMILES with `*` for the atom that the group hangs on."""

from collections.abc import Collection
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
    "*[n+]1ccccc1": "pyridinium",
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
    "*[S-]": "thiolate",
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
    "*C(=O)[O-]": "carboxylate",
    "*CC(=O)[O-]": "carboxylatomethyl",
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
    "*[NH3+]": "ammonium",
    "*[NH2+]C": "methylammonium",
    "*[NH+](C)C": "dimethylammonium",
    "*[N+](C)(C)[O-]": "dimethylamine N-oxide",
    "*C[NH3+]": "ammoniomethyl",
    "*NC": "methylamino",
    "*N(C)C": "dimethylamino",
    "*[N+](C)(C)C": "trimethylammonium",
    "*NCC": "ethylamino",
    "*N(CC)CC": "diethylamino",
    "*Nc1ccccc1": "anilino",
    "*NC=O": "formamido",
    "*NC(C)=O": "acetamido",
    "*NC(N)=O": "ureido",
    "*NC(=N)N": "guanidino",
    "*NC(N)=[NH2+]": "guanidinium",
    "*C(=N)N": "amidino",
    "*C(N)=[NH2+]": "amidinium",
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
    "*N=[N+]=[N-]": "azide",
    "*[N+]#N": "diazonium",
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
    "*[S+](C)C": "dimethylsulfonium",
    "*S(C)=O": "methylsulfinyl",
    "*S(C)(=O)=O": "methylsulfonyl",
    "*S(=O)(=O)c1ccccc1": "phenylsulfonyl",
    "*S(=O)(=O)c1ccc(C)cc1": "tosyl",
    "*S(=O)(=O)O": "sulfo",
    "*S(=O)(=O)[O-]": "sulfonate",
    "*S(=O)(=O)N": "sulfamoyl",
    "*S(=O)(=O)Cl": "chlorosulfonyl",
    "*S(=O)(=O)F": "fluorosulfonyl",
    "*OS(C)(=O)=O": "methylsulfonyloxy",
    "*OS(=O)(=O)O": "sulfooxy",
    "*OS(=O)(=O)[O-]": "sulfate",
    "*NS(C)(=O)=O": "methylsulfonamido",
    "*P(=O)(O)O": "phosphono",
    "*P(=O)([O-])[O-]": "phosphonate",
    "*OP(=O)(O)O": "phosphonooxy",
    "*OP(=O)([O-])[O-]": "phosphate",
    "*[P+](C)(C)C": "trimethylphosphonium",
    "*P(=O)(OC)OC": "dimethoxyphosphoryl",
    "*OP(=O)(OC)OC": "dimethoxyphosphoryloxy",
    "**": "other",
    "*[Si](C)(C)C": "trimethylsilyl",
    "*B(O)O": "borono",
}
"""SMILES in any spelling, and the name of the group as a substituent."""

SITES = {
    "[OX1-]C=O": "carboxylate oxygen",
    "[OX2H]C=O": "carboxylic acid oxygen",
    "[OX1-]c": "phenolate oxygen",
    "[OX2H]c": "phenol oxygen",
    "[OX1-]S(=O)=O": "sulfonate oxygen",
    "[OX2H]S(=O)=O": "sulfonic acid oxygen",
    "[OX1-]P=O": "phosphate oxygen",
    "[OX1-][#7+]": "oxide oxygen",
    "[SX1-]": "thiolate sulfur",
    "[NX4+]": "ammonium nitrogen",
    "[nX3+]": "pyridinium nitrogen",
}
"""SMARTS of an atom that can gain or lose a proton, and its name."""


def name_group(graph: Graph, mol: Any, anchor: int, members: frozenset[int]) -> tuple[str, bool]:
    """Name of a group of heavy atoms that hangs on `anchor`, and True: "nitro group", True.

    An oxygen of an oxide and an atom that the schema has no name for are no groups: "oxide oxygen", "other atom". A
    group without a name is written as SMILES from the bond it hangs on, with False: "group -NC(C)=O", False.

    Args:
        graph: One hard graph.
        mol: The graph as a molecule that RDKit has not looked at yet.
        anchor: Slot of the atom that the group hangs on.
        members: Slots of its heavy atoms.
    """
    mol = _cut_out(graph, mol, anchor, members)
    known = _names().get(_canonical(mol))
    if known is not None and (known not in _ON_CARBON or _symbol(graph, anchor) == "C"):
        return _only_atom(graph, known, members) or f"{known} group", True
    root = next(atom.GetIdx() for atom in mol.GetAtoms() if atom.HasProp(_ANCHOR))
    text = _chem().MolToSmiles(mol, rootedAtAtom=root).removeprefix("[*]").removeprefix("*")
    return f"group {text if text[0] in '=#' else '-' + text}", False


def name_site(graph: Graph, i: int) -> str | None:
    """Name of an atom by what it is bonded to, as in "carboxylate oxygen"; None if it has no such name."""
    from ..data.molecules.molecule import to_mol

    mol = to_mol(graph, sanitize=False)
    with require("rdkit.rdBase", "mol", "Naming atoms of molecules").BlockLogs():
        _chem().SanitizeMol(mol, catchErrors=True)
    k = sum(node is not None for node in graph.nodes()[:i])
    matches = (name for site, name in _sites() if any(match[0] == k for match in mol.GetSubstructMatches(site)))
    return next(matches, None)


def _symbol(graph: Graph, i: int) -> str:
    node = graph.nodes()[i]
    return "" if node is None else str(node["type"])


def _only_atom(graph: Graph, name: str, members: Collection[int]) -> str | None:
    """Name of a group that is called by its only atom; None for others."""
    if name == "oxide":
        return name_site(graph, min(members)) or "oxide oxygen"
    return "other atom" if name == "other" else None


_ON_CARBON = ("diazo",)
"""Groups that have other names on other elements: on nitrogen they make an azide."""

_ANCHOR = "anchor"
"""Property of the dummy atom that a group hangs on."""


@cache
def _names() -> dict[str, str]:
    return {_canonical(_chem().MolFromSmiles(smiles)): name for smiles, name in GROUPS.items()}


@cache
def _sites() -> list[tuple[Any, str]]:
    return [(_chem().MolFromSmarts(smarts), name) for smarts, name in SITES.items()]


def _cut_out(graph: Graph, mol: Any, anchor: int, members: frozenset[int]) -> Any:
    """The group as a molecule of its own, with a dummy atom for the one that it hangs on."""
    chem, chemistry = _chem(), graph.schema.chemistry
    mol = chem.RWMol(mol)
    nodes = [(i, node["type"]) for i, node in enumerate(graph.nodes()) if node is not None]
    near = {k for i, j, _ in graph.edges() if members & {i, j} for k in (i, j)}
    keep = members | {anchor} | {i for i, kind in nodes if kind == "H" and i in near}
    for k, (i, _) in enumerate(nodes):
        atom = mol.GetAtomWithIdx(k)
        atom.SetNoImplicit(chemistry is not None and chemistry.explicit_hydrogens)
        if i == anchor:
            atom.SetBoolProp(_ANCHOR, True)
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
