"""``pagectl export`` on Spark on this machine: processor seconds of everything that it starts.

``again``: an incremental export, and the same once more, when nothing is new.

    python bench/export.py [--size-mb 300] [--sets a,b,c] [--data DIR] [--runs 3] [--cores 2] [--ways plain,address,…]
                           [-- OPTION…]

Spark's Python workers are reaped by nobody, so that no parent ever learns what they took: the processes of the session
are looked at fifty times a second, and what each had taken when it was last seen is summed. Linux only.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from make_pages import write  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
WAYS = {
    "plain": (), "address": ("--partition-by", "store_address"), "priority": ("--partition-by", "priority"),
    "day": ("--partition-by", "day"), "queues": ("--what", "outstanding"), "pages": ("--what", "pages"),
    "everything": ("--what", "messages"), "again": ("--incremental",),
}  # fmt: skip
BODY = ("--body", "base64")
"""Of tables of messages."""
UTIME, STIME, SESSION = 11, 12, 3
"""Fields of /proc/PID/stat, counted behind the name."""


def seen(session: int, taken: dict[int, tuple[str, float]]) -> None:
    """What each process of a session has taken so far."""
    for folder in os.listdir("/proc"):  # noqa: PTH208 (fifty times a second)
        if folder.isdigit():
            try:
                stat = Path("/proc", folder, "stat").read_text()
            except OSError:
                continue
            name, _, rest = stat.partition("(")[2].rpartition(")")
            fields = rest.split()
            if int(fields[SESSION]) == session:
                cpu = (int(fields[UTIME]) + int(fields[STIME])) / TICKS
                taken[int(folder)] = (name, cpu)


def memory(pid: int) -> int:
    """The most that a process has had (MiB); 0 where it is gone."""
    try:
        lines = Path("/proc", str(pid), "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")), 0)


def once(words: list[str]) -> tuple[Counter[str], float, int]:
    """Processor seconds by the name of the process, wall, and the memory of the command itself, the driver."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("", "cli", "schemas"))}
    taken: dict[int, tuple[str, float]] = {}
    begun, most = time.monotonic(), 0
    process = subprocess.Popen(words, env=env, start_new_session=True)
    while process.poll() is None:
        seen(process.pid, taken)
        most = max(most, memory(process.pid))
        time.sleep(0.02)
    seen(process.pid, taken)
    if process.returncode:
        sys.exit(f"{' '.join(words)}: status {process.returncode}")
    found: Counter[str] = Counter()
    for name, cpu in taken.values():
        found[name] += cpu
    return found, time.monotonic() - begun, most


def measure(name: str, data: Path, given: argparse.Namespace) -> None:
    for way in given.ways.split(","):
        for run in range(given.runs):
            with tempfile.TemporaryDirectory(prefix="pagectl-bench-") as folder:
                words = [sys.executable, "-m", "pagectl", "export", str(data), "--to", f"{folder}/out"]
                body = () if "--what" in WAYS[way] and way != "everything" else BODY
                words += ["--master", f"local[{given.cores}]", *body, *WAYS[way], *given.further]
                found, wall, most = once(words)
                if way == "again":
                    parts = ", ".join(f"{what} {cpu:.1f}" for what, cpu in found.most_common())
                    print(f"{name:4}{'first':11}{run:4}{found.total():8.2f}{wall:8.2f}{most:8}  {parts}", flush=True)
                    found, wall, most = once(words)
                files = [path.stat().st_size for path in Path(folder, "out").rglob("*.parquet")]
            parts = ", ".join(f"{what} {cpu:.1f}" for what, cpu in found.most_common())
            size = f"{len(files)} of {sum(files) / len(files) / 1e6:.1f} MB"
            print(f"{name:4}{way:11}{run:4}{found.total():8.2f}{wall:8.2f}{most:8}  {size:18}  {parts}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size-mb", type=int, default=300)
    options.add_argument("--sets", default="a")
    options.add_argument("--data", type=Path, help="a directory that is there already, instead of the sets")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--cores", type=int, default=2)
    options.add_argument("--ways", default="plain", help=", ".join(WAYS))
    options.add_argument("further", nargs="*", help="options handed on to export")
    given = options.parse_args()
    print(f"{'set':4}{'way':11}{'run':>4}{'cpu s':>8}{'wall s':>8}{'MiB':>8}  {'files':18}  by process")
    if given.data is not None:
        measure("-", given.data, given)
        return
    for name in given.sets.split(","):
        with tempfile.TemporaryDirectory(prefix="pagectl-bench-") as folder:
            write(Path(folder, "data"), name, given.size_mb)
            measure(name, Path(folder, "data"), given)


if __name__ == "__main__":
    main()
