"""Compaction judged by real brokers: what one started on the result delivers, beside what the original gave.

``make test-compaction-broker`` runs this and ``test_salvage_broker.py`` and prints the table. Every case of every
version: where compaction changes nothing there is nothing to ask; else the broker of that version drains the result.
The drain of the original is the one kept with the case, or, where time has passed over it (expiry, delayed delivery),
a new one.
``PAGECTL_CORPUS`` names other directories to judge by: ``VERSION/CASE`` with ``data.tar.gz`` and the configuration.
"""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import golden_cases
import pytest
from broker_drains import Drain, drains, failure, queues
from broker_jars import oracle
from compactions import compact, due, tree
from editions_of import EDITION_OF

from pagefmt.change.compaction.journals import apply_journals, plan_journals
from pagefmt.directory.locate import within
from pagefmt.storage.writing import Disk

pytestmark = [pytest.mark.broker, pytest.mark.timeout(7200)]
CORPUS = os.environ.get("PAGECTL_CORPUS")
HEAD = "version         edition  directories  changed  drained  queues  messages  different  bytes freed     of bound"


@dataclass(slots=True)
class Row:
    """One line of the table. ``bound``: bytes of pages that belong to no message which is due to anybody."""

    version: str
    edition: str
    directories: int = 0
    changed: int = 0
    drained: int = 0
    queues: int = 0
    messages: int = 0
    different: int = 0
    freed: int = 0
    bound: int = 0

    def __str__(self) -> str:
        counts = f"{self.directories:12} {self.changed:8} {self.drained:8} {self.queues:7} {self.messages:9}"
        return f"{self.version:15} {self.edition:7} {counts} {self.different:10} {self.freed:12,} {self.bound:12,}"


@dataclass(frozen=True, slots=True)
class Judged:
    """A case, laid out twice: as it was, and what the change made of it."""

    name: str
    original: Path
    result: Path
    known: Drain | None


def laid_out(version: str, to: Path) -> Iterator[Judged]:
    if CORPUS is None:
        for case in golden_cases.cases(version):
            original = case.lay_out(to / "originals" / case.name)
            result = Path(shutil.copytree(original, to / "results" / case.name))
            yield Judged(case.name, original, result, case.drain())
        return
    for folder in sorted(Path(CORPUS, version).glob("*/")):
        original = to / "originals" / folder.name
        original.mkdir(parents=True)
        for path in folder.glob("*.xml"):
            shutil.copy(path, original)
        with tarfile.open(folder / "data.tar.gz") as packed:
            packed.extractall(original, filter="data")
        result = Path(shutil.copytree(original, to / "results" / folder.name))
        yield Judged(folder.name, original, result, None)


def unneeded(data: Path) -> int:
    """Return how many bytes of the page files belong to no outstanding record."""
    live = {(page, number, body) for each in due(within(data)).values() for page, number, _, body in each}
    return sum(path.stat().st_size for path in data.rglob("*.page")) - sum(len(body) for *_, body in live)


def different(version: str, judged: list[Judged], row: Row) -> list[str]:
    """Return a line for each result that a broker drains differently from its original, and count in ``row``."""
    after = drains(version, [each.result for each in judged])
    before = {each.original: each.known for each in judged if each.known is not None}
    doubtful = [
        each.original
        for each in judged
        if each.original not in before or queues(before[each.original]) != queues(after[each.result])
    ]
    before |= drains(version, doubtful)
    found = []
    for each in judged:
        told, new = before[each.original], after[each.result]
        row.drained += 1
        row.queues += len(new["queues"])
        row.messages += sum(len(queue.messages) for queue in queues(new).values())
        if failure(told):
            found.append(f"{each.name}: the original: {failure(told)}")
        elif failure(new) or queues(told) != queues(new):
            found.append(f"{each.name}: {failure(new) or 'delivers something else'}")
    row.different = len(found)
    return found


@pytest.mark.parametrize("named", [True, False], ids=["its edition", "any edition"])
@pytest.mark.parametrize("version", golden_cases.VERSIONS)
def test_a_real_broker_delivers_the_same(
    version: str, named: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    oracle()
    row = Row(version, "its own" if named else "any")
    changed = []
    for each in laid_out(version, tmp_path):
        row.directories += 1
        row.bound += unneeded(each.original / "data")
        plan = compact(within(each.result / "data"), EDITION_OF[version] if named else None)
        row.freed += sum(store.freed for store in plan.stores)
        if tree(each.result) == tree(each.original):
            assert plan.freed == 0
            shutil.rmtree(each.result)
        else:
            changed.append(each)
    row.changed = len(changed)
    try:
        found = different(version, changed, row)
    finally:
        shutil.rmtree(tmp_path / "originals")
        shutil.rmtree(tmp_path / "results")
    with capfd.disabled():
        print(f"\n{HEAD}\n{row}")
    assert found == []
    assert CORPUS is not None or row.changed >= 4


@pytest.mark.parametrize("version", golden_cases.VERSIONS)
def test_a_real_broker_delivers_the_same_from_compacted_journals(
    version: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # Every directory has files that its journals do not need, so every one is drained.
    oracle()
    row = Row(version, "any")
    changed = []
    for each in laid_out(version, tmp_path):
        row.directories += 1
        place = within(each.result / "data")
        plan = plan_journals(place)
        apply_journals(plan, Disk(), None)
        row.freed += plan.freed
        row.bound += sum(one.size for one in plan.journals)
        changed.append(each)
    row.changed = len(changed)
    found = different(version, changed, row)
    with capfd.disabled():
        print(f"\n{HEAD}\n{row}")
    assert found == []
