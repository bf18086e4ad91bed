"""The log of an incremental export, with bytes changed or cut off: refused, and never the end of the process."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

import pyarrow as pa

from pageengine.errors import PageEngineError
from pageengine.trace.decoding import BadValue
from pageengine.trace.parquet import parquet_rows, write_parquet
from pagefmt.errors import PageFmtError
from pagefmt.spark.exported import ADDED, ExportLog, PageEntry, entries_to, log_name

RUN = "0123456789ab"
STEPS = pytest.mark.parametrize("step", [37, pytest.param(1, marks=pytest.mark.slow)])


def survives(attempts: Iterator[Callable[[], object]]) -> int:
    """Make all attempts in a child process, which some might crash, and return how many were refused."""
    reading, writing = os.pipe()
    if not (child := os.fork()):
        refused = 0
        try:
            for attempt in attempts:
                try:
                    attempt()
                except (PageFmtError, PageEngineError, BadValue):
                    refused += 1
                except BaseException:
                    traceback.print_exc()
                    raise
            os.write(writing, str(refused).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        text = answer.read()
    status = os.waitpid(child, 0)[1]
    assert not os.WIFSIGNALED(status), f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    assert text, "an attempt raised something else"
    return int(text)


def damaged(content: bytes) -> list[bytes]:
    flips = [
        content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]
        for at in range(len(content))
        for bit in range(8)
    ]
    return [*flips, *(content[:length] for length in range(len(content)))]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write the export log of one run over two pages and return its path."""
    folder = tmp_path / "_exported"
    folder.mkdir()
    numbers = pa.array([1, 2, 5]).to_numpy()
    with entries_to(folder / "new", {"body": "size"}) as out:
        for page in (1, 2):
            out.add(PageEntry("broker", "store", page, ADDED, 100, "0badcafe", "1-2", 3, 0, numbers, numbers + 7))
    path = folder / log_name(1, RUN, folder / "new")
    (folder / "new").rename(path)
    return path


def questions(folder: Path) -> Any:
    found = ExportLog.of(folder)
    assert found is not None
    entries = found.of_broker("broker")
    return {key: [*each.ids.tolist()] for key, each in found.messages(entries.values()).items()}


def test_a_sound_log_is_read(log: Path) -> None:
    assert questions(log.parents[1]) == {0: [8, 9, 12], 1: [8, 9, 12]}


def written(path: Path, content: bytes) -> Callable[[], object]:
    def attempt() -> object:
        path.write_bytes(content)
        return questions(path.parents[1])

    return attempt


@STEPS
def test_each_flipped_bit_and_each_length_is_refused(log: Path, step: int) -> None:
    every = damaged(log.read_bytes())[::step]
    assert survives(written(log, content) for content in every) == len(every)


@STEPS
def test_a_log_of_an_earlier_release_ends_no_process(log: Path, step: int) -> None:
    # Its name has no checksum, and Arrow would follow damaged offsets to anywhere in memory.
    old = log.with_name(f"part-000001-{RUN}.arrow")
    log.rename(old)
    every = damaged(old.read_bytes())[::step]
    assert 0 < survives(written(old, content) for content in every) <= len(every)


@STEPS
def test_a_damaged_trace_in_parquet_ends_no_process(tmp_path: Path, step: int) -> None:
    path = tmp_path / "trace.parquet"
    lines = [{"t": n, "op": "send", "address": "a", "seq": n, "props": {"x": n}} for n in range(20)]
    write_parquet(path, {"version": 1}, lines)

    def read(content: bytes) -> Callable[[], object]:
        def attempt() -> object:
            path.write_bytes(content)
            return [*parquet_rows(path, None)[1]]

        return attempt

    every = damaged(path.read_bytes())[::step]
    assert 0 < survives(read(content) for content in every) <= len(every)
