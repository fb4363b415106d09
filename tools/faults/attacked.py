"""Every attack of tools/attacks, tried on the package as it is."""

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rig import ROOT, small_kit

sys.path.insert(0, str(ROOT / "tools"))
from attacks import ATTACKS, Commands, Place


def hostile(folder: Path, note: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Try each attack in a folder of its own: how many were tried and handled, and each by name."""
    kit = small_kit.make_kit(folder / "hostile-kit", common=0.9)
    rows, found = {}, {}
    with Commands() as commands:
        for k, (name, attack) in enumerate(ATTACKS.items()):
            place = Place(folder / f"hostile{k}", kit, commands)
            place.folder.mkdir()
            rows[name] = _is_handled(name, attack, place)
            found = {"known": len(ATTACKS), "tried": len(rows), "handled": sum(rows.values()), "attacks": rows}
            note(found)  # one after the other: all of them take a while
    return found


def _is_handled(name: str, attack: Any, place: Place) -> bool:
    try:
        attack(place)
    except Exception:  # whatever an attack brings about is harm
        print(f"  {name}: {traceback.format_exc(limit=-3)}", flush=True)
        return False
    print(f"  {name}: handled", flush=True)
    return True
