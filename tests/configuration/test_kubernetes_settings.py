"""Settings of a custom resource are those of a broker that has the same in its files; the table of fields is sound."""

from __future__ import annotations

from pathlib import Path

import yaml
from brokerconf.kubernetes.fields import field_findings
from brokerconf.kubernetes.objects import objects_of
from brokerconf.kubernetes.settings import described_broker
from brokerconf.reading.properties import parse_properties
from brokerconf.reading.reading import read_bytes
from brokerconf.reading.yaml_tree import read_yaml
from brokerconf.settings.address_settings import Values
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.overrides import apply
from hypothesis import given
from hypothesis import strategies as st

from pagefmt.editions import NEWEST

SETTINGS = {
    "deadLetterAddress": ("dead-letter-address", st.sampled_from(["DLQ", "a&b", "x y", "ä"])),
    "maxSizeBytes": ("max-size-bytes", st.sampled_from(["10M", "1GiB", "-1", "4096"])),
    "pageSizeBytes": ("page-size-bytes", st.sampled_from(["1M", "65536"])),
    "maxDeliveryAttempts": ("max-delivery-attempts", st.integers(-1, 20)),
    "addressFullPolicy": ("address-full-policy", st.sampled_from(["PAGE", "BLOCK", "DROP"])),
    "autoCreateQueues": ("auto-create-queues", st.booleans()),
    "defaultMaxConsumers": ("default-max-consumers", st.integers(-1, 5)),
}
MATCHES = st.sampled_from(["#", "orders.#", "orders.*", "orders.eu", "<odd> & 'quoted'"])
WRITTEN = st.lists(
    st.tuples(MATCHES, st.fixed_dictionaries({}, optional={name: values for name, (_, values) in SETTINGS.items()})),
    max_size=4,
    unique_by=lambda each: each[0],
)
PROPERTIES = st.lists(
    st.sampled_from(
        [
            "globalMaxSize=512m",
            "maxDiskUsage = 70",
            "minDiskFree:1G",
            'addressSettings."orders.#".maxSizeBytes=5M',
            "addressSettings.#.redeliveryDelay=7",
            "# a comment",
            "journalMinFiles=3\njournalPoolFiles=\\\n  7",
            "",
        ]
    ),
    max_size=6,
    unique=True,
)
STYLES = st.sampled_from([None, "'", '"', "|", ">"])


def known(values: Values) -> dict[str, object]:
    return {name: value.value for name, value in values.items() if value.origin is not None}


@given(WRITTEN, PROPERTIES, STYLES, st.sampled_from([20, 80]))
def test_a_resource_sets_what_a_file_and_properties_set(
    written: list[tuple[str, dict[str, object]]], properties: list[str], style: str | None, width: int
) -> None:
    resource = {
        "apiVersion": "broker.amq.io/v1beta1",
        "kind": "ActiveMQArtemis",
        "metadata": {"name": "x"},
        "spec": {
            "addressSettings": {"addressSetting": [{"match": match, **values} for match, values in written]},
            "brokerProperties": properties,
        },
    }
    raw = yaml.dump(resource, default_style=style, width=width, allow_unicode=True).encode()
    described = described_broker(raw, "x.yaml")
    ours = EffectiveSettings(described.read("x.yaml", Path(), NEWEST, {}, {}))
    unused = apply(ours, described.entries)

    from xml.sax.saxutils import escape, quoteattr

    def text(value: object) -> str:
        return escape(str(value).lower() if isinstance(value, bool) else str(value))

    settings = "".join(
        f"<address-setting match={quoteattr(match)}>"
        + "".join(f"<{SETTINGS[name][0]}>{text(value)}</{SETTINGS[name][0]}>" for name, value in values.items())
        + "</address-setting>"
        for match, values in written
    )
    xml = (
        '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><address-settings>'
        f"{settings}</address-settings></core></configuration>"
    )
    theirs = EffectiveSettings(
        read_bytes(xml.encode(), "broker.xml", folder=Path(), edition=NEWEST, properties={}, environment={})
    )
    entries = list(parse_properties("".join(f"{line}\n" for line in properties), "broker.properties"))
    assert [entry.key for entry in unused] == [entry.key for entry in apply(theirs, entries)]
    assert known(ours.broker()) == known(theirs.broker())
    for address in ("orders.eu", "orders.us.x", "other", "<odd> & 'quoted'"):
        assert known(ours.address(address)) == known(theirs.address(address))
    lines = raw.decode().splitlines()
    for value in ours.address("orders.eu").values():
        if value.origin is not None:
            position = value.origin.position
            assert 0 < position.line <= len(lines)
            assert position.column <= len(lines[position.line - 1]) + 1
    unknown = [value for value in ours.broker().values() if value.origin is None]
    assert unknown
    assert not any(value.known or value.value is not None for value in unknown)


def test_every_field_of_the_table_is_taken_and_a_letter_more_is_not() -> None:
    table = Path(__file__).parents[2] / "schemas" / "brokerconf" / "facts" / "custom_resources.csv"
    rows = [line.split(";") for line in table.read_text("utf-8").splitlines()[1:]]
    assert len(rows) > 200
    assert len({(resource, path) for resource, path, *_ in rows}) == len(rows)
    samples = {
        "string": "x",
        "integer": 1,
        "number": 1.5,
        "boolean": True,
        "object": {},
        "array": [],
        "map": {"a": "b"},
        "kubernetes": {"a": 1},
    }
    for resource, path, kind, _, until, allowed, _ in rows:
        for letter, sound in (("", True), ("Q", False)):
            if letter and path.endswith("[]"):
                continue
            value: object = allowed.split("|")[0] if allowed else samples[kind]
            for step in reversed(f"{path}{letter}".replace("[]", ".[]").split(".")):
                value = [value] if step == "[]" else {step: value}
            kind_said, version = ("ActiveMQArtemis", "v2alpha5" if until == "v1beta1" else "v1beta1")
            if resource == "address":
                kind_said = "ActiveMQArtemisAddress"
            raw = yaml.dump({"apiVersion": f"broker.amq.io/{version}", "kind": kind_said, "spec": value})
            (found,), _ = objects_of(read_yaml(raw.encode(), "x.yaml"))
            findings = [one for one in field_findings(found) if one.rule != "kubernetes-field-missing"]
            assert [one.rule for one in findings] == ([] if sound else ["kubernetes-unknown-field"]), (path, findings)
            if not sound and kind_said == "ActiveMQArtemis" and "." not in path:
                assert path in findings[0].help
