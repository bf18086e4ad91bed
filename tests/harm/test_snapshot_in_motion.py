"""Beside a broker that works: what is being written is said to be so, what cannot be known is in doubt, nothing false.

Without a broker: another process holds ``serverlock.1``, and the directory is one that a broker left in mid-work. The
real one is in ``test_beside_a_running_broker.py``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harmed import acknowledgement, faults, golden, json_of, no_trace, pagectl, pages_of, record, snapshot
from pagectl.decoding.sources import AllSources
from pagectl.terminal.streams import json_text

from pagefmt.change.compaction.journals import apply_journals, plan_journals
from pagefmt.check.cross.run import cross_check
from pagefmt.codec.pages.frames import Damage
from pagefmt.describe.message_json import BodyForm, MessageOptions
from pagefmt.directory.locate import DataLocation, locate, within
from pagefmt.findings import Severity
from pagefmt.journal.files import JournalHeader, JournalListing, encode_header
from pagefmt.journal.load import TRIES, LoadedJournal, load_files
from pagefmt.outstanding.loaded_journals import KnownJournals, load_journals
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.storage.writing import Disk
from pagefmt.table.json_lines import LineFormat, rows_together
from pagefmt.vectors import load_place

COMMANDS = {
    "ls": ("pages", "ls", "{data}"),
    "outstanding": ("pages", "outstanding", "{data}"),
    "verify": ("pages", "verify", "{data}"),
    "inspect": ("pages", "inspect", "{data}"),
    "decode": ("pages", "decode", "{data}", "--format", "jsonl"),
    "decode --outstanding": ("messages", "decode", "--in", "pages", "{data}", "--outstanding", "--format", "jsonl"),
    "compact": ("pages", "compact", "{data}"),
    "disk usage": ("disk", "usage", "{data}"),
}
HOLD = (
    "import fcntl, sys, time\nfile = open(sys.argv[1], 'r+b')\n"
    "fcntl.lockf(file, fcntl.LOCK_EX)\nprint('held', flush=True)\ntime.sleep(600)"
)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Path]:
    """Yield a locked directory in which a broker is writing a page.

    The messages of the page belong to a transaction that is not in the journal yet, and its last record is incomplete.
    """
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
    if name in ("ls", "verify", "inspect", "outstanding"):
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
    # Without a broker the directory is that of a crash: the transaction is rolled back, and its page is free.
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
    # The broker has compacted its journal or finished a page, so the directory is read again.
    status, out, err = asked(name, live, **faults().opens(gone, 1, 2))
    assert status == 0, (out, err)
    assert "No such file" not in out + err, (out, err)


def broken_page(data: Path) -> None:
    page = pages_of(data)[2]
    page.write_bytes(page.read_bytes()[:-9])


def torn_journal(data: Path) -> None:
    path = max((data / "journal").glob("*.amq"), key=lambda each: len(each.read_bytes().rstrip(b"\0")))
    content = bytearray(path.read_bytes())
    end = len(content.rstrip(b"\0"))
    content[end - 600 : end - 100] = b"\xff" * 500
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [broken_page, torn_journal], ids=lambda each: each.__name__)
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("decode", "inspect", "disk usage")])
def test_damage_where_nobody_writes_is_damage(name: str, damage: Callable[[Path], None], live: Path) -> None:
    damage(live)
    status, out, err = asked(name, live)
    assert status == 1, (out, err)


def acknowledged(data: Path, page: int, number: int) -> None:
    """Append an acknowledgement to the journal in a new file after all others."""
    one = bytearray(acknowledgement(page, number, 3, 900_000))
    one[1:5] = (999).to_bytes(4, "big")
    head = encode_header(JournalHeader(2, 0, 999))
    (data / "journal" / "activemq-data-999.amq").write_bytes((head + one).ljust(1 << 20, b"\0"))


def test_the_journal_is_newer_than_the_pages(live: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A broker writes, acknowledges and deletes between the listing of the pages and the reading of the journal.
    folder = pages_of(live)[0].parent
    whole = load_place(locate(live))
    (summary,) = [store.summary() for store in whole.stores()]

    def meanwhile(place: DataLocation, *_: object) -> KnownJournals:
        with (folder / "000000009.page").open("ab") as page:
            page.write(record(10_000, queues=(3,), address="scatter"))
        (folder / "000000010.page").write_bytes(record(10_001, queues=(3,), address="scatter"))
        (folder / "000000002.page").unlink()
        acknowledged(live, 10, 0)
        return load_journals(place)

    monkeypatch.setattr("pagefmt.outstanding.state.load_journals", meanwhile)
    state = load_place(locate(live))
    (seen,) = [store.summary() for store in state.stores()]
    assert [page.page for page in seen.pages] == [page.page for page in summary.pages if page.page != 2]
    assert {page.page: page.records for page in seen.pages}[9] == 5, "as large as it was when it was listed"
    gone = sum(page.live_records for page in summary.pages if page.page == 2)
    assert seen.queues[0].messages == summary.queues[0].messages - gone
    assert not [each for each in cross_check(state, None) if each.severity is not Severity.INFO]
    assert state.journal.ack_index.numbers(3, 10).tolist() == [0]


def test_a_page_that_is_deleted_while_it_is_looked_for(live: Path) -> None:
    state = load_place(locate(live))
    (store,) = state.stores()
    store.store.pages[1].path.unlink()
    number, summary = store.store.pages[1].number, store.summary()
    assert summary.moving[number] == "deleted by the broker meanwhile"
    assert number not in [page.page for page in summary.pages]
    assert not [each for each in cross_check(state, None) if each.severity is not Severity.INFO]


@pytest.mark.parametrize("changes", [1, TRIES])
def test_a_journal_that_does_not_stand_still(changes: int, live: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A file gets a new number while it is read; the journal is read again a limited number of times.
    left = [changes]

    def while_it_moves(listing: JournalListing) -> LoadedJournal:
        if left[0] and listing.files:
            left[0] -= 1
            with listing.files[-1].path.open("r+b") as file:
                file.seek(8)
                file.write((2000 - left[0]).to_bytes(8, "big"))
        return load_files(listing)

    monkeypatch.setattr("pagefmt.journal.load.load_files", while_it_moves)
    unknown = load_place(locate(live)).known.unknown_journal
    assert (unknown is not None) == (changes == TRIES)
    assert unknown is None or f"in each of {TRIES} tries" in unknown.reason


@pytest.fixture
def compacting(tmp_path: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Yield a locked directory and a function that replaces its journal by the compacted one."""
    data = golden("journal-mix").copy(tmp_path)
    anew = Path(shutil.copytree(data, tmp_path / "compacted"))
    apply_journals(plan_journals(within(anew)), Disk(), None)

    def move() -> None:
        for path in (data / "journal").glob("*.amq"):
            path.unlink()
        for path in (anew / "journal").glob("*.amq"):
            shutil.copy(path, data / "journal")

    words = [sys.executable, "-c", HOLD, str(data / "journal" / "serverlock.1")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as holding:
        assert holding.stdout and holding.stdout.readline() == "held\n"
        yield data, move
        holding.kill()


def lines_of(sources: AllSources) -> list[dict[str, Any]]:
    form = LineFormat(MessageOptions(frozenset({BodyForm.SIZE, BodyForm.SHA256}), None), json_text)
    return [
        {key: value for key, value in row.items() if key not in ("file", "offset")}
        for at in sources
        for _, row in rows_together([at.source()], at.known, at.known.store, form, at.choice)
        if not isinstance(row, Damage)
    ]


@pytest.mark.parametrize("queue", [None, "a.mixed"])
def test_a_compaction_takes_no_message_away(
    queue: str | None, compacting: tuple[Path, Callable[[], None]], capsys: pytest.CaptureFixture[str]
) -> None:
    data, move = compacting
    place = locate(data)

    def sources() -> AllSources:
        state = load_place(place)
        named = next(each.id for each in state.bindings.queues.values() if each.name == queue) if queue else None
        choice = MessageFilter(queues=None if named is None else frozenset((named,)), outstanding=queue is not None)
        return AllSources(place, state, choice)

    before, loaded = lines_of(sources()), sources()
    move()
    assert lines_of(loaded) == before and len(before) > 30
    assert capsys.readouterr().err == "" and not loaded.damaged


def test_what_is_done_with_meanwhile_is_told(
    compacting: tuple[Path, Callable[[], None]], capsys: pytest.CaptureFixture[str]
) -> None:
    # The broker has removed every message when its journal is read again.
    data, _ = compacting
    place = locate(data)
    loaded = AllSources(place, load_place(place), MessageFilter())
    for path in (data / "journal").glob("*.amq"):
        path.unlink()
    assert all(line["where"] == "page" for line in lines_of(loaded))
    assert "that the broker finished meanwhile" in capsys.readouterr().err
    assert not loaded.damaged


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_opened_for_writing(name: str, live: Path, tmp_path: Path) -> None:
    # strace shows how files are opened.
    import shutil as programs

    if programs.which("strace") is None:
        pytest.skip("strace is not installed")
    log = tmp_path / "strace"
    words = [word.format(data=live) for word in COMMANDS[name]]
    from program import environment

    subprocess.run(
        ["strace", "-f", "-e", "trace=openat,open,creat", "-o", str(log), sys.executable, "-m", "pagectl", *words],
        env=environment(),
        capture_output=True,
        timeout=120,
    )
    opened = [line for line in log.read_text("utf-8", "replace").splitlines() if str(live) in line]
    assert opened and not [line for line in opened if "O_WRONLY" in line or "O_RDWR" in line or "O_CREAT" in line]
