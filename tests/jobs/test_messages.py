"""What is said of rows that cannot be read is short, and about the row."""

import pytest

from graphflip.data.molecules.reading import parse_smiles, smiles_of_inchi
from graphflip.data.tables import read_smiles
from graphflip.errors import DataError
from graphflip.jobs import open_source
from graphflip.jobs.answers import explain_now


def said(kit_settings, what):
    return [one.text for one in explain_now(kit_settings, open_source(str(what))) if not one.answered]


def test_a_long_smiles_does_not_fill_the_terminal(settings):
    (text,) = said(settings, "C" * 24_000)
    assert "bad_input" in text
    assert "got 24000" in text
    assert len(text) < 300
    (text,) = said(settings, "C" * 1_000)
    assert "at most" in text
    assert len(text) < 500


@pytest.mark.parametrize(
    ("smiles", "mistake"),
    [("C1CC", "ring 1 is not closed"), ("CC(C", "a parenthesis is not closed"), ("CC]", "a bracket is not opened")],
)
def test_the_likely_mistake_in_a_smiles_is_named(settings, smiles, mistake):
    (text,) = said(settings, smiles)
    assert f"which RDKit cannot read: {mistake}. Correct it." in text


def test_a_line_whose_quotes_are_not_in_pairs_is_named_as_that(settings, tmp_path):
    table = tmp_path / "odd.csv"
    table.write_text('id,smiles\noops,"CCN\nb,%s\n' % ("x" * 1_500), encoding="utf-8")
    quote, nonsense = said(settings, table)
    assert quote.startswith("odd/2: bad_input")
    assert "a line with an unclosed quote" in quote
    assert "RDKit" not in quote
    assert "\ufffd" not in quote
    assert "RDKit cannot read" in nonsense
    assert len(nonsense) < 300


def test_bytes_that_are_no_text_are_bad_input(settings):
    """An argument that is no UTF-8 reaches Python as halves of characters."""
    (text,) = said(settings, "C\udcff")
    assert text.startswith("C\udcff: bad_input")
    assert "must be written as SMILES" in text


def test_an_inchi_is_read_as_the_molecule_that_chemists_draw(tmp_path):
    """The InChI of an amide is an amide, and a table may have a column of them."""
    amide = "InChI=1S/C8H9NO2/c1-6(10)9-7-2-4-8(11)5-3-7/h2-5,11H,1H3,(H,9,10)"
    assert smiles_of_inchi(amide) == "CC(=O)Nc1ccc(O)cc1"
    assert parse_smiles(amide).GetNumAtoms() == 11
    (tmp_path / "drugs.csv").write_text(f'name,InChI\nparacetamol,"{amide}"\nhalf,InChI=1S/C8H9\n')
    whole, half = read_smiles(tmp_path / "drugs.csv")
    assert (whole.id, whole.smiles) == ("paracetamol", amide)
    for broken in (half.smiles, "InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3\0/more", "InChI=1S/C2H6O\udcff"):
        with pytest.raises(DataError, match="An InChI must be whole"):
            parse_smiles(broken)
