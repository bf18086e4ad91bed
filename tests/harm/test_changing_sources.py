"""A file that changes between plan and copy stops every command that copies a directory, and nothing is left of NEW."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from harmed import golden, no_trace, pages_of
from program import call

from pagefmt.storage.writing import Disk

COMMANDS = {
    "queue drop": ("queue", "drop", "{data}", "scatter"),
    "queue purge": ("queue", "purge", "{data}", "scatter", "--all"),
    "convert": ("convert", "{data}", "--edition", "artemis-2.56"),
    "pages compact": ("pages", "compact", "{data}"),
    "journal compact": ("journal", "compact", "{data}"),
    "recover": ("recover", "{data}"),
    "pages salvage": ("pages", "salvage", "{data}"),
    "pages salvage of a page": ("pages", "salvage", "{page}"),
}
FILES: dict[str, Callable[[Path], Path]] = {
    "page": lambda data: pages_of(data)[0],
    "last page": lambda data: pages_of(data)[-1],
    "journal": lambda data: min((data / "journal").glob("*.amq")),
    "bindings": lambda data: min((data / "bindings").glob("*.bindings")),
    "large message": lambda data: data / "large-messages" / "77.msg",
}


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\0" * 100)


def rewrite(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def replace(path: Path) -> None:
    status = path.stat()
    new = path.with_name(path.name + ".tmp")
    new.write_bytes(path.read_bytes())
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    new.replace(path)


def add(path: Path) -> None:
    path.with_name("000000999.page" if path.suffix == ".page" else f"new{path.suffix}").write_bytes(path.read_bytes())


CHANGES = (cut, grow, rewrite, replace, Path.unlink, add)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a directory with dead records, a damaged page and an unreferenced large-message file."""
    folder = golden("scattered-acks").copy(tmp_path)
    page = pages_of(folder)[2]
    page.write_bytes(page.read_bytes()[:-7])
    (folder / "large-messages" / "77.msg").write_bytes(b"body" * 100)
    return folder


def written(command: str, data: Path, out: Path) -> tuple[int, str]:
    words = [word.format(data=data, page=pages_of(data)[0]) for word in COMMANDS[command]]
    answer = call(*words, "--out", out)
    no_trace(answer)
    return answer.status, answer.err


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("command", COMMANDS)
def test_before_the_copy(
    command: str, file: str, change: Callable[[Path], None], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if command == "pages salvage of a page" and (file != "page" or change is add):
        return  # the command reads one file
    victim, there = FILES[file](data), tmp_path / "there"
    make_folder, done = Disk.make_folder, list[Path]()

    def changed_first(disk: Disk, path: Path, like: Path | None = None) -> None:
        if not done:  # the plan is made, and the first folder of the copy is not
            done.append(path)
            change(victim)
        make_folder(disk, path, like)

    monkeypatch.setattr(Disk, "make_folder", changed_first)
    status, err = written(command, data, there / "NEW")
    assert done and status == 2, err
    last = err.splitlines()[-1]
    assert "changed while it was copied; is a broker running? Nothing was written" in last, err
    assert str(victim.parent) in last
    assert not list(there.iterdir())


@pytest.mark.parametrize("when", ["first", "last"])
@pytest.mark.parametrize("command", COMMANDS)
def test_during_the_copy(command: str, when: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create, files = Disk.create, list[Path]()

    def counted(disk: Disk, path: Path, parts: Iterable[bytes | memoryview], like: Path | None = None) -> None:
        create(disk, path, parts, like)
        files.append(path)
        if len(files) == at:
            grow(pages_of(data)[0])

    at = -1
    monkeypatch.setattr(Disk, "create", counted)
    status, err = written(command, data, tmp_path / "before")
    assert status in (0, 1) and files, err
    at = 1 if when == "first" else len(files)
    files.clear()
    status, err = written(command, data, tmp_path / "NEW")
    assert status == 2 and "changed while it was copied" in err, err
    assert not (tmp_path / "NEW").exists() and not list(tmp_path.glob("NEW*"))


def test_before_the_salvage_but_after_the_journal_was_read(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pagectl.commands import pages_salvage

    read = pages_salvage.state_of_place

    def changed_after(*given: object, **how: object) -> object:
        state = read(*given, **how)  # type: ignore[arg-type]
        cut(FILES["journal"](data))
        return state

    monkeypatch.setattr(pages_salvage, "state_of_place", changed_after)
    status, err = written("pages salvage", data, tmp_path / "NEW")
    assert status == 2 and "changed while it was copied" in err, err
    assert not (tmp_path / "NEW").exists()
