"""Files of explanations: a table, molecules, records, pictures, or a report."""

import base64
import dataclasses
import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

from ...describe.wording import describe
from ...explain.counterfactual import Counterfactual
from ...explain.explainer import Explainer
from ...explain.query import Query
from ...explain.records import from_record
from ...report.about import about_question, command, in_words
from ...report.changes import explanations_csv
from ...report.draw.pictures import draw_graph, draw_pair
from ...report.page import report_html
from ...report.results import Results, ResultSet
from .pictures import beside

Json = dict[str, Any]


def export(explainer: Explainer, task: Json, watch: Callable[[None], None]) -> Json:
    """Explanations as a file: its name, its type, and its content as base64."""
    found = []
    for record in task["records"]:
        watch(None)
        found.append(dataclasses.replace(from_record(record, explainer.kit.schema), classes=explainer.kit.classes))
    kind, several = task["kind"], len(found) > 1
    content, kind = (
        (_zipped(found, kind, watch), "zip") if several and kind in _PICTURES else (_WRITERS[kind](found, task), kind)
    )
    stem = (
        re.sub(r"[^A-Za-z0-9._-]+", "_", re.sub(r"\.[a-z]+$", "", task["title"])).strip("_")[:60] or "counterfactuals"
    )
    return {"name": f"{stem}.{kind}", "type": _TYPES[kind], "content": base64.b64encode(content).decode()}


_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "jsonl": "application/jsonl",
    "png": "image/png",
    "sdf": "chemical/x-mdl-sdfile",
    "smi": "text/plain; charset=utf-8",
    "svg": "image/svg+xml",
    "zip": "application/zip",
}


def _csv(found: Sequence[Counterfactual], task: Json) -> bytes:
    return explanations_csv(found).encode()


def _jsonl(found: Sequence[Counterfactual], task: Json) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in task["records"]).encode()


def _smi(found: Sequence[Counterfactual], task: Json) -> bytes:
    """A line for each molecule, the changed one after its original."""
    lines = []
    for one in found:
        name, smiles = re.sub(r"\s+", "_", one.id), one.smiles
        pairs = (smiles.factual, name), (smiles.counterfactual, f"{name}_changed")
        lines += [f"{text} {title}\n" for text, title in pairs if text]
    return "".join(lines).encode()


def _sdf(found: Sequence[Counterfactual], task: Json) -> bytes:
    """Both molecules of each explanation, with its figures as data fields."""
    from rdkit import Chem
    from rdkit.Chem import rdDepictor

    file = io.StringIO()
    writer = Chem.SDWriter(file)
    for one in found:
        for text, role in ((one.smiles.factual, "as it is"), (one.smiles.counterfactual, "changed")):
            mol = Chem.MolFromSmiles(text) if text else None
            if mol is None:
                continue
            rdDepictor.Compute2DCoords(mol)
            fields = {"_Name": one.id, "role": role, "outcome": one.outcome.value, "target": one.class_name(one.target)}
            fields |= {"probability": one.p_factual if role == "as it is" else one.p_counterfactual}
            for name, value in (fields | {"changes": "; ".join(describe(one))}).items():
                mol.SetProp(name, str(value))
            writer.write(mol)
    writer.close()
    return file.getvalue().encode()


def _html(found: Sequence[Counterfactual], task: Json) -> bytes:
    title = task["title"] or "Counterfactual explanations"
    query = Query.of(**task["asked"]) if task.get("asked") else None
    methods = ", ".join({one.method: 0 for one in found})
    told = {} if query is None else {"options": in_words(query), "command": command("FILE", task["model"], query)}
    about = about_question(task["source"], methods, classifier=task["classifier"], **told)
    return report_html(Results(title, (ResultSet(title, tuple(found), len(found)),), about=about)).encode()


def _svg(found: Sequence[Counterfactual], task: Json) -> bytes:
    return _picture(found[0], "svg")


def _png(found: Sequence[Counterfactual], task: Json) -> bytes:
    return _picture(found[0], "png")


def _picture(one: Counterfactual, kind: str) -> bytes:
    """Both graphs side by side, or the factual alone."""
    drawn = (
        draw_graph(one.factual) if one.counterfactual is None else beside(draw_pair(one.factual, one.counterfactual))
    )
    return drawn.png() if kind == "png" else drawn.svg().encode()


def _zipped(found: Sequence[Counterfactual], kind: str, watch: Callable[[None], None]) -> bytes:
    """A picture of each explanation, in a .zip file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, one in enumerate(found, start=1):
            watch(None)
            name = re.sub(r"[^A-Za-z0-9._-]+", "_", one.id)[:60]
            archive.writestr(zipfile.ZipInfo(f"{number:03d}_{name}.{kind}"), _picture(one, kind))
    return file.getvalue()


_PICTURES = ("svg", "png")
_WRITERS: dict[str, Callable[[Sequence[Counterfactual], Json], bytes]] = {
    "csv": _csv,
    "html": _html,
    "jsonl": _jsonl,
    "png": _png,
    "sdf": _sdf,
    "smi": _smi,
    "svg": _svg,
}
