"""Attacks with small files that would need much memory or time; each is read in a process with little of both."""

import hashlib
import io
import json
import resource
import sys
import zipfile
from pathlib import Path
from typing import Any

import torch

from graphflip.errors import GraphflipError
from graphflip.jobs import open_source
from graphflip.jobs.folder import JobFolder, read_manifest

from .place import Place, attack


def read_here() -> None:
    """Read the file that the arguments name, and print what came of it, and by how many MB the process has grown."""
    before = _megabytes()
    path = Path(sys.argv[1])
    try:
        if (path / "manifest.json").exists():
            print(sum(1 for _ in JobFolder(path, read_manifest(path)).answers()))
        else:
            print(sum(1 for _ in open_source(str(path)).rows()))
    except GraphflipError as error:
        print("refused", str(error)[-200:])
    print(_megabytes() - before)


def _megabytes() -> int:
    """Most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _read(place: Place, path: Path, megabytes: int = 400, seconds: float = 60.0) -> str:
    """Read a file in a process of its own; gives what was said of it."""
    run = place.commands.run("attacks.bombs:read_here", [path], place.folder, seconds)
    assert run.returncode == 0, run.stderr[-800:]
    *said, grown = run.stdout.split("\n")[:-1]
    assert int(grown) < megabytes, f"{grown} MB"
    return " ".join(said)


def _saved(place: Place, stored: object) -> str:
    torch.save(stored, place.folder / "bomb.pt")
    return _read(place, place.folder / "bomb.pt")


def _data(**parts: Any) -> Any:
    from torch_geometric.data import Data

    whole: dict[str, Any] = {"x": torch.zeros(1, 1), "edge_index": torch.zeros(2, 1, dtype=torch.long)} | parts
    return Data(**whole)


@attack
def a_pt_file_of_expanded_tensors(place: Place) -> None:
    """A number that is shown a hundred million times."""
    assert "refused" in _saved(place, [_data(x=torch.zeros(1, 1).expand(100_000_000, 1))])


@attack
def a_pt_file_of_one_tensor_many_times(place: Place) -> None:
    one = _data(x=torch.zeros(500_000, 1))
    assert "refused" in _saved(place, [_data(x=one.x[k:]) for k in range(2_000)])


@attack
def a_pt_file_of_expanded_slices(place: Place) -> None:
    slices = {"x": torch.zeros(1, dtype=torch.long).expand(100_000_000)}
    assert "refused" in _saved(place, (_data().to_dict(), slices))


@attack
def a_pt_file_that_holds_itself(place: Place) -> None:
    stored: list[object] = [_data()]
    stored.append(stored)
    _saved(place, stored)


@attack
def a_pt_file_that_is_compressed(place: Place) -> None:
    """Torch stores tensors as they are; a thousand to one is a trap."""
    torch.save([_data(x=torch.zeros(30_000_000, 1))], place.folder / "whole.pt")
    with (
        zipfile.ZipFile(place.folder / "whole.pt") as whole,
        zipfile.ZipFile(place.folder / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for entry in whole.namelist():
            packed.writestr(entry, whole.read(entry))
    assert "refused" in _read(place, place.folder / "bomb.pt")


@attack
def a_tu_zip_of_zeros(place: Place) -> None:
    with zipfile.ZipFile(place.folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("B_A.txt", "1, 2\n2, 1\n")
        archive.writestr("B_graph_labels.txt", "0\n")
        archive.writestr("B_graph_indicator.txt", "1\n" * 100_000_000)
    assert "refused" in _read(place, place.folder / "bomb.zip")


@attack
def a_parquet_file_of_one_text_many_times(place: Place) -> None:
    """A shard with a card that fits it, as somebody who writes a job folder can make one."""
    import pyarrow
    import pyarrow.parquet

    from graphflip.jobs import open_source, run_job
    from graphflip.jobs.folder import JobFolder, ShardCard, read_manifest
    from graphflip.jobs.tables import _schema

    out, count = place.folder / "job", 20_000
    run_job(open_source(str(place.table(["id,smiles", "a,CO"]))), place.settings(), out)
    schema = _schema(pyarrow)
    columns = {name: pyarrow.nulls(count, kind) for name, kind in zip(schema.names, schema.types, strict=True)}
    text = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * count, pyarrow.int32()), ["x" * 500_000])
    table = pyarrow.table(columns | {"record": text})
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table.cast(schema.set(schema.get_field_index("record"), table.field("record"))), sink)
    blob = _as_plain(sink.getvalue(), schema)
    folder = JobFolder(out, read_manifest(out))
    folder.shard(0).write_bytes(blob)
    card = ShardCard.model_validate_json(folder.shard(0).with_suffix(".json").read_bytes())
    sealed = card.model_copy(update={"sha256": hashlib.sha256(blob).hexdigest()}).sealed()
    folder.shard(0).with_suffix(".json").write_text(sealed.model_dump_json())
    assert len(blob) < 5_000_000
    assert "refused" in _read(place, out)


def _as_plain(blob: bytes, schema: object) -> bytes:
    """The same file, which says that its texts are texts; in it they are numbers of a dictionary all the same."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(io.BytesIO(blob), read_dictionary=["record"])
    sink = io.BytesIO()
    with pyarrow.parquet.ParquetWriter(sink, table.schema, store_schema=False, compression="zstd") as writer:
        writer.write_table(table)
    return sink.getvalue()


@attack
def a_parquet_file_of_a_billion_rows(place: Place) -> None:
    """Rows of nothing take no room in a file."""
    import pyarrow
    import pyarrow.parquet

    from graphflip.errors import JobError
    from graphflip.jobs.tables import _schema, read_answers

    from .place import refused

    schema, count, sink = _schema(pyarrow), 3_000_000, io.BytesIO()
    columns = {name: pyarrow.nulls(count, kind) for name, kind in zip(schema.names, schema.types, strict=True)}
    pyarrow.parquet.write_table(pyarrow.table(columns, schema=schema), sink, compression="zstd")
    refused(lambda: next(read_answers(sink.getvalue())), JobError, "must unpack")


@attack
def json_of_a_thousand_brackets(place: Place) -> None:
    """Nesting is no crash: not of a graph, of a card, of a manifest."""
    deep = "[" * 100_000
    (place.folder / "deep.jsonl").write_text(f'{deep}\n{{"nodes": {deep}\n')
    assert _read(place, place.folder / "deep.jsonl").startswith("2")
    json.dumps(deep)
