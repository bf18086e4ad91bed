"""A copy is made of what may only be read: as another user, and from a file system that is read only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from harmed import golden, no_trace, pagectl, pages_of, snapshot
from program import Answer, call

NOBODY = 65534
COPIES = (
    "pages compact {data} --out {out}", "journal compact {data} --out {out}", "queue drop {data} scatter --out {out}",
    "convert {data} --edition artemis-2.56 --out {out}", "recover {data} --out {out}",
    "pages salvage {data} --out {out}", "queue purge {data} scatter --all --out {out}",
)  # fmt: skip
IN_PLACE = (
    "pages compact {data} --in-place --backup-dir {out}", "journal compact {data} --in-place --backup-dir {out}",
    "pages compact {data} --in-place --no-backup",
)  # fmt: skip


def name_of(words: str) -> str:
    return words.replace("{data} ", "").partition(" {")[0]


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """Yield a folder that every user may write to."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def damaged(folder: Path) -> Path:
    """Create a data directory with acknowledged messages to compact and a damaged page to salvage."""
    data = golden("scattered-acks").copy(folder)
    page = pages_of(data)[2]
    content = page.read_bytes()
    page.write_bytes(content[:3000] + bytes(512) + content[3512:])
    return data


def sources(words: str, folder: Path) -> Path:
    """Return a damaged directory for ``recover`` and ``pages salvage``, a sound one for other commands."""
    return damaged(folder) if words.startswith(("recover", "pages salvage")) else golden("scattered-acks").copy(folder)


@contextmanager
def as_somebody_else() -> Iterator[None]:
    if os.geteuid() != 0:
        pytest.skip("only root becomes somebody else")
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def readable_only(data: Path) -> None:
    for path in (data, *data.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)


def asked(words: str, data: Path, out: Path) -> Answer:
    return call(*(word.format(data=data, out=out) for word in words.split()))


@pytest.mark.parametrize("words", COPIES, ids=name_of)
def test_who_may_only_read_makes_a_copy(words: str, elsewhere: Path) -> None:
    data = sources(words, elsewhere)
    by_owner = asked(words, data, elsewhere / "owner")  # imports what it needs
    readable_only(data)
    before = snapshot(data)
    with as_somebody_else():
        answer = asked(words, data, elsewhere / "out")
    no_trace(answer)
    assert (answer.status, answer.out) == (by_owner.status, by_owner.out.replace("/owner", "/out")), answer
    assert snapshot(data) == before
    contents = {name: entry[0] for name, entry in snapshot(elsewhere / "out").items()}
    assert contents == {name: entry[0] for name, entry in snapshot(elsewhere / "owner").items()}
    if not words.startswith("pages salvage"):  # it takes no lock
        assert answer.err.count("Permission denied") == 1 and "no broker holds this lock now" in answer.err, answer
        assert "no lock file" not in answer.err, answer


@pytest.mark.parametrize("words", [each for each in COPIES if "salvage" not in each], ids=name_of)
def test_a_lock_that_is_held_is_seen(words: str, elsewhere: Path) -> None:
    data = sources(words, elsewhere)
    asked(words, data, elsewhere / "owner")
    readable_only(data)
    program = (
        "import fcntl, sys, time\n"
        "file = open(sys.argv[1], 'r+b')\nfcntl.lockf(file, fcntl.LOCK_EX)\nprint('held', flush=True)\ntime.sleep(600)"
    )
    words_of = [sys.executable, "-c", program, str(data / "journal" / "serverlock.1")]
    with subprocess.Popen(words_of, stdout=subprocess.PIPE, text=True) as holding:
        assert holding.stdout and holding.stdout.readline() == "held\n"
        try:
            with as_somebody_else():
                answer = asked(words, data, elsewhere / "out")
        finally:
            holding.kill()
    assert answer.status == 2 and "held by a running broker" in answer.err, answer
    assert not (elsewhere / "out").exists()


@pytest.mark.parametrize("words", IN_PLACE, ids=name_of)
def test_in_place_needs_the_lock(words: str, elsewhere: Path) -> None:
    data = golden("scattered-acks").copy(elsewhere)
    asked("pages compact {data}", data, elsewhere)
    readable_only(data)
    before = snapshot(data)
    with as_somebody_else():
        answer = asked(words, data, elsewhere / "out")
    assert answer.status == 2 and "the lock cannot be taken, so nothing is changed" in answer.err, answer
    assert snapshot(data) == before and not (elsewhere / "out").exists()


@contextmanager
def mounted_read_only(data: Path) -> Iterator[None]:
    """Mount the directory read-only, or skip the test if mounting is not permitted."""
    made = subprocess.run(["mount", "--bind", data, data], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", data], check=True, capture_output=True)
        yield
    finally:
        subprocess.run(["umount", data], check=True)


@pytest.mark.parametrize("words", [*COPIES, *IN_PLACE], ids=name_of)
def test_a_read_only_file_system(words: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    data = sources(words, tmp_path / "in")
    with mounted_read_only(data):
        answer = pagectl(*(word.format(data=data, out=tmp_path / "out") for word in words.split()))
    no_trace(answer)
    if words in IN_PLACE:
        assert answer.status == 2 and "Read-only file system" in answer.err and not (tmp_path / "out").exists(), answer
    else:
        assert answer.status in (0, 1) and (tmp_path / "out").is_dir(), answer
        assert words.startswith("pages salvage") or answer.err.count("Read-only file system") == 1, answer
