"""Compaction judged by real brokers: what one started on the result delivers, beside what the original gave.

Run with ``pytest -m broker tests/test_compaction_broker.py``. Queue by queue: ids, ``seq`` values and body hashes in
order, message counts at start, and what is left.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import golden_cases
import pytest
from broker_jars import oracle
from editions_of import EDITION_OF
from golden_cases import GoldenCase
from test_compaction import compact

from pagefmt.compaction.planning import make_plan
from pagefmt.editions import Edition
from pagefmt.locate import within

pytestmark = [pytest.mark.broker, pytest.mark.timeout(3600)]
CURRENT = ("2.56.0", "2.44.0", "2.28.0")


def cases_with_gain(version: str, edition: Edition | None) -> list[GoldenCase]:
    return [case for case in golden_cases.cases(version) if make_plan(within(case.data()), edition).freed]


def lay_out(case: GoldenCase, to: Path) -> Path:
    shutil.copytree(case.root(), to)
    for name in ("drain.json", "manifest.json"):
        (to / name).unlink()
    return to


def drain(version: str, folders: list[Path]) -> None:
    """``drain.json`` into each folder."""
    home = oracle()
    words = {"env": os.environ | {}, "check": True, "capture_output": True}
    if version in CURRENT:
        subprocess.run([str(home / "oracle"), "examine", *map(str, folders), "--version", version], **words)  # type: ignore[call-overload]
        return
    for folder in folders:
        subprocess.run([sys.executable, str(home / "legacy" / "legacy.py"), version, "drain", str(folder)], **words)  # type: ignore[call-overload]


def delivered(told: dict[str, Any]) -> dict[str, Any]:
    return {
        queue["name"]: {
            "count": queue["count"],
            "left": queue["left"],
            "messages": [(each["id"], each["seq"], each["body_sha256"]) for each in queue["delivered"]],
        }
        for queue in told["queues"]
    }


@pytest.mark.parametrize("named", [True, False], ids=["its edition", "any edition"])
@pytest.mark.parametrize("version", golden_cases.VERSIONS)
def test_a_real_broker_delivers_the_same(version: str, named: bool, tmp_path: Path) -> None:
    oracle()
    edition = EDITION_OF[version] if named else None
    cases = cases_with_gain(version, edition)
    assert len(cases) >= 4
    folders = [lay_out(case, tmp_path / case.name) for case in cases]
    originals = [lay_out(case, tmp_path / f"{case.name}-original") for case in cases]
    for folder in folders:
        assert compact(within(folder / "data"), edition).freed > 0
    drain(version, folders + originals)
    different = []
    for case, folder, original in zip(cases, folders, originals, strict=True):
        before, after = (json.loads((each / "drain.json").read_text("utf-8")) for each in (original, folder))
        if delivered(before) != delivered(after) or after["started"] is not True:
            different.append(str(case))
    print(f"{version} {edition}: {len(cases)} directories compacted, {len(different)} different: {different}")
    assert different == []
