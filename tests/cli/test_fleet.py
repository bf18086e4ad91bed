"""Many brokers in one table: each as it is alone, and one that is broken costs itself alone."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from golden_cases import VERSIONS, GoldenCase, cases
from incremental_exports import TasksHere, night, night_here
from made_pages import message
from made_pages import store as made_store
from pagectl.outputs.fleet_html import SHOWN, fleet_html
from program import call
from table_rows import assert_same, of_one_broker, plain

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

import pyarrow.parquet as pq
from pagectl.terminal import spark_progress

from pagefmt.codec.pages.page import open_page
from pagefmt.directory.fleet import WITH_CONFIG, FleetBroker, FleetError, absolute, fleet_of
from pagefmt.directory.locate import within
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.journal.bodies import CursorAck, encode_body
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal
from pagefmt.spark import rows, session
from pagefmt.spark.groups import grouped
from pagefmt.spark.options import SourceOptions, TableSpec
from pagefmt.spark.rows import BrokerFailure, LostRows, rows_of
from pagefmt.spark.source import PageFilesReader
from pagefmt.spark.survey import BrokerSurvey, surveyed
from pagefmt.spark.table import TableTarget, WrittenTable, backlogs_of, surveys, write_by_tasks
from pagefmt.spark.table_folder import table_at
from pagefmt.table.named_columns import RowsContext
from pagefmt.table.state_tables import table_rows
from pagefmt.table.table_body import TableBody
from pagefmt.table.table_content import StoredIn, TableContent
from pagefmt.vectors import load_place
from pagefmt.vectors.pages.chunks import CHUNK

MIXED = GoldenCase("2.56.0", "journal-mix")
ACKED = GoldenCase("2.56.0", "scattered-acks")
TORN = GoldenCase("artemis-1.5.6", "torn")


def broker(case: GoldenCase) -> FleetBroker:
    return FleetBroker(str(case), absolute(within(case.data())))


def some(each: int) -> list[GoldenCase]:
    """Return at most ``each`` cases of every version, evenly spread over their names."""
    found = []
    for version in VERSIONS:
        mine = cases(version)
        found += mine[:: -(-len(mine) // each)]
    return found


def here(case: GoldenCase, content: TableContent, **more: Any) -> pa.Table:
    """Build the table of one broker without Spark."""
    spec = TableSpec.now(content=content, **more)
    found = surveyed(broker(case), spec)
    made = [each for group in grouped(found.pieces) for piece in group.pieces for each in rows_of(piece, spec)]
    return pa.Table.from_batches([each for each in made if isinstance(each, pa.RecordBatch)], spec.schema)


def write(context: Any, brokers: list[FleetBroker], out: Path, **more: Any) -> tuple[list[BrokerSurvey], WrittenTable]:
    spec = TableSpec.now(**{"within": StoredIn.PAGES, **more})
    found = surveys(context, brokers, spec)
    with table_at(out) as folder:
        pieces = [piece for each in found for piece in each.pieces]
        return found, write_by_tasks(context, pieces, spec, TableTarget(folder), nullcontext)


def test_a_fleet_is_its_brokers_one_by_one(spark_context: Any, tmp_path: Path) -> None:
    chosen = some(4)
    broken = FleetBroker("broken", within(tmp_path)._replace(paging=tmp_path / "nowhere"))
    found, written = write(spark_context, [broken, *map(broker, chosen)], tmp_path / "out", body=TableBody.BASE64)
    assert [each.broker for each in found if each.failed] == ["broken"] and not written.failed
    every: dict[str, list[Any]] = {}
    for row in pq.read_table(tmp_path / "out").to_pylist():
        every.setdefault(row["broker"], []).append(row)
    backlogs = backlogs_of(spark_context, [broken, broker(ACKED)], TableSpec.now())
    assert len(chosen) > 25 and backlogs.rows != [] and list(backlogs.failed) == ["broken"]
    assert len({row["exported_at"] for mine in every.values() for row in mine}) == 1
    for case in chosen:
        assert_same(every.pop(str(case), []), case)
    assert not every


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("content", TableContent, ids=str)
def test_five_hundred_brokers(spark_context: Any, tmp_path: Path, content: TableContent) -> None:
    # All cases again under further names: pytest -m slow tests/cli/test_fleet.py
    every = [broker(case) for case in cases()]
    fleet = [FleetBroker(f"{each.name} {n}", each.place) for n in range(500 // len(every) + 1) for each in every][:500]
    _, written = write(spark_context, fleet, tmp_path / "out", content=content)
    table = pq.read_table(tmp_path / "out")
    assert not written.failed and len(fleet) == 500
    alone = {str(case): here(case, content, within=StoredIn.PAGES).num_rows for case in cases()}
    assert table.num_rows == sum(alone[each.name.rpartition(" ")[0]] for each in fleet) == written.rows


@pytest.mark.parametrize("case", [MIXED, ACKED, TORN], ids=str)
def test_messages_are_those_of_the_command(case: GoldenCase, tmp_path: Path) -> None:
    told = call("messages", "decode", case.data(), "--body", "value", "--to", tmp_path / "x.parquet")
    assert told.status in (0, 1), told.err
    expected = pq.read_table(tmp_path / "x.parquet").to_pylist()
    found = here(case, TableContent.MESSAGES, body=TableBody.VALUE).to_pylist()
    assert len(found) == len(expected) > 0
    for mine, theirs in zip(found, expected, strict=True):
        assert [queue["name"] for queue in mine["queues"]] == theirs["queue_names"]
        assert (mine["sent"], mine["expires"]) == (theirs["sent"], theirs["expires"])
        same = {name: value for name, value in of_one_broker(plain(mine)).items() if not name.startswith("outst")}
        assert same == {name: plain(theirs)[name] for name in same}


@pytest.mark.parametrize("case", [MIXED, ACKED, GoldenCase("2.56.0", "many-queues")], ids=str)
def test_backlogs_are_those_of_pages_top(case: GoldenCase) -> None:
    told = json.loads(call("messages", "top", case.data(), "--in", "pages", "--format", "json").out)["queues"]
    found = here(case, TableContent.OUTSTANDING).to_pylist()
    names = ("queue", "id", "messages", "bytes", "pages_held", "bytes_held_alone")
    assert sorted([str(each[name]) for name in names] for each in found) == sorted(
        [str(each[name]) for name in names] for each in told
    )
    assert {each["store_address"] for each in found} == {each["address"] for each in told}


def test_pages_say_who_holds_them() -> None:
    told = json.loads(call("pages", "outstanding", ACKED.data(), "--format", "json").out)["stores"]
    expected = [(page["page"], page["held_by"]) for store in told for page in store["pages"]]
    found = here(ACKED, TableContent.PAGES).to_pylist()
    assert [(row["page"], [queue["name"] for queue in row["held_by"]]) for row in found] == expected != []
    assert all(row["remark"] is None and row["damage"] is None for row in found)


def test_acknowledgements_are_those_of_the_journal() -> None:
    journal = load_place(within(ACKED.data())).journal
    found = here(ACKED, TableContent.ACKNOWLEDGEMENTS).to_pylist()
    assert len(found) > 10 and {row["queue"] for row in found} - {None}
    for row in found:
        if row["kind"] == "acknowledged":
            assert journal.ack_index.has(row["id"], row["page"], row["number"])
        else:
            assert (row["kind"], row["number"]) == ("page complete", None)


def test_damage_is_what_messages_leave_out() -> None:
    (row,) = here(TORN, TableContent.DAMAGE).to_pylist()
    spec = TableSpec.now()
    pieces = surveyed(broker(TORN), spec).pieces
    (lost,) = [each for piece in pieces for each in rows_of(piece, spec) if isinstance(each, LostRows)]
    assert {name: row[name] for name in ("page", "file", "offset", "bytes", "number")} == {
        name: getattr(lost, name) for name in ("page", "file", "offset", "bytes", "number")
    }
    assert row["kind"] == "torn" and lost.kind == "frame" and row["detail"]


@pytest.mark.parametrize("rest", ["zeros", "zeros and records", "torn", "unreadable"])
def test_what_a_large_page_lacks_is_told_up_to_its_end(rest: str, tmp_path: Path) -> None:
    sound = b"".join(message(n, "orders", "x" * 500) for n in range(1000))
    more = {"zeros and records": bytes(CHUNK) + sound, "torn": b"{" + (3 * CHUNK).to_bytes(4, "big") + bytes(CHUNK)}
    (page,) = made_store(tmp_path / "paging", "orders", {1: sound + more.get(rest, bytes(2 * CHUNK))}).glob("*.page")
    if rest == "unreadable":
        os.truncate(page, 3 << 30)
    with open_page(page) as opened:
        assert sum(1 for _ in opened.routes()) == (0 if rest == "unreadable" else 1000)
        damage = opened.damage
    assert damage is not None
    made = {}
    for content in (TableContent.DAMAGE, TableContent.MESSAGES):
        spec = TableSpec.now(content=content)
        found = surveyed(FleetBroker("x", absolute(within(tmp_path))), spec)
        made[content] = [each for piece in found.pieces for each in rows_of(piece, spec)]
    (lost,) = [each for each in made[TableContent.MESSAGES] if isinstance(each, LostRows)]
    assert (lost.offset, lost.bytes) == (len(sound), page.stat().st_size - len(sound))
    *_, row = [each for batch in made[TableContent.DAMAGE] for each in batch.to_pylist()]
    assert (row["offset"], row["bytes"], row["kind"], row["detail"]) == (
        lost.offset,
        lost.bytes,
        str(damage.kind),
        damage.detail,
    )


def test_pages_that_are_not_read_are_told(tmp_path: Path) -> None:
    # A broker follows a link, and renames a page that it cannot read to .invalidPage; neither is read here.
    data = ACKED.copy(tmp_path)
    first, second, *_ = sorted(data.rglob("*.page"))
    first.symlink_to(shutil.move(first, tmp_path / "page"))
    second.rename(second.with_name(f"{second.name}.invalidPage"))
    case = FleetBroker("x", absolute(within(data)))
    for content in (TableContent.MESSAGES, TableContent.DAMAGE):
        spec = TableSpec.now(content=content)
        found = surveyed(case, spec)
        assert found.wrong
        names = [each.text.partition(":")[0].rpartition("/")[2] for each in found.remarks]
        assert names == [first.name, f"{second.name}.invalidPage"]
    made = [each for piece in found.pieces for batch in rows_of(piece, spec) for each in batch.to_pylist()]
    assert [(each["page"], each["file"], each["kind"]) for each in made] == [
        (1, first.name, "special-file"),
        (None, f"{second.name}.invalidPage", "put-aside-page"),
    ]


def without_journal(folder: Path) -> FleetBroker:
    return FleetBroker("x", absolute(within(ACKED.copy(folder))._replace(journal=None)))


@pytest.mark.parametrize("content", [TableContent.PAGES, TableContent.OUTSTANDING], ids=str)
def test_what_is_not_known_is_null_with_the_reason(content: TableContent, tmp_path: Path) -> None:
    spec = TableSpec.now(content=content)
    found = surveyed(without_journal(tmp_path), spec)
    made = [each for piece in found.pieces for batch in rows_of(piece, spec) for each in batch.to_pylist()]
    assert found.wrong and made
    for row in made:
        assert "no journal" in row["remark"] and row["bytes_held"] is None
        assert content is TableContent.PAGES or row["messages"] is None


def with_acknowledgements(folder: Path, count: int) -> FleetBroker:
    data = ACKED.copy(folder)
    for file in (data / "journal").glob("activemq-data-*"):
        file.unlink()
    acks = (
        JournalRecord(RecordKind.ADD, n, 0, RecordType.ACKNOWLEDGE_CURSOR, encode_body(CursorAck(3, 1 + n // 9, n % 9)))
        for n in range(1, count + 1)
    )
    write_journal(data / "journal", "activemq-data-{}.amq", acks)
    return FleetBroker("x", absolute(within(data)))


def test_what_comes_back_does_not_grow_with_acknowledgements(tmp_path: Path) -> None:
    # Acknowledgements must not travel to or from the tasks.
    sizes = []
    for count in (10, 100_000):
        spec = TableSpec.now()
        found = surveyed(with_acknowledgements(tmp_path / str(count), count), spec)
        (kept,) = rows._last_broker.values()
        assert sum(len(chunk.numbers) for chunk in kept.state.journal.ack_index.chunks()) == count
        sizes.append(len(pickle.dumps((found, grouped(found.pieces), spec))))
    assert abs(sizes[1] - sizes[0]) < 20


def test_a_broker_that_fails_on_the_way_is_told(tmp_path: Path) -> None:
    spec = TableSpec.now()
    case = broker(ACKED)
    (piece, *_) = surveyed(case, spec).pieces
    rows._last_broker.clear()
    gone = FleetBroker("gone", case.place._replace(paging=tmp_path / "nowhere"))
    made = [*rows_of(type(piece)(gone, piece.store, piece.address, piece.runs, piece.size), spec)]
    assert [type(each) for each in made] == [BrokerFailure] and str(tmp_path) in made[0].why


def test_a_report_ranks_the_queues() -> None:
    """Assert that the report has the largest queues first, escapes text and shows unknown counts with the reason."""
    known = [row | {"oldest": 1_700_000_000_000} for row in here(ACKED, TableContent.OUTSTANDING).to_pylist()]
    large = {**known[0], "queue": "<b>large</b>", "bytes_held_alone": 10**12, "broker": "x\x1b[2J"}
    unknown = dict.fromkeys(known[0]) | {"broker": "y", "store": "s", "queue": "q", "remark": "no <journal>"}
    text = fleet_html([*known, large, unknown], 3, {"z": "gone"}, 1_700_000_000_000)
    queues = re.findall(r'<tr><td data-is="queue">(.*?)</td>', text)
    assert queues[0] == "&lt;b&gt;large&lt;/b&gt;" and queues[-1] == "q" and len(queues) == len(known) + 2
    assert "\x1b" not in text and "no &lt;journal&gt;" in text and "z: gone" in text and "?" in text
    assert "2023-11-14T22:13Z" in text and "<script" not in text and "http" not in text.replace("http-equiv", "")
    many = fleet_html([{**known[0], "queue": f"q{n}"} for n in range(SHOWN + 7)], 1, {}, 0)
    assert "… and 7 queues more." in many and len(many) < 1_000_000


def test_times_that_no_calendar_has_are_null(tmp_path: Path) -> None:
    far = (1 << 62).to_bytes(8, "big")
    data = ACKED.copy(tmp_path)
    for page in data.rglob("*.page"):
        page.write_bytes(page.read_bytes().replace((1_700_000_001_000).to_bytes(8, "big"), far))
    found = [row for group in read_by_spark(data) for row in group.to_pylist()]
    assert {row["sent"] for row in found if row["timestamp"] == 1 << 62} == {None}
    assert any(row["sent"] for row in found)
    written = night(TasksHere(), data, tmp_path / "out")
    table = pq.read_table(tmp_path / "out", columns=["timestamp", "sent"])
    assert written.rows == len(found)
    assert {row["sent"] for row in table.to_pylist() if row["timestamp"] == 1 << 62} == {None}
    oldest = {"oldest": 1 << 62, "queue": "q"}
    assert table_rows(TableContent.OUTSTANDING, [oldest], RowsContext({}, {}, 0)).to_pylist()[0]["oldest"] is None


def read_by_spark(data: Path) -> Iterator[Any]:
    """Yield what Spark's tasks read from a directory."""
    reader = PageFilesReader(SourceOptions.of({"path": str(data)}))
    for group in reader.partitions():
        yield from reader.read(group)


LIST = "# brokers\n\nname,path,edition\nnews,broker,artemis-2.44\n,/far/away,\n"


def test_a_list_names_brokers(tmp_path: Path) -> None:
    listing = tmp_path / "fleet.csv"
    listing.write_text(LIST)
    found = fleet_of([str(tmp_path)], listing)
    assert [(each.name, each.path, each.edition) for each in found] == [
        (str(tmp_path), tmp_path, None),
        ("news", tmp_path / "broker", Edition.ARTEMIS_2_44),
        ("/far/away", Path("/far/away"), None),
    ]
    listing.write_text('name , path\r\n"a\u2028, b", broker\r\n')
    assert [each[:2] for each in fleet_of([], listing)] == [("a\u2028, b", tmp_path / "broker")]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert [each.path.name for each in fleet_of([f"{tmp_path}/[ab]"])] == ["a", "b"]


def test_a_pattern_passes_over_stray_files(tmp_path: Path) -> None:
    # A pattern for brokers matches folders, archives and pages; one for traces matches every file.
    for name in ("broker-1", "broker-2"):
        (tmp_path / name).mkdir()
    for name in ("broker.tar.zst", "b.ZIP", "b1.page", "b2.page.invalidPage", "broker.csv", "b.README", "b"):
        (tmp_path / name).write_bytes(b"")
    taken = ["b.ZIP", "b1.page", "b2.page.invalidPage", "broker-1", "broker-2", "broker.tar.zst"]
    pattern = f"{tmp_path}/b*"
    assert [each.path.name for each in fleet_of([pattern])] == taken
    traces = [each.path.name for each in fleet_of([pattern], columns=WITH_CONFIG)]
    assert traces == sorted([*taken, "broker.csv", "b.README", "b"])
    with pytest.raises(FleetError, match="no path matches this pattern but 2 files that are neither archives nor"):
        fleet_of([f"{tmp_path}/*.[cR]*"])
    assert [each.path.name for each in fleet_of([f"{tmp_path}/b.README"])] == ["b.README"], "named, so it is tried"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("path", "where"), "the first line must name the columns: name, path, edition"),
        (lambda text: text.replace("edition", "release"), "'release' is none of name, path, edition"),
        (lambda text: text.replace("2.44", "9.9"), "line 4: edition 'artemis-9.9' is none of hornetq-2.4"),
        (lambda text: text.replace("/far/away", ""), "line 5: not a line of name,path,edition, with a path"),
        (lambda text: text.replace("artemis-2.44", ",,,"), "line 4: not a line of"),
        (lambda text: text + "news,else,\n", "news: named twice"),
        (lambda _: "", "the first line must name the columns"),
        (lambda _: "\0", "the first line must name the columns"),
        (lambda text: text.replace("edition", "path"), "names a column twice"),
        (lambda text: text.replace("/far/away", "/far\0away"), "line 5: not a line of"),
        (lambda text: text + "x" * 200_000, "line 6: not a line of"),
        (lambda text: text + 'name,"/nfs/a', "line 6: not a line of"),
        (lambda text: text + 'name,"/nfs/"a"', "line 6: not a line of"),
        (lambda text: text.replace("news", "\udcff"), "offset 29: not UTF-8"),
    ],
)
def test_a_list_that_is_none_says_where(change: Callable[[str], str], said: str, tmp_path: Path) -> None:
    listing = tmp_path / "fleet.csv"
    listing.write_bytes(change(LIST).encode("utf-8", "surrogateescape"))
    with pytest.raises(FleetError, match=said) as told:
        fleet_of([], listing)
    assert "\n" not in str(told.value)
    with pytest.raises(PageFmtError, match=r"nowhere.csv: cannot be read"):
        fleet_of([], tmp_path / "nowhere.csv")
    with pytest.raises(FleetError, match="no path matches"):
        fleet_of([f"{tmp_path}/x*"])


def test_a_broker_whose_path_is_no_text_costs_nobody(tmp_path: Path) -> None:
    # The table has the text of the path with the other bytes escaped.
    data = Path(os.fsdecode(os.fsencode(tmp_path) + b"/b\xff"))
    shutil.copytree(ACKED.data(), data)
    names = pa.Table.from_batches(read_by_spark(data)).column("broker").to_pylist()
    assert set(names) == {f"{tmp_path}/b\\udcff"}
    (entry,) = fleet_of([str(data)])
    (tmp_path / "table").mkdir()
    added, _ = night_here(FleetBroker(entry.name, absolute(within(data))), tmp_path / "table")
    assert added == len(names)
    listing = data / "fleet.csv"
    listing.write_text("path\n.\n")
    assert [each.name for each in fleet_of([], listing)] == [entry.name]


def test_one_broker_under_two_names_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "running", lambda *_: nullcontext(TasksHere()))
    monkeypatch.setattr(spark_progress, "spark_progress", lambda *_: nullcontext())
    data, listing = ACKED.copy(tmp_path), tmp_path / "fleet.csv"
    (tmp_path / "link").symlink_to(data)
    made_store(tmp_path / "other" / "paging", "orders", {1: message(1, "orders", "x")})
    listing.write_text(f"name,path\none,data\ntwo,link\nthree,{tmp_path}\nfour,other\n")
    answer = call("export", "--brokers", listing, "--to", tmp_path / "out")
    told = [line for line in answer.err.splitlines() if "under both names" in line]
    assert [line.partition(";")[0] for line in told] == [
        "note: two: the same directory as one",
        "note: three: the same directory as one",
    ]


def test_calls_that_cannot_be_carried_out(tmp_path: Path) -> None:
    data, out = ACKED.data(), tmp_path / "out"
    for words, said in (
        (("--what", "pages", "--where", "x = 1"), "--where and --body work with --what messages"),
        (
            ("--what", "pages", "--partition-by", "priority"),
            "no such column to partition by; choose from broker, store",
        ),
        (("--mode", "overwrite-partitions"), "needs --partition-by"),
        (("--brokers", tmp_path / "none.csv"), "none.csv: cannot be read"),
        ((tmp_path, "--config", tmp_path / "x.xml"), "work with one DIR"),
        ((data,), "named twice"),
        (("--report", tmp_path), "name a file in an existing folder"),
        (("--report", out / "x.html"), "outside the table"),
    ):
        answer = call("export", data, *words, "--to", out)
        assert answer.status == 2 and said in answer.err and answer.err.count("\n") == 1, answer
    assert not out.exists()
