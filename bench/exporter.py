"""What ``disk exporter`` takes beside page files that stand still, scraped every 15 seconds, and beside one that grows.

    python bench/exporter.py [--pages 100000] [--minutes 3]

One address with so many pages of ten messages, two queues. Processor seconds and memory of the exporter's process.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from make_pages import ADDRESS, FOLDER, SETS, records, write_bindings

from pagefmt.directory.paging import page_name

ROOT = Path(__file__).resolve().parent.parent
TICK = os.sysconf("SC_CLK_TCK")
SCRAPES = 15
RECORDS = 10


def spent(process: int) -> float:
    """Return the CPU seconds that a process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident(process: int) -> int:
    """Return the resident memory of a process in MiB."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) >> 10 if found else 0


def scraped(url: str) -> str:
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        return str(answer.read().decode())


def watched(process: int, url: str, minutes: float, each: Path | None, content: bytes) -> str:
    """Scrape for so long; ``each``: a store in which a page comes before each scrape."""
    began, before, sizes = time.monotonic(), spent(process), []
    while time.monotonic() - began < minutes * 60:
        if each is not None:
            number = 1 + max(int(path.name[:9]) for path in each.glob("*.page"))
            (each / page_name(number)).write_bytes(content)
        scraped(url)
        sizes.append(resident(process))
        time.sleep(SCRAPES)
    took, seconds = spent(process) - before, time.monotonic() - began
    return f"{took:.2f} s of {seconds:.0f} s, {took / seconds:.2%} of a core; memory {min(sizes)}-{max(sizes)} MiB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=3.0)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-exporter-"))
    store = folder / "paging" / FOLDER
    store.mkdir(parents=True)
    (store / "address.txt").write_text(ADDRESS + "\n")
    write_bindings(folder)
    source = records(SETS["b"])
    content = b"".join(next(source) for _ in range(RECORDS))
    for number in range(1, asked.pages + 1):
        (store / page_name(number)).write_bytes(content)
    env = os.environ | {"PYTHONPATH": ":".join(map(str, (ROOT, ROOT / "cli", ROOT / "schemas")))}
    words = [sys.executable, "-m", "pagectl", "disk", "exporter", str(folder), "--listen", "127.0.0.1:0"]
    with subprocess.Popen(words, env=env, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stderr
            url = running.stderr.readline().split()[-1].removesuffix("/metrics")
            began = time.monotonic()
            while f'artemis_page_files{{address="{ADDRESS}"' not in scraped(url):
                time.sleep(0.5)
            reading = f"{time.monotonic() - began:.1f} s, {spent(running.pid):.1f} s of a core"
            print(f"{asked.pages} pages read: {reading}, memory {resident(running.pid)} MiB", flush=True)
            print(f"still: {watched(running.pid, url, asked.minutes, None, content)}", flush=True)
            print(f"a page comes: {watched(running.pid, url, asked.minutes, store, content)}", flush=True)
        finally:
            running.kill()
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
