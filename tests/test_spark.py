"""Spark: the data source gives the rows of the reference decoder, the stream every record once, export whole tables."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from golden_cases import GoldenCase, cases

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

from pagefmt.columns.body_form import Body
from pagefmt.columns.table import PageSource, Stopped, Wanted, page_batches
from pagefmt.outstanding import load_state
from pagefmt.spark.session import start
from pagefmt.spark.source import NAME, PageFiles

ROOT = Path(__file__).resolve().parent.parent
CASES = cases()
NAMES = ("hornetq-2.4.7/tx", "artemis-1.5.6/torn", "2.17.0/amqp", "2.56.0/multicast-acks", "2.56.0/large-amqp")
FEW = [case for case in CASES if str(case) in NAMES]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    os.environ["PYTHONPATH"] = os.pathsep.join(str(ROOT / part) for part in ("", "cli", "schemas"))
    session = start("tests", "local[2]", {"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))})
    session.dataSource.register(PageFiles)
    yield session
    session.stop()


def plain(value: Any) -> Any:
    """Rows of Spark and of Arrow in one form: maps sorted, binaries as bytes, NaN equal to itself."""
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in sorted(value.items())}
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return {str(key): plain(each) for key, each in sorted(value)}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return repr(value)
    return bytes(value) if isinstance(value, bytearray) else value


def rows_of(case: GoldenCase, body: Body = Body.BASE64) -> list[dict[str, Any]]:
    data = case.data()
    rows: list[dict[str, Any]] = []
    for store in load_state(data / "paging", data / "journal", data / "bindings").stores():
        for page in store.store.pages:
            source = PageSource(page.path, page.number, store.store.name, store.store.address, store.rule(page.number))
            for batch in page_batches(source, Wanted(body)):
                rows += [] if isinstance(batch, Stopped) else batch.to_pylist()
    return [_emptied(plain(row)) for row in rows]


def _emptied(row: dict[str, Any]) -> dict[str, Any]:
    """An empty map cannot be told from an empty list in Python."""
    return {key: value if value not in ([], {}) else None for key, value in row.items()}


def assert_same(found: list[Any], case: GoldenCase, body: Body = Body.BASE64) -> None:
    order = ("store", "page", "number")
    got = sorted((_emptied(plain(row)) for row in found), key=lambda row: [row[name] for name in order])
    expected = rows_of(case, body)
    assert len(got) == len(expected)
    for mine, theirs in zip(got, expected, strict=True):
        assert json.dumps(mine, sort_keys=True, default=str) == json.dumps(theirs, sort_keys=True, default=str)


@pytest.mark.parametrize("case", FEW, ids=str)
def test_source_gives_the_reference_rows(spark: Any, case: GoldenCase) -> None:
    table = spark.read.format(NAME).option("body", "base64").load(str(case.data()))
    assert_same(table.collect(), case)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_export_of_every_case_reads_back_equal(spark: Any, case: GoldenCase, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    spark.read.format(NAME).option("body", "base64").load(str(case.data())).write.parquet(str(tmp_path / "out"))
    assert_same(pq.read_table(tmp_path / "out").to_pylist(), case)


def test_source_filters_with_a_selector(spark: Any) -> None:
    case = next(case for case in CASES if str(case) == "2.56.0/multicast-acks")
    table = spark.read.format(NAME).option("where", "color = 'red' AND AMQPriority = 4").load(str(case.data()))
    found = table.collect()
    expected = [row for row in rows_of(case, Body.SIZE) if row["properties"]["color"]["string"] == "red"]
    assert 0 < len(found) == len(expected)


@pytest.mark.parametrize(("option", "value"), [("body", "nonsense"), ("boddy", "text"), ("where", "color =")])
def test_bad_options_say_what_is_wrong(spark: Any, option: str, value: str) -> None:
    case = FEW[0]
    with pytest.raises(Exception, match=value if option == "body" else option if option == "boddy" else "color"):
        spark.read.format(NAME).option(option, value).load(str(case.data())).collect()


def test_stream_gives_every_record_once_and_survives_restart_and_deletion(spark: Any, tmp_path: Path) -> None:
    case = next(case for case in CASES if str(case) == "2.56.0/multicast-acks")
    live = tmp_path / "paging"
    source = next((case.data() / "paging").iterdir())
    store = live / source.name
    store.mkdir(parents=True)
    shutil.copy(source / "address.txt", store)
    pages = sorted(source.glob("*.page"))
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "checkpoint")

    def catch_up() -> None:
        table = spark.readStream.format(NAME).load(str(live))
        query = table.writeStream.format("parquet").option("path", out).option("checkpointLocation", checkpoint)
        query.trigger(availableNow=True).start().awaitTermination(120)

    def numbers() -> list[tuple[int, int]]:
        return sorted((row["page"], row["number"]) for row in spark.read.parquet(out).collect())

    shutil.copy(pages[0], store)
    half = pages[1].read_bytes()
    (store / pages[1].name).write_bytes(half[: len(half) // 2])
    catch_up()
    first = numbers()
    assert first and len({page for page, _ in first}) == 2
    (store / pages[1].name).write_bytes(half)
    for page in pages[2:6]:
        shutil.copy(page, store)
    (store / pages[0].name).unlink()
    catch_up()
    for page in pages[2:5]:
        (store / page.name).unlink()
    for page in pages[6:]:
        shutil.copy(page, store)
    catch_up()
    expected = [(row["page"], row["number"]) for row in rows_of(case, Body.SIZE)]
    assert numbers() == sorted(expected)


def pagectl(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pagectl", *words], capture_output=True, text=True, timeout=240, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("", "cli", "schemas")), **more},
    )  # fmt: skip


def path_without_java(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in (tool for part in ("/bin", "/usr/bin") for tool in Path(part).iterdir()):
        if not tool.name.startswith("java") and not (folder / tool.name).is_symlink():
            (folder / tool.name).symlink_to(tool)
    assert shutil.which("java", path=str(folder)) is None
    return folder


def test_export_writes_a_whole_table_and_keeps_damage_aside_without_java(tmp_path: Path) -> None:
    """No Java on PATH and no JAVA_HOME: the one of the wheel serves."""
    import pyarrow.parquet as pq

    case = next(case for case in CASES if str(case) == "artemis-1.5.6/torn")
    out = tmp_path / "out"
    done = pagectl(
        "export", str(case.data()), "--to", str(out), "--master", "local[1]", "--body", "base64", "--format", "json",
        PATH=str(path_without_java(tmp_path)), JAVA_HOME="",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    summary = json.loads(done.stdout)
    assert (out / "_SUCCESS").exists()
    assert_same(pq.read_table(out).to_pylist(), case)
    assert summary["rows"] == len(rows_of(case))
    assert summary["damaged"] == json.loads((out / "_damaged.json").read_text())
    assert [each["kind"] for each in summary["damaged"]] == ["frame"]
    again = pagectl("export", str(case.data()), "--to", str(out), "--master", "local[1]")
    assert again.returncode == 2
    assert "--mode overwrite" in again.stderr and again.stderr.count("\n") == 1


def test_killed_export_leaves_no_table_and_the_next_run_is_clean(tmp_path: Path) -> None:
    """Killed while Spark runs: no ``_SUCCESS``; the same call again makes the whole table."""
    import pyarrow.parquet as pq

    case = next(case for case in CASES if str(case) == "2.56.0/multicast-acks")
    out = tmp_path / "out"
    words = [sys.executable, "-m", "pagectl", "export", str(case.data()), "--to", str(out), "--master", "local[1]"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("", "cli", "schemas"))}
    running = subprocess.Popen(
        words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not out.exists() and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert not (out / "_SUCCESS").exists()
    done = pagectl(*words[3:])
    assert done.returncode == 0, done.stderr
    assert (out / "_SUCCESS").exists()
    assert pq.read_table(out).num_rows == len(rows_of(case))
