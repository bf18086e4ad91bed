"""What a recording gathers from traces and outcomes, the sentences it leads to, and how it is shown."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pagectl.outputs.area_plot import area, band
from pagectl.outputs.replay_html import report_html
from pagectl.outputs.replay_text import print_replay
from pagectl.reports.replay_run import ReplayRun
from pagectl.terminal.streams import json_text
from replay_scenarios import Scenario, scenarios

from pageengine.model.outcome import AddressFigures
from pageengine.replay.findings import findings, folded
from pageengine.replay.outcome_results import OutcomeResults
from pageengine.replay.page_holding import HeldPages, HoldWatch
from pageengine.replay.ranking import natural
from pageengine.replay.recording import Recording
from pageengine.replay.records import AddressRecord, pages_of
from pageengine.replay.series import BUCKETS, Series, in_columns
from pageengine.settings.overrides import SettingInForce
from pageengine.trace.items import Interpreter
from pagefmt.editions import Edition
from pagefmt.quantities import duration_text, size_text

ARCHIVE = Path(__file__).parents[1] / "recorded" / "replays" / "broker-2.56.0.tar.xz"


def recording_of(name: str) -> Recording:
    return recorded(scenarios(ARCHIVE)[name])


def recorded(scenario: Scenario, *, until: int | None = None) -> Recording:
    interpreter = Interpreter()
    trace = [json.loads(line) for line in scenario.trace.splitlines()]
    header, *lines, end = [json.loads(line) for line in scenario.outcome.splitlines()]
    recording = Recording(interpreter.header(trace[0], scenario.name).name)
    results = OutcomeResults()
    recording.begin(results.state(header["state"]))
    for one, line in list(zip(trace[1:], lines, strict=True))[:until]:
        recording.see(interpreter.operation(one), results.result(line))
    recording.finish(results.state(end["state"]) if until is None else None)
    return recording


def sentences(name: str) -> list[str]:
    return [one.message for one in findings(recording_of(name))]


ALL = sorted(scenarios(ARCHIVE))


@pytest.mark.parametrize("name", ALL)
def test_figures_equal_those_counted_straight_from_the_outcome(name: str) -> None:
    scenario = scenarios(ARCHIVE)[name]
    recording = recorded(scenario)
    lines = [json.loads(line) for line in scenario.outcome.splitlines()]
    trace = [json.loads(line) for line in scenario.trace.splitlines()][1:]
    peaks: dict[str, int] = {}
    for line in lines:
        for part, fields in (line.get("state") or {}).items():
            if part.startswith("a:") and fields and "size" in fields:
                peaks[part[2:]] = max(peaks.get(part[2:], 0), fields["size"])
    assert {name: one.memory.value for name, one in recording.addresses.items() if one.memory.value} == {
        name: peak for name, peak in peaks.items() if peak
    }
    sends: dict[tuple[str, str], int] = {}
    for operation, line in zip(trace, lines[1:-1], strict=True):
        if operation["op"] == "send":
            key = operation["address"], line["r"]
            sends[key] = sends.get(key, 0) + 1
    found = {
        (address, r): count
        for address, one in recording.addresses.items()
        for r, count in one.sends.items()
        if not r.startswith("released")
    }
    assert found == sends


@pytest.mark.parametrize("name", ALL)
def test_bytes_on_disk_equal_the_page_files_at_the_end(name: str) -> None:
    scenario = scenarios(ARCHIVE)[name]
    recording = recorded(scenario)
    end = json.loads(scenario.outcome.splitlines()[-1])
    on_disk = {address: sum(page["bytes"] for page in pages) for address, pages in end["page_files"].items()}
    for address, size in on_disk.items():
        assert recording.addresses[address].disk_bytes == size


def test_sentences_of_recorded_scenarios() -> None:
    assert "address a dropped 19 messages (19 address full)" in sentences("drop-basic")
    assert "address a refused 21 messages (21 page limit)" in sentences("page-limit-bytes-fail")
    assert "queue m.slow held 5 of 5 pages for 25 ms" in sentences("multicast-slow")
    assert any(one.startswith("producers to a were blocked") for one in sentences("block-basic"))
    assert any(one.startswith("the disk was full once") for one in sentences("disk-full-default"))
    assert any("consumer red received nothing" in one for one in sentences("selector-starves"))
    assert sentences("unlimited") == []


def test_without_times_the_number_of_the_operation_is_the_axis(capsys: pytest.CaptureFixture[str]) -> None:
    scenario = scenarios(ARCHIVE)["multicast-slow"]
    lines = [json.loads(line) for line in scenario.trace.splitlines()]
    trace = b"\n".join(json.dumps({k: v for k, v in line.items() if k != "t"}).encode() for line in lines)
    recording = recorded(Scenario("untimed", b"", trace, scenario.outcome, {}))
    assert [one.message for one in findings(recording)] == [
        "queue m.slow held 5 of 5 pages",
        "address m was in page mode once; at most 5 pages with 39.6 KiB on disk",
    ]
    print_replay(recording)
    assert "operation 78" in capsys.readouterr().out
    assert "operation 78" in page_of(recording)


def test_an_outcome_that_stops_early_is_accounted_for() -> None:
    recording = recorded(scenarios(ARCHIVE)["block-basic"], until=20)
    assert recording.operations == 20
    assert any("still waited at the end" in one.message for one in findings(recording))


def test_moments_are_told_in_order() -> None:
    moments = recording_of("page-limit-bytes-fail").moments
    assert [one.what for one in moments[:4]] == ["page mode", "full", "page limit", "first message refused"]
    assert [one.i for one in moments] == sorted(one.i for one in moments)


def test_held_pages_leave_from_the_front() -> None:
    held = HeldPages()
    for messages, page in ((1, 1), (2, 1), (3, 2), (4, 3)):
        held.change(messages, page)
    assert held.pages == 3
    held.change(2, 3)
    assert (held.pages, [run[0] for run in held.runs]) == (2, [2, 3])
    held.change(0, 3)
    assert held.pages == 0


def test_pages_of_messages_that_are_counted_together() -> None:
    record = AddressRecord("a", now=AddressFigures(cur=6), counted_page=3)
    assert pages_of(record, 8) == [3, 3, 4, 4, 5, 5, 6, 6]
    record.fresh_pages.extend([1, 2, 2])
    assert pages_of(record, 2) == [2, 2]


def test_a_hold_needs_twice_the_pages_of_any_other_queue() -> None:
    watch = HoldWatch("a", {"slow": HeldPages(), "fast": HeldPages()})
    for page in range(1, 9):
        for queue in ("slow", "fast"):
            watch.held[queue].change(page, page)
        watch.look(page, page)
    watch.held["fast"].change(2, 8)
    watch.look(20, 8)
    watch.held["slow"].change(1, 8)
    watch.look(50, 1)
    holds = list(watch.finish(60))
    assert [(one.queue, one.start, one.end, one.pages, one.total) for one in holds] == [("slow", 20, 50, 8, 8)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=200))
def test_columns_show_the_highest_level_of_their_time(steps: list[tuple[int, int]]) -> None:
    series, levels, t = Series(), [], 0
    for i, (step, value) in enumerate(steps):
        t += step
        series.see("x", i, t, value)
        levels.append((t, value))
    columns = in_columns(series.points("x"), 0, max(t, 1), 20)
    assert max(columns, default=0) == max((value for _, value in levels), default=0)


def test_a_series_stays_small_and_keeps_its_sums_and_peaks() -> None:
    series = Series()
    for i in range(20 * BUCKETS):
        series.see("size", i, i, i % 1000)
        series.add("dropped", i, i, 1)
    assert len(series.points("size")) <= BUCKETS and len(series.points("dropped")) <= BUCKETS
    assert sum(high for _, high, _ in series.points("dropped")) == 20 * BUCKETS
    assert max(high for _, high, _ in series.points("size")) == 999
    assert series.points("size")[-1][2] == (20 * BUCKETS - 1) % 1000


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0 s"),
        (1500, "1 µs"),
        (39_000_000, "39 ms"),
        (8_356_000_000, "8.4 s"),
        (59_000_000_000, "59 s"),
        (89_000_000_000, "1 min 29 s"),
        (11_520_000_000_000, "3 h 12 min"),
        (3_600_000_000_000, "1 h"),
        (2 * 86_400_000_000_000 + 3_600_000_000_000, "2 d 1 h"),
        (math.inf, "never"),
        (59_600_000_000, "1 min"),
    ],
)
def test_durations(nanoseconds: float, text: str) -> None:
    assert duration_text(nanoseconds) == text


def test_sizes() -> None:
    assert [size_text(size) for size in (0, 1023, 1536, 5 << 30)] == ["0 B", "1023 B", "1.5 KiB", "5.0 GiB"]


def test_plot_rows() -> None:
    assert area([0, 4, 8], 2) == ["  █", " ██"]
    assert area([0, 1, 1000], 1) == [" ▁█"]
    assert area([0, 1], 1, unicode=False) == [" #"]
    assert area([], 2) == ["", ""] and area([0], 1) == [" "]
    assert band([0, 2, 0]) == "·━·" and band([1, 0], unicode=False) == "=."


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("name", ["random-001-01", "wildcards", "disk-full-default"])
def test_the_account_fits_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    recording = recording_of(name)
    print_replay(recording)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert max(map(len, lines)) > width * 0.9


def many(count: int = 30) -> Recording:
    """Record ``count`` addresses that page, each longer than the one before, and one that never does.

    Every tenth address also drops messages.
    """
    interpreter, results = Interpreter(), OutcomeResults()
    recording = Recording(interpreter.header({"trace": 1, "name": "many"}, "many").name)
    recording.begin(results.state({"g": {"size": 0, "full": False, "disk_full": False}}))
    i = 0

    def see(address: str, t: int, r: str, figures: dict[str, Any]) -> None:
        nonlocal i
        operation = {"op": "send", "t": t, "address": address, "seq": i, "size": 1}
        line = {"i": i, "op": "send", "r": r, "state": {f"a:{address}": figures, "g": {"size": i}}}
        recording.see(interpreter.operation(operation), results.result(line))
        i += 1

    on = {"paging": True, "full": True, "page_full": False, "size": 2048, "elements": 9, "pages": 1, "files": [1]}
    for n in range(1, count + 1):
        see(f"address{n}", 1_000_000 * n, "paged", {**on, "cur": 1, "cur_bytes": 100 * n})
        if n % 10 == 0:
            for _ in range(n):
                see(f"address{n}", 1_000_000 * n, "dropped", {})
    see("quiet", 50_000_000, "queued", {"paging": False, "full": False, "page_full": False, "size": 7, "elements": 1})
    for n in range(1, count + 1):
        see(f"address{n}", 10_000_000_000 * n, "queued", {"paging": False, "full": False})
    recording.finish(None)
    return recording


def test_alike_findings_are_folded_and_name_the_worst_in_natural_order(capsys: pytest.CaptureFixture[str]) -> None:
    recording = many()
    lost, paged = folded(recording)[:3], folded(recording)[3:]
    assert [one.message for one in lost] == [f"address address{n} dropped {n} messages" for n in (30, 20, 10)]
    assert [one.message for one in paged] == [
        "page mode on 30 addresses; the worst: address address30 was in page mode once, 5 min in all; at most 1 page "
        "with 2.9 KiB on disk; then address29, address28, address27 and 26 more"
    ]
    assert len(paged[0].members) == 30 and len(findings(recording)) == 33
    print_replay(recording)
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split()[0] for line in lines[3:28]]
    assert rows[:5] == ["address30", "address20", "address10", "address29", "address28"] and rows[24] == "7"
    assert lines[27].split()[:2] == ["7", "others"] and "quiet" not in rows
    assert natural("address2") < natural("address10") < natural("b") and natural("2") < natural("a")


def test_the_report_has_limits_as_lines_with_when_and_how_long() -> None:
    recording = many()
    settings = {
        "broker": [SettingInForce("global-max-size", "100M", "default")],
        **{f"address{n}": [SettingInForce("max-size-bytes", "2048", "x.xml:3")] for n in range(1, 31)},
    }
    text = report_html(recording, settings, {})
    page = _Page()
    page.feed(text)
    assert page.open == [] and page.outside == []
    drawn = [text.count(f'<svg class="{css}"') for css in ("wide", "narrow")]
    assert drawn == [32, 32], "each chart is there for a screen and for a phone"
    assert text.count('class="limit"') == 2 * 30, "the global limit is too far above the peak for a line"
    assert "global-max-size 100.0 MiB, not reached" in text
    assert "max-size-bytes 2.0 KiB, reached 1×, 5 min in all" in text
    cells = ["address30", "memory", "max-size-bytes 2.0 KiB", "1", "+29 ms", "5 min"]
    names = ["where", "limit", "set to", "times", "first", "in all"]
    found = re.findall(r'<td[^>]* data-is="([^"]+)">([^<]*)', text)
    row = list(zip(names, cells, strict=True))
    assert any(found[n : n + len(row)] == row for n in range(len(found))), "each cell tells a phone what it is"
    assert text.count("<h3>address1, address2, address3 and 27 more</h3>") == 1, "settings that are alike stand once"
    charts = re.findall(r"<figure><h3>([^<]+)</h3>", text)
    assert charts[:3] == ["All addresses together", "address30", "address20"] and len(charts) == 32
    for memory, disk in re.findall(r'<path class="memory" d="([^"]+)".*?<path class="disk" d="([^"]+)"', text):
        assert memory.split()[1] != disk.split()[1], "each has an axis of its own"


OUTWARD = ("src", "href", "xlink:href", "srcset", "data")


class _Page(HTMLParser):
    """Collects what could reach out, and checks that elements nest."""

    VOID = frozenset({"meta", "br", "line", "rect", "path"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.outside += [f"{tag}@{name}" for name, _ in attrs if name in OUTWARD]
        if tag not in self.VOID or (tag == "path" and not self.get_starttag_text().endswith("/>")):  # type: ignore[union-attr]
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            assert self.open.pop() == tag


def page_of(recording: Recording) -> str:
    settings = {
        "broker": [SettingInForce("global-max-size", "1", "default")],
        "a": [SettingInForce("max-size-bytes", "<5", "x.xml:3")],
    }
    return report_html(recording, settings, {"trace": "t&1.jsonl"})


@pytest.mark.parametrize("name", ["page-basic", "random-001-01", "disk-full-default", "drop-basic", "unlimited"])
def test_the_report_stands_alone(name: str) -> None:
    text = page_of(recording_of(name))
    page = _Page()
    page.feed(text)
    assert page.outside == []
    assert not {"script", "link", "iframe", "img", "object", "embed"} & set(page.tags)
    assert "svg" in page.tags and page.open == []
    assert not re.search(r"url\(|@import|https?://", text)
    assert "t&amp;1.jsonl" in text and "&lt;5" in text


def hostile() -> Recording:
    """Build a recording whose names of address and queue contain HTML markup and terminal escape sequences."""
    scenario = scenarios(ARCHIVE)["drop-basic"]
    evil = json.dumps("<script>alert(1)</script>\x1b[31m\u202e&\"'")[1:-1]

    def renamed(text: bytes) -> bytes:
        swapped = text.decode()
        for key in ('"address":"a"', '"queue":"a"'):
            swapped = swapped.replace(key, key.replace('"a"', f'"{evil}"'))
        for part in ("a:a", "q:a"):
            swapped = swapped.replace(f'"{part}"', f'"{part[:2]}{evil}"')
        return swapped.encode()

    return recorded(Scenario("drop", b"", renamed(scenario.trace), renamed(scenario.outcome), {}))


def test_names_from_the_trace_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    recording = hostile()
    text = page_of(recording)
    assert "<script" not in text and "&lt;script&gt;" in text
    assert "\x1b" not in text and "\u202e" not in text
    print_replay(recording)
    shown = capsys.readouterr().out
    assert "\x1b" not in shown and "\u202e" not in shown and "\\e[31m" in shown


def test_the_report_is_the_same_each_time() -> None:
    assert page_of(recording_of("random-001-08")) == page_of(recording_of("random-001-08"))


def test_json_says_what_the_report_shows() -> None:
    recording = recording_of("multicast-slow")
    answer = ReplayRun.of(recording, {}, trace=Path("t"), config=Path("c"), edition=Edition.ARTEMIS_2_56)
    found: dict[str, Any] = json.loads(json_text(answer))
    address = found["addresses"]["m"]
    assert address["sends"] == {"paged": 35, "queued": 15}
    assert address["peak_memory"] == {"value": 21126, "t": 23000000, "i": 23}
    assert address["page_mode"] == {"times": 1, "ns": 53000000}
    assert found["queues"]["m.slow"]["address"] == "m"
    assert found["moments"][0] == {"t": 23000000, "i": 23, "where": "m", "what": "page mode"}
    assert [one["weight"] for one in found["findings"]] == ["held", "paged"]
