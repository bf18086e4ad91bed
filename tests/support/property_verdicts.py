"""What real brokers make of files of properties; ``python tests/support/property_verdicts.py FOLDER`` records it.

Asks the oracle's ``properties-oracle`` (``broker_jars.py`` says where it lies) for each file that ``property_files.py``
wrote to FOLDER, with the classes of 2.56.0 and 2.44.0, and boots both with those that the status finds nothing in.
"""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

RECORDED = Path(__file__).resolve().parents[1] / "recorded" / "properties" / "verdicts.json.xz"
RELEASES = ("2.56.0", "2.44.0")
WHOLE_FILE = ""


class BrokerVerdict(NamedTuple):
    """The reaction of a broker's classes to a properties file.

    ``errors`` are keys with an error in the broker's status, ``lost`` those that silently become 0 or false. If
    ``dropped``, no entry is applied; if ``crashed``, the result could not be inspected because a text replaced a bean.
    ``start`` is whether the broker started, or None if that was not tried; a backup that waits for its primary counts
    as started.
    """

    errors: frozenset[str]
    lost: frozenset[str]
    dropped: bool
    crashed: bool
    start: bool | None

    @property
    def faulty(self) -> bool:
        """Return whether the broker finds anything wrong with the file."""
        return bool(self.errors or self.lost or self.dropped or self.crashed or self.start is False)


@cache
def recorded() -> tuple[dict[str, bytes], dict[str, dict[str, BrokerVerdict]]]:
    """Load the recorded files by name, and the verdict of each release on each file."""
    found = json.loads(lzma.decompress(RECORDED.read_bytes()))
    files = {name: text.encode("latin-1") for name, text in found["files"].items()}
    return files, {release: {n: verdict(line) for n, line in of.items()} for release, of in found["verdicts"].items()}


def verdict(line: dict[str, Any]) -> BrokerVerdict:
    """Parse one line of the oracle's output."""
    dropped = bool(line.get("load_error") or line.get("exception"))
    errors = frozenset(one["key"] for one in line.get("errors", ()) if one["key"] is not None)
    start = line.get("start")
    return BrokerVerdict(
        errors,
        frozenset(line.get("coerced") or ()),
        dropped,
        "crash" in line,
        None if start is None else start != "failed",
    )


def ask(release: str, files: Iterable[Path], *words: str) -> dict[str, dict[str, Any]]:
    """Return the oracle's JSON line for each file; a file on which the oracle dies is marked as a crash."""
    from broker_jars import oracle

    program = oracle() / "properties" / "properties-oracle"
    cache_folder = Path(os.environ["ORACLE_HOME_DIR"]) / "properties"
    left = [str(path) for path in files]
    found: dict[str, dict[str, Any]] = {}
    while left:
        with tempfile.NamedTemporaryFile("w", suffix=".list") as listed:
            listed.write("\n".join(left) + "\n")
            listed.flush()
            done = subprocess.run(
                [str(program), release, *words, "--list", listed.name],
                env={**os.environ, "PROPERTIES_CACHE": str(cache_folder)},
                capture_output=True,
                text=True,
                check=False,
            )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        found.update({Path(line["file"]).name: line for line in lines})
        if len(lines) < len(left):
            found[Path(left[len(lines)]).name] = {"crash": True}
        left = left[len(lines) + 1 :]
    return found


def slim(line: dict[str, Any]) -> dict[str, Any]:
    """Reduce a line of the oracle to what is recorded, without effective values and paths."""
    kept = {name: line[name] for name in ("load_error", "exception", "coerced", "crash", "start") if line.get(name)}
    errors = [{"key": one["key"]} for one in line.get("errors", ()) if one["value"] != "loadError"]
    return {**kept, **({"errors": errors} if errors else {})}


def record(folder: Path) -> None:
    """Judge all files of a folder with every release, and write the archive."""
    files = sorted(folder.iterdir())
    verdicts = {release: {n: slim(one) for n, one in ask(release, files).items()} for release in RELEASES}
    for release, of in verdicts.items():
        silent = [path for path in files if not verdict(of[path.name]).faulty]
        for name, line in ask(release, silent, "--start").items():
            of[name]["start"] = line.get("start", "failed")
    found = {"files": {path.name: path.read_bytes().decode("latin-1") for path in files}, "verdicts": verdicts}
    RECORDED.parent.mkdir(parents=True, exist_ok=True)
    RECORDED.write_bytes(lzma.compress(json.dumps(found, sort_keys=True).encode(), preset=9))


if __name__ == "__main__":
    record(Path(sys.argv[1]))
