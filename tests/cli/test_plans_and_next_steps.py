"""What a plan asks for is what the run needs, and the commands that it prints are those of this call."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_table import commands
from harmed import golden, json_of, pages_of, snapshot
from program import call, pasted

from pagefmt.quantities import size_text

RESERVE = 1 << 20


def needs(*words: str | Path) -> dict[str, int]:
    found: dict[str, int] = json_of(call(*words, "--format", "json"))["needs"]
    return found


@pytest.fixture
def other_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder on another file system than ``tmp_path``, or skip the test if none is writable."""
    for parent in ("/dev/shm", "/tmp", "/var/tmp", str(Path.cwd())):
        if (
            Path(parent).is_dir()
            and Path(parent).stat().st_dev != tmp_path.stat().st_dev
            and os.access(parent, os.W_OK)
        ):
            folder = Path(tempfile.mkdtemp(dir=parent))
            yield folder
            shutil.rmtree(folder)
            return
    pytest.skip("there is one file system only that can be written to")


def leave_free(monkeypatch: pytest.MonkeyPatch, free: dict[int, int]) -> None:
    """Make ``os.statvfs`` report so many available bytes for each device in ``free``."""
    real = os.statvfs

    def statvfs(path: str | Path) -> Any:
        status = real(path)
        device = Path(path).stat().st_dev
        if device not in free:
            return status
        fields = list(status)
        fields[1], fields[4] = 1, free[device]  # f_frsize, f_bavail
        return os.statvfs_result(fields)

    monkeypatch.setattr(os, "statvfs", statvfs)


@pytest.mark.parametrize("option", ["with_backup", "without_backup"])
@pytest.mark.parametrize("name", ["pages", "journal"])
def test_what_is_asked_for_is_enough_and_a_byte_less_is_not(
    name: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    asked = needs(name, "compact", data)[option]
    assert asked > RESERVE
    words = (name, "compact", data, "--in-place", *(["--no-backup"] if option == "without_backup" else []))
    leave_free(monkeypatch, {data.stat().st_dev: asked - 1})
    refused = call(*words)
    assert refused.status == 2 and f"{size_text(asked)} are needed" in refused.err, refused
    leave_free(monkeypatch, {data.stat().st_dev: asked})
    assert call(*words).status == 0


@pytest.mark.parametrize("name", ["pages", "journal"])
def test_a_backup_elsewhere_counts_there(
    name: str, tmp_path: Path, other_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    kept = other_disk / "kept"
    elsewhere = (name, "compact", data, "--in-place", "--backup-dir", kept)
    beside, apart = needs(name, "compact", data), needs(*elsewhere, "--dry-run")
    assert beside["in_backup"] == 0 and apart["in_backup"] > RESERVE
    if name == "pages":
        assert apart["with_backup"] == apart["without_backup"] == beside["without_backup"]
    text = call(*elsewhere, "--dry-run").out
    assert "in --backup-dir" in text and "in --backup-dir" not in call(name, "compact", data).out
    leave_free(monkeypatch, {other_disk.stat().st_dev: apart["in_backup"] - 1})
    refused = call(*elsewhere)
    assert refused.status == 2 and str(kept) in refused.err and not kept.exists(), refused
    leave_free(monkeypatch, {other_disk.stat().st_dev: apart["in_backup"], data.stat().st_dev: apart["with_backup"]})
    assert call(*elsewhere).status == 0
    written = sum(path.stat().st_size for path in kept.rglob("*") if path.is_file())
    assert written <= apart["in_backup"]


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("name", ["pages", "journal"])
def test_the_way_back_is_printed_as_it_is_called(name: str, named: bool, tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path / "a broker")
    options = ["--backup-dir", tmp_path / "kept"] if named else []
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    done = call(name, "compact", data, "--in-place", *options)
    (back,) = re.findall(r"pagectl (pages restore .+)", done.out)
    assert re.search(r"pagectl pages drop-backup .+", done.out)
    assert call(*shlex.split(back)).status == 0
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before


def damaged(to: Path) -> Path:
    data = golden("scattered-acks").copy(to)
    page = pages_of(data)[1]
    page.write_bytes(page.read_bytes()[:3000])
    return data


def test_recover_does_not_ask_for_what_it_did(tmp_path: Path) -> None:
    data, out = damaged(tmp_path), tmp_path / "fresh one"
    plan = json_of(call("recover", data, "--format", "json"))["next"]
    assert plan[1]["commands"] == [f"pagectl recover {data} --out NEW"]
    done = call("recover", data, "--out", out)
    assert "NEW" not in done.out and "write the new directory" not in done.out, done
    assert f"pagectl messages verify {shlex.quote(str(out))}" in done.out
    assert pasted(done.out.partition("to go back")[0]) == "done\n"
    assert call("pages", "verify", data).status == 0


COPIES = {"pages compact": [], "journal compact": [], "queue drop": ["red.news"], "queue purge": ["red.news", "--all"]}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_put_in_place_under_names_that_are_free(name: str, tmp_path: Path) -> None:
    data = golden("multicast-acks").copy(tmp_path / "a broker")
    for folder in ("paging.old", "bindings.old-2"):
        (data / folder).mkdir()
    before, out = snapshot(data / "journal"), tmp_path / "new"
    shown = call(*name.split(), data, *COPIES[name], "--out", out).out
    copied = snapshot(out / "journal")
    assert pasted(shown) == "done\n" and "folders that end with .old-3" in shown
    assert (snapshot(data / "journal"), snapshot(data / "journal.old-3")) == (copied, before)
    placed = snapshot(data)
    assert pasted(shown) == "" and snapshot(data) == placed, "the names are taken now"


def test_a_second_recovery_goes_back_to_what_it_found(tmp_path: Path) -> None:
    data = damaged(tmp_path)
    for out, left in (("one", 2500), ("two", 2000)):
        page = pages_of(data / "paging")[1]
        page.write_bytes(page.read_bytes()[:left])
        before = snapshot(data / "paging")
        there, _, back = call("recover", data, "--out", tmp_path / out).out.partition("to go back")
        assert pasted(back) == "" and snapshot(data / "paging") == before, "there is nothing to go back to yet"
        assert pasted(there) == "done\n"
        assert call("pages", "verify", data).status == 0
    assert pasted(back) == "done\n"
    assert snapshot(data / "paging") == before


@pytest.mark.parametrize("name", ["pages", "journal"])
def test_a_backup_in_the_way_is_dropped_or_restored_by_the_commands_that_are_told(name: str, tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path / "a broker")
    other = {"pages": "journal", "journal": "pages"}[name]
    assert call(name, "compact", data, "--in-place").status == 0
    refused = call(other, "compact", data, "--in-place").err
    restored, dropped = re.findall(r"pagectl (pages (?:restore|drop-backup) .*?)(?:;|$)", refused, re.MULTILINE)
    if other == "pages":
        assert restored in call("pages", "compact", data).out
    if name == "pages":
        next((data / "journal").glob("*.amq")).write_bytes(b"")
        changed = call(*shlex.split(restored))
        assert changed.status == 2 and f"pagectl {dropped}\n" in changed.err
    assert call(*shlex.split(dropped)).status == 0


def test_a_journal_that_is_gone_points_to_recover(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path / "a broker")
    shutil.rmtree(data / "journal")
    for named, command in ((data, "recover"), (data / "paging", "pages verify")):
        told = call("messages", "decode", named, "--outstanding").err
        assert f"see: pagectl {command} {shlex.quote(str(named))}\n" in told, told


def test_lost_bindings_point_to_recover(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    shutil.rmtree(data / "bindings")
    for words in (("pages", "ls"), ("pages", "verify"), ("messages", "ls"), ("large", "verify")):
        answer = call(*words, data)
        assert "recover" in answer.out + answer.err and "salvage" not in answer.out + answer.err, answer


def test_large_messages_and_orphans_are_counted_apart(tmp_path: Path) -> None:
    data = golden("large-core").copy(tmp_path)
    held = [path.stat().st_size for path in (data / "large-messages").iterdir()]
    (data / "large-messages" / "999999.msg").write_bytes(bytes(5000))
    (data / "large-messages" / "19.msg").unlink()
    last = call("large", "verify", data).out.splitlines()[-1]
    assert last.startswith(f"{len(held)} large messages with {len(held) - 1} files, "), last
    assert "; 1 file that no message refers to, 4.9 KiB; " in last, last


WRITES_NO_FILE_OF_A_BROKER = {
    "pages drop-backup": "deletes a backup; pages and journals stay as they are",
    "replay run": "makes a directory of a trace, there is no broker",
}


def test_the_help_of_writing_commands_says_that_the_broker_must_be_stopped() -> None:
    writing = {
        " ".join(command.path): " ".join((command.line, *command.text))
        for command in commands()
        if any("NEW" in each.metavar or each.long in ("--in-place", "--backup-dir") for each in command.options)
    }
    known = {"pages compact", "journal compact", "pages restore", "pages salvage", "recover", "convert", "queue drop"}
    assert known | WRITES_NO_FILE_OF_A_BROKER.keys() <= writing.keys()
    said = {path for path, text in writing.items() if re.search(r"broker must be stopped|stopped broker", text)}
    assert writing.keys() - said == WRITES_NO_FILE_OF_A_BROKER.keys()
