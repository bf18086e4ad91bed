"""Several processes against one (``--jobs``): wall, processor seconds of all, peak memory of one.

    python bench/jobs.py [--size-mb 600] [--sets a,c] [--jobs 2] [--runs 3] [--only decode]

Makes its own directories (``make_pages``) and warms the page cache; the smallest wall of the runs, in turn. What prints
prints into nothing; what writes files writes them. ``gain`` is of wall.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from make_pages import write  # noqa: E402
from pages import Cost, once  # noqa: E402

CALLS = {
    "ls": ["ls", "DATA"],
    "outstanding": ["outstanding", "DATA"],
    "verify": ["verify", "DATA"],
    "compact --dry-run": ["compact", "DATA"],
    "decode, JSON lines": ["decode", "DATA", "--to", "OUT/out.jsonl"],
    "decode, CSV": ["decode", "DATA", "--to", "OUT/out.csv"],
    "decode, Parquet": ["decode", "DATA", "--to", "OUT/out.parquet"],
    "decode, Parquet, bodies": ["decode", "DATA", "--body", "base64", "--to", "OUT/out.parquet"],
}


def measured(words: list[str], data: Path, out: Path, jobs: int) -> Cost:
    """Measure one run, after removing the output of the one before."""
    for path in out.glob("out.*"):
        path.unlink()
    given = [word.replace("DATA", str(data)).replace("OUT", str(out)) for word in words]
    return once([sys.executable, "-m", "pagectl", "pages", *given, "--jobs", str(jobs)])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size-mb", type=int, default=600)
    options.add_argument("--sets", default="a,c")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--only", default="", metavar="WORDS", help="commands with these words")
    chosen = options.parse_args()
    heads = ("wall 1", f"wall {chosen.jobs}", "gain", "cpu 1", f"cpu {chosen.jobs}", "MiB")
    print(" " * 32 + "{:>8}{:>8}{:>7}{:>8}{:>8}{:>6}".format(*heads))
    for name in chosen.sets.split(","):
        folder = Path(tempfile.mkdtemp(prefix="jobs-"))
        try:
            data, out = folder / "data", folder / "out"
            out.mkdir()
            write(data, name, chosen.size_mb)
            for title, words in ((title, words) for title, words in CALLS.items() if chosen.only in title):
                runs = [[measured(words, data, out, jobs) for jobs in (1, chosen.jobs)] for _ in range(chosen.runs)]
                one, many = (min((run[n] for run in runs), key=lambda each: each.wall) for n in (0, 1))
                print(
                    f"{name:4}{title:28}{one.wall:8.2f}{many.wall:8.2f}{one.wall / many.wall:7.2f}"
                    f"{one.cpu:8.2f}{many.cpu:8.2f}{many.peak:6.0f}",
                    flush=True,
                )
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
