"""Shards as Parquet files: their columns, writing and reading."""

import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import JobError, require

TIMING = "seconds"
"""The only column that differs from run to run."""

COLUMNS = {
    "row": "int64",
    "answer": "int32",
    "id": "string",
    "input": "string",
    "outcome": "string",
    "flipped": "bool_",
    "target": "string",
    "p_factual": "float64",
    "p_counterfactual": "float64",
    "smiles_factual": "string",
    "smiles_counterfactual": "string",
    "num_edits": "int32",
    "num_heavy_edits": "int32",
    "edits": "string",
    "note": "string",
    "record": "string",
    TIMING: "float64",
}


def to_parquet(answers: Sequence[dict[str, Any]]) -> bytes:
    """Convert answers to the bytes of a Parquet file; equal answers give equal bytes."""
    arrow, parquet = _arrow()
    sink = io.BytesIO()
    columns = [_column(arrow, kind, [answer.get(name) for answer in answers]) for name, kind in COLUMNS.items()]
    table = arrow.Table.from_arrays(columns, schema=_schema(arrow))
    parquet.write_table(table, sink, compression="zstd", write_page_checksum=True)
    return sink.getvalue()


def _column(arrow: Any, kind: str, values: Sequence[Any]) -> Any:
    """An Arrow array of values, of which some may be None.

    It is made of bytes, as Arrow imports pandas when it is given a list, which takes longer than many a search.
    """
    known = _bits(arrow, [value is not None for value in values])
    return arrow.Array.from_buffers(getattr(arrow, kind)(), len(values), [known, *_buffers(arrow, kind, values)])


def _buffers(arrow: Any, kind: str, values: Sequence[Any]) -> list[Any]:
    """The bytes of a column: texts after their offsets, truths one bit each, numbers one after the other."""
    if kind == "string":
        texts = [b"" if value is None else value.encode() for value in values]
        offsets = np.cumsum([0, *map(len, texts)])
        if offsets[-1] > np.iinfo(np.int32).max:
            raise JobError(
                f"The texts of a shard must have less than 2 GB; got {offsets[-1]} bytes. Take smaller shards."
            )
        return [arrow.py_buffer(offsets.astype(np.int32)), arrow.py_buffer(b"".join(texts))]
    if kind == "bool_":
        return [_bits(arrow, [bool(value) for value in values])]
    return [arrow.py_buffer(np.array([0 if value is None else value for value in values], dtype=kind))]


def _bits(arrow: Any, truths: Sequence[bool]) -> Any:
    return arrow.py_buffer(np.packbits(np.array(truths, dtype=bool), bitorder="little"))


def joined(blobs: Sequence[bytes]) -> bytes:
    """Join several Parquet files of answers into one."""
    return to_parquet([answer for blob in blobs for answer in read_answers(blob)])


def read_answers(blob: bytes, columns: Sequence[str] = tuple(COLUMNS)) -> Iterator[dict[str, Any]]:
    """Read the answers, or some of their columns, from the bytes of a Parquet file."""
    arrow, parquet = _arrow()
    advice = "Run the job again in a new folder."
    try:
        file = parquet.ParquetFile(arrow.BufferReader(blob), page_checksum_verification=True)
        if not file.schema_arrow.equals(_schema(arrow)):
            raise JobError(f"A shard must have the columns of answers; it has others. {advice}")
        _check_rows(file.metadata, len(blob), advice)
        # Texts stay numbers of a dictionary, as they are stored, until it is known how long they are all together.
        texts = [name for name, kind in COLUMNS.items() if kind == "string" and name in columns]
        file = parquet.ParquetFile(arrow.BufferReader(blob), read_dictionary=texts, page_checksum_verification=True)
        table = file.read(columns=list(columns), use_threads=False)
        _check_texts(arrow, table, len(blob), advice)
        answers = table.to_pylist()
    except (arrow.ArrowException, OSError, ValueError, MemoryError) as error:
        raise JobError(f"A shard must be a Parquet file of answers; {error}. {advice}") from error
    yield from answers


_ALWAYS, _RATIO = 1 << 26, 200
"""Bytes that any shard may unpack to, and how many for each of its own."""


def _check_rows(metadata: Any, size: int, advice: str) -> None:
    """Raise a JobError if a shard says that it has more rows or pages than its size has room for."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    if metadata.num_rows > size or sum(group.total_byte_size for group in groups) > max(_ALWAYS, _RATIO * size):
        raise JobError(f"A shard must unpack to an amount that fits its {size} bytes; it is far more. {advice}")


def _check_texts(arrow: Any, table: Any, size: int, advice: str) -> None:
    """Raise a JobError if the texts of a table, each written out, are far longer than the shard."""
    texts = [column for column in table.itercolumns() if arrow.types.is_dictionary(column.type)]
    chunks, room = [chunk for column in texts for chunk in column.chunks], max(_ALWAYS, _RATIO * size)
    if sum(len(chunk) * chunk.dictionary.nbytes for chunk in chunks) <= room:  # were they all as long as all together
        return
    compute, total = require("pyarrow.compute", "tables", "Reading the answers of a job"), 0
    for chunk in chunks:
        lengths = compute.binary_length(chunk.dictionary)
        total += compute.sum(compute.take(lengths, chunk.indices)).as_py() or 0
    if total > room:
        raise JobError(f"A shard must unpack to texts that fit its {size} bytes; they have {total}. {advice}")


def _schema(arrow: Any) -> Any:
    return arrow.schema([(name, getattr(arrow, kind)()) for name, kind in COLUMNS.items()])


def _arrow() -> tuple[Any, Any]:
    purpose = "Writing the answers of a job"
    return require("pyarrow", "tables", purpose), require("pyarrow.parquet", "tables", purpose)
