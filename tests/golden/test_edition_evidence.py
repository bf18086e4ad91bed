"""The likely writer of a directory, against the broker that did write it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from editions_of import EDITION_OF
from golden_cases import GoldenCase, cases
from program import call

from pagefmt.directory.edition_evidence import likely_writer
from pagefmt.editions import NEWEST, Edition
from pagefmt.vectors import load_state


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_writer_shows(case: GoldenCase) -> None:
    data = case.data()
    state = load_state(data / "paging", data / "journal", data / "bindings")
    edition = EDITION_OF[case.version]
    assert likely_writer(state.bindings, state.journal) == (NEWEST if edition >= Edition.ARTEMIS_2_44 else edition)


@pytest.mark.parametrize("case", cases("hornetq-2.4.7", "artemis-1.5.6", "2.10.1"), ids=str)
def test_the_verify_commands_judge_by_the_same_edition(case: GoldenCase) -> None:
    data, name = case.data(), EDITION_OF[case.version].value
    notes = {call(what, "verify", data).err.splitlines()[-1] for what in ("pages", "large", "journal", "messages")}
    assert notes == {f"note: judged as {name} (its journals show what such a release writes); --edition names another"}
    pages = json.loads(call("pages", "verify", data, "--format", "json").out)["pages"]
    assert {page["edition"] for page in pages} <= {name}


@pytest.mark.parametrize(("version", "name"), [("hornetq-2.4.7", "artemis-1.5"), ("2.10.1", "artemis-2.56")])
def test_pages_alone_show_their_layout(version: str, name: str, tmp_path: Path) -> None:
    (store,) = (path.parent for path in (GoldenCase(version, "torn").data() / "paging").glob("*/address.txt"))
    said = call("pages", "verify", shutil.copytree(store, tmp_path / "store")).err
    assert f"judged as {name} (the newest" in said
