"""Beside a broker that works: what is being written is said to be so, what cannot be known is in doubt, nothing false.

Without a broker: another process holds ``serverlock.1``, and the directory is one that a broker left in mid-work. The
real one is in ``test_beside_a_running_broker.py``.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from harmed import faults, golden, json_of, no_trace, pagectl, pages_of, record, snapshot

COMMANDS = {
    "ls": ("pages", "ls", "{data}"),
    "outstanding": ("pages", "outstanding", "{data}"),
    "verify": ("pages", "verify", "{data}"),
    "decode": ("pages", "decode", "{data}", "--format", "jsonl"),
    "decode --outstanding": ("pages", "decode", "{data}", "--outstanding", "--format", "jsonl"),
    "compact": ("pages", "compact", "{data}"),
    "disk usage": ("disk", "usage", "{data}"),
}
HOLD = (
    "import fcntl, sys, time\nfile = open(sys.argv[1], 'r+b')\n"
    "fcntl.lockf(file, fcntl.LOCK_EX)\nprint('held', flush=True)\ntime.sleep(600)"
)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Path]:
    """The last page was sent in a transaction that the journal knows nothing of yet; one record is half written."""
    data = golden("scattered-acks").copy(tmp_path)
    last = pages_of(data)[-1]
    queue = 3
    sent = b"".join(record(9000 + n, queues=(queue,), tx=77_777, address="scatter") for n in range(5))
    (last.parent / "000000009.page").write_bytes(sent + record(9999, queues=(queue,))[:30])
    words = [sys.executable, "-c", HOLD, str(data / "journal" / "serverlock.1")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as holding:
        assert holding.stdout and holding.stdout.readline() == "held\n"
        yield data
        holding.kill()


def asked(name: str, data: Path, **extra: str) -> tuple[int, str, str]:
    answer = pagectl(*(word.format(data=data) for word in COMMANDS[name]), extra=extra)
    no_trace(answer)
    return answer.status, answer.out, answer.err


@pytest.mark.parametrize("name", COMMANDS)
def test_no_false_errors(name: str, live: Path) -> None:
    before = snapshot(live)
    status, out, err = asked(name, live)
    assert status == 0, (out, err)
    assert snapshot(live) == before
    if name in ("ls", "verify", "outstanding"):
        assert "being written" in out + err, (out, err)


def test_what_a_snapshot_cannot_know_is_in_doubt(live: Path) -> None:
    answer = pagectl("pages", "outstanding", live, "--format", "json")
    (store,) = json_of(answer)["stores"]
    held = {page["page"]: page["held_by"] for page in store["pages"]}
    (queue,) = store["queues"]
    assert held[9] == [queue["queue"]], "a broker that commits delivers them: the page is not free"
    assert queue["in_doubt"] == 5 and queue["messages"] == 28


def test_compact_plans_nothing_with_it(live: Path) -> None:
    answer = pagectl("pages", "compact", live, "--format", "json")
    (store,) = json_of(answer)["stores"]
    assert "000000009.page" not in [step["file"] for step in store["steps"]]


def test_without_a_broker_they_were_never_committed(tmp_path: Path) -> None:
    """The same directory with nobody at work is a crash: rolled back, and free."""
    data = golden("scattered-acks").copy(tmp_path)
    last = pages_of(data)[-1]
    (last.parent / "000000009.page").write_bytes(record(9000, queues=(3,), tx=77_777, address="scatter"))
    (store,) = json_of(pagectl("pages", "outstanding", data, "--format", "json"))["stores"]
    assert {page["page"]: page["held_by"] for page in store["pages"]}[9] == []


@pytest.mark.parametrize(
    "gone", ["/journal/activemq-data-1", "/bindings/activemq-bindings-1", "000000003.page", "address.txt"]
)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_went_between_listing_and_reading(name: str, gone: str, live: Path) -> None:
    """The broker has compacted its journal, or finished a page: looked at again, and there is nothing to say."""
    status, out, err = asked(name, live, **faults().opens(gone, 1, 2))
    assert status == 0, (out, err)
    assert "No such file" not in out + err, (out, err)


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_opened_for_writing(name: str, live: Path, tmp_path: Path) -> None:
    """Seen from the system's side."""
    import shutil as programs

    if programs.which("strace") is None:
        pytest.skip("strace is not installed")
    log = tmp_path / "strace"
    words = [word.format(data=live) for word in COMMANDS[name]]
    from program import environment

    subprocess.run(
        ["strace", "-f", "-e", "trace=openat,open,creat", "-o", str(log), sys.executable, "-m", "pagectl", *words],
        env=environment(), capture_output=True, timeout=120,
    )  # fmt: skip
    opened = [line for line in log.read_text("utf-8", "replace").splitlines() if str(live) in line]
    assert opened and not [line for line in opened if "O_WRONLY" in line or "O_RDWR" in line or "O_CREAT" in line]
