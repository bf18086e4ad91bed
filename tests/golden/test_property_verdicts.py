"""Files of properties: what is said of each key is what real brokers made of it, recorded with 2.56.0 and 2.44.0."""

from __future__ import annotations

import pytest
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import LintContext
from property_files import mutant, sound_file
from property_verdicts import BrokerVerdict, recorded

from pagefmt.editions import Edition
from pagefmt.findings import Severity

EDITIONS = {"2.56.0": Edition.ARTEMIS_2_56, "2.44.0": Edition.ARTEMIS_2_44}
REFUSED = {"properties-unknown-key", "properties-bad-value", "properties-after-error", "properties-unquoted-dots"}
LOST = {"properties-silent-value", "properties-size-notation"}
# no value of theirs is lost to the recorder, which compares whole configurations: with a login module of its own no two
# are alike, and of the old queues of an address the broker hands out a copy, in which all is lost
BLIND = (b"jaasConfigs", b"queueConfigurations")


def ours(name: str, raw: bytes, edition: Edition) -> tuple[set[str], set[str], set[str]]:
    """Lint a properties file, and return refused keys, keys whose values are lost, and the rules of all errors."""
    report = lint(raw, name, LintContext(edition=edition))
    errors = [one for one in report.findings if one.severity is Severity.ERROR]
    refused = {one.path for one in errors if one.rule in REFUSED}
    lost = {one.path for one in errors if one.rule in LOST and "wraps" not in one.message} - refused
    return refused, lost, {one.rule for one in errors}


def stopped_by(name: str, raw: bytes, edition: Edition) -> list[str]:
    """Lint a properties file and return the messages which say that the broker does not start."""
    rules = {"properties-start-fails", "properties-whole-entry"}
    found = [one.message for one in lint(raw, name, LintContext(edition=edition)).findings if one.rule in rules]
    return [said for said in found if "does not start" in said]


# text in place of an entry, or of a collection: whether 2.56.0 and 2.44.0 start
WHOLE = [
    ("addressSettings.a", False), ("securityRoles.a", False), ("connectorConfigurations.a", True),
    ("discoveryGroupConfigurations.a", True), ("resourceLimitSettings.a", True), ("acceptorConfigurations", False),
    ("divertConfigurations", False), ("addressSettings", True), ("jaasConfigs", True),
]  # fmt: skip


@pytest.mark.parametrize(("key", "starts"), WHOLE)
@pytest.mark.parametrize("edition", EDITIONS.values())
def test_text_in_place_of_an_entry(key: str, starts: bool, edition: Edition) -> None:
    assert (stopped_by("broker.properties", f"{key}=text\n".encode(), edition) == []) is starts


def differences(name: str, raw: bytes, edition: Edition, want: BrokerVerdict) -> list[str]:
    refused, lost, rules = ours(name, raw, edition)
    if want.dropped:
        return [] if rules & {"properties-unreadable", "properties-bad-value"} else ["nothing of it is applied"]
    if want.crashed:
        return [] if "properties-whole-entry" in rules else ["text where a bean belongs"]
    found = [f"status of {key}" for key in refused ^ want.errors]
    if not any(word in raw for word in BLIND):
        found += [f"lost value of {key}" for key in lost ^ want.lost]
    return found


@pytest.mark.parametrize("release", EDITIONS)
def test_every_key_is_judged_as_the_broker_does(release: str) -> None:
    files, verdicts = recorded()
    assert len(verdicts[release]) == len(files) == 340
    wrong = {
        name: found
        for name, want in verdicts[release].items()
        if (found := differences(name, files[name], EDITIONS[release], want))
    }
    assert wrong == {}


def test_sound_files_have_no_error() -> None:
    files, verdicts = recorded()
    for name, raw in files.items():
        want = verdicts["2.56.0"][name]
        if name.startswith("sound-") and want.start is not False:
            assert not want.faulty
            assert ours(name, raw, Edition.ARTEMIS_2_56)[2] == set(), name


@pytest.mark.parametrize(("release", "stopped"), [("2.56.0", 20), ("2.44.0", 15)])
def test_what_keeps_the_broker_from_starting(release: str, stopped: int) -> None:
    # The broker's status reports nothing about these files.
    files, verdicts = recorded()
    asked = {name: want.start for name, want in verdicts[release].items() if want.start is not None}
    judged = {name: not stopped_by(name, files[name], EDITIONS[release]) for name in asked}
    assert list(asked.values()).count(False) == stopped
    assert asked == judged


def test_the_files_are_those_of_their_seeds() -> None:
    files, _ = recorded()
    assert dict([*map(sound_file, range(40)), *map(mutant, range(300))]) == files
