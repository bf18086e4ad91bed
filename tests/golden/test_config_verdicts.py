"""The verdicts of our schemas and value checks against those of real brokers, file by file."""

from __future__ import annotations

import pytest
from brokerconf.checks.accepted_silently import silence_findings
from brokerconf.checks.value_checks import value_findings
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.reading import read
from brokerconf.schema.validation import judge
from brokerconf.settings.effective import EffectiveSettings
from config_cases import judged
from config_verdicts import OURS, compare


@pytest.mark.parametrize("folder", ["valid", "mutants", "mutants/hornetq", "more/strange"])
def test_the_start_of_a_real_broker_stops_where_we_say(folder: str) -> None:
    wrong, counts = compare(folder)
    assert wrong == []
    assert sum(counts.values()) >= {"valid": 76, "mutants": 600, "mutants/hornetq": 16, "more/strange": 1600}[folder]


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["more/m101", "more/m202", "more/hq", "more/odd"])
def test_other_seeds(folder: str) -> None:
    wrong, counts = compare(folder)
    # an include that names nothing: refused by us as such, by the broker for the text it would bring in;
    # and two passwords that are hexadecimal, but not what the broker's cipher makes
    known = ("0155-inclusion", "1320.xml", "1321.xml") if folder in ("more/m202", "more/odd") else ()
    assert [one for one in wrong if not one.startswith(known)] == []
    assert sum(counts.values()) >= 120


def test_nothing_that_is_valid_and_accepted_gets_an_error() -> None:
    seen = 0
    for folder in ("valid", "mutants", "mutants/hornetq"):
        for case in judged(folder):
            if case.verdict["broker"] != "accepted" or case.verdict["document"] != "valid":
                continue
            try:
                document = read(case.path, edition=case.edition, environment={})
            except ReadingError as err:
                assert err.rule in OURS, err
                continue
            seen += 1
            verdict = judge(document)
            assert verdict.document == () and verdict.broker == ()
            assert value_findings(document, EffectiveSettings(document)) == []
    assert seen > 150


def test_where_the_broker_is_silent_a_finding_speaks() -> None:
    seen = 0
    for folder in ("valid", "mutants"):
        for case in judged(folder):
            if case.verdict.get("core_found") is not False:
                continue
            seen += 1
            document = read(case.path, edition=case.edition, environment={})
            assert "core-not-found" in {finding.rule for finding in silence_findings(document)}
    assert seen >= 8
