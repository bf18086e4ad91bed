"""Settings of a replay: what is honoured, and what is said of those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from pageengine.replay.findings import findings
from pageengine.replay.recording import Recording
from pageengine.replay.replaying import Configuration, recorded
from pageengine.settings.overrides import parse_override
from pageengine.trace.operations import CreateQueue, DiskFull, DiskSpaceChange, Send, TraceHeader
from pageengine.trace.reading import open_trace
from pageengine.trace.writing import write_trace

PLAIN = '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{}</core></configuration>'


def configuration(folder: Path, inside: str = "", *overrides: str) -> Configuration:
    path = folder / "broker.xml"
    path.write_text(PLAIN.format(inside))
    return Configuration(path, overrides=tuple(map(parse_override, overrides)))


@pytest.mark.parametrize(
    ("inside", "overrides", "told"),
    [
        ("", (), []),
        ("", ("#:auto-delete-queues=false",), []),
        ("<page-sync-timeout>5000</page-sync-timeout>", (), []),
        ("", ("#:auto-delete-queues=true",), ["auto-delete-queues"]),
        (
            '<address-settings><address-setting match="a"><auto-create-queues>false</auto-create-queues>'
            "<page-max-cache-size>3</page-max-cache-size></address-setting></address-settings>",
            (),
            ["page-max-cache-size", "auto-create-queues"],
        ),
    ],
)
def test_a_setting_that_no_replay_models_is_told(
    tmp_path: Path, inside: str, overrides: tuple[str, ...], told: list[str]
) -> None:
    said = configuration(tmp_path, inside, *overrides).not_modelled()
    assert [one.partition(" is set, but a replay does not model it (")[0] for one in said] == told


def replayed(folder: Path, period: str, *disk: DiskSpaceChange | DiskFull) -> Recording:
    trace = folder / "trace.jsonl"
    write_trace(trace, TraceHeader("disk"), [CreateQueue("q", t=0), *disk, Send("q", 1, size=10, t=2)])
    return recorded(configuration(folder, "", f"disk-scan-period={period}"), open_trace(trace))


@pytest.mark.parametrize("report", [DiskSpaceChange(1, 100, t=1), DiskFull(t=1)])
@pytest.mark.parametrize(("period", "times"), [("5000", 1), ("-1", 0)])
def test_a_disk_that_is_never_scanned_is_never_full(
    tmp_path: Path, report: DiskSpaceChange | DiskFull, period: str, times: int
) -> None:
    assert replayed(tmp_path, period, report).disk_full.times == times


def test_a_disk_without_a_byte_stops_the_broker(tmp_path: Path) -> None:
    sentences = [one.message for one in findings(replayed(tmp_path, "5000", DiskSpaceChange(0, 100, t=1)))]
    assert any("0 bytes left from operation 1 on: a broker stops itself" in one for one in sentences)
