"""Tables below a URL: what the local folder gets, whole or not at all, whatever the store does meanwhile."""

from __future__ import annotations

import errno
import json
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from far_inputs import ACCESS, ObjectServer, object_server
from golden_cases import spread
from incremental_exports import PagingBroker, TasksHere, night
from program import EXPORT, call, started
from stored_tables import (
    SOUND,
    TORN,
    assert_every_mode,
    assert_nights,
    assert_whole_wherever_killed,
    forget,
    hint_is_last,
    messages,
    named_messages,
    rows,
    stopping,
    stored,
    write,
)
from watched_calls import validate

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

from pagectl.terminal import spark_progress

from pagefmt import parallel as ahead
from pagefmt.directory.fleet import FleetBroker, absolute
from pagefmt.directory.locate import within
from pagefmt.errors import PageFmtError
from pagefmt.spark import session
from pagefmt.spark.options import TableSpec
from pagefmt.spark.survey import surveyed
from pagefmt.spark.table import TableTarget, write_by_tasks
from pagefmt.spark.table_folder import Replaced, table_at
from pagefmt.storage import remote_outputs as stored_paths
from pagefmt.storage.remote_outputs import ClaimedPath, StoredPath
from pagefmt.storage.remote_paths import store_at
from pagefmt.storage.stores import base


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectServer]:
    with pytest.MonkeyPatch.context() as patch, object_server(patch) as found:
        yield found
    ahead._fork_disabled = False


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the silence after which a writer is taken for dead."""
    monkeypatch.setattr(stored_paths, "BEAT", 0.1)
    monkeypatch.setattr(stored_paths, "SILENT", 3.0)


def fresh(server: ObjectServer) -> StoredPath:
    return stored(f"s3://brokers/tables/{uuid4().hex}?{server.query}")


def test_every_mode_makes_the_table_of_a_folder(server: ObjectServer, tmp_path: Path) -> None:
    assert_every_mode(tmp_path / "out", fresh(server))


def test_nights_beside_a_broker_at_work(server: ObjectServer, tmp_path: Path) -> None:
    assert_nights(tmp_path / "data", fresh(server))


@pytest.mark.parametrize("replaced", spread([Replaced.ALL, Replaced.NOTHING, Replaced.PARTITIONS], 3), ids=str)
def test_a_table_is_whole_wherever_its_writer_is_killed(server: ObjectServer, replaced: Replaced) -> None:
    out = stored(server.direct(fresh(server).uri))
    changes, whole = assert_whole_wherever_killed(out, replaced, 2 if replaced is Replaced.NOTHING else 3)
    assert changes > 11 and whole > 3


def test_nights_that_are_killed_add_nothing_twice(server: ObjectServer, tmp_path: Path) -> None:
    broker, out = PagingBroker(tmp_path / "data"), stored(server.direct(fresh(server).uri))
    for changes in range(1, 40, 7):
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
    # Every third request finds the store busy, and every fifth loses its connection.
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
    answer = call(*EXPORT, SOUND.data(), "--to", url, "--incremental")
    assert answer.status == 2 and answer.err.startswith("pagectl: s3://nobody/x: no such bucket in this store; check")
    assert answer.err.count("\n") == 1


def test_a_small_file_that_is_replaced_meanwhile_is_read_again(server: ObjectServer) -> None:
    # A claim that another writer renews is such a file.
    path, before = fresh(server) / "claim", [b"1"]
    path.put(b"0")

    def replace(handler: Any) -> bool:
        """Replace the file while the request for its size is being answered."""
        if handler.command == "HEAD" and before:
            return bool(handler.answer_late(lambda: stored(server.direct(path.uri)).put(before.pop())))
        return False

    with server.failing(replace):
        assert path.read_bytes() == b"1" and not before


def test_a_small_file_that_is_always_replaced_is_given_up(server: ObjectServer) -> None:
    path, versions = fresh(server) / "claim", iter(range(100))
    path.put(b"begin")

    def replace(handler: Any) -> bool:
        if handler.command == "HEAD":
            return bool(handler.answer_late(lambda: stored(server.direct(path.uri)).put(b"%d" % next(versions))))
        return False

    with server.failing(replace), pytest.raises(OSError, match="it was replaced") as refusal:
        path.read_bytes()
    assert refusal.value.errno == errno.ESTALE and next(versions) < 50


@pytest.mark.usefixtures("hurried")
def test_of_two_writers_one_is_refused(server: ObjectServer) -> None:
    # The other writer's claim is renewed as long as it writes.
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
    # Others have declared it dead before it continues.
    out = fresh(server)
    write(out, TORN)
    before = rows(out)
    spec = TableSpec.now()
    found = surveyed(FleetBroker("b", absolute(within(SOUND.data()))), spec)

    @contextmanager
    def still() -> Iterator[None]:
        yield
        into.claim._done.set()
        into.claim._thread.join()
        write(out, TORN)

    with pytest.raises(OSError, match="after a pause"), table_at(out) as into:
        assert isinstance(into, ClaimedPath)
        write_by_tasks(TasksHere(), found.pieces, spec, TableTarget(into), still)  # type: ignore[arg-type]
    assert rows(out) == sorted([*before, *before]) and (out / "_SUCCESS").exists()
    write(out, SOUND)
    assert not [*out.rglob("_temporary")]


def test_the_command(server: ObjectServer, tmp_path: Path) -> None:
    broker, out = PagingBroker(tmp_path / "data"), fresh(server)
    for messages_more in (30, 20):
        broker.write(messages_more)
        running = started(
            *EXPORT,
            tmp_path / "data",
            "--to",
            out.uri,
            "--incremental",
            "--master",
            "local[1]",
            "--format",
            "json",
            env=ACCESS,
        )
        said, complained = running.communicate(timeout=280)
        assert running.returncode in (0, 1), complained
        validate("export", said)
        assert json.loads(said)["wrote"] == json.loads(said)["to"] == str(out)
        assert messages(out) == broker.every
    again = call(*EXPORT, tmp_path / "data", "--to", out.uri)
    assert (
        again.status == 2
        and "has a log of what was exported to it" not in again.err
        and "contains a table" in again.err
    )
    for words, reason in (
        (("--to", "s3://brokers/x?secret_key=hush", "--format", "json"), "no URL setting"),
        (("--to", "s3://brokers/x?X-Amz-Signature=hush"), "no URL setting"),
        (("--to", "s3://nobody:half/hush@brokers/x"), "credentials must not be"),
        (("--to", "S3://nobody:hush@brokers/x"), "credentials must not be"),
        (("--to", "sheep://brokers/x"), "sheep"),
        (("--to", str(tmp_path / "x.tar")), "inside an archive"),
        (("--to", str(tmp_path / "x.csv")), "is a file"),
    ):
        (tmp_path / "x.tar").write_bytes(bytes(1024))
        (tmp_path / "x.csv").touch()
        refused = call(*EXPORT, tmp_path / "data", *words)
        assert refused.status == 2 and reason in refused.err and refused.err.count("\n") == 1, refused
        assert "hush" not in refused.err


def is_copy(handler: Any) -> bool:
    return handler.command == "PUT" and bool(handler.headers.get("x-amz-copy-source"))


def expired(handler: Any) -> bool:
    return bool(handler.refuse(400, "ExpiredToken"))


def commands_below(process: int) -> Iterator[bytes]:
    """Yield the command line of every descendant of a process, read from ``/proc``."""
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            with suppress(OSError):
                yield Path(f"/proc/{child}/cmdline").read_bytes()
                yield from commands_below(child)


def test_nothing_secret_is_shown(server: ObjectServer, tmp_path: Path) -> None:
    # Secrets of the environment and of --conf must be in no output, event log, command line or table.
    out, secret = fresh(server), ACCESS["AWS_SECRET_ACCESS_KEY"]
    settings = (
        "spark.eventLog.enabled=true",
        f"spark.eventLog.dir=file:{tmp_path}",
        "spark.eventLog.compress=false",
        f"spark.executorEnv.AZURE_STORAGE_KEY={secret}",
        f"spark.hadoop.fs.azure.account.key.x={secret}",
        f"spark.hadoop.fs.s3a.secret.key={secret}",
    )
    running = started(
        *EXPORT,
        TORN.data(),
        "--to",
        out.uri,
        "--master",
        "local[1]",
        "--format",
        "json",
        *(word for each in settings for word in ("--conf", each)),
        env=ACCESS,
    )
    seen = set[bytes]()
    while running.poll() is None:
        seen.update(commands_below(running.pid))
        time.sleep(0.2)
    shown = [each.encode() for each in running.communicate(timeout=280)]
    (events,) = [path.read_bytes() for path in tmp_path.rglob("events_*")]
    files = [(out / each.name).opened() for each in out.rglob("*") if stat.S_ISREG(each.stat().st_mode)]
    shown += [events, *seen, *(file.read_at(file.size(), 0) for file in files)]
    assert running.returncode == 1 and b"spark.hadoop.fs.s3a.secret.key" in events and len(files) > 2
    assert any(b"java" in each for each in seen)
    assert not [each for each in shown if secret.encode() in each]


Request = Callable[[Any], bool]
FORMATS = {"delta": "Delta Lake", "iceberg": "Iceberg"}
LEFT = "; the next export completes or undoes what this one left there\n"
MIDWAY: dict[str, tuple[Request, Request, bool, int, str]] = {
    "clock": (
        lambda handler: handler.command == "PUT" and ".parquet" in handler.path,
        lambda handler: bool(handler.refuse(403, "RequestTimeTooSkewed")), False, 2,
        "pagectl: OUT: this machine's clock differs from the store's; set it; nothing was written\n",
    ),
    "log": (
        lambda handler: handler.command == "GET" and ".arrow" in handler.path, expired, True, 2,
        f"pagectl: OUT/_exported: the credentials have expired; renew them{LEFT}",
    ),
    "copies": (is_copy, expired, True, 2, f"pagectl: OUT: the credentials have expired; renew them{LEFT}"),
    "copy with an error in its answer": (
        is_copy, lambda handler: bool(handler.refuse(200, "InternalError")), False, 2,
        "pagectl: OUT: the store fails: InternalError (tried ",
    ),
    "log of Delta Lake": (
        lambda handler: handler.command == "PUT" and "_delta_log" in handler.path, expired, False, 2,
        "pagectl: OUT: the table's log cannot be read or written: the credentials have expired; renew them\n",
    ),
    "log of Iceberg": (
        lambda handler: handler.command == "PUT" and ".metadata.json" in handler.path, expired, False, 2,
        "pagectl: OUT: the credentials have expired; renew them\n",
    ),
    "hint of Iceberg": (
        lambda handler: handler.command == "PUT" and "version-hint.text" in handler.path, expired, True, 1,
        "warning: OUT: the credentials have expired; renew them; version-hint.text still names the previous version; "
        "the table is complete, and the next ",
    ),
    "end of Delta Lake": (
        lambda handler: handler.command == "PUT" and handler.path.endswith("_SUCCESS") and not is_copy(handler),
        expired, True, 1, "warning: OUT: the credentials have expired; renew them; the table is complete, and the "
                          "next ",
    ),
    "clean-up": (
        lambda handler: any(
            each.startswith("PUT") and each.endswith("_SUCCESS") and "_temporary" not in each for each in handler.seen
        ) and (handler.command == "DELETE" or "delete" in handler.path),
        lambda handler: bool(handler.refuse(503, "SlowDown")), True, 1,
        "warning: OUT: the store fails: SlowDown (tried ",
    ),
}  # fmt: skip


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("phase", MIDWAY)
def test_what_is_refused_midway_is_put_right(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    met, answered, from_then_on, status, reason = MIDWAY[phase]
    form = next((form for form, library in FORMATS.items() if library in phase), "parquet")
    read = messages if form == "parquet" else named_messages
    if form != "parquet":
        pytest.importorskip("obstore", reason="the extra pagectl[tables] is not installed")
    monkeypatch.setattr(base, "RETRY_SECONDS", 0.5)
    monkeypatch.setattr(base, "GONE_SECONDS", 0.1)
    monkeypatch.setattr(session, "running", lambda *_: nullcontext(TasksHere()))
    monkeypatch.setattr(spark_progress, "spark_progress", lambda *_: nullcontext())
    broker, out = PagingBroker(tmp_path / "data"), fresh(server)
    words = (*EXPORT, tmp_path / "data", "--to", out.uri, "--incremental", "--table-format", form)
    broker.write(20)
    assert call(*words).status < 2
    before, refused = broker.every.copy(), list[str]()
    broker.write(20)
    server.seen.clear()

    def refuse(handler: Any) -> bool:
        if met(handler) or (from_then_on and refused):
            refused.append(handler.path)
            return answered(handler)
        return False

    with server.failing(refuse):
        told = call(*words)
    err = "".join(line for line in told.err.splitlines(keepends=True) if not line.startswith("note: "))
    assert refused and told.status == status and err.replace(str(out), "OUT").startswith(reason), told.err
    assert err.count("\n") == 1
    store_at.cache_clear()
    if form != "parquet" or (out / "_SUCCESS").exists():
        assert read(out) == (before if status == 2 else broker.every)
    forget(out)
    assert call(*words).status < 2 and read(out) == broker.every
    assert not [*out.rglob("_temporary")] and (out / "_SUCCESS").exists()
    assert form != "iceberg" or hint_is_last(out)
