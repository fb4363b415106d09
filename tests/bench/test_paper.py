"""The experiment end to end on a small planted set, with models that are there at once."""

import csv
import json
import math
from dataclasses import replace

import pytest
import torch

from graphflip.bench.measure import MEASURES
from graphflip.bench.paper.experiment import run_paper
from graphflip.bench.paper.runs import METHODS, Run
from graphflip.bench.paper.subject import Models, Subject, packaged_models
from graphflip.data.planted.motif import planted
from graphflip.errors import ConfigError, ModelFileError
from graphflip.explain.method import AbstractExplainer
from graphflip.explain.records import read_records
from graphflip.models.storage.store import DataCard, save_model

from .stand_ins import CountsRed, SeesOneClass, random_vae

LIMIT, SEEDS = 6, (0, 1)
SHORT = tuple(replace(m, settings={**m.settings, "steps": 30}) if "steps" in m.settings else m for m in METHODS)


def small_models(dataset):
    red = CountsRed(dataset.schema)
    return Models(random_vae(dataset.schema), red, red, SeesOneClass(dataset.schema))


@pytest.fixture(scope="module")
def small():
    dataset = planted(200, max_nodes=9)
    assert dataset.part("test").labels.unique().tolist() == [0, 1]
    return dataset


@pytest.fixture(scope="module")
def run(small):
    def go(out, limit=LIMIT, models=small_models, watch=lambda *_: None, **more):
        return run_paper(
            ["planted"],
            out,
            limit,
            SEEDS,
            watch,
            ged_seconds=0.01,
            methods=SHORT,
            load_data=lambda name: small,
            load_models=models,
            **more,
        )

    return go


@pytest.fixture(scope="module")
def out(run, tmp_path_factory):
    seen = []
    folder = run(tmp_path_factory.mktemp("paper"), watch=lambda what, done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1] == (2 * LIMIT * (len(SHORT) + 1),) * 2
    return folder


@pytest.fixture(scope="module")
def table(out):
    return json.loads((out / "table.json").read_text(), parse_constant=lambda word: pytest.fail(f"{word} in JSON"))


def test_every_method_has_every_figure(table):
    assert set(table["planted"]) == {method.name for method in METHODS} | {"real", "models", "data"}
    for method in METHODS:
        figures = table["planted"][method.name]
        assert set(MEASURES) <= set(figures)
        assert figures["n"] == LIMIT
        assert figures["seeds"] == (2 if method.name == "cgcf" else 1)
        assert figures["molecule"] is None, "planted graphs are no molecules"
    assert "flip_ratio_seed_spread" in table["planted"]["cgcf"]
    assert table["provenance"]["command"] == f"graphflip bench paper --data planted --limit {LIMIT} --seeds 2"


def test_no_change_is_the_zero_of_every_measure(table, small):
    figures = table["planted"]["no_change"]
    zero = ("flip_ratio", "nafr", "nafr_other", "sic", "ged", "ged_lower", "led", "led_aligned", "edits", "heavy_edits")
    assert [figures[name] for name in zero] == pytest.approx([0.0] * len(zero), abs=1e-5)
    one = ("ged_exact_share", "cosine", "edge_sp", "node_sp", "found")
    assert [figures[name] for name in one] == pytest.approx([1.0] * len(one), abs=1e-5)
    test = small.part("test").subset(slice(LIMIT))
    wrong = CountsRed(small.schema)(test.graphs()).argmax(1) != test.labels
    assert figures["flip_ratio_label"] == pytest.approx(float(wrong.float().mean()), abs=1e-5)
    assert figures["plausible"] == table["planted"]["real"]["plausible"]


def test_measures_bound_each_other(out):
    for method in METHODS:
        columns = measured(out, method.name)
        assert bool((columns["ged_lower"] <= columns["ged"]).all())
        assert bool((columns["ged"] <= columns["edits"]).all())
        assert torch.equal(columns["ged_exact_share"] == 1, columns["ged_lower"] == columns["ged"])
        assert bool((columns["led_aligned"] <= columns["led"] + 1e-5).all())
        assert torch.equal(columns["nafr"], columns["flip_ratio"]), "the judge is the classifier itself"
        assert bool((columns["nafr_other"] <= columns["flip_ratio"]).all())


def test_flips_are_those_of_the_file(out, small):
    """What the tables say can be measured again from the file alone, and the walk does flip something."""
    found = list(read_records(out / "planted" / "cgcf-seed0.jsonl", small.schema))
    classifier = CountsRed(small.schema)
    flips = [int(classifier(one.counterfactual).argmax()) == one.target for one in found]
    assert measured(out, "cgcf")["flip_ratio"].tolist() == [float(flip) for flip in flips]
    assert any(flips)
    assert [one.id for one in found] == list(small.part("test").ids[:LIMIT])


def test_figures_are_means_over_graphs_and_seeds(out, table):
    columns = [measured(out, "cgcf", seed) for seed in SEEDS]
    for name in ("flip_ratio", "ged", "led", "cosine", "sic"):
        pooled = torch.cat([part[name] for part in columns])
        assert table["planted"]["cgcf"][name] == pytest.approx(float(pooled.mean()), abs=1e-4)
        assert table["planted"]["cgcf"][f"{name}_spread"] == pytest.approx(float(pooled.std()), abs=1e-4)
        means = torch.stack([part[name].mean() for part in columns])
        assert table["planted"]["cgcf"][f"{name}_seed_spread"] == pytest.approx(float(means.std()), abs=1e-4)


def test_the_walk_that_goes_on_is_surer_and_goes_further(table):
    boundary, confident = table["planted"]["cgcf"], table["planted"]["cgcf_confident"]
    assert confident["sic"] > boundary["sic"]
    assert confident["led"] > boundary["led"]


def test_both_formulas_of_the_elbo_are_printed(out, table):
    models = table["planted"]["models"]
    assert models["neg_elbo_published"] == pytest.approx(
        models["kl_published"] + models["reconstruction_published"], abs=1e-4
    )
    assert models["neg_elbo_published"] != models["neg_elbo"]
    assert "by its formula" in (out / "table3.md").read_text()


def test_tables_and_figure_are_written(out):
    names = [f"table{k}.{suffix}" for k in (1, 2, 3) for suffix in ("csv", "md", "tex")]
    for name in [*names, "tradeoff-planted.png", "tradeoff-planted.svg"]:
        assert (out / name).stat().st_size > 50, name
    rows = list(csv.DictReader((out / "table1.csv").read_text().splitlines()))
    assert [row["method"] for row in rows] == [*(method.title for method in METHODS), "Real graphs"]


def test_a_second_run_repeats_nothing(out, run, monkeypatch):
    before = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    monkeypatch.setattr("graphflip.bench.paper.runs.measure", lambda *_: pytest.fail("measured again"))
    forbid_explaining(monkeypatch)
    run(out)
    assert {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_another_judge_measures_again_without_explaining(out, run, monkeypatch, tmp_path):
    copy = copied(out, tmp_path)
    forbid_explaining(monkeypatch)
    run(copy, models=lambda dataset: replace(small_models(dataset), judge=SeesOneClass(dataset.schema)))
    figures = json.loads((copy / "table.json").read_text())["planted"]["cgcf"]
    assert figures["nafr"] == figures["nafr_other"]


@pytest.mark.parametrize("change", ["damage", "limit", "classifier"])
def test_what_does_not_fit_is_explained_again(out, run, monkeypatch, tmp_path, change):
    copy = copied(out, tmp_path)
    forbid_explaining(monkeypatch)
    if change == "damage":
        (copy / "planted" / "random-seed0.jsonl").write_text("")
    scale = 10.0 if change == "classifier" else 20.0
    with pytest.raises(pytest.fail.Exception, match="explained again"):
        run(
            copy,
            limit=LIMIT - 1 if change == "limit" else LIMIT,
            models=lambda dataset: replace(small_models(dataset), classifier=CountsRed(dataset.schema, scale)),
        )


def test_where_nothing_is_offered_nothing_is_flipped(small, tmp_path):
    """Neighbors of a label that no training graph has: a baseline with nothing to offer."""
    silent = replace(small, labels=torch.zeros_like(small.labels))
    subject = Subject(silent, small_models(silent), 6)
    nearest = next(method for method in METHODS if method.name == "nearest")
    columns = Run(nearest, 0, tmp_path).complete(subject, 0.01, lambda count: None)
    nothing = columns["ged"].isnan()
    assert bool(nothing.any())
    assert columns["flip_ratio"][nothing].sum() == columns["nafr"][nothing].sum() == 0
    assert not bool(columns["seconds"].isnan().any())


def test_a_missing_model_says_how_to_train_it(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"graphflip train vae planted --preset paper --out planted/vae-paper"):
        packaged_models(small)


def test_a_model_of_another_split_is_refused(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_model(small_models(small).vae, tmp_path / "planted" / "vae-paper", DataCard.of(small.split_randomly(7)))
    with pytest.raises(ModelFileError, match="trained on this very dataset and split"):
        packaged_models(small)


@pytest.mark.parametrize(
    ("datasets", "limit", "seeds", "complaint"),
    [([], None, (0,), "one or more datasets"), (["a"], 0, (0,), "`limit`"), (["a"], None, (), "`seeds`")],
)
def test_settings_are_checked(datasets, limit, seeds, complaint, tmp_path):
    with pytest.raises(ConfigError, match=complaint):
        run_paper(datasets, tmp_path, limit, seeds)


def measured(out, method, seed=0):
    stored = json.loads((out / "planted" / f"{method}-seed{seed}.json").read_text())["measures"]
    return {name: torch.tensor([math.nan if x is None else x for x in column]) for name, column in stored.items()}


def copied(out, folder):
    for path in out.rglob("*"):
        if path.is_file():
            target = folder / path.relative_to(out)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return folder


def forbid_explaining(monkeypatch):
    monkeypatch.setattr(AbstractExplainer, "explain_all", lambda *_, **__: pytest.fail("explained again"))
