"""Delta Lake and Iceberg below a URL: as in a folder, and two writers never commit the same version."""

from __future__ import annotations

import json
import re
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
from incremental_exports import PagingBroker, TasksHere, night, page_counts
from made_pages import message, store
from program import EXPORT, call, started
from stored_tables import COMMIT, Stopped, committing, forget, hint_is_last, is_commit, named_files, stopping
from stored_tables import named_messages as messages

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")
pytest.importorskip("deltalake", reason="the extra pagectl[tables] is not installed")
pytest.importorskip("pyiceberg", reason="the extra pagectl[tables] is not installed")
pytest.importorskip("obstore", reason="the extra pagectl[tables] is not installed")

import pyarrow as pa
from pagectl.terminal import spark_progress
from pyiceberg.table import StaticTable

from pagefmt import parallel as ahead
from pagefmt.errors import PageFmtError
from pagefmt.spark import iceberg, session
from pagefmt.spark.format_commit import FormatRefused
from pagefmt.spark.iceberg import metadata_at, version_at
from pagefmt.spark.table_formats import last_export
from pagefmt.storage.remote_outputs import StoredPath
from pagefmt.storage.remote_paths import any_path, store_at
from pagefmt.storage.stores import base
from pagefmt.storage.stores.bucket import BucketStore
from pagefmt.table.table_content import LakeFormat

DELTA, ICEBERG = LakeFormat.DELTA, LakeFormat.ICEBERG
BOTH = pytest.mark.parametrize("form", COMMIT, ids=str)
SECRET = ACCESS["AWS_SECRET_ACCESS_KEY"]


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectServer]:
    with pytest.MonkeyPatch.context() as patch, object_server(patch) as found:
        yield found
    ahead._fork_disabled = False


def fresh(server: ObjectServer) -> StoredPath:
    return StoredPath(*any_path(f"s3://brokers/tables/{uuid4().hex}?{server.query}").parts)


READ = """
import os, sys, pyarrow as pa
from deltalake import DeltaTable
table = DeltaTable(sys.argv[1], storage_options=eval(sys.argv[2])).to_pyarrow_table()
pa.ipc.new_stream(sys.stdout.buffer, table.schema).write_table(table)
sys.stdout.flush()
os._exit(0)  # threads of the library that want the interpreter while it ends abort the process
"""


def read_elsewhere(out: StoredPath) -> pa.Table:
    """Read a table with its format's library.

    Delta Lake's library blocks all other threads, and the server is one of this process; so another process reads it.
    """
    url, options = out.table_location()
    if (out / "metadata").is_dir():
        settings = {"s3.endpoint": options["aws_endpoint_url"], "s3.region": options["aws_region"]}
        return StaticTable.from_metadata(url, settings).scan().to_arrow()
    found = subprocess.run([sys.executable, "-c", READ, url, repr(options)], stdout=subprocess.PIPE, check=True).stdout
    return pa.ipc.open_stream(found).read_all()


@BOTH
def test_nights_beside_a_broker_at_work(server: ObjectServer, form: LakeFormat, tmp_path: Path) -> None:
    broker, out = PagingBroker(tmp_path / "data"), fresh(server)
    nightly = partial(night, TasksHere(), tmp_path / "data", out, ("priority",), form)
    for n in range(4):
        broker.delete(n)
        if n == 2:
            broker.start_anew()
        broker.write(30)
        nightly()
        assert messages(out) == broker.every and last_export(out) == n + 1
    broker.delete(1)
    assert page_counts(nightly())["deleted"] == 1 and last_export(out) == 5
    table = read_elsewhere(out)
    assert Counter(zip(table["page"].to_pylist(), table["id"].to_pylist(), strict=True)) == broker.every
    assert not [*out.rglob("_temporary")]


ADDRESSES = ("plain", "a/b=c%2F ~ü\n", "..", "long " + "ü~" * 200)


@BOTH
def test_partitions_have_the_values_of_folders(server: ObjectServer, form: LakeFormat, tmp_path: Path) -> None:
    for n, address in enumerate(ADDRESSES):
        store(tmp_path / "data" / "paging", f"s{n}", {1: message(n, address, "text")}, f"folder{n}")
    out = fresh(server)
    night(TasksHere(), tmp_path / "data", out, ("address",), form)
    table = read_elsewhere(out)
    assert dict(zip(table["id"].to_pylist(), table["address"].to_pylist(), strict=True)) == dict(enumerate(ADDRESSES))


@BOTH
def test_nights_that_are_killed_add_nothing_twice(server: ObjectServer, form: LakeFormat, tmp_path: Path) -> None:
    killed_nights(server, form, tmp_path, 5)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@BOTH
def test_nights_that_are_killed_anywhere_add_nothing_twice(
    server: ObjectServer, form: LakeFormat, tmp_path: Path
) -> None:
    killed_nights(server, form, tmp_path, 1)


def killed_nights(server: ObjectServer, form: LakeFormat, tmp_path: Path, step: int) -> None:
    """Stop exports before the n-th change of the store, for rising n, and check the table after each."""
    broker, out = PagingBroker(tmp_path / "data"), fresh(server)
    out = StoredPath(*any_path(server.direct(out.uri)).parts)
    came = Counter[bool]()
    for changes in range(0, 40, step):
        broker.write(5)
        before = last_export(out)
        with stopping(changes, *([COMMIT[form]] if form is DELTA else [])) as left:
            night(TasksHere(), tmp_path / "data", out, (), form)
        forget(out)
        committed = last_export(out) > before
        came[committed] += 1
        assert_readers_find_all(out)
        if committed:
            assert messages(out) == broker.every
        elif before:
            assert not messages(out) - broker.every
        if changes % 2:
            night(TasksHere(), tmp_path / "data", out, (), form)
            assert messages(out) == broker.every and not [*out.rglob("_temporary")]
            there = sorted(path.name for path in out.glob("part-*"))
            assert there == named_files(out), "no file without a commit"
        if left[0] >= 0:
            break
    assert left[0] >= 0 and came[True] and came[False] > 3


def assert_readers_find_all(out: StoredPath) -> None:
    """Assert that the version that an Iceberg table's hint names is complete.

    Unless a run is unfinished, assert also that every snapshot file belongs to a version.
    """
    hint = out / "metadata" / "version-hint.text"
    if hint.exists():
        assert all((out / name).exists() for name in named_files(out, int(hint.read_text())))
    if hint.exists() and not [*out.rglob("_temporary")]:
        versions = [metadata_at(out, n) for n in range(1, version_at(out) + 1)]
        lists = {each.manifest_list for metadata in versions for each in metadata.snapshots}
        found = {f"{versions[0].location}/metadata/{path.name}" for path in (out / "metadata").glob("snap-*")}
        assert found == lists


@BOTH
def test_the_first_night_that_is_killed_is_undone_by_the_command(
    server: ObjectServer, monkeypatch: pytest.MonkeyPatch, form: LakeFormat, tmp_path: Path
) -> None:
    # The files exist but the commit does not; they must not be taken for a table of another format.
    (tmp_path / "data").mkdir()
    PagingBroker(tmp_path / "data").write(5)
    out = fresh(server)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BucketStore, "remove", None)  # nor can it be undone at once
        patch.setattr(*COMMIT[form], None)
        with pytest.raises(TypeError):
            night(TasksHere(), tmp_path / "data", out, (), form)
    assert [*out.glob("part-*")] and [*out.rglob("_temporary")]
    forget(out)
    monkeypatch.setattr(session, "running", lambda *_: pytest.fail("came so far"))
    words = ("--incremental", "--table-format", form)
    with pytest.raises(pytest.fail.Exception, match="came so far"):
        call(*EXPORT, tmp_path / "data", "--to", out.uri, *words)
    assert not [*out.rglob("*")]


@pytest.mark.parametrize("far", [True, False], ids=["URL", "folder"])
def test_a_first_version_of_iceberg_without_its_hint_counts(server: ObjectServer, far: bool, tmp_path: Path) -> None:
    # If a run is killed between version and hint, the next one must not delete files that the version names.
    broker, out = PagingBroker(tmp_path / "data"), fresh(server) if far else tmp_path / "out"
    broker.write(20)
    out.mkdir(parents=True)
    nightly = partial(night, TasksHere(), tmp_path / "data", out, (), ICEBERG)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stopped):
        patch.setattr(iceberg, "note_version", stop)
        nightly()
    assert not (out / "metadata" / "version-hint.text").exists() and last_export(out) == 1
    nightly()
    assert messages(out) == broker.every and hint_is_last(out)


def stop(*_: Any) -> None:
    raise Stopped


@pytest.mark.parametrize("last", [True, False], ids=["in front of its last request", "before"])
@pytest.mark.parametrize("first", [True, False], ids=["new table", "table"])
@BOTH
def test_of_two_commits_one_is_refused(
    server: ObjectServer, monkeypatch: pytest.MonkeyPatch, form: LakeFormat, first: bool, last: bool
) -> None:
    # Both have seen the same version. After a pause the claim cannot exclude that, but the store does.
    out, meanwhile = fresh(server), [1]
    if not first:
        committing(out, 1, "a" * 12, form=form)()
    usual = getattr(*COMMIT[form])

    def overtake() -> bool:
        if meanwhile:
            meanwhile.clear()
            committing(out, 2, "b" * 12, form=form)()
        return False

    def overtaken(*given: Any) -> None:
        overtake()
        usual(*given)

    if not last:
        monkeypatch.setattr(*COMMIT[form], overtaken)
    with (
        server.failing(lambda handler: is_commit(handler) and overtake()) if last else nullcontext(),
        pytest.raises(FormatRefused, match="another program has committed to it meanwhile; export again") as refused,
    ):
        committing(out, 2, "c" * 12, form=form)()
    assert not meanwhile and str(refused.value).startswith(f"{out}: ")
    names = [] if first else [f"part-00000-0-{'a' * 12}.parquet"]
    assert named_files(out) == [*names, f"part-00000-0-{'b' * 12}.parquet"]


@BOTH
def test_every_commit_is_made_on_condition(
    server: ObjectServer, monkeypatch: pytest.MonkeyPatch, form: LakeFormat
) -> None:
    # Whatever the environment says, a commit must carry the condition that the version is new, and credentials.
    out, conditions = fresh(server), []
    monkeypatch.setenv("AWS_S3_ALLOW_UNSAFE_RENAME", "true")
    monkeypatch.setenv("AWS_CONDITIONAL_PUT", "disabled")

    def note(handler: Any) -> bool:
        if is_commit(handler):
            conditions.append((handler.headers.get("If-None-Match"), "Authorization" in handler.headers))
        return False

    with server.failing(note):
        for number in (1, 2, 3):
            committing(out, number, f"{number:012d}", number == 3, form)()
    assert conditions == [("*", True)] * 3


@pytest.mark.parametrize("first", [True, False], ids=["new table", "table"])
@BOTH
def test_a_commit_whose_answer_is_lost_is_one(server: ObjectServer, form: LakeFormat, first: bool) -> None:
    # An export reported as failed would be repeated, and its rows would be in the table twice.
    out, lost = fresh(server), []
    if not first:
        committing(out, 1, "a" * 12, form=form)()

    def lose(handler: Any) -> bool:
        if is_commit(handler) and not lost:
            lost.append(handler.path)
            return bool(handler.lose_answer())
        return False

    with server.failing(lose):
        committing(out, 2, "b" * 12, form=form)()
    assert lost and last_export(out) == 2
    assert named_files(out) == [f"part-00000-0-{name * 12}.parquet" for name in ("b" if first else "ab")]


@BOTH
def test_a_store_that_refuses_the_commit_ends_the_export(
    server: ObjectServer, form: LakeFormat, tmp_path: Path
) -> None:
    broker, out = PagingBroker(tmp_path / "data"), fresh(server)
    broker.write(20)
    night(TasksHere(), tmp_path / "data", out, (), form)
    before = messages(out)
    broker.write(20)

    def deny(handler: Any) -> bool:
        return is_commit(handler) and bool(handler.refuse(403, "AccessDenied"))

    with server.failing(deny), pytest.raises((FormatRefused, OSError)) as refused:
        night(TasksHere(), tmp_path / "data", out, (), form)
    said = str(refused.value)
    assert str(out) in said and "denies access" in said and "\n" not in said and "\x1b" not in said
    assert SECRET not in said and server.address not in said
    assert messages(out) == before and (out / "_SUCCESS").exists()
    night(TasksHere(), tmp_path / "data", out, (), form)
    assert messages(out) == broker.every


SAID = {
    "HTTP error: error sending request": lambda handler: handler.hang_up(),
    "Server returned non-2xx status code: 500 Internal Server Error": lambda handler: answer(
        handler, 500, b"<html>http://10.0.0.1/?key=hush-hush</html>"
    ),
    "SlowDown": lambda handler: answer(
        handler, 503, b"<?xml version='1.0'?>\n<Error><Code>SlowDown</Code><Message>http://10.0.0.1</Message></Error>"
    ),
}


@pytest.mark.parametrize("reason", SAID)
def test_what_a_store_says_of_an_iceberg_commit_is_short(
    server: ObjectServer, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    monkeypatch.setattr(base, "RETRY_SECONDS", 0.0)
    store_at.cache_clear()
    version = fresh(server) / "v1.metadata.json"
    with (
        server.failing(lambda handler: is_commit(handler) and SAID[reason](handler)),
        pytest.raises(OSError, match=re.escape(f"] the store fails: {reason} (tried 1 time in 0 s)") + "$"),
    ):
        version.create(b"{}")
    assert not version.exists()


def answer(handler: Any, status: int, content: bytes) -> bool:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)
    return True


def test_an_iceberg_table_has_neither_settings_nor_credentials(server: ObjectServer, tmp_path: Path) -> None:
    broker, out = PagingBroker(tmp_path / "data"), fresh(server)
    broker.write(5)
    night(TasksHere(), tmp_path / "data", out, ("priority",), ICEBERG)
    named = str(out)
    metadata = metadata_at(out)
    assert metadata.location == named and metadata.current_snapshot().manifest_list.startswith(f"{named}/metadata/")
    for path in (out / "metadata").iterdir():
        content = path.read_bytes()
        assert not any(each.encode() in content for each in (server.address, "endpoint", SECRET)), path


def test_credentials_of_an_iceberg_commit_are_those_of_amazons_tools(
    server: ObjectServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The credentials come from a profile; the library that sends the request reads no files.
    (tmp_path / "credentials").write_text(f"[nightly]\naws_access_key_id = filed\naws_secret_access_key = {SECRET}\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    seen = []

    def note(handler: Any) -> bool:
        if is_commit(handler):
            seen.append(handler.headers.get("Authorization", "").partition("/")[0].rpartition("=")[2])
        return False

    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))

    def commit() -> None:
        store_at.cache_clear()
        (fresh(server) / "v1.metadata.json").create(b"{}")

    with server.failing(note):
        monkeypatch.setenv("AWS_PROFILE", "nightly")
        commit()
        monkeypatch.setenv("AWS_PROFILE", "other")
        with pytest.raises(PageFmtError, match=r"no credentials: .*other"):
            commit()
        monkeypatch.delenv("AWS_PROFILE")
        monkeypatch.delenv("AWS_SHARED_CREDENTIALS_FILE")
        commit()
        monkeypatch.setenv("AWS_PROFILE", "nightly")
        monkeypatch.setitem(sys.modules, "botocore.session", None)
        with pytest.raises(PageFmtError, match=r"s3://brokers: the credentials of .* need botocore; do: pip install"):
            commit()
    assert seen == ["filed", ""]


def test_the_command(server: ObjectServer, tmp_path: Path) -> None:
    # Credentials come from the files that other tools use.
    broker = PagingBroker(tmp_path / "data")
    (tmp_path / "credentials").write_text(f"[nightly]\naws_access_key_id = nobody\naws_secret_access_key = {SECRET}\n")
    env = {name: value for name, value in ACCESS.items() if "KEY" not in name}
    env |= {"AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"), "AWS_PROFILE": "nightly"}
    broker.write(20)
    for form in COMMIT:
        out = fresh(server)
        words = (*EXPORT, tmp_path / "data", "--table-format", form, "--master", "local[1]")
        for _ in range(2):  # there is nothing new for the second one, which starts no Spark
            running = started(*words, "--to", out.uri, "--incremental", "--format", "json", env=env)
            said, complained = running.communicate(timeout=280)
            assert running.returncode in (0, 1), complained
            assert json.loads(said)["to"] == str(out) and messages(out) == broker.every and last_export(out)
        for more, reason in (
            (("--to", out.uri, "--table-format", "parquet", "--incremental"), "contains no parquet table; give"),
            (("--to", out.uri, "--incremental", "--body", "text"), "has other columns or partitions"),
            (("--to", out.uri, "--mode", "append"), "give --incremental instead"),
            (("--to", f"s3://brokers/a b?{server.query}"), "without ' '"),
            (("--to", "hdfs://here/delta"), "only s3, gs and abfs"),
            (("--to", out.uri, "--mode", "overwrite-partitions", "--partition-by", "page"), "works with --mode append"),
        ):
            refused = call(*words, *more)
            assert refused.status == 2 and reason in refused.err and refused.err.count("\n") == 1, refused
        assert messages(out) == broker.every


def test_a_mode_replaces_the_rows_of_iceberg_or_adds(
    server: ObjectServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Earlier versions stay in the table's history.
    monkeypatch.setattr(session, "running", lambda *_: nullcontext(TasksHere()))
    monkeypatch.setattr(spark_progress, "spark_progress", lambda *_: nullcontext())
    broker, out = PagingBroker(tmp_path / "data"), fresh(server)
    broker.write(20)
    words = (
        "export",
        "--in",
        "pages",
        tmp_path / "data",
        "--to",
        out.uri,
        "--table-format",
        "iceberg",
        "--partition-by",
        "priority",
    )
    for more, times in (
        ((), 1),
        (("--mode", "append"), 2),
        (("--mode", "overwrite", "--incremental"), 1),
        (("--incremental",), 1),
    ):
        assert call(*words, *more).status < 2
        assert messages(out) == Counter(dict.fromkeys(broker.every, times))
    assert len(named_files(out, 2)) == 2 * len(named_files(out, 1))
    refused = call(*words, "--mode", "append")
    assert refused.status == 2 and "give --incremental instead" in refused.err and refused.err.count("\n") == 1


def azure_options(url: str) -> dict[str, str]:
    store_at.cache_clear()
    return StoredPath(*any_path(url).parts).table_location()[1]


def test_who_is_signed_in_to_azure_needs_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Its command line tool is used if it is signed in, otherwise the machine's identity.
    url = "abfs://container@signed.dfs.core.windows.net/out"
    monkeypatch.setenv("AZURE_CONFIG_DIR", str(tmp_path))
    for text, expected in (
        ("no JSON", "managed_identity"),
        ('{"subscriptions": []}', "managed_identity"),
        ('{"subscriptions": [{}]}', "azure_cli"),
    ):
        (tmp_path / "azureProfile.json").write_text("\ufeff" + text)
        assert azure_options(url)["credential_type"] == expected
    for name in ("CLIENT_SECRET", "CLIENT_ID", "TENANT_ID"):
        monkeypatch.setenv(f"AZURE_{name}", "hush")
    assert azure_options(url)["credential_type"] == "client_secret"
    monkeypatch.setenv("AZURE_STORAGE_SAS_TOKEN", "sv=1&sig=x")
    assert azure_options(url).items() >= {("credential_type", "sas_token"), ("sas_key", "sv=1&sig=x")}


def test_azures_key_goes_to_the_library_for_its_account_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    # The library itself would take a token from the environment.
    monkeypatch.setenv("AZURE_STORAGE_KEY", "a2V5")
    for account, handed in (("one", True), ("", True), ("another", False)):
        monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", account)
        options = azure_options("abfs://container@one.dfs.core.windows.net/out")
        assert (options.get("account_key") == "a2V5", options["credential_type"] == "access_key") == (handed, handed)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "one")
    assert azure_options("az://container/out").items() >= {("account_name", "one"), ("account_key", "a2V5")}
