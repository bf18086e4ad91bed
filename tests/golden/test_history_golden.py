"""Without a retention folder ``--in history`` reads the journal and its attic: what waits there is what waits live."""

from __future__ import annotations

import pytest
from golden_cases import VERSIONS, GoldenCase, cases
from program import call

EVERY = 5  # of the cases of a release, so many are passed over


@pytest.mark.parametrize("case", [case for version in VERSIONS for case in cases(version)[::EVERY]], ids=str)
def test_what_waits_in_the_journal_waits_in_the_history(case: GoldenCase) -> None:
    live = call("messages", "decode", case.data(), "--in", "journal", "--format", "jsonl").lines()
    answer = call("messages", "decode", case.data(), "--in", "history", "--format", "jsonl")
    past = {line["id"]: line["queues_state"] for line in answer.lines()}
    for line in live:
        for queue, entry in line["queues_state"].items():
            if entry["state"] not in (None, "in-doubt"):
                is_waiting = past[line["id"]][queue]["state"] == "waiting"
                assert is_waiting == (entry["state"] in ("due", "scheduled")), (line["id"], queue)
    assert call("messages", "ls", case.data(), "--in", "history").status in (0, 1)
