"""``pages compact`` and ``pages restore`` as an operator calls them: answers, statuses, locks, and being killed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compactions import due
from golden_cases import GoldenCase
from program import ROOT, call, environment, tree

from pagefmt.change.compaction.backup import NAME
from pagefmt.directory.locate import within
from pagefmt.storage.writing import NEW_SUFFIX

CASE = GoldenCase("2.56.0", "scattered-acks")

HOLD = """
import fcntl, sys, time
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX, int(sys.argv[3]), int(sys.argv[2]))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return CASE.copy(tmp_path)


def contents(folder: Path) -> dict[str, str]:
    return {name: facts[0] for name, facts in tree(folder).items() if facts[0]}


def test_a_plan_changes_nothing(data: Path) -> None:
    before = tree(data)
    plain, dry = call("pages", "compact", data), call("pages", "compact", data, "--in-place", "--dry-run")
    assert plain.status == dry.status == 0
    assert tree(data) == before
    assert "would free 21.5 KiB of 53.7 KiB" in plain.out and "for 28 messages of scatter" in plain.out
    answer = json.loads(call("pages", "compact", data, "--format", "json").out)
    assert answer["done"] is False and answer["freed"] == 54950 - answer["bytes_after"]
    (store,) = answer["stores"]
    assert [holder["queue"] for holder in store["held_by"]] == ["scatter"]
    assert {step["do"] for step in store["steps"]} == {"rewrite"}


def test_in_place_and_back(data: Path) -> None:
    before, needed = contents(data), due(within(data))
    done = call("pages", "compact", data, "--in-place")
    assert done.status == 0 and "will be freed" in done.out and "pagectl pages drop-backup" in done.out
    assert due(within(data)) == needed and (data / NAME).is_dir()
    again = call("pages", "compact", data, "--in-place")
    assert again.status == 0 and "nothing to free" in again.out
    assert call("pages", "restore", data).status == 0
    assert contents(data) == before


@pytest.mark.parametrize("words", [("drop-backup",), ("restore", "--discard")], ids=" ".join)
def test_dropping_the_backup_gives_the_space_back(words: tuple[str, ...], data: Path) -> None:
    call("pages", "compact", data, "--in-place")
    compacted = contents(data / "paging")
    answer = call("pages", *words[:1], data, *words[1:])
    assert answer.status == 0 and "dropped the backup of 6 files" in answer.out
    assert ("drop-backup" in answer.err) == ("--discard" in words), "its former name says the new one"
    assert contents(data / "paging") == compacted and not (data / NAME).exists()
    assert call("pages", "restore", data).status == 2


def test_a_copy(data: Path, tmp_path: Path) -> None:
    before = tree(data)
    assert call("pages", "compact", data, "--out", tmp_path / "new").status == 0
    assert tree(data) == before
    assert due(within(tmp_path / "new")) == due(within(data))
    for target in (tmp_path / "new", data / "paging" / "x"):
        refused = call("pages", "compact", data, "--out", target)
        assert refused.status == 2 and refused.err.count("\n") == 1
    assert not list(tmp_path.rglob("*partial*"))


@pytest.mark.parametrize(
    "words",
    [
        ("--out", "x", "--in-place"),
        ("--no-backup",),
        ("--in-place", "--no-backup", "--backup-dir", "x"),
        ("--edition", "9"),
    ],
)
def test_calls_that_make_no_sense(data: Path, words: tuple[str, ...]) -> None:
    before = tree(data)
    assert call("pages", "compact", data, *words).status == 2
    assert tree(data) == before


def test_no_directory_to_compact(tmp_path: Path, data: Path) -> None:
    assert call("pages", "compact", tmp_path / "nowhere").status == 2
    (store,) = (data / "paging").iterdir()
    answer = call("pages", "compact", store)
    assert answer.status == 2 and "whole data directory" in answer.err


@pytest.mark.parametrize(("name", "start", "length"), [("serverlock.1", 0, 0), ("server.lock", 1, 1)])
def test_a_live_broker_is_not_disturbed(data: Path, name: str, start: int, length: int) -> None:
    before = tree(data)
    lock = data / "journal" / name
    words = [sys.executable, "-c", HOLD, str(lock), str(start), str(length)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        try:
            for change in (("--in-place",), ("--out", str(data.parent / "new"))):
                answer = call("pages", "compact", data, *change)
                assert answer.status == 2 and "running broker" in answer.err
                if sys.platform == "linux":
                    assert f"process {holder.pid}" in answer.err
        finally:
            holder.kill()
    assert tree(data) == before


def test_the_lock_is_held_while_pages_change(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pagefmt.storage import writing as disk_steps

    seen: list[bool] = []
    lock = data / "journal" / "serverlock.1"
    real = disk_steps.Disk.replace
    probe = f"import fcntl; fcntl.lockf(open({str(lock)!r}, 'r+b'), fcntl.LOCK_EX | fcntl.LOCK_NB)"

    def watched(self: disk_steps.Disk, new: Path, old: Path) -> None:
        if not seen:
            seen.append(subprocess.run([sys.executable, "-c", probe], capture_output=True, check=False).returncode != 0)
        real(self, new, old)

    monkeypatch.setattr(disk_steps.Disk, "replace", watched)
    assert call("pages", "compact", data, "--in-place").status == 0
    assert seen == [True]
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


KILLED = """
import os, signal, sys
from pagefmt.storage import writing as disk_steps
left = int(sys.argv.pop(1))
def fatal(name):
    real = getattr(disk_steps.Disk, name)
    def step(self, *words, **more):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, *words, **more)
    setattr(disk_steps.Disk, name, step)
for name in ("create", "append", "link", "replace", "remove", "make_folder", "sync_folder"):
    fatal(name)
from pagectl.app import run
sys.exit(run(sys.argv[1:]))
"""


def kills(tmp_path: Path, positions: range) -> int:
    killed = 0
    for at in positions:
        root = tmp_path / f"kill-{at}"
        data = CASE.copy(root)
        before, needed = contents(data), due(within(data))
        words = [sys.executable, "-c", KILLED, str(at), "pages", "compact", str(data), "--in-place"]
        status = subprocess.run(words, env=environment(), capture_output=True, cwd=ROOT, check=False).returncode
        assert due(within(data)) == needed
        killed += status < 0
        shutil.copytree(data, root / "undo", symlinks=True)
        assert call("pages", "compact", data, "--in-place").status == 0
        assert due(within(data)) == needed and not list(data.rglob(f"*{NEW_SUFFIX}"))
        undone = call("pages", "restore", root / "undo")
        if undone.status == 0:
            assert contents(root / "undo") == before
        else:
            assert {name: sha for name, sha in contents(root / "undo").items() if not name.startswith(NAME)} == before
        shutil.rmtree(root)
        if status == 0:
            break
    return killed


def test_killed_here_and_there(tmp_path: Path) -> None:
    assert kills(tmp_path, range(2, 30, 13)) == 3


@pytest.mark.slow
def test_killed_at_every_file_operation(tmp_path: Path) -> None:
    assert kills(tmp_path, range(1, 400)) >= 40


def test_out_of_space_is_said_beforehand(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(data)
    real = os.statvfs(data)
    full = os.statvfs_result((real.f_bsize, real.f_frsize, real.f_blocks, 0, 0, *tuple(real)[5:10]))
    monkeypatch.setattr("os.statvfs", lambda path: full)
    for name, way in (("pages", "--no-backup needs"), ("journal", "--out on another disk")):
        answer = call(name, "compact", data, "--in-place")
        assert answer.status == 2 and re.search(rf"0 B are free, \S+ [KM]iB are needed; {way}", answer.err), answer
        assert "note: writes" not in answer.err
    assert tree(data) == before


def test_nothing_to_free_writes_nothing(data: Path) -> None:
    for name in ("pages", "journal"):
        assert "note: writes" in call(name, "compact", data, "--in-place", "--no-backup").err
        assert "note: writes" not in call(name, "compact", data, "--in-place", "--no-backup").err
