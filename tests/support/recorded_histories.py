"""Histories that real brokers retained, with a ledger of every operation (tests/recorded/history/README.md)."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard
from golden_cases import unpacked

RECORDED = Path(__file__).resolve().parents[1] / "recorded" / "history"
VERSIONS = ("2.18.0", "2.28.0", "2.44.0", "2.56.0")


@dataclass(frozen=True, slots=True)
class HistoryCase:
    """One scenario on one broker version. ``str(case)`` names it in test ids."""

    version: str
    name: str

    def __str__(self) -> str:
        return f"{self.version}/{self.name}"

    @property
    def folder(self) -> Path:
        return RECORDED / self.version / self.name

    def root(self) -> Path:
        """Return the folder with ``history/`` and ``data/``, which tests share and must not change."""
        return unpacked(self.folder / "case.tar.zst")

    def copy(self, to: Path) -> Path:
        """Copy the instance, with its configuration, to ``to``, for a test that changes it."""
        shutil.copytree(self.root(), to)
        shutil.copy(self.folder / "broker.xml", to / "broker.xml")
        return to

    def ledger(self) -> list[dict[str, Any]]:
        """Return the operations in their order."""
        return [json.loads(line) for line in self._text("ledger.jsonl.zst").splitlines()]

    def counts(self) -> list[dict[str, Any]]:
        """Return what management counted, and when."""
        counts: list[dict[str, Any]] = json.loads(self._text("counts.json.zst"))
        return counts

    def _text(self, name: str) -> str:
        with (self.folder / name).open("rb") as file:
            return zstandard.ZstdDecompressor().stream_reader(file).read().decode()


def histories() -> list[HistoryCase]:
    """Return all cases."""
    return [
        HistoryCase(version, folder.name)
        for version in VERSIONS
        for folder in sorted((RECORDED / version).iterdir())
        if folder.is_dir()
    ]
