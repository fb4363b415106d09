"""What all faults need: a small job, its undisturbed answers, and what to compare."""

import importlib.util
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from graphflip.jobs import JobSettings, open_source, run_job
from graphflip.jobs.folder import JobFolder, read_manifest
from graphflip.jobs.tables import TIMING

ROOT = Path(__file__).parents[2]
QUICK = ("--prefer", "minimal", "--target", "fancy", "--budget", "2")


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)  # pyright: ignore[reportArgumentType]
    spec.loader.exec_module(module)  # pyright: ignore[reportOptionalMemberAccess]
    return module


small_kit = load(ROOT / "tools" / "small_kit.py")


@dataclass(frozen=True)
class Rig:
    """A folder to work in, with a kit, a table of molecules, and the answers of a job that nothing disturbed."""

    folder: Path
    rows: int

    @property
    def kit(self) -> Path:
        return self.folder / "kit"

    @property
    def table(self) -> Path:
        return self.folder / "molecules.csv"

    @property
    def settings(self) -> JobSettings:
        return JobSettings.of(model=str(self.kit), prefer="minimal", target="fancy", budget=2)

    @property
    def reference(self) -> Path:
        return self.folder / "reference"

    @classmethod
    def build(cls, folder: Path, rows: int) -> "Rig":
        rig = cls(folder, rows)
        small_kit.make_kit(rig.kit)
        small_kit.write_molecules(rig.table, rows)
        run_job(open_source(str(rig.table)), rig.settings, rig.reference)
        return rig

    def explain(self, out: Path, *options: object) -> tuple[object, ...]:
        """The arguments of a job that writes often."""
        return ("explain", self.table, "--model", self.kit, "--out", out, *QUICK, "--shard-size", 2, *options)

    def num_shards(self, out: Path) -> int:
        return len(list(out.glob("shards/*/*.json")))

    def nothing(self) -> Counter[str]:
        return Counter(lost=0, doubled=0, differ=0)

    def compare(self, out: Path) -> Counter[str]:
        """How many answers are lost, doubled or different from those of the undisturbed job."""
        ours, theirs = read_answers(out), read_answers(self.reference)
        counts = Counter((one["row"], one["answer"]) for one in ours)
        wanted = {(one["row"], one["answer"]): one for one in theirs}
        return Counter(
            lost=len(wanted.keys() - counts.keys()),
            doubled=sum(count - 1 for count in counts.values()),
            differ=sum(one != wanted.get((one["row"], one["answer"])) for one in ours),
        )


def read_answers(folder: Path) -> list[dict]:
    answers = JobFolder(folder, read_manifest(folder)).answers()
    return [{name: value for name, value in answer.items() if name != TIMING} for answer in answers]


def sha256_of_weights(folder: Path) -> str:
    return json.loads((folder / "card.json").read_text())["sha256"]
