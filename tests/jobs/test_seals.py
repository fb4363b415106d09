"""Shards with cards that do not fit them, other models, and names that climb: nothing foreign is taken."""

import json
import shutil

import pytest

from graphflip.errors import ConfigError, JobError
from graphflip.jobs import JobSettings, answers, open_source, run_job
from graphflip.jobs.folder import JobFolder, ShardCard, digest_of, read_manifest
from graphflip.models.storage.store import PRETRAINED, find_model

from .conftest import Counted, answers_of, small_kit


@pytest.fixture
def job(table, settings, tmp_path):
    run_job(open_source(str(table)), settings, tmp_path / "job", shard_size=3)
    return tmp_path / "job"


def card_of(job, index=1):
    path = job / "shards" / "0000" / f"{index:07d}.json"
    return path, ShardCard.model_validate_json(path.read_bytes())


@pytest.mark.parametrize("change", [{"outcomes": {"flipped": 3}}, {"answers": 7}, {"seal": "0" * 64}])
def test_a_card_whose_seal_is_broken_is_not_taken(job, table, settings, undisturbed, change):
    path, card = card_of(job)
    path.write_text(card.model_copy(update=change).model_dump_json())
    again = Counted()
    assert run_job(open_source(str(table)), settings, job, again).repaired == 1
    assert again.count == 1
    assert answers_of(job) == answers_of(undisturbed)


def test_a_shard_of_other_rows_is_not_taken(job, table, settings, undisturbed):
    """Sealed and whole, of this job and at this place, but the answers to other rows."""
    path, card = card_of(job)
    rows = list(open_source(str(table)).rows())
    foreign = card.model_copy(update={"rows_sha256": digest_of(rows[:3])[0]}).sealed()
    path.write_text(foreign.model_dump_json())
    assert JobFolder(job, read_manifest(job)).finished(1, rows[3:6]) is None
    again = Counted()
    run_job(open_source(str(table)), settings, job, again)
    assert again.count == 1
    assert answers_of(job) == answers_of(undisturbed)


def test_a_shard_of_fewer_rows_is_not_taken(job, table):
    path, card = card_of(job)
    rows = list(open_source(str(table)).rows())
    path.write_text(card.model_copy(update={"rows": 2}).sealed().model_dump_json())
    assert JobFolder(job, read_manifest(job)).finished(1, rows[3:6]) is None


def test_a_job_does_not_go_on_with_another_model(table, tmp_path):
    """The kit at the same place has other weights, or other knowledge, when the job is run again."""
    kit = small_kit.make_kit(tmp_path / "kit", common=0.9)
    settings = JobSettings.of(model=str(kit), prefer="minimal", budget=1, target="fancy")
    for part in ("classifier", "knowledge.json"):
        out = tmp_path / f"job-{part}"
        forget()
        run_job(open_source(str(table)), settings, out)
        kept = shutil.move(kit / part, tmp_path / "kept")
        other = small_kit.make_kit(tmp_path / f"other-{part}", seed=9)
        shutil.move(other / part, kit / part)
        forget()
        with pytest.raises(JobError, match="kit_sha256"):
            run_job(open_source(str(table)), settings, out)
        shutil.rmtree(kit / part) if (kit / part).is_dir() else (kit / part).unlink()
        shutil.move(kept, kit / part)
    forget()


def forget():
    answers._loaded.cache_clear()
    answers.kit_digest.cache_clear()


@pytest.mark.parametrize("name", ["../{}", "ames/../../{}", "ames/classifier/../../../{}"])
def test_the_name_of_a_model_does_not_climb(name, tmp_path, monkeypatch):
    """A card beside the package's models is not one of them."""
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "package" / "pretrained"
    shutil.copytree(PRETRAINED / "ames" / "classifier", package / "ames" / "classifier")
    outside = package.parent / "outside"
    shutil.copytree(PRETRAINED / "ames" / "classifier", outside)
    monkeypatch.setattr("graphflip.models.storage.store.PRETRAINED", package)
    assert find_model("ames/classifier") == package / "ames" / "classifier"
    assert json.loads((outside / "card.json").read_text())
    with pytest.raises(ConfigError, match="must be a folder"):
        find_model(name.format("outside"))
