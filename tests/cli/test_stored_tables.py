"""Tables below a URL: what the local folder gets, whole or not at all, whatever the store does meanwhile."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from far_inputs import ACCESS, ObjectServer, object_server
from golden_cases import GoldenCase
from incremental_exports import PagingBroker, TasksHere, night, told
from program import call, started
from watched_calls import validate

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

from pagefmt import ahead
from pagefmt.bytes import stored_paths
from pagefmt.bytes.far_paths import any_path, store_at
from pagefmt.bytes.object_stores import ObjectStore
from pagefmt.bytes.stored_paths import StoredPath
from pagefmt.directory.fleet import FleetBroker, absolute
from pagefmt.directory.locate import within
from pagefmt.errors import PageFmtError
from pagefmt.spark.options import TableSpec
from pagefmt.spark.survey import surveyed
from pagefmt.spark.table import TableTarget, WrittenTable, write_by_tasks
from pagefmt.spark.table_folder import Replaced, table_at

TORN, SOUND = GoldenCase("artemis-1.5.6", "torn"), GoldenCase("2.56.0", "multicast-acks")


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectServer]:
    with pytest.MonkeyPatch.context() as patch, object_server(patch) as found:
        yield found
    ahead._lonely.clear()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer is dead after a moment."""
    monkeypatch.setattr(stored_paths, "BEAT", 0.1)
    monkeypatch.setattr(stored_paths, "SILENT", 3.0)


def stored(url: str) -> StoredPath:
    return StoredPath(*any_path(url).parts)


def fresh(server: ObjectServer) -> StoredPath:
    return stored(f"s3://brokers/tables/{uuid4().hex}?{server.query}")


def write(out: Path, case: GoldenCase, replaced: Replaced = Replaced.NOTHING, **more: Any) -> WrittenTable:
    spec = TableSpec.now(where=more.pop("where", None))
    found = surveyed(FleetBroker("b", absolute(within(case.data()))), spec)
    with table_at(out) as into:
        target = TableTarget(into, replaced=replaced, **more)
        return write_by_tasks(TasksHere(), found.pieces, spec, target, nullcontext)  # type: ignore[arg-type]


def read(path: Path) -> pa.Table:
    whole = pa.BufferReader(path.opened().read_at(1 << 30, 0)) if isinstance(path, StoredPath) else path
    return pq.read_table(whole)


def rows(out: Path) -> list[str]:
    """Of all files of a table, with the folders that they lie in."""
    found = []
    for path in [*out.rglob("*.parquet")]:
        table = pq.read_table(
            pa.BufferReader(path.opened().read_at(1 << 30, 0)) if isinstance(path, StoredPath) else path
        )
        parts = path.relative_to(out).parts
        if parts[0] != "_temporary":
            found += [repr((parts[:-1], row)) for row in table.drop_columns(["exported_at"]).to_pylist()]
    return sorted(found)


def messages(out: StoredPath) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    for path in out.rglob("*.parquet"):
        if path.relative_to(out).parts[0] != "_temporary":
            table = read(path)
            found.update(zip(table["page"].to_pylist(), table["id"].to_pylist(), strict=True))
    return found


def aside(out: Path) -> Any:
    path = out / "_damaged.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def test_every_mode_makes_the_table_of_a_folder(server: ObjectServer, tmp_path: Path) -> None:
    here, far = tmp_path / "out", fresh(server)
    steps: list[tuple[GoldenCase, dict[str, Any]]] = [
        (TORN, {}), (SOUND, {}), (SOUND, {"replaced": Replaced.PARTITIONS, "where": "color = 'red'"}),
        (TORN, {"replaced": Replaced.ALL}), (SOUND, {"compression": "none"}),
    ]  # fmt: skip
    for case, how in steps:
        made = [write(out, case, splits=("store_address", "priority"), **how) for out in (here, far)]
        assert rows(far) == rows(here) and aside(far) == aside(here)
        assert made[0].rows == made[1].rows and (far / "_SUCCESS").exists()
        assert not [*far.rglob("_temporary")], "nothing is left"


def test_nights_beside_a_broker_at_work(server: ObjectServer, tmp_path: Path) -> None:
    broker, out = PagingBroker(tmp_path / "data"), fresh(server)
    nightly = partial(night, TasksHere(), tmp_path / "data", out, ("priority",))
    broker.write(60)
    assert "added" in told(nightly())
    broker.write(30)
    broker.delete(3)
    assert told(nightly()).keys() >= {"added", "grew", "deleted"} and messages(out) == broker.every
    broker.start_anew()
    broker.write(20)
    assert nightly().pages["changed"] and messages(out) == broker.every


class Stopped(BaseException):
    """In the place of a change."""


@contextmanager
def stopping(changes: int) -> Iterator[list[int]]:
    """Inside, the process is killed in front of a change in the store: that and every later one is not made."""
    left, lock = [changes], threading.Lock()
    usual = {name: getattr(ObjectStore, name) for name in ("put", "copy", "remove", "make_folder", "remove_folder")}

    def change(name: str, *given: Any) -> Any:
        with lock:
            left[0] -= 1
        if left[0] < 0:
            raise OSError("gone") if threading.current_thread().daemon else Stopped
        return usual[name](*given)

    with pytest.MonkeyPatch.context() as patch, suppress(Stopped):
        for name in usual:
            patch.setattr(ObjectStore, name, partial_method(change, name))
        yield left


def forget(out: StoredPath) -> None:
    """In the place of the time after which a writer that was killed is dead."""
    for claim in (out / "_temporary").glob("claim-*"):
        claim.unlink()


def partial_method(change: Any, name: str) -> Any:
    return lambda *given: change(name, *given)


@pytest.mark.parametrize("replaced", [Replaced.NOTHING, Replaced.PARTITIONS, Replaced.ALL], ids=str)
def test_a_table_is_whole_wherever_its_writer_is_killed(server: ObjectServer, replaced: Replaced) -> None:
    """Who sees ``_SUCCESS`` sees the table of before or the new one, and the next run gets there."""
    out = stored(server.direct(fresh(server).uri))
    split = {"splits": ("store_address",)}
    write(out, TORN, **split)
    before = rows(out)
    write(out, SOUND, **split)
    old = rows(out)
    expected = {Replaced.NOTHING: [*before, *before, *(set(old) - set(before))], Replaced.PARTITIONS: old}
    whole = 0
    for changes in range(0, 60, 2 if replaced is Replaced.NOTHING else 3):
        with stopping(changes) as left:
            write(out, TORN, replaced, **split)
        forget(out)
        now = rows(out)
        new = sorted(expected.get(replaced, before))
        whole += (out / "_SUCCESS").exists()
        assert not (out / "_SUCCESS").exists() or now in (old, new), changes
        write(out, SOUND, Replaced.ALL, **split)
        write(out, TORN, Replaced.NOTHING, **split)
        assert rows(out) == old and aside(out), changes
        assert not [*out.rglob("_temporary")]
        if left[0] >= 0:
            break
    assert changes > 11 and whole > 3


def test_nights_that_are_killed_add_nothing_twice(server: ObjectServer, tmp_path: Path) -> None:
    broker, out = PagingBroker(tmp_path / "data"), stored(server.direct(fresh(server).uri))
    for changes in range(1, 40, 3):
        broker.write(8)
        with stopping(changes):
            night(TasksHere(), tmp_path / "data", out)
        forget(out)
        if (out / "_SUCCESS").exists():
            assert not messages(out) - broker.every
        if changes % 2 == 0:
            night(TasksHere(), tmp_path / "data", out)
            assert messages(out) == broker.every and not [*out.rglob("_temporary")]


def test_a_store_that_is_busy_gets_the_same_table(server: ObjectServer, tmp_path: Path) -> None:
    """Every third request meets a store that is busy, and every fifth a connection that breaks."""
    count, lock = 0, threading.Lock()

    def fail(handler: Any) -> bool:
        nonlocal count
        with lock:
            count += 1
        return (count % 3 == 0 and handler.refuse(503, "SlowDown")) or (count % 5 == 0 and handler.hang_up())

    out = fresh(server)
    with server.failing(fail):
        write(out, SOUND, splits=("priority",))
    write(tmp_path / "here", SOUND, splits=("priority",))
    assert rows(out) == rows(tmp_path / "here") and count > 30


def test_a_store_that_refuses_ends_the_export(server: ObjectServer) -> None:
    out = fresh(server)
    write(out, TORN)
    before = rows(out)
    denied = server.failing(lambda handler: ".parquet" in handler.path and handler.refuse(403, "AccessDenied"))
    with denied, pytest.raises(PageFmtError, match="denies access"):
        write(out, SOUND)
    assert (out / "_SUCCESS").exists() and rows(out) == before and not [*out.rglob("_temporary")]


def test_a_bucket_that_is_not_there_is_named(server: ObjectServer) -> None:
    url = server.direct("s3://nobody/x?")
    answer = call("export", SOUND.data(), "--to", url, "--incremental")
    assert answer.status == 2 and answer.err == "pagectl: s3://nobody/x: no such bucket\n"


@pytest.mark.usefixtures("hurried")
def test_of_two_writers_one_is_refused(server: ObjectServer) -> None:
    """As long as the other says that it writes."""
    out = fresh(server)
    with table_at(out):
        for _ in range(3):
            with pytest.raises(OSError, match="another process is writing it"), table_at(out):
                raise AssertionError
    with table_at(out):
        pass


@pytest.mark.usefixtures("hurried")
def test_a_writer_that_was_killed_is_dead_after_a_while(server: ObjectServer) -> None:
    out = fresh(server)
    (out / "_temporary" / "claim-0123456789ab").write_text("7")
    (out / "_temporary" / "0123456789ab" / "x" / "part-0.parquet").write_text("left")
    begun = time.monotonic()
    write(out, SOUND)
    assert time.monotonic() - begun > 3 and not [*out.rglob("_temporary")]


@pytest.mark.usefixtures("hurried")
def test_a_writer_that_stood_still_changes_nothing(server: ObjectServer) -> None:
    """It awakes when others have taken it for dead."""
    out = fresh(server)
    write(out, TORN)
    before = rows(out)
    spec = TableSpec.now()
    found = surveyed(FleetBroker("b", absolute(within(SOUND.data()))), spec)

    @contextmanager
    def still() -> Iterator[None]:
        yield
        claim = stored_paths._claims[out / "_temporary"]
        claim._done.set()
        claim._thread.join()
        write(out, TORN)

    with pytest.raises(OSError, match="after a pause"), table_at(out) as into:
        write_by_tasks(TasksHere(), found.pieces, spec, TableTarget(into), still)  # type: ignore[arg-type]
    assert rows(out) == sorted([*before, *before]) and (out / "_SUCCESS").exists()
    write(out, SOUND)
    assert not [*out.rglob("_temporary")]


def test_through_fsspec_as_well(tmp_path: Path) -> None:
    """A file system that pyarrow does not have."""
    out = stored("memory://tables/one")
    assert store_at(out.parts[:2]).entries("") is not None
    for step in (TORN, SOUND):
        for each in (out, tmp_path / "here"):
            write(each, step, splits=("store_address",))
    assert rows(out) == rows(tmp_path / "here") != []
    ahead._lonely.clear()


def test_the_command(server: ObjectServer, tmp_path: Path) -> None:
    broker, out = PagingBroker(tmp_path / "data"), fresh(server)
    for messages_more in (30, 20):
        broker.write(messages_more)
        running = started(
            "export", tmp_path / "data", "--to", out.uri, "--incremental", "--master", "local[1]", "--format", "json",
            env=ACCESS,
        )  # fmt: skip
        said, complained = running.communicate(timeout=280)
        assert running.returncode in (0, 1), complained
        validate("export", said)
        assert json.loads(said)["wrote"] == json.loads(said)["to"] == str(out)
        assert messages(out) == broker.every
    again = call("export", tmp_path / "data", "--to", out.uri)
    assert again.status == 2 and "knows what was exported to it" not in again.err and "holds a table" in again.err
    for words, reason in (
        (("--to", "s3://brokers/x", "--table-format", "delta"), "goes with a folder"),
        (("--to", "s3://brokers/x?secret_key=hush", "--format", "json"), "no setting"),
        (("--to", "sheep://brokers/x"), "sheep"),
        (("--to", str(tmp_path / "x.tar")), "in an archive"),
        (("--to", str(tmp_path / "x.csv")), "is a file"),
    ):
        (tmp_path / "x.tar").write_bytes(bytes(1024))
        (tmp_path / "x.csv").touch()
        refused = call("export", tmp_path / "data", *words)
        assert refused.status == 2 and reason in refused.err and refused.err.count("\n") == 1, refused
        assert "hush" not in refused.err
