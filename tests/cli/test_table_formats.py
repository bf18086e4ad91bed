"""Delta Lake and Iceberg: read back by their own libraries, a table has what plain Parquet has."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from golden_cases import VERSIONS, GoldenCase, cases
from made_pages import message, store
from program import EXPORT, call, started
from stopping import Stopping
from table_rows import rows_of, texts

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")
pytest.importorskip("deltalake", reason="the extra pagectl[tables] is not installed")
pytest.importorskip("pyiceberg", reason="the extra pagectl[tables] is not installed")

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable
from forked_nights import ForkedNights
from incremental_exports import KILLS, PagingBroker, TasksHere, killed_nights, night, page_counts
from pyiceberg.table import StaticTable

from pagefmt.spark import table_formats
from pagefmt.spark.format_commit import FileFacts, FormatCommit, FormatRefused, TablePart
from pagefmt.spark.iceberg import FolderFiles
from pagefmt.spark.options import TableSpec
from pagefmt.spark.table_folder import Replaced, put, undo
from pagefmt.spark.table_formats import last_export, table_schema
from pagefmt.table.table_body import TableBody
from pagefmt.table.table_content import LakeFormat

FORMS = (LakeFormat.DELTA, LakeFormat.ICEBERG)
SOME = [case for version in VERSIONS for case in cases(version)[:1]]
ACKED = GoldenCase("2.56.0", "scattered-acks")


def read(out: Path) -> pa.Table:
    if (out / "_delta_log").exists():
        return DeltaTable(str(out)).to_pyarrow_table()
    if (out / "metadata").exists():
        return StaticTable.from_metadata(str(out)).scan().to_arrow()
    return ds.dataset(out, partitioning="hive").to_table()


def exported(out: Path) -> Counter[tuple[int, int]]:
    found = read(out)
    return Counter(zip(*(found.column(name).to_pylist() for name in ("page", "id")), strict=True))


@pytest.mark.parametrize("splits", [(), ("broker", "store_address", "durable", "priority", "day")], ids=["", "split"])
@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("case", SOME, ids=str)
def test_a_table_reads_back_as_the_reference(
    spark_context: Any, case: GoldenCase, form: LakeFormat, splits: tuple[str, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    night(spark_context, case.data(), out, splits, form, body=TableBody.BASE64)
    found = [{name: value for name, value in row.items() if name != "day"} for row in read(out).to_pylist()]
    every = [found, rows_of(case)]
    mine, theirs = (texts([absent(row) for row in rows]) for rows in every)
    assert mine == theirs


def absent(value: Any) -> Any:
    """Return the value with None for empty maps in structs, because pyiceberg reads null as an empty map."""
    if isinstance(value, dict):
        return {name: absent(each) for name, each in value.items()}
    return None if value == [] else value


ADDRESSES = ("plain", "a/b=c%2F ~ü\n", "..", "long " + "ü~" * 200)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_partitions_have_the_values_of_plain_tables(spark_context: Any, form: LakeFormat, tmp_path: Path) -> None:
    # No folder can be named after some of the values.
    for n, address in enumerate(ADDRESSES):
        store(tmp_path / "data" / "paging", f"s{n}", {1: message(n, address, "text")}, f"folder{n}")
    night(spark_context, tmp_path / "data", tmp_path / "out", ("address",), form)
    found = dict(zip(*(read(tmp_path / "out").column(name).to_pylist() for name in ("id", "address")), strict=True))
    assert found == dict(enumerate(ADDRESSES))


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_nights_beside_a_broker_at_work(spark_context: Any, form: LakeFormat, tmp_path: Path) -> None:
    import duckdb

    broker, data, out = PagingBroker(tmp_path / "data"), tmp_path / "data", tmp_path / "out"
    for n in range(4):
        broker.delete(n)
        if n == 2:
            broker.start_anew()
        broker.write(40)
        night(spark_context, data, out, ("priority",), form)
    assert exported(out) == broker.every
    table = read(out)
    ((count,),) = duckdb.from_arrow(table).filter("page > 2").aggregate("count(*)").fetchall()
    assert count == sum(times for (page, _), times in broker.every.items() if page > 2)
    before = last_export(out)
    broker.delete(1)
    assert (
        page_counts(night(spark_context, data, out, ("priority",), form))["deleted"] == 1
        and last_export(out) == before + 1
    )


def test_a_mode_replaces_the_rows_or_adds(tmp_path: Path) -> None:
    # Earlier versions stay in the table's history; other tables are left alone.
    data, out = ACKED.copy(tmp_path), tmp_path / "out"
    words = (*EXPORT, data, "--to", out, "--master", "local[1]", "--table-format", "delta")

    def export(*more: str) -> None:
        """Export in a process of its own, because the command stops the Spark session that it runs in."""
        running = started(*words, *more)
        said = running.communicate(timeout=200)[1]
        assert running.returncode == 0, said

    export()
    rows = read(out).num_rows
    for more, factor in (
        (("--mode", "append"), 2),
        (("--mode", "overwrite", "--incremental"), 1),
        (("--incremental",), 1),
    ):
        export(*more)
        assert read(out).num_rows == rows * factor
    assert DeltaTable(str(out), version=1).to_pyarrow_table().num_rows == 2 * rows
    for more, reason in (
        (("--mode", "append", "--table-format", "iceberg"), "contains no iceberg table; give --table-format delta"),
        (("--mode", "append", "--table-format", "parquet"), "contains no parquet table; give --table-format delta"),
        (("--mode", "append", "--partition-by", "page"), "has other columns or partitions"),
        (("--mode", "overwrite", "--body", "text"), "has other columns or partitions"),
        (("--mode", "append"), "give --incremental instead"),
        (("--mode", "overwrite-partitions", "--partition-by", "page"), "works with --mode append"),
    ):
        refused = call(*words, *more)
        assert refused.status == 2 and reason in refused.err and refused.err.count("\n") == 1, refused
    (out / "_delta_log" / "00000000000000000000.json").write_text("no JSON")
    refused = call(*words, "--incremental")
    assert refused.status == 2 and refused.err.count("\n") == 1 and str(out) in refused.err, refused


def test_a_library_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(table_formats, "find_spec", lambda _: None)
    for form in FORMS:
        answer = call(*EXPORT, ACKED.data(), "--to", tmp_path / "out", "--table-format", form)
        assert answer.status == 2 and "pip install 'deltalake" in answer.err and answer.err.count("\n") == 1


def names_in(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*")}


@pytest.mark.parametrize("overwrite", [False, True], ids=["append", "overwrite"])
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_table_has_all_of_an_export_or_nothing(
    spark_context: Any, form: LakeFormat, overwrite: bool, tmp_path: Path
) -> None:
    """Stop the export before each change, and assert that readers see the old or the new table.

    The next export must continue from that.
    """
    broker, data, out = PagingBroker(tmp_path / "data"), tmp_path / "data", tmp_path / "out"
    broker.write(30)
    night(spark_context, data, out, (), form)
    old = exported(out)
    shutil.copytree(out, tmp_path / "before")
    part = next(out.glob("part-*"))
    seen = Counter[bool]()
    for changes in range(200):
        run = out / "_temporary" / "0123456789ab"
        run.mkdir(parents=True)
        shutil.copy(part, run / "x")
        (run / "log").write_text("new")
        name, log = f"part-00000-0-{run.name}.parquet", f"_exported/part-000002-{run.name}.arrow"
        made = TablePart(name, FileFacts.of(run / "x"), ())
        commit = FormatCommit(form, out, out, table_schema(TableSpec().schema, ()), (), [made], 2, overwrite, run.name)
        with Stopping(changes) as stopped:
            put(out, run, {"x": name, "log": log}, None, Replaced.LOG if overwrite else Replaced.NOTHING, commit)
        new = Counter({key: times * (1 if overwrite else 2) for key, times in old.items()})
        found = exported(out)
        assert found in (old, new)
        came = last_export(out) == 2
        undo(out)
        assert exported(out) == (new if came else old) and (out / "_SUCCESS").exists()
        assert (out / log).exists() is came and (out / name).exists() is came and not run.exists()
        assert came or names_in(out) == names_in(tmp_path / "before")
        seen[came] += 1
        if stopped.left >= 0:
            break
        shutil.rmtree(out)
        shutil.copytree(tmp_path / "before", out)
    assert min(seen.values()) > 2 and stopped.left >= 0


def test_iceberg_files_made_at_once_get_their_own_names(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path, "s3://b/t", tmp_path / "made")
    names = [f"m{n}.avro" for n in range(200)]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns as often as they can
    try:
        with ThreadPoolExecutor(16) as pool:
            made = [*pool.map(lambda name: files.new_output(f"s3://b/t/{name}"), names)]
    finally:
        sys.setswitchinterval(usual)
    assert [each.path.name for each in made] == names
    assert sorted((tmp_path / "made").read_text().splitlines()) == sorted(names)


def test_an_iceberg_table_that_was_moved_is_refused(tmp_path: Path) -> None:
    # The table contains full file names, so additions would go to the old place.
    broker = PagingBroker(tmp_path / "data")
    broker.write(20)
    night(TasksHere(), tmp_path / "data", tmp_path / "out", (), LakeFormat.ICEBERG)
    moved = (tmp_path / "out").rename(tmp_path / "moved")
    before = names_in(moved)
    broker.write(20)
    with pytest.raises(FormatRefused, match=r"moved: the table was created at .* and cannot be moved"):
        night(TasksHere(), tmp_path / "data", moved, (), LakeFormat.ICEBERG)
    assert names_in(moved) == before


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_first_commit_that_fails_leaves_the_folder_empty(
    monkeypatch: pytest.MonkeyPatch, form: LakeFormat, tmp_path: Path
) -> None:
    # The folder existed before; files left in it would count as another table.
    (out := tmp_path / "out").mkdir()
    commits = {LakeFormat.DELTA: (table_formats, "_commit_to"), LakeFormat.ICEBERG: (FolderFiles, "create")}
    monkeypatch.setattr(*commits[form], lambda *_: (_ for _ in ()).throw(OSError("the disk fails")))
    PagingBroker(tmp_path / "data").write(20)
    with pytest.raises((OSError, FormatRefused), match="the disk fails"):
        night(TasksHere(), tmp_path / "data", out, ("priority",), form)
    assert not [*out.iterdir()]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_killed_nights_add_nothing_twice(form: LakeFormat, tmp_path: Path) -> None:
    with ForkedNights() as start:
        assert killed_nights(tmp_path, 8, ("--table-format", form), exported, start=start, late=0.5) > 0


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_two_hundred_killed_nights_whose_tasks_are_forked(form: LakeFormat, tmp_path: Path) -> None:
    with ForkedNights() as start:
        words = ("--table-format", form)
        assert killed_nights(tmp_path, KILLS, words, exported, start=start, late=0.5) > KILLS // 3


@pytest.mark.slow
@pytest.mark.timeout(14_400)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_two_hundred_killed_nights(form: LakeFormat, tmp_path: Path) -> None:
    # Run: .venv/bin/python -m pytest -m slow tests/cli/test_table_formats.py -k hundred
    assert killed_nights(tmp_path, KILLS, ("--table-format", form), exported) > KILLS // 2
