"""Shards: Parquet files of answers, made without lists that Arrow would import pandas for."""

import io
import subprocess
import sys

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflip.jobs.tables import COLUMNS, read_answers, to_parquet

VALUES = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "float64": st.floats(allow_nan=False),
    "bool_": st.booleans(),
    "string": st.text(max_size=12),
}
ANSWERS = st.lists(
    st.fixed_dictionaries({}, optional={name: st.none() | VALUES[kind] for name, kind in COLUMNS.items()}), max_size=20
)


@given(ANSWERS)
def test_answers_are_read_back(answers):
    assert list(read_answers(to_parquet(answers))) == [
        {name: answer.get(name) for name in COLUMNS} for answer in answers
    ]


@given(ANSWERS)
def test_shards_are_those_that_arrow_makes_of_lists(answers):
    schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in COLUMNS.items()])
    sink = io.BytesIO()
    table = pyarrow.Table.from_pylist(answers, schema=schema)
    pyarrow.parquet.write_table(table, sink, compression="zstd", write_page_checksum=True)
    assert to_parquet(answers) == sink.getvalue()


def test_a_text_that_fills_a_shard_is_read_back():
    """Of shards that may be too long when unpacked, the length is counted."""
    answers = [{"row": k, "record": "x" * 200_000} for k in range(500)] + [{"row": 500, "record": "y" * 2_000_000}]
    with pytest.raises(Exception, match="unpack to texts that fit"):
        list(read_answers(to_parquet(answers)))
    assert [one["row"] for one in read_answers(to_parquet(answers[:300]))] == list(range(300))


def test_shards_are_written_and_read_without_pandas():
    program = (
        "import sys; from graphflip.jobs.tables import *; list(read_answers(to_parquet([{'row': 1, 'note': 'x'}]))); "
        "sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
