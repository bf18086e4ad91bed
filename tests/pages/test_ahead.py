"""Work by several processes: results in order, errors where they would have been, nothing left behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from pagefmt import parallel as room
from pagefmt.errors import PageFmtError
from pagefmt.parallel import UNIT, JobLost, PassedBytes, ahead, processors

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")

LARGE = [UNIT] * 20
THINGS = [f"thing {n}" for n in range(20)]


def letters(thing: str) -> Iterator[tuple[str, int]]:
    for letter in thing:
        yield letter, os.getpid()


def taken(jobs: int, sizes: list[int] = LARGE) -> tuple[list[str], set[int]]:
    """Return all letters, and the ids of the processes that made them."""
    with ahead(letters, THINGS, sizes, jobs) as results:
        found = [each for thing in THINGS for each in results(thing)]
    return [letter for letter, _ in found], {pid for _, pid in found}


@pytest.mark.parametrize("jobs", [2, 3, 8, 100])
def test_results_come_in_the_order_of_the_things(jobs: int) -> None:
    expected, alone = taken(1)
    assert alone == {os.getpid()}
    found, pids = taken(jobs)
    assert found == expected
    assert len(pids) == 1 + min(jobs, 19)  # the first unit is worked on here


@pytest.mark.parametrize(("name", "granted"), [("fork", 0), ("fork", 2), ("pipe", 1)])
def test_where_no_more_is_granted_all_is_done_here(monkeypatch: pytest.MonkeyPatch, name: str, granted: int) -> None:
    real, calls, open_before = getattr(os, name), [0], len(list(Path("/proc/self/fd").iterdir()))

    def limited() -> object:
        calls[0] += 1
        if calls[0] > granted:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        return real()

    expected = taken(1)
    monkeypatch.setattr(room.os, name, limited)
    assert taken(4) == expected and calls[0] == granted + 1
    monkeypatch.undo()
    assert len(list(Path("/proc/self/fd").iterdir())) == open_before


def test_little_work_is_done_here() -> None:
    assert taken(4, [UNIT // 40] * 20)[1] == {os.getpid()}


def test_small_things_go_together() -> None:
    found, pids = taken(4, [UNIT // 5] * 20)
    assert found == taken(1)[0]
    assert len(pids) == 4  # of four units one is done here


def test_things_may_be_left_out_and_results_may_be_large() -> None:
    with ahead(lambda n: [bytes([n]) * 3_000_000] * 2, range(20), LARGE, 3) as results:
        for n in (0, 3, 4, 11, 19):
            assert list(results(n)) == [bytes([n]) * 3_000_000] * 2


def failing(thing: str) -> Iterator[str]:
    yield thing
    if thing == "thing 7":
        raise PageFmtError("seven is bad")


def test_an_error_is_raised_where_it_would_have_been() -> None:
    found = []
    with pytest.raises(PageFmtError, match="seven is bad"), ahead(failing, THINGS, LARGE, 3) as results:
        for thing in THINGS:
            found += results(thing)
    assert found == THINGS[:8]


def test_an_error_may_be_passed_over() -> None:
    found = []
    with ahead(failing, THINGS, LARGE, 2) as results:
        for thing in THINGS:
            try:
                found += results(thing)
            except PageFmtError:
                found.append("seven is bad")
    assert found == [*THINGS[:8], "seven is bad", *THINGS[8:]]


def test_what_cannot_be_sent_is_made_here() -> None:
    with ahead(lambda n: [lambda: n], range(20), LARGE, 2) as results:
        assert [made() for n in range(20) for made in results(n)] == list(range(20))


Sent = tuple[int, PassedBytes, list[bytes], PassedBytes]


def sent(seed: int) -> Iterator[Sent]:
    """Yield random results, some too large for the shelf, each with the id of the process that made it."""
    random = Random(seed)
    for n in range(random.randrange(12)):
        first, second = (random.randbytes(random.choice((0, 10, 999, 1001, 4000, 9999, 10_000, 10_001))) for _ in "ab")
        yield os.getpid(), PassedBytes(first), [b"x" * n], PassedBytes(memoryview(second).cast("b"))


def plain(found: Sent) -> tuple[bytes, list[bytes], bytes]:
    _, first, between, second = found
    return bytes(first.content), between, bytes(second.content)


@pytest.fixture
def _short_shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "SHELF", 10_000)
    monkeypatch.setattr(room, "_FEW", 1000)


@pytest.mark.usefixtures("_short_shelf")
@pytest.mark.parametrize("jobs", [2, 5])
def test_bytes_are_the_same_by_way_of_shared_memory(jobs: int) -> None:
    seeds, pids = range(200), set()
    with ahead(sent, seeds, [UNIT] * 200, jobs) as results:
        for seed in seeds:
            expected = list(map(plain, sent(seed)))
            made = [(found[0], plain(found)) for found in results(seed)]
            assert [each for _, each in made] == expected, seed
            pids |= {pid for pid, _ in made if seed}
    assert len(pids) == jobs and os.getpid() not in pids


def torn(seed: int) -> Iterator[tuple[PassedBytes, object]]:
    """Yield results of which some fail to pickle after their bytes were already put on the shelf."""
    for n in range(5):
        yield PassedBytes(bytes([seed, n]) * 2500), (lambda: None) if (seed + n) % 7 == 6 else n


@pytest.mark.usefixtures("_short_shelf")
def test_bytes_of_what_cannot_be_sent_take_no_room() -> None:
    with ahead(torn, range(100), [UNIT] * 100, 2) as results:
        for seed in range(100):
            assert [bytes(found.content) for found, _ in results(seed)] == [bytes([seed, n]) * 2500 for n in range(5)]


@pytest.mark.usefixtures("_short_shelf")
def test_who_waits_for_room_ends_with_the_taker(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    def work(n: int) -> Iterator[PassedBytes]:
        with pids.open("a") as out:
            out.write(f"{os.getpid()}\n")
        yield from (PassedBytes(bytes(9000)) for _ in range(9))

    taker = os.fork()
    if not taker:
        with ahead(work, range(20), [UNIT] * 20, 3) as results:
            list(results(0))
            next(results(1))
            time.sleep(1)
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(taker, 0)[1] == signal.SIGKILL
    waiting = {int(pid) for pid in pids.read_text().split()} - {taker}
    assert len(waiting) == 3
    until = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in waiting) and time.monotonic() < until:
        time.sleep(0.02)
    assert not [pid for pid in waiting if Path(f"/proc/{pid}").exists()]


def killed(thing: str) -> Iterator[str]:
    if thing == "thing 9":
        os.kill(os.getpid(), signal.SIGKILL)
    yield thing


def test_a_process_that_is_killed_is_an_error_that_says_so() -> None:
    said = pytest.raises(JobLost, match=r"ended by signal 9; is memory short.*--jobs 1")
    with said, ahead(killed, THINGS, LARGE, 2) as results:
        for thing in THINGS:
            list(results(thing))


def test_a_signal_while_a_killed_process_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    # Both processes may be signalled at once; the outcome is that of the signal.
    real, calls = os.waitpid, [0]

    def interrupted(pid: int, options: int) -> tuple[int, int]:
        found = real(pid, options)
        calls[0] += 1
        if calls[0] == 1:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(room.os, "waitpid", interrupted)
    with pytest.raises(KeyboardInterrupt), ahead(killed, THINGS, LARGE, 2) as results:
        for thing in THINGS:
            list(results(thing))
    assert calls[0] == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_a_new_process_does_not_end_the_program_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: signal.Signals
) -> None:
    # The handler would delete files that the other processes still use.
    real, here = os.fork, os.getpid()

    def forked() -> int:
        pid = real()
        if not pid:
            os.kill(os.getpid(), number)
        return pid

    def end(*_: object) -> None:
        if os.getpid() != here:
            (tmp_path / "ended here").touch()

    monkeypatch.setattr(room.os, "fork", forked)
    before = signal.signal(number, end)
    try:
        said = pytest.raises(JobLost, match=f"ended by signal {int(number)};")
        with said, ahead(letters, THINGS, LARGE, 2) as results:
            for thing in THINGS:
                list(results(thing))
    finally:
        signal.signal(number, before)
    assert not list(tmp_path.iterdir())


def test_the_system_ends_them_before_who_takes_their_results() -> None:
    # If memory is short, the parent must survive to report it.
    with ahead(lambda _: [int(Path("/proc/self/oom_score_adj").read_text())], range(20), LARGE, 2) as results:
        here, *others = [score for n in range(20) for score in results(n)]
    assert min(others) >= 900 > here


def test_whoever_stops_early_leaves_nobody_behind() -> None:
    begun = time.monotonic()
    with ahead(lambda n: [time.sleep(n)], range(20), LARGE, 3) as results:
        list(results(0))
        list(results(1))
    assert time.monotonic() - begun < 15


def children() -> set[str]:
    """Return the ids of this process's children, zombies included."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                found.add(stat.parent.name)
    return found


@pytest.fixture(autouse=True)
def _nobody_is_left() -> Iterator[None]:
    before = children()
    yield
    assert children() <= before


def test_processors_are_those_of_the_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {3}, raising=False)
    assert processors() == 1


@pytest.mark.parametrize(
    ("files", "granted"),
    [
        ({"sys/fs/cgroup/pod/cpu.max": "150000 100000\n"}, 2),
        ({"sys/fs/cgroup/cpu.max": "300000 100000\n", "sys/fs/cgroup/pod/cpu.max": "max 100000\n"}, 3),
        ({"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 1),
        ({"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 64),
        ({}, 64),
    ],
)
def test_processors_are_no_more_than_control_groups_grant(
    files: dict[str, str], granted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {"proc/self/cgroup": "0::/pod\n", **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(64)), raising=False)
    monkeypatch.setattr(room, "Path", lambda first, *rest: tmp_path.joinpath(str(first).lstrip("/"), *rest))
    assert processors() == granted
