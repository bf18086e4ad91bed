"""The whole store, journal and pages: processor seconds, wall, peak memory, and ratios against the broker's own tools.

    python bench/store.py [--size-mb 1074] [--journal-file-mb 10] [--artemis HOME] [--runs 1]

Half of it pages of AMQP messages, half a journal of core and AMQP messages in turn, a KiB each and for two queues. With
``--artemis`` (an unpacked distribution) ``data print`` and ``data exp`` run once each, on a copy; ratios are of
processor seconds. What prints prints into nothing; what writes files writes them.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from struct import pack

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from make_pages import QUEUES, SETS, record, write  # noqa: E402
from pages import Cost, brokers, cost, once, show  # noqa: E402

from pagefmt.bytes.wire import ByteWriter  # noqa: E402
from pagefmt.journal.record_types import RecordType  # noqa: E402
from pagefmt.journal.records import JournalRecord, RecordKind  # noqa: E402
from pagefmt.journal.writing import write_journal  # noqa: E402
from pagefmt.messages.persisted import encode_persisted  # noqa: E402

FIRST = 100_000_000
"""Number of the first message of the journal: behind those of the pages."""
PEERS = {"messages xml": "data exp"}


def records(megabytes: int, told: list[int]) -> Iterator[JournalRecord]:
    """Messages with their references; ``told`` gets how many."""
    size = 0
    for number in count(FIRST):
        out = ByteWriter()
        encode_persisted(out, SETS["a" if number % 2 else "c"](number))
        yield record(1000 + number, RecordType.ADD_MESSAGE_PROTOCOL, out.done())
        for queue in QUEUES:
            body = pack(">q", queue)
            yield JournalRecord(RecordKind.UPDATE, id=1000 + number, user_type=int(RecordType.ADD_REF), body=body)
        size += len(out.done())
        if size >= megabytes * 1_000_000:
            told.append(number - FIRST + 1)
            return


def ours(data: Path, out: Path) -> dict[str, list[str]]:
    tool = [sys.executable, "-m", "pagectl"]
    return {
        "messages ls": [*tool, "messages", "ls", str(data)],
        "messages decode parquet": [*tool, "messages", "decode", str(data), "--to", str(out / "out.parquet")],
        "messages xml": [*tool, "messages", "xml", str(data), "--to", str(out / "out.xml")],
        "journal ls": [*tool, "journal", "ls", str(data)],
        "pages decode jsonl": [*tool, "pages", "decode", str(data), "--format", "jsonl"],
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size-mb", type=int, default=1074)
    options.add_argument("--journal-file-mb", type=int, default=10)
    options.add_argument("--artemis", type=Path)
    options.add_argument("--runs", type=int, default=1)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="pagectl-bench-") as folder:
        data, out = Path(folder, "data"), Path(folder, "out")
        out.mkdir()
        paged = write(data, "c", given.size_mb // 2)
        shutil.rmtree(data / "journal")
        (data / "journal").mkdir()
        held: list[int] = []
        found = records(given.size_mb // 2, held)
        write_journal(data / "journal", "activemq-data-{}.amq", found, size=given.journal_file_mb << 20)
        messages = paged + held[0]
        print(f"{paged:,} messages in pages, {held[0]:,} in the journal, files of {given.journal_file_mb} MiB")
        print(f"{'':4}{'what':26}{'cpu s':>8}{'wall s':>8}{'peak MiB':>10}{'messages/cpu s':>16}  ratio", flush=True)
        peers: dict[str, Cost] = {}
        for what in brokers(given.artemis, data, out) if given.artemis is not None else ():
            copy = Path(shutil.copytree(data, Path(folder, "copy")))
            peers[what] = once(brokers(given.artemis, copy, out)[what])
            shutil.rmtree(copy)
            show("", what, peers[what], messages, "")
        for what, words in ours(data, out).items():
            mine, peer = cost(words, given.runs), PEERS.get(what, "data print")
            ratio = f"{peers[peer].cpu / mine.cpu:.1f}x {peer}" if peers else ""
            show("", what, mine, messages, ratio)


if __name__ == "__main__":
    main()
