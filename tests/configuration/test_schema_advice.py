"""What the schema requires: a missing element is named alone, and what is added as advised is complete."""

from __future__ import annotations

import re

import pytest
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import LintContext

from pagefmt.editions import Edition
from pagefmt.findings import Finding

CORE = '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{}</core></configuration>'
HORNETQ = '<configuration xmlns="urn:hornetq">{}</configuration>'
CONNECTOR = '<connectors><connector name="c">tcp://h:1</connector></connectors>'
STORE = (
    "<store><database-store><jdbc-connection-url>jdbc:x:y</jdbc-connection-url>{}<bindings-table-name>B"
    "</bindings-table-name><message-table-name>M</message-table-name><large-message-table-name>L"
    "</large-message-table-name></database-store></store>"
)


def found(core: str, rule: str, edition: Edition, *, around: str = CORE) -> list[Finding]:
    report = lint(around.format(core).encode(), "broker.xml", LintContext(edition=edition))
    return [one for one in report.findings if one.rule == rule]


LATE = [Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_44, Edition.ARTEMIS_2_56]


@pytest.mark.parametrize("edition", LATE)
@pytest.mark.parametrize(
    ("core", "missing", "added"),
    [
        (
            '<diverts><divert name="d"><address>a</address>{}</divert></diverts>',
            "<forwarding-address> is missing",
            "<forwarding-address>b</forwarding-address>",
        ),
        (
            '<diverts><divert name="d">{}</divert></diverts>',
            "<address>, <forwarding-address> are missing",
            "<address>a</address><forwarding-address>b</forwarding-address>",
        ),
        (
            f'{CONNECTOR}<bridges><bridge name="b"><queue-name>q</queue-name>{{}}</bridge></bridges>',
            "<static-connectors> or <discovery-group-ref> is missing",
            "<static-connectors><connector-ref>c</connector-ref></static-connectors>",
        ),
        (STORE, "<page-store-table-name>", "<page-store-table-name>P</page-store-table-name>"),
        (
            '<federations><federation name="f"><upstream name="u">{}</upstream></federation></federations>',
            "<static-connectors> or <discovery-group-ref>",
            "",
        ),
    ],
)
def test_only_what_is_required_is_missing(core: str, missing: str, added: str, edition: Edition) -> None:
    (one,) = found(core.format(""), "missing-element", edition)
    assert missing in one.message and one.help.startswith("add <")
    if added:
        assert len(re.findall("<", one.message)) <= 3
        assert found(core.format(added), "missing-element", edition) == []


def test_only_what_hornetq_requires_is_missing() -> None:
    core = '<diverts><divert name="d"><address>a</address></divert></diverts>'
    (one,) = found(core, "missing-element", Edition.HORNETQ_2_4, around=HORNETQ)
    assert one.message == "<divert> is not complete: <forwarding-address> is missing"


FEDERATION = f'{CONNECTOR}<federations><federation name="f">{{}}</federation></federations>'
STATIC = "<static-connectors><connector-ref>c</connector-ref></static-connectors>"
POLICY = '<policy ref="p"/>'
REFERENCE = "<upstream-connector-ref>c</upstream-connector-ref>"
QUEUES = '<queue-policy name="p"><include queue-match="#" address-match="#"/></queue-policy>'


@pytest.mark.parametrize(
    ("inside", "advice"),
    [
        (REFERENCE + STATIC + POLICY, "<upstream-connector-ref> comes after <static-connectors>, <policy>"),
        (STATIC + REFERENCE + POLICY, "<policy> comes before <upstream-connector-ref>"),
        (POLICY + STATIC + REFERENCE, "<policy> comes after <static-connectors>"),
        (STATIC + "<ha>true</ha>" + POLICY + REFERENCE, "<ha> comes before <static-connectors>"),
    ],
)
def test_an_element_is_moved_to_where_it_belongs(inside: str, advice: str) -> None:
    core = FEDERATION.format(f'<downstream name="d">{inside}</downstream>{QUEUES}')
    (one,) = found(core, "element-order", Edition.ARTEMIS_2_56)
    assert one.help == advice


def test_what_is_required_before_an_element_is_named() -> None:
    core = f'{CONNECTOR}<bridges><bridge name="b">{STATIC}</bridge></bridges>'
    (one,) = found(core, "element-order", Edition.ARTEMIS_2_28)
    assert one.help == "add <queue-name> before it"
    (one,) = found(core, "missing-element", Edition.ARTEMIS_2_56)
    assert one.help == "add <queue-name>"
