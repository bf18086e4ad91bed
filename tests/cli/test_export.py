"""``export``: whole tables or none, equal to what the columnar reader reads, whoever writes them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

import golden_cases
import pytest
from golden_cases import GoldenCase
from made_pages import message, store
from program import EXPORT, Answer, call, environment, started
from stopping import Stopping
from table_rows import assert_same, plain, rows_of, texts
from watched_calls import validate

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

import pyarrow.parquet as pq

from pagefmt.codec.pages.frames import Damage, DamageKind
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.directory.locate import within
from pagefmt.errors import PageFmtError
from pagefmt.spark.format_commit import FileFacts
from pagefmt.spark.options import SourceOptions, TableSpec
from pagefmt.spark.rows import lost_rows
from pagefmt.spark.source import PageFiles
from pagefmt.spark.table import PartFiles, TableTarget, Watched, WrittenTable, _put, surveys, write_by_tasks
from pagefmt.spark.table_folder import Replaced, foreign, put, table_at, undo
from pagefmt.storage.writing import PARTIAL_SUFFIX
from pagefmt.table.table import TableDamage

CASES = golden_cases.cases()
TORN = GoldenCase("artemis-1.5.6", "torn")
SOUND = GoldenCase("2.56.0", "multicast-acks")


def unwatched() -> AbstractContextManager[None]:
    return nullcontext()


def options_of(data: Path, **more: str) -> SourceOptions:
    place = within(data)
    given = {"path": data, "paging": place.paging, "journal": place.journal, "bindings": place.bindings}
    words = {name: str(value) for name, value in given.items() if value is not None}
    return SourceOptions.of({**words, "body": "base64", **more})


def write(
    spark_context: Any,
    data: Path,
    out: Path,
    mode: str = "append",
    *,
    compression: str = "zstd",
    split: tuple[str, ...] = (),
    watched: Watched = unwatched,
    **more: str,
) -> WrittenTable:
    options = options_of(data, **{"within": "pages", **more})
    with table_at(out) as into:
        (found,) = surveys(spark_context, options.brokers, options.spec)
        replaced = {"append": Replaced.NOTHING, "overwrite": Replaced.ALL}.get(mode, Replaced.PARTITIONS)
        target = TableTarget(into, compression, split, replaced, found.mode)
        return write_by_tasks(spark_context, found.pieces, options.spec, target, watched)


def assert_whole(written: WrittenTable, out: Path, case: GoldenCase) -> None:
    found = pq.read_table(out).to_pylist()
    assert_same(found, case)
    assert (out / "_SUCCESS").exists() and not (out / "_temporary").exists()
    assert written.rows == len(found)
    assert written.bytes >= sum(path.stat().st_size for path in out.glob("*.parquet")) > 0


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_export_of_every_case_reads_back_equal(spark_context: Any, case: GoldenCase, tmp_path: Path) -> None:
    written = write(spark_context, case.data(), tmp_path / "out")
    assert_whole(written, tmp_path / "out", case)


@pytest.mark.parametrize("case", [TORN, SOUND], ids=str)
def test_a_table_has_what_the_case_has(spark_context: Any, case: GoldenCase, tmp_path: Path) -> None:
    out = tmp_path / "out"
    written = write(spark_context, case.data(), out)
    assert_whole(written, out, case)
    assert [each["kind"] for each in written.damaged] == (["frame"] if case is TORN else [])
    aside = out / "_damaged.json"
    assert (json.loads(aside.read_text()) if aside.exists() else []) == written.damaged


@pytest.mark.parametrize("content", ["messages", "pages", "outstanding", "damage", "acknowledgements"])
@pytest.mark.parametrize("case", [TORN, SOUND], ids=str)
def test_the_data_source_gives_the_same_table(
    spark_context: Any, case: GoldenCase, content: str, tmp_path: Path
) -> None:
    """Assert that Spark's data source and the export have the same rows."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    spark.dataSource.register(PageFiles)
    body = "base64" if content == "messages" else "size"
    written = write(spark_context, case.data(), tmp_path / "out", content=content, body=body)
    made = spark.read.parquet(str(tmp_path / "out"))
    options = {"content": content, "body": body, "within": "pages"}
    given = spark.read.format("artemis-pages").options(**options).load(str(case.data()))
    assert [(each.name, each.dataType) for each in made.schema] == [(each.name, each.dataType) for each in given.schema]
    tables = [each.drop("exported_at", "broker").collect() for each in (made, given)]
    both = [sorted(json.dumps(plain(row), sort_keys=True, default=str) for row in each) for each in tables]
    assert both[0] == both[1] and len(both[0]) == written.rows
    if content != "messages":
        assert not written.damaged
        assert (written.harmed > 0) == (case is TORN and content != "acknowledgements")


def test_a_table_is_replaced_or_added_to(spark_context: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = write(spark_context, TORN.data(), out)
    both = write(spark_context, SOUND.data(), out, "append")
    assert pq.read_table(out).num_rows == first.rows + both.rows
    assert json.loads((out / "_damaged.json").read_text()) == first.damaged != []
    again = write(spark_context, TORN.data(), out, "append")
    assert json.loads((out / "_damaged.json").read_text()) == [*first.damaged, *again.damaged]
    only = write(spark_context, SOUND.data(), out, "overwrite")
    assert_whole(only, out, SOUND)
    assert not (out / "_damaged.json").exists()


@pytest.mark.parametrize(
    ("compression", "codec"),
    [("zstd", "ZSTD"), ("snappy", "SNAPPY"), ("gzip", "GZIP"), ("lz4", "LZ4"), ("none", "UNCOMPRESSED")],
)
def test_the_files_are_compressed_as_asked(spark_context: Any, tmp_path: Path, compression: str, codec: str) -> None:
    write(spark_context, SOUND.data(), tmp_path / "out", compression=compression, body="size")
    files = list((tmp_path / "out").glob("part-*.parquet"))
    assert files
    for file in files:
        columns = pq.ParquetFile(file).metadata.row_group(0)
        assert {columns.column(n).compression for n in range(columns.num_columns)} == {codec}


def test_a_selector_chooses_the_rows(spark_context: Any, tmp_path: Path) -> None:
    written = write(spark_context, TORN.data(), tmp_path / "out", where="color = 'red'")
    red = [row for row in rows_of(TORN) if row["properties"]["color"]["string"] == "red"]
    assert texts(pq.read_table(tmp_path / "out").to_pylist()) == texts(red)
    assert 0 < len(red) == written.rows < len(rows_of(TORN)) and len(written.damaged) == 1


def test_a_table_is_split_by_columns(spark_context: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = write(spark_context, SOUND.data(), out, split=("store_address", "priority"))
    assert {str(path.relative_to(out)) for path in out.glob("*/*/")} == {"store_address=news/priority=4"}
    split = {"store_address": "news", "priority": 4}
    assert_same([{**row, **split} for row in pq.read_table(out).to_pylist()], SOUND)
    write(spark_context, SOUND.data(), out, "append", split=("store_address", "priority"))
    assert pq.read_table(out).num_rows == 2 * first.rows
    assert (out / "_SUCCESS").exists()


def test_single_partitions_are_replaced(spark_context: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    torn = write(spark_context, TORN.data(), out, split=("store_address",))
    write(spark_context, SOUND.data(), out, split=("store_address",))
    red = write(spark_context, SOUND.data(), out, "overwrite-partitions", split=("store_address",), where="color='red'")
    found = pq.read_table(out).column("store_address").to_pylist()
    assert found.count("torn") == torn.rows > 0 and found.count("news") == red.rows == len(found) - torn.rows > 0
    assert json.loads((out / "_damaged.json").read_text()) == torn.damaged and (out / "_SUCCESS").exists()


class Doing(AbstractContextManager[None]):
    """Does something between the planning of an export and its tasks."""

    def __init__(self, what: Callable[[], object]) -> None:
        self.what = what

    def __enter__(self) -> None:
        self.what()

    def __exit__(self, *_: object) -> None:
        pass


def test_a_failing_task_is_one_line_and_no_table(spark_context: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    gone = partial(Doing, lambda: shutil.rmtree(partial_of(out) / "_temporary"))
    with pytest.raises(PageFmtError, match=r"a task runs, sees a different folder there.*nothing was written") as told:
        write(spark_context, SOUND.data(), out, watched=gone)
    assert "\n" not in str(told.value) and "Py4J" not in str(told.value)
    assert list(tmp_path.iterdir()) == []


def test_files_that_nobody_sees_here_are_no_table(tmp_path: Path) -> None:
    # Another machine may have written the files to a folder of its own.
    (out := tmp_path / "out").mkdir()
    (run := out / "_temporary" / "0123456789ab").mkdir(parents=True)
    elsewhere = [PartFiles({"x/part-0.parquet": FileFacts(9, 1, {}, {})}, rows=1)]
    with pytest.raises(PageFmtError, match="a task ran sees a different folder there"):
        _put(TableTarget(out), TableSpec(), run, elsewhere, None)
    assert [path.name for path in out.iterdir()] == ["_temporary"]


def test_a_page_that_goes_away_costs_itself_alone(spark_context: Any, tmp_path: Path) -> None:
    data, out = SOUND.copy(tmp_path), tmp_path / "out"
    page = sorted(data.rglob("*.page"))[3]
    written = write(spark_context, data, out, watched=partial(Doing, page.unlink))
    assert [(row["page"], row["kind"]) for row in written.damaged] == [(int(page.stem), "gone")]
    numbers = set(pq.read_table(out).column("page").to_pylist())
    assert int(page.stem) not in numbers and len(numbers) > 3


def test_bytes_that_nobody_could_read_are_not_none(tmp_path: Path) -> None:
    """Assert that the number of missing bytes follows from the listed size, or is unknown if that is 0."""
    for kind, size, missing in (
        (DamageKind.UNREADABLE, 100, 60),
        (DamageKind.GONE, 100, 60),
        (DamageKind.GONE, 0, None),
    ):
        found = TableDamage(Damage(kind, 40, 2, "why"), 0)
        lost = lost_rows("b", "s", PageFile(3, tmp_path, "000000003.page", size), found)
        assert (lost.bytes, lost.kind) == (missing, str(kind))


@pytest.mark.parametrize("inside", ["paging", "paging/x", "journal/x"])
def test_nothing_is_written_where_pages_are_read(inside: str, tmp_path: Path) -> None:
    data = SOUND.copy(tmp_path)
    (tmp_path / "link").symlink_to(data)
    for place in (data / inside, tmp_path / "link" / inside):
        for words in (("--to", place), ("--to", tmp_path / "out", "--report", place / "report.html")):
            refused = call(*EXPORT, data, *words)
            assert refused.status == 2 and "which this command only reads" in refused.err, refused
        refused = call("pages", "decode", data, "--to", place / "t", "--partition-by", "page")
        assert refused.status == 2 and "is inside" in refused.err, refused
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "link"]


def export(data: Path, out: Path | str, *words: str, **env: str) -> Answer:
    running = started(*EXPORT, data, "--to", out, "--master", "local[1]", *words, env=env)
    said, complained = running.communicate(timeout=280)
    return Answer(running.returncode, said, complained)


def path_without_java(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in (tool for part in ("/bin", "/usr/bin") for tool in Path(part).iterdir()):
        if not tool.name.startswith("java") and not (folder / tool.name).is_symlink():
            (folder / tool.name).symlink_to(tool)
    assert shutil.which("java", path=str(folder)) is None
    return folder


def test_the_command_keeps_damage_aside_without_java(tmp_path: Path) -> None:
    # With no Java on PATH and no JAVA_HOME, the one of the wheel is used.
    out, path = tmp_path / "out", str(path_without_java(tmp_path))
    done = export(TORN.data(), out, "--body", "base64", "--format", "json", PATH=path, JAVA_HOME="")
    assert done.status == 1, done.err
    assert done.err.count("\n") == done.err.count("warning:") == 1, "no library says anything there"
    validate("export", done.out)
    summary = json.loads(done.out)
    assert_whole(WrittenTable(summary["rows"], summary["bytes"], []), out, TORN)
    aside = json.loads((out / "_damaged.json").read_text())
    assert summary["damaged"] == [{**each, "standing": False} for each in aside]
    assert [each["kind"] for each in summary["damaged"]] == ["frame"]


def test_what_is_there_is_not_lost_unasked(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "_SUCCESS").touch()
    refused = call(*EXPORT, SOUND.data(), "--to", out)
    assert refused.status == 2 and "--mode overwrite" in refused.err and refused.err.count("\n") == 1
    (out / "notes.txt").write_text("mine")
    refused = call(*EXPORT, SOUND.data(), "--to", out, "--mode", "overwrite")
    assert refused.status == 2 and "notes.txt" in refused.err and (out / "notes.txt").exists()
    assert call(*EXPORT, SOUND.data(), "--to", out / "notes.txt").status == 2


@pytest.mark.parametrize(
    "mine", ["backup=2024/notes.txt", "page=1/README", "part-0.parquet.bak", "a=1/b/part-0.parquet"]
)
def test_what_belongs_to_no_table_is_not_replaced(mine: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "page=1" / "hour=2").mkdir(parents=True)
    for name in ("_SUCCESS", "page=1/hour=2/part-0-1-abc.parquet", "page=1/.part-0-abc.snappy.parquet.crc"):
        (out / name).write_text("")
    assert not foreign(out)
    (out / mine).parent.mkdir(parents=True, exist_ok=True)
    (out / mine).write_text("mine")
    answer = call(*EXPORT, SOUND.data(), "--to", out, "--mode", "overwrite")
    assert (
        answer.status == 2 and f"{mine.removesuffix('/part-0.parquet')}, which does not belong to a table" in answer.err
    )
    assert (out / mine).read_text() == "mine"


def many_pages(folder: Path) -> tuple[Path, int]:
    """Create a paging directory that takes a while to export, and return it with its number of messages."""
    record = message(1, "news", "text" * 50, {f"name{n}": "value" for n in range(10)})
    store(folder / "paging", "news", dict.fromkeys(range(1, 3001), record * 20))
    return folder / "paging", 60_000


def test_a_killed_export_leaves_no_table_and_the_next_run_is_clean(tmp_path: Path) -> None:
    paging, messages = many_pages(tmp_path)
    out = tmp_path / "out"
    running = started(*EXPORT, paging, "--to", out, "--master", "local[1]", stderr=None)
    deadline = time.monotonic() + 200
    parts = partial(partial_of(out).glob, "_temporary/*/*/part-*")
    while not list(parts()) and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    assert list(parts()) and not out.exists()
    done = export(paging, out)
    assert done.status == 0, done.err
    assert not partial_of(out).exists()
    assert {path.suffix or path.name for path in out.iterdir()} == {"_SUCCESS", ".parquet"}
    assert pq.read_table(out).num_rows == messages


def session_of(leader: int) -> set[int]:
    """Return the ids of a session's processes, without zombies."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == leader and fields[0] != "Z":
                found.add(int(stat.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found by /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=lambda how: how.name)
def test_stopped_while_java_starts_it_leaves_none_behind(how: signal.Signals, tmp_path: Path) -> None:
    running = started(*EXPORT, SOUND.data(), "--to", tmp_path / "out", "--master", "local[1]")
    deadline = time.monotonic() + 120
    while session_of(running.pid) <= {running.pid} and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    running.send_signal(how)
    try:
        _, complained = running.communicate(timeout=120)
        assert (running.returncode, complained.count("\n")) == (128 + how, 1), complained
        while session_of(running.pid) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not session_of(running.pid)
    finally:
        for process in session_of(running.pid):
            os.kill(process, signal.SIGKILL)
    assert not list(tmp_path.iterdir())


def test_stopped_while_a_task_hangs_it_shows_no_traceback(tmp_path: Path) -> None:
    # Spark may print that the worker is lost.
    begun, out = tmp_path / "begun", tmp_path / "out"
    (tmp_path / "stuck.py").write_text(
        "import pathlib, time, pyspark.daemon, pyspark.worker\n"
        f"def main(*_):\n    pathlib.Path({str(begun)!r}).touch()\n    time.sleep(1000)\n"
        "pyspark.worker.main = pyspark.daemon.worker_main = main\npyspark.daemon.manager()\n"
    )
    words = ("--to", out, "--master", "local[1]", "--conf", "spark.python.daemon.module=stuck")
    paths = os.pathsep.join((environment()["PYTHONPATH"], str(tmp_path)))
    running = started(*EXPORT, SOUND.data(), *words, env={"PYTHONPATH": paths})
    deadline = time.monotonic() + 120
    while not begun.exists() and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    try:
        _, complained = running.communicate(timeout=120)
        assert begun.exists() and not out.exists(), complained
        *before, last = complained.splitlines()
        assert (running.returncode, last) == (130, "pagectl: interrupted")
        assert all(each.startswith("spark: ") for each in before), complained
    finally:
        for process in session_of(running.pid):
            os.kill(process, signal.SIGKILL)


def test_a_python_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = export(SOUND.data(), tmp_path / "out", "--conf", "spark.pyspark.python=/nowhere/python")
    line = done.err.splitlines()[-1]
    assert done.status == 2 and not (tmp_path / "out").exists()
    assert line.startswith('pagectl: brokers cannot be read: Cannot run program "/nowhere/python": error=2, No such')


@pytest.mark.parametrize(("how", "send"), [(signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill)])
def test_stopped_while_tasks_run_it_says_one_line(how: signal.Signals, send: Any, tmp_path: Path) -> None:
    # Ctrl-C goes to all processes of the terminal at once.
    data, _ = many_pages(tmp_path / "data")
    words = (
        "export",
        "--in",
        "pages",
        data,
        "--to",
        tmp_path / "out",
        "--master",
        "local[2]",
        "--partition-by",
        "page",
    )
    running = started(*words, env={"XDG_CACHE_HOME": str(tmp_path / "data" / "cache")})
    deadline = time.monotonic() + 120
    while not [*tmp_path.glob("out*/_temporary/*/*")] and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    send(running.pid, how)
    _, complained = running.communicate(timeout=120)
    assert (running.returncode, complained) == (128 + how, "pagectl: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def partial_of(out: Path) -> Path:
    return out.with_name(out.name + PARTIAL_SUFFIX)


@pytest.mark.parametrize("replaced", Replaced, ids=str)
@pytest.mark.parametrize("damaged", ["mine", None])
def test_a_table_that_was_being_changed_is_as_it_was(replaced: Replaced, damaged: str | None, tmp_path: Path) -> None:
    """Stop the change before each step, and the undoing as well; assert that the table is the old or the new one."""
    old = {"_SUCCESS": "", "part-0-old.parquet": "old", "_damaged.json": "[]", "notes.txt": "mine"}
    old |= {"k=v/part-0-old.parquet": "old", "k=w/part-0-old.parquet": "old", "_exported/part-1-old.arrow": "old"}
    goes = {
        Replaced.NOTHING: (),
        Replaced.PARTITIONS: ("k=v",),
        Replaced.ALL: (".", "k=v", "k=w", "_exported"),
        Replaced.LOG: ("_exported",),
    }[replaced]
    for changes in range(100):
        out = tmp_path / str(changes)
        run = out / "_temporary" / "0123456789ab"
        run.mkdir(parents=True)
        for name, text in {
            **old,
            f"_temporary/{run.name}/x": "new",
            f"_temporary/{run.name}/y": "new",
            f"_temporary/{run.name}/z": "new",
            "_temporary/0": "Spark's",
        }.items():
            (out / name).parent.mkdir(exist_ok=True)
            (out / name).write_text(text)
        target, log = f"k=v/part-0-{run.name}.parquet", f"_exported/part-2-{run.name}.arrow"
        with Stopping(changes) as first:
            put(out, run, {"x": target, "y": f"k=n/part-1-{run.name}.parquet", "z": log}, damaged, replaced)
        whole = (out / "_SUCCESS").exists() and not (run / "x").exists()
        for steps in range(100):
            with Stopping(steps) as again:
                undo(out)
            if again.left >= 0:
                break
        found = {str(path.relative_to(out)): path.read_text() for path in out.rglob("*") if path.is_file()}
        assert found.pop("_temporary/0") == "Spark's" and not run.exists()
        if not whole:
            assert found == old and not (out / "k=n").exists(), changes
            continue
        new = {**old, target: "new", f"k=n/part-1-{run.name}.parquet": "new", log: "new"}
        new |= {"_damaged.json": damaged} if damaged else {}
        gone = [name for name in old if "-old." in name and str(Path(name).parent) in goes] + ["_damaged.json"] * (
            not damaged
        )
        assert found == {name: text for name, text in new.items() if name not in gone}
        if first.left >= 0:
            break
    assert changes > 10
