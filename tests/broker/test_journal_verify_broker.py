"""Harmed journals: what brokers do with them is what is recorded for the tests that ask no broker."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from broker_drains import drains, failure, queues
from broker_jars import oracle
from journal_damage import RECORDED, WAYS, Verdict, damaged, recorded

pytestmark = [pytest.mark.broker, pytest.mark.timeout(3600)]


@pytest.mark.parametrize("version", ["2.56.0", "2.44.0"])
def test_brokers_do_what_is_recorded(version: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    # PAGECTL_RECORD=1 records what the brokers do, instead of comparing it.
    oracle()
    folders = {key: folder for key in WAYS if (folder := damaged(version, key, tmp_path / key)) is not None}
    told = drains(version, list(folders.values()))
    found = {
        key: Verdict(
            failure(told[folder]) is None,
            {name: sorted(one[0] for one in queue.messages) for name, queue in sorted(queues(told[folder]).items())},
        )
        for key, folder in folders.items()
    }
    if os.environ.get("PAGECTL_RECORD"):
        RECORDED.mkdir(parents=True, exist_ok=True)
        lines = [f"{json.dumps(key)}:{json.dumps(each._asdict())}" for key, each in found.items()]
        (RECORDED / f"{version}.json").write_text("{" + ",\n".join(lines) + "}\n")
    assert found == recorded(version)
