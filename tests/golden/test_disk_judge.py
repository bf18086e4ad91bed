"""The disk decision beside a real broker's own monitor class, to the byte (docs/spec/disk-monitor.md 3)."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from broker_jars import class_path, compiled

from pageengine.disk.monitor import MAX_LONG, DiskLimit, DiskSettings, DiskSpace, LimitKind, beyond
from pagefmt.editions import Edition
from pagefmt.storage.filesystems import file_systems

pytestmark = pytest.mark.broker

JUDGE = Path(__file__).parents[1] / "oracle_java" / "DiskJudge.java"
EDITIONS = {
    "2.56.0": Edition.ARTEMIS_2_56,
    "2.44.0": Edition.ARTEMIS_2_44,
    "2.28.0": Edition.ARTEMIS_2_28,
    "2.17.0": Edition.ARTEMIS_2_17,
    "2.10.1": Edition.ARTEMIS_2_10,
    "artemis-1.5.6": Edition.ARTEMIS_1_5,
}
DEFAULT = -(2**31)  # the judge leaves max-disk-usage alone


class Judge:
    """A running Java machine that answers one question a line."""

    def __init__(self, version: str, process: subprocess.Popen[str]) -> None:
        self.edition = EDITIONS[version]
        self._in: IO[str] = process.stdin  # type: ignore[assignment]
        self._out: IO[str] = process.stdout  # type: ignore[assignment]

    def ask(self, question: str) -> str:
        self._in.write(question + "\n")
        self._in.flush()
        while True:
            line = self._out.readline()
            assert line, f"the judge ended at: {question}"
            if line.startswith("= "):
                return line[2:].strip()

    def verdict(self, limit: DiskLimit, spaces: list[DiskSpace]) -> str:
        numbers = " ".join(f"{space.usable}:{space.total}" for space in spaces)
        return self.ask(f"{self.kind(limit)} {numbers}").split()[0]

    def kind(self, limit: DiskLimit) -> str:
        return f"minimum {limit.value}" if limit.kind is LimitKind.MINIMUM else f"usage {limit.share!r}"


@pytest.fixture(scope="module", params=list(EDITIONS))
def judge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    version: str = request.param
    path = compiled(JUDGE, class_path(version), tmp_path_factory.mktemp("judge"))
    opens = [
        f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.lang", "java.util", "java.nio", "sun.nio.ch")
    ]
    command = ["java", "-Xmx256m", "-XX:+UseSerialGC", *opens, "-Dlog4j2.level=OFF", "-cp", path, "DiskJudge"]
    where = tmp_path_factory.mktemp("run")
    with (
        (where / "err").open("w") as err,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, text=True, cwd=where
        ) as process,
    ):
        yield Judge(version, process)
        assert process.stdin
        process.stdin.close()
        process.wait(60)


def limits(edition: Edition) -> list[DiskLimit]:
    usage = [DiskLimit(LimitKind.USAGE, percent, edition) for percent in range(101)]
    if edition < Edition.ARTEMIS_2_44:
        return usage
    sizes = (1, 4096, 10**9, 5 * 2**30, 2**53 + 1, MAX_LONG)
    return usage + [DiskLimit(LimitKind.MINIMUM, size, edition) for size in sizes]


def test_the_limit_that_a_started_broker_uses(judge: Judge) -> None:
    for percent in (DEFAULT, -1, 0, 1, 33, 50, 77, 90, 99, 100):
        if percent == -1 and judge.edition < Edition.ARTEMIS_2_10:
            continue  # its parser refuses -1 (DiskSettings.refusal)
        settings = DiskSettings(max_disk_usage=None if percent == DEFAULT else percent)
        assert judge.ask(f"limit {percent}") == expected(settings, judge.edition), percent


def test_min_disk_free_wins_where_it_exists(judge: Judge) -> None:
    if judge.edition < Edition.ARTEMIS_2_44:
        assert "NoSuchMethodException" in judge.ask("limit 90 500")
        return
    for percent, free in ((90, 500), (-1, 500), (90, -1), (-1, -1)):
        settings = DiskSettings(max_disk_usage=percent, min_disk_free=free)
        assert judge.ask(f"limit {percent} {free}") == expected(settings, judge.edition)


def expected(settings: DiskSettings, edition: Edition) -> str:
    limit = settings.limit(edition)
    if not isinstance(limit, DiskLimit):
        return "none"
    return f"minimum {limit.value}" if limit.kind is LimitKind.MINIMUM else f"usage {limit.share!r}"


def test_same_verdict_around_the_boundary_byte(judge: Judge) -> None:
    rng = random.Random(1)
    asked = 0
    for limit in limits(judge.edition):
        for total in (100, 1000, 10**9, 270_553_174_016, rng.randrange(1, 2**50), 2**53 + 1, MAX_LONG, 0):
            at = limit.blocks_at(total)
            near = () if at is None else (at - 1, at, at + 1)
            for usable in {0, total, *near}:
                if 0 <= usable <= MAX_LONG:
                    asked += 1
                    within = limit.within(DiskSpace(usable, total))
                    answer = judge.verdict(limit, [DiskSpace(usable, total)])
                    assert answer == ("within" if within else "beyond"), (limit, usable, total)
    assert asked > 3000


def test_same_verdict_over_several_stores(judge: Judge) -> None:
    rng = random.Random(2)
    for _ in range(300):
        limit = rng.choice(limits(judge.edition))
        spaces = [DiskSpace(rng.randrange(0, 1001), 1000) for _ in range(rng.randrange(1, 5))]
        answer = judge.verdict(limit, spaces)
        assert answer == ("within" if beyond(limit, spaces) is None else "beyond"), (limit, spaces)


def test_negative_size_counts_as_the_largest_number(judge: Judge) -> None:
    limit = DiskLimit(LimitKind.USAGE, 90, judge.edition)
    answer = judge.ask(f"{judge.kind(limit)} 1000:-5").split()[0]
    assert answer == ("within" if limit.within(DiskSpace.of(1000, -5)) else "beyond")


@contextmanager
def mounted(folder: Path, what: list[str]) -> Iterator[Path]:
    """Mount a file system on a new folder, or skip the test if mounting is not permitted."""
    folder.mkdir()
    done = subprocess.run(["mount", *what, str(folder)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no file system of our own may be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_reserved_blocks_count_as_used(judge: Judge, tmp_path: Path) -> None:
    # ``df`` and the broker disagree about reserved blocks; pagectl reports both figures.
    image = tmp_path / "image"
    image.write_bytes(b"")
    os.truncate(image, 32 << 20)
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("no mkfs.ext4")
    subprocess.run(["mkfs.ext4", "-q", "-m", "20", str(image)], check=True)
    with mounted(tmp_path / "disk", ["-o", "loop", str(image)]) as disk:
        (disk / "fill").write_bytes(bytes(10 << 20))
        (system,), missing = file_systems({"path": disk})
        assert missing == []
        assert judge.ask(f"space {disk}").split()[:2] == [str(system.usable), str(system.total)]
        assert system.reserved > 5 << 20
        df = subprocess.run(["df", "--output=pcent", str(disk)], capture_output=True, text=True, check=True)
        assert df.stdout.split()[-1] == f"{system.df_percent}%"
        space = DiskSpace.of(system.usable, system.total)
        assert 100 * space.usage > (system.df_percent or 0) + 10
        for limit in limits(judge.edition):
            answer = judge.ask(f"path-{judge.kind(limit)} {disk}").split()[0]
            assert answer == ("within" if limit.within(space) else "beyond"), limit


def test_same_verdict_on_a_file_system_filled_page_by_page(judge: Judge, tmp_path: Path) -> None:
    page = os.sysconf("SC_PAGE_SIZE")
    with mounted(tmp_path / "disk", ["-t", "tmpfs", "-o", f"size={100 * page}", "tmpfs"]) as disk:
        seen = set()
        for used in (0, 49, 50, 51, 89, 90, 91, 99):
            (disk / "fill").write_bytes(b"x" * used * page)
            stats = os.statvfs(disk)
            space = DiskSpace.of(stats.f_bavail * stats.f_frsize, stats.f_blocks * stats.f_frsize)
            assert judge.ask(f"space {disk}").split()[:2] == [str(space.usable), str(space.total)]
            for limit in limits(judge.edition):
                answer = judge.ask(f"path-{judge.kind(limit)} {disk} {tmp_path}/none").split()[0]
                seen.add(answer)
                assert answer == ("within" if limit.within(space) else "beyond"), (limit, used)
        assert seen == {"within", "beyond"}
