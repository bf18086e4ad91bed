"""``pagectl export`` on Spark on this machine: processor seconds of everything that it starts.

``again``: an incremental export, and the same once more, when nothing is new.

    python bench/export.py [--size-mb 300] [--sets a,b,c] [--data DIR] [--runs 3] [--cores 2] [--ways plain,address,…]
                           [--workers N] [--where s3|tar|tar.gz|tar.zst|zip] [-- OPTION…]

Spark's Python workers are reaped by nobody, so that no parent ever learns what they took: the processes of the session
are looked at fifty times a second, and what each had taken when it was last seen is summed. Linux only. ``--workers``:
of a cluster on this machine in the place of local[N], with the cores shared among them; its services are counted, their
start is not. ``--where``: the directory is packed first, or put into an S3 server (moto's, one process, not counted).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench"), str(ROOT / "tests" / "support")]

import pytest  # noqa: E402
from far_inputs import object_server, packed  # noqa: E402
from make_pages import write  # noqa: E402
from spark_cluster import SparkCluster, spark_cluster  # noqa: E402

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


def record_processes(sessions: set[int], taken: dict[int, tuple[str, float]]) -> None:
    """Record name and CPU seconds of each process of the sessions in ``taken``, by process id."""
    for folder in os.listdir("/proc"):  # noqa: PTH208 (fifty times a second)
        if folder.isdigit():
            try:
                stat = Path("/proc", folder, "stat").read_text()
            except OSError:
                continue
            name, _, rest = stat.partition("(")[2].rpartition(")")
            fields = rest.split()
            if int(fields[SESSION]) in sessions:
                cpu = (int(fields[UTIME]) + int(fields[STIME])) / TICKS
                taken[int(folder)] = (name, cpu)


def memory(pid: int) -> int:
    """Return the peak resident memory of a process in MiB, or 0 if the process has ended."""
    try:
        lines = Path("/proc", str(pid), "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")), 0)


def once(words: list[str], services: Sequence[int]) -> tuple[Counter[str], float, int]:
    """Run a command, and return CPU seconds by process name, wall seconds and the driver's peak memory in MiB."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("", "cli", "schemas"))}
    taken: dict[int, tuple[str, float]] = {}
    before: dict[int, tuple[str, float]] = {}
    record_processes(set(services), before)
    begun, most = time.monotonic(), 0
    process = subprocess.Popen(words, env=env, start_new_session=True)
    sessions = {process.pid, *services}
    while process.poll() is None:
        record_processes(sessions, taken)
        most = max(most, memory(process.pid))
        time.sleep(0.02)
    record_processes(sessions, taken)
    if process.returncode:
        sys.exit(f"{' '.join(words)}: status {process.returncode}")
    found: Counter[str] = Counter()
    for pid, (name, cpu) in taken.items():
        found[name] += cpu - (before[pid][1] if pid in before else 0)
    return found, time.monotonic() - begun, most


@contextmanager
def lying(data: Path, where: str) -> Iterator[str]:
    """Yield where the command finds the data: in the folder, in an archive of type ``where``, or at an S3 URL."""
    with tempfile.TemporaryDirectory(prefix="pagectl-bench-") as folder, pytest.MonkeyPatch.context() as patch:
        if where == "s3":
            with object_server(patch) as server:
                yield server.direct(server.put(data, "bench"))
        else:
            yield str(packed(data, Path(folder), where) if where else data)


def measure(name: str, data: str, given: argparse.Namespace, on: SparkCluster | None) -> None:
    place = ["--master", f"local[{given.cores}]"]
    if on is not None:
        place = ["--master", on.url, "--conf", "spark.driver.host=127.0.0.1"]
    for way in given.ways.split(","):
        for run in range(given.runs):
            with tempfile.TemporaryDirectory(prefix="pagectl-bench-") as folder:
                words = [sys.executable, "-m", "pagectl", "export", data, "--to", f"file://{folder}/out"]
                body = () if "--what" in WAYS[way] and way != "everything" else BODY
                words += [*place, *body, *WAYS[way], *given.further]
                services = on.processes if on else ()
                found, wall, most = once(words, services)
                if way == "again":
                    parts = ", ".join(f"{what} {cpu:.1f}" for what, cpu in found.most_common())
                    print(f"{name:4}{'first':11}{run:4}{found.total():8.2f}{wall:8.2f}{most:8}  {parts}", flush=True)
                    found, wall, most = once(words, services)
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
    options.add_argument("--workers", type=int, default=0)
    options.add_argument("--where", default="")
    options.add_argument("further", nargs="*", help="options handed on to export")
    given = options.parse_args()
    print(f"{'set':4}{'way':11}{'run':>4}{'cpu s':>8}{'wall s':>8}{'MiB':>8}  {'files':18}  by process")
    with tempfile.TemporaryDirectory(prefix="pagectl-bench-") as folder, ExitStack() as stack:
        cores = -(-given.cores // max(given.workers, 1))
        on = None
        if given.workers:
            on = stack.enter_context(spark_cluster(Path(folder), workers=given.workers, cores=cores))
        if given.data is not None:
            with lying(given.data, given.where) as found:
                measure("-", found, given, on)
            return
        for name in given.sets.split(","):
            data = Path(folder, name)
            write(data, name, given.size_mb)
            with lying(data, given.where) as found:
                measure(name, found, given, on)
            shutil.rmtree(data)


if __name__ == "__main__":
    main()
