"""Brokers read where no local path leads: equal to the local ones, and told where something is wrong."""

from __future__ import annotations

import errno
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest
from far_inputs import ACCESS, PACKED, ObjectServer, object_server, packed
from far_rows import READING, assert_equal, read
from golden_cases import GoldenCase, cases
from incremental_exports import night_here
from made_pages import FOLDER, message
from program import EXPORT, call, started

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

from pagefmt import parallel as ahead
from pagefmt.directory.fleet import FleetBroker, absolute, fleet_of, looked_for
from pagefmt.directory.locate import DataLocation, LocateError, locate
from pagefmt.errors import PageFmtError
from pagefmt.spark.options import SourceOptions, TableSpec
from pagefmt.spark.rows import BrokerFailure, LostRows, rows_of
from pagefmt.spark.source import PageFiles
from pagefmt.spark.stream import PageFilesStream
from pagefmt.spark.survey import surveyed
from pagefmt.spark.table import TableTarget, surveys, write_by_tasks
from pagefmt.spark.table_folder import table_at
from pagefmt.storage import remote_paths as far_paths
from pagefmt.storage.files import HeldFolder
from pagefmt.storage.remote_paths import any_path, uri_of
from pagefmt.storage.stores import base
from pagefmt.storage.stores.hadoop import HadoopStore
from pagefmt.table.table_body import TableBody
from pagefmt.table.table_content import TableContent

MIXED = GoldenCase("2.56.0", "journal-mix")
SOME = (MIXED, GoldenCase("2.56.0", "multicast-acks"), GoldenCase("artemis-1.5.6", "torn"))


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectServer]:
    with pytest.MonkeyPatch.context() as patch, object_server(patch) as found:
        yield found
    ahead._fork_disabled = False


def stored(server: ObjectServer, case: GoldenCase, tmp_path: Path) -> list[str]:
    """Upload a case as objects and as one tar archive, and return both URLs."""
    name = f"{case.version}/{case.name}"
    urls = server.put(case.data(), name), server.put(packed(case.data(), tmp_path, "tar"), f"{name}.tar")
    return list(map(server.direct, urls))


def test_all_tables_are_the_local_ones(server: ObjectServer, tmp_path: Path) -> None:
    assert_equal(MIXED, [*stored(server, MIXED, tmp_path), *(packed(MIXED.data(), tmp_path, form) for form in PACKED)])


@pytest.mark.parametrize("case", SOME[1:], ids=str)
def test_messages_are_the_local_ones(server: ObjectServer, case: GoldenCase, tmp_path: Path) -> None:
    assert_equal(case, stored(server, case, tmp_path), [TableContent.MESSAGES])
    assert_equal(case, (packed(case.data(), tmp_path, form) for form in PACKED))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("case", cases(), ids=str)
def test_every_case_is_the_local_one(server: ObjectServer, case: GoldenCase, tmp_path: Path) -> None:
    # All cases of all versions: pytest -m slow tests/cli/test_far_inputs.py
    assert_equal(case, (packed(case.data(), tmp_path, form) for form in PACKED))
    assert_equal(case, stored(server, case, tmp_path), [TableContent.MESSAGES])


@pytest.mark.parametrize(
    ("url", "instead"),
    [
        ("sftp://here/x", "mount it with sshfs, or copy"),
        ("webhdfs://here:9870/x", "give hdfs://HOST:PORT/…"),
        ("https://here/x", "download it"),
        ("memory://x/y", "copy the directory to this machine, or mount it"),
    ],
)
def test_schemes_without_a_store_say_what_to_do_instead(
    url: str, instead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (("pages", "ls", url), (*EXPORT, url, "--to", "out"), (*EXPORT, MIXED.data(), "--to", url)):
        answer = call(*words)
        assert (answer.status, answer.err.count("\n")) == (2, 1), answer
        assert f"{url.partition('/')[0]}//…: such URLs are not supported" in answer.err and instead in answer.err
    assert not list(tmp_path.iterdir())


def test_a_page_deleted_between_listing_and_reading_is_missed(server: ObjectServer) -> None:
    url = server.put(SOME[1].data(), "deleted")
    rows, told = read(url)
    gone: list[str] = []

    def delete(handler: Any) -> bool:
        """Delete the first page for which a HEAD request comes."""
        if handler.command == "HEAD" and handler.path.endswith(".page") and not gone:
            gone.append(handler.path)
            server.delete(handler.path)
        return False

    with server.failing(delete):
        fewer, lost = read(url)
    assert gone and 0 < len(fewer) < len(rows) and told[0] is None
    (missing,) = [each for each in lost if isinstance(each, LostRows)]
    assert gone[0].endswith(missing.file) and missing.offset == 0


@pytest.mark.parametrize("form", ["", ".tar"])
def test_a_page_replaced_between_two_requests_is_told(server: ObjectServer, tmp_path: Path, form: str) -> None:
    # The new page has the same size, so half of it would be read from each. The loss depends on the timing.
    sources = []
    for body in "ab":
        folder = tmp_path / body / "data" / "paging" / FOLDER
        folder.mkdir(parents=True)
        for page in (1, 2):
            records = (message(page * 10_000 + n, "orders", body * 1000) for n in range(4000))
            (folder / f"{page:09d}.page").write_bytes(b"".join(records))
        data = tmp_path / body / "data"
        sources.append(packed(data, tmp_path / body, "tar") if form else data / "paging" / FOLDER / "000000002.page")
    name = f"replaced{form}"
    known = [read(str(tmp_path / body / "data"))[0] for body in "ab"]
    url = server.put(sources[0] if form else tmp_path / "a" / "data", name)
    assert read(url)[0] == known[0]
    reads: list[str] = []

    def replace(handler: Any) -> bool:
        """Replace the page or archive while its first read of more than 1 MiB is being answered."""
        start, _, end = handler.headers.get("Range", "=0-0").partition("=")[2].partition("-")
        if handler.command == "GET" and int(end) - int(start) > 1 << 20 and handler.path.endswith(("2.page", ".tar")):
            reads.append(handler.path)
            if len(reads) == 1:
                key = name if form else f"{name}/paging/{FOLDER}/000000002.page"
                return bool(handler.answer_late(lambda: server.put_object(key, sources[1].read_bytes())))
        return False

    with server.failing(replace):
        fewer, told = read(url)
    assert reads
    lost = {each.page: each.number for each in told if isinstance(each, LostRows)}
    assert lost, told
    for page in (1, 2):
        of_page, *contents = ([row for row in each if f"'page': {page}," in row] for each in (fewer, *known))
        kept = lost.get(page, 4000)
        assert kept is not None and of_page in [each[:kept] for each in contents], (page, told)


def test_what_may_pass_is_asked_again(server: ObjectServer) -> None:
    # Every third request finds the store busy, and every fifth loses its connection.
    url = server.put(SOME[0].data(), "busy")
    expected = read(url)
    count = 0

    def fail(handler: Any) -> bool:
        nonlocal count
        count += 1
        return (count % 3 == 0 and handler.refuse(503, "SlowDown")) or (count % 5 == 0 and handler.hang_up())

    with server.failing(fail):
        assert read(url) == expected
    assert count > 30


def test_a_page_that_the_store_does_not_give_is_damage(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "RETRY_SECONDS", 0.3)
    url = server.put(SOME[1].data(), "denied")
    rows, _ = read(url)
    with server.failing(lambda handler: handler.path.endswith("2.page") and handler.refuse(403, "AccessDenied")):
        fewer, told = read(url)
    assert 0 < len(fewer) < len(rows) and told[0] is None
    assert {each.page for each in told if isinstance(each, LostRows)} == {2, 12}


@pytest.mark.parametrize(
    ("status", "word", "said"),
    [
        (403, "InvalidAccessKeyId", "access"),
        (403, "SignatureDoesNotMatch", "secret key"),
        (403, "AccessDenied", "access"),
        (404, "NoSuchBucket", "o such"),
    ],
)
def test_no_store_is_empty_because_it_does_not_answer(
    server: ObjectServer, monkeypatch: pytest.MonkeyPatch, status: int, word: str, said: str
) -> None:
    assert_not_empty(server, monkeypatch, status, word, said)


def test_no_store_is_empty_because_it_fails(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_not_empty(server, monkeypatch, 500, "InternalError", "(tried 1 time in")


def assert_not_empty(server: ObjectServer, monkeypatch: pytest.MonkeyPatch, status: int, word: str, said: str) -> None:
    monkeypatch.setattr(base, "RETRY_SECONDS", 0.1)
    url = server.put(SOME[1].data(), "silent")
    with server.failing(lambda handler: handler.refuse(status, word)), pytest.raises((PageFmtError, OSError)) as caught:
        read(url)
    text = str(caught.value)
    assert said in text and "hush" not in text and "endpoint" not in text and "\n" not in text
    place = absolute(locate(fleet_of([url])[0].path))
    for part in ("journal", "paging"):
        with server.failing(lambda each, part=part: f"silent/{part}" in each.path and each.refuse(status, word)):
            found = surveyed(FleetBroker("broker", place), TableSpec.now(content=TableContent.MESSAGES))
        assert found.failed or (found.wrong and found.remarks), part


def test_credentials_stand_in_no_url() -> None:
    for url in (
        "s3://key:hush-hush@bucket/x",
        "s3://key@bucket/x",
        "s3://bucket/x?secret_key=hush-hush",
        "gs://a:hush@b/x",
    ):
        with pytest.raises(PageFmtError) as caught:
            fleet_of([url])
        assert "hush" not in str(caught.value)
        if "?" not in url:
            answer = call(*EXPORT, MIXED.data(), "--to", url)
            assert answer.status == 2 and "hush" not in answer.err and "credentials" in answer.err
    for port in ("1x", "99999999"):
        with pytest.raises(PageFmtError, match="is HOST or HOST:PORT"):
            fleet_of([f"abfs://a@b.dfs.core.windows.net/x?blob_storage_authority=127.0.0.1:{port}"])
    (entry,) = fleet_of(["s3a://bucket/a b/c?endpoint_override=127.0.0.1:1&scheme=http"])
    assert str(entry.path) == entry.name == "s3a://bucket/a b/c" and "127.0.0.1" in uri_of(entry.path)


def test_a_store_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    # Some libraries raise no OSError, for example Arrow for Azure.
    monkeypatch.setattr(base, "RETRY_SECONDS", 0.1)
    url = "s3://bucket/x?endpoint_override=127.0.0.1:1&scheme=http&region=here"
    for words in ((*EXPORT, MIXED.data(), "--to", url), ("pages", "ls", url)):
        answer = call(*words)
        assert answer.status == 2 and answer.err.startswith("pagectl: s3://bucket/x: the store fails: "), answer

    store = HadoopStore(_Hadoop(errno.EACCES), "", "hdfs://here")

    def failed(*_: object) -> None:
        raise pa.ArrowException("Unknown error: no token")

    with pytest.raises(OSError, match=r"the store fails: Unknown error: no token \(tried"):
        store.ask(failed)

    def untold(*_: object) -> None:
        raise OSError(255, "HDFS list directory failed. Detail: [errno 255] Unknown error 255")

    with pytest.raises(OSError, match=r"HDFS list directory failed\. .* standard error \(tried"):
        store.ask(untold)


class _Hadoop:
    """As pyarrow tells of HDFS: all that it does not get is not there, and a file that cannot be deleted has failed."""

    type_name = "hdfs"

    def __init__(self, why: int) -> None:
        self.why = why

    def get_file_info(self, asked: Any) -> Any:
        if isinstance(asked, str):
            return pa.fs.FileInfo(asked, pa.fs.FileType.NotFound)
        if asked.allow_not_found:
            return []
        raise OSError(self.why, "HDFS list directory failed")

    def _fails(self, *_: str) -> None:
        raise OSError(errno.EIO, "HDFS delete failed")

    delete_file = move = _fails


def test_what_hdfs_does_not_tell_is_not_taken_for_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "RETRY_SECONDS", 0.1)
    for why, error in ((errno.EACCES, PermissionError), (255, OSError), (errno.ENOENT, FileNotFoundError)):
        for asked in ("status", "entries", "remove", "move"):
            store = HadoopStore(_Hadoop(why), "", "hdfs://here")
            with pytest.raises(error) as told:
                list(getattr(store, asked)(*("x", "y")[: 1 + (asked == "move")]))
            assert type(told.value) is error, (why, asked)
    store = HadoopStore(_Hadoop(errno.EACCES), "", "")
    with pytest.raises(PermissionError):
        list(store.entries("x", deep=True))


def test_a_user_in_front_of_hdfs_is_refused() -> None:
    # Pyarrow ignores a user in the URL.
    with pytest.raises(PageFmtError, match="as user=NAME"):
        fleet_of(["hdfs://somebody@here:8020/broker"])


@pytest.mark.parametrize("case", SOME, ids=str)
def test_reading_commands_answer_as_for_a_local_directory(
    server: ObjectServer, case: GoldenCase, tmp_path: Path
) -> None:
    data = case.copy(tmp_path / "local")
    url = server.put(data, f"commands/{case.version}/{case.name}")
    for words in READING:
        told = call(*words, data)
        # a longer path breaks its line elsewhere
        expected = told.status, told.out.replace(str(data), "DIR").split(), told.err.replace(str(data), "DIR")
        for given in (packed(data, tmp_path, "tar.gz") / "broker" / "data", url):
            far = call(*words, given)
            shown = str(given).partition("?")[0]
            notes = far.err.replace(shown, "DIR").splitlines(keepends=True)
            err = "".join(line for line in notes if "lock cannot be seen" not in line and "is compressed" not in line)
            assert (far.status, far.out.replace(shown, "DIR").split(), err) == expected, words
    assert ahead._fork_disabled  # no process is forked


def test_patterns_and_lists_name_objects(server: ObjectServer, tmp_path: Path) -> None:
    for name in ("one", "two"):
        server.put(SOME[2].data(), f"fleet/{name}/data")
    found = fleet_of([f"s3://brokers/fleet/*/data?{server.query}"])
    assert [each.name for each in found] == ["s3://brokers/fleet/one/data", "s3://brokers/fleet/two/data"]
    packed(SOME[2].data(), tmp_path, "tar")
    listing = tmp_path / "fleet.csv"
    listing.write_text(f"name,path\na,{uri_of(found[0].path)}\nb,backup.tar/broker\n")
    assert [locate(each.path).kind for each in fleet_of([], listing)] == ["a data directory"] * 2
    with pytest.raises(PageFmtError, match="no path matches"):
        fleet_of([f"s3://brokers/fleet/*/nothing?{server.query}"])


def test_an_object_that_cannot_be_seen_is_told(server: ObjectServer) -> None:
    # Pyarrow lists a key with two slashes as the folder itself, which must not count as an empty folder.
    url = server.put(SOME[2].data(), "slashes")
    server.put_object("slashes/paging//000000001.page", b"{")
    answer = call("pages", "ls", url)
    assert answer.status == 2 and "two slashes" in answer.err and answer.err.count("\npagectl") <= 1, answer


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3:///x", "s3:///…: names no bucket; give s3://BUCKET/…"),
        ("s3a://", "s3a:///…: names no bucket; give s3://BUCKET/…"),
        ("s3://?region=here", "s3:///…: names no bucket"),
        ("gs://anonymous@/x", "gs:///…: names no bucket"),
        ("abfs:////x/y", "abfs:///…: names no container; give abfs://CONTAINER@ACCOUNT.dfs"),
        ("abfs://account.dfs.core.windows.net/x", "abfs://account.dfs.core.windows.net: names no container"),
        ("abfs://container/x", "abfs://container: "),
        ("hdfs:///x", "hdfs:///…: names no host; give hdfs://HOST:PORT/…"),
        ("hdfs://:8020/x", "hdfs:///…: names no"),
    ],
)
def test_a_url_that_names_no_bucket_is_taken_for_no_other(
    url: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (("pages", "ls", url), ("messages", "decode", url), (*EXPORT, MIXED.data(), "--to", url)):
        answer = call(*words)
        assert (answer.status, answer.err.count("\n")) == (2, 1) and f"pagectl: {said}" in answer.err, answer
    answer = call("messages", "check", url)
    assert answer.status == 3 and answer.out.startswith("MESSAGES UNKNOWN - ") and not answer.err
    assert not list(tmp_path.iterdir())


def test_a_bucket_that_is_not_there_is_told_from_a_folder_that_is_not(server: ObjectServer, tmp_path: Path) -> None:
    for path in ("", "/x", "/x/backup.tar", "/x/*"):
        url = f"s3://nowhere{path}?{server.query}"
        for words in (("pages", "ls", url), (*EXPORT, url, "--to", tmp_path / "out")):
            answer = call(*words)
            assert answer.status == 2 and answer.err.count("\n") == 1
            assert answer.err.startswith(f"pagectl: s3://nowhere{path}: no such bucket in this store; check"), answer
    url = f"s3://brokers/nowhere?{server.query}"
    assert call("pages", "ls", url).err.startswith("pagectl: s3://brokers/nowhere: No such file")
    far_paths.store_at.cache_clear()
    with server.failing(lambda handler: handler.path == "/brokers" and handler.refuse(403, "AccessDenied")):
        assert call("pages", "ls", url).err.startswith("pagectl: s3://brokers/nowhere: No such file")


def test_names_of_folders_that_are_objects_as_well_hide_nothing(server: ObjectServer) -> None:
    # Consoles and other tools create such objects, with or without a slash at the end.
    url = server.direct(server.put(SOME[1].data(), "marked"))
    (store,) = (SOME[1].data() / "paging").iterdir()
    expected = {words: call(*words, url) for words in READING}
    for key in ("marked/", "marked/paging/", f"marked/paging/{store.name}/", "marked/journal/", "marked"):
        server.put_object(key)
    for words in READING:
        answer = call(*words, url)
        assert (answer.status, answer.out) == (expected[words].status, expected[words].out), words
    server.put_object(f"marked/paging/{store.name}")
    server.put_object(f"marked/paging/{store.name}/000000002.page/below", b"x")
    server.put_object(f"marked/paging/{store.name}/000000099.page/")
    for words in READING:
        answer = call(*words, url)
        if words[1] in ("decode", "find") or words == ("messages", "ls"):
            assert (answer.status, answer.out) == (1, expected[words].out), words
            assert "is not a page: the broker does not start" in answer.err, words
    answer = call("pages", "verify", url)
    assert answer.status == 1 and "12 pages, 89 records" in answer.out and answer.out.count("bad-page-name") == 2


def test_a_journal_file_that_the_store_does_not_give_is_told_in_words(server: ObjectServer) -> None:
    url = server.put(MIXED.data(), "worded")
    with server.failing(lambda handler: "activemq-data" in handler.path and handler.refuse(403, "AccessDenied")):
        answer = call("pages", "ls", url)
    assert answer.status == 1 and "unreadable: the store denies access" in answer.err and "Errno" not in answer.err


def test_a_url_of_an_unknown_kind_is_no_local_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = call("pages", "ls", "foo://here/x")
    assert answer.status == 2 and answer.err.startswith("pagectl: foo://…: such URLs are not supported; s3")
    monkeypatch.chdir(tmp_path)
    SOME[2].copy(tmp_path / "foo:" / "here")
    assert call("pages", "ls", "foo:/here").status in (0, 1)


def test_a_list_lies_below_a_url_as_well(server: ObjectServer, tmp_path: Path) -> None:
    # Relative paths in the list are relative to its URL; local ones must be absolute.
    server.put(SOME[2].data(), "listed/one/data")
    (tmp_path / "fleet.csv").write_text(f"name,path\na,one/data\nb,{SOME[2].data()}\n")
    listing = server.put(tmp_path / "fleet.csv", "listed/fleet.csv")
    found = fleet_of([], Path(listing))
    assert [str(each.path) for each in found] == ["s3://brokers/listed/one/data", str(SOME[2].data())]
    assert [locate(each.path).kind for each in found] == ["a data directory"] * 2
    answer = call(*EXPORT, "--brokers", listing.replace("fleet.csv", "none.csv"), "--to", tmp_path / "out")
    assert answer.status == 2 and "s3://brokers/listed/none.csv" in answer.err and answer.err.count("\n") == 1


def test_brokers_below_urls_are_looked_for_at_once(server: ObjectServer) -> None:
    # Sixteen are located at a time; a failure is reported when its broker is asked for.
    server.put(SOME[2].data(), "many/data")
    paths = [fleet_of([f"s3://brokers/many/data?{server.query}"])[0].path] * 3
    paths += [paths[0].with_name(f"none-{n}") for n in range(40)]
    at_once, most = [0], [0]

    def slowly(path: Path) -> DataLocation:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        time.sleep(0.05)
        try:
            return locate(path)
        finally:
            at_once[0] -= 1

    with looked_for(paths, slowly) as find:
        assert find(paths[0]) == locate(paths[0])
        for path in paths[3:]:
            with pytest.raises(LocateError):
                find(path)
    assert 4 < most[0] <= 16


def test_other_commands_say_that_they_want_a_local_directory(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.put(SOME[2].data(), "plain")
    monkeypatch.chdir(tmp_path)
    for words in (("pages", "compact"), ("pages", "salvage", "--out", "x"), ("disk", "usage"), ("journal", "verify")):
        answer = call(*words, url)
        assert answer.status == 2 and "local directories" in answer.err and answer.err.count("\n") == 1, answer.err
    assert not list(tmp_path.iterdir())


def test_export_and_data_source_on_spark(
    server: ObjectServer, spark_context: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tasks run in workers of their own, which know only the path.
    from pyspark.sql import SparkSession

    for name, value in ACCESS.items():  # Spark was started before the server's credentials were set
        monkeypatch.setitem(spark_context.environment, name, value)

    url = server.put(MIXED.data(), "spark")
    expected = read(str(MIXED.data()), TableContent.MESSAGES)[0]
    archive = packed(MIXED.data(), tmp_path, "tar.zst")
    spec = TableSpec.now(body=TableBody.BASE64)
    for given in (url, str(archive)):
        broker = FleetBroker("broker", absolute(locate(fleet_of([given])[0].path)))
        (found,) = surveys(spark_context, [broker], spec)
        with table_at(tmp_path / "out" / str(len(given))) as folder:
            written = write_by_tasks(spark_context, found.pieces, spec, TableTarget(folder), nullcontext)
        assert (written.rows, written.damaged, written.failed) == (len(expected), [], {})
        spark = SparkSession.builder.getOrCreate()
        spark.dataSource.register(PageFiles)
        assert spark.read.format("artemis-pages").load(given).count() == len(expected)


def test_an_export_unpacks_an_archive_once(server: ObjectServer, tmp_path: Path) -> None:
    """Assert that an export makes as many requests for an archive as unpacking it once."""
    folder = tmp_path / "data" / "paging" / FOLDER
    folder.mkdir(parents=True)
    chance = random.Random(3)
    for page in range(1, 9):
        bodies = (chance.randbytes(1000).hex() for _ in range(300))
        records = b"".join(message(page * 1000 + n, "orders", body) for n, body in enumerate(bodies))
        (folder / f"{page:09d}.page").write_bytes(records)
    url = server.put(packed(tmp_path / "data", tmp_path, "tar.zst"), f"{uuid4().hex}.tar.zst")

    def asked() -> int:
        return sum(each.startswith("GET ") and ".tar.zst" in each for each in server.seen)

    server.seen.clear()
    assert len([*any_path(url).iterdir()]) == 1 and (once := asked()) > 10
    server.seen.clear()
    running = started(*EXPORT, url, "--to", tmp_path / "out", "--incremental", "--master", "local[2]", env=ACCESS)
    complained = running.communicate(timeout=280)[1]
    assert running.returncode in (0, 1), complained
    assert pq.read_table(tmp_path / "out", columns=["id"]).num_rows == 8 * 300
    assert once <= asked() < 1.5 * once


def test_a_new_page_is_asked_for_once(server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # One GET gives the bytes of both the checksum and the rows, also for a page of 1 MiB and more.
    folder = tmp_path / "data" / "paging" / FOLDER
    folder.mkdir(parents=True)
    sizes = {page: 3000 if page == 5 else 10 for page in range(1, 9)}
    for page, count in sizes.items():
        records = (message(page * 10_000 + n, "orders", "x" * 200) for n in range(count))
        (folder / f"{page:09d}.page").write_bytes(b"".join(records))
    assert 1 << 20 < (folder / "000000005.page").stat().st_size < 4 << 20
    broker = FleetBroker("broker", absolute(locate(any_path(server.put(tmp_path / "data", "asked")))))
    (tmp_path / "out").mkdir()
    folders: list[HeldFolder] = []
    held_of = HeldFolder.of
    monkeypatch.setattr(HeldFolder, "of", lambda folder: folders.append(held_of(folder)) or folders[-1])
    server.seen.clear()
    assert night_here(broker, tmp_path / "out") == (sum(sizes.values()), ["added"] * 8)
    asked = Counter(each.partition(" ")[0] for each in server.seen if each.endswith(".page"))
    assert asked == {"GET": 8, "HEAD": 16}
    assert len(folders) == 1 and not any(folder.contents for folder in folders)


@pytest.mark.parametrize("form", ["tar", "tar.zst", "zip"])
def test_an_archive_replaced_while_it_is_exported_is_told(form: str, tmp_path: Path) -> None:
    # Pages of one archive must not be read with the journal of another.
    folders = tmp_path / "one", tmp_path / "other"
    for folder in folders:
        folder.mkdir()
    archive, other = map(packed, (SOME[1].data(), MIXED.data()), folders, (form, form))
    spec = TableSpec.now()
    (entry,) = fleet_of([str(archive)])
    found = surveyed(FleetBroker("broker", absolute(locate(entry.path))), spec)
    assert not found.wrong

    def pieces() -> Iterator[object]:
        return (each for piece in found.pieces for each in rows_of(piece, spec))

    assert all(isinstance(each, pa.RecordBatch) for each in pieces())
    begun = pieces()
    assert isinstance(next(begun), pa.RecordBatch)
    other.replace(archive)
    for made in ([*begun], [*pieces()]):
        assert isinstance(made[-1], BrokerFailure) and "was replaced" in made[-1].why
    assert len([*pieces()]) == len(found.pieces)


def test_what_was_exported_is_known_there_as_well(server: ObjectServer, tmp_path: Path) -> None:
    # An object is known by its time, a page in an archive by the archive's time.
    data = SOME[1].copy(tmp_path)
    pages = len([*data.rglob("*.page")])
    places = [(server.put(data, "known"), lambda: server.put(data, "known"))]
    places += [(str(packed(data, tmp_path, form)), partial(packed, data, tmp_path, form)) for form in PACKED[:1]]
    time.sleep(3.1)
    for n, (given, write) in enumerate(places):
        (entry,) = fleet_of([given])
        broker, folder = FleetBroker("broker", absolute(locate(entry.path))), tmp_path / str(n)
        folder.mkdir()
        rows, states = night_here(broker, folder)
        assert rows > 0 and states == ["added"] * pages
        assert night_here(broker, folder) == (0, [])
        write()
        assert night_here(broker, folder) == (0, ["same"] * pages)


def test_a_stream_takes_what_the_local_one_takes(server: ObjectServer) -> None:
    url = server.put(SOME[1].data(), "stream")
    rows = {}
    for given in (str(SOME[1].data()), url):
        stream = PageFilesStream(SourceOptions.of({"path": given, "columns": "id,page"}))
        end = stream.latestOffset({})
        if given == url:
            gone = next(
                each for each in server.seen if each.startswith("GET") and "stream" in each and "12.page" in each
            )
            server.delete(gone.split()[1].replace("12.page", "02.page"))
        parts = stream.partitions({}, end)
        rows[given] = [row for part in parts for batch in stream.read(part) for row in batch.to_pylist()]
    local, far = rows.values()
    assert far == [row for row in local if row["page"] != 2] != local


def test_a_store_that_is_gone_is_not_asked_for_each_page(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "RETRY_SECONDS", 0.1)
    monkeypatch.setattr(base, "GONE_SECONDS", 3.0)
    url = server.put(SOME[1].data(), "lost")
    rows, _ = read(url)
    server.seen.clear()

    def fail(handler: Any) -> bool:
        """Refuse requests for pages from the third on."""
        return handler.path[-7:] > "02.page" and handler.path.endswith(".page") and handler.refuse(500, "InternalError")

    with server.failing(fail):
        fewer, told = read(url)
    asked = {each for each in server.seen if each.endswith(".page")}
    assert 0 < len(fewer) < len(rows) and len({each.rpartition("/")[2] for each in asked}) < 7
    (failed,) = [each for each in told if isinstance(each, BrokerFailure)]
    assert "s3://brokers: " in failed.why and "endpoint" not in failed.why
    time.sleep(3)
    assert read(url)[0] == rows
