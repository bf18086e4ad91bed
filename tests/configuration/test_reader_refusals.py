"""What passes the schema and stops a broker's reader: each answer as 2.56.0, 2.44.0 and 2.28.0 gave it."""

from __future__ import annotations

from pathlib import Path

import pytest
from brokerconf.checks.value_checks import value_findings
from brokerconf.reading.reading import read_bytes
from brokerconf.settings.effective import EffectiveSettings

from pagefmt.editions import Edition

EDITIONS = (Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_44, Edition.ARTEMIS_2_56)
GOOD = "-5a2376c61c668aaf"
TRIMMED = {
    "cluster": "<cluster-password>{}</cluster-password>",
    "jdbc-user": "<store><database-store><jdbc-user>{}</jdbc-user></database-store></store>",
    "jdbc-password": "<store><database-store><jdbc-password>{}</jdbc-password></database-store></store>",
}
AS_WRITTEN = {
    "bridge": "<bridges><bridge name='b'><queue-name>q</queue-name><password>{}</password></bridge></bridges>",
    "federation": "<federations><federation name='f' password='{}'><upstream name='u'/></federation></federations>",
    "upstream": "<federations><federation name='f'><upstream name='u' password='{}'/></federation></federations>",
    "downstream": "<federations><federation name='f'><downstream name='u' password='{}'/></federation></federations>",
}
CONNECTION = "<broker-connections><amqp-connection uri='{}' name='x' {}/></broker-connections>"
AMQP = {name: CONNECTION.format("tcp://a:1", f"{name}='{{}}'") for name in ("user", "password")}
# the text, and whether an element, an attribute and an AMQP connection take it; with mask-password true
ALONE = [
    (f"ENC({GOOD})", True, True, True), (f"ENC({GOOD.upper()})", True, True, True), ("ENC(xyz)", False, False, False),
    ("ENC()", False, False, False), ("ENC(--5a)", False, False, False), ("ENC( 5a)", False, False, False),
    ("ENC(5a)ENC(5a)", False, False, False), ("ENC(5a))", False, False, False), (" ENC(zz)", False, True, True),
    ("ENC(zz)x", True, True, True), ("enc(zz)", True, True, True), ("geheim", True, True, True),
    ("ENC(+a5dc8939e3997551)", True, True, True),
]  # fmt: skip
MASKED = [
    (f"ENC({GOOD})", False, False, False), (GOOD, True, True, True), (f" {GOOD}", True, False, True),
    ("geheim", False, False, True), ("ENC(zz)", False, False, False),
]  # fmt: skip


def refusals(inside: str, edition: Edition) -> list[str]:
    core = f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{inside}</core></configuration>'
    document = read_bytes(core.encode(), "broker.xml", folder=Path(), edition=edition, properties={}, environment={})
    return [finding.message for finding in value_findings(document, EffectiveSettings(document))]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(
    ("before", "answers"),
    [("", ALONE), ("<mask-password>true</mask-password>", MASKED)],
    ids=["alone", "mask-password"],
)
def test_masked_passwords_that_stop_the_start(
    before: str, answers: list[tuple[str, bool, bool, bool]], edition: Edition
) -> None:
    wrong = []
    for text, *taken in answers:
        for places, expected in zip((TRIMMED, AS_WRITTEN, AMQP), taken, strict=True):
            for name, place in places.items():
                found = refusals(before + place.format(text), edition)
                if bool(found) is expected or any("geheim" in message or "zz" in message for message in found):
                    wrong.append((name, text, found))
    assert wrong == []


@pytest.mark.parametrize(
    "before", ["<mask-password>false</mask-password>", "<password-codec>org.Codec</password-codec>"]
)
def test_nothing_is_unmasked_or_another_codec_does(before: str) -> None:
    for place in (TRIMMED | AS_WRITTEN | AMQP).values():
        assert refusals(before + place.format("ENC(zz)"), Edition.ARTEMIS_2_56) == []


def test_an_amqp_connection_of_an_older_broker_keeps_its_password_as_it_is() -> None:
    for place in AMQP.values():
        assert refusals(place.format("ENC(zz)"), Edition.ARTEMIS_2_17) == []


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(
    ("uri", "taken"),
    [
        ("tcp://a:1", True),
        ("tcp:a", True),
        ("(tcp://a:1,tcp://b:2)", True),
        ("(tcp://a:1,vm://0)", True),
        ("tcp://a:1#vm://0", True),
        ("tcp://a:1,tcp://b:2", True),
        ("tcp://a:1)#", True),
        ("vm://0", False),
        ("vm:0", False),
        ("(vm://0,tcp://a:1)", False),
        ("TCP://a:1", False),
        ("amqp://a:1", False),
        ("ssl://a", False),
        ("http://a:1", False),
        ("udp://a:1", False),
        ("jgroups://a", False),
        ("failover:(tcp://a:1)", False),
        ("static:(tcp://a:1)", False),
        ("tcp://", False),
        ("a", False),
        ("", False),
        ("tcp://localhost:1?trustStorePassword=ENC(xyz)", True),
    ],
)
def test_addresses_of_amqp_connections(uri: str, taken: bool, edition: Edition) -> None:
    place = (
        f"<broker-connections><amqp-connection uri='{uri}' name='x'><mirror/></amqp-connection></broker-connections>"
    )
    assert (refusals(place, edition) == []) is taken
