"""Decoding to Arrow columns in memory, one core: messages a processor second by level, and ratios to a record loop.

    python bench/decode_rates.py [--size-mb 150] [--sets a,b,c] [--runs 5]

The peer is the reference decoder of the same checkout, message by message, on the first page. Nothing is written and
no process started: what a table costs all in is for ``bench/pages.py``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from make_pages import write  # noqa: E402

from pagefmt.codec.pages.frames import FrameScan  # noqa: E402
from pagefmt.codec.pages.record import decode_record  # noqa: E402
from pagefmt.describe.arrow_schema import Detail  # noqa: E402
from pagefmt.vectors.page_columns import decode_page  # noqa: E402
from pagefmt.vectors.pages.chunks import read_chunks  # noqa: E402
from pagefmt.vectors.reference_rows import row_of  # noqa: E402


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size-mb", type=int, default=150)
    options.add_argument("--sets", default="a,b,c")
    options.add_argument("--runs", type=int, default=5)
    given = options.parse_args()
    print(f"{'set':4}{'level':12}{'messages/cpu s':>16}{'reference':>12}{'ratio':>8}")
    for name in given.sets.split(","):
        with tempfile.TemporaryDirectory(prefix="pagectl-bench-") as folder:
            write(Path(folder), name, given.size_mb)
            found = sorted(Path(folder).glob("paging/*/*.page"))
            for level in Detail:
                mine = rate(partial(columns, found, level), given.runs)
                peer = rate(partial(rows, found[0], level), 1)
                print(f"{name:4}{level.name.lower():12}{mine:16,.0f}{peer:12,.0f}{mine / peer:7.1f}x", flush=True)


def rate(work: Callable[[], int], runs: int) -> float:
    """Return messages per second, the best of several runs."""
    best = 0.0
    for _ in range(runs):
        begun = time.process_time()
        messages = work()
        best = max(best, messages / (time.process_time() - begun))
    return best


def columns(found: list[Path], level: Detail) -> int:
    read = (piece for path in found for piece in read_chunks(path, reuse=True))
    return sum(decode_page(content, 1, level, frames).table.num_rows for content, frames in read)


def rows(path: Path, level: Detail) -> int:
    content = path.read_bytes()
    count = 0
    for number, (offset, length) in enumerate(FrameScan(content)):
        row_of(decode_record(content, offset, length), 1, number, level)
        count += 1
    return count


if __name__ == "__main__":
    main()
