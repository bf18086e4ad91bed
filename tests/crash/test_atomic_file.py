"""Files that are old or new: what a killed run left, errors, modes, links, two processes at once."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from pagefmt.storage.writing import NEW_SUFFIX, TargetRefused, atomic_file, write_text


def test_synced_then_renamed_then_the_folder_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    fsync, rename = os.fsync, os.rename

    def noted_fsync(handle: int) -> None:
        steps.append("sync folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "sync file")
        fsync(handle)

    def noted_rename(old: str, new: str, **at: int) -> None:
        steps.append("rename")
        rename(old, new, **at)

    monkeypatch.setattr("os.fsync", noted_fsync)
    monkeypatch.setattr("os.rename", noted_rename)
    write_text(tmp_path / "a", "new")
    assert steps == ["sync file", "rename", "sync folder"]
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_the_leftover_of_a_killed_run_is_written_over(tmp_path: Path) -> None:
    (tmp_path / f"a{NEW_SUFFIX}").write_text("half of something that was longer")
    write_text(tmp_path / "a", "new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "new"}


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_text("old")
    with pytest.raises(KeyboardInterrupt), atomic_file(target) as fresh:
        fresh.write_text("half")
        raise KeyboardInterrupt
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}


def test_the_mode_is_kept_and_a_link_is_not_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "a", tmp_path / "link"
    write_text(target, "old", 0o600)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    link.symlink_to(target)
    with pytest.raises(TargetRefused, match="symbolic link"):
        write_text(link, "new", 0o644)
    assert target.read_text() == "old"
    write_text(target, "new", 0o644)
    assert link.is_symlink() and target.read_text() == "new" and stat.S_IMODE(target.stat().st_mode) == 0o600


def test_what_a_killed_run_of_this_user_cannot_have_left_is_kept(tmp_path: Path) -> None:
    # A hard link, a symbolic link and a folder are in the way, and are not changed.
    other, fresh = tmp_path / "other", tmp_path / f"a{NEW_SUFFIX}"
    other.write_text("precious")
    for make in (lambda: fresh.hardlink_to(other), lambda: fresh.symlink_to(other), fresh.mkdir):
        make()
        with pytest.raises(TargetRefused, match="in the way"):
            write_text(tmp_path / "a", "new")
        assert other.read_text() == "precious" and not (tmp_path / "a").exists()
        fresh.rmdir() if fresh.is_dir() and not fresh.is_symlink() else fresh.unlink()


def test_devices_are_written_directly() -> None:
    with atomic_file(Path("/dev/null")) as fresh:
        assert fresh == Path("/dev/null")


def test_a_second_writer_waits_for_the_first(tmp_path: Path) -> None:
    target = tmp_path / "a"
    with atomic_file(target) as fresh:
        fresh.write_text("first")
        second = threading.Thread(target=write_text, args=(target, "second"))
        second.start()
        second.join(0.2)
        assert second.is_alive() and not target.exists()
    second.join(30)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "second"}
