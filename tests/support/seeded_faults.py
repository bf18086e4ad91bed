"""``python tests/support/seeded_faults.py [N…]``: is each of twenty faults found by ``make test``?

Each fault is one change of the product. The checkout is copied, the fault is put into the copy, and the tests that are
about it run there as they do by default, up to the first failure. What none of them finds is printed, with
status 1. Run it after tests were moved out of the default run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# file, what is there, what is put in its place, folders and files of tests
FAULTS = (
    ("pagefmt/codec/pages/frames.py", "or buf[end - 1] != END_MARK:", "or False:", "pages property golden"),
    ("pagefmt/codec/pages/routes.py",
     "at + 4 + 8 * count != start + length", "at + 4 + 8 * count > start + length", "pages property"),
    ("pagefmt/outstanding/ack_state.py", "number >= self.end:", "number > self.end:", "pages equivalence harm"),
    ("pagefmt/outstanding/ack_state.py",
     "if complete or number in acked:", "if number in acked:", "pages golden cli"),
    ("pagefmt/codec/messages/values.py",
     "0 <= now - expiration <", "0 < now - expiration - 1 <", "pages"),
    ("pagefmt/codec/messages/properties.py", "byte != 0, byte)", "byte == 1, byte)", "property equivalence golden"),
    ("pagefmt/selector/facts.py", "sent < self.until)", "sent <= self.until)", "equivalence cli"),
    ("pagefmt/outstanding/schedules.py", "if len(waiting) > size:", "if len(waiting) >= size:", "pages"),
    ("pagefmt/change/salvage/segments.py", "data[at + 5 + length] != END_MARK", "False", "pages"),
    ("pagefmt/change/removal/purge.py", "if queue_id == queue.id", "if queue_id >= queue.id", "pages"),
    ("pagefmt/change/removal/plan.py", "if queue_id != queue.id:", "if queue_id > queue.id:", "pages"),
    ("pagefmt/change/salvage/store.py",
     "int(match[1]) < 1 << 31 else 1", "int(match[1]) < 1 << 15 else 1", "pages/test_salvage.py"),
    ("pageengine/disk/monitor.py",
     "return space.usage < self.share", "return space.usage <= self.share", "engine golden"),
    ("pageengine/paging/store.py",
     "own_count >= own.max_messages >= 0", "own_count > own.max_messages >= 0", "engine golden"),
    ("pageengine/paging/page_limits.py", "pages <= self.max_pages", "pages < self.max_pages", "engine golden"),
    ("pagefmt/journal/load.py",
     "if count != frame.records:", "if count > frame.records:", "cli/test_journal_verify.py pages golden harm"),
    ("cli/pagectl/terminal/sanitise.py", '"=", "+", "-", "@"', '"=", "+", "-"', "equivalence cli"),
    ("cli/pagectl/decoding/csv_columns.py", "*b'\",', *range(0x7F, 256)", "*b'\",'", "equivalence"),
    ("pagefmt/table/queue_counts.py", "min(count.oldest, oldest)", "max(count.oldest, oldest)", "cli"),
    ("pagefmt/change/compaction/planning.py",
     "and store.store.address != self.dropped.address:", "and False:", "pages"),
)  # fmt: skip


def found(number: int) -> str | None:
    """Return the test that finds a fault; None if none does."""
    file, there, instead, tests = FAULTS[number]
    with tempfile.TemporaryDirectory(prefix="seeded-") as folder:
        copy = Path(folder) / "checkout"
        skipped = shutil.ignore_patterns(
            ".git", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", "build", ".hypothesis"
        )
        shutil.copytree(ROOT, copy, ignore=skipped, symlinks=True)
        content = (copy / file).read_text("utf-8")
        if content.count(there) < 1:
            raise SystemExit(f"fault {number}: {file} has no {there!r} any more")
        (copy / file).write_text(content.replace(there, instead, 1), "utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", *(f"tests/{each}" for each in tests.split())],
            cwd=copy,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0] if failed else None


if __name__ == "__main__":
    missed = 0
    for number in map(int, sys.argv[1:] or range(len(FAULTS))):
        test = found(number)
        missed += test is None
        print(f"{number:2} {FAULTS[number][0]}: {test or 'NOT FOUND'}"[:200], flush=True)
    sys.exit(missed > 0)
