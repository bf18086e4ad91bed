"""Delta Lake tables below a URL: as in a folder, and two writers never commit the same version."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from far_inputs import ACCESS, ObjectServer, object_server
from golden_cases import GoldenCase
from incremental_exports import PagingBroker, TasksHere, night, told
from made_pages import message, store
from program import call, started
from stored_tables import committing, forget, named_files, opened_delta, stopping
from stored_tables import delta_messages as messages

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")
pytest.importorskip("deltalake", reason="the extra pagectl[tables] is not installed")

import pyarrow as pa

from pagefmt import ahead
from pagefmt.bytes.far_paths import any_path
from pagefmt.bytes.stored_paths import StoredPath
from pagefmt.columns.table_content import LakeFormat
from pagefmt.spark import table_formats
from pagefmt.spark.table_formats import FormatRefused, last_export

SOUND = GoldenCase("2.56.0", "multicast-acks")
DELTA = LakeFormat.DELTA


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectServer]:
    with pytest.MonkeyPatch.context() as patch, object_server(patch) as found:
        yield found
    ahead._lonely.clear()


def fresh(server: ObjectServer) -> StoredPath:
    return StoredPath(*any_path(f"s3://brokers/delta/{uuid4().hex}?{server.query}").parts)


READ = """
import os, sys, pyarrow as pa
from deltalake import DeltaTable
table = DeltaTable(sys.argv[1], storage_options=eval(sys.argv[2])).to_pyarrow_table()
pa.ipc.new_stream(sys.stdout.buffer, table.schema).write_table(table)
sys.stdout.flush()
os._exit(0)  # threads of the library that want the interpreter while it ends abort the process
"""


def read_elsewhere(out: StoredPath) -> pa.Table:
    """By its library, which lets no other thread work meanwhile; the server has one in this process."""
    url, options = out.asked_by_others()
    found = subprocess.run([sys.executable, "-c", READ, url, repr(options)], stdout=subprocess.PIPE, check=True).stdout
    return pa.ipc.open_stream(found).read_all()


def test_nights_beside_a_broker_at_work(server: ObjectServer, tmp_path: Path) -> None:
    """Each message is there once, by the table's own log."""
    broker, out = PagingBroker(tmp_path / "data"), fresh(server)
    nightly = partial(night, TasksHere(), tmp_path / "data", out, ("priority",), DELTA)
    for n in range(4):
        broker.delete(n)
        if n == 2:
            broker.start_anew()
        broker.write(30)
        nightly()
        assert messages(out) == broker.every and last_export(out) == n + 1
    broker.delete(1)
    assert told(nightly())["deleted"] == 1 and last_export(out) == 5
    table = read_elsewhere(out)
    assert Counter(zip(table["page"].to_pylist(), table["id"].to_pylist(), strict=True)) == broker.every
    assert not [*out.rglob("_temporary")]


ADDRESSES = ("plain", "a/b=c%2F ~ü\n", "..", "long " + "ü~" * 200)


def test_partitions_have_the_values_of_folders(server: ObjectServer, tmp_path: Path) -> None:
    for n, address in enumerate(ADDRESSES):
        store(tmp_path / "data" / "paging", f"s{n}", {1: message(n, address, "text")}, f"folder{n}")
    out = fresh(server)
    night(TasksHere(), tmp_path / "data", out, ("address",), DELTA)
    table = read_elsewhere(out)
    assert dict(zip(table["id"].to_pylist(), table["address"].to_pylist(), strict=True)) == dict(enumerate(ADDRESSES))


def test_nights_that_are_killed_add_nothing_twice(server: ObjectServer, tmp_path: Path) -> None:
    killed_nights(server, tmp_path, 5)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_nights_that_are_killed_anywhere_add_nothing_twice(server: ObjectServer, tmp_path: Path) -> None:
    killed_nights(server, tmp_path, 1)


def killed_nights(server: ObjectServer, tmp_path: Path, step: int) -> None:
    """Stopped in front of changes of the store, the commit among them."""
    broker, out = PagingBroker(tmp_path / "data"), fresh(server)
    out = StoredPath(*any_path(server.direct(out.uri)).parts)
    came = Counter[bool]()
    for changes in range(0, 40, step):
        broker.write(5)
        before = last_export(out)
        with stopping(changes, (table_formats, "_commit_to")) as left:
            night(TasksHere(), tmp_path / "data", out, (), DELTA)
        forget(out)
        committed = last_export(out) > before
        came[committed] += 1
        if committed:
            assert messages(out) == broker.every
        elif before:
            assert not messages(out) - broker.every
        if changes % 2:
            night(TasksHere(), tmp_path / "data", out, (), DELTA)
            assert messages(out) == broker.every and not [*out.rglob("_temporary")]
            there = sorted(path.name for path in out.glob("part-*"))
            assert there == named_files(out), "no file without a commit"
        if left[0] >= 0:
            break
    assert left[0] >= 0 and came[True] and came[False] > 3


@pytest.mark.parametrize("last", [True, False], ids=["in front of its last request", "before"])
@pytest.mark.parametrize("first", [True, False], ids=["new table", "table"])
def test_of_two_commits_one_is_refused(
    server: ObjectServer, monkeypatch: pytest.MonkeyPatch, first: bool, last: bool
) -> None:
    """Both have seen the same version: what the claim cannot exclude after a pause, the store does."""
    out, meanwhile = fresh(server), [1]
    if not first:
        committing(out, 1, "a" * 12).carry_out(out)
    usual = table_formats._commit_to

    def overtake() -> bool:
        if meanwhile:
            meanwhile.clear()
            committing(out, 2, "b" * 12).carry_out(out)
        return False

    def overtaken(*given: Any) -> None:
        overtake()
        usual(*given)

    def at_last(handler: Any) -> bool:
        return handler.command == "PUT" and "_delta_log" in handler.path and overtake()

    if not last:
        monkeypatch.setattr(table_formats, "_commit_to", overtaken)
    with (
        server.failing(at_last) if last else nullcontext(),
        pytest.raises(FormatRefused, match="another program has committed to it meanwhile; export again"),
    ):
        committing(out, 2, "c" * 12).carry_out(out)
    assert not meanwhile
    names = [] if first else [f"part-00000-0-{'a' * 12}.parquet"]
    assert named_files(out) == [*names, f"part-00000-0-{'b' * 12}.parquet"]


def test_every_commit_is_made_on_condition(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment says: the store is asked to refuse a version that is there."""
    out, conditions = fresh(server), []
    monkeypatch.setenv("AWS_S3_ALLOW_UNSAFE_RENAME", "true")
    monkeypatch.setenv("AWS_CONDITIONAL_PUT", "disabled")

    def note(handler: Any) -> bool:
        if handler.command in ("PUT", "POST") and "_delta_log" in handler.path:
            conditions.append(handler.headers.get("If-None-Match"))
        return False

    with server.failing(note):
        for number in (1, 2, 3):
            committing(out, number, f"{number:012d}", number == 3).carry_out(out)
    assert conditions == ["*"] * 3


@pytest.mark.parametrize("first", [True, False], ids=["new table", "table"])
def test_a_commit_whose_answer_is_lost_is_one(server: ObjectServer, first: bool) -> None:
    """An export that is told as failed would be repeated, and its rows would be there twice."""
    out, lost = fresh(server), []
    if not first:
        committing(out, 1, "a" * 12).carry_out(out)

    def lose(handler: Any) -> bool:
        if handler.command == "PUT" and "_delta_log" in handler.path and not lost:
            lost.append(handler.path)
            return bool(handler.lose_answer())
        return False

    with server.failing(lose):
        committing(out, 2, "b" * 12).carry_out(out)
    assert lost and last_export(out) == 2 and opened_delta(out).version() == (0 if first else 1)


def test_a_store_that_refuses_the_commit_ends_the_export(server: ObjectServer, tmp_path: Path) -> None:
    broker, out = PagingBroker(tmp_path / "data"), fresh(server)
    broker.write(20)
    night(TasksHere(), tmp_path / "data", out, (), DELTA)
    before = messages(out)
    broker.write(20)

    def deny(handler: Any) -> bool:
        return handler.command == "PUT" and "_delta_log" in handler.path and bool(handler.refuse(403, "AccessDenied"))

    with server.failing(deny), pytest.raises(FormatRefused) as refused:
        night(TasksHere(), tmp_path / "data", out, (), DELTA)
    said = str(refused.value)
    assert said.startswith(f"{out}: ") and "denies access" in said and "\n" not in said and "\x1b" not in said
    assert ACCESS["AWS_SECRET_ACCESS_KEY"] not in said and messages(out) == before and (out / "_SUCCESS").exists()
    night(TasksHere(), tmp_path / "data", out, (), DELTA)
    assert messages(out) == broker.every


def test_the_command(server: ObjectServer, tmp_path: Path) -> None:
    """With credentials out of the files that other tools use."""
    broker, out = PagingBroker(tmp_path / "data"), fresh(server)
    (tmp_path / "credentials").write_text(
        f"[nightly]\naws_access_key_id = nobody\naws_secret_access_key = {ACCESS['AWS_SECRET_ACCESS_KEY']}\n"
    )
    env = {**ACCESS, "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"), "AWS_PROFILE": "nightly"}
    words = ("export", tmp_path / "data", "--table-format", "delta", "--master", "local[1]")
    for n in range(2):
        broker.write(20)
        running = started(*words, "--to", out.uri, "--incremental", "--format", "json", env=env)
        said, complained = running.communicate(timeout=280)
        assert running.returncode in (0, 1), complained
        assert json.loads(said)["to"] == str(out) and messages(out) == broker.every and last_export(out) == n + 1
    for more, reason in (
        (("--to", out.uri, "--table-format", "parquet", "--incremental"), "holds no parquet table; give"),
        (("--to", out.uri, "--incremental", "--body", "text"), "has other columns or partitions"),
        (("--to", out.uri, "--mode", "append"), "give --incremental instead"),
        (("--to", out.uri, "--table-format", "iceberg"), "give --table-format delta"),
        (("--to", f"s3://brokers/a b?{server.query}"), "without ' '"),
        (("--to", "memory://tables/delta"), "only s3, gs and abfs"),
        (("--to", out.uri, "--mode", "overwrite-partitions", "--partition-by", "page"), "goes with --mode append"),
    ):  # fmt: skip
        refused = call(*words, *more)
        assert refused.status == 2 and reason in refused.err and refused.err.count("\n") == 1, refused
    assert messages(out) == broker.every


def test_azures_key_goes_to_the_library_for_its_account_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does for other URLs."""
    monkeypatch.setenv("AZURE_STORAGE_KEY", "a2V5")
    for account, handed in (("one", True), ("", True), ("another", False)):
        monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", account)
        out = StoredPath(*any_path(f"abfs://container-{account}@one.dfs.core.windows.net/out").parts)
        assert (out.asked_by_others()[1].get("account_key") == "a2V5") is handed
