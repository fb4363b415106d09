"""Lines and columns of tables: a line that is too long is one bad row, and a column says what it holds."""

import io

from graphflip.data.tables import LabelColumn, bounded_lines, read_smiles


def test_a_line_of_millions_of_characters_is_one_line():
    lines = list(bounded_lines(io.StringIO("a\n" + "x" * 2_500_000 + "\n" + "y" * 999_998 + "\nb")))
    assert [len(line) < 100 for line in lines] == [True, True, False, True]
    assert [lines[0], lines[3]] == ["a\n", "b"]
    assert "more than a million" in lines[1]


def test_its_table_has_one_row_for_it(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("id,smiles\na,CO\nb," + "C" * 1_500_000 + "\nc,CN\n", encoding="utf-8")
    assert [row.id for row in read_smiles(path)] == ["a", "long/3", "c"]


def test_a_column_says_its_values_and_its_blanks():
    assert str(LabelColumn("toxic", {"1": 7, "0": 3}, 10, 2)) == "toxic: 1 7, 0 3; 2 blank"
    assert str(LabelColumn("logp", {}, 10, 0)) == "logp: numbers to regress on"
