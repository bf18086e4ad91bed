"""The verdict of brokers on damaged pages: what their own page readers made of each file.

Of the old versions it is not known how much a reader had handed out before it threw: null in the verdict.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from editions_of import EDITION_OF
from golden_cases import GoldenCase, cases, damage_verdicts, unpacked

from pagefmt.check.broker_reader import read_as_broker
from pagefmt.codec.pages.page import Page
from pagefmt.editions import Edition


@pytest.mark.parametrize("archive", damage_verdicts("pages"), ids=lambda path: f"{path.parent.name}/{path.name[:-8]}")
def test_damaged_pages_are_read_as_the_broker_reads_them(archive: Path) -> None:
    root = unpacked(archive)
    verdict = json.loads((root / "verdict.json").read_text("utf-8"))
    edition = EDITION_OF[verdict["read_with"]]
    wrong = []
    assert len(verdict["items"]) > 200
    for item in verdict["items"]:
        reading = read_as_broker((root / f"{item['name']}.page").read_bytes(), edition)
        suspects = [{"position": reading.suspect[0], "message": reading.suspect[1]}] if reading.suspect else []
        theirs = (item["records"], item["bytes_read"], item["suspects"], item["error"] is not None)
        records = None if item["records"] is None else reading.records
        bytes_read = None if item["bytes_read"] is None else reading.bytes_read
        ours = (records, bytes_read, suspects, reading.error is not None)
        if ours != theirs:
            wrong.append((item["name"], theirs, ours, reading.error, item["error"]))
    assert wrong == []


@pytest.mark.parametrize("case", cases(), ids=str)
def test_pages_are_read_as_the_broker_reads_them(case: GoldenCase) -> None:
    for store in case.manifest()["stores"]:
        for entry in store["pages"]:
            page = (case.data() / "paging" / store["folder"] / entry["file"]).read_bytes()
            reading = read_as_broker(page, EDITION_OF[case.version])
            suspects = [{"position": reading.suspect[0], "message": reading.suspect[1]}] if reading.suspect else []
            assert (reading.records, reading.bytes_read, suspects) == (
                entry["records"],
                entry["bytes_read"],
                entry["suspects"],
            )
            assert (reading.error is None) == (entry["error"] is None)


NEWER = [path for path in damage_verdicts("pages") if EDITION_OF[path.parent.name] > Edition.ARTEMIS_2_4]


@pytest.mark.parametrize("archive", NEWER, ids=lambda path: f"{path.parent.name}/{path.name[:-8]}")
def test_routes_are_what_the_broker_hands_out(archive: Path) -> None:
    # This holds if the broker's reader did not throw and stops by these rules (2.8.0 and later).
    root = unpacked(archive)
    verdict = json.loads((root / "verdict.json").read_text("utf-8"))
    for item in verdict["items"]:
        if item["error"] is None and item["bytes_read"] is not None:
            page = Page((root / f"{item['name']}.page").read_bytes())
            assert (len(list(page.routes())), page.bytes_read) == (item["records"], item["bytes_read"]), item["name"]
