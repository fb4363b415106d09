"""Tables of SMILES: each line is one row, whatever stands in it and around it."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphflip.data.files import COUNTERS
from graphflip.data.tables import count_rows, label_columns, read_smiles

pieces = st.lists(st.sampled_from(['"', '""', "CC", "a,CC", ",", ";", " ", "x", "CO,b", "'", '"CC"']), max_size=6)
lines = pieces.map("".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(odd=st.lists(lines, max_size=6))
def test_every_line_is_one_row_and_hides_none(odd, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["id,smiles", "first,CCO", *(f"{line}\nbetween,CCN" for line in odd), "last,CCC"]) + "\n")
    rows = list(read_smiles(path))
    written = [line for line in odd if line.strip(' ,;"')]
    assert len(rows) == len(written) + len(odd) + 2 == count_rows(path)
    good = [row for row in rows if row.id in ("first", "between", "last")]
    assert [row.smiles for row in good] == ["CCO", *["CCN"] * len(odd), "CCC"]
    assert [row.row for row in rows] == sorted({row.row for row in rows})


def test_both_halves_of_a_broken_cell_are_bad(tmp_path):
    """The second half would be read as a row with a molecule of its own, if quotes were not counted."""
    path = tmp_path / "table.csv"
    path.write_text('id,smiles\na,CC\nb,"CC\nx",CCN\nc,CO\n')
    rows = {row.row: row.smiles for row in read_smiles(path)}
    assert (rows[2], rows[5]) == ("CC", "CO")
    assert rows[3].startswith("\ufffd")
    assert rows[4].startswith("\ufffd")


def test_the_count_is_that_of_lines_with_something_in_them(tmp_path):
    for name, text, count in (
        ("a.csv", "smiles\nCC\n\n,,\nCO", 2),
        ("a.smi", "CC x\n\nCO\n", 2),
        ("b.smi", "smiles name\nCC x\n", 1),
        ("a.jsonl", "{}\n\n[]\n", 2),
        ("a.sdf", "x\n$$$$\ny\nM  END\n", 2),
        ("b.sdf", "x\n$$$$\n", 1),
    ):
        path = tmp_path / name
        path.write_text(text)
        assert COUNTERS[path.suffix](path) == count, name


def table(tmp_path, header, *rows):
    path = tmp_path / "table.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_a_column_is_one_of_classes_up_to_twenty_that_occur_three_times_each(tmp_path):
    def classes(different, times):
        names = [f"c{k}" for k in range(different)] * times
        columns = label_columns(table(tmp_path, "smiles,group", *(f"C,{name}" for name in names)))
        return [len(column.values) for column in columns]

    assert classes(20, 3) == [20]
    assert classes(21, 3) == []
    assert classes(20, 2) == []
    assert classes(2, 3) == [2]


def test_row_numbers_are_no_labels(tmp_path):
    def columns(numbers):
        rows = [f"{number},C,{k % 2}" for k, number in enumerate(numbers)]
        return [column.name for column in label_columns(table(tmp_path, "num,smiles,p_np", *rows))]

    assert columns([k + k // 7 for k in range(30)]) == ["p_np"]
    assert columns([30 - k for k in range(30)]) == ["num", "p_np"]  # numbers in any other order may be a measure
    assert columns([1, 2, 3, 4, 5, 6]) == ["p_np"]


def test_short_lines_have_blank_cells_at_their_end(tmp_path):
    rows = [*("C,1,a" for _ in range(3)), *("C,0,b" for _ in range(3)), "C,1", "C"]
    columns = {column.name: column for column in label_columns(table(tmp_path, "smiles,active,kind", *rows))}
    assert columns["active"].blank == 1
    assert columns["kind"].blank == 2
    assert columns["kind"].filled == 6


def test_only_the_first_line_of_a_list_is_a_header(tmp_path):
    path = tmp_path / "list.smi"
    path.write_text("smiles name\nCC a\nsmiles b\n")
    assert [(row.row, row.smiles) for row in read_smiles(path)] == [(2, "CC"), (3, "smiles")]
