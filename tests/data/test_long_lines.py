"""A line that is too long is one bad row, however long it is; the lines around it are read."""

import io

from graphflip.data.tables import bounded_lines, read_smiles


def test_a_line_of_millions_of_characters_is_one_line():
    lines = list(bounded_lines(io.StringIO("a\n" + "x" * 2_500_000 + "\n" + "y" * 999_998 + "\nb")))
    assert [len(line) < 100 for line in lines] == [True, True, False, True]
    assert [lines[0], lines[3]] == ["a\n", "b"]
    assert "more than a million" in lines[1]


def test_its_table_has_one_row_for_it(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("id,smiles\na,CO\nb," + "C" * 1_500_000 + "\nc,CN\n", encoding="utf-8")
    assert [row.id for row in read_smiles(path)] == ["a", "long/3", "c"]
