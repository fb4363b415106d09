"""Shards as Parquet files: their columns, writing and reading."""

import io
from collections.abc import Iterator, Sequence
from typing import Any

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
    table = arrow.Table.from_pylist(list(answers), schema=_schema(arrow))
    parquet.write_table(table, sink, compression="zstd", write_page_checksum=True)
    return sink.getvalue()


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
        answers = file.read(columns=list(columns), use_threads=False).to_pylist()
    except (arrow.ArrowException, OSError, ValueError, MemoryError) as error:
        raise JobError(f"A shard must be a Parquet file of answers; {error}. {advice}") from error
    yield from answers


def _schema(arrow: Any) -> Any:
    return arrow.schema([(name, getattr(arrow, kind)()) for name, kind in COLUMNS.items()])


def _arrow() -> tuple[Any, Any]:
    purpose = "Writing the answers of a job"
    return require("pyarrow", "tables", purpose), require("pyarrow.parquet", "tables", purpose)
