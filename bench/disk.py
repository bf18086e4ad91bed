"""CPU seconds of ``disk check`` from start to finish, and of ``disk usage`` over many folders.

    python bench/disk.py [--rounds 9] [--folders 100000]

Smallest of the rounds; CPU seconds of the whole process tree, so that other load matters little. ``du`` counts the
same folders, as a measure of what the file system itself costs.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BROKER_XML = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
<paging-directory>data/paging</paging-directory><max-disk-usage>99</max-disk-usage>
<address-settings><address-setting match="#"><address-full-policy>PAGE</address-full-policy></address-setting>
</address-settings></core></configuration>"""


def cpu(command: list[str], rounds: int) -> float:
    """Return the CPU seconds of a command and its children, the minimum of all rounds."""
    env = os.environ | {"PYTHONPATH": ":".join(map(str, (ROOT, ROOT / "cli", ROOT / "schemas")))}
    spent = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def instance(folder: Path, stores: int) -> Path:
    (folder / "etc").mkdir(parents=True)
    (folder / "etc" / "broker.xml").write_text(BROKER_XML)
    for n in range(stores):
        store = folder / "data" / "paging" / f"{n:032x}"
        store.mkdir(parents=True)
        (store / "address.txt").write_text(f"orders.{n}\n")
        if n % 10 == 0:
            (store / "000000001.page").write_bytes(bytes(n % 5000))
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folders", type=int, default=100_000)
    asked = parser.parse_args()
    python, folder = sys.executable, Path(tempfile.mkdtemp(prefix="bench-disk-"))
    try:
        home = instance(folder / "broker", asked.folders)
        pagectl = [python, "-m", "pagectl", "disk"]
        rows = {
            "bare interpreter": [python, "-c", "pass"],
            "import typer": [python, "-c", "import typer"],
            "disk check with flags": [*pagectl, "check", "/", "--max-disk-usage", "90"],
            "disk check with broker.xml": [*pagectl, "check", str(home)],
        }
        bare = 0.0
        for name, command in rows.items():
            spent = cpu(command, asked.rounds)
            bare = bare or spent
            print(f"{name:<40} {spent:7.3f} s  {spent / bare:6.1f} times a bare interpreter")
        du = cpu(["du", "-s", str(home)], 3)
        usage = cpu([*pagectl, "usage", str(home)], 3)
        print(f"{'du -s, ' + str(asked.folders) + ' store folders':<40} {du:7.3f} s")
        print(f"{'disk usage, the same':<40} {usage:7.3f} s  {usage / du:6.1f} times du")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
