"""``recover`` as it is called: its commands do what they say, forth and back, and names come from the configuration."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from broken_directories import broken
from compactions import tree
from golden_cases import GoldenCase
from program import call

CASE = GoldenCase("2.56.0", "two-addresses")


def instance(folder: Path, way: str) -> Path:
    """Create a broker's folder with a configuration, and directories broken in the given way."""
    broken(CASE.data(), way, folder / "data")
    (folder / "etc").mkdir()
    text = (CASE.root() / "broker.xml").read_text("utf-8")
    (folder / "etc" / "broker.xml").write_text(text, "utf-8")
    return folder


def carried_out(commands: list[str]) -> None:
    for command in commands:
        if "mv " in command:
            subprocess.run(["sh", "-c", command], check=True)


@pytest.mark.parametrize("way", ["several", "no bindings folder", "everything"])
def test_the_commands_lead_there_and_back(way: str, tmp_path: Path) -> None:
    broker = instance(tmp_path / "a broker", way)
    before = tree(broker / "data")
    told = json.loads(call("recover", broker, "--out", tmp_path / "it's new", "--format", "json").out)
    assert tree(broker / "data") == before
    carried_out([command for step in told["next"] for command in step["commands"]])
    after = call("recover", broker, "--format", "json")
    assert not any(step["mends"] for step in json.loads(after.out)["steps"])
    carried_out(told["undo"])
    left = {name: content for name, content in tree(broker / "data").items() if ".recovered/" not in name}
    assert left == before


EAP_6 = {
    "bindings": "messagingbindings",
    "journal": "messagingjournal",
    "large-messages": "messaginglargemessages",
    "paging": "messagingpaging",
}


def eap_6(folder: Path, way: str) -> tuple[Path, Path]:
    """Create a broken and a sound HornetQ data directory, both with the folder names of JBoss EAP 6."""
    case = GoldenCase("hornetq-2.4.7", "large")
    found = broken(case.data(), way, folder / "damaged"), case.copy(folder)
    for data in found:
        for old, new in EAP_6.items():
            if (data / old).exists():
                (data / old).rename(data / new)
    return found


@pytest.mark.parametrize("way", ["page cut", "no bindings folder"])
def test_folders_have_the_names_that_they_had(way: str, tmp_path: Path) -> None:
    damaged, sound = eap_6(tmp_path, way)
    new = tmp_path / "new"
    told = json.loads(call("recover", damaged, "--out", new, "--format", "json").out)
    assert {path.name for path in new.iterdir()} - {"aside"} == set(EAP_6.values())
    carried_out([command for step in told["next"] for command in step["commands"]])
    assert call("recover", damaged).status == 0
    for what in ("pages", "journal"):
        assert call(what, "compact", sound, "--out", tmp_path / what).status == 0
        assert {path.name for path in (tmp_path / what).iterdir()} == set(EAP_6.values())
    assert call("convert", sound, "--edition", "artemis-2.56", "--out", tmp_path / "artemis").status in (0, 1)
    assert {path.name for path in (tmp_path / "artemis").iterdir()} == set(EAP_6)


def test_names_of_lost_queues_are_those_of_the_configuration(tmp_path: Path) -> None:
    broker = instance(tmp_path / "broker", "no bindings files")
    told = json.loads(call("recover", broker, "--format", "json").out)
    by_configuration = {each["queue"] for each in told["queues"] if each["name_from"] == "configuration"}
    assert by_configuration == {queue["name"] for queue in CASE.drain()["queues"] if queue["delivered"]}
    alone = json.loads(call("recover", broker / "data" / "paging" / "..", "--format", "json").out)
    assert [each["id"] for each in alone["queues"]] == [each["id"] for each in told["queues"]]


@pytest.mark.parametrize("way", ["several", "everything", "no journal files", "last page undecodable"])
def test_messages_are_named(way: str, tmp_path: Path) -> None:
    broker, told = instance(tmp_path / "broker", way), tmp_path / "messages.jsonl"
    answer = call("recover", broker, "--format", "json", "--list", told)
    found = json.loads(answer.out)
    lines = [json.loads(line) for line in told.read_text("utf-8").splitlines()]
    assert found["messages"] == lines[:1000]
    assert found["named"] == {
        outcome: sum(line["outcome"] == outcome for line in lines) for outcome in ("lost", "again", "unsure")
    }
    queues = {queue["id"]: queue for queue in found["queues"]}
    for line in lines:
        assert (line["queue"], line["address"]) == tuple(queues[line["queue_id"]][key] for key in ("queue", "address"))
    assert bool(lines) == (way != "several")
    assert f"{len(lines)} message" in answer.err


def test_the_list_is_not_written_into_what_is_read(tmp_path: Path) -> None:
    broker = instance(tmp_path / "broker", "several")
    before = tree(broker)
    answer = call("recover", broker, "--list", broker / "data" / "journal" / "x")
    assert answer.status == 2 and "only read" in answer.err
    assert tree(broker) == before


def test_where_nothing_is_damaged_nothing_is_written(tmp_path: Path) -> None:
    answer = call("recover", CASE.data(), "--out", tmp_path / "new")
    assert (answer.status, answer.out) == (0, "nothing is damaged: there is nothing to recover\n")
    assert not (tmp_path / "new").exists()


def test_control_characters_of_addresses_do_not_reach_the_terminal(tmp_path: Path) -> None:
    broker = instance(tmp_path / "broker", "no bindings files")
    for path in broker.rglob("address.txt"):
        path.write_bytes(b"\x1b[31m*red\x07\n")
    answer = call("recover", broker)
    assert answer.status == 1 and not {"\x1b", "\x07"} & set(answer.out + answer.err)


def test_what_is_no_data_directory_is_refused() -> None:
    answer = call("recover", CASE.data() / "paging")
    assert answer.status == 2 and "name the instance or the data directory" in answer.err
