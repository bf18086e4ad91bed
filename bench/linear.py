"""Is reading linear? Processor seconds and peak memory of commands on directories of one size and of twice that.

    python bench/linear.py [--scale 1.0] [--only acknowledgements,pages,addresses,page,folders,queues] [--folder DIR]

At scale 1: 5,000,000 acknowledgements, 200,000 pages, 10,000 paging addresses, a page of 2 GiB, 100,000 empty folders,
and replay with 1,000, 2,000 and 4,000 queues. The last column is the time for each of them beside that of the smaller
size, start of the program taken off: 1.0 is linear. ``--folder`` needs 4 GB.

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
from itertools import islice
from multiprocessing import Process
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "cli"), str(ROOT / "schemas"), str(ROOT / "bench")]

from make_pages import ADDRESS, FOLDER, SETS, record, records, write_bindings  # noqa: E402
from memory import QUEUES, write_acks  # noqa: E402
from pages import Cost, once  # noqa: E402

from pagefmt.directory.bindings import encode_queue, load_bindings  # noqa: E402
from pagefmt.journal.record_types import RecordType  # noqa: E402
from pagefmt.journal.writing import write_journal  # noqa: E402
from pagefmt.pages.paging import page_name  # noqa: E402

LINKS = 10_000
"""Names of one file: file systems have a limit."""
BLOCK = 32 << 20
FEW, MANY = 10, 1_000
"""Records of a page."""


def directory(folder: Path) -> Path:
    """A store without a page; four queues."""
    store = folder / "paging" / FOLDER
    store.mkdir(parents=True)
    (store / "address.txt").write_text(ADDRESS + "\n")
    write_bindings(folder, QUEUES)
    return store


def page_content(size: int) -> bytes:
    """Records up to about this size, at least one."""
    content = bytearray()
    for each in records(SETS["b"], QUEUES):
        content += each
        if len(content) >= size:
            break
    return bytes(content)


def write_pages(store: Path, count: int, records_of_each: int) -> None:
    """Many are names of one file."""
    content = b"".join(islice(records(SETS["b"], QUEUES), records_of_each))
    for number in range(count):
        path = store / page_name(number + 1)
        if number % LINKS == 0:
            path.write_bytes(content)
            first = path
        else:
            path.hardlink_to(first)


def acknowledgements(folder: Path, count: int) -> None:
    """Of a quarter of what could be acknowledged: there are as many records as acknowledgements, and four queues."""
    store, pages = directory(folder), -(-count // MANY)
    write_pages(store, pages, MANY)
    for old in (folder / "journal").iterdir():
        old.unlink()
    write_acks(folder / "journal", [MANY] * pages, count, False)


def pages(folder: Path, count: int) -> None:
    write_pages(directory(folder), count, FEW)


def addresses(folder: Path, count: int) -> None:
    """Each with a queue and a page."""
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
    """One page of so many bytes."""
    content = page_content(min(BLOCK, size))
    with (directory(folder) / page_name(1)).open("wb") as out:
        for _ in range(size // len(content)):
            out.write(content)


def folders(folder: Path, count: int) -> None:
    """Without a page and without an address."""
    directory(folder)
    for number in range(count):
        (folder / "paging" / f"{number:08x}-0000-11f0-8000-000000000001").mkdir()


def queues(folder: Path, count: int) -> None:
    """A trace that makes a queue for each of so many addresses and sends to it."""
    folder.mkdir(parents=True)
    (folder / "broker.xml").write_text(
        '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"/></configuration>'
    )
    with (folder / "trace.jsonl").open("w") as out:
        out.write('{"trace": 1}\n')
        for number in range(count):
            out.write(json.dumps({"op": "create_queue", "queue": f"q{number}", "address": f"a{number}"}) + "\n")


def reading(data: Path) -> Iterator[tuple[str, list[str]]]:
    tool = [sys.executable, "-m", "pagectl", "pages"]
    yield "ls", [*tool, "ls", str(data), "--format", "json"]
    yield "outstanding", [*tool, "outstanding", str(data), "--format", "json"]
    yield "verify", [*tool, "verify", str(data), "--format", "jsonl"]
    yield "decode", [*tool, "decode", str(data), "--format", "jsonl"]


def replaying(data: Path) -> Iterator[tuple[str, list[str]]]:
    tool = [sys.executable, "-m", "pagectl", "replay", "run", str(data / "trace.jsonl")]
    yield "replay", [*tool, "--config", str(data / "broker.xml"), "--format", "json"]


Make = Callable[[Path, int], None]
KINDS: dict[str, tuple[Make, tuple[int, ...]]] = {
    "acknowledgements": (acknowledgements, (2_500_000, 5_000_000)),
    "pages": (pages, (100_000, 200_000)),
    "addresses": (addresses, (5_000, 10_000)),
    "page": (page, (1 << 30, (1 << 31) - BLOCK)),
    "folders": (folders, (50_000, 100_000)),
    "queues": (queues, (1_000, 2_000, 4_000)),
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--only", default=",".join(KINDS))
    options.add_argument("--folder", type=Path, help="where the directories are made [default: the system's]")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="pagectl-bench-", dir=given.folder) as name:
        start = once([sys.executable, "-m", "pagectl", "pages", "ls", str(_nothing(Path(name) / "nothing"))])
        print(f"start of the program: {start.cpu:.2f} s, {start.peak:.0f} MiB")
        print(f"{'what':18}{'command':14}{'count':>15}{'cpu s':>9}{'peak MiB':>10}{'growth':>8}")
        for kind in given.only.split(","):
            make, sizes = KINDS[kind]
            measure(kind, make, [max(1, int(size * given.scale)) for size in sizes], Path(name), start)


def _nothing(folder: Path) -> Path:
    directory(folder)
    return folder


def measure(kind: str, make: Make, sizes: list[int], folder: Path, start: Cost) -> None:
    last: dict[str, tuple[int, float]] = {}
    for size in sizes:
        data = folder / kind
        made = Process(target=make, args=(data, size))  # what is made here would be counted as a command's memory
        made.start()
        made.join()
        for name, words in (replaying if kind == "queues" else reading)(data):
            found = once(words)
            spent = max(found.cpu - start.cpu, 0.01)
            growth = ""
            if name in last:
                before, cpu = last[name]
                growth = f"{spent / cpu / (size / before):8.2f}"
            last[name] = size, spent
            print(f"{kind:18}{name:14}{size:>15,}{found.cpu:9.2f}{found.peak:10.0f}{growth:>8}", flush=True)
        shutil.rmtree(data)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
