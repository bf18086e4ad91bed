"""Exports as processes of their own in which tasks are forked, in the place of Spark's: a hundredth of the time.

The command is the usual one from its words to its status, and a task goes on for a while when who started it is killed,
as Spark's workers do. The program reads calls from standard input, one JSON object a line, forks for each, prints its
process id, and its status when it has ended.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import IO, Any


class ForkedTasks:
    """In the place of a Spark context."""

    defaultParallelism = 2  # noqa: N815 (Spark's name)

    def __init__(self, things: Iterable[Any] = (), work: Callable[[Any], Any] | None = None) -> None:
        self._things, self._work = [*things], work

    def parallelize(self, things: Iterable[Any], _: int = 1) -> ForkedTasks:
        return ForkedTasks(things)

    def map(self, work: Callable[[Any], Any]) -> ForkedTasks:
        return ForkedTasks(self._things, work)

    def collect(self) -> list[Any]:
        return [pickle.loads(each.read()) for each in [self._begun(thing) for thing in self._things]]

    def _begun(self, thing: Any) -> IO[bytes]:
        assert self._work is not None
        reading, writing = os.pipe()
        if os.fork():
            os.close(writing)
            return os.fdopen(reading, "rb")
        status = 99
        try:
            os.closerange(3, writing)  # the lock of the table is its writer's alone
            os.closerange(writing + 1, 4096)
            with os.fdopen(writing, "wb") as out:
                out.write(pickle.dumps(self._work(thing)))
            status = 0
        finally:
            os._exit(status)


def exported_here(job: Any, run: Any, fleet: list[Any], *, alone: bool) -> Any:
    """Export as the command does with Spark, but in forked processes."""
    from pagefmt.spark import exporting
    from pagefmt.spark.table import surveys

    if job.increment is not None:
        fleet = [each.broker for each in job.increment.news if each.looked or job.increment.log is None]
    context: Any = ForkedTasks()
    found = surveys(context, fleet, job.spec)
    return exporting.Exported(exporting.write_table(context, job, found, nullcontext), tuple(found))


def serve() -> None:
    import pagectl.terminal.spark_progress as shown
    from pagectl.app import run

    from pagefmt.spark import exporting

    exporting.by_spark = exported_here
    shown.spark_progress = lambda *_: nullcontext()  # type: ignore[assignment]
    for line in sys.stdin:
        call = json.loads(line)
        if (child := os.fork()) == 0:
            os.environ.update(call["env"])
            with open(call["err"], "wb") as err:  # noqa: PTH123 (a child)
                os.dup2(os.open(os.devnull, os.O_RDWR), 1)
                os.dup2(err.fileno(), 2)
            status = 99
            try:
                status = int(run(call["argv"]))
            finally:
                os._exit(status)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


class ForkedRun:
    """A call under way, as ``subprocess.Popen`` shows one."""

    def __init__(self, server: subprocess.Popen[str], pid: int, err: Path) -> None:
        self._server, self._pid, self._err = server, pid, err
        self.returncode: int | None = None

    def poll(self, seconds: float = 0) -> int | None:
        assert self._server.stdout is not None
        if self.returncode is None and select.select([self._server.stdout], [], [], seconds)[0]:
            self.returncode = int(self._server.stdout.readline())
        return self.returncode

    def wait(self, timeout: float) -> int:
        if (status := self.poll(timeout)) is None:
            raise subprocess.TimeoutExpired("export", timeout)
        return status

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def communicate(self, timeout: float = 60) -> tuple[str, str]:
        self.wait(timeout)
        return "", self._err.read_text("utf-8", "replace") if self._err.exists() else ""


class ForkedNights:
    """Starts calls; ends with the block."""

    def __enter__(self) -> ForkedNights:
        self._folder = tempfile.TemporaryDirectory()
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        return self

    def __call__(self, *words: str | Path, env: Mapping[str, str]) -> ForkedRun:
        assert self._server.stdin is not None and self._server.stdout is not None
        err = Path(self._folder.name, f"{time.monotonic_ns()}")
        asked = {"argv": [str(word) for word in words], "env": dict(env), "err": str(err)}
        print(json.dumps(asked), file=self._server.stdin, flush=True)
        return ForkedRun(self._server, int(self._server.stdout.readline()), err)

    def __exit__(self, *_: object) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()
        self._folder.cleanup()


if __name__ == "__main__":
    serve()
