"""No command answers from a configuration with which no broker starts, unless it is told to answer anyway."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from harmed import no_trace
from program import Answer, call

CASE = GoldenCase("2.56.0", "scattered-acks")
PLACES = "".join(
    f"<{name}-directory>data/{name}</{name}-directory>" for name in ("paging", "journal", "bindings", "large-messages")
)
SOUND = "<address-settings><address-setting match='#'>{}</address-setting></address-settings>"
PROPERTIES = "broker.properties"

# by the rule of the finding: what stands in <core>, or in broker.properties
STOPPING = {
    "unknown-element": SOUND.format("<max-size-bytez>10</max-size-bytez>"),
    "bad-value": SOUND.format("<page-size-bytes>0</page-size-bytes>"),
    "bad-value disk": "<max-disk-usage>101</max-disk-usage>",
    "bad-value text": "<min-disk-free>lots</min-disk-free>",
    "invalid-value": SOUND.format("<address-full-policy>PAUSE</address-full-policy>"),
    "max-messages-over-int": SOUND.format("<max-size-messages>3000000000</max-size-messages>"),
    "bad-uri": "<acceptors><acceptor name='a'>udp://x:1</acceptor></acceptors>",
    "missing-element": "<cluster-connections><cluster-connection name='c'/></cluster-connections>",
    "match-refused": "<address-settings><address-setting match='a#b.#.c##'/></address-settings>",
    "properties-start-fails": "AMQPConnections.target.retryInterval=55\n",
}
DECIDING = {
    "config effective": "{config} a",
    "config capacity": "{config} --heap 1G --disk 10G",
    "config convert": "{config} --to json",
    "replay run": "{trace} --config {config}",
    "replay sweep": "{trace} --config {config} --vary #:max-size-bytes=1M,2M --jobs 1",
    "replay compare": "{trace} --config {config} --set #:max-size-bytes=1M --versus --set #:max-size-bytes=2M",
    "replay advise": "{trace} --config {config} --heap 64M --disk 1G --jobs 1",
    "disk check": "{root}",
    "disk forecast": "{root} --state {root}/samples",
}
PLUGINS = ("disk check", "disk forecast")
READING = (
    "pages ls", "pages outstanding", "pages verify", "pages decode", "pages inspect", "pages compact", "journal ls",
    "journal verify", "large ls", "messages ls", "messages decode", "messages verify", "recover", "config drift",
)  # fmt: skip


def instance(root: Path, inside: str = "") -> Path:
    (root / "etc").mkdir(parents=True)
    core = "" if inside.startswith("AMQP") else inside
    text = f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{PLACES}{core}</core></configuration>'
    (root / "etc" / "broker.xml").write_text(text)
    if inside.startswith("AMQP"):
        (root / "etc" / PROPERTIES).write_text(inside)
    return root


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("traces") / "trace.jsonl"
    assert call("replay", "generate", "steady", "--messages", "30", "--to", path).status == 0
    return path


def asked(command: str, root: Path, trace: Path, *more: str) -> Answer:
    config = root / "etc" / "broker.xml"
    words = (word.format(config=config, trace=trace, root=root) for word in DECIDING[command].split())
    return call(*command.split(), *words, *more)


@pytest.mark.parametrize("kind", STOPPING)
@pytest.mark.parametrize("command", DECIDING)
def test_nothing_is_answered(tmp_path: Path, trace: Path, command: str, kind: str) -> None:
    root = instance(tmp_path / "broker", STOPPING[kind])
    (root / "data" / "paging").mkdir(parents=True)
    refused = asked(command, root, trace)
    rule = kind.split()[0]
    assert refused.status == (3 if command in PLUGINS else 2), refused
    said = refused.out if command in PLUGINS else refused.err
    assert f"({rule})" in said and "--anyway" in said and "no broker of artemis-2.56 starts" in said, refused
    assert command in PLUGINS or refused.out == "", refused
    assert rule in {finding["rule"] for finding in lint(root)}
    anyway = asked(command, root, trace, "--anyway")
    no_trace(anyway)
    assert "warning: " in anyway.err and f"({rule})" in anyway.err, anyway
    assert anyway.status != (3 if command in PLUGINS else 2), anyway


def lint(root: Path) -> list[dict[str, str]]:
    found = json.loads(call("config", "lint", root, "--format", "json").out)
    return [finding for file in found["files"] for finding in file["findings"]]


def test_a_comment_that_silences_a_finding_starts_no_broker(tmp_path: Path, trace: Path) -> None:
    comment = "<!-- pagectl: ignore unknown-element not ours -->"
    root = instance(tmp_path / "broker", SOUND.format(f"{comment}<max-size-bytez>10</max-size-bytez>"))
    assert asked("replay run", root, trace).status == 2


@pytest.mark.parametrize("command", DECIDING)
def test_a_configuration_that_starts_is_answered_without_a_warning(tmp_path: Path, trace: Path, command: str) -> None:
    # errors of lint with which a broker starts
    sound = SOUND.format("<page-limit-bytes>10</page-limit-bytes><page-full-policy>FAIL</page-full-policy>")
    root = instance(tmp_path / "broker", sound)
    (root / "data" / "paging").mkdir(parents=True)
    answer = asked(command, root, trace)
    assert answer.status != (3 if command in PLUGINS else 2), answer
    assert "warning: " not in answer.err and "starts with it" not in answer.err, answer


@pytest.mark.parametrize("kind", ["unknown-element", "bad-value disk", "properties-start-fails"])
def test_a_difference_in_starting_is_a_difference(tmp_path: Path, kind: str) -> None:
    wrong = instance(tmp_path / "wrong", STOPPING[kind])
    sound = instance(tmp_path / "sound")
    for pair in ((wrong, sound), (sound, wrong), (wrong, wrong)):
        answer = call("config", "diff", *pair)
        assert answer.status == 1 and f"({kind.split()[0]})" in " ".join(answer.out.split()), answer
        found = json.loads(call("config", "diff", *pair, "--format", "json").out)["stops_start"]
        assert [bool(found[side]) for side in "ab"] == [each is wrong for each in pair]
    assert call("config", "diff", sound, sound).status == 0


@pytest.mark.parametrize("kind", ["unknown-element", "bad-value disk", "properties-start-fails"])
def test_data_are_read_and_mended_with_a_note(tmp_path: Path, kind: str) -> None:
    answers = {}
    root = tmp_path / "broker"
    for inside in ("", STOPPING[kind]):
        instance(root, inside)
        CASE.copy(root)
        answers[inside] = [call(*command.split(), root) for command in READING]
        root.rename(tmp_path / f"done{len(answers)}")
    for command, sound, wrong in zip(READING, *answers.values(), strict=True):
        assert (wrong.status, wrong.out) == (sound.status, sound.out), (command, wrong)
        assert f"({kind.split()[0]})" in wrong.err and "starts with it" not in sound.err, (command, wrong)


def test_one_of_several_brokers_whose_configuration_stops_the_start(tmp_path: Path, trace: Path) -> None:
    configs = {
        "sound": instance(tmp_path / "sound"),
        "wrong": instance(tmp_path / "wrong", STOPPING["unknown-element"]),
    }
    fleet = tmp_path / "fleet.csv"
    fleet.write_text("name,path,config\n" + "".join(f"{name},{trace},{root}\n" for name, root in configs.items()))
    answer = call("replay", "run", "--brokers", fleet, "--jobs", "1")
    assert answer.status == 1 and "(unknown-element)" in " ".join((answer.out + answer.err).split()), answer
    assert call("replay", "run", "--brokers", fleet, "--jobs", "1", "--anyway").status == 0


def test_a_secret_of_a_refused_value_is_not_shown(tmp_path: Path) -> None:
    xml = (
        "<configuration xmlns='urn:activemq'><core xmlns='urn:activemq:core'>"
        "<max-disk-usage>7654321</max-disk-usage></core></configuration>"
    )
    held = tmp_path / "held.yaml"
    held.write_text(f"apiVersion: v1\nkind: Secret\nmetadata: {{name: o}}\nstringData:\n  broker.xml: |\n    {xml}\n")
    (tmp_path / "data" / "paging").mkdir(parents=True)
    for words in (
        ("config", "effective", held),
        ("config", "diff", held, held),
        ("disk", "check", held),
        ("pages", "ls", held),
        ("config", "convert", held, "--to", "json"),
    ):
        answer = call(*words)
        assert "7654321" not in answer.out + answer.err and "held.yaml:6" in answer.out + answer.err, answer


VALUES = {
    "page-size-bytes": ("0", "10Gb", "-1", "10K", "10Kb", "3G"),
    "max-read-page-messages": ("0", "-1", "5", "many"),
    "prefetch-page-messages": ("0", "-1", "5", "-2"),
    "prefetch-page-bytes": ("-1", "10K", "4G"),
    "max-size-bytes": ("-1", "0", "1M", "1MB", "", "x", "99999999999999999999"),
    "max-size-messages": ("-1", "3000000000", "10"),
    "page-limit-bytes": ("0", "-1", "1M"),
    "address-full-policy": ("PAGE", "page", "STOP"),
    "page-full-policy": ("FAIL", "BLOCK"),
    "auto-create-queues": ("true", "yes", "0"),
    "redelivery-delay": ("1s", "-1"),
}
BROKER_VALUES = {
    "max-disk-usage": ("101", "-1", "-2", "100", "90%"),
    "min-disk-free": ("0", "-1", "1G"),
    "disk-scan-period": ("0", "-1", "500"),
    "global-max-size": ("0", "-1", "10M"),
}


@pytest.mark.parametrize("edition", ["artemis-2.56", "artemis-2.28"])
@pytest.mark.parametrize("name", [*VALUES, *BROKER_VALUES])
def test_a_value_on_the_command_line_passes_the_checks_of_the_file(
    tmp_path: Path, trace: Path, name: str, edition: str
) -> None:
    of_address = name in VALUES
    less_specific = "<address-setting match='#'><max-size-bytes>20K</max-size-bytes></address-setting>"
    plain = instance(tmp_path / "plain", f"<address-settings>{less_specific}</address-settings>")
    for number, text in enumerate(VALUES[name] if of_address else BROKER_VALUES[name]):
        element = f"<{name}>{text}</{name}>"
        own = f"<address-setting match='steady'>{element}</address-setting>" if of_address else ""
        settings = f"<address-settings>{less_specific}{own}</address-settings>"
        written = instance(tmp_path / f"written{number}", settings + ("" if of_address else element))
        option = f"{'steady:' if of_address else ''}{name}={text}"
        answers = [
            call("replay", "run", trace, "--config", root, "--edition", edition, "--format", "json", *more)
            for root, more in ((written, ()), (plain, ("--set", option)))
        ]
        in_file, by_option = answers
        assert in_file.status == by_option.status, (text, answers)
        assert (in_file.status == 2) == ("the broker refuses it" in by_option.err or "does not exist" in by_option.err)
        if in_file.status == 0:
            one, other = (json.loads(answer.out) for answer in answers)
            for each in (one, other):
                del each["config"]
            assert without_sources(one) == without_sources(other), text
        varied = call(
            "replay", "sweep", trace, "--config", plain, "--edition", edition, "--vary", option, "--jobs", "1"
        )
        if text:
            assert varied.status == by_option.status, (text, varied)


def without_sources(value: object) -> object:
    if isinstance(value, dict):
        return {key: without_sources(each) for key, each in value.items() if key != "source"}
    return list(map(without_sources, value)) if isinstance(value, list) else value
