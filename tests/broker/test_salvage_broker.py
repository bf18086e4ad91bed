"""Salvage judged by real brokers: what one started on the result delivers, beside what can be read.

``make test-compaction-broker``. A page of each case is damaged in each way of ``page_damage.KINDS``; salvage writes the
directory anew; the broker of that version drains it. Expected, queue by queue: what the broker drains from the
undamaged directory, but for the records that were lost. Behind a gap of unknown length no record has a number: those
come at the end, and what was acknowledged among them comes again. The directories that real brokers left torn (they
were halted, or their pages damaged, when the corpus was made) have to give what they gave, and more.
"""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import golden_cases
import pytest
from broker_drains import Queue, drains, failure, queues
from broker_jars import oracle
from golden_cases import GoldenCase
from page_damage import KINDS, damaged, spans
from program import call

from pagefmt.directory.locate import within
from pagefmt.outstanding.ack_state import AckState
from pagefmt.vectors import load_state

pytestmark = [pytest.mark.broker, pytest.mark.timeout(7200)]
SUITED = (
    "scattered-acks", "multicast-acks", "restarted", "two-addresses", "large-core", "topic-acks", "types", "filter",
    "addresses", "large", "basic", "amqp-jms", "core-types",
)  # fmt: skip
TORN = ("torn", "torn-head", "zero-tail", "bad-end", "bad-start", "halt", "halt-acks", "tx-halt")
LARGE_TYPE = 13  # offset in a record; 0 is an ordinary message
WAYS = [*KINDS, "put aside", "no address", "wrong address", "other name"]
LAST = (1 << 31) - 1
HEAD = "version         what      directories  queues  messages  lost  different"


@dataclass(frozen=True, slots=True)
class Hit:
    """A damaged directory with its salvaged copy, and the expected differences in delivery.

    ``lost`` and ``loose`` are message ids: records that are not recovered, and records that move after the last page.
    ``again`` lists, by queue id, the loose messages that this queue has already acknowledged.
    """

    name: str
    original: Path
    result: Path
    lost: frozenset[int]
    loose: frozenset[int]
    again: dict[int, list[int]]


def acknowledged(data: Path, store: str, page: int, from_number: int) -> dict[int, list[int]]:
    """Return by queue the ids of acknowledged records of a page, from ``from_number`` on."""
    place, found = within(data), dict[int, list[int]]()
    assert place.paging is not None
    for known in load_state(place.paging, place.journal, place.bindings).stores():
        if known.store.name == store:
            (file,) = [each for each in known.store.pages if each.number == page]
            for route, ack_states in known.ack_states(file):
                for queue, ack_state in ack_states:
                    if ack_state is AckState.DONE and route[0] >= from_number:
                        found.setdefault(queue, []).append(route[5])
    return found


def hit(original: Path, way: str, result: Path) -> Hit | None:
    """Damage a copy in one way and put the salvaged directory in its place.

    Return None if the directory has no suitable page.
    """
    data = result / "data"
    shutil.copytree(original, result)
    pages = [path for path in sorted(data.rglob("*.page")) if len(spans(path)) > 4]
    if not pages:
        return None
    path = pages[len(pages) // 2]
    number, records, content, store = int(path.name[:9]), spans(path), path.read_bytes(), path.parent
    first, lost = len(records), frozenset[int]()
    if way == "size of the body" and content[records[2][0] + LARGE_TYPE]:
        return None  # a large message has its id there
    match way:
        case "put aside":
            path.unlink()
            kept = damaged(content, records, "bytes between", 2)
            path.with_name(path.name + ".invalidPage").write_bytes(kept)
            first, lost = 2, frozenset(message for _, _, message in records[:2])
        case "no address":
            (store / "address.txt").unlink()
        case "wrong address":
            (store / "address.txt").write_bytes(b"nowhere\n")
        case "other name":
            path.rename(path.with_name(f"{number}.page"))
        case _:
            path.write_bytes(damaged(content, records, way, 2))
            back, sure = KINDS[way]
            lost = frozenset() if back else frozenset({records[2][2]})
            first = first if sure else 2
    again = acknowledged(original / "data", store.name, number, first)
    answer = call("pages", "salvage", data, "--out", result / "new")
    assert answer.status in (0, 1), answer.err
    shutil.rmtree(data / "paging")
    (result / "new").rename(data / "paging")
    return Hit(result.name, original, result, lost, frozenset(message for _, _, message in records[first:]), again)


def wrong(each: Hit, before: dict[str, Queue], after: dict[str, Queue], numbers: dict[str, int]) -> str | None:
    """Describe the first deviation of a queue's delivery from the expected one, or return None."""
    if set(before) != set(after):
        return f"{each.name}: queues {sorted(set(before) ^ set(after))}"
    for name, queue in before.items():
        bodies = {message[0]: message for message in queue.messages}
        stay = [one for one in queue.by_priority if one[0] not in each.lost | each.loose]
        behind = {one[0] for one in queue.messages if one[0] in each.loose - each.lost}
        again = set(each.again.get(numbers[name], [])) - each.lost
        got = after[name].by_priority
        if [one for one in got if one[0] not in each.loose] != stay:
            return f"{each.name}: {name}: what kept its place is not the same"
        if Counter(one[0] for one in got if one[0] in each.loose) != Counter(behind | again):
            return f"{each.name}: {name}: behind the gap came {[one[0] for one in got if one[0] in each.loose]}"
        if any(bodies.get(one[0], one) != one for one in got):
            return f"{each.name}: {name}: a body is not the same"
    return None


@pytest.mark.parametrize("version", golden_cases.VERSIONS)
def test_a_broker_delivers_what_can_be_read(version: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    oracle()
    names = [name for name in SUITED if GoldenCase(version, name).archive.exists()][:5]
    hits, originals = [], []
    for n, name in enumerate(names):
        originals.append(GoldenCase(version, name).lay_out(tmp_path / name))
        for way in WAYS[n % 2 :: 2] if n > 1 else WAYS:
            found = hit(originals[-1], way, tmp_path / f"{name}, {way}")
            hits += [found] if found else []
    before, after = drains(version, originals), drains(version, [each.result for each in hits])
    found_wrong = []
    for each in hits:
        old, new = before[each.original], after[each.result]
        numbers = {queue["name"]: queue["id"] for queue in old["queues"]}
        reason = failure(old) or failure(new)
        said = f"{each.name}: {reason}" if reason else wrong(each, queues(old), queues(new), numbers)
        found_wrong += [said] if said else []
    told = [queues(each) for each in after.values()]
    with capfd.disabled():
        print(
            f"\n{HEAD}\n{version:15} salvage   {len(hits):11} {sum(map(len, told)):7} "
            f"{sum(len(queue.messages) for each in told for queue in each.values()):9} "
            f"{sum(len(each.lost) for each in hits):5} {len(found_wrong):10}"
        )
    assert found_wrong == []
    assert len(hits) >= 8


@pytest.mark.parametrize("version", golden_cases.VERSIONS)
def test_the_last_page_number(version: str, tmp_path: Path) -> None:
    # No page can follow number 2147483647, so salvage puts the records after its damage before it.
    oracle()
    suited = [GoldenCase(version, name) for name in SUITED if GoldenCase(version, name).archive.exists()]
    case = next(case for case in suited if len(spans(max(case.data().rglob("*.page")))) > 2)
    original = case.lay_out(tmp_path / "original")
    for store in (original / "data").glob("*paging/*"):
        for n, path in enumerate(sorted(store.glob("*.page"), reverse=True)):
            path.rename(path.with_name(f"{LAST - n:09d}.page"))
    result = Path(shutil.copytree(original, tmp_path / "result"))
    data = result / "data"
    (last,) = [path for path in data.rglob(f"{LAST}.page") if len(spans(path)) > 2] or [None]
    assert last is not None
    last.write_bytes(damaged(last.read_bytes(), spans(last), "bytes between", 1))
    answer = call("pages", "salvage", data, "--out", result / "new")
    assert answer.status == 1, answer
    (paging,) = data.glob("*paging")
    shutil.rmtree(paging)
    (result / "new").rename(paging)
    before, after = drains(version, [original])[original], drains(version, [result])[result]
    assert failure(before) is None and failure(after) is None, (failure(before), failure(after))
    for queue, told in queues(before).items():
        assert Counter(queues(after)[queue].messages) == Counter(told.messages)
    assert all(told.messages for told in queues(before).values())


@pytest.mark.parametrize("version", golden_cases.VERSIONS)
def test_what_brokers_left_torn(version: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Assert that salvage loses nothing that a broker delivers without it."""
    oracle()
    before, results = {}, {}
    for name in TORN:
        case = GoldenCase(version, name)
        if not case.archive.exists():
            continue
        folder = case.lay_out(tmp_path / name)
        if call("pages", "salvage", folder / "data", "--out", folder / "new").status == 2:
            continue  # nothing is damaged
        shutil.rmtree(folder / "data" / "paging")
        (folder / "new").rename(folder / "data" / "paging")
        before[name], results[name] = case.drain(), folder
    after = drains(version, list(results.values()))
    missing, more, messages = [], 0, 0
    for name, folder in results.items():
        assert failure(after[folder]) is None, f"{name}: {failure(after[folder])}"
        old, new = queues(before[name]), queues(after[folder])
        for queue, told in old.items():
            gone = Counter(told.messages) - Counter(new[queue].messages)
            missing += [f"{name}: {queue}: {sorted(one[0] for one in gone)}"] if gone else []
            more += len(new[queue].messages) - len(told.messages)
            messages += len(new[queue].messages)
    with capfd.disabled():
        print(
            f"\n{version:15} torn by brokers: {len(results)} directories, {messages} messages, {more} more than before"
        )
    assert missing == []
