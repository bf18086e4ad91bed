"""Nights of an incremental export beside a broker that writes pages and deletes them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from made_pages import FOLDER, message
from program import EXPORT, started

from pagefmt.directory.fleet import FleetBroker, absolute
from pagefmt.directory.locate import within as placed
from pagefmt.table.table_content import LakeFormat, StoredIn

KILLS = int(os.environ.get("PAGECTL_HARM_KILLS", "200"))


def night(
    context: Any, data: Path, out: Path, split: tuple[str, ...] = (), form: LakeFormat = LakeFormat.PARQUET, **more: Any
) -> Any:
    """Run one incremental export as the command does."""
    from pagefmt.spark.exported import ExportLog, all_news
    from pagefmt.spark.options import TableSpec
    from pagefmt.spark.table import Increment, TableTarget, surveys, write_by_tasks
    from pagefmt.spark.table_folder import table_at

    brokers = (FleetBroker("b", absolute(placed(data))),)
    spec = TableSpec.now(**{"within": StoredIn.PAGES, **more})
    with table_at(out) as into:
        log = ExportLog.of(into)
        increment = Increment({}, all_news(brokers, log, spec.within), log)
        (found,) = surveys(context, brokers, spec)
        target = TableTarget(into, splits=split, form=form)
        return write_by_tasks(context, found.pieces, spec, target, nullcontext, increment)


def night_here(broker: FleetBroker, folder: Path, within: StoredIn = StoredIn.PAGES) -> tuple[int, list[str]]:
    """Export incrementally without Spark and without writing a table.

    Return the number of new messages, and the states of the examined pages.
    """
    import pyarrow as pa

    from pagefmt.spark.exported import ExportLog, entries_to, news_of, write_entries
    from pagefmt.spark.options import TableSpec
    from pagefmt.spark.rows import rows_of
    from pagefmt.spark.survey import surveyed

    spec, log = TableSpec.now(within=within), ExportLog.of(folder)
    news = news_of(broker, log, within)
    left = [news.remaining(piece) for piece in surveyed(broker, spec).pieces]
    made = [each for piece in left if piece is not None for each in rows_of(piece, spec)]
    (folder / "_exported").mkdir(exist_ok=True)
    with entries_to(folder / "task.arrow") as entries:
        for each in made:
            if not isinstance(each, pa.RecordBatch):
                entries.add(each)
    name = f"part-{1 if log is None else log.run + 1:06d}-0123456789ab.arrow"
    found = write_entries(folder / "_exported" / name, [folder / "task.arrow"], [news], {})
    rows = sum(each.num_rows for each in made if isinstance(each, pa.RecordBatch))
    return rows, found.column("state").to_pylist()


def page_counts(written: Any) -> dict[str, int]:
    """Return the number of pages by state, without zeros."""
    assert written.pages is not None
    found = {name: each if isinstance(each, int) else len(each) for name, each in written.pages.items()}
    return {name: each for name, each in found.items() if each}


class PagingBroker:
    """Writes pages as a broker does: to the last one, and away with the first. ``every``: each message ever written."""

    def __init__(self, data: Path, seed: int = 7) -> None:
        self.folder, self.every = data / "paging" / FOLDER, Counter[tuple[int, int]]()
        self.folder.mkdir(parents=True)
        (self.folder / "address.txt").write_text("orders\n")
        self.chance, self.last, self.id = random.Random(seed), 1, 0

    def path(self, page: int) -> Path:
        return self.folder / f"{page:09d}.page"

    def write(self, messages: int) -> None:
        for _ in range(messages):
            self.id += 1
            with self.path(self.last).open("ab") as file:
                file.write(message(self.id, "orders", "text" * self.chance.randrange(9)))
            self.every[self.last, self.id] += 1
            self.last += self.chance.random() < 0.1

    def delete(self, pages: int) -> None:
        for path in sorted(self.folder.glob("*.page"))[:-1][:pages]:
            path.unlink()

    def start_anew(self) -> None:
        """Delete all pages, and restart their numbers."""
        for path in self.folder.glob("*.page"):
            path.unlink()
        self.last = 1


def _writing(folder: Path) -> bool:
    """Return whether a task has begun to write.

    Files may disappear while they are listed.
    """
    with suppress(FileNotFoundError):
        return any(folder.glob("out*/_temporary/*/*"))
    return False


def killed_nights(
    folder: Path,
    kills: int,
    words: tuple[str, ...],
    read: Callable[[Path], Any],
    *,
    start: Any = started,
    late: float = 1.5,
) -> int:
    """Kill ``kills`` exports beside a writing broker at random instants, and return how many died.

    Every tenth is followed by a complete export. ``late``: seconds after an export's first file within which it is
    killed.
    """
    broker, out = PagingBroker(folder / "data"), folder / "out"
    chance, seconds, killed = random.Random(16), 13 * late, 0
    call_ = (*EXPORT, folder / "data", "--to", out, "--incremental", "--master", "local[1]", *words)
    temporary = folder / "temporary"
    temporary.mkdir()
    env = {"TMPDIR": str(temporary), "SPARK_LOCAL_DIRS": str(temporary)}
    for number in range(kills):
        broker.write(chance.randrange(25))
        running = start(*call_, env=env)
        begun = time.monotonic()
        wait = chance.uniform(0, late) if number % 3 else seconds * chance.uniform(0.1, 1)
        while number % 3 and running.poll() is None and not _writing(folder):
            time.sleep(0.001)
        try:
            running.wait(wait)
        except subprocess.TimeoutExpired:
            running.kill()
        running.communicate()
        killed += running.returncode == -signal.SIGKILL
        if (out / "_SUCCESS").exists():
            assert not read(out) - broker.every, "nothing twice, nothing that never was"
        if number % 10 == 9 or number == kills - 1:
            begun = time.monotonic()
            whole = start(*call_, env=env)
            _, complained = whole.communicate(timeout=280)
            seconds = time.monotonic() - begun
            assert whole.returncode < 2, complained
            assert read(out) == broker.every
            assert not (out / "_temporary").exists() and not [*folder.glob("*.pagectl-partial")]
            broker.delete(chance.randrange(4))
            if chance.random() < 0.2:
                broker.start_anew()
    return killed


class TasksHere:
    """In the place of a Spark context: tasks run in this process, one after another."""

    defaultParallelism = 2  # noqa: N815 (Spark's name)

    def __init__(self, made: Iterable[Any] = ()) -> None:
        self._made = [*made]

    def parallelize(self, things: Iterable[Any], _: int = 1) -> TasksHere:
        return TasksHere(things)

    def map(self, work: Callable[[Any], Any]) -> TasksHere:
        return TasksHere(map(work, self._made))

    def collect(self) -> list[Any]:
        return self._made
