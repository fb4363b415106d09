"""The field's benchmark: methods x oracles x sets, explained, taken as they are, and scored by the same judges."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import ConfigError, MissingExtra, require
from ...explain.records import read_records
from ...rivals.fragment_exchange import find_database
from ..progress import Watch, counter
from ..quality.runs import QualityRun, material_of
from ..summary import versions
from ..workers import Map, cluster, workers
from .figures import failures, flips_to, method_figures
from .methods import OURS, USUAL, FieldMethod, chosen_methods
from .oracles import FieldSource, oracle_figures
from .sets import found_answers, set_name, truth_of
from .write import read_table, write_field, write_table

Results = dict[str, dict[str, dict[str, Any]]]
"""Figures by set, oracle and method; `oracle` and `graphs` stand among the methods and describe the block."""


@dataclass(frozen=True)
class FieldPlan:
    """Sets, methods, oracles and graphs of a measurement.

    Args:
        data: Names or paths of sets.
        methods: Names of methods.
        oracles: Names of oracles.
        part: Part of each set to explain.
        limit: Number of graphs of each set, drawn by `sample`; None means all.
        sample: Seed by which graphs are drawn.
        seed: Seed of the methods.
        ged_seconds: Time limit for the edit distance of a pair.
        fewer: Number of graphs for slow methods, by name: the first ones that `sample` draws, so they are among the
            graphs of the others.

    Raises:
        ConfigError: Something is missing, given twice or unknown.
    """

    data: Sequence[str]
    methods: Sequence[str] = USUAL
    oracles: Sequence[str] = ("kit", "gcn")
    part: str = "test"
    limit: int | None = None
    sample: int = 0
    seed: int = 0
    ged_seconds: float = 0.2
    fewer: Mapping[str, int] = field(default_factory=dict)
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        for what, given in (("sets", self.data), ("oracles", self.oracles), ("methods", self.methods)):
            if not given or len(set(given)) < len(given):
                raise ConfigError(f"The field needs one or more {what}, each once; got {list(given)}.")
        known = [method.name for method in chosen_methods(self.methods)]
        for name, count in self.fewer.items():
            if name not in known or count < 1:
                raise ConfigError(f"Fewer graphs are for methods that are measured, at least 1; got {name}={count}.")
        for oracle in self.oracles:
            FieldSource(Path(), oracle, self.part, self.limit)
        names = tuple(map(set_name, self.data))
        if len(set(names)) < len(names):
            raise ConfigError(f"Sets must have different names; got {list(names)}. Rename a file.")
        object.__setattr__(self, "names", names)

    @property
    def command(self) -> str:
        """The command that measures this."""
        words = ["graphflip bench field --data", ",".join(self.data), "--methods", ",".join(self.methods)]
        words += ["--oracles", ",".join(self.oracles), "--part", self.part]
        words += ["--limit", str(self.limit)] if self.limit else []
        words += ["--fewer", ",".join(f"{name}={count}" for name, count in self.fewer.items())] if self.fewer else []
        words += ["--sample", str(self.sample), "--seed", str(self.seed), "--ged-seconds", f"{self.ged_seconds:g}"]
        return " ".join(words)

    @property
    def graphs(self) -> dict[str, Any]:
        """The graphs of a block; figures of other graphs are not mixed with these."""
        return {"part": self.part, "limit": self.limit, "sample": self.sample}

    def source(self, out: Path, oracle: str, method: str = "") -> FieldSource:
        """Source of graphs and models for the runs of an oracle; a method may have fewer graphs."""
        counts = [count for count in (self.limit, self.fewer.get(method)) if count is not None]
        return FieldSource(out, oracle, self.part, min(counts, default=None), self.sample)


def run_field(
    plan: FieldPlan,
    out: Path,
    num_workers: int = 1,
    watch: Watch = lambda what, done, total: None,
    scheduler: str | None = None,
) -> Path:
    """Measure methods on sets with oracles, and write table.json, table.md, table.tex, pictures and a page.

    What `out` already holds, with the same settings, data and models, is not computed again, and a run that was killed
    continues. Rows of other methods, sets and oracles that the table has stay in it, if they are of the same graphs.
    Our own methods come last.

    Args:
        plan: What is measured.
        out: Folder for everything.
        num_workers: Number of processes.
        watch: Called with the name of the current run, the number of steps done, and the total.
        scheduler: Address or file of a Dask scheduler whose workers see the same folder, or "local" to start one.

    Returns:
        `out`.

    Raises:
        ConfigError: A method needs a package or file that is not there.
    """
    out.mkdir(parents=True, exist_ok=True)
    methods = sorted(chosen_methods(plan.methods), key=lambda method: method.name in OURS)
    blocks = [(spec, oracle) for spec in plan.data for oracle in plan.oracles]
    sizes = [len(material_of(plan.source(out, oracle), spec).graphs) for spec, oracle in blocks]
    total = sum(min(size, plan.fewer.get(method.name, size)) for size in sizes for method in methods)
    tick = counter(watch, 3 * total)
    with cluster(scheduler, num_workers) if scheduler else workers(num_workers) as pool:
        for own in (False, True):
            for spec, oracle in blocks:
                some = [method for method in methods if (method.name in OURS) == own]
                for method in some:
                    figures = measure_method(plan, out, spec, oracle, method, pool, tick)
                    _store(plan, out, spec, oracle, method, figures)
    return write_field(out)


def measure_method(
    plan: FieldPlan,
    out: Path,
    spec: str,
    oracle: str,
    method: FieldMethod,
    pool: Map,
    tick: Callable[[str, int], None],
) -> dict[str, Any]:
    """Explain, score and summarize one method on one set with one oracle."""
    name, source = set_name(spec), plan.source(out, oracle, method.name)
    material = material_of(source, spec)
    count, what = len(material.graphs), f"{name}, {oracle}: {method.name}"
    reason = unable(method, spec, plan, out)
    if reason:
        tick(what, 3 * count)
        return {"n": 0, "cannot": reason}
    run = QualityRun(source, spec, method.row(plan.ged_seconds), plan.seed, out / name / oracle, plan.ged_seconds)
    measures = run.complete(pool, lambda steps: tick(what, steps))
    realism = run.realism(pool, lambda steps: tick(what, steps))
    truth, known = truth_of(spec), None
    if truth is not None:
        known = found_answers(truth, list(read_records(run.files.records, material.kit.schema)))
    told = {"failures": failures(run.files.records), "flips_to": flips_to(run.files.records)}
    return method_figures(measures, realism, known) | told


def unable(method: FieldMethod, spec: str, plan: FieldPlan, out: Path) -> str:
    """The reason why a method cannot be measured on a set here; empty if it can."""
    material = material_of(plan.source(out, plan.oracles[0]), spec)
    if method.needs_molecules and material.kit.schema.chemistry is None:
        return "for molecules only"
    if "an autoencoder" in method.about.abilities.needs and material.kit.vae is None:
        return "needs an autoencoder; the kit has none"
    try:
        if "exmol" in method.about.abilities.needs:
            require("exmol", "peers", "The method exmol")
        if "crem" in method.about.abilities.needs:
            require("crem.crem", "peers", "The method crem")
            find_database()
    except (MissingExtra, ConfigError) as error:
        return str(error)
    return ""


def _store(plan: FieldPlan, out: Path, spec: str, oracle: str, method: FieldMethod, figures: dict[str, Any]) -> None:
    """Add a row to table.json at once, so that what is measured is never lost."""
    content = read_table(out)
    block = content.setdefault(set_name(spec), {}).setdefault(oracle, {})
    if block.get("graphs", plan.graphs) != plan.graphs:
        block.clear()
    material = material_of(plan.source(out, oracle), spec)
    block["graphs"] = plan.graphs
    block["oracle"] = block.get("oracle") or oracle_figures(material)
    block[method.name] = figures | {"command": plan.command}
    if method.spec:  # the table must say what it can do, too
        block[method.name]["about"] = dataclasses.asdict(method.about)
    about = content.setdefault("provenance", {})
    about["versions"] = versions()
    about["ged_seconds"] = plan.ged_seconds
    write_table(out, content)
