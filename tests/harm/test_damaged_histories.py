"""Histories with a file torn, flipped, missing, doubled or foreign: what is left is read, and the rest is told."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from program import call
from recorded_histories import HistoryCase

CASES = [HistoryCase(version, name) for version in ("2.18.0", "2.56.0") for name in ("paged", "tx", "large")]


def torn(file: Path, chance: random.Random) -> None:
    file.write_bytes(file.read_bytes()[: chance.randrange(file.stat().st_size)])


def flipped(file: Path, chance: random.Random) -> None:
    content = bytearray(file.read_bytes())
    for _ in range(40):
        content[chance.randrange(16, len(content))] ^= chance.randrange(1, 256)
    file.write_bytes(content)


def missing(file: Path, chance: random.Random) -> None:
    file.unlink()


def doubled(file: Path, chance: random.Random) -> None:
    shutil.copy(file, file.with_name(file.name.replace("-2026", "-2027")))


def foreign(file: Path, chance: random.Random) -> None:
    (file.parent / "activemq-data-20261126000000-99.amq").write_bytes(chance.randbytes(61_440))


def empty(file: Path, chance: random.Random) -> None:
    file.write_bytes(b"")


def without_pages(file: Path, chance: random.Random) -> None:
    for page in (file.parents[1] / "data").rglob("*.page"):
        page.write_bytes(page.read_bytes()[: page.stat().st_size // 2])


def without_bindings(file: Path, chance: random.Random) -> None:
    shutil.rmtree(file.parents[1] / "data" / "bindings")


DAMAGES = [torn, flipped, missing, doubled, foreign, empty, without_pages, without_bindings]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_left_is_read(case: HistoryCase, damage: Callable[[Path, random.Random], None], tmp_path: Path) -> None:
    instance, trace = case.copy(tmp_path / "instance"), tmp_path / "trace.jsonl"
    chance = random.Random(f"{case} {damage.__name__}")
    places = (instance, "--history", instance / "history", "--timezone", "UTC")
    before = _ids(places)
    damage(chance.choice(sorted((instance / "history").iterdir())), chance)
    is_less = bool(before - _ids(places)) and damage in (torn, flipped, empty)
    for words in (
        ("messages", "ls", "--in", "history"),
        ("messages", "decode", "--in", "history", "--format", "jsonl"),
        ("messages", "trace", "--where", "seq < 5"),
        ("replay", "import", "--to", trace),
    ):
        answer = call(*words, *places)
        assert answer.status in (0, 1), (words, answer.err)
        assert "internal error" not in answer.err
        if is_less or damage is foreign:
            assert answer.status == 1
            assert "warning: the history is damaged" in answer.err
    replay = call("replay", "run", trace, "--config", instance / "broker.xml", "--format", "json")
    assert replay.status == 0, replay.err


def _ids(places: tuple[str | Path, ...]) -> set[int]:
    return {line["id"] for line in call("messages", "decode", "--in", "history", "--format", "jsonl", *places).lines()}
