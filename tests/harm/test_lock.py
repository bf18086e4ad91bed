"""The broker's locks are held for the whole of a change: at no instant could a broker start on half of one.

POSIX locks go when any descriptor of the file is closed by the process: a copy of ``serverlock.1`` drops the lock.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from harmed import changes_of, faults, golden, pagectl, snapshot
from program import environment, started

LOCKS = {"serverlock.1": (0, 0), "server.lock": (1, 1)}
"""File → (length, start) that a broker locks (0: all of it)."""
COMMANDS = {
    "compact --out": ("pages", "compact", "{data}", "--out", "{out}"),
    "compact --in-place": ("pages", "compact", "{data}", "--in-place"),
    "compact --no-backup": ("pages", "compact", "{data}", "--in-place", "--no-backup"),
    "restore": ("pages", "restore", "{data}"),
    "queue drop": ("queue", "drop", "{data}", "scatter", "--out", "{out}"),
    "queue purge": ("queue", "purge", "{data}", "scatter", "--all", "--out", "{out}"),
    "convert": ("convert", "{data}", "--edition", "artemis-2.56", "--out", "{out}"),
}
COPIES = ("compact --out", "queue drop", "queue purge", "convert")


def free(path: Path) -> bool:
    """Return whether the lock that a broker would take is free."""
    length, start = LOCKS[path.name]
    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
        except OSError:
            return False
        return True


def prepared(tmp_path: Path, name: str) -> Path:
    (tmp_path / "in").mkdir(exist_ok=True)
    data = golden("scattered-acks").copy(tmp_path / "in")
    if name == "restore":
        assert pagectl("pages", "compact", data, "--in-place").status == 0
    return data


def words_of(name: str, data: Path, out: Path) -> list[str | Path]:
    return [word.format(data=data, out=out) for word in COMMANDS[name]]


def changes_below(name: str, tmp_path: Path) -> int:
    """Count the changes that a command makes, by running it on a directory of its own."""
    (tmp_path / "count").mkdir()
    data, out = prepared(tmp_path / "count", name), tmp_path / "count" / "out"
    return changes_of(words_of(name, data, out), out if name in COPIES else data, tmp_path)


@pytest.mark.parametrize("part", [0, 0.6, 1])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_broker_could_start_meanwhile(name: str, part: float, tmp_path: Path) -> None:
    changes = changes_below(name, tmp_path)
    assert changes
    data, out = prepared(tmp_path, name), tmp_path / "out"
    below = out if name in COPIES else data
    extra = faults().changes(below, 1 + int(part * (changes - 1)), -signal.SIGSTOP)
    stopped_and_looked_at(words_of(name, data, out), extra, data)


def stopped_and_looked_at(words: list[str | Path], extra: dict[str, str], data: Path) -> None:
    running = started(*words, env=extra)
    try:
        until_stopped(running)
        held = {path.name: not free(path) for path in (data / "journal" / name for name in LOCKS) if path.exists()}
        os.kill(running.pid, signal.SIGCONT)
        _, err = running.communicate(timeout=60)
    finally:
        if running.poll() is None:
            running.kill()
            running.wait()
    assert all(held.values()), (words, held)
    assert running.returncode == 0, err


def until_stopped(running: subprocess.Popen[str]) -> None:
    for _ in range(600):
        if running.poll() is not None:
            pytest.fail(f"it did not come to the change: {running.communicate()}")
        state = Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state == "T":
            return
        time.sleep(0.05)
    pytest.fail("it did not stop")


# ---------------------------------------------------------------- somebody else's lock


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Path]:
    """Yield a directory whose ``serverlock.1`` is locked by another process, as a live broker does."""
    data = golden("scattered-acks").copy(tmp_path)
    assert pagectl("pages", "compact", data, "--in-place", "--backup-dir", tmp_path / "kept").status == 0
    program = (
        "import fcntl, sys, time\n"
        "file = open(sys.argv[1], 'r+b')\nfcntl.lockf(file, fcntl.LOCK_EX)\nprint('held', flush=True)\ntime.sleep(600)"
    )
    words = [sys.executable, "-c", program, str(data / "journal" / "serverlock.1")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as holding:
        assert holding.stdout and holding.stdout.readline() == "held\n"
        yield data
        holding.kill()


@pytest.mark.parametrize(
    "words",
    [
        ("compact", "--in-place", "--backup-dir", "{kept}"),
        ("compact", "--out", "{out}"),
        ("restore", "--backup-dir", "{kept}"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_refused_beside_a_live_broker(words: tuple[str, ...], broker: Path, tmp_path: Path) -> None:
    before = snapshot(broker)
    rest = [word.format(kept=tmp_path / "kept", out=tmp_path / "out") for word in words[1:]]
    answer = pagectl("pages", words[0], broker, *rest)
    assert answer.status == 2 and "running broker" in answer.err
    assert snapshot(broker) == before and not (tmp_path / "out").exists()


def test_salvage_beside_a_live_broker_says_so(broker: Path, tmp_path: Path) -> None:
    # Salvage only reads, but results from pages being written must not be swapped in.
    page = next(broker.rglob("*.page"))
    page.write_bytes(page.read_bytes()[:-7])
    answer = pagectl("pages", "salvage", broker, "--out", tmp_path / "out")
    assert "broker" in answer.err and "is running" in answer.err + answer.out, answer


def test_a_broker_that_cannot_be_seen_runs(tmp_path: Path) -> None:
    # The broker's process has no number in another container.
    outside = ["unshare", "--pid", "--fork", sys.executable, "-c"]
    if subprocess.run([*outside, "pass"], capture_output=True).returncode:
        pytest.skip("no process namespace of its own can be had here")
    data = golden("scattered-acks").copy(tmp_path)
    asks = (
        "import sys, pathlib; from pagefmt.directory.locks import running_broker;"
        "print(running_broker(pathlib.Path(sys.argv[1])))"
    )
    with (data / "journal" / "serverlock.1").open("r+b") as file:
        for held, said in ((True, "0\n"), (False, "None\n")):
            fcntl.lockf(file, fcntl.LOCK_EX if held else fcntl.LOCK_UN)
            done = subprocess.run(
                [*outside, asks, str(data / "journal")], capture_output=True, text=True, env=environment()
            )
            assert done.stdout == said, done.stderr
