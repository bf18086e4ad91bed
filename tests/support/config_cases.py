"""Configurations with the verdicts of real brokers: unpacked once a session from ``config/configs.tar.xz``."""

from __future__ import annotations

import functools
import json
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pagefmt.editions import Edition

ARCHIVE = Path(__file__).parents[1] / "recorded" / "configurations" / "configs.tar.xz"
EDITIONS = {edition.release: edition for edition in Edition} | {"hornetq-2.4.7": Edition.HORNETQ_2_4}
_KEPT: list[tempfile.TemporaryDirectory[str]] = []


@functools.cache
def configs() -> Path:
    """Unpack the archive of configurations, once per process, and return its folder."""
    folder = tempfile.TemporaryDirectory(prefix="pagectl-configs-")
    _KEPT.append(folder)
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder.name, filter="data")
    return Path(folder.name)


class Judged(NamedTuple):
    """One file and what one broker said of it."""

    path: Path
    broker: str
    edition: Edition
    verdict: dict[str, Any]

    @property
    def phase(self) -> str:
        return str(self.verdict["phase"] or "accepted")


def judged(folder: str) -> Iterator[Judged]:
    root = configs() / folder
    files = json.loads((root / "verdicts.json").read_text("utf-8"))["files"]
    for name, brokers in files.items():
        for broker, verdict in brokers.items():
            yield Judged(root / name, broker, EDITIONS[broker], verdict)
