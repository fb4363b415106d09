"""Sets whose integers have public names: the three of the paper, with sha256 of their files, and others."""

from dataclasses import dataclass

from ...chemistry import Chemistry

PAPER_LABEL_COUNT = 51
"""The paper keeps a node label that occurs on more than 50 nodes of the whole set."""

_AIDS_ELEMENTS = (
    "C O N Cl F S Se P Na I Co Br Li Si Mg Cu As B Pt Ru K Pd Au Te W Rh Zn Bi Pb Ge Sb Sn Ga Hg Ho Tl Ni Tb"
)
_MUTAGENICITY_ELEMENTS = "C O Cl H N F Br S P I Na K Li Ca"

# Set, suffix of the file, sha256.
_PUBLISHED = """
    AIDS         A               9da8e3f787d1dbdc80a35f205707bd0bec0778261fb7e54355c061912f8d8380
    AIDS         edge_labels     47e3eac0bf8c6196af7d5532fba3d2c9b29014740d471bd4696149a5ef2bf7d7
    AIDS         graph_indicator 8a1ede4f84bcba1f5a7f49fe7e89cdc74466645b62175603710b80300fb68be4
    AIDS         graph_labels    da9c413b24b0a808b497a4567f57dce975d0eb9dc69c5db82aec6a172c88e28f
    AIDS         label_readme    9245ff0e944ff0ecb13cca6dcd274163d7ea529e36ebe49b61529fb85cb1f758
    AIDS         node_attributes e47595d48fa329d84183fd68f8b4a6b327fd05690e3d335ffcdc6b7c110f081c
    AIDS         node_labels     d90cda6258c58f4c3facaa2e6a71e1b589da13f0162af59881400a3c8f0c514a
    Mutagenicity A               ae85e22b4b898ebd819d2ed3adc8f06a7bf1cda746b333086472d19b36711145
    Mutagenicity edge_labels     bf8e783386ac22e6033bbce56d765c0a4336649bd590a6f1e467b27b549f2114
    Mutagenicity graph_indicator 88b2d83ff10fad75b3280654061e965976f74e75620058c371ed23567236b4bc
    Mutagenicity graph_labels    b604c7dcbfdf89193901e32abdcbf9b5b92137414ce22231f00ed65d48ec48f9
    Mutagenicity label_readme    fdfaff559ff89162d8fe0d958c3fa38b245cbdef61f5efb56b7626274507bcbb
    Mutagenicity node_labels     b429ec418c831d02dc3088b2fe08d11214627850d2bbdacfa9797c0510e70ae7
    NCI1         A               2c028eda59a5fe96e2265a63d9ac236901bd9a7dc658498be13cd704a703076d
    NCI1         graph_indicator ffe5acfa754b057d5ce0dc725c5aadb631628161886cc040d38c719635257dc5
    NCI1         graph_labels    fae44681e70113f496256ae87eaac33b7836e3a97fe8e023933b84fde6a5c8a2
    NCI1         node_labels     dc0a22b6cbff0c939de00373e823977ba32b358f560e4288d7602f7b51407ee2
"""


@dataclass(frozen=True)
class KnownSet:
    """Names for the integers of a TU set, sha256 of its files by suffix, and the paper's limit of nodes."""

    max_nodes: int
    elements: dict[int, str]
    bonds: dict[int, str]
    classes: dict[int, str]
    chemistry: Chemistry | None
    sha256: dict[str, str]


def _sha256(name: str) -> dict[str, str]:
    """Hashes of the published files of a set, by suffix."""
    rows = [line.split() for line in _PUBLISHED.split("\n") if line]
    return {suffix: digest for owner, suffix, digest in rows if owner == name}


def _molecules(name: str, max_nodes: int, elements: str, classes: tuple[str, str], hydrogens: bool) -> KnownSet:
    """Set of molecules with bonds; `hydrogens` is True if they are nodes."""
    return KnownSet(
        max_nodes=max_nodes,
        elements=dict(enumerate(elements.split())),
        bonds=dict(enumerate(("single", "double", "triple"))),
        classes=dict(enumerate(classes)),
        chemistry=Chemistry(explicit_hydrogens=hydrogens),
        sha256=_sha256(name),
    )


KNOWN = {
    "AIDS": _molecules("AIDS", 30, _AIDS_ELEMENTS, ("active", "inactive"), hydrogens=False),
    "Mutagenicity": _molecules(
        "Mutagenicity", 50, _MUTAGENICITY_ELEMENTS, ("mutagen", "nonmutagen"), hydrogens=True
    ),
    # The set has no map of its own: these elements are inferred from degrees and from matching public NCI structures.
    "NCI1": KnownSet(
        max_nodes=50,
        elements={
            1: "O", 2: "N", 3: "C", 4: "S", 5: "Cl", 6: "P", 7: "F", 8: "Na", 9: "Sn", 14: "Br", 17: "Se", 21: "I",
            22: "Si", 26: "As", 27: "B",
        },
        bonds={},
        classes={0: "inactive", 1: "active"},
        chemistry=None,
        sha256=_sha256("NCI1"),
    ),
}  # fmt: skip

_MUTAG_ELEMENTS = "C N O F I Cl Br"
_PTC_MR_ELEMENTS = "In P O N Na C Cl S Br F K Cu Zn I Ba Sn Pb Ca"
NAMED: dict[str, dict[str, dict[int, str]]] = {
    "MUTAG": {
        "node labels": dict(enumerate(_MUTAG_ELEMENTS.split())),
        "edge labels": dict(enumerate(("aromatic", "single", "double", "triple"))),
        "class labels": {-1: "nonmutagen", 1: "mutagen"},
    },
    "PTC_MR": {
        "node labels": dict(enumerate(_PTC_MR_ELEMENTS.split())),
        "edge labels": dict(enumerate(("triple", "double", "single", "aromatic"))),
    },
}
"""Names of labels as in the README that comes with each set, for copies of it that have lost theirs."""
