"""Work on many things by several processes, with what comes of it in the order of the things.

The processes are forked, so that they have what was loaded and no more is sent than results. They work ahead of whoever
takes these, by what fits into a pipe, into memory that they share with the taker, and one result each: memory does not
grow with the number of things.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from io import BytesIO
from itertools import groupby, islice
from pathlib import Path
from typing import IO, Any, Final, Generic, TypeVar

from pagefmt.errors import PageFmtError

# Bytes of things that one process takes at a time.
UNIT: Final = 4 << 20
_BUFFER: Final = 1 << 20
# Bytes of results that a process may be ahead by.
SHELF: Final = 16 << 20
# Bytes. Smaller contents go through the pipe, which is no slower.
_FEW: Final = 16 << 10
_SET_PIPE_SIZE: Final = 1031  # fcntl's F_SETPIPE_SZ, which Python names since 3.10 on Linux alone
_OOM_SCORE_ADJ: Final = "900"  # of 1000: the kernel kills a worker before the parent
_ENDING: Final = frozenset((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
T = TypeVar("T")
R = TypeVar("R")


_fork_disabled = False  # state of the process, because the threads that do not survive a fork are the process's


class JobLost(PageFmtError):
    """A process ended before its work did."""


class PassedBytes:
    """Bytes in a result, which may come from another process. They are valid until the next result is taken."""

    __slots__ = ("content",)

    def __init__(self, content: bytes | memoryview) -> None:
        self.content = memoryview(content).cast("B")

    def __reduce__(self) -> tuple[Any, ...]:
        return PassedBytes, (bytes(self.content),)


class _EndMarker(Enum):
    """Marks the end of one work item's results in the pipe."""

    DONE = "done"
    FAILED = "failed"


def processors() -> int:
    """Return how many processors this process may use, by its affinity and its control group."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(own, _granted()))


def disable_fork() -> None:
    """Stop forking workers, because a loaded library does not survive a fork."""
    global _fork_disabled  # noqa: PLW0603 (see there)
    _fork_disabled = True


def _granted() -> int:
    """Return the processor time that control groups (versions 2 and 1) grant, in processors, rounded up."""
    granted = 1 << 16
    with suppress(OSError, ValueError):
        own = Path("/proc/self/cgroup").read_text().splitlines()[-1].rpartition(":")[2].strip("/")
        folder = Path("/sys/fs/cgroup", own)
        for group in (folder, *folder.parents):
            if group == Path("/sys/fs"):
                break
            with suppress(OSError, ValueError):
                quota, period = (group / "cpu.max").read_text().split()
                granted = min(granted, -(-int(quota) // int(period)))
    with suppress(OSError, ValueError):
        old = Path("/sys/fs/cgroup/cpu")
        quota_us = int((old / "cpu.cfs_quota_us").read_text())
        if quota_us > 0:
            granted = min(granted, -(-quota_us // int((old / "cpu.cfs_period_us").read_text())))
    return granted


@contextmanager
def ahead(
    work: Callable[[T], Iterable[R]], things: Sequence[T], sizes: Iterable[int], jobs: int
) -> Iterator[Callable[[T], Iterator[R]]]:
    """Yield a function that returns the results of ``work`` for a thing. ``sizes``: bytes of each thing.

    Things have to be requested in their order; some may be skipped. The first ``UNIT`` of them is processed in this
    process, and all are if ``jobs`` is 1, the system grants no more processes, this is not Linux, or after
    ``disable_fork``, because libraries may not survive a fork. What ``work`` raises is raised in this process. Raises
    ``JobLost``.

    The processes start after the first result, when ``work`` has imported what it needs.
    """
    units = _units(sizes) if jobs > 1 and sys.platform == "linux" and not _fork_disabled else []
    if not units or units[-1] == 0:
        yield lambda thing: iter(work(thing))
        return
    team = _Team(work, things, units, min(jobs, units[-1]))
    try:
        yield team.results
    finally:
        team.stop()


@contextmanager
def one_ahead(
    work: Callable[[T], R], things: Sequence[T], sizes: Iterable[int], jobs: int
) -> Iterator[Callable[[T], R]]:
    """Do what ``ahead`` does, for work with a single result."""
    with ahead(lambda thing: (work(thing),), things, sizes, jobs) as results:

        def result(thing: T) -> R:
            (single,) = results(thing)
            return single

        yield result


def _units(sizes: Iterable[int]) -> list[int]:
    """Return the index of each thing's unit."""
    units, unit, size = [], 0, 0
    for thing_size in sizes:
        units.append(unit)
        size += thing_size
        if size >= UNIT:
            unit, size = unit + 1, 0
    return units


class _Shelf:
    """Memory that a process shares with who takes its results: a ring, in which bytes lie until they were taken.

    Positions count on; the first bytes say up to where the ring was freed.
    """

    def __init__(self) -> None:
        self._memory = memoryview(mmap.mmap(-1, mmap.PAGESIZE + SHELF))
        self._freed = self._memory[:8].cast("Q")
        self._ring = self._memory[mmap.PAGESIZE :]
        self._taker = os.getpid()
        self.end = 0

    def put(self, content: memoryview, before_waiting: Callable[[], None]) -> int:
        """Copy the bytes after all earlier ones, in one piece, and return their position. Waits for room."""
        at = self.end
        if at % SHELF + len(content) > SHELF:
            at += SHELF - at % SHELF
        needed = min(at + len(content) - SHELF, self.end)
        if self._freed[0] < needed:
            before_waiting()
            self._wait_for(needed)
        self.end = at + len(content)
        self._ring[at % SHELF : at % SHELF + len(content)] = content
        return at

    def _wait_for(self, position: int) -> None:
        """Wait until the ring is freed up to a position, or the reading process has gone."""
        pause = 0.0005
        while self._freed[0] < position:
            time.sleep(pause)
            pause = min(2 * pause, 0.03)
            if os.getppid() != self._taker:
                raise BrokenPipeError

    def lent(self, at: int, size: int) -> memoryview:
        """Return a view of bytes on the shelf."""
        return self._ring[at % SHELF : at % SHELF + size]

    def free(self, end: int) -> None:
        """Release everything before a position."""
        self._freed[0] = end


class _Packer(pickle.Pickler):
    """Packs results; of each, the first bytes that are many go onto the shelf."""

    def __init__(self, out: BytesIO, shelf: _Shelf, before_waiting: Callable[[], None]) -> None:
        super().__init__(out, pickle.HIGHEST_PROTOCOL)
        self._shelf, self._before_waiting, self._used = shelf, before_waiting, False

    def persistent_id(self, obj: Any) -> tuple[int, int] | None:
        """Return position and size of content that was put on the shelf, or None to pickle the object itself."""
        if not isinstance(obj, PassedBytes) or self._used or not _FEW <= len(obj.content) <= SHELF:
            return None
        self._used = True
        return self._shelf.put(obj.content, self._before_waiting), len(obj.content)


class _Unpacker(pickle.Unpickler):
    """Takes results out of a pipe."""

    def __init__(self, source: IO[bytes], shelf: _Shelf) -> None:
        super().__init__(source)
        self._shelf = shelf
        self.end: int | None = None

    def persistent_load(self, pid: Any) -> PassedBytes:
        at, size = pid
        self.end = at + size
        return PassedBytes(self._shelf.lent(at, size))


class _Process:
    """One forked process, and where its results come from."""

    def __init__(self, pid: int, source: IO[bytes], shelf: _Shelf) -> None:
        self.pid, self.source, self._shelf = pid, source, shelf
        self._lent: int | None = None

    def take(self) -> Any:
        """Return the next result or a mark. Invalidates the bytes of the previous result. Raise ``JobLost``."""
        if self._lent is not None:
            self._shelf.free(self._lent)
        unpacker = _Unpacker(self.source, self._shelf)
        try:
            result = unpacker.load()
        except (EOFError, pickle.UnpicklingError):
            ended, self.pid = self.pid, 0  # also where a signal comes now: nobody waits for it twice
            _, status = os.waitpid(ended, 0)
            code = os.waitstatus_to_exitcode(status)
            why = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
            raise JobLost(
                f"a process that reads ahead {why}; is memory short? --jobs 1 uses one process only"
            ) from None
        self._lent = unpacker.end
        return result


class _Team(Generic[T, R]):
    """The processes; unit after unit goes to the next of them."""

    def __init__(self, work: Callable[[T], Iterable[R]], things: Sequence[T], units: list[int], jobs: int) -> None:
        self._work, self._things, self._units, self._jobs = work, things, units, jobs
        self._next = 0
        self._processes: list[_Process] = []

    def results(self, thing: T) -> Iterator[R]:
        """Yield the results of the thing, which comes after all that were requested before."""
        while self._things[self._next] is not thing:
            for _ in self._of_next():
                pass
        yield from self._of_next()

    def _of_next(self) -> Iterator[R]:
        number = self._next
        self._next += 1
        unit, thing = self._units[number], self._things[number]
        if unit == 0 or not self._jobs:
            for result in self._work(thing):
                yield result
                self._start()
            return
        self._start()
        process = self._processes[unit % self._jobs]
        count = 0
        while not isinstance(result_ := process.take(), _EndMarker):
            count += 1
            yield result_
        if result_ is _EndMarker.FAILED:  # what is raised is raised where it would have been
            yield from islice(self._work(thing), count, None)

    def _start(self) -> None:
        """Start the processes unless they run.

        Set ``_jobs`` to 0 if the system grants no processes, pipes or memory.
        """
        if self._processes or not self._jobs:
            return
        first = self._units.index(1)
        pipes: list[tuple[int, int]] = []
        try:
            for _ in range(self._jobs):
                pipes.append(os.pipe())
            for own, (read, write) in enumerate(pipes):
                _enlarge(write)
                shelf = _Shelf()
                with _undisturbed():
                    pid = os.fork()
                    if not pid:
                        self._forked(own, first, write, shelf, [fd for pipe in pipes for fd in pipe if fd != write])
                    self._processes.append(_Process(pid, os.fdopen(read, "rb", _BUFFER), shelf))
        except OSError:
            for read, _ in pipes[len(self._processes) :]:
                os.close(read)
            self.stop()
            self._jobs = 0
        finally:
            for _, write in pipes:
                os.close(write)

    def _forked(self, own: int, first: int, write: int, shelf: _Shelf, others: list[int]) -> None:
        """Run a forked process to its end; it never returns into the program that it was forked from."""
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            for number_of_signal in _ENDING - {signal.SIGINT}:
                if callable(signal.getsignal(number_of_signal)):
                    signal.signal(number_of_signal, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
            for fd in others:
                with suppress(OSError):
                    os.close(fd)
            with suppress(OSError):  # short of memory, the system ends this one, and who takes its results tells it
                Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE_ADJ)
            with os.fdopen(write, "wb", _BUFFER) as out:
                for unit, numbers in groupby(range(first, len(self._things)), self._units.__getitem__):
                    if unit % self._jobs == own:
                        for number in numbers:
                            self._send(self._things[number], out, shelf)
                        out.flush()
            status = 0
        finally:
            os._exit(status)

    def _send(self, thing: T, out: IO[bytes], shelf: _Shelf) -> None:
        """Send the results of a thing.

        Each is packed before it is sent, so one that cannot be packed counts as failed.
        """
        mark = _EndMarker.DONE
        packed = BytesIO()
        try:
            for result in self._work(thing):
                end = shelf.end
                try:
                    _Packer(packed, shelf, out.flush).dump(result)
                except BaseException:
                    shelf.end = end
                    raise
                out.write(packed.getbuffer())
                packed.seek(0)
                packed.truncate()
        except BrokenPipeError:
            raise
        except Exception:
            mark = _EndMarker.FAILED
        pickle.dump(mark, out, pickle.HIGHEST_PROTOCOL)

    def stop(self) -> None:
        """Nobody waits for what is not taken yet."""
        for process in self._processes:
            process.source.close()
            if process.pid:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
                os.waitpid(process.pid, 0)
        self._processes = []


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Defer signals that end the program until after the block.

    In a forked process they would end it a second time, with all its cleanup.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _enlarge(pipe: int) -> None:
    """Enlarge the pipe's buffer if the system allows it."""
    import fcntl

    with suppress(OSError):
        fcntl.fcntl(pipe, _SET_PIPE_SIZE, _BUFFER)
