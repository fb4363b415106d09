"""results/faults.json, to which several commands contribute a section each."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results" / "faults.json"


def contribute(section: str, figures: dict[str, Any]) -> None:
    """Put figures into a section, beside those that are there under other names."""
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    found[section] = found.get(section, {}) | figures
    RESULTS.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n")
