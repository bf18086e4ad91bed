"""Salvage: what comes back from damaged pages, and that acknowledgements keep their meaning."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import golden_cases
import pytest
from golden_cases import GoldenCase
from page_damage import KINDS, damaged, spans
from program import call, tree

from pagefmt.change.salvage.segments import SegmentOutcome, rebuild
from pagefmt.change.salvage.store import _number_in
from pagefmt.codec.pages.page import Page, open_page
from pagefmt.codec.pages.record import FRAME, Layout
from pagefmt.directory.locate import within
from pagefmt.journal.message_journal import load_messages
from pagefmt.outstanding.ack_state import AckState
from pagefmt.vectors import load_state

CASE = GoldenCase("2.56.0", "scattered-acks")
OLD = GoldenCase("hornetq-2.4.7", "topic-acks")


def sound_page(case: GoldenCase, number: int = 0) -> Path:
    return sorted(case.data().rglob("*.page"))[number]


def layout_of(path: Path) -> Layout:
    with open_page(path) as page:
        return page.layout() or Layout.NEW


@pytest.mark.parametrize("case", [CASE, OLD], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_of_a_damaged_page(case: GoldenCase, kind: str) -> None:
    path = sound_page(case)
    records = spans(path)
    back, sure = KINDS[kind]
    hit = 2
    assert len(records) > 4
    rebuilt = rebuild(damaged(path.read_bytes(), records, kind, hit), (), layout_of(path))
    standing = [piece for piece in rebuilt.segments if piece.outcome in (SegmentOutcome.WHOLE, SegmentOutcome.MENDED)]
    wanted = [message for n, (_, _, message) in enumerate(records) if n != hit or back]
    assert [piece.message for piece in standing] == wanted
    numbers = {piece.message: piece.number for piece in standing if piece.number is not None}
    known = [message for n, (_, _, message) in enumerate(records) if (sure or n < hit) and message in wanted]
    order = [message for _, _, message in records]
    assert numbers == {message: order.index(message) for message in known}
    page = Page(b"".join(piece.data for piece in rebuilt.numbered))
    assert len(list(page.routes())) == len(rebuilt.numbered) and page.damage is None
    assert rebuilt.damaged


def test_every_cut_gives_back_what_is_whole() -> None:
    path = sound_page(CASE)
    content, records = path.read_bytes(), spans(path)
    for cut in range(0, len(content), 61):
        rebuilt = rebuild(content[:cut], (), Layout.NEW)
        assert [piece.message for piece in rebuilt.numbered] == [message for _, end, message in records if end <= cut]
        assert sum(piece.end - piece.start for piece in rebuilt.segments) == cut


def waiting(data: Path) -> dict[str, list[int]]:
    place = within(data)
    assert place.paging is not None
    state = load_state(place.paging, place.journal, place.bindings)
    found: dict[str, list[int]] = {}
    for store in state.stores():
        for page in store.store.pages if store.unknown is None else ():
            for route, ack_states in store.ack_states(page):
                for queue, ack_state in ack_states:
                    if ack_state is AckState.OUTSTANDING:
                        found.setdefault(str(queue), []).append(route[5])
    return found


def salvaged(data: Path, out: Path) -> dict[str, object]:
    """Salvage the pages, replace the damaged folders by the results, and return the store's report."""
    answer = call("pages", "salvage", data, "--out", out, "--format", "json")
    assert answer.status in (0, 1), answer.err
    for folder in out.iterdir():
        shutil.rmtree(data / "paging" / folder.name)
        shutil.copytree(folder, data / "paging" / folder.name)
    (store,) = json.loads(answer.out)["stores"]
    return dict(store)


@pytest.mark.parametrize("kind", KINDS)
def test_messages_come_back_and_acknowledgements_hold(kind: str, tmp_path: Path) -> None:
    data = CASE.copy(tmp_path)
    before = waiting(data)
    path = sorted(data.rglob("*.page"))[0]
    records = spans(path)
    path.write_bytes(damaged(path.read_bytes(), records, kind, 2))
    files = tree(data)
    reading = call("pages", "salvage", data, "--out", tmp_path / "look")
    assert reading.status in (0, 1) and tree(data) == files
    told = salvaged(data, tmp_path / "new")
    back, sure = KINDS[kind]
    (queue,) = before
    after = waiting(data).get(queue, [])
    lost = set() if back else {records[2][2]}
    assert set(before[queue]) - lost <= set(after)
    again = len(set(after) - set(before[queue]))
    assert told["delivered_again"] == again or (kind == "hole" and again < int(str(told["delivered_again"])))
    if sure:
        assert after == [message for message in before[queue] if message not in lost]
    assert bool(told["lost"]) == (kind not in ("start mark", "end mark", "length over the next"))
    assert call("pages", "verify", data).status in (0, 1)
    for page in sorted(data.rglob("*.page")):
        with open_page(page) as opened:
            list(opened.routes())
            assert opened.damage is None and opened.odd is None


def test_put_aside_pages_give_what_was_never_read(tmp_path: Path) -> None:
    data = CASE.copy(tmp_path)
    path = sorted(data.rglob("*.page"))[0]
    records = spans(path)
    content = damaged(path.read_bytes(), records, "bytes between", 2)
    path.unlink()
    path.with_name(path.name + ".invalidPage").write_bytes(content)
    told = salvaged(data, tmp_path / "new")
    assert told["rescued"] == len(records) - 2
    (new_page,) = told["new_pages"]  # type: ignore[misc]
    (store,) = (data / "paging").iterdir()
    assert [message for _, _, message in spans(store / str(new_page))] == [message for _, _, message in records[2:]]


@pytest.mark.parametrize("whole", [False, True], ids=["damaged", "other name"])
@pytest.mark.parametrize("name", ["tx", "tx-across-pages"])
def test_what_moves_belongs_to_no_transaction_that_is_committed(name: str, whole: bool, tmp_path: Path) -> None:
    """Check that moved records leave a committed transaction and stay in any other.

    A record moved inside its committed transaction would be counted off the transaction a second time, and a broker
    would take the remaining records as rolled back.
    """
    data = GoldenCase("2.56.0", name).copy(tmp_path)
    journal = load_messages(data / "journal")
    path = next(path for path in sorted(data.rglob("*.page")) if len(spans(path)) > 4)
    before = transactions(path)
    if whole:
        path.rename(path.with_name("lost.page"))
    else:
        path.write_bytes(damaged(path.read_bytes(), spans(path), "bytes between", 1))
    known = {each.name for each in path.parent.glob("*.page")}
    salvaged(data, tmp_path / "out")
    moved = [each for each in (tmp_path / "out").rglob("*.page") if each.name not in known]
    after = {message: tx for each in moved for message, tx in transactions(each).items()}
    committed = journal.page_transactions.keys() - journal.in_doubt_sends
    assert len(after) > 2 and committed & set(before.values())
    assert after == {message: -1 if before[message] in committed else before[message] for message in after}


def transactions(path: Path) -> dict[int, int]:
    """Return the transaction of each message of a page, by message id."""
    with open_page(path) as page:
        return {route[5]: route[3] for route in page.routes()}


def pages_of(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(store.glob("*.page"))}


def the_store(data: Path) -> Path:
    (store,) = (data / "paging").iterdir()
    return store


def test_a_folder_without_an_address_gets_the_one_of_its_records(tmp_path: Path) -> None:
    data = CASE.copy(tmp_path)
    store, before = the_store(data), waiting(data)
    pages = pages_of(store)
    (store / "address.txt").unlink()
    assert waiting(data) == {}
    told = salvaged(data, tmp_path / "new")
    assert told["address_from_records"] is True and told["lost"] == []
    assert waiting(data) == before and pages_of(store) == pages


def test_folders_of_one_address_become_one(tmp_path: Path) -> None:
    data = CASE.copy(tmp_path)
    store, before = the_store(data), waiting(data)
    pages = pages_of(store)
    other = store.with_name("11111111-1111-11ee-8111-111111111111")
    shutil.copytree(store, other)
    moved = sorted(pages)[-1]
    (store / moved).unlink()
    (store / "address.txt").unlink()  # whatever the order of the listing: a broker reads the other one
    for name in sorted(pages)[:2]:
        (other / name).unlink()
    answer = call("pages", "salvage", data, "--out", tmp_path / "new", "--format", "json")
    assert answer.status == 0, answer.err
    (told,) = json.loads(answer.out)["stores"]
    assert told["folder"] == other.name and told["merged"] == [store.name]
    shutil.rmtree(data / "paging")
    shutil.move(tmp_path / "new", data / "paging")
    assert {name: content for name, content in pages_of(other).items() if name in sorted(pages)[2:]} == {
        name: pages[name] for name in sorted(pages)[2:]
    }
    first = [message for name in sorted(pages)[:2] for _, _, message in records_of(pages[name])]
    assert told["delivered_again"] == len(set(first) - set(before[next(iter(before))])) > 0
    assert [message for name in told["new_pages"] for _, _, message in spans(other / name)] == first
    (queue,) = before
    assert set(before[queue]) <= set(waiting(data)[queue])


def records_of(page: bytes) -> list[tuple[int, int, int]]:
    return [(route[1], route[1] + route[2] + FRAME, route[5]) for route in Page(page).routes()]


@pytest.mark.parametrize(("name", "keeps"), [("1.page", True), ("copy of 1.page", False)])
def test_a_page_under_a_name_that_no_broker_opens(name: str, keeps: bool, tmp_path: Path) -> None:
    data = CASE.copy(tmp_path)
    store, before = the_store(data), waiting(data)
    first = min(store.glob("*.page"))
    content = first.read_bytes()
    first.rename(store / name.replace("1", str(int(first.name[:9]))))
    told = salvaged(data, tmp_path / "new")
    new = first.name if keeps else str(told["new_pages"][0])  # type: ignore[index]
    assert (store / new).read_bytes() == content
    assert (waiting(data) == before) is keeps
    (queue,) = before
    assert set(before[queue]) <= set(waiting(data)[queue])


def test_stores_that_are_well_are_in_the_new_directory(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "two-addresses").copy(tmp_path)
    first, second = sorted((data / "paging").iterdir())
    page = min(first.glob("*.page"))
    page.write_bytes(page.read_bytes()[:-3])
    answer = call("pages", "salvage", data, "--out", tmp_path / "new", "--format", "json")
    told = json.loads(answer.out)
    assert answer.status == 1 and told["copied"] == 1 and [each["folder"] for each in told["stores"]] == [first.name]
    assert pages_of(tmp_path / "new" / second.name) == pages_of(second) != {}
    assert (tmp_path / "new" / second.name / "address.txt").read_bytes() == (second / "address.txt").read_bytes()


def test_one_page_by_itself(tmp_path: Path) -> None:
    path = sound_page(CASE)
    lonely = tmp_path / "in" / "000000004.page"
    lonely.parent.mkdir()
    lonely.write_bytes(damaged(path.read_bytes(), spans(path), "bytes between", 1))
    answer = call("pages", "salvage", lonely, "--out", tmp_path / "new")
    assert answer.status == 1 and "000000005.page" in answer.out
    assert (tmp_path / "new" / "in" / "address.txt").read_text() == "scatter\n"
    assert len(spans(tmp_path / "new" / "in" / "000000004.page")) == 1


def test_calls_that_make_no_sense(tmp_path: Path) -> None:
    assert call("pages", "salvage", CASE.data()).status == 2
    sound = call("pages", "salvage", CASE.data(), "--out", tmp_path / "new")
    assert sound.status == 2 and "no page is damaged" in sound.err and not (tmp_path / "new").exists()
    assert call("pages", "salvage", CASE.data(), "--out", tmp_path).status == 2


@pytest.mark.parametrize(
    "archive", golden_cases.damage_verdicts("pages"), ids=lambda path: f"{path.parent.name}-{path.name[6:-8]}"
)
def test_pages_of_the_damage_corpus(archive: Path) -> None:
    folder = golden_cases.unpacked(archive)
    layout = Layout.OLD if archive.parent.name.startswith(("hornetq", "artemis-1")) else Layout.NEW
    items = json.loads((folder / "verdict.json").read_text("utf-8"))["items"]
    for item in items:
        content = (folder / f"{item['name']}.page").read_bytes()
        rebuilt = rebuild(content, (), layout)
        page = Page(b"".join(piece.data for piece in rebuilt.numbered))
        assert sum(1 for _ in page.routes()) == len(rebuilt.numbered) and page.damage is None
        assert sum(piece.end - piece.start for piece in rebuilt.segments) == len(content)
        loose = Page(b"".join(piece.data for piece in rebuilt.unnumbered))
        assert sum(1 for _ in loose.routes()) == len(rebuilt.unnumbered) and loose.damage is None
    assert len(items) > 100


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("000000007.page.corrupted", 7),
        ("000040000.page", 40_000),
        ("2147483647.page", 2**31 - 1),
        ("2147483648.page", 1),
    ],
)
def test_numbers_of_pages_that_were_put_aside(name: str, number: int) -> None:
    # Page numbers are Java ints; any other name counts as the first page.
    assert _number_in(name) == number
