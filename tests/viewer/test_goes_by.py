"""The page "What it goes by": served with its styles, and with a way to the workbench from each graph of a recourse."""

import json
import re

import pytest

from graphflip.errors import ConfigError
from graphflip.viewer.app import create_app
from graphflip.viewer.config import ViewerConfig

from .fakes import run

_SHARE = {"count": 1, "total": 1}
_SUMMARY = {
    "model": "mutagenicity",
    "data": "two molecules",
    "options": {"theta": 0.1},
    "remarks": [],
    "inputs": {"ethanol": "CCO"},
    "directions": [
        {
            "target": "nonmutagen",
            "total": 1,
            "chosen_on": 1,
            "curve": [1.0],
            "bound": [1.0],
            "held_out_curve": [1.0],
            "baselines": {},
            "uncovered": {},
            "reasons": [],
            "graphs": [],
            "recourses": [
                {
                    "words": "nitro group → <b>amino</b> group",
                    "where": [],
                    "edits": 1.0,
                    "cost": 0.05,
                    "gain": 1,
                    "overlap": 0.0,
                    "covers": ["ethanol", "gone"],
                    "applies": _SHARE,
                    "flips": _SHARE,
                    "held_out": _SHARE,
                    "judges": {},
                    "examples": [],
                    "failures": [],
                    "recourse": {"nodes": [], "edges": [], "context": []},
                }
            ],
        }
    ],
}


def test_a_summary_is_served_with_links_to_the_workbench(tmp_path):
    (tmp_path / "summary.json").write_text(json.dumps(_SUMMARY))

    async def scenario(browser):
        client = browser()
        assert '<a class="quiet" href="/goes-by">' in (await client.get("/")).text
        page = (await client.get("/goes-by")).text
        assert "What mutagenicity goes by" in page
        assert "/#model=mutagenicity&amp;smiles=CCO&amp;name=ethanol&amp;look=" in page
        assert "<li>gone</li>" in page
        assert "&lt;b&gt;amino" in page
        for address in re.findall(r'href="(/assets/[^"]+)"', page):
            assert (await client.get(address)).status_code == 200

    run(scenario, summaries=(str(tmp_path),))


def test_without_a_summary_the_page_says_how_to_make_one():
    async def scenario(browser):
        assert "graphflip summarize" in (await browser().get("/goes-by")).text

    run(scenario)


@pytest.mark.parametrize("stored", ["", "{", json.dumps(_SUMMARY | {"model": "another"})])
def test_a_folder_without_a_summary_of_the_kits_is_refused(tmp_path, stored):
    (tmp_path / "summary.json").write_text(stored)
    with pytest.raises(ConfigError):
        create_app(ViewerConfig(models=("mutagenicity",), summaries=(str(tmp_path),)))
