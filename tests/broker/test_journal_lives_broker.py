"""Journals of long broker lives (``journal_lives``), compared with what a restarted broker delivers.

Each queue must deliver what ``messages decode`` lists as waiting, message by message and in order, before and after
compaction of the journal. ``PAGECTL_LIVES`` is the number of lives of each version, ``PAGECTL_SEED`` the first seed. A
broker with an even seed stops cleanly, one with an odd seed is killed.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest
from broker_drains import drains, failure, queues
from broker_jars import CURRENT, oracle
from deliveries import compared
from editions_of import EDITION_OF
from journal_lives import lived

from pagefmt.change.compaction.journals import apply_journals, plan_journals
from pagefmt.directory.locate import within
from pagefmt.storage.writing import Disk

pytestmark = [pytest.mark.broker, pytest.mark.timeout(7200)]
LIVES = int(os.environ.get("PAGECTL_LIVES", "2"))
SEED = int(os.environ.get("PAGECTL_SEED", "1"))


@pytest.mark.parametrize("version", CURRENT)
def test_a_restart_delivers_what_was_said(version: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    oracle()
    count: Counter[str] = Counter()
    wrong = []
    for seed in range(SEED, SEED + LIVES):
        life = lived(version, tmp_path / f"life-{seed}", seed).folder
        compacted = Path(shutil.copytree(life, tmp_path / f"compacted-{seed}"))
        plan = plan_journals(within(compacted / "data"))
        apply_journals(plan, Disk(), None)
        count["bytes freed"] += plan.freed
        now = int(time.time() * 1000)
        told = drains(version, [life, compacted])
        assert {failure(each) for each in told.values()} == {None}, (seed, *map(failure, told.values()))
        for folder in (life, compacted):
            for queue in told[folder]["queues"]:
                found = compared(folder / "data", queue, now, EDITION_OF[version])
                count["queues"] += 1
                count["messages"] += len(queue["delivered"])
                count[{None: "equal", "order": f"order of {queue['name']}"}.get(found, "different")] += 1
                if found not in (None, "order"):
                    wrong.append(f"seed {seed}, {folder.name}: {found}")
        after = queues(told[compacted])
        for name, before in queues(told[life]).items():
            if name != "EXPIRY" and Counter(before.messages) != Counter(after[name].messages):
                wrong.append(f"seed {seed}: {name}: compacted, it delivers something else")
        shutil.rmtree(life)
        shutil.rmtree(compacted)
    with capfd.disabled():
        print(f"\n{version}: {LIVES} lives: {dict(count)}")
    assert not wrong
