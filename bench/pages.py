"""Reading page directories: processor seconds, wall, peak memory, and ratios against the broker's own tools.

    python bench/pages.py [--size-mb 300] [--sets a,b,c] [--artemis HOME] [--runs 3]

Makes its own directories. With ``--artemis`` (an unpacked distribution) ``artemis data print`` and ``data exp`` run in
turn with ours, each on a copy, because they write into the directory that they read. Ratios are of processor seconds.
What prints (``data print``, ``pages ls``, JSON lines) prints into nothing; what writes files writes them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from make_pages import write  # noqa: E402


@dataclass(frozen=True, slots=True)
class Cost:
    """The best of several runs of one process and its children."""

    cpu: float
    wall: float
    peak: float


def cost(words: list[str], runs: int) -> Cost:
    return min((once(words) for _ in range(runs)), key=lambda each: each.cpu)


def once(words: list[str], also: tuple[int, ...] = ()) -> Cost:
    """Run a command and measure its cost.

    ``also``: statuses other than 0 and 1 that are no failure.
    """
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("", "cli", "schemas"))}
    begun = time.monotonic()
    process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1, *also):
        sys.exit(f"{' '.join(words)}: status {process.returncode}: {said.decode()[-500:]}")
    return Cost(used.ru_utime + used.ru_stime, time.monotonic() - begun, used.ru_maxrss / 1024)


def ours(data: Path, out: Path) -> dict[str, list[str]]:
    tool = [sys.executable, "-m", "pagectl", "pages"]
    return {
        "pages ls": [*tool, "ls", str(data)],
        "decode jsonl": [*tool, "decode", str(data), "--format", "jsonl"],
        "decode parquet, bodies": [*tool, "decode", str(data), "--body", "base64", "--to", str(out / "out.parquet")],
    }


def brokers(home: Path, data: Path, out: Path) -> dict[str, list[str]]:
    folders = ("bindings", "journal", "paging", "large-messages")
    parts = [f"--{name}={data / name}" for name in folders]
    tool = str(home / "bin" / "artemis")
    return {
        "data print": [tool, "data", "print", *parts],
        "data exp": [tool, "data", "exp", *parts, f"--output={out / 'exp.xml'}"],
    }


PEER_RUNS = 2
PEERS = {"pages ls": "data print", "decode jsonl": "data print", "decode parquet, bodies": "data exp"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size-mb", type=int, default=300)
    options.add_argument("--sets", default="a,b,c")
    options.add_argument("--artemis", type=Path)
    options.add_argument("--runs", type=int, default=3)
    given = options.parse_args()
    print(f"{'set':4}{'what':26}{'cpu s':>8}{'wall s':>8}{'peak MiB':>10}{'messages/cpu s':>16}  ratio")
    for name in given.sets.split(","):
        with tempfile.TemporaryDirectory(prefix="pagectl-bench-") as folder:
            measure(name, Path(folder), given.size_mb, given.artemis, given.runs)


def measure(name: str, folder: Path, megabytes: int, artemis: Path | None, runs: int) -> None:
    data, out = folder / "data", folder / "out"
    messages = write(data, name, megabytes)
    out.mkdir()
    peers: dict[str, Cost] = {}
    if artemis is not None:
        for what in brokers(artemis, data, out):
            tries = []
            for _ in range(min(runs, PEER_RUNS)):
                copy = folder / "copy"
                shutil.copytree(data, copy)
                tries.append(once(brokers(artemis, copy, out)[what]))
                shutil.rmtree(copy)
            peers[what] = min(tries, key=lambda each: each.cpu)
            show(name, what, peers[what], messages, "")
    for what, words in ours(data, out).items():
        mine = cost(words, runs)
        peer = peers.get(PEERS[what])
        show(name, what, mine, messages, f"{peer.cpu / mine.cpu:.1f}x {PEERS[what]}" if peer else "")


def show(name: str, what: str, each: Cost, messages: int, ratio: str) -> None:
    rate = messages / each.cpu
    print(f"{name:4}{what:26}{each.cpu:8.2f}{each.wall:8.2f}{each.peak:10.0f}{rate:16,.0f}  {ratio}", flush=True)


if __name__ == "__main__":
    main()
