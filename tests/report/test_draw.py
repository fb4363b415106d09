"""Drawings: each node and edge has its element, what stays stands still, marks say what happened, nothing is code."""

import io
import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rdkit", reason="install graphflip[mol] to draw molecules")

from graphflip.data.molecules.molecule import from_smiles, to_mol
from graphflip.edits import Edit, apply_edits, edits_between, heavy_edits
from graphflip.explain.claims.importance import Importance
from graphflip.graph import Graph
from graphflip.report.draw.depiction import num_faults
from graphflip.report.draw.palette import LIGHT
from graphflip.report.draw.pictures import draw_graph, draw_legend, draw_pair, draw_steps
from graphflip.report.draw.routes import middle
from graphflip.report.draw.scene import UNIT, Lines, Shape, Text, edge_key, node_key, text_width
from graphflip.report.draw.skeletal import distance_to
from graphflip.report.draw.stage import Stage
from graphflip.schema import Categories, Continuous, Schema
from graphflip.testing import random_graph

from .pairs import CHARGED, EXPLICIT, IMPLIED, molecule_pair, random_pair

SEEDS, SIZES = st.integers(0, 2**16), st.integers(0, 8)

SVG = "{http://www.w3.org/2000/svg}"

MOLECULES = [
    ("O=[N+]([O-])c1ccccc1", "c1ccccc1"),
    ("CCO", "CCCl"),
    ("C1CCCCC1", "C1CCCCCO1"),
    ("NCC#N", "CCN"),
    ("Cl.NC", "CCCC"),
]


def keys(picture) -> Counter:
    return Counter(element.key for element in picture.scene.elements if element.spot)


def expected(graph: Graph) -> Counter:
    nodes = [node_key(i) for i, node in enumerate(graph.nodes()) if node is not None]
    return Counter(nodes + [edge_key(i, j) for i, j, _ in graph.edges()])


def marks(picture) -> dict:
    return {element.key: element.mark for element in picture.scene.elements if element.mark}


def places(picture) -> dict:
    return {element.key: element.spot for element in picture.scene.elements if len(element.spot) == 1}


def check(factual: Graph, counterfactual: Graph) -> None:
    """What holds for any pair with all nodes shown."""
    before, after = draw_pair(factual, counterfactual, hydrogens=True)
    assert keys(before) == expected(factual)
    assert keys(after) == expected(counterfactual)
    first, second = places(before), places(after)
    if any(first[key] != second[key] for key in first.keys() & second.keys()):
        stage = Stage.of([factual, counterfactual], hydrogens=True)
        drawn, alone = num_tangles(counterfactual, stage.clean), num_tangles(counterfactual, stage.places)
        assert drawn < alone, "nodes that stay are moved only to draw more clearly"
    assert places(draw_graph(factual, hydrogens=True)).keys() == first.keys()
    assert before.scene.box == after.scene.box
    what = {"add": "added", "remove": "removed", "set": "changed"}
    edits = edits_between(factual, counterfactual)
    said = {(node_key(e.at[0]) if e.is_node else edge_key(*e.at)): what[e.op.split("_")[0]] for e in edits}
    assert marks(before) == {key: mark for key, mark in said.items() if mark != "added"}
    assert marks(after) == {key: mark for key, mark in said.items() if mark != "removed"}
    for picture in (before, after):
        inside(picture)
        root = ET.fromstring(picture.svg())
        groups = [group for group in root.iter(f"{SVG}g") if group.find("*[@class='spot']") is not None]
        assert Counter(group.get("class").split()[0] for group in groups) == keys(picture)


def num_tangles(graph: Graph, where: dict) -> float:
    slots = [i for i, node in enumerate(graph.nodes()) if node is not None]
    bonds = [(slots.index(i), slots.index(j)) for i, j, _ in graph.edges()]
    return num_faults(np.array([where[i] for i in slots]) / UNIT, np.array(bonds, dtype=int).reshape(-1, 2))


def inside(picture) -> None:
    left, top, width, height = picture.scene.box
    for point in places(picture).values():
        assert left < point[0][0] < left + width
        assert top < point[0][1] < top + height


def test_what_is_no_molecule_is_drawn_in_silence(capfd):
    carbon = [{"type": "C"}] * 6
    graph = Graph.build(EXPLICIT, carbon, [(0, k, {"type": "single"}) for k in range(1, 6)])
    assert draw_graph(graph).svg()
    assert capfd.readouterr().err == ""


@given(seed=SEEDS, n=SIZES, m=SIZES)
def test_laws_of_pairs(seed, n, m):
    check(*random_pair(seed, n, m))


@pytest.mark.parametrize("schema", [EXPLICIT, IMPLIED, CHARGED])
@pytest.mark.parametrize(("before", "after"), MOLECULES)
def test_laws_of_molecules(before, after, schema):
    check(*molecule_pair(before, after, schema))


@pytest.mark.parametrize("schema", [EXPLICIT, CHARGED])
@given(seed=SEEDS, n=SIZES, m=SIZES)
def test_laws_of_what_is_hardly_a_molecule(schema, seed, n, m):
    first, second = (random_graph(schema, n=k, num_graphs=1, seed=seed + k) for k in (n, m))
    check(first.pad(9), second.pad(9))


@pytest.mark.parametrize(("before", "after"), MOLECULES)
def test_hydrogens_that_fill_valences_are_letters(before, after):
    factual, counterfactual = molecule_pair(before, after)
    pictures = draw_pair(factual, counterfactual)
    for graph, picture in zip((factual, counterfactual), pictures, strict=True):
        heavy = {node_key(i) for i, node in enumerate(graph.nodes()) if node is not None and node["type"] != "H"}
        assert heavy <= keys(picture).keys()
    touched = {i for edit in heavy_edits(factual, edits_between(factual, counterfactual)) for i in edit.at}
    shown = {key for picture in pictures for key in keys(picture)}
    assert {node_key(i) for i in touched} <= shown


@pytest.mark.parametrize("schema", [EXPLICIT, IMPLIED, CHARGED])
@pytest.mark.parametrize(("before", "after"), [*MOLECULES, ("C[N+](C)(C)CN", "C[N+](C)(C)CO"), ("SCC", "NCC")])
def test_bonds_and_hydrogens_keep_out_of_marks(before, after, schema):
    for picture in draw_pair(*molecule_pair(before, after, schema)):
        nodes = [one for one in picture.scene.elements if one.mark and len(one.spot) == 1]
        bonds = [one for one in picture.scene.elements if len(one.spot) > 1]
        for node in nodes:
            letters = [shape for shape in node.shapes if isinstance(shape, Text) and shape.style == "label"]
            ends = [end for one in bonds if node.spot[0] in one.spot for end in drawn_ends(one)] if letters else []
            hydrogens = [text.at for text in letters if text.at != node.spot[0]]
            assert not [point for point in (*ends, *hydrogens) if is_within(point, node)]


def test_hydrogens_of_a_marked_atom_cover_no_bond_where_a_larger_group_comes():
    before, after = molecule_pair("Nc1ccc2ccccc2c1", "S(c1ccc2ccccc2c1)(=O)(=O)O", CHARGED)
    picture, _ = draw_pair(before, after)
    (hydrogens,) = [text for one in picture.scene.elements for text in one.shapes if getattr(text, "text", "") == "H₂"]
    ends = [end for one in picture.scene.elements if len(one.spot) > 1 for end in drawn_ends(one)]
    assert min(np.hypot(end[0] - hydrogens.at[0], end[1] - hydrogens.at[1]) for end in ends) > 0.4 * UNIT


def drawn_ends(bond) -> list:
    lines = [shape for shape in bond.shapes if isinstance(shape, Lines) and shape.style == "bond"]
    return [end for shape in lines for segment in shape.segments for end in segment]


def is_within(point, node) -> bool:
    """Whether a point is clearly inside the halo of a node; lines beside a bond's middle may touch its outline."""
    (x, y), (halo,) = node.spot[0], [shape for shape in node.shapes if isinstance(shape, Shape)]
    dx, dy = abs(point[0] - x), abs(point[1] - y)
    if halo.radius:
        return bool(np.hypot(dx, dy) < halo.radius - 2)
    size = max(corner[0] for corner in halo.points) - x
    return (max(dx, dy) if node.mark == "removed" else dx + dy) < size - 3


def texts(picture) -> list[str]:
    return [text.text or "" for text in ET.fromstring(picture.svg()).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("smiles", "letters"),
    [("CN", ["NH₂"]), ("C", ["CH₄"]), ("O", ["H₂O"]), ("C[N+](C)(C)C", ["N⁺"]), ("CS", ["SH"]), ("CC", [])],
)
@pytest.mark.parametrize("schema", [EXPLICIT, IMPLIED, CHARGED])
def test_letters(smiles, letters, schema):
    found = texts(draw_graph(from_smiles(smiles, schema)))
    assert sorted("".join(sorted(text)) for text in found) == sorted("".join(sorted(text)) for text in letters)


def test_atoms_of_a_picture_do_not_cover_each_other():
    for smiles in ("O=[N+]([O-])c1ccc2ccc3cccc4ccc1c2c34", "CC(C)Cc1ccc(cc1)C(C)C(=O)O"):
        points = [spot[0] for spot in places(draw_graph(from_smiles(smiles, EXPLICIT))).values()]
        gaps = [abs(complex(*a) - complex(*b)) for k, a in enumerate(points) for b in points[:k]]
        assert min(gaps) > 20


def test_parts_of_their_own_are_set_apart():
    factual, counterfactual = molecule_pair("c1ccccc1", "c1ccccc1.O.O.CC.N", IMPLIED)
    points = [spot[0] for spot in places(draw_pair(factual, counterfactual)[1]).values()]
    assert min(abs(complex(*a) - complex(*b)) for k, a in enumerate(points) for b in points[:k]) > 20


def test_numbers_that_change_have_arrows():
    schema = Schema(nodes=(Continuous(name="x"), Continuous(name="<y>")), max_nodes=2)
    before = Graph.build(schema, [{"x": 0.31, "<y>": 1.0}], [])
    after = Graph.build(schema, [{"x": 0.78, "<y>": 0.5}], [])
    shown = draw_pair(before, after)[1]
    assert {"x 0.31 → 0.78", "<y> 1 → 0.5"} <= set(texts(shown))
    (note,) = (element for element in shown.scene.elements if not element.spot)
    assert (note.key, note.mark) == ("atom-0", "changed")
    up, down = (shape.points[2][1] - shape.points[0][1] for shape in note.shapes if shape.style == "arrow")
    assert up < 0 < down


RELAYS = Schema(nodes=(Continuous(name="heat"),), edges=(Continuous(name="weight"),), max_nodes=9, directed=True)


def directed(heat: float, weight: float, edges) -> Graph:
    return Graph.build(RELAYS, [{"heat": heat}] * 5, [(i, j, {"weight": weight}) for i, j in edges])


def test_notes_cover_no_node():
    star = [(0, k) for k in range(1, 5)]
    shown = draw_pair(directed(0.25, 0.5, star), directed(0.75, 0.125, star))[1]
    discs = [spot[0] for spot in places(shown).values()]
    notes = [shape for element in shown.scene.elements if not element.spot for shape in element.shapes]
    lines = [shape for shape in notes if shape.style == "note"]
    assert Counter(line.text for line in lines) == {"heat 0.25 → 0.75": 5, "weight 0.5 → 0.125": 4}
    for line in lines:
        (x, y), width = line.at, text_width(line.text, "note")
        assert all(not (x - 9 < a < x + width + 9 and abs(b - y) < 9) for a, b in discs), line.text
    assert "heat 0.25 → 0.75" in shown.svg(standalone=False, brief=True)


def test_directed_edges_have_heads_and_both_directions_keep_apart():
    picture = draw_graph(directed(0.0, 1.0, [(0, 1), (1, 0), (1, 2)]))
    edges = {element.key: element for element in picture.scene.elements if len(element.spot) > 1}
    for key, element in edges.items():
        (head,) = (shape for shape in element.shapes if isinstance(shape, Shape) and shape.style == "head")
        end = complex(*places(picture)[f"atom-{key.split('-')[2]}"][0])
        tip, *corners = (abs(complex(*point) - end) for point in head.points)
        assert tip < min(corners), "it points at where the edge leads"
    there, back = (complex(*middle(edges[key].spot)) for key in ("bond-0-1", "bond-1-0"))
    assert abs(there - back) > 8


@given(name=st.text(max_size=12), values=st.lists(st.text(max_size=3), min_size=2, max_size=2, unique=True))
def test_hostile_names_are_text(name, values):
    schema = Schema(
        nodes=(Categories(name=name, values=tuple(values)),),
        edges=(Categories(name=name, values=(*values, "more", "types")),),
        max_nodes=3,
    )
    graph = Graph.build(schema, [{name: values[0]}, {name: values[1]}], [(0, 1, {name: values[1]})])
    for svg in (draw_graph(graph).svg(), draw_graph(graph).svg(standalone=False, brief=True)):
        printable = "".join(letter for letter in svg if letter.isprintable())
        root = ET.fromstring(printable)
        assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
            *("svg", "style", "rect", "g", "path", "circle", "text")
        }
        allowed = {
            *("class", "viewBox", "width", "height", "role", "aria-label", "d", "x", "y", "cx", "cy", "r", "fill")
        }
        assert {key for element in root.iter() for key in element.attrib} <= allowed


def test_brief_pictures_show_the_same_in_fewer_letters():
    before, _ = draw_pair(*molecule_pair("CC(C)Cc1ccccc1CCO", "CC(C)Cc1ccccc1CCN"))
    full, brief = before.svg(standalone=False), before.svg(standalone=False, brief=True)
    assert len(brief) < 0.6 * len(full)
    assert all(f'class="{key} {mark}"' in brief for key, mark in marks(before).items())


def test_png_has_the_marks_in_their_colors():
    image_module = pytest.importorskip("PIL.Image", reason="install pillow to decode pictures")
    pytest.importorskip("matplotlib", reason="install graphflip[plot] for PNG")
    before, after = draw_pair(*molecule_pair("CCO", "CCNC"))

    def colors(picture) -> set:
        image = image_module.open(io.BytesIO(picture.png(scale=2.0))).convert("RGB")
        *_, width, height = picture.scene.box
        assert image.size == (int(2 * width), int(2 * height))
        return {color for _, color in image.getcolors(1 << 20)}

    def rgb(color: str) -> tuple:
        return tuple(int(color[k : k + 2], 16) for k in (1, 3, 5))

    star = [(0, 1), (0, 2)]
    noted = draw_pair(directed(0.25, 0.5, star), directed(0.75, 0.125, star))[1]
    assert rgb(LIGHT.changed) in colors(before) & colors(after) & colors(noted)
    assert rgb(LIGHT.added) in colors(after) - colors(before)


def test_steps_share_a_stage():
    factual, counterfactual = molecule_pair("CCO", "CCNC")
    pictures = draw_steps(factual, counterfactual, [factual, counterfactual])
    assert len({picture.scene.box for picture in pictures}) == 1
    assert not marks(pictures[1])
    assert marks(pictures[2]) == marks(pictures[3])


def test_the_way_changes_nothing_at_its_ends():
    factual, counterfactual = molecule_pair("CCO", "CCN")
    loose = apply_edits(factual, [edit for edit in edits_between(factual, counterfactual) if edit.op != "add_edge"])
    first, middle_one, last = draw_steps(factual, counterfactual, [loose])
    assert [first, last] == list(draw_pair(factual, counterfactual))
    assert places(middle_one).keys() == places(first).keys(), "a hydrogen that is not joined yet is not drawn"


def test_nothing_new_is_put_where_an_edge_has_gone():
    """A ring that is opened, with a bromine at one of its ends: it goes outside, as if the ring were still closed."""
    factual = from_smiles("C1CCCCC1", IMPLIED)
    edits = [
        Edit("remove_edge", (0, 5), {"type": "single"}, {}),
        Edit("add_node", (6,), {}, {"type": "Br"}),
        Edit("add_edge", (0, 6), {}, {"type": "single"}),
    ]
    points = {
        key: complex(*spot[0]) for key, spot in places(draw_pair(factual, apply_edits(factual, edits))[1]).items()
    }
    gaps = [abs(points["atom-6"] - points[f"atom-{k}"]) for k in range(1, 6)]
    assert min(gaps) > 1.4 * abs(points["atom-6"] - points["atom-0"])


def test_the_legend_names_every_mark():
    assert texts(draw_legend()) == ["removed", "added", "changed"]


@pytest.mark.parametrize("after", ["Oc1ccc(N)cc1CCCCCCl", "Oc1ccc(N)cc1CCCCCC", "Oc1ccc(N)cc1"])
def test_one_molecule_has_one_drawing(after):
    """Alone, before a change, and before what is left when the change is taken back: nothing turns, nothing moves."""
    factual, counterfactual = molecule_pair("Oc1ccc(N)cc1CCCCCC", after)
    alone = places(draw_graph(factual))
    first, _ = draw_pair(factual, counterfactual)
    origin = np.array(alone["atom-0"][0]) - np.array(places(first)["atom-0"][0])
    for key, spot in alone.items():
        assert np.allclose(np.array(spot[0]) - np.array(places(first)[key][0]), origin)


def test_a_ring_that_is_closed_is_no_line_through_the_picture():
    """A chain becomes a ring of six: drawn anew, every bond has about the length of a bond."""
    factual, counterfactual = molecule_pair("CCCCCCc1ccccc1", "C1CCCCC1c1ccccc1")
    _, after = draw_pair(factual, counterfactual)
    lengths = [np.hypot(*np.subtract(*one.spot)) / UNIT for one in after.scene.elements if len(one.spot) == 2]
    assert max(lengths) < 1.4


def test_rings_are_round_where_they_can_be():
    """A lactone and a xanthene that share one atom, as in fluorescein: RDKit's usual layout squashes a ring."""
    fluorescein = from_smiles("O=C1OC2(c3ccc(O)cc3Oc3cc(O)ccc32)c2ccccc12", IMPLIED)
    where = places(draw_graph(fluorescein))
    mol = to_mol(fluorescein)
    rings = mol.GetRingInfo().AtomRings()
    assert len(rings) == 5
    for ring in rings:
        corners = np.array([where[f"atom-{i}"][0] for i in ring])
        radii = np.linalg.norm(corners - corners.mean(0), axis=1)
        assert radii.max() < 1.5 * radii.min()


def test_hydrogens_are_written_where_no_bond_is():
    """Beside a hydroxy group the methyl groups of tert-butyl have their hydrogens on the other side."""
    before, after = "Oc1ccccc1", "Oc1ccccc1C(C)(C)C"
    factual, counterfactual = molecule_pair(before, after, IMPLIED)
    _, picture = draw_pair(factual, counterfactual)
    lines = [one.spot for one in picture.scene.elements if len(one.spot) == 2]
    letters = [(one, text) for one in picture.scene.elements for text in one.shapes if isinstance(text, Text)]
    hydrogens = [(one.spot[0], text) for one, text in letters if text.text == "H₃"]
    assert len(hydrogens) == 3
    for own, text in hydrogens:
        middle = text.at[0] + (0.5 if text.anchor == "start" else -0.5) * text_width("H₃", "label"), text.at[1]
        others = [line for line in lines if own not in line]
        assert min(distance_to(line, middle) for line in others) > 0.25 * UNIT


def test_hydrogens_of_a_crowded_atom_stand_on_its_free_side():
    """On the right of a hydroxy group of pentaerythritol there is another one: it is written HO."""
    elements = draw_graph(from_smiles("OCC(CO)(CO)CO", IMPLIED)).scene.elements
    lines = [one.spot for one in elements if len(one.spot) == 2]
    spots = {one.spot[0]: text for one in elements for text in one.shapes if isinstance(text, Text)}
    assert Counter(text.text for text in spots.values()) == {"OH": 2, "HO": 2}
    for own, text in spots.items():
        width = text_width(text.text, "label") * (1 if text.anchor == "start" else -1)
        others = [(p, p) for p in spots if p != own] + [line for line in lines if own not in line]
        for share in (0.25, 0.5, 0.75, 1.0):
            at = text.at[0] + share * width, text.at[1]
            assert min(distance_to(line, at) for line in others) > 0.25 * UNIT


def test_an_atom_that_hangs_elsewhere_turns_nothing_over():
    """The slot of morphine's phenol is used for a longer chain at the nitrogen: the rest stays where it was."""
    factual = from_smiles("CN1CCC23c4c5ccc(O)c4OC2C(O)C=CC3C1C5", IMPLIED)
    changes = [
        Edit("remove_edge", (9, 10), {"type": "single"}, {}),
        Edit("set_node", (10,), {"type": "O"}, {"type": "C"}),
        *(Edit("add_node", (i,), {}, {"type": "C"}) for i in (21, 22)),
        *(Edit("add_edge", pair, {}, {"type": "single"}) for pair in ((0, 10), (10, 21), (21, 22))),
    ]
    before, after = map(places, draw_pair(factual, apply_edits(factual, changes)))
    origin = np.subtract(after["atom-1"][0], before["atom-1"][0])
    moved = {key: np.linalg.norm(np.subtract(after[key][0], before[key][0]) - origin) / UNIT for key in before}
    assert max(moved[f"atom-{i}"] for i in range(21) if i != 10) < 0.1
    assert moved["atom-10"] > 1


def test_importance_is_colored_by_its_sign_and_size():
    factual, _ = molecule_pair("CCO", "CCN")
    picture = draw_graph(factual, importance=Importance({0: 0.4, 1: -0.2}, {(0, 1): 0.1}, {2: -0.3}))
    (colored,) = [one for one in picture.scene.elements if one.key == "importance"]
    spots = [shape for shape in colored.shapes if isinstance(shape, Shape)]
    assert [spot.radius < spots[0].radius for spot in spots] == [False, False, True], "an estimate is a smaller spot"
    strengths = {shape.style: shape.strength for shape in spots[:2]}
    assert strengths["toward"] > strengths["away"]
    assert 'class="toward" fill-opacity' in picture.svg(brief=True)
    assert picture.png()[:4] == b"\x89PNG"
