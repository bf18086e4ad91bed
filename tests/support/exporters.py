"""``disk exporter`` started and scraped."""

from __future__ import annotations

import os
import re
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from program import started
from prometheus_client.parser import text_string_to_metric_families

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(text: str) -> Samples:
    """Parse an exposition into values by name and labels, and assert that no sample occurs twice."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = sample.name, frozenset(sample.labels.items())
            assert key not in found
            found[key] = sample.value
    return found


def of(found: Samples, name: str, **labels: str) -> dict[frozenset[tuple[str, str]], float]:
    return {key[1]: value for key, value in found.items() if key[0] == name and labels.items() <= dict(key[1]).items()}


def fetched(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as err:
        return err.code, err.read().decode()


@contextmanager
def exporter(*words: str | Path, interval: str = "1") -> Iterator[tuple[subprocess.Popen[str], str]]:
    with started("disk", "exporter", "--listen", "127.0.0.1:0", "--every", interval, *words) as running:
        try:
            assert running.stderr
            line = running.stderr.readline()
            assert line.startswith("note: serving http://"), line
            yield running, line.split()[-1]
        finally:
            running.kill()


def processor_seconds(process: int) -> float:
    """Return the CPU seconds that a process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(process: int) -> int:
    """Return the resident memory of a process in bytes."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) << 10 if found else 0
