"""Cross-checks: nothing invented on what brokers wrote, and each check found on a directory made for it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import golden_cases
import pytest
from editions_of import EDITION_OF as EDITIONS
from golden_cases import GoldenCase

from pagefmt.check.cross.ranges import ranges
from pagefmt.check.cross.run import cross_check
from pagefmt.directory.counters import counters, recounts_at_start
from pagefmt.directory.locate import locate
from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Finding, Severity, about_data, gravest_first
from pagefmt.journal.bodies import Body, CursorAck, PageComplete, PageTransaction, encode_body
from pagefmt.journal.files import HEADER, JournalHeader, encode_header
from pagefmt.journal.records import JournalRecord, RecordKind, encode
from pagefmt.outstanding.ack_state import AckState
from pagefmt.outstanding.state import PagingState
from pagefmt.vectors import load_place, load_state

CASES = golden_cases.cases()
# what the makers of these cases did to them
MADE_SO = {
    "hole": {"missing-pages", "counter-drift"},
    "bad-end": {"counter-drift"},
    "bad-start": {"counter-drift"},
    "unicode-ascii-locale": {"store-without-queue"},
    "large-core": {"large-body-not-durable"},
    "large-amqp": {"large-body-not-durable"},
    "tx": {"prepared-transaction"},
    "tx-halt": {"prepared-transaction"},
}


def state_of(data: Path) -> PagingState:
    return load_state(data / "paging", data / "journal", data / "bindings")


def counted_at_start(edition: Edition, outstanding: int, in_doubt_acks: int, in_doubt_sends: int) -> int:
    """Return the count of paged messages that a queue of 2.28 or later has right after start.

    Measured: 2.28.0 also counts the sends of prepared transactions, 2.44.0 and 2.56.0 do not.
    """
    sends = in_doubt_sends if edition is Edition.ARTEMIS_2_28 else 0
    return outstanding + in_doubt_acks + sends


def checked(data: Path, edition: Edition = NEWEST) -> list[Finding]:
    return cross_check(state_of(data), data / "large-messages", edition)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nothing_is_invented(case: GoldenCase) -> None:
    findings = checked(case.data(), EDITIONS[case.version])
    grave = {finding.rule for finding in findings if finding.severity is not Severity.INFO}
    assert grave <= MADE_SO.get(case.name, set())
    assert findings == sorted(findings, key=gravest_first)
    told = case.manifest()["journal"]["prepared"]
    assert sum(finding.rule == "prepared-transaction" for finding in findings) == len(told)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_message_counts_at_start(case: GoldenCase) -> None:
    # Brokers use counter records up to 2.27, and count again at the start from 2.28 on.
    edition, state = EDITIONS[case.version], state_of(case.data())
    stored = counters(state.journal)
    pages: dict[int, dict[str, int]] = {}
    for store in state.stores():
        for page in store.store.pages if store.store.address is not None else ():
            for route, ack_states in store.ack_states(page):
                for queue, ack_state in ack_states:
                    its = pages.setdefault(queue, dict.fromkeys([*AckState, "pending"], 0))
                    its[ack_state] += 1
                    its["pending"] += queue in stored and page.number in stored[queue].pending and route[3] <= 0
    for queue in case.drain()["queues"]:
        references = sum(who == queue["id"] and not acked for _, who, acked in state.journal.references())
        its = pages.get(queue["id"], dict.fromkeys([*AckState, "pending"], 0))
        if recounts_at_start(edition):
            ours = counted_at_start(
                edition,
                *(
                    its[ack_state]
                    for ack_state in (AckState.OUTSTANDING, AckState.IN_DOUBT_ACK, AckState.IN_DOUBT_SEND)
                ),
            )
        else:
            ours = stored[queue["id"]].stored(its["pending"]) if queue["id"] in stored else 0
        assert references + ours == queue["count"], queue["name"]


def add_journal(data: Path, *bodies: tuple[int, Body]) -> None:
    """Append records to the journal in a new file after all others."""
    records = (
        JournalRecord(RecordKind.ADD, id=900_000 + n, user_type=user_type, body=encode_body(body))
        for n, (user_type, body) in enumerate(bodies)
    )
    buf = encode_header(JournalHeader(2, 0, 999)) + b"".join(encode(record, 999) for record in records)
    (data / "journal" / "activemq-data-999.amq").write_bytes(buf)


def store(data: Path) -> Path:
    return next(path for path in sorted((data / "paging").iterdir()) if path.is_dir())


def pages(data: Path) -> list[Path]:
    return sorted(store(data).glob("*.page"))


def last(data: Path) -> int:
    return int(pages(data)[-1].name[:9])


QUEUE = 3  # of 2.56.0/basic and of 2.56.0/tx
MUTATIONS: dict[str, tuple[str, Callable[[Path], object], dict[Edition, Severity]]] = {
    "acknowledgement-beyond-the-page": (
        "basic",
        lambda data: add_journal(data, (39, CursorAck(QUEUE, last(data), 5000))),
        dict.fromkeys((Edition.ARTEMIS_2_17, Edition.ARTEMIS_2_28, NEWEST), Severity.ERROR),
    ),
    "acknowledgement-beyond-the-page in the middle": (
        "basic",
        lambda data: add_journal(data, (39, CursorAck(QUEUE, 2, 5000))),
        {Edition.ARTEMIS_2_17: Severity.WARNING, Edition.ARTEMIS_2_28: Severity.INFO, NEWEST: Severity.INFO},
    ),
    "acknowledgement-of-missing-page": (
        "basic",
        lambda data: add_journal(data, (39, CursorAck(QUEUE, 77, 0))),
        {Edition.ARTEMIS_2_17: Severity.WARNING, Edition.ARTEMIS_2_44: Severity.ERROR, NEWEST: Severity.WARNING},
    ),
    "acknowledgement-of-missing-page in a hole": (
        "basic",
        lambda data: (pages(data)[1].unlink(), add_journal(data, (39, CursorAck(QUEUE, 2, 0)))),
        dict.fromkeys((Edition.ARTEMIS_2_17, Edition.ARTEMIS_2_44, NEWEST), Severity.INFO),
    ),
    "acknowledgement-of-unknown-queue": (
        "basic",
        lambda data: add_journal(data, (39, CursorAck(4711, 1, 0))),
        {NEWEST: Severity.INFO},
    ),
    "repeated-acknowledgement": (
        "basic",
        lambda data: add_journal(data, (39, CursorAck(QUEUE, 1, 0)), (39, CursorAck(QUEUE, 1, 0))),
        {NEWEST: Severity.INFO},
    ),
    "page-complete-ahead": (
        "basic",
        lambda data: add_journal(data, (42, PageComplete(QUEUE, 77, 10))),
        {NEWEST: Severity.WARNING},
    ),
    "page-complete-of-missing-page": (
        "basic",
        lambda data: (pages(data)[1].unlink(), add_journal(data, (42, PageComplete(QUEUE, 2, 10)))),
        {NEWEST: Severity.INFO},
    ),
    "page-complete-count": (
        "basic",
        lambda data: add_journal(data, (42, PageComplete(QUEUE, 1, 3))),
        {NEWEST: Severity.WARNING},
    ),
    "page-complete-of-unknown-queue": (
        "basic",
        lambda data: add_journal(data, (42, PageComplete(4711, 1, 3))),
        {NEWEST: Severity.INFO},
    ),
    "page-transaction-without-records": (
        "basic",
        lambda data: add_journal(data, (35, PageTransaction(4711, 3))),
        {NEWEST: Severity.INFO},
    ),
    "spent-page-transaction": (
        "basic",
        lambda data: add_journal(data, (35, PageTransaction(4711, 0))),
        {NEWEST: Severity.INFO},
    ),
    "records-of-unknown-transaction": ("tx", lambda data: None, {NEWEST: Severity.INFO}),
    "prepared-transaction": ("tx", lambda data: None, {NEWEST: Severity.WARNING}),
    "duplicate-store": (
        "basic",
        lambda data: shutil.copytree(store(data), store(data).with_name("copy")),
        {NEWEST: Severity.ERROR},
    ),
    "store-without-queue": (
        "basic",
        lambda data: (store(data) / "address.txt").write_text("nowhere\n"),
        {NEWEST: Severity.WARNING},
    ),
    "record-of-unknown-queue": ("deleted-queue", lambda data: None, {NEWEST: Severity.INFO}),
    "missing-pages": (
        "basic",
        lambda data: pages(data)[1].unlink(),
        {Edition.ARTEMIS_2_17: Severity.INFO, NEWEST: Severity.INFO},
    ),
    "empty-page": ("basic", lambda data: pages(data)[1].write_bytes(b""), {NEWEST: Severity.WARNING}),
    "repeated-message-id": (
        "basic",
        lambda data: shutil.copy(pages(data)[0], store(data) / f"{last(data) + 1:09d}.page"),
        {NEWEST: Severity.INFO},
    ),
    "large-body-orphan": (
        "basic",
        lambda data: (data / "large-messages" / "12345.msg").write_bytes(b"x"),
        {Edition.ARTEMIS_2_17: Severity.INFO, NEWEST: Severity.INFO},
    ),
    "large-body-orphan behind damage": (
        "basic",
        lambda data: ((data / "large-messages" / "12345.msg").write_bytes(b"x"), pages(data)[0].write_bytes(b"{" * 99)),
        {NEWEST: Severity.WARNING},
    ),
    "large-body-missing": (
        "large-core",
        lambda data: [path.unlink() for path in (data / "large-messages").glob("*.msg")],
        {NEWEST: Severity.ERROR},
    ),
    "counter-missing": (
        "basic",
        lambda data: [
            path.write_bytes(path.read_bytes()[: HEADER.size].ljust(path.stat().st_size, b"\0"))
            for path in (data / "journal").glob("*.amq")
        ],
        {Edition.ARTEMIS_2_17: Severity.ERROR},
    ),
    "bad-record": (
        "basic",
        lambda data: (data / "journal" / "x.amq").write_bytes(
            encode_header(JournalHeader(2, 0, 5))
            + encode(JournalRecord(RecordKind.ADD, id=9, user_type=39, body=b"short"), 5)
        ),
        {NEWEST: Severity.ERROR},
    ),
    "journal-file": (
        "basic",
        lambda data: (data / "journal" / "activemq-data-8.amq.cmp").write_bytes(b""),
        {NEWEST: Severity.INFO},
    ),
    "dropped-transaction": (
        "basic",
        lambda data: (data / "journal" / "activemq-data-999.amq").write_bytes(
            encode_header(JournalHeader(2, 0, 999))
            + encode(JournalRecord(RecordKind.ADD_TX, id=1, tx=5, user_type=39, body=bytes(20)), 999)
            + encode(JournalRecord(RecordKind.COMMIT, tx=5, records=2), 999)
        ),
        {NEWEST: Severity.WARNING},
    ),
    "torn-record": (
        "basic",
        lambda data: (data / "journal" / "activemq-data-999.amq").write_bytes(
            encode_header(JournalHeader(2, 0, 999)) + encode(JournalRecord(RecordKind.DELETE, id=1), 999)[:-1]
        ),
        {NEWEST: Severity.WARNING},
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_each_check_on_a_directory_made_for_it(name: str, tmp_path: Path) -> None:
    base, mutate, expected = MUTATIONS[name]
    check = name.split()[0]
    case = GoldenCase("2.56.0", base)
    before = {finding.rule for finding in checked(case.data())}
    data = case.copy(tmp_path)
    mutate(data)
    for edition, severity in expected.items():
        found = [finding for finding in checked(data, edition) if finding.rule == check]
        assert {finding.severity for finding in found} == {severity}, (edition, found)
        assert all("\n" not in str(finding) and finding.why and finding.message for finding in found)
    if base == "basic":
        assert check not in before


IN_MOTION: dict[str, set[Severity]] = {
    "acknowledgement-beyond-the-page": set(),
    "page-transaction-without-records": set(),
    "records-of-unknown-transaction": set(),
    "counter-missing": set(),
    "prepared-transaction": {Severity.INFO},
    "torn-record": {Severity.INFO},
}
"""At the end of the last page or journal file, or newer than both; all else is as bad as without a broker."""


@pytest.mark.parametrize("name", MUTATIONS)
def test_beside_a_running_broker(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base, mutate, expected = MUTATIONS[name]
    data = GoldenCase("2.56.0", base).copy(tmp_path)
    mutate(data)
    monkeypatch.setattr("pagefmt.outstanding.state.running_broker", lambda journal: 1)
    state = load_place(locate(data))
    assert state.live
    for edition, severity in expected.items():
        found = cross_check(state, data / "large-messages", edition)
        assert {each.severity for each in found if each.rule == name.split()[0]} == IN_MOTION.get(name, {severity})


def test_what_is_older_than_the_last_journal_file_is_not_in_motion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pagefmt.outstanding.state.running_broker", lambda journal: 1)
    for name in ("torn-record", "prepared-transaction"):
        base, mutate, _ = MUTATIONS[name]
        data = GoldenCase("2.56.0", base).copy(tmp_path / name)
        mutate(data)
        delete = encode(JournalRecord(RecordKind.DELETE, id=1), 1000)
        (data / "journal" / "activemq-data-1000.amq").write_bytes(encode_header(JournalHeader(2, 0, 1000)) + delete)
        found = cross_check(load_place(locate(data)), data / "large-messages", NEWEST)
        assert {each.severity for each in found if each.rule == name} == {Severity.WARNING}, name


def test_a_counter_that_drifts(tmp_path: Path) -> None:
    data = GoldenCase("2.17.0", "filter").copy(tmp_path)
    assert not [finding for finding in checked(data, Edition.ARTEMIS_2_17) if finding.rule == "counter-drift"]
    pages(data)[-1].write_bytes(b"")
    severities = {
        edition: {finding.severity for finding in checked(data, edition) if finding.rule == "counter-drift"}
        for edition in (Edition.ARTEMIS_2_17, NEWEST)
    }
    assert severities == {Edition.ARTEMIS_2_17: {Severity.WARNING}, NEWEST: {Severity.INFO}}


def test_ranges_of_numbers() -> None:
    assert ranges([3, 1, 2, 7, 9, 9]) == "1-3, 7, 9"
    assert ranges(range(0, 40, 2), limit=3) == "0, 2, 4, …"
    assert ranges([]) == ""


def test_the_gravest_finding_comes_first() -> None:
    grave, mild, warning = (
        about_data(severity, "a", "b", "c") for severity in (Severity.ERROR, Severity.INFO, Severity.WARNING)
    )
    assert sorted([mild, warning, grave], key=gravest_first) == [grave, warning, mild]
