"""Is reading linear? Processor seconds and peak memory of commands on directories of one size and of four times that.

    python bench/linear.py [--scale 1.0] [--only acknowledgements,pages,…] [--commands "messages ls,pages ls"]
        [--folder DIR]

At scale 1: 5,000,000 acknowledgements, 200,000 pages, 10,000 paging addresses, a page of 2 GiB, 100,000 empty folders,
20,000 queues of an address, 200,000 journal messages, 40,000 large messages, 80,000 transactions, replay with 4,000
queues, and a history of 800 MB. The last column is the time for a unit beside that of the smaller size: 1.0 is linear;
more than 1.4 is marked and ends the program with status 1. What each command takes on a hundredth of the smaller size
is taken off: its own start, with the libraries that it loads. All run on one processor: only large work is shared by
several, and costs half as much again in sum. ``--folder`` needs 8 GB.

At scale 1, on two busy cores (processor seconds, most memory; the program alone has 36 MiB):

* 5,000,000 acknowledgements: ls 3.3 s, 295 MiB (52 bytes each), verify 42 s, decode 23 s (5 s for 1,000,000).
* A page of 2 GiB: ls 1.0 s, verify 27 s, decode 5.4 s, 121 MiB as for 1 GiB.
* 10,000 addresses: ls 3.2 s, 49 MiB, verify 4.8 s, 82 MiB, decode 29 s, 99 MiB.
* 100,000 empty folders: verify 7.2 s, 103 MiB.
* 200,000 pages of ten records: ls 26 s, 89 MiB, outstanding 19 s, 201 MiB, verify 36 s, 216 MiB. Decode to
  JSON lines takes 0.8 ms for each page, to Parquet 0.08 ms: 1.9 s for 20,000 of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from multiprocessing import Process
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / part) for part in ("", "cli", "schemas", "bench", "tests/support")]

import history  # noqa: E402
from growing_stores import READING, journal_message, made, words  # noqa: E402
from make_pages import ADDRESS, FOLDER, SETS, record, records, write_bindings  # noqa: E402
from memory import QUEUES, write_acks  # noqa: E402
from pages import once  # noqa: E402

from pagefmt.directory.bindings import encode_queue, load_bindings  # noqa: E402
from pagefmt.directory.paging import page_name  # noqa: E402
from pagefmt.journal.record_types import RecordType  # noqa: E402
from pagefmt.journal.writing import write_journal  # noqa: E402

LINKS = 10_000
"""Names of one file: file systems have a limit."""
BLOCK = 32 << 20
FEW, MANY = 10, 1_000
"""Records of a page."""


def directory(folder: Path) -> Path:
    """Create a data directory whose only store has no pages yet, and return the store's folder."""
    store = folder / "paging" / FOLDER
    store.mkdir(parents=True)
    (store / "address.txt").write_text(ADDRESS + "\n")
    write_bindings(folder, QUEUES)
    for path in (folder / "journal").iterdir():
        path.unlink()
    write_journal(folder / "journal", "activemq-data-{}.amq", journal_message(-900, QUEUES))
    return store


def page_content(size: int) -> bytes:
    """Concatenate records until they reach ``size`` bytes; the last record may exceed it."""
    content = bytearray()
    for each in records(SETS["b"], QUEUES):
        content += each
        if len(content) >= size:
            break
    return bytes(content)


def write_pages(store: Path, count: int, records_of_each: int) -> None:
    """Write ``count`` pages of the same content, most of them as hard links."""
    content = b"".join(islice(records(SETS["b"], QUEUES), records_of_each))
    for number in range(count):
        path = store / page_name(number + 1)
        if number % LINKS == 0:
            path.write_bytes(content)
            first = path
        else:
            path.hardlink_to(first)


def acknowledgements(folder: Path, count: int) -> None:
    """Write ``count`` acknowledgements, a quarter of those that the pages and queues allow."""
    store, pages = directory(folder), -(-count // MANY)
    write_pages(store, pages, MANY)
    for old in (folder / "journal").iterdir():
        old.unlink()
    write_acks(folder / "journal", [MANY] * pages, count, False)


def pages(folder: Path, count: int) -> None:
    write_pages(directory(folder), count, FEW)


def addresses(folder: Path, count: int) -> None:
    """Write ``count`` addresses, each with a queue and a page."""
    shutil.rmtree(directory(folder))
    any_queue = next(iter(load_bindings(folder / "bindings").queues.values()))
    found = []
    for number in range(count):
        name = f"a{number}"
        values = {**any_queue.fields, "name": name, "address": name}
        binding = type(any_queue)(10 + number, values)
        found.append(record(10 + number, RecordType.QUEUE_BINDING_RECORD, encode_queue(binding)))
        own = folder / "paging" / f"{number:08x}-0000-11f0-8000-000000000001"
        own.mkdir()
        (own / "address.txt").write_text(name + "\n")
        (own / page_name(1)).write_bytes(b"".join(islice(records(SETS["b"], (binding.id,)), FEW)))
    for old in (folder / "bindings").iterdir():
        old.unlink()
    write_journal(folder / "bindings", "activemq-bindings-{}.bindings", found)


def page(folder: Path, size: int) -> None:
    """Write one page of about ``size`` bytes."""
    content = page_content(min(BLOCK, size))
    with (directory(folder) / page_name(1)).open("wb") as out:
        for _ in range(size // len(content)):
            out.write(content)


def folders(folder: Path, count: int) -> None:
    """Create ``count`` folders of stores without pages and addresses."""
    directory(folder)
    for number in range(count):
        (folder / "paging" / f"{number:08x}-0000-11f0-8000-000000000001").mkdir()


def queues(folder: Path, count: int) -> None:
    """Write a configuration, and a trace that creates ``count`` queues on separate addresses and sends to them."""
    folder.mkdir(parents=True)
    (folder / "broker.xml").write_text(
        '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"/></configuration>'
    )
    with (folder / "trace.jsonl").open("w") as out:
        out.write('{"trace": 1}\n')
        for number in range(count):
            out.write(json.dumps({"op": "create_queue", "queue": f"q{number}", "address": f"a{number}"}) + "\n")


def reading(data: Path) -> Iterator[tuple[str, list[str]]]:
    if not any(data.glob("queue-*")):
        (data / f"queue-{next(iter(load_bindings(data / 'bindings').queues.values())).name}").touch()
    for command in READING:
        yield command, [sys.executable, "-m", "pagectl", *words(command, data, data.with_name("out"))]


def replaying(data: Path) -> Iterator[tuple[str, list[str]]]:
    tool = [sys.executable, "-m", "pagectl", "replay", "run", str(data / "trace.jsonl")]
    yield "replay", [*tool, "--config", str(data / "broker.xml"), "--format", "json"]


def retained(data: Path) -> Iterator[tuple[str, list[str]]]:
    names = sorted(path.name for path in (data / "history").iterdir())
    return iter(history.ours(data, names[len(names) // 2]).items())


Make = Callable[[Path, int], object]
MOST_GROWTH = 1.4
"""Of the time for a unit."""
KINDS: dict[str, tuple[Make, int]] = {
    "acknowledgements": (acknowledgements, 5_000_000),
    "pages": (pages, 200_000),
    "addresses": (addresses, 10_000),
    "page": (page, (1 << 31) - BLOCK),
    "folders": (folders, 100_000),
    "queues": (partial(made, "queues"), 20_000),
    "journal messages": (partial(made, "journal messages"), 200_000),
    "large messages": (partial(made, "large messages"), 40_000),
    "transactions": (partial(made, "transactions"), 80_000),
    "replay": (queues, 4_000),
    "history": (history.make, 800),
}
CALLS = {"replay": replaying, "history": retained}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--only", default=",".join(KINDS))
    options.add_argument("--folder", type=Path, help="where the directories are made [default: the system's]")
    options.add_argument(
        "--commands", default="", help="commands that begin with one of these, by commas [default: all]"
    )
    given = options.parse_args()
    grown = 0
    with tempfile.TemporaryDirectory(prefix="pagectl-bench-", dir=given.folder) as name:
        nothing = [sys.executable, "-m", "pagectl", "pages", "ls", str(_nothing(Path(name) / "nothing"))]
        once(nothing)  # the first start compiles modules
        start = once(nothing)
        print(f"start of the program: {start.cpu:.2f} s, {start.peak:.0f} MiB")
        print(f"{'what':18}{'command':46}{'count':>15}{'cpu s':>9}{'peak MiB':>10}{'growth':>8}")
        for kind in given.only.split(","):
            make, most = KINDS[kind]
            size = max(1, int(most * given.scale) // 4)
            grown += measure(kind, make, size, Path(name), tuple(given.commands.split(",")))
    if grown:
        sys.exit(f"{grown} commands cost more for a unit where there are more")


def _nothing(folder: Path) -> Path:
    directory(folder)
    return folder


def measure(kind: str, make: Make, smaller: int, folder: Path, commands: tuple[str, ...]) -> int:
    """Return how many commands cost more for a unit of four times the smaller size."""
    start: dict[str, float] = {}
    last: dict[str, float] = {}
    grown = 0
    for size in (max(1, smaller // 100), smaller, 4 * smaller):
        data = folder / kind.replace(" ", "-")
        making = Process(target=make, args=(data, size))  # what is made here would be counted as a command's memory
        making.start()
        making.join()
        for name, call in CALLS.get(kind, reading)(data):
            if not name.startswith(commands):
                continue
            used = once(call, also=(2,) if "salvage" in name else ())  # nothing to salvage is an error
            spent = used.cpu - start.setdefault(name, used.cpu)
            growth = ""
            if size > smaller:
                ratio = spent / max(last[name], 0.1) / 4
                grown += ratio > MOST_GROWTH
                growth = f"{ratio:8.2f}{' <<<' * (ratio > MOST_GROWTH)}"
            last[name] = spent
            print(f"{kind:18}{name:46}{size:>15,}{used.cpu:9.2f}{used.peak:10.0f}{growth}", flush=True)
            out = folder / "out"
            shutil.rmtree(out, ignore_errors=True)
            out.unlink(missing_ok=True)
        shutil.rmtree(data)
    return grown


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    main()
