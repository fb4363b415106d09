"""Attacks with single rows: too large, too deep, not of this world; the rows around them are explained."""

import json
import time

from graphflip.jobs.engines import Processes

from .place import Place, attack

_GRAPH = {"nodes": [{"type": "C"}, {"type": "O"}], "edges": [[0, 1, {"type": "single"}]]}


@attack
def long_smiles(place: Place) -> None:
    """Chains of thousands of atoms are bad rows at once: RDKit does not see them."""
    lengths = (3_000, 16_000, 24_000, 200_000)
    texts = [*("C" * n for n in lengths), "C1CC1" * 5_000, "[" * 50_000, "C(" * 20_000 + ")" * 20_000]
    began = time.monotonic()
    answers = place.job(place.table(["id,smiles", "a,CO", *(f"m{k},{text}" for k, text in enumerate(texts)), "b,CO"]))
    assert time.monotonic() - began < 20
    assert [answer["outcome"] == "bad_input" for answer in answers] == [False, *[True] * len(texts), False]


@attack
def a_long_smiles_for_the_command(place: Place) -> None:
    run = place.explain("C" * 24_000)
    assert run.returncode in (0, 2, 3), run.stderr[-500:]
    assert "Traceback" not in run.stderr


@attack
def a_large_record_of_an_sd_file(place: Place) -> None:
    atoms = "".join(f"M  V30 {k} C {k} 0 0 0\n" for k in range(1, 20_001))
    bonds = "".join(f"M  V30 {k} 1 {k} {k + 1}\n" for k in range(1, 20_000))
    counts = "M  V30 BEGIN CTAB\nM  V30 COUNTS 20000 19999 0 0 0\n"
    body = f"{counts}M  V30 BEGIN ATOM\n{atoms}M  V30 END ATOM\nM  V30 BEGIN BOND\n{bonds}M  V30 END BOND\n"
    head = "chain\n  x\n\n  0  0  0     0  0            999 V3000\n"
    path = place.folder / "large.sdf"
    path.write_text(f"{head}{body}M  V30 END CTAB\nM  END\n$$$$\n")
    began = time.monotonic()
    (answer,) = place.job(path)
    assert answer["outcome"] == "bad_input"
    assert time.monotonic() - began < 10


@attack
def half_a_character_in_an_id(place: Place) -> None:
    """JSON can name a row with half of a pair of surrogates, which no UTF-8 file can hold."""
    lines = ['{"id": "\\ud800", "graph": %s}' % json.dumps(_GRAPH), json.dumps({"id": "b", "graph": _GRAPH})]  # noqa: UP031
    lines.append('{"nodes": [{"type": "\\udfff"}], "edges": []}')
    answers = place.job(place.table(lines, "graphs.jsonl"), Processes(1, 60.0))
    assert [answer["id"] for answer in answers] == ["\ufffd", "b", "graphs/3"]
    assert answers[2]["outcome"] == "bad_input"


@attack
def half_a_character_that_is_printed(place: Place) -> None:
    """Without a folder answers are printed, and no terminal can show half a character."""
    lines = ['{"id": "\\ud800", "graph": %s}' % json.dumps(_GRAPH), '{"id": "\\udfff", "graph": 3}']  # noqa: UP031
    run = place.explain(place.table(lines, "graphs.jsonl"))
    assert run.returncode == 0, run.stderr[-500:]
    assert "\\ud800" in run.stdout


@attack
def a_json_line_of_a_million_characters(place: Place) -> None:
    """The row is a bad one, and the report of the job can be written and read."""
    wide = json.dumps({"nodes": [{"type": "C"}] * 20_000, "edges": []})
    table = place.table([wide, json.dumps(_GRAPH), "[" * 140_000], "graphs.jsonl")
    run = place.explain(table, "--out", "job")
    assert run.returncode == 0, run.stderr[-500:]
    assert (place.folder / "job" / "report.html").exists()
    assert place.command("report", "job", "--out", "again.html").returncode == 0


@attack
def escape_sequences_in_ids(place: Place) -> None:
    """Ids and notes cannot move the cursor or retitle the terminal."""
    table = place.table(["id,smiles", "\x1b]0;owned\x07\x1b[2J,nonsense((", "\x9b31mred,C(("])
    shown = place.explain(table, "--out", "job").stdout + place.explain(table).stdout
    assert "nonsense" in shown
    assert not any(sign in shown for sign in "\x1b\x07\x9b")
