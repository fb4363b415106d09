"""One thread per process (several run side by side), reproducible hypothesis, and where the datasets are."""

import os
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported, and for what tests start

import pytest
import torch
from hypothesis import HealthCheck, settings

# graphflip is not imported here: jaxtyping's hook, which checks shapes, is installed after this file is read.

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
