"""What a watch knows after look upon look is what one reading of the whole directory says; it reads what changed."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import golden_cases
import numpy as np
import pytest
from golden_cases import GoldenCase
from harmed import acknowledgement, bound_queue, data_directory, journal_with, record
from pagectl.running.backlogs import WatchedQueues, look

from pagefmt.directory.locate import locate, stores
from pagefmt.journal import load
from pagefmt.journal.positions import PositionIndex, Positions
from pagefmt.outstanding import watch, watched_store
from pagefmt.outstanding.backlog import backlog_of
from pagefmt.outstanding.journal_backlog import large_sizes
from pagefmt.outstanding.journal_marks import JournalMarks
from pagefmt.outstanding.state import CannotKnow
from pagefmt.outstanding.watch import BrokerBacklog, PagesWatch
from pagefmt.storage.files import NotReadable
from pagefmt.table.table_content import StoredIn
from pagefmt.vectors import load_place, watch_pages


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file count as settled, whatever its modification time."""
    monkeypatch.setattr(watched_store, "SETTLED", -(1 << 62))


def read_whole(data: Path) -> dict[str, object]:
    """Count each store with the reference reader.

    Values: address, pages, bytes, and the backlog of each queue or None if it is unknown.
    """
    found: dict[str, object] = {}
    bodies = large_sizes(locate(data).large_messages)
    for known in load_place(locate(data)).stores():
        there = bool(known.store.pages or known.store.problem)
        queues: tuple[tuple[object, ...], ...] | None = None if there else ()
        if known.unknown is None:
            seen = backlog_of(known, bodies)
            if seen.verdict.counted or not there:
                queues = tuple((queue.queue, *queue[4:]) for queue in seen.queues)
        sizes = [page.size for page in known.store.pages]
        found[known.store.name] = (known.store.address, len(sizes), sum(sizes), queues)
    return found


def watched(seen: BrokerBacklog, data: Path) -> dict[str, object]:
    names = sorted(path.name for path in (data / "paging").iterdir() if path.is_dir())
    return {
        name: (
            store.address,
            store.pages,
            store.bytes,
            None if store.queues is None else tuple((queue.queue, *queue[4:]) for queue in store.queues),
        )
        for name, store in zip(names, seen.stores, strict=True)
    }


@pytest.mark.parametrize("case", golden_cases.cases_of_each_kind(), ids=str)
def test_every_golden_directory(case: GoldenCase) -> None:
    data = case.data()
    if (data / "paging").is_dir():
        assert watched(watch_pages(locate(data)).look(), data) == read_whole(data)


@pytest.mark.parametrize("case", golden_cases.cases_of_each_kind(), ids=str)
def test_top_sees_the_same_look_after_look(case: GoldenCase) -> None:
    place = locate(case.data())
    if place.paging is None:
        return
    for one in (place, *(locate(store.folder) for store in stores(place))):
        try:
            whole = look([one], StoredIn.LIVE)
        except CannotKnow:
            continue
        seen = WatchedQueues([one])
        for found in (seen.look(), seen.look()):
            assert sorted(found.queues, key=str) == sorted(whole.queues, key=str)
            assert found[1:6] == whole[1:6]
            assert not whole.unknown or found.remarks


def steps(case: GoldenCase, to: Path, seed: int) -> Iterator[Path]:
    """Yield a directory after each change of its pages, journal and bindings.

    Files grow from nothing in one or two steps, then a few pages and the bindings are deleted, and the bindings return.
    """
    chance = random.Random(seed)
    data = case.copy(to)
    whole = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    for path in whole:
        if path.suffix in (".page", ".amq"):
            path.unlink()
    yield data
    for path in sorted(whole, key=lambda path: (path.suffix == ".amq", path.name)):
        if path.suffix not in (".page", ".amq"):
            continue
        content = whole[path]
        for upto in sorted({chance.randrange(len(content) + 1), len(content)}):
            path.write_bytes(content[:upto] if path.suffix == ".page" else content[:upto].ljust(len(content), b"\0"))
            yield data
    pages = sorted(path for path in whole if path.suffix == ".page")
    for path in chance.sample(pages, min(3, len(pages))):
        path.unlink()
        yield data
    shutil.rmtree(data / "bindings")
    (data / "bindings").mkdir()
    yield data
    for path in whole:
        if path.parent.name == "bindings":
            path.write_bytes(whole[path])
    yield data


CHANGING = [case for case in golden_cases.cases("2.56.0") if len(list((case.data() / "paging").rglob("*.page"))) < 12]


@pytest.mark.parametrize("case", CHANGING[:8], ids=str)
def test_look_upon_look(case: GoldenCase, tmp_path: Path) -> None:
    seen: PagesWatch | None = None
    for data in steps(case, tmp_path, seed=1):
        seen = seen or watch_pages(locate(data))
        assert watched(seen.look(), data) == read_whole(data)


def test_what_stands_still_is_not_read_again(settled: None, tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    seen = watch_pages(locate(data))
    pages = sorted((data / "paging").rglob("*.page"))
    assert seen.look().read == len(pages) > 1
    assert [seen.look().read for _ in range(3)] == [0, 0, 0]
    with pages[-1].open("ab") as file:
        file.write(b"{")
    assert [seen.look().read, seen.look().read] == [1, 0]
    os.truncate(pages[-1], pages[-1].stat().st_size - 1)
    assert [seen.look().read, seen.look().read] == [1, 0]
    pages[0].unlink()
    assert (seen.look().read, seen.look().stores[0].pages) == (0, len(pages) - 1)


@pytest.mark.parametrize("now", [0, 1 << 62])
def test_a_clock_that_is_wrong(now: int, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(watched_store.time, "time_ns", lambda: now)
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    seen = watch_pages(locate(data))
    assert seen.look()._replace(read=0) == seen.look()
    pages = sorted((data / "paging").rglob("*.page"))
    pages[0].unlink()
    assert watched(seen.look(), data) == read_whole(data)


def test_a_page_that_is_being_written_is_read_again(settled: None, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(watch, "running_broker", lambda journal: 1)
    data = data_directory(tmp_path, {1: record(1), 2: record(2) + record(3)[:30]})
    bound_queue(data)
    seen = watch_pages(locate(data))
    assert [(seen.look().read, seen.look().stores[0].damaged) for _ in range(2)] == [(2, 0), (1, 0)]


def test_an_acknowledgement_costs_its_page_alone(settled: None, tmp_path: Path) -> None:
    data = data_directory(tmp_path, {number: record(number) + record(10 + number) for number in range(1, 10)})
    queue = bound_queue(data)
    for page in (data / "paging").rglob("*.page"):
        number = int(page.stem)
        page.write_bytes(record(number, queues=(queue,)) + record(10 + number, queues=(queue,)))
    seen, acks = watch_pages(locate(data)), list[bytes]()
    for page, number in ((3, 0), (9, 1), (3, 1)):
        acks.append(acknowledgement(page, number, queue, 900_000 + len(acks)))
        journal_with(data, acks)
        first, again = seen.look(), seen.look()
        assert first.read == (9 if len(acks) == 1 else 1) and again == first._replace(read=0)
        (store,) = again.stores
        assert store.queues is not None and store.queues[0].messages == 18 - len(acks)
        assert store.queues[0].oldest == 1_700_000_000_000


def test_a_journal_that_can_be_read_again(settled: None, tmp_path: Path, monkeypatch: Any) -> None:
    # No file changes, as after a transient error of the disk.
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    seen, wanted = watch_pages(locate(data)), watch_pages(locate(data)).look()

    def failing(path: Path) -> None:
        raise NotReadable(f"{path}: Input/output error")

    monkeypatch.setattr(load, "FileStretches", failing)
    assert all(store.queues is None for store in seen.look().stores if store.pages)
    monkeypatch.undo()
    assert seen.look().stores == wanted.stores


@pytest.mark.parametrize("queue", [-(1 << 63), -1, (1 << 63) - 1])
def test_ids_at_the_edges(queue: int, tmp_path: Path, monkeypatch: Any) -> None:
    positions = Positions()
    positions.add(1, queue, 1, 0)
    journal = SimpleNamespace(
        ack_index=PositionIndex(positions.chunks),
        complete_index=PositionIndex(positions.chunks),
        in_doubt_acks=PositionIndex(Positions().chunks),
        page_transactions={queue: 1},
        in_doubt_sends=frozenset({0}),
    )
    view = JournalMarks(journal, 1)  # type: ignore[arg-type]
    pages = np.array([1, 2])
    assert (view.marks(pages, [queue]) != 0).tolist() == [True, False]
    assert (view.sent(np.array([queue, 5]), np.array([queue, 5]), False) != 0).tolist() == [True, False]


def test_a_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    seen = watch_pages(locate(data))
    assert seen.look().stores
    shutil.rmtree(data / "paging")
    with pytest.raises(NotReadable):
        seen.look()
