"""Write constraints.lock: the pinned packages with the sha256 of the files that pip would install on this platform.

Usage: python tools/lock.py     (asks the package index; CI: pip install --no-deps --require-hashes -r constraints.lock)
"""

import json
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    lines, left_out = [], []
    for item in sorted(resolved(), key=lambda item: item["metadata"]["name"].lower()):
        name, version = item["metadata"]["name"], item["metadata"]["version"]
        digest = item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
        if name == "graphflip":
            continue
        if digest is None or "+" in version:
            left_out.append(f"{name}=={version}")
        else:
            lines.append(f"{name}=={version} --hash=sha256:{digest}")
    where = f"{platform.system()} {platform.machine()}, Python {platform.python_version_tuple()[0]}."
    about = [f"# For {where}{platform.python_version_tuple()[1]}; written by tools/lock.py."]
    about += [f"# Not a published file here, so without a hash; install it first: {name}" for name in left_out]
    (ROOT / "constraints.lock").write_text("\n".join([*about, *lines]) + "\n")
    print(f"{len(lines)} packages; left out: {', '.join(left_out) or 'none'}")


def resolved() -> list[dict]:
    """What pip would install for the whole project, as pip reports it."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
    command += ["-c", str(ROOT / "constraints.txt"), f"{ROOT}[all,dev,fuzz]"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["install"]


if __name__ == "__main__":
    main()
