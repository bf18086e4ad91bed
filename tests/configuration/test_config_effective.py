"""The settings in force against those that real brokers resolved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from brokerconf.reading.properties import parse_properties
from brokerconf.reading.reading import read, read_bytes
from brokerconf.settings.effective import EffectiveSettings, wildcard_routing
from brokerconf.settings.overrides import apply
from brokerconf.settings.settings_model import Scope, in_scope
from config_cases import EDITIONS, configs
from pagectl.reports.config_effective import EffectiveSetting, SettingSource

from pagefmt.editions import Edition

# Not in any schema: nothing in a file sets it.
UNSETTABLE = {"queuePrefetch"}


def pairs() -> list[dict[str, Any]]:
    return [pair for name in ("effective", "order", "random") for pair in _read(f"effective/{name}.json")]


def _read(name: str) -> list[dict[str, Any]]:
    path = configs() / name
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else []
    return found


def faults(pair: dict[str, Any]) -> list[str]:
    options = dict(one[2:].split("=", 1) for one in pair["jvm_options"].split() if one.startswith("-D"))
    edition = EDITIONS[pair["broker"]]
    document = read(configs() / pair["config"], edition=edition, properties=options, environment={})
    settings = EffectiveSettings(document, heap=pair["jvm_max_memory"], libaio=False)
    resolved = pair["resolved"] if "," in pair["address"] else {pair["address"]: pair["resolved"]}
    wrong = [fault for address, want in resolved.items() for fault in _address_faults(settings, address, want)]
    got = {
        one.bean: settings.broker()[one.name].value for one in in_scope(Scope.BROKER).values() if one.known_in(edition)
    }
    if edition > Edition.ARTEMIS_1_5:
        got["wildcardRoutingEnabled"] = wildcard_routing(document.core, edition)
    wrong += [f"{k}: {got.get(k)} for {v}" for k, v in pair["server"].items() if (got.get(k) or "") != (v or "")]
    return wrong


def _address_faults(settings: EffectiveSettings, address: str, want: dict[str, Any]) -> list[str]:
    values = settings.address(address)
    got = {one.bean: values[one.name].value for one in in_scope(Scope.ADDRESS).values() if one.name in values}
    assert set(want) - UNSETTABLE == set(got)
    return [f"{address} {key}: {got[key]} for {want[key]}" for key in got if got[key] != want[key]]


def test_every_pair_is_as_the_broker_resolves_it() -> None:
    wrong = {f"{p['broker']} {p['config']} {p['address']}": found for p in pairs() if (found := faults(p))}
    assert wrong == {}
    assert len(pairs()) >= 225


def settings_of(text: str, edition: Edition = Edition.ARTEMIS_2_56) -> EffectiveSettings:
    raw = f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{text}</core></configuration>'.encode()
    return EffectiveSettings(
        read_bytes(raw, "broker.xml", folder=Path(), edition=edition, properties={}, environment={})
    )


def setting(match: str, text: str) -> str:
    return f'<address-setting match="{match}">{text}</address-setting>'


def test_of_two_matches_alike_the_first_counts_since_2_18_and_the_last_before() -> None:
    twice = "".join(setting("a", f"<max-size-bytes>{n}</max-size-bytes>") for n in (1, 2))
    text = f"<address-settings>{twice}</address-settings>"
    assert settings_of(text).address("a")["max-size-bytes"].value == 1
    assert settings_of(text, Edition.ARTEMIS_2_17).address("a")["max-size-bytes"].value == 2
    assert len(settings_of(text).duplicates) == 1


def test_sources_name_line_and_match() -> None:
    text = f"<address-settings>\n{setting('a.#', '<max-size-bytes>7</max-size-bytes>')}</address-settings>"
    value = settings_of(text).address("a.b")["max-size-bytes"]
    name = "max-size-bytes"
    source = SettingSource(file="broker.xml", line=2, match="a.#")
    assert EffectiveSetting.of(value, name) == EffectiveSetting(value=7, source=source)
    assert EffectiveSetting.of(settings_of(text).address("b")[name], name) == EffectiveSetting(
        value=-1, source="default"
    )


@pytest.mark.parametrize(
    ("key", "value", "name", "expected"),
    [
        ("maxDiskUsage", "101", "max-disk-usage", 101),
        ("globalMaxSize", "5M", "global-max-size", 5 << 20),
        ("globalMaxSize", "-1", "global-max-size", -1),
        ("journalFileSize", "5M", "journal-file-size", 0),
    ],
)
def test_properties_over_the_broker(key: str, value: str, name: str, expected: int) -> None:
    settings = settings_of("<max-disk-usage>50</max-disk-usage>")
    assert apply(settings, parse_properties(f"{key}={value}", "broker.properties")) == []
    assert settings.broker()[name].value == expected


def test_properties_over_addresses() -> None:
    settings = settings_of(
        f"<address-settings>{setting('#', '<page-size-bytes>1M</page-size-bytes>')}</address-settings>"
    )
    text = (
        'addressSettings."a.b".maxSizeBytes=1K\naddressSettings.#.pageSizeBytes=2M\naddressSettings.a.b.maxSizeBytes=3'
    )
    unused = apply(settings, parse_properties(text, "broker.properties"))
    assert [entry.key for entry in unused] == ["addressSettings.a.b.maxSizeBytes"]
    assert settings.address("a.b")["max-size-bytes"].value == 1024
    assert settings.address("x")["page-size-bytes"].value == 0


def test_half_of_the_heap_unless_it_is_not_known() -> None:
    assert settings_of("").broker()["global-max-size"].value is None
    assert settings_of("<global-max-size>-1</global-max-size>").broker()["global-max-size"].value is None


def test_a_setting_of_the_broker_is_taken_from_any_depth() -> None:
    text = f"<address-settings>{setting('#', '<id-cache-size>77</id-cache-size>')}</address-settings>"
    assert settings_of(text).broker()["id-cache-size"].value == 77


def test_a_match_that_would_never_come_to_an_end_is_not_tried() -> None:
    text = (
        "<address-settings>" + setting("(a+)+(a+)+.*.b", "<max-size-bytes>1</max-size-bytes>") + "</address-settings>"
    )
    assert settings_of(text).address("a" * 60 + "!")["max-size-bytes"].value == -1
