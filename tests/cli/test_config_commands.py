"""``config effective``, ``diff``, ``capacity`` and ``explain``: what they answer, and their statuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from brokerconf.instance.recognition import OTHER_FILES
from brokerconf.settings.settings_model import settings
from golden_cases import GoldenCase
from pagectl.app import run

from pagefmt.editions import NEWEST

BROKER = """<configuration xmlns="urn:activemq">
<core xmlns="urn:activemq:core">
<cluster-password>hidden-word</cluster-password>
<global-max-size>64M</global-max-size>
<address-settings>
<address-setting match="#"><max-size-bytes>1M</max-size-bytes><page-size-bytes>64K</page-size-bytes></address-setting>
<address-setting match="a.#"><max-size-bytes>2M</max-size-bytes>
<page-limit-bytes>1M</page-limit-bytes><page-full-policy>FAIL</page-full-policy></address-setting>
</address-settings>
<addresses><address name="a.b"><anycast><queue name="q1"/><queue name="q2"/></anycast></address></addresses>
</core></configuration>
"""


@pytest.fixture
def broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("broker.xml").write_text(BROKER)
    return Path("broker.xml")


def answer(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 0) -> str:
    assert run(["config", *argv]) == status, capsys.readouterr().err
    out, err = capsys.readouterr()
    assert "hidden-word" not in out + err
    return out


def answered(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 0) -> Any:
    return json.loads(answer(capsys, *argv, "--format", "json", status=status))


def test_effective_json(broker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "effective", str(broker), "a.b", "x")
    a, x = (found["addresses"][name]["settings"] for name in ("a.b", "x"))
    assert a["max-size-bytes"] == {"value": 2 << 20, "source": {"file": "broker.xml", "line": 7, "match": "a.#"}}
    assert a["page-size-bytes"]["source"]["match"] == "#"
    assert a["max-read-page-bytes"] == {"value": 128 << 10, "source": "default"}
    assert x["max-size-bytes"]["value"] == 1 << 20
    assert found["broker"]["global-max-size"] == {"value": 64 << 20, "source": {"file": "broker.xml", "line": 4}}
    assert found["broker"]["max-disk-usage"] == {"value": 90, "source": "default"}


def test_effective_text(broker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = answer(capsys, "effective", str(broker), "a.b")
    assert "a.b (matches, the most specific first: 'a.#', '#')" in out
    assert "2097152 bytes (2.0 MiB)" in out and "broker.xml:7, match 'a.#'" in out
    assert "expiry-delay" not in out
    assert "expiry-delay" in answer(capsys, "effective", str(broker), "a.b", "--all")


def test_effective_takes_properties_and_overrides(broker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("broker.properties").write_text('addressSettings."a.b".maxSizeBytes=5M\n')
    found = answered(capsys, "effective", str(broker), "a.b", "-D", "brokerconfig.globalMaxSize=7")
    value = found["addresses"]["a.b"]["settings"]["max-size-bytes"]
    assert value == {"value": 5 << 20, "source": {"file": "broker.properties", "line": 1, "match": "a.b"}}
    assert found["broker"]["global-max-size"]["value"] == 7


def test_effective_with_a_heap(capsys: pytest.CaptureFixture[str], broker: Path) -> None:
    broker.write_text(BROKER.replace("64M", "-1"))
    for option, value in ((["--heap", "2G"], 1 << 30), ([], None)):
        assert answered(capsys, "effective", str(broker), *option)["broker"]["global-max-size"]["value"] == value


def test_diff_is_by_effect(broker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same = BROKER.replace("64M", "65536 k").replace("<core", "<!-- c --><core")
    Path("same.xml").write_text(same)
    assert answered(capsys, "diff", str(broker), "same.xml") == {
        "broker": [],
        "addresses": {},
        "stops_start": {"a": [], "b": []},
    }
    assert "no difference" in answer(capsys, "diff", str(broker), "same.xml")
    Path("other.xml").write_text(BROKER.replace("2M", "3M").replace("64M", "32M"))
    found = answered(capsys, "diff", str(broker), "other.xml", status=1)
    assert [one["setting"] for one in found["broker"]] == ["global-max-size"]
    assert set(found["addresses"]) == {"a.b", "a.\N{MIDDLE DOT}"}
    one = answered(capsys, "diff", str(broker), "other.xml", "--address", "a.z", status=1)
    assert one["broker"] == [] and list(one["addresses"]) == ["a.z"]
    assert "max-size-bytes" in answer(capsys, "diff", str(broker), "other.xml", status=1)


def test_capacity(broker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "capacity", str(broker), "--heap", "64M", "--disk", "1G")
    by_name = {one["address"]: one for one in found["addresses"]}
    # seventeen pages: the one over the limit exists too; two queues read 128K ahead, and the open page
    assert (by_name["a.b"]["pages"], by_name["a.b"]["disk"]) == (17, 17 << 16)
    assert by_name["a.b"]["read_ahead"] == 2 * (128 << 10) + (64 << 10)
    assert by_name["\N{MIDDLE DOT}"]["disk"] is None
    assert found["disk_limit"] == (1 << 30) * 90 // 100
    said = " ".join(found["first"])
    assert "not below the heap" in said and "limited only by the disk" in said
    out = answer(capsys, "capacity", str(broker))
    assert "producers are refused" in out and "pages until the disk limit" in out


def test_capacity_of_a_database_store(broker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = "<store><database-store></database-store></store><global-max-size>"
    broker.write_text(
        BROKER.replace("<global-max-size>", store).replace("64K", "10M").replace(">1M</page-l", ">1G</page-l")
    )
    found = answered(capsys, "capacity", str(broker), "--anyway")
    assert {one["address"]: one["pages"] for one in found["addresses"]}["a.b"] == (1 << 30) // 102400 + 1


@pytest.mark.parametrize("name", sorted({setting.name for setting in settings()}))
def test_every_setting_is_explained(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = answer(capsys, "explain", name)
    assert name in out and "default:" in out and "since:" in out


def test_what_only_the_schema_knows_is_explained_by_it(capsys: pytest.CaptureFixture[str]) -> None:
    out = answer(capsys, "explain", "connection-ttl-override")
    assert "type long, default -1" in out and "takes: -1 or above 0" in out and NEWEST.value in out
    place = answered(capsys, "explain", "message-load-balancing")["schema"][0]
    assert place["words"] and place["in"] == "cluster-connectionType"


def test_an_element_is_explained_by_the_component_model(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "explain", "core/address-settings/address-setting")["elements"][0]
    assert (found["min"], found["max"], found["order"], found["first"]) == (0, None, "all", "hornetq-2.4")
    assert found["attributes"][0] == {
        "name": "match",
        "type": "string",
        "words": None,
        "default": None,
        "required": True,
        "first": "hornetq-2.4",
        "last": NEWEST.value,
    }
    assert {"name": "max-size-bytes", "min": 0, "max": 1} in found["children"]
    old = answered(capsys, "explain", "address-setting", "--edition", "artemis-1.5")["elements"][0]
    assert len(old["children"]) < len(found["children"]) and old["edition"] == "artemis-1.5"
    choice = answered(capsys, "explain", "bridges/bridge/static-connectors")["elements"]
    assert [one["stands_for"] for one in choice] == ["discovery-type"]


def test_a_name_of_several_elements_lists_their_places(capsys: pytest.CaptureFixture[str]) -> None:
    out = answer(capsys, "explain", "queue")
    assert "name one by its path" in out and "core/addresses/address/anycast/queue: any number of times" in out
    assert "attribute ring-size: long, optional" in answer(capsys, "explain", "anycast/queue")
    assert "memory that one address may use" in answer(capsys, "explain", "address-setting/max-size-bytes")
    assert run(["config", "explain", "amqp-connection", "--edition", "hornetq-2.4"]) == 2
    assert "hornetq-2.4 has no such element" in capsys.readouterr().err


def test_explain_rules_and_what_is_near(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Not in:" in answer(capsys, "explain", "page-limit-unused")
    assert answered(capsys, "explain", "max-size-bytes")["settings"][0]["unit"] == "bytes"
    assert run(["config", "explain", "max-size-byte"]) == 2
    assert "did you mean 'max-size-bytes'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv",
    [
        ["effective", "nowhere.xml", "a"],
        ["effective", "broker.xml", "--edition", "9"],
        ["diff", "broker.xml"],
        ["effective", "broker.xml", "-D", "x"],
        ["capacity", "broker.xml", "--heap", "much"],
        ["capacity", "broker.xml", "--disk", "-1"],
        ["effective", "broker.xml", "--cwd", "nowhere"],
        ["effective", "bad.xml"],
    ],
)
def test_calls_that_cannot_be_carried_out(broker: Path, argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.xml").write_text("<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>")
    assert run(["config", *argv]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "Traceback" not in err


def test_a_file_without_core_is_all_defaults_and_says_so(broker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broker.write_text(BROKER.replace("<core", "<c:core xmlns:c='urn:activemq:core'").replace("</core", "</c:core"))
    assert run(["config", "effective", str(broker), "a", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["addresses"]["a"]["settings"]["max-size-bytes"]["source"] == "default"
    assert "has no <core>" in err


@pytest.mark.parametrize("name", sorted(OTHER_FILES))
def test_other_files_of_an_instance_are_refused(name: str, broker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = broker.with_name(name)
    other.write_text("<broker/>" if name.endswith(".xml") else "admin = hidden-word\n")
    meant = "hornetq-configuration.xml" if name.startswith("hornetq") else "broker.xml"
    for call in (["lint", name], ["effective", name, "a"], ["diff", name, "broker.xml"], ["lint", "broker.xml", name]):
        assert run(["config", *call]) == 2
        refused = [line for line in capsys.readouterr().err.splitlines() if line.startswith("pagectl: ")]
        assert len(refused) == 1 and f"{name}: no configuration of the broker: it says " in refused[0]
        assert meant in refused[0] and "hidden-word" not in refused[0]
    other.write_text(BROKER if name.endswith(".xml") else "maxDiskUsage=20\n")
    told_by_content = name.endswith((".xml", ".properties")) and not name.startswith("hornetq-")
    assert run(["config", "lint", "--fail-on", "never", name]) == (0 if told_by_content else 2)


DECLARED = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><address-settings>
<address-setting match="sensor.#"><default-ring-size>10</default-ring-size>
<default-purge-on-no-consumers>true</default-purge-on-no-consumers></address-setting>
<address-setting match="#"><max-size-bytes>1M</max-size-bytes>
<dead-letter-address>D</dead-letter-address></address-setting>
</address-settings><addresses><address name="sensor.a"><anycast><queue name="sensor.a"/></anycast></address>
<address name="sensor.b"><anycast><queue name="q" ring-size="5" purge-on-no-consumers="true"/></anycast></address>
</addresses></core></configuration>
"""


def test_what_has_no_effect_on_an_address_is_not_shown_as_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broker.xml").write_text(DECLARED)
    names = ("sensor.a", "sensor.b", "sensor.c", "activemq.management", "activemq.management.x")
    found = answered(capsys, "effective", "broker.xml", *names)["addresses"]
    of_queues = {"default-ring-size", "default-purge-on-no-consumers"}
    assert set(found["sensor.a"]["without_effect"]) == of_queues
    assert found["sensor.b"]["without_effect"] == found["sensor.c"]["without_effect"] == {}
    for name in names[3:]:
        assert {"max-size-bytes", "address-full-policy", "page-size-bytes"} <= set(found[name]["without_effect"])
        assert "dead-letter-address" not in found[name]["without_effect"]
    text = answer(capsys, "effective", "broker.xml", "sensor.a")
    rows = text[: text.index("no effect:")]
    assert "default-ring-size" not in rows and "no effect: default-ring-size: sensor.a is declared" in text
    text = " ".join(answer(capsys, "effective", "broker.xml", "activemq.management").split())
    assert "1048576" not in text and "no effect: max-size-bytes: addresses that begin with" in text
    plain = '<address-settings><address-setting match="#"><max-size-bytes>1M</max-size-bytes></address-setting>'
    Path("broker.xml").write_text(
        f"{DECLARED.partition('<address-settings>')[0]}{plain}</address-settings></core></configuration>"
    )
    old = answered(capsys, "effective", "broker.xml", "activemq.management", "--edition", "artemis-2.4")
    assert "max-size-bytes" not in old["addresses"]["activemq.management"]["without_effect"]


def test_capacity_leaves_out_management_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    setting = '<address-setting match="activemq.management.#"><max-size-bytes>10M</max-size-bytes></address-setting>'
    Path("broker.xml").write_text(DECLARED.replace("<address-settings>", f"<address-settings>{setting}"))
    found = answered(capsys, "capacity", "broker.xml")
    assert not [one for one in found["addresses"] if one["address"].startswith("activemq.management")]
    assert any("left out" in said for said in found["first"])


def test_capacity_knows_the_disk_of_an_instance_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = GoldenCase("2.56.0", "basic")
    case.lay_out(tmp_path / "broker")
    (tmp_path / "broker" / "etc").mkdir()
    (tmp_path / "broker" / "broker.xml").rename(tmp_path / "broker" / "etc" / "broker.xml")
    by_instance = answered(capsys, "capacity", str(tmp_path / "broker"))
    by_data = answered(capsys, "capacity", str(tmp_path / "broker"), "--data", str(tmp_path / "broker" / "data"))
    assert by_instance == by_data
    assert sum(one["on_disk"] for one in by_instance["addresses"]) > 0
    alone = answered(capsys, "capacity", str(tmp_path / "broker" / "etc" / "broker.xml"))
    assert {one["on_disk"] for one in alone["addresses"]} == {None}


def test_a_line_of_the_log_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    out = answer(capsys, "explain", "AMQ222039")
    assert "messages to an address are dropped" in out and "drop-policy" in out
    assert "see: pagectl config effective FILE ADDRESS" in out
    (found,) = answered(capsys, "explain", "2026-11-27 WARN AMQ222039: Messages sent to address 'a'")["log"]
    assert found["number"] == "222039" and "max-size-bytes" in found["settings"]
    assert answer(capsys, "explain", "HQ224000").startswith("HQ224000: the broker does not start")
    assert run(["config", "explain", "AMQ999999"]) == 2
    assert "AMQ999999: no line of the log" in capsys.readouterr().err
