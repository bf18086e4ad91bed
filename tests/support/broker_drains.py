"""What real brokers deliver from data directories: many in one virtual machine, with a time limit for each.

What a broker has told is kept in the checkout's cache, under a digest of the broker's version and of everything in the
directory; a run that was stopped goes on where it was. A broker that does not come to an end is a result as well: its
virtual machine is killed, the directory gets the word, and another one takes the rest.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broker_jars import CURRENT, launcher, legacy_launcher

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".pytest_cache" / "drains"
LIMIT = int(os.environ.get("PAGECTL_DRAIN_SECONDS", "240"))
"""For one directory: seconds without a result."""

Drain = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Queue:
    """(message id, ``seq``, body hash, priority) of what came out of a queue, in order; the counts at start and end."""

    count: int
    left: int
    messages: tuple[tuple[int, object, str, int], ...]

    @property
    def by_priority(self) -> list[tuple[int, object, str, int]]:
        """Return the messages by descending priority, in order within each.

        A message of higher priority overtakes those already in memory.
        """
        return sorted(self.messages, key=lambda message: -message[3])


def queues(told: Drain) -> dict[str, Queue]:
    return {
        each["name"]: Queue(
            each["count"],
            each["left"],
            tuple(
                (message["id"], message["seq"], message.get("body_sha256"), message["priority"])
                for message in each["delivered"]
            ),
        )
        for each in told["queues"]
    }


def failure(told: Drain) -> str | None:
    """Return why a drain cannot be compared, or None if the broker started."""
    if told.get("started") is True:
        return None
    error = told.get("error") or {}
    return f"did not start: {error.get('message')}" if isinstance(error, dict) else str(error)


def drains(version: str, folders: Sequence[Path]) -> dict[Path, Drain]:
    """Drain the folders with brokers of the release, and return the results by folder.

    Each folder contains ``data`` and the configuration, and is not changed. Results are cached by content.
    """
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = {folder: KEPT / f"{_digest(version, folder)}.json" for folder in folders}
    missing = list({file: folder for folder, file in kept.items() if not file.exists()}.values())
    failed: dict[Path, Drain] = {}
    for folder, told in (_current if version in CURRENT else _legacy)(version, missing):
        if "ended" in told:
            failed[kept[folder]] = {"started": False, "error": told["ended"], "queues": []}
        else:
            beside = kept[folder].with_suffix(f".{os.getpid()}")
            beside.write_text(json.dumps(told), "utf-8")
            beside.replace(kept[folder])
    return {
        folder: failed[file] if file in failed else json.loads(file.read_text("utf-8")) for folder, file in kept.items()
    }


def _digest(version: str, folder: Path) -> str:
    seen = hashlib.sha256(version.encode())
    for path in sorted(folder.rglob("*")):
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        seen.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return seen.hexdigest()[:32]


def _told(folder: Path) -> Drain | None:
    try:
        found: Drain = json.loads((folder / "drain.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found


def _current(version: str, folders: list[Path]) -> Iterator[tuple[Path, Drain]]:
    waiting = list(folders)
    while waiting:
        done = 0
        for folder, told in _one_machine(version, waiting):
            done += 1
            yield folder, told
        waiting = waiting[done:]


def _one_machine(version: str, folders: list[Path]) -> Iterator[tuple[Path, Drain]]:
    """Drain folders in one JVM, and yield results in order, up to and including the first that fails."""
    program = launcher()
    options = ["-Xmx700m", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", f"-Doracle.version={version}"]
    with tempfile.TemporaryDirectory(prefix="drains-") as name:
        copies = [Path(shutil.copytree(folder, Path(name, str(n)))) for n, folder in enumerate(folders)]
        words = ["java", *options, *program.ADD_OPENS, "-cp", os.pathsep.join(program.setup(version))]
        running = subprocess.Popen(
            [*words, "oracle.Main", "redrain", *map(str, copies)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            for folder, copy in zip(folders, copies, strict=True):
                told = _awaited(copy, running)
                yield folder, told
                if "ended" in told:
                    return
                shutil.rmtree(copy / "data", ignore_errors=True)
        finally:
            running.kill()
            running.wait()


def _awaited(copy: Path, running: subprocess.Popen[bytes]) -> Drain:
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        ended = running.poll()
        told = _told(copy)
        if told is not None:
            return told
        if ended is not None:
            return {"ended": f"the broker's virtual machine ended with status {ended} before it had told anything"}
        time.sleep(0.5)
    return {"ended": f"the broker did not come to an end within {LIMIT} s (PAGECTL_DRAIN_SECONDS)"}


def _legacy(version: str, folders: list[Path]) -> Iterator[tuple[Path, Drain]]:
    program = legacy_launcher()
    for folder in folders:
        with tempfile.TemporaryDirectory(prefix="drains-") as name:
            copy = Path(shutil.copytree(folder, Path(name, folder.name)))
            try:
                status = program.java(version, copy, "drain", folder.name, seconds=LIMIT)
            except subprocess.TimeoutExpired:
                yield folder, {"ended": f"the broker did not come to an end within {LIMIT} s (PAGECTL_DRAIN_SECONDS)"}
                continue
            told = _told(copy)
            yield folder, told or {"ended": f"the broker's virtual machine ended with status {status}"}
