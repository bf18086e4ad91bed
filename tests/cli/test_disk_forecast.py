"""``disk forecast``: the fit on known shapes, the state file, statuses."""

from __future__ import annotations

import json
import math
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pagectl.app import run
from pagectl.options.durations import parse_duration
from plugin_output import read_plugin_output

from pageengine.disk.forecast import Sureness, slope, thinned, time_left, trend
from pageengine.disk.samples import KEPT, OLDEST, DiskSample, DiskSamples, SamplesError, largest, parse_samples

Call = Callable[..., tuple[int, str, str]]
MIB = 2**20


def line(count: int, rate: float, step: float = 60.0, start: float = 0.0) -> list[tuple[float, float]]:
    return [(n * step, start + n * step * rate) for n in range(count)]


def test_an_even_rise_is_met_exactly() -> None:
    found = trend(line(30, 1000.0))
    assert found
    assert (found.rate, found.low, found.high, found.samples, found.span) == (1000, 1000, 1000, 30, 1740)
    assert found.sureness is Sureness.GOOD
    left = time_left(60_000, found)
    assert left
    assert (left.seconds, left.soonest, left.latest) == (60, 60, 60)


def test_journal_files_in_steps_and_wild_samples_do_not_move_it() -> None:
    rng = random.Random(3)
    points = [(t, math.floor((y + rng.random() * MIB) / (10 * MIB)) * 10 * MIB) for t, y in line(120, 50_000.0)]
    for n in range(0, 120, 5):
        points[n] = (points[n][0], points[n][1] + rng.choice([-1, 1]) * 500 * MIB)
    found = trend(points)
    assert found
    assert found.rate == pytest.approx(50_000, rel=0.15)
    assert found.low <= found.rate <= found.high
    assert found.grows


def test_a_saw_of_pages_that_come_and_go_is_no_growth() -> None:
    points = [(t, 100 * MIB + (n % 7) * 10 * MIB) for n, (t, _) in enumerate(line(70, 0))]
    found = trend(points)
    assert found
    assert not found.grows
    assert abs(found.rate) < 2000


def test_an_old_pace_is_forgotten() -> None:
    flat = line(100, 0.0, start=5e9)
    rising = [(6000 + t, 5e9 + y) for t, y in line(30, 2000.0)]
    found = trend(flat + rising)
    assert found
    assert found.rate == pytest.approx(2000, rel=0.05)
    stopped = trend(line(100, 2000.0) + [(6000 + t, 6000 * 2000.0) for t, _ in line(40, 0)])
    assert stopped
    assert stopped.rate == pytest.approx(0, abs=20)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_samples_give_no_rate(count: int) -> None:
    assert trend(line(count, 5.0)) is None


def test_few_samples_are_poor_and_so_is_doubtful_growth() -> None:
    few = trend(line(3, 5.0))
    assert few
    assert few.sureness is Sureness.POOR
    rng = random.Random(1)
    doubtful = trend([(t, y + rng.gauss(0, 1e6)) for t, y in line(40, 10.0)])
    assert doubtful
    assert not doubtful.grows


def test_shrinking_never_reaches_the_limit() -> None:
    found = trend(line(20, -5.0, start=1e6))
    assert found
    assert time_left(100, found) is None
    assert time_left(None, trend(line(20, 5.0))) is None


@given(
    st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 2**50)), min_size=3, max_size=60, unique_by=lambda p: p[0])
)
def test_the_rate_lies_within_its_interval(points: list[tuple[int, int]]) -> None:
    found = slope([(float(t), float(y)) for t, y in sorted(points)])
    assert found
    assert found.low <= found.rate <= found.high


def test_thinning_keeps_both_ends() -> None:
    points = line(1000, 1.0)
    few = thinned(points, 90)
    assert (len(few), few[0], few[-1]) == (90, points[0], points[-1])


def test_samples_come_back_as_they_were_kept() -> None:
    kept = (
        DiskSamples("/x")
        .added(DiskSample(1.5, {"/": (10, 100)}, {"a": 5}))
        .added(DiskSample(2.5, {"/": (12, 100)}, {"a": 6}))
    )
    again = parse_samples(kept.as_text(), "/x", "state")
    assert again == kept
    assert again.store("/") == [(1.5, 10.0), (2.5, 12.0)]
    assert again.address("a") == [(1.5, 5.0), (2.5, 6.0)]


def test_the_clock_may_be_set_back() -> None:
    kept = DiskSamples("/x")
    for when in (100.0, 200.0, 300.0):
        kept = kept.added(DiskSample(when, {"/": (1, 2)}))
    back = kept.added(DiskSample(150.0, {"/": (1, 2)}))
    assert [one.time for one in back.samples] == [100.0, 150.0]
    assert back.forgotten == 2
    same = kept.added(DiskSample(300.0, {"/": (9, 9)}))
    assert [one.time for one in same.samples] == [100.0, 200.0, 300.0]
    assert (same.forgotten, same.samples[-1].stores["/"]) == (0, (9, 9))


def test_the_file_stays_small() -> None:
    kept = DiskSamples("/x")
    for n in range(3 * KEPT):
        kept = kept.added(DiskSample(60.0 * n, {"/": (n, 10)}))
    assert len(kept.samples) <= KEPT
    assert kept.samples[0].time < 60.0 * KEPT
    assert kept.added(DiskSample(60.0 * 3 * KEPT + OLDEST, {})).samples[0].time >= 60.0 * 3 * KEPT


def test_addresses_that_were_kept_are_kept() -> None:
    sizes = [(f"a{n}", 1000 - n) for n in range(100)]
    kept = largest(sizes, ["a90", "gone"])
    assert "a0" in kept
    assert "a90" in kept
    assert "a50" not in kept
    assert "gone" not in kept


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        "root:x:0:0",
        '{"pagectl_disk_samples":1}',
        '{"pagectl_disk_samples":2,"dir":"/x","samples":[]}',
        '{"pagectl_disk_samples":1,"dir":"/x","samples":[{}]}',
        '{"pagectl_disk_samples":1,"dir":"/x","samples":7}',
    ],
)
def test_what_is_not_ours_is_refused(text: str) -> None:
    with pytest.raises(SamplesError, match="left unchanged"):
        parse_samples(text, "/x", "state")


def test_samples_of_another_place_are_refused() -> None:
    with pytest.raises(SamplesError, match="/y"):
        parse_samples(DiskSamples("/y").as_text(), "/x", "state")


@pytest.mark.parametrize(
    ("text", "seconds"), [("6h", 21600), ("90m", 5400), ("1h30m", 5400), ("2d", 172800), ("45s", 45), ("1.5h", 5400)]
)
def test_duration(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "6x", "-6h", "6 h 3", "1e3", "30", "1h30", "9" * 400 + "d"])
def test_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="length of time"):
        parse_duration(text)


class World:
    """A disk and a clock that the test moves; one run of the command a look."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], path: Path) -> None:
        self.usable, self.total, self.now, self.path = 1_000_000, 1_000_000, 1_000_000.0, path
        self.capfd = capfd
        self.state = path / "state.json"
        monkeypatch.setattr(os, "statvfs", lambda _path: self.numbers())
        monkeypatch.setattr("time.time", lambda: self.now)

    def numbers(self) -> object:
        return SimpleNamespace(
            f_bavail=self.usable, f_bfree=self.usable, f_blocks=self.total, f_frsize=1, f_files=0, f_favail=0
        )

    def look(self, *words: object) -> tuple[int, str, str]:
        self.capfd.readouterr()
        status = run(["disk", "forecast", str(self.path), "--state", str(self.state), *map(str, words)])
        told = self.capfd.readouterr()
        return status, told.out, told.err

    def fill(self, times: int, rate: int, step: float = 300.0, *words: object) -> tuple[int, str, str]:
        told = self.look(*words)
        for _ in range(times):
            self.now += step
            self.usable -= int(rate * step)
            told = self.look(*words)
        return told


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> World:
    (tmp_path / "data" / "paging").mkdir(parents=True)
    return World(monkeypatch, capfd, tmp_path / "data")


def test_it_learns_first(world: World) -> None:
    status, out, _ = world.look("--warn-within", "6h")
    told = read_plugin_output(out)
    assert (status, told.status) == (0, "OK")
    assert "learning" in told.text
    world.now += 60
    assert "2 samples" in world.look()[1]


def test_it_warns_in_time(world: World) -> None:
    status, out, err = world.fill(10, 20, 300.0, "--warn-within", "6h", "--critical-within", "1h")
    told = read_plugin_output(out)
    left = next(value for label, value in told.values.items() if label.endswith(" left"))
    # 1,000,000 bytes, 60,000 gone, blocks at 100,000 usable: 840,000 at 20 a second
    assert (left.value, left.unit, left.warn, left.crit) == (42_000, "s", "21600:", "3600:")
    assert (status, told.status, err) == (0, "OK", "")
    status, out, _ = world.look("--warn-within", "12h")
    assert (status, read_plugin_output(out).status) == (1, "WARNING")
    status, out, _ = world.look("--warn-within", "13h", "--critical-within", "12h")
    assert status == 2


def test_json(world: World) -> None:
    _, out, _ = world.fill(12, 20, 300.0, "--format", "json")
    store = json.loads(out)["stores"][0]
    assert store["rate"] == pytest.approx(20)
    assert store["seconds_left"] == pytest.approx((1_000_000 - 12 * 6000 - 100_000) / 20)
    assert (store["sureness"], store["samples"], store["blocks_at"]) == ("good", 13, 100_000)


def test_blocked_now_is_critical(world: World) -> None:
    world.usable = 100_000
    status, out, _ = world.look()
    assert (status, "blocks now" in out) == (2, True)


def test_nothing_grows(world: World) -> None:
    status, out, _ = world.fill(6, 0, 300.0, "--warn-within", "6h")
    assert status == 0
    assert "not filling" in out
    status, out, _ = world.fill(30, -10, 300.0, "--warn-within", "6h")
    assert (status, "not filling" in out) == (0, True)


def test_a_grown_disk_does_not_look_like_messages_leaving(world: World) -> None:
    world.fill(10, 20)
    world.total += 5_000_000
    world.usable += 5_000_000
    _, out, _ = world.fill(3, 20, 300.0, "--format", "json")
    assert json.loads(out)["stores"][0]["rate"] == pytest.approx(20)


def test_a_changed_limit_counts_at_once(world: World) -> None:
    world.fill(10, 20)
    one = json.loads(world.look("--max-disk-usage", "50", "--format", "json")[1])["stores"][0]
    two = json.loads(world.look("--min-disk-free", "100000", "--format", "json")[1])["stores"][0]
    assert one["margin"] == 440_000
    assert two["margin"] == 840_000
    assert one["seconds_left"] < two["seconds_left"]


def test_the_clock_set_back_is_said(world: World) -> None:
    world.fill(5, 20)
    world.now -= 700
    assert "clock was set back: dropped 3 samples" in world.look("-v")[1]


def page(world: World, folder: str, address: str, size: int) -> None:
    where = world.path / "paging" / folder
    where.mkdir(exist_ok=True)
    (where / "address.txt").write_text(address)
    (where / "000000001.page").write_bytes(bytes(size))


def test_the_addresses_that_grow_most(world: World) -> None:
    for n in range(6):
        page(world, "s1", "slow", 1000 + 30 * n)
        page(world, "s2", "fast", 100 + 300 * n)
        page(world, "s3", "still", 5000)
        world.now += 60
        told = json.loads(world.look("--format", "json")[1])
    assert [(row["address"], row["rate"]) for row in told["addresses"]] == [("fast", 5.0), ("slow", 0.5)]
    assert "fast grows most" in world.look()[1]
    world.now += 60
    assert json.loads(world.look("--no-addresses", "--format", "json")[1])["addresses"] == []


def test_a_foreign_state_file_is_left_alone(world: World) -> None:
    world.state.write_text("precious\n")
    status, out, _ = world.look()
    assert (status, read_plugin_output(out).status) == (3, "UNKNOWN")
    assert world.state.read_text() == "precious\n"


def test_a_state_file_that_cannot_be_written_is_unknown(world: World) -> None:
    world.state = world.path / "none" / "state.json"
    status, out, _ = world.look()
    assert (status, "none" in out) == (3, True)


def test_a_failing_rename_leaves_the_old_state(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.look()
    before = world.state.read_bytes()

    def fail(*_names: object, **_folders: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", fail)
    assert world.look()[0] == 3
    assert world.state.read_bytes() == before
    assert sorted(path.name for path in world.path.iterdir()) == ["paging", "state.json"]


def test_a_sample_that_cannot_be_kept_hides_no_finding(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.fill(10, 20, 300.0, "--warn-within", "6h", "--critical-within", "1h")

    def fail(*_names: object, **_folders: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", fail)
    status, out, err = world.fill(1, 20, 300.0, "--warn-within", "400h", "--critical-within", "399h")
    assert status == 2 and read_plugin_output(out).status == "CRITICAL", out
    assert "warning: the sample is not kept: " in err and "No space left" in err


def test_state_has_a_place_of_its_own(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    before = sorted(world.path.rglob("*"))
    assert run(["disk", "forecast", str(world.path)]) == 0
    assert sorted(world.path.rglob("*")) == before
    files: list[Any] = list((tmp_path / "state" / "pagectl").iterdir())
    assert len(files) == 1
    assert files[0].stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "service"))
    assert run(["disk", "forecast", str(world.path)]) == 0
    assert (tmp_path / "service" / "pagectl" / files[0].name).exists()


@pytest.mark.parametrize("words", [["--warn-within", "soon"], ["--nothing"], ["--critical-within", ""], ["-t", "x"]])
def test_usage_errors_are_unknown(world: World, words: list[str]) -> None:
    status, out, err = world.look(*words)
    assert (status, err, len(out.splitlines())) == (3, "", 1)
    assert out.startswith("DISK FORECAST UNKNOWN - ")


def test_quiet(world: World) -> None:
    assert world.look("--quiet") == (0, "", "")
    world.usable = 5
    assert world.look("--quiet")[0] == 2


def test_a_hanging_file_system_is_unknown_in_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _path: time.sleep(60))
    status, out, _ = world.look("-t", "0.5")
    assert (status, read_plugin_output(out).status) == (3, "UNKNOWN")
    assert "no answer from its file system within 0.5 s" in out


def test_nothing_there(world: World) -> None:
    world.path = world.path / "none"
    status, out, _ = world.look()
    assert (status, "No such file or directory" in out) == (3, True)
