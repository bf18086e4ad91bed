"""``config drift`` on directories of real brokers and on the example of a queue that was taken out of broker.xml."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from golden_cases import GoldenCase, cases
from harmed import golden, json_of, no_trace, snapshot
from program import ROOT, call

LISTENER = "event.org.candlepin.audit.DatabaseListener"


@pytest.fixture
def candlepin(tmp_path: Path) -> Path:
    subprocess.run(["sh", str(ROOT / "examples" / "unpack.sh"), str(tmp_path)], check=True)
    return tmp_path / "candlepin"


def drift(place: Path, *words: str | Path) -> dict[str, Any]:
    answer = call("config", "drift", place, *words, "--format", "json")
    found: dict[str, Any] = json_of(answer)
    assert answer.status == bool(found["only_on_disk"] or found["only_declared"] or found["different"])
    return found


def test_a_queue_that_was_taken_out_stays_and_fills(candlepin: Path) -> None:
    before = snapshot(candlepin)
    (left,) = drift(candlepin)["only_on_disk"]
    assert (left["queue"], left["origin"], left["messages"]) == (LISTENER, "configuration", 80)
    assert left["address_page_bytes"] > 70_000
    assert left["deleted"] == {
        "in_force": False,
        "config-delete-queues=FORCE": True,
        "config-delete-addresses=FORCE": False,
    }
    assert snapshot(candlepin) == before
    policy = "<address-full-policy>"
    changed(candlepin, policy, f"<config-delete-queues>FORCE</config-delete-queues>{policy}")
    (left,) = drift(candlepin)["only_on_disk"]
    assert left["deleted"]["in_force"]


def test_dropping_it_settles_it(candlepin: Path, tmp_path: Path) -> None:
    """Assert that the new data has no difference left, and that the broker creates a declared queue again."""
    new = tmp_path / "new"
    assert call("queue", "drop", candlepin, LISTENER, "--out", new).status == 0
    shutil.rmtree(candlepin / "data")
    new.rename(candlepin / "data")
    assert drift(candlepin)["only_on_disk"] == []
    told = json_of(call("queue", "drop", candlepin, "jobs", "--format", "json"))
    assert re.fullmatch(r".*broker\.xml:\d+(:\d+)?", told["declared"])
    assert "creates it again, empty" in call("queue", "drop", candlepin, "jobs").out


def changed(instance: Path, old: str, new: str) -> None:
    path = instance / "etc" / "broker.xml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_declared_again_nothing_differs(candlepin: Path) -> None:
    changed(candlepin, "<multicast>", f'<multicast><queue name="{LISTENER}"/>')
    assert drift(candlepin)["only_on_disk"] == []
    changed(candlepin, f'<queue name="{LISTENER}"/>', "")
    properties = candlepin / "etc" / "broker.properties"
    properties.write_text(f'addressConfigurations."event.default".queueConfigs."{LISTENER}".routingType=MULTICAST\n')
    assert drift(candlepin, "--properties", str(properties))["only_on_disk"] == []


def test_what_is_declared_and_not_there_or_otherwise(candlepin: Path) -> None:
    changed(candlepin, '<queue name="jobs"/>', '<queue name="jobs" max-consumers="1"/><queue name="later"/>')
    found = drift(candlepin)
    assert [each["queue"] for each in found["only_declared"]] == ["later"]
    (one,) = found["different"]
    assert (one["queue"], one["field"], one["on_disk"], one["declared"]) == ("jobs", "max_consumers", -1, 1)
    assert one["changed_at_start"] and one["file"].endswith("broker.xml")
    said = call("config", "drift", candlepin).out
    assert "declared, not on disk: queue job::later" in said
    assert "max_consumers: -1 on disk, 1 declared" in said


@pytest.mark.parametrize("case", cases("2.28.0", "2.44.0", "2.56.0"), ids=str)
def test_what_a_broker_declared_itself_does_not_differ(case: GoldenCase) -> None:
    found = drift(case.data(), "--config", case.root() / "broker.xml")
    assert found["different"] == []
    text = (case.root() / "broker.xml").read_text("utf-8")
    names = set(re.findall(r'<queue name="([^"]*)"', text))
    missing = {each["queue"] for each in found["only_declared"] if each["kind"] == "queue"}
    assert missing <= ({"队列"} if "ascii" in case.name else set()), "the JVM could not read that name"
    left = {each["queue"] for each in found["only_on_disk"] if each["kind"] == "queue"}
    assert not left & names


def test_hornetq_declares_jms_queues_in_a_file_beside(tmp_path: Path) -> None:
    case = GoldenCase("hornetq-2.4.7", "jms")
    folder = case.lay_out(tmp_path / "hornetq")
    words = (folder / "data", "--config", folder / "hornetq-configuration.xml")
    found = drift(*words)
    assert {(each["queue"], each["origin"]) for each in found["only_on_disk"]} == {
        ("jms.queue.jmsTypes", "not recorded"),
        ("jms.queue.reply.to", "not recorded"),
    }
    assert {each["deleted"]["config-delete-queues=FORCE"] for each in found["only_on_disk"]} == {None}
    jms = '<configuration xmlns="urn:hornetq"><queue name="jmsTypes"/><queue name="later"/></configuration>'
    (folder / "hornetq-jms.xml").write_text(jms)
    found = drift(*words)
    assert [each["queue"] for each in found["only_on_disk"]] == ["jms.queue.reply.to"]
    assert [each["queue"] for each in found["only_declared"]] == ["jms.queue.later"]


def test_what_clients_made_is_told_apart() -> None:
    case = golden("mqtt")
    found = drift(case.data(), "--config", case.root() / "broker.xml")
    assert found["only_on_disk"] == []
    assert {each["origin"] for each in found["made_by_clients"]} == {"subscription", "auto-created"}
    assert found["internal"] > 1


def test_unknown_is_not_zero(candlepin: Path) -> None:
    shutil.rmtree(candlepin / "data" / "journal")
    found = drift(candlepin)
    (left,) = found["only_on_disk"]
    assert left["messages"] is None and left["bytes"] is None and "journal" in found["remarks"][0]
    assert re.search(r"^ +\? +\? ", call("config", "drift", candlepin).out, re.MULTILINE)


@pytest.mark.parametrize("harm", ["no bindings", "damaged bindings", "no configuration"])
def test_what_cannot_be_compared_is_refused(harm: str, candlepin: Path, tmp_path: Path) -> None:
    place = candlepin
    if harm == "no bindings":
        shutil.rmtree(candlepin / "data" / "bindings")
    elif harm == "damaged bindings":
        path = sorted((candlepin / "data" / "bindings").glob("*.bindings"))[0]
        content = bytearray(path.read_bytes())
        content[16:40] = b"\xa5" * 24
        path.write_bytes(content)
    else:
        place = golden("mqtt").copy(tmp_path)
    answer = call("config", "drift", place)
    no_trace(answer)
    assert answer.status == 2 and len(answer.err.splitlines()) == 1, answer
