"""``export --incremental``: what is new is added once, whatever becomes of the pages meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from forked_nights import ForkedNights
from golden_cases import VERSIONS, GoldenCase, cases
from incremental_exports import KILLS, PagingBroker, TasksHere, killed_nights, night, night_here, page_counts
from made_pages import message
from program import EXPORT, call, started
from table_rows import assert_same
from watched_calls import validate

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pagectl.terminal import spark_progress

from pagefmt.codec.pages.page_file import PageFile
from pagefmt.directory.fleet import FleetBroker, absolute
from pagefmt.directory.locate import within
from pagefmt.spark import exporting, session
from pagefmt.spark.exported import SCHEMA, ExportLog, LogRefused, all_news, identity_of, news_of
from pagefmt.spark.groups import PageMessages
from pagefmt.spark.new_rows import new_rows
from pagefmt.spark.table_folder import table_at
from pagefmt.table.table_content import LakeFormat, StoredIn

ACKED = GoldenCase("2.56.0", "scattered-acks")
TORN = GoldenCase("artemis-1.5.6", "torn")


def rows_in(out: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(out).to_pylist()
    return found


def exported(out: Path) -> Counter[tuple[int, int]]:
    table = pq.read_table(out, columns=["page", "id"])
    return Counter(zip(*(table.column(name).to_pylist() for name in ("page", "id")), strict=True))


def halved(case: GoldenCase, folder: Path) -> Path:
    """Copy a case without every other page, and with the last remaining page cut to two thirds."""
    data = case.copy(folder)
    pages = sorted(data.rglob("*.page"))
    for path in pages[1::2]:
        path.unlink()
    with pages[-1 - (len(pages) + 1) % 2].open("r+b") as last:
        last.truncate(last.seek(0, 2) * 2 // 3)
    return data


def in_two_halves(context: Any, case: GoldenCase, folder: Path, **more: Any) -> None:
    data = halved(case, folder) if [*case.data().rglob("*.page")] else case.copy(folder)
    first = night(context, data, folder / "out", **more)
    shutil.copytree(case.data(), data, dirs_exist_ok=True)
    second = night(context, data, folder / "out", **more)
    assert second.rows + first.rows == len(rows_in(folder / "out"))


SOME = [case for version in VERSIONS for case in cases(version)[:: -(-len(cases(version)) // 2)]]


@pytest.mark.parametrize("case", SOME, ids=str)
def test_two_halves_are_the_whole(spark_context: Any, case: GoldenCase, tmp_path: Path) -> None:
    from pagefmt.table.table_body import TableBody

    in_two_halves(spark_context, case, tmp_path, body=TableBody.BASE64)
    assert_same(rows_in(tmp_path / "out"), case)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("case", [case for case in cases() if case not in SOME], ids=str)
def test_two_halves_of_every_case_are_the_whole(spark_context: Any, case: GoldenCase, tmp_path: Path) -> None:
    test_two_halves_are_the_whole(spark_context, case, tmp_path)


@pytest.mark.parametrize("name", ["journal-mix", "multicast-acks"])
def test_messages_of_the_journal_are_added_once(name: str, tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", name).copy(tmp_path / "whole")
    every = len(call("messages", "decode", data, "--format", "jsonl").lines())
    in_journal = len(call("messages", "decode", data, "--in", "journal", "--format", "jsonl").lines())
    assert in_journal
    place = FleetBroker("b", absolute(within(data)))
    journal, kept = data / "journal", tmp_path / "journal"
    folder = tmp_path / "log"
    folder.mkdir()
    shutil.move(journal, kept)
    shutil.copytree(GoldenCase("2.56.0", "scattered-acks").data() / "journal", journal)
    others = len(call("messages", "decode", data, "--in", "journal", "--format", "jsonl").lines())
    assert night_here(place, folder, StoredIn.LIVE)[0] == every - in_journal + others
    shutil.rmtree(journal)
    shutil.move(kept, journal)
    assert night_here(place, folder, StoredIn.LIVE)[0] == in_journal
    assert night_here(place, folder, StoredIn.LIVE)[0] == 0
    long_ago = time.time() - 60
    for path in journal.iterdir():
        os.utime(path, (long_ago, long_ago))
    assert night_here(place, folder, StoredIn.LIVE)[0] == 0


@pytest.mark.parametrize("way", ["damaged", "gone", "closed"])
def test_what_is_known_of_a_journal_outlasts_a_night_without_it(way: str, tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "journal-mix").copy(tmp_path)
    every = len(call("messages", "decode", data, "--format", "jsonl").lines())
    journal, kept, log = data / "journal", tmp_path / "kept", tmp_path / "log"
    log.mkdir()

    def night() -> int:
        return night_here(FleetBroker("b", absolute(within(data))), log, StoredIn.LIVE)[0]

    assert night() == every
    shutil.copytree(journal, kept)
    if way == "damaged":
        for path in journal.glob("*.amq"):
            path.write_bytes(b"x" * path.stat().st_size)
    elif way == "gone":
        shutil.rmtree(journal)
    else:
        for path in journal.glob("*.amq"):
            path.unlink()
            path.mkdir()
    assert [night(), night()] == [0, 0]
    shutil.rmtree(journal, ignore_errors=True)
    shutil.copytree(kept, journal)
    assert night() == 0


def test_damage_is_told_until_it_goes_away(spark_context: Any, tmp_path: Path) -> None:
    data, out = halved(ACKED, tmp_path), tmp_path / "out"
    time.sleep(2.1)
    first = night(spark_context, data, out)
    assert len(first.damaged) == 1 and first.standing == []
    page = next(data.rglob(first.damaged[0]["file"]))

    def again() -> None:
        found = night(spark_context, data, out)
        assert found.damaged == [] and found.standing == first.damaged
        assert json.loads((out / "_damaged.json").read_text()) == first.damaged

    again()
    content = page.read_bytes()
    page.unlink()
    page.write_bytes(content)
    again()
    other = next(each for each in sorted(data.rglob("*.page")) if each != page)
    other.unlink()
    again()
    page.unlink()
    gone = night(spark_context, data, out)
    assert gone.standing == gone.damaged == []
    assert json.loads((out / "_damaged.json").read_text()) == first.damaged, "their rows are missing in the table"
    shutil.copytree(ACKED.data(), data, dirs_exist_ok=True)
    mended = night(spark_context, data, out)
    assert mended.damaged == mended.standing == [] and not (out / "_damaged.json").exists()


def test_the_command_tells_what_is_wrong_every_night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Assert that warnings and status of the first export are repeated, without reading anything again."""
    monkeypatch.setattr(session, "running", lambda *_: nullcontext(TasksHere()))
    monkeypatch.setattr(spark_progress, "spark_progress", lambda *_: nullcontext())
    data = halved(ACKED, tmp_path)
    shutil.rmtree(data / "bindings")
    time.sleep(2.1)
    words = (*EXPORT, data, "--to", tmp_path / "out", "--incremental")
    first = call(*words, "--format", "json")
    monkeypatch.setattr(exporting, "by_spark", None)
    again, told = call(*words, "--format", "json"), call(*words)
    (found,) = json.loads(first.out)["damaged"]
    validate("export", again.out)
    assert json.loads(again.out)["damaged"] == [found | {"standing": True}] and found["standing"] is False
    assert first.status == again.status == told.status == 1
    lines = [*first.err.splitlines(), *told.err.splitlines()]
    for said in ("there are no bindings beside the pages", "rows end before offset"):
        fresh, standing = [line for line in lines if said in line]
        assert "found by an earlier export" in standing and "an earlier" not in fresh
    assert "1 damaged page (/" in told.out and "/_damaged.json)" in told.out


def test_nights_beside_a_broker_at_work(spark_context: Any, tmp_path: Path) -> None:
    broker, out = PagingBroker(tmp_path / "data"), tmp_path / "out"
    broker.write(60)
    assert "added" in page_counts(night(spark_context, tmp_path / "data", out, ("priority",)))
    broker.write(30)
    broker.delete(3)
    assert page_counts(night(spark_context, tmp_path / "data", out, ("priority",))).keys() >= {
        "added",
        "grew",
        "deleted",
    }
    assert exported(out) == broker.every
    broker.start_anew()
    broker.write(20)
    written = night(spark_context, tmp_path / "data", out, ("priority",))
    assert written.pages is not None and sum(each["rows"] for each in written.pages["changed"]) > 0
    assert exported(out) == broker.every


def test_what_is_compacted_is_told_and_adds_nothing(spark_context: Any, tmp_path: Path) -> None:
    data, out = ACKED.copy(tmp_path), tmp_path / "out"
    first = night(spark_context, data, out)
    assert call("pages", "compact", data, "--in-place", "--no-backup").status == 0
    second = night(spark_context, data, out)
    assert (
        second.rows == 0
        and set(page_counts(second)) <= {"changed", "deleted", "skipped"}
        and page_counts(second)["changed"]
    )
    assert second.pages is not None and {each["missing"] for each in second.pages["changed"]} == {0}
    assert pq.read_table(out).num_rows == first.rows
    assert set(page_counts(night(spark_context, data, out))) == {"skipped"}


def test_what_is_restored_is_known(spark_context: Any, tmp_path: Path) -> None:
    data, out = ACKED.copy(tmp_path), tmp_path / "out"
    first = night(spark_context, data, out)
    pages = sorted(data.rglob("*.page"))
    for path in pages[1:4]:
        path.unlink()
    gone = night(spark_context, data, out).pages
    assert gone is not None and [each["pages"] for each in gone["deleted"]] == [[[2, 3], [6, 6]]]
    assert page_counts(night(spark_context, data, out)) == {"skipped": len(pages) - 3}
    shutil.rmtree(data / "paging")
    shutil.copytree(ACKED.data() / "paging", data / "paging", copy_function=shutil.copy)
    assert page_counts(night(spark_context, data, out)) == {"skipped": len(pages)}
    assert pq.read_table(out).num_rows == first.rows


def test_a_store_that_cannot_be_listed_has_lost_nothing(spark_context: Any, tmp_path: Path) -> None:
    data, out = ACKED.copy(tmp_path), tmp_path / "out"
    night(spark_context, data, out)
    (data / "paging").rename(data / "away")
    log = ExportLog.of(out)
    (news,) = all_news([FleetBroker("b", absolute(within(data))._replace(paging=data / "paging"))], log, StoredIn.PAGES)
    assert (news.deleted, news.looked) == ([], 1)


def test_nights_before_the_first_page(tmp_path: Path) -> None:
    # The first exports add nothing, so their log names no page.
    broker, out = PagingBroker(tmp_path / "data"), tmp_path / "out"
    context: Any = TasksHere()
    for _ in range(2):
        assert night(context, tmp_path / "data", out).rows == 0
    broker.write(20)
    assert night(context, tmp_path / "data", out).rows == 20
    assert exported(out) == broker.every


def test_a_page_that_becomes_a_link_is_not_deleted(tmp_path: Path) -> None:
    # The page must also be read again, so that the survey reports the link.
    data = ACKED.copy(tmp_path)
    broker, folder = FleetBroker("b", absolute(within(data))), tmp_path / "out"
    folder.mkdir()
    night_here(broker, folder)
    page = sorted(data.rglob("*.page"))[0]
    page.symlink_to(shutil.move(page, tmp_path / "page"))
    news = news_of(broker, ExportLog.of(folder), StoredIn.PAGES)
    assert news.deleted == [] and news.looked > 0


def page_of(tmp_path: Path, numbers: range, page: int = 1) -> PageFile:
    path = tmp_path / f"{page:09d}.page"
    path.write_bytes(b"".join(message(n, "orders", "text") for n in numbers))
    return PageFile(page, tmp_path, path.name, path.stat().st_size)


def batch(numbers: range, pages: tuple[int, ...] = (1,)) -> pa.RecordBatch:
    """Build a batch with the same numbers on each page and ids that continue from page to page."""
    ids = range(len(numbers) * len(pages))
    owners, places = [each for each in pages for _ in numbers], [*numbers] * len(pages)
    return pa.record_batch({"page": owners, "number": pa.array(places, pa.int32()), "id": pa.array(ids, pa.int64())})


@pytest.mark.parametrize("when", ["before", "while", "another"])
def test_a_page_that_goes_away_is_entered_as_far_as_it_was_given(when: str, tmp_path: Path) -> None:
    # The entry has no checksum, so a later export decides by the messages.
    page = page_of(tmp_path, range(3))

    def rows(pages: Iterator[PageFile]) -> Any:
        assert [*pages] == [page]
        if when != "before":
            yield 0, batch(range(3))
            page.path.unlink()
        if when == "another":
            page_of(tmp_path, range(7, 17))

    if when == "before":
        page.path.unlink()
    *_, entry = new_rows([page], "b", "s", {}, rows)
    assert entry.crc32c is None and entry.identity is None
    assert (entry.state, entry.ids.tolist()) == (("deleted", []) if when == "before" else ("added", [0, 1, 2]))


def test_pages_that_are_read_together_are_entered_one_by_one(tmp_path: Path) -> None:
    # One page is unchanged, one grew, one is empty, one changes while it is read, and one is new.
    pages = [page_of(tmp_path, range(3 * n, 3 * n + 3), n + 1) for n in range(5)]
    empty = new_rows(pages, "b", "s", {}, lambda found: iter([(0, each) for each in found]))
    sums = {each.page: each.crc32c for each in empty if not isinstance(each, PageFile)}
    known = {
        1: PageMessages(pages[0].size, sums[1], np.arange(3), np.arange(3)),
        2: PageMessages(0, "00000000", np.arange(2), np.arange(2)),
    }

    def rows(found: Iterator[PageFile]) -> Any:
        assert [each.number for each in found] == [2, 3, 4, 5]
        page_of(tmp_path, range(70, 90), 4)
        yield 0, batch(range(3), (2, 4, 5))

    (given, *entries) = new_rows(pages, "b", "s", known, rows)
    assert list(zip(*given.select(["page", "number"]).to_pydict().values(), strict=True)) == [
        (2, 2),
        *((page, number) for page in (4, 5) for number in range(3)),
    ]
    told = {each.page: (each.state, each.crc32c, each.rows, each.missing, each.ids.tolist()) for each in entries}
    assert told == {
        1: ("same", sums[1], 0, 0, [0, 1, 2]),
        2: ("grew", sums[2], 1, 0, [0, 1, 2]),
        3: ("added", sums[3], 0, 0, []),
        4: ("added", None, 3, 0, [3, 4, 5]),
        5: ("added", sums[5], 3, 0, [6, 7, 8]),
    }


def test_a_reading_that_fails_enters_what_it_gave(tmp_path: Path) -> None:
    def rows(pages: Iterator[PageFile]) -> Any:
        yield 0, batch(range(len([*pages]) + 1))
        raise OSError("no more")

    reading = new_rows([page_of(tmp_path, range(5))], "b", "s", {}, rows)
    entry = next(each for each in reading if not isinstance(each, pa.RecordBatch))
    assert entry.ids.tolist() == [0, 1] and entry.crc32c is None
    with pytest.raises(OSError, match="no more"):
        next(reading)


def test_a_file_is_told_by_its_times_once_they_are_past(tmp_path: Path) -> None:
    # A file that was just written, or has another size than listed, has no identity.
    page = page_of(tmp_path, range(3))
    assert identity_of(page, page.path.lstat()) is None is identity_of(page, None)
    time.sleep(2.1)
    assert identity_of(page, page.path.lstat()) is not None
    assert identity_of(page._replace(size=page.size - 1), page.path.lstat()) is None


def test_the_command_starts_no_spark_where_nothing_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, out = ACKED.copy(tmp_path), tmp_path / "out"
    time.sleep(2.1)
    first = started(*EXPORT, data, "--to", out, "--incremental", "--master", "local[1]", "--format", "json")
    said, complained = first.communicate(timeout=280)
    assert first.returncode == 0, complained
    validate("export", said)
    assert json.loads(said)["pages"]["added"] == len([*data.rglob("*.page")])

    def no_spark(*_: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(session, "start", no_spark)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    words = (*EXPORT, data, "--to", out, "--incremental")
    again = call(*words, "--format", "json")
    assert again.status == 0 and json.loads(again.out)["pages"] == {
        "skipped": len([*data.rglob("*.page")]),
        "added": 0,
        "grew": 0,
        "changed": [],
        "deleted": [],
    }
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    sorted(data.rglob("*.page"))[0].unlink()
    gone = call(*words)
    assert gone.status == 0 and "1 deleted, their rows stay" in gone.out
    for more, reason in (
        (("--body", "text"), "was exported with another --body (size)"),
        (("--partition-by", "page"), "was exported with another --partition-by (none)"),
        (("--what", "pages"), "cannot be combined with other --what or"),
        (("--in", "live"), "was exported with another --in (pages)"),
        (("--mode", "overwrite-partitions", "--partition-by", "page"), "cannot be combined with other --what or"),
    ):
        refused = call(*words, *more)
        assert refused.status == 2 and reason in refused.err and refused.err.count("\n") == 1, refused
    for mode, reason in (("append", "give --incremental instead of --mode append"), ("error", "contains a table")):
        refused = call(*EXPORT, data, "--to", out, "--mode", mode)
        assert refused.status == 2 and reason in refused.err, refused
    with table_at(out):
        refused = call(*words)
        assert refused.status == 2 and "another process is writing it" in refused.err, refused
    log = sorted((out / "_exported").iterdir())[0]
    log.write_bytes(log.read_bytes()[:99])
    refused = call(*words)
    assert refused.status == 2 and "--mode overwrite" in refused.err and refused.err.count("\n") == 1, refused
    with pytest.raises(LogRefused):
        ExportLog.of(out)
    for path in (out / "_exported").iterdir():
        path.unlink()
    refused = call(*words)
    assert refused.status == 2 and "has no log of what was exported to it" in refused.err, refused
    (out / "_exported").rmdir()
    assert call(*words) == refused


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("form", [*LakeFormat])
def test_a_log_without_an_export_adds_nothing_again(lost: int, form: LakeFormat, tmp_path: Path) -> None:
    if form is LakeFormat.DELTA:
        pytest.importorskip("deltalake", reason="the extra pagectl[tables] is not installed")
    if form is LakeFormat.ICEBERG:
        pytest.importorskip("pyiceberg", reason="the extra pagectl[tables] is not installed")
    broker, out = PagingBroker(tmp_path / "data"), tmp_path / "out"
    for _ in range(2):
        broker.write(20)
        night(TasksHere(), tmp_path / "data", out, ("priority",), form)
    log = ExportLog.of(out)
    assert log is not None
    log.files[lost].unlink()
    with pytest.raises(LogRefused, match=r"lacks an export.*--mode overwrite"):
        ExportLog.of(out)


def arrow_file(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


SOUND = pa.table({each.name: pa.array([], each.type) for each in SCHEMA})
SPOILT = {
    "empty": b"", "no Arrow": b"x" * 9999, "other columns": arrow_file(pa.table({"page": [1]})),
    "no settings": arrow_file(SOUND),
    "settings of another kind": arrow_file(SOUND.replace_schema_metadata({"pagectl.export": "[7]"})),
    "settings that are none": arrow_file(SOUND.replace_schema_metadata({"pagectl.export": "{"})),
}  # fmt: skip


@pytest.mark.parametrize("spoilt", SPOILT)
def test_a_log_that_cannot_be_read_ends_the_call(spoilt: str, tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_exported").mkdir()
    (tmp_path / "_exported" / "part-000001-0123456789ab.arrow").write_bytes(SPOILT[spoilt])
    answer = call(*EXPORT, ACKED.data(), "--to", tmp_path, "--incremental")
    assert answer.status == 2 and answer.err.count("\n") == 1 and "what was exported cannot be read" in answer.err, (
        answer
    )


def test_two_runs_at_once_are_one_and_a_refusal(tmp_path: Path) -> None:
    broker, out = PagingBroker(tmp_path / "data"), tmp_path / "out"
    broker.write(50)
    words = (*EXPORT, tmp_path / "data", "--to", out, "--incremental", "--master", "local[1]")
    both = [started(*words), started(*words)]
    said = [running.communicate(timeout=280)[1] for running in both]
    assert sorted(running.returncode for running in both) in ([1, 2], [0, 1], [1, 1]), said
    assert all(
        "another process is writing it" in each or "has written this table meanwhile" in each
        for each, run in zip(said, both, strict=True)
        if run.returncode == 2
    )
    assert exported(out) == broker.every


def test_a_table_that_is_made_meanwhile_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Both runs saw that there was no table.
    broker, out = PagingBroker(tmp_path / "data"), tmp_path / "out"
    broker.write(50)
    words = (*EXPORT, tmp_path / "data", "--to", out, "--incremental", "--master", "local[1]")
    real = exporting.added_to

    @contextmanager
    def overtaken(*given: Any) -> Iterator[Path | None]:
        with real(*given) as held:
            other = started(*words)
            other.communicate(timeout=280)
            assert held is None and other.returncode in (0, 1) and out.is_dir()
            yield held

    # the parts that would start Spark in this process are replaced
    monkeypatch.setattr(exporting, "added_to", overtaken)
    monkeypatch.setattr(exporting, "by_spark", written_here)
    answer = call(*words)
    assert answer.status == 2 and "has written this table meanwhile" in answer.err, answer
    assert exported(out) == broker.every


def written_here(job: Any, *_: Any, **__: Any) -> Any:
    return exporting.write_table(None, job, [], nullcontext)


def test_killed_nights_add_nothing_twice(tmp_path: Path) -> None:
    with ForkedNights() as start:
        assert killed_nights(tmp_path, 8, (), exported, start=start, late=0.05) > 1


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_two_hundred_killed_nights_whose_tasks_are_forked(tmp_path: Path) -> None:
    # Everything except Spark, which takes most of the time of an export.
    with ForkedNights() as start:
        assert killed_nights(tmp_path, KILLS, (), exported, start=start, late=0.2) > KILLS // 3


@pytest.mark.slow
@pytest.mark.timeout(14_400)
def test_two_hundred_killed_nights(tmp_path: Path) -> None:
    # Run: .venv/bin/python -m pytest -m slow tests/cli/test_export_incremental.py -k hundred
    assert killed_nights(tmp_path, KILLS, (), exported) > KILLS // 2
