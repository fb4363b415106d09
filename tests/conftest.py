"""One thread per process (several run side by side), checked shapes, reproducible hypothesis, and the datasets."""

import os
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported, and for what tests start

import pytest
import torch
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

SOURCES = Path(__file__).parents[1] / "src"


def shaped_modules() -> list[str]:
    """Modules that name shapes; in the others there is nothing to check, and to try takes half of the time."""
    files = (path for path in SOURCES.rglob("*.py") if "from jaxtyping import" in path.read_text(encoding="utf-8"))
    return sorted(".".join(path.relative_to(SOURCES).with_suffix("").parts) for path in files)


install_import_hook(shaped_modules(), "beartype.beartype")  # before graphflip is imported
torch.set_num_threads(1)
settings.register_profile(
    "graphflip",
    max_examples=30,
    deadline=None,  # the first call of a torch operator may take long
    derandomize=True,  # same tests on every run
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("graphflip")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder with AIDS.zip, Mutagenicity.zip and NCI1.zip."""
    folder = os.environ.get("GRAPHFLIP_DATA")
    if folder is None:
        pytest.skip("set GRAPHFLIP_DATA to the folder with AIDS.zip, Mutagenicity.zip and NCI1.zip")
    return Path(folder)
