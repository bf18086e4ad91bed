"""No link is followed where something is written or removed: no file outside of what was named changes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from every_call import configuration
from harmed import DROP_BACKUP, golden, no_trace, pagectl, pages_of, snapshot, stores_of
from program import ROOT, call

AUDIT = ROOT / "tests" / "recorded" / "replays" / "traffic-logs" / "audit-message.log.gz"
BACKUP = "pagectl-backup"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """Return a folder outside the backup with file names that a backup has, too."""
    folder = tmp_path / "victim"
    (folder / "paging" / "folder").mkdir(parents=True)
    (folder / "precious.txt").write_text("not yours\n")
    (folder / "paging" / "folder" / "000000001.page").write_text("not yours\n")
    return folder


def compacted(tmp_path: Path) -> Path:
    data = golden("scattered-acks").copy(tmp_path)
    assert pagectl("pages", "compact", data, "--in-place").status == 0
    return data


def swap(place: Path, victim: Path) -> None:
    """Replace a file or folder by a link to the victim."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    place.symlink_to(victim)


def whole(data: Path, victim: Path) -> None:
    swap(data / BACKUP, victim)


def root_of_pages(data: Path, victim: Path) -> None:
    swap(data / BACKUP / "paging", victim)


def root_of_bodies(data: Path, victim: Path) -> None:
    swap(data / BACKUP / "large-messages", victim)


def store_folder(data: Path, victim: Path) -> None:
    swap(next((data / BACKUP / "paging").iterdir()), victim)


def kept_page(data: Path, victim: Path) -> None:
    swap(pages_of(data / BACKUP)[0], victim / "precious.txt")


def its_list(data: Path, victim: Path) -> None:
    (victim / "precious.txt").write_bytes((data / BACKUP / "list.jsonl").read_bytes())
    swap(data / BACKUP / "list.jsonl", victim / "precious.txt")


def foreign_link(data: Path, victim: Path) -> None:
    (data / BACKUP / "paging" / "more").symlink_to(victim)


def live_store(data: Path, victim: Path) -> None:
    """Move a store's folder into the victim and leave a link in its place."""
    folder = stores_of(data)[0]
    shutil.move(folder, victim / "store")
    folder.symlink_to(victim / "store")


AT = [whole, root_of_pages, root_of_bodies, store_folder, kept_page, its_list, foreign_link, live_store]


@pytest.mark.parametrize("at", AT, ids=lambda at: at.__name__)
@pytest.mark.parametrize(
    "command", [("pages", "restore"), DROP_BACKUP, ("pages", "compact", "--in-place")], ids=" ".join
)
def test_a_linked_backup_is_refused_before_the_first_change(
    at: Callable[[Path, Path], None], command: tuple[str, ...], victim: Path, tmp_path: Path
) -> None:
    data = compacted(tmp_path)
    at(data, victim)
    if command[1] == "compact":  # a page that is to be compacted again
        shutil.copytree(golden("scattered-acks").data() / "paging", data / "paging", dirs_exist_ok=True)
    before, theirs = snapshot(data), snapshot(victim)
    if command == DROP_BACKUP and at is live_store:  # which it has nothing to do with
        assert pagectl(*command, data).status == 0 and snapshot(victim) == theirs
        return
    answer = pagectl(*command[:2], data, *command[2:])
    assert snapshot(victim) == theirs
    assert snapshot(data) == before
    assert answer.status == 2 and "link" in answer.err, answer
    no_trace(answer)


@pytest.mark.parametrize("named", [True, False], ids=["--backup-dir", "default"])
def test_compact_makes_no_backup_behind_a_link(named: bool, victim: Path, tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    link = tmp_path / "elsewhere" if named else data / BACKUP
    link.symlink_to(victim)
    before, theirs = snapshot(data), snapshot(victim)
    answer = pagectl("pages", "compact", data, "--in-place", *(["--backup-dir", link] if named else []))
    assert (snapshot(victim), snapshot(data)) == (theirs, before)
    assert answer.status == 2 and "link" in answer.err, answer


def test_an_unfinished_page_that_is_a_link_is_not_written_through(victim: Path, tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    page = pages_of(data)[0]
    page.with_name(f"{page.name}.pagectl-new").symlink_to(victim / "precious.txt")
    theirs, before = snapshot(victim), page.read_bytes()
    answer = pagectl("pages", "compact", data, "--in-place")
    assert snapshot(victim) == theirs
    if answer.status == 2:
        assert "link" in answer.err and page.read_bytes() == before, answer


RUN = ("replay", "run", "{trace}", "--config", "{config}")
OUTPUTS = {
    "salvage": ("pages", "salvage", "{data}", "--out", "{out}"),
    "compact --out": ("pages", "compact", "{data}", "--out", "{out}"),
    "queue drop": ("queue", "drop", "{data}", "scatter", "--out", "{out}"),
    "queue purge": ("queue", "purge", "{data}", "scatter", "--all", "--out", "{out}"),
    "convert": ("convert", "{data}", "--edition", "artemis-2.56", "--out", "{out}"),
    "replay run --out": (*RUN, "--out", "{out}"),
    "replay run --outcome": (*RUN, "--outcome", "{out}.jsonl"),
    "replay run --report": (*RUN, "--report", "{out}.html"),
    "replay generate": ("replay", "generate", "steady", "--messages", "5", "--to", "{out}.jsonl"),
    "replay generate x.parquet": ("replay", "generate", "steady", "--messages", "5", "--to", "{out}.parquet"),
    "replay import": ("replay", "import", str(AUDIT), "--to", "{out}.jsonl.gz"),
    "decode --to x.txt": ("pages", "decode", "{data}", "--to", "{out}.txt"),
    "decode --to x.jsonl": ("pages", "decode", "{data}", "--to", "{out}.jsonl"),
    "decode --to x.csv": ("pages", "decode", "{data}", "--to", "{out}.csv"),
    "decode --to x.parquet": ("pages", "decode", "{data}", "--to", "{out}.parquet"),
    "decode --to x.arrow": ("pages", "decode", "{data}", "--to", "{out}.arrow"),
    "seal --to": ("pages", "seal", "{data}", "--to", "{out}"),
    "export": ("export", "{data}", "--to", "{out}"),
}
FOLDERS = ("salvage", "compact --out", "queue drop", "queue purge", "convert", "replay run --out", "export")


@pytest.mark.parametrize("dangling", [False, True], ids=["link", "dangling link"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_that_is_a_link_changes_nothing_behind_it(
    name: str, dangling: bool, victim: Path, tmp_path: Path
) -> None:
    data, out = golden("scattered-acks").copy(tmp_path), tmp_path / "out"
    page = pages_of(data)[0]
    page.write_bytes(page.read_bytes()[:-7])
    trace, config = tmp_path / "t.jsonl", tmp_path / "b.xml"
    assert call("replay", "generate", "steady", "--messages", "5", "--to", trace).status == 0
    config.write_text(configuration(""))
    words = [word.format(data=data, out=out, trace=trace, config=config) for word in OUTPUTS[name]]
    target = victim / "new" if dangling else victim if name in FOLDERS else victim / "precious.txt"
    Path(words[-1]).symlink_to(target)
    for ending in (".pagectl-partial", ".pagectl-new", ".tmp", ".partial"):
        Path(words[-1] + ending).symlink_to(victim)
    theirs = snapshot(victim)
    answer = call(*words)
    assert snapshot(victim) == theirs, answer
    no_trace(answer)
    said = [line for line in answer.err.splitlines() if line.startswith("pagectl:")]
    assert answer.status == 2 and len(said) == 1 and words[-1] in said[0] and not answer.out, answer


@pytest.mark.parametrize("place", ["_temporary", "number=1", "_damaged.json", "part-1.parquet"])
@pytest.mark.parametrize("mode", ["overwrite", "append"])
def test_an_export_changes_nothing_behind_a_link_in_its_table(
    mode: str, place: str, victim: Path, tmp_path: Path
) -> None:
    pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")
    table = tmp_path / "table"
    table.mkdir()
    (table / "_SUCCESS").touch()
    (table / place).symlink_to(victim)
    theirs, before = snapshot(victim), snapshot(table)
    answer = call("export", golden("scattered-acks").data(), "--to", table, "--mode", mode)
    assert (snapshot(victim), snapshot(table)) == (theirs, before)
    assert answer.status == 2 and "link" in answer.err, answer
