"""The gallery: its molecules can be read, its page has what it links to, and comes out the same again."""

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("rdkit", reason="install graphflip[mol] to read molecules")

from graphflip.data.molecules.famous import famous_molecules, gallery_molecules
from graphflip.data.molecules.molecule import drug_schema, from_smiles, round_trip
from graphflip.explain.explainer import load

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "tools" / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def links(page: Path) -> set[str]:
    return set(re.findall(r"\((gallery/[^)]+)\)", page.read_text()))


def test_all_molecules_can_be_read():
    molecules, schema = gallery_molecules(), drug_schema()
    assert len(molecules) == len({molecule.name for molecule in molecules}) == 34
    assert molecules[:14] == famous_molecules()
    for molecule in molecules:
        graph = from_smiles(molecule.smiles, schema)
        assert round_trip(graph) == graph, molecule.name


def test_the_page_shows_every_molecule(tool, tmp_path):
    wanted = {"N-nitrosodimethylamine", "thyroxine"}  # iodine is not in this kit
    some = [molecule for molecule in gallery_molecules() if molecule.name in wanted]
    for folder in ("one", "two"):
        tool.write_gallery(load("mutagenicity"), some, tmp_path / folder)
    page = tmp_path / "one" / "gallery.md"
    assert page.read_bytes() == (tmp_path / "two" / "gallery.md").read_bytes()
    pictures = {f"gallery/{file.name}" for file in (tmp_path / "one" / "gallery").iterdir()}
    assert links(page) == pictures
    assert len(pictures) == 2 + 1, "before and after, and the legend"
    text = page.read_text()
    assert all(f"[{molecule.name}](#{tool.slug(molecule.name)})" in text for molecule in some)
    assert "nitroso group on N1" in text
    assert "It cannot be read" in text
    assert tool.plain("group -[N+](C)C") == r"group -\[N+\](C)C", "not a link"


def test_the_page_of_the_documentation_is_whole():
    page = ROOT / "docs" / "gallery.md"
    assert all((ROOT / "docs" / link).is_file() for link in links(page))
    assert all(f"## {molecule.name} {{" in page.read_text() for molecule in gallery_molecules())
