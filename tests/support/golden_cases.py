"""Data directories written by real brokers, packed one archive a case, and what the broker itself says about each.

``tests/golden/<version>/<case>.tar.zst`` holds ``data/``, the broker's configuration, ``manifest.json`` (facts read by
the broker's own classes) and ``drain.json`` (what a broker booted on a copy delivered); see ``tests/golden/README.md``.
A case is unpacked once into the checkout's cache, safe with parallel workers. Never change what ``root`` returns.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

import zstandard

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CACHE = Path(__file__).resolve().parents[2] / ".pytest_cache" / "golden"
VERSIONS = ("hornetq-2.3.25", "hornetq-2.4.7", "artemis-1.5.6", "2.10.1", "2.17.0", "2.28.0", "2.44.0", "2.56.0")
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """One data directory of one broker version. ``str(case)`` names it in test ids."""

    version: str
    name: str

    def __str__(self) -> str:
        return f"{self.version}/{self.name}"

    @property
    def archive(self) -> Path:
        return GOLDEN / self.version / f"{self.name}.tar.zst"

    def root(self) -> Path:
        """Return the folder of configuration, ``data/`` and JSON files, which tests share and must not change."""
        return unpacked(self.archive)

    def data(self) -> Path:
        return self.root() / "data"

    def copy(self, to: Path) -> Path:
        """Copy ``data/`` below ``to``, for a test that changes it."""
        return Path(shutil.copytree(self.data(), to / "data"))

    def lay_out(self, to: Path) -> Path:
        """Copy all that a broker needs to start, ``data/`` and the configuration, to ``to``."""
        shutil.copytree(self.root(), to)
        for name in ("drain.json", "manifest.json"):
            (to / name).unlink()
        return to

    def manifest(self) -> dict[str, Any]:
        return _json(self.root() / "manifest.json")

    def drain(self) -> dict[str, Any]:
        return _json(self.root() / "drain.json")


def _json(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return loaded


def cases(*versions: str) -> list[GoldenCase]:
    """Return all cases of these versions (default: all), oldest broker first, then by name."""
    return [
        GoldenCase(version, path.name.removesuffix(".tar.zst"))
        for version in versions or VERSIONS
        for path in sorted((GOLDEN / version).glob("*.tar.zst"))
    ]


def cases_of_each_kind() -> list[Any]:
    """Return all cases for ``parametrize``.

    Of cases with the same name and record layout, all but the newest are marked slow.
    """
    import pytest

    newest = {(case.name, case.version[0].isdigit()): case for case in cases()}.values()
    return [case if case in newest else pytest.param(case, marks=pytest.mark.slow) for case in cases()]


def spread(values: Iterable[Any], every: int) -> list[Any]:
    """Return ``values`` for ``parametrize``, all but every ``every``-th marked slow."""
    import pytest

    count, given = itertools.count(), []
    for value in values:
        seldom = hasattr(value, "marks") or next(count) % every
        parts = getattr(value, "values", value if isinstance(value, tuple) else (value,))
        given.append(pytest.param(*parts, marks=pytest.mark.slow) if seldom else value)
    return given


@cache
def unpacked(archive: Path) -> Path:
    packed = archive.read_bytes()
    digest = hashlib.sha256(packed).hexdigest()[:12]
    target = CACHE / archive.parent.name / f"{archive.name.removesuffix('.tar.zst')}-{digest}"
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=".unpacking-"))
        _unpack(packed, fresh)
        try:
            fresh.rename(target)
        except OSError:  # another worker was first
            shutil.rmtree(fresh)
    return target


def _unpack(packed: bytes, to: Path) -> None:
    stream = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed))
    with tarfile.open(fileobj=stream, mode="r|") as tar:
        for member in tar:
            path = to / member.name
            if member.isdir():
                path.mkdir(parents=True, exist_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                source = tar.extractfile(member)
                assert source is not None, member.name
                _write_sparse(source, path, member.size)


def _write_sparse(source: IO[bytes], path: Path, size: int) -> None:
    """Write a file with holes for blocks of zeros, because journal files are mostly zeros."""
    with path.open("wb") as out:
        while block := source.read(_BLOCK):
            if block.count(0) == len(block):
                out.seek(len(block), os.SEEK_CUR)
            else:
                out.write(block)
        out.truncate(size)


def damage_verdicts(kind: str) -> list[Path]:
    """Return the archives of damaged copies of ``kind`` ("pages" or "stores").

    Each contains a broker's ``verdict.json``; ``unpacked`` opens it.
    """
    return sorted((GOLDEN / "damage").glob(f"*/{kind}-*.tar.zst"))
