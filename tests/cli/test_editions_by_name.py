"""Releases and products as ``--edition``, and which edition was assumed where nobody named one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from brokerconf.reading.tables import read_table
from golden_cases import GoldenCase
from program import ROOT, call

from pagefmt.editions import PRODUCT_RELEASES, Edition, release_named

# the broker reads this at 2.28, and 2.44 does not
UNFINISHED = (
    "<connectors><connector name='a'>tcp://h:1</connector></connectors><cluster-connections>"
    "<cluster-connection name='c'>\n<connector-ref>a</connector-ref><static-connectors/></cluster-connection>"
    "</cluster-connections>"
)


def configuration(folder: Path, core: str = "") -> Path:
    path = folder / "broker.xml"
    path.write_text(
        f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{core}</core></configuration>'
    )
    return path


@pytest.mark.parametrize(
    ("name", "edition", "words"),
    [
        ("2.38", "artemis-2.28", "lies between that and artemis-2.44"),
        ("artemis-2.38", "artemis-2.28", "lies between that and artemis-2.44"),
        ("artemis-2.28.0", "artemis-2.28", ""),
        ("2.57", "artemis-2.56", "the newest edition"),
        ("amq-7.11", "artemis-2.28", "is Artemis 2.28: "),
        ("amq-7.12", "artemis-2.28", "is Artemis 2.33"),
        ("eap-7.4", "artemis-2.10", "is Artemis 2.16"),
        ("eap-6.4", "hornetq-2.4", "is HornetQ 2.3"),
        ("wildfly-31", "artemis-2.28", "is Artemis 2.31 to 2.40"),
        ("hornetq-2.3", "hornetq-2.4", "the nearest that was measured"),
        ("artemis-2.0", "artemis-2.4", "the nearest that was measured"),
        ("artemis-1.3", "artemis-1.5", "the nearest that was measured"),
    ],
)
def test_a_release_is_the_edition_whose_behaviour_applies(tmp_path: Path, name: str, edition: str, words: str) -> None:
    config = configuration(tmp_path)
    assert Edition(name).value == edition
    answer = call("config", "effective", config, "--edition", name, "--anyway", "--format", "json")
    assert f"treated as {edition}" in answer.err and words in answer.err, answer
    assert (
        json.loads(call("config", "lint", config, "--edition", name, "--format", "json").out)["files"][0]["edition"]
        == edition
    )


@pytest.mark.parametrize("name", ["amq-9.1", "eap-5", "3.1", "2", "wildfly-7", "hornetq-3.0", "2.x", "artemis-"])
def test_what_names_no_release_is_refused(tmp_path: Path, name: str) -> None:
    answer = call("config", "lint", configuration(tmp_path), "--edition", name)
    assert answer.status == 2 and "is no release that is known" in answer.err, answer


def test_servers_are_those_of_the_subsystems() -> None:
    """Assert that a server's name and its configuration's name space give the same edition."""
    seen = 0
    for _, _, edition, _, servers in read_table("servers.csv"):
        for words in servers.replace("JBoss ", "").split(", "):
            product, first, *others = words.split()
            numbers = [first] if not others else [first, others[-1]]
            for number in numbers:
                found = release_named(f"{product.lower()}-{number}")
                if found is None:
                    assert product == "AS"
                    continue
                assert found.edition.value == edition, (product, number)
                seen += 1
    assert seen > 30


def test_the_page_of_commands_has_every_release() -> None:
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    for release in PRODUCT_RELEASES.values():
        row = f"| `{release.name}` | {release.broker} | `{release.edition.value}` |"
        assert row in page, row


def test_a_note_says_what_newer_releases_refuse(tmp_path: Path) -> None:
    config = configuration(tmp_path, UNFINISHED)
    words = "artemis-2.28 (the newest that the file fits; artemis-2.44 and newer refuse it: line 2: <static-connectors>"
    for command in ("lint", "effective", "capacity"):
        answer = call("config", command, config)
        assert words in answer.err, answer
    assert words in call("config", "convert", config, "--to", "json").err
    assert "newer refuse" not in call("config", "lint", config, "--edition", "2.28").err
    assert call("config", "lint", config, "--edition", "artemis-2.44").status == 1


def test_files_of_one_edition_share_a_note(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        configuration(tmp_path / name)
    answer = call("config", "lint", tmp_path)
    assert answer.err.count("checked as artemis-2.56 (the newest that the file fits)") == 1, answer
    assert "checked as" not in call("config", "lint", tmp_path, "--format", "json").err


@pytest.mark.parametrize("command", ["pages verify", "journal verify", "large verify", "queue purge QUEUE --all"])
def test_commands_on_data_name_the_edition_that_they_assume(tmp_path: Path, command: str) -> None:
    data = GoldenCase("2.44.0", "basic").copy(tmp_path)
    queue = json.loads(call("messages", "ls", data, "--format", "json").out)["queues"][0]["queue"]
    words = command.replace("QUEUE", queue).split()
    answer = call(*words[:2], data, *words[2:])
    assert "judged as artemis-2." in answer.err and "--edition names another" in answer.err, answer
    assert "judged as" not in call(*words[:2], data, *words[2:], "--edition", "artemis-2.44").err
    assert "judged as" not in call(*words[:2], data, *words[2:], "--format", "json").err
    assert "judged as" in call("disk", "check", data, "--verbose").out
