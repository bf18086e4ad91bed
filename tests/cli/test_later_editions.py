"""A release after the newest known edition is accepted, behaves as that one, and a note says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pagectl.app import run

from pagefmt.directory.fleet import fleet_of
from pagefmt.editions import NEWEST, Edition

CONFIGURATION = (
    '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><journal-type>X</journal-type></core>'
    "</configuration>"
)


@pytest.mark.parametrize("name", ["artemis-2.57", "artemis-2.58", "artemis-2.100"])
def test_a_later_release_behaves_as_the_newest(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Edition(name) is NEWEST
    path = tmp_path / "broker.xml"
    path.write_text(CONFIGURATION)
    reports = []
    for edition in (name, NEWEST.value):
        assert run(["config", "lint", str(path), "--edition", edition, "--format", "json"]) == 1
        out, err = capsys.readouterr()
        reports.append(json.loads(out))
        assert (f"note: {name}: treated as {NEWEST.value}, the newest" in err) == (edition == name)
    assert reports[0] == reports[1]


def test_known_editions_are_taken_without_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broker.xml"
    path.write_text(CONFIGURATION)
    for edition in Edition:
        run(["config", "lint", str(path), "--edition", edition.value, "--format", "json"])
        out, err = capsys.readouterr()
        assert [file["edition"] for file in json.loads(out)["files"]] == [edition.value]
        assert "treated as" not in err


@pytest.mark.parametrize("name", ["artemis-3.0", "artemis-2", "artemis-2.99999", "artemis-2.57-SNAPSHOT"])
def test_other_names_are_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broker.xml"
    path.write_text(CONFIGURATION)
    assert run(["config", "lint", str(path), "--edition", name]) == 2
    assert "--edition" in capsys.readouterr().err


def test_project_files_and_lists_take_later_releases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pagectl.toml").write_text('edition = "artemis-2.57"\n')
    (tmp_path / "broker.xml").write_text(CONFIGURATION)
    assert run(["config", "lint", str(tmp_path / "broker.xml")]) == 1
    assert "allowed: ASYNCIO" in capsys.readouterr().out
    listing = tmp_path / "list.csv"
    listing.write_text(f"path,edition\n{tmp_path},artemis-2.57\n")
    assert [one.edition for one in fleet_of([], listing)] == [NEWEST]
