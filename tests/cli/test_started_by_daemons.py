"""What starts pagectl hands down how signals are treated, and limits."""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from subprocess import run

import pyarrow as pa
import pytest
from made_pages import FOLDER, message
from pagectl.running.exits import describe
from program import Answer, environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")

_STARTING = """
import os, signal, sys
signal.signal(signal.SIGCHLD, getattr(signal, sys.argv[1]))
os.execv(sys.executable, [sys.executable, "-m", "pagectl", *sys.argv[2:]])
"""


def started(handling: str, *words: str | Path) -> Answer:
    """Run a command that inherits the given handling of SIGCHLD (``SIG_IGN`` or ``SIG_DFL``)."""
    call = [sys.executable, "-c", _STARTING, handling, *map(str, words)]
    ended = run(call, env=environment(), capture_output=True, text=True, timeout=200, check=False)
    return Answer(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a directory large enough for several processes to read it."""
    folder = tmp_path / "data" / "paging" / FOLDER
    folder.mkdir(parents=True)
    (folder / "address.txt").write_bytes(b"orders")
    for page in range(1, 5):
        made = (message(page * 1000 + n, "orders", f"{n} " * 50_000) for n in range(25))
        (folder / f"{page:09d}.page").write_bytes(b"".join(made))
    return tmp_path / "data"


def test_ended_children_that_nobody_waits_for(data: Path) -> None:
    words = ("pages", "decode", data, "--format", "csv", "--jobs", "2")
    usual = started("SIG_DFL", *words)
    assert usual.status == 0 and started("SIG_IGN", *words) == usual


def test_short_memory_is_no_fault_of_the_program() -> None:
    for err in (MemoryError(), pa.ArrowMemoryError("malloc of size 99 failed")):
        assert describe(err).startswith("not enough memory") and "internal error" not in describe(err)


MAPPING = "libarrow_compute.so.2600: failed to map segment from shared object"


@pytest.mark.parametrize(
    ("err", "limit", "told"),
    [
        (ImportError(MAPPING), 1 << 30, f"not enough memory ({MAPPING}); raise its limit"),
        (ImportError(MAPPING), resource.RLIM_INFINITY, "internal error, please report it: ImportError"),
        (ImportError("no module"), 1 << 30, "internal error, please report it: ImportError"),
        (
            SystemError("no exception set"),
            1 << 30,
            "perhaps not enough memory: raise its limit (ulimit -v); if it "
            "stays, please report it: SystemError: no exception set",
        ),
        (SystemError("no exception set"), resource.RLIM_INFINITY, "internal error, please report it: SystemError"),
        (ValueError("no"), 1 << 30, "internal error, please report it: ValueError"),
    ],
)
def test_a_limit_of_memory_is_told_and_hides_no_fault(
    monkeypatch: pytest.MonkeyPatch, err: Exception, limit: int, told: str
) -> None:
    # Libraries report a lack of memory in different ways.
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    assert describe(err).startswith(told)
