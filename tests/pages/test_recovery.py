"""``recover`` on broken directories of real brokers: what the plan says is what the result holds."""

from __future__ import annotations

import shutil
import tracemalloc
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from broken_directories import BREAKS, OTHER_BROKER, NotHere, broken
from compactions import tree
from golden_cases import GoldenCase, cases_of_each_kind, spread
from recoveries import accounted

from pagefmt.change.recovery.message_outcomes import MessageOutcomes
from pagefmt.change.recovery.plan import DamagedPart, RecoveryPlan
from pagefmt.change.recovery.queues import NameSource, QueueToName
from pagefmt.change.recovery.recovering import plan_recovery, recover
from pagefmt.change.recovery.sources import NothingLeft
from pagefmt.check.cross.of_messages import check_messages
from pagefmt.check.cross.run import cross_check
from pagefmt.directory.locate import DataLocation, within
from pagefmt.findings import Severity
from pagefmt.outstanding.ack_state import AckState
from pagefmt.outstanding.journal_parts import JournalParts
from pagefmt.vectors import load_place

SUITED = {
    "2.56.0": ("multicast-acks", "journal-mix", "tx"),
    "2.28.0": ("large-core", "two-addresses"),
    "2.17.0": ("topic-acks", "natural"),
    "2.10.1": ("large", "filter"),
    "artemis-1.5.6": ("topic-acks", "large"),
    "hornetq-2.4.7": ("natural", "tx"),
}
EVERY = [(version, name, way) for version, names in SUITED.items() for name in names for way in (*BREAKS, OTHER_BROKER)]
NOT_SEEN = {("journal-mix", "main journal file gone")}
"""Other files of the journal have records, and none of them refers to what is gone."""


def waiting(place: DataLocation) -> dict[int, Counter[int]]:
    """Count by queue id the messages that the readers find outstanding in pages and journal."""
    state = load_place(place)
    found: dict[int, Counter[int]] = defaultdict(Counter)
    for store in state.stores():
        for page in store.store.pages if store.unknown is None and not store.read_instead else ():
            for route, ack_states in store.ack_states(page):
                for queue, ack_state in ack_states:
                    if ack_state is AckState.OUTSTANDING:
                        found[queue][route[5]] += 1
    parts = JournalParts(state, None)
    for queue in state.bindings.queues if state.bindings else ():
        numbers, _ = parts.due(queue)
        if len(numbers):
            found[queue].update(parts.messages.ids[numbers].tolist())
    return dict(found)


def compare(plan: RecoveryPlan, before: dict[int, Counter[int]], after: dict[int, Counter[int]]) -> None:
    """Assert that the plan accounts for each difference between the sound and the recovered directory."""
    assert {each.id: each.messages for each in plan.queues if each.messages} == {
        queue: found.total() for queue, found in after.items()
    }
    missing = {message for queue, ids in before.items() for message in ids - after.get(queue, Counter())}
    more = {message for queue, ids in after.items() for message in ids - before.get(queue, Counter())}
    if plan.lost.most is not None:
        assert len(missing) <= plan.lost.most + (plan.unsure.most or 0)
    if plan.again.most is not None and plan.unsure.most is not None:
        assert len(more) <= plan.again.most + plan.unsure.most
    assert plan.again.fewest <= len(more)


@pytest.mark.parametrize(("version", "name", "way"), spread(EVERY, 9))
def test_the_result_holds_what_the_plan_says(version: str, name: str, way: str, tmp_path: Path) -> None:
    case = GoldenCase(version, name)
    other = next(each for each in SUITED[version] if each != name)
    try:
        data = broken(case.data(), way, tmp_path / "data", GoldenCase(version, other).data())
    except NotHere:
        return
    before = tree(data)
    planned, named = MessageOutcomes(), MessageOutcomes()
    plan = plan_recovery(within(data), outcomes=planned)
    assert recover(within(data), tmp_path / "new", outcomes=named) == plan
    assert list(planned) == list(named)
    assert tree(data) == before
    if not plan.mends:
        assert not (tmp_path / "new").exists()
        assert plan.steps or way in ("large bodies empty", "first page gone") or (name, way) in NOT_SEEN
        return
    new = within(tmp_path / "new")
    due, given = waiting(within(case.data())), waiting(new)
    compare(plan, due, given)
    assert accounted(plan, named, due, given).wrong is None
    assert not plan_recovery(new).mends
    state = load_place(new)
    said = [*cross_check(state, new.large_messages), *check_messages(state)]
    assert [each for each in said if each.severity is Severity.ERROR and each.rule != "large-body-missing"] == []


@pytest.mark.parametrize("case", cases_of_each_kind(), ids=str)
def test_a_sound_directory_needs_nothing(case: GoldenCase, tmp_path: Path) -> None:
    plan = recover(within(case.data()), tmp_path / "new")
    torn = any(word in case.name for word in ("torn", "bad-", "zero-tail", "ascii-locale"))
    assert bool(plan.steps) == (torn or case.name == "hole")  # its counters have messages of a page that was removed
    assert (tmp_path / "new").exists() == torn


def test_names_and_routing_come_from_where_they_can_be_known(tmp_path: Path) -> None:
    data = broken(GoldenCase("2.56.0", "two-addresses").data(), "no bindings files", tmp_path / "data")
    made = {each.address: each for each in plan_recovery(within(data)).queues}
    assert {each.name_from for each in made.values()} == {NameSource.ADDRESS}
    address, queue = next((each.address, each) for each in made.values())
    declared = [QueueToName(address, "known", "ANYCAST")]
    again = {each.id: each for each in plan_recovery(within(data), declared).queues}[queue.id]
    assert (again.name, again.name_from, again.routing) == ("known", NameSource.CONFIGURATION, "ANYCAST")


def test_queues_of_one_address_get_names_that_say_that_they_are_invented(tmp_path: Path) -> None:
    data = broken(GoldenCase("2.56.0", "multicast-acks").data(), "no bindings files", tmp_path / "data")
    made = plan_recovery(within(data)).queues
    assert {each.name for each in made} == {f"news.recovered-{each.id}" for each in made}
    assert {(each.name_from, each.routing) for each in made} == {(NameSource.INVENTED, "MULTICAST")}


def test_bodies_that_nobody_names_are_set_aside(tmp_path: Path) -> None:
    data = broken(GoldenCase("2.56.0", "large-core").data(), "page cut", tmp_path / "data")
    (data / "large-messages" / "999999.msg").write_bytes(b"whose?")
    plan = recover(within(data), tmp_path / "new")
    assert "999999.msg" in plan.aside
    aside = tmp_path / "new" / "aside" / "large-messages"
    assert {path.name for path in aside.iterdir()} == set(plan.aside)
    assert not (tmp_path / "new" / "large-messages" / "999999.msg").exists()


@pytest.mark.parametrize(
    ("left", "parts"),
    [
        (("journal", "bindings", "large-messages"), {DamagedPart.PAGES}),
        (("journal",), {DamagedPart.PAGES, DamagedPart.BINDINGS}),
        (("bindings",), {DamagedPart.JOURNAL}),
        (("paging",), {DamagedPart.JOURNAL, DamagedPart.BINDINGS}),
    ],
)
def test_a_directory_that_is_gone_is_told(left: tuple[str, ...], parts: set[DamagedPart], tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "multicast-acks").copy(tmp_path)
    for folder in list(data.iterdir()):
        if folder.name not in left:
            shutil.rmtree(folder)
    plan = recover(within(data), tmp_path / "new")
    assert {step.part for step in plan.steps} == parts
    assert (plan.lost.most is None) == (parts != {DamagedPart.BINDINGS})
    assert not plan_recovery(within(tmp_path / "new")).mends


def test_what_a_broken_compaction_left_is_set_aside(tmp_path: Path) -> None:
    data = broken(GoldenCase("2.56.0", "multicast-acks").data(), "leftover compaction", tmp_path / "data")
    plan = recover(within(data), tmp_path / "new")
    assert [step.file for step in plan.steps] == ["activemq-data-1.amq", "journal-rename-control.ctr"]
    assert plan.lost.most is None
    assert [path.name for path in (tmp_path / "new" / "aside" / "journal").iterdir()] == ["activemq-data-1.amq.cmp"]
    assert not [path for path in (tmp_path / "new" / "journal").iterdir() if path.suffix in (".ctr", ".cmp")]


def test_a_folder_under_the_name_of_a_journal_file_is_left_out(tmp_path: Path) -> None:
    # No broker would start on a directory with it.
    data = GoldenCase("2.56.0", "tx").copy(tmp_path)
    (data / "bindings" / "activemq-bindings-99.bindings").mkdir()
    new = tmp_path / "new"
    assert recover(within(data), new).mends
    assert all(path.is_file() for path in (new / "bindings").iterdir())
    assert load_place(within(new)).known.unknown_bindings is None


def test_what_looks_like_records_takes_no_memory(tmp_path: Path) -> None:
    # The file has no header, and two million places at which a record could begin.
    data = GoldenCase("2.56.0", "tx").copy(tmp_path)
    noise = b"\x0b\xff\xff\xff\xff" * (2 << 20)
    (data / "journal" / "activemq-data-99.amq").write_bytes(bytes(16) + noise)
    tracemalloc.start()
    plan = plan_recovery(within(data))
    _, highest = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "activemq-data-99.amq" in {step.file for step in plan.steps}
    assert highest < len(noise) + (16 << 20)


def test_a_folder_without_any_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NothingLeft, match="no paging, journal or bindings"):
        plan_recovery(within(tmp_path))
    for name in ("paging", "journal", "bindings"):
        (tmp_path / name).mkdir()
    with pytest.raises(NothingLeft, match="nothing to recover from"):
        plan_recovery(within(tmp_path))


@pytest.mark.parametrize("way", ["page of noise", "page put aside"])
def test_a_prepared_transaction_names_no_page_that_is_gone(way: str, tmp_path: Path) -> None:
    # HornetQ 2.3 does not start on such a transaction.
    case = GoldenCase("hornetq-2.3.25", "tx")

    def in_doubt(data: Path) -> set[int]:
        """Return the pages in which prepared transactions acknowledge."""
        index = load_place(within(data)).journal.in_doubt_acks
        return {page for _, page in index.pages()}

    broken(case.data(), way, tmp_path / "data", case.data())
    plan = recover(within(tmp_path / "data"), tmp_path / "out")
    (store,) = load_place(within(tmp_path / "out")).stores()
    there = {page.number for page in store.store.pages}
    assert plan.mends and in_doubt(case.data()) - there
    assert in_doubt(tmp_path / "out") == in_doubt(case.data()) & there
