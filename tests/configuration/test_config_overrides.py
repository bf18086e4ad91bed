"""Rules judge what is in force: ``broker.properties`` and system properties laid over the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import LintContext
from brokerconf.properties.application import apply_all
from brokerconf.reading.properties import parse_properties
from lint_calls import CLEAN, HEAD, TAIL, found, rules_of, write
from pagectl.app import run

from pagefmt.editions import Edition

LIMIT = """<address-setting match="orders.#"><page-limit-bytes>500M</page-limit-bytes></address-setting>"""
FAIL = """<address-setting match="orders.#"><page-full-policy>FAIL</page-full-policy></address-setting>"""


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "ARTEMIS_INSTANCE"):
        monkeypatch.delenv(name, raising=False)


def findings(
    setting: str = "",
    core: str = "",
    *,
    properties: str = "",
    system: dict[str, str] | None = None,
    edition: Edition = Edition.ARTEMIS_2_56,
) -> list[tuple[str, str, int]]:
    """Lint a clean configuration with these additions, and return rule, file and line of each finding."""
    inside = CLEAN.replace("    </address-settings>", f"{setting}\n    </address-settings>") + core
    around = LintContext(
        edition=edition, entries=tuple(parse_properties(properties, "broker.properties")), properties=system or {}
    )
    report = lint((HEAD + inside + TAIL).encode(), "broker.xml", around)
    return [(finding.rule, finding.place.file, finding.place.line) for finding in report.findings]


HERE = "broker.properties"


@pytest.mark.parametrize(
    ("setting", "properties", "expected"),
    [
        ("", 'addressSettings."a".addressFullMessagePolicy=DROP', ("drop-policy", HERE, 1)),
        ("", "#\naddressSettings.a.maxSizeBytes=-7", ("max-size-odd-negative", HERE, 2)),
        ("", 'addressSettings."a.#".pageLimitBytes=500000', ("page-limit-without-policy", HERE, 1)),
        (FAIL, 'addressSettings."orders.#".pageLimitBytes=500', ("page-limit-below-page-size", HERE, 1)),
        (LIMIT, 'addressSettings."orders.#".addressFullMessagePolicy=BLOCK', ("page-limit-unused", "broker.xml", 10)),
        ("", 'addressSettings."a#".maxSizeBytes=5', ("match-hash-inside-word", HERE, 1)),
        ("", 'addressSettings."#".pageSizeBytes=1024', ("page-size-tiny", HERE, 1)),
        ("", 'addressSettings."#".deadLetterAddress=', ("dla-missing", "broker.xml", 6)),
        ("", "minDiskFree=5G\nmaxDiskUsage=70", ("both-disk-limits", HERE, 2)),
        ("", "maxDiskUsage=100", ("disk-limit-extreme", HERE, 1)),
    ],
)
def test_what_properties_make_wrong(setting: str, properties: str, expected: tuple[str, str, int]) -> None:
    assert expected in findings(setting, properties=properties)
    assert expected not in findings(setting)


@pytest.mark.parametrize(
    ("setting", "properties", "mended"),
    [
        (LIMIT, 'addressSettings."orders.#".pageFullMessagePolicy=FAIL', "page-limit-without-policy"),
        (FAIL, 'addressSettings."orders.#".pageLimitMessages=1000', "page-policy-without-limit"),
        (
            '<address-setting match="a"><max-size-bytes>0</max-size-bytes></address-setting>',
            "addressSettings.a.maxSizeBytes=100M",
            "max-size-zero",
        ),
        (
            '<address-setting match="a"><address-full-policy>DROP</address-full-policy></address-setting>',
            "addressSettings.a.addressFullMessagePolicy=PAGE",
            "drop-policy",
        ),
    ],
)
def test_what_properties_mend(setting: str, properties: str, mended: str) -> None:
    assert mended in {rule for rule, _, _ in findings(setting)}
    assert findings(setting, properties=properties) == []


def test_a_value_that_the_setter_does_not_take_changes_nothing() -> None:
    assert "drop-policy" not in {
        rule for rule, _, _ in findings(properties="addressSettings.a.addressFullMessagePolicy=drop")
    }


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        *(("persistenceEnabled", text, True) for text in ("true", "TRUE", "yes", "ON", "1", "y")),
        *(("persistenceEnabled", text, False) for text in ("t", "true ", "junk", "")),
        ("diskScanPeriod", "junk", 0),
        ("addressSettings.a.pageSizeBytes", "10M", 0),
        ("addressSettings.a.pageLimitBytes", "1G", 0),
        ("addressSettings.a.pageLimitMessages", "10K", 0),
        ("addressSettings.a.expiryDelay", "junk", 0),
        ("globalMaxSize", "junk", None),
        ("minDiskFree", "10 MiB ", 10 << 20),
        ("globalMaxMessages", "10K", 10 << 10),
        ("addressSettings.a.redeliveryDelay", "junk", None),
        ("addressSettings.a.redeliveryMultiplier", "junk", 0.0),
    ],
)
def test_values_are_what_the_classes_of_2_44_and_2_56_make_of_them(key: str, text: str, value: object) -> None:
    for edition in (Edition.ARTEMIS_2_44, Edition.ARTEMIS_2_56):
        (outcome,) = apply_all(parse_properties(f"{key}={text}", HERE), edition)
        assert outcome.value == value and type(outcome.value) is type(value)


def test_system_properties_come_last_and_are_named() -> None:
    system = {'brokerconfig.addressSettings."a".maxSizeBytes': "0", "site.name": "x"}
    found = findings(properties='addressSettings."a".maxSizeBytes=-7', system=system)
    assert {(file, line) for _, file, line in found} == {('-Dbrokerconfig.addressSettings."a".maxSizeBytes', 0)}
    assert "max-size-zero" in {rule for rule, _, _ in found}


def test_the_prefix_of_system_properties_is_the_configurations() -> None:
    core = "<system-property-prefix>conf.</system-property-prefix>"
    assert findings(core=core, system={"brokerconfig.maxDiskUsage": "100"}) == []
    found = findings(core=core, system={"conf.maxDiskUsage": "100"})
    assert found == [("disk-limit-extreme", "-Dconf.maxDiskUsage", 0)]


@pytest.mark.parametrize("edition", [Edition.HORNETQ_2_4, Edition.ARTEMIS_1_5, Edition.ARTEMIS_2_17])
def test_older_brokers_read_no_such_file(edition: Edition) -> None:
    head = '<configuration xmlns="urn:hornetq">' if edition is Edition.HORNETQ_2_4 else HEAD
    tail = "</configuration>" if edition is Edition.HORNETQ_2_4 else TAIL
    entries = tuple(parse_properties("maxDiskUsage=101\naddressSettings.a.maxSizeBytes=0", HERE))
    report = lint(
        f"{head}<paging-directory>p</paging-directory>{tail}".encode(),
        "broker.xml",
        LintContext(edition=edition, entries=entries),
    )
    assert all(finding.place.file == "broker.xml" for finding in report.findings)


def test_the_line_of_the_properties_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, CLEAN)
    (tmp_path / HERE).write_text("# paging\naddressSettings.orders.addressFullMessagePolicy=DROP\n", "utf-8")
    assert run(["config", "lint", path]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"{tmp_path / HERE}:2:1: warning: address-full-policy DROP")
    assert out[1] == "   2 | addressSettings.orders.addressFullMessagePolicy=DROP"


def test_the_start_profile_of_an_instance_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    etc = tmp_path / "etc"
    etc.mkdir()
    (etc / "artemis.profile").write_text('JAVA_ARGS="-Dbrokerconfig.maxDiskUsage=100"\n', "utf-8")
    write(etc, CLEAN)
    _, report = found(capsys, str(tmp_path))
    assert rules_of(report) == ["disk-limit-extreme"]
    assert run(["config", "effective", str(tmp_path), "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)["broker"]["max-disk-usage"]
    assert shown == {"value": 100, "source": {"file": "-Dbrokerconfig.maxDiskUsage", "line": 0}}
