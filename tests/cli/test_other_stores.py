"""Brokers and tables in Google's and Azure's stores, of which others' servers stand in, and HDFS: ``make test-stores``.

Java writes to this process' own standard error there, which no answer of a call has.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import nullcontext
from multiprocessing import Value
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from far_rows import READING, assert_equal, read
from golden_cases import GoldenCase
from incremental_exports import PagingBroker, TasksHere, night
from program import EXPORT, call, started
from stand_ins import (
    AZURITE_KEY,
    STORES,
    AzureStandIn,
    HadoopStandIn,
    StandIn,
    free_port,
    hadoop_environment,
    hdfs,
    stand_in,
)
from stored_tables import (
    COMMIT,
    SOUND,
    TORN,
    assert_every_mode,
    assert_nights,
    assert_whole_wherever_killed,
    committing,
    is_commit,
    named_files,
    named_messages,
    rows,
    stored,
    write,
)

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

from pagefmt import parallel as ahead
from pagefmt.directory.fleet import fleet_of
from pagefmt.errors import PageFmtError
from pagefmt.spark.format_commit import FormatRefused
from pagefmt.spark.rows import LostRows
from pagefmt.spark.table_folder import Replaced
from pagefmt.spark.table_formats import last_export
from pagefmt.storage.remote_outputs import StoredPath
from pagefmt.storage.remote_paths import store_at
from pagefmt.storage.stores import base, hadoop
from pagefmt.storage.stores.hadoop import HadoopStore
from pagefmt.table.table_content import LakeFormat, TableContent

pytestmark = [pytest.mark.stores, pytest.mark.timeout(600)]
MIXED = GoldenCase("2.56.0", "journal-mix")


AnyStore = StandIn | HadoopStandIn
PROXIED = pytest.mark.parametrize("store", STORES, indirect=True)


FORMATS = pytest.mark.parametrize("form", [LakeFormat.DELTA, LakeFormat.ICEBERG], ids=str)
LIBRARY = {LakeFormat.DELTA: "deltalake", LakeFormat.ICEBERG: "pyiceberg"}
AZURE = pytest.mark.parametrize("store", ["abfs"], indirect=True)
HADOOP = pytest.mark.parametrize("store", ["hdfs"], indirect=True)


@pytest.fixture(scope="module", params=[*STORES, "hdfs"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnyStore]:
    folder = tmp_path_factory.mktemp("store")
    with (
        pytest.MonkeyPatch.context() as patch,
        hdfs(folder, patch) if request.param == "hdfs" else stand_in(request.param, folder, patch) as found,
    ):
        yield found
    ahead._fork_disabled = False


def fresh(store: AnyStore) -> StoredPath:
    return stored(store.url(f"tables/{uuid4().hex}"))


def test_all_tables_are_the_local_ones(store: AnyStore) -> None:
    assert_equal(MIXED, [store.put(MIXED.data(), "mixed")])
    for case in (TORN, SOUND):
        assert_equal(case, [store.put(case.data(), f"{case.version}/{case.name}")], [TableContent.MESSAGES])


def test_reading_commands_answer_as_for_a_local_directory(store: AnyStore, tmp_path: Path) -> None:
    data = TORN.copy(tmp_path / "local")
    url = store.put(data, "commands/torn")
    for words in READING:
        here, far = call(*words, data), call(*words, url)
        shown = url.partition("?")[0]
        err = "".join(line for line in far.err.splitlines(keepends=True) if "lock cannot be seen" not in line)
        # a longer path breaks its line elsewhere
        expected = here.status, here.out.replace(str(data), "DIR").split(), here.err.replace(str(data), "DIR")
        assert (far.status, far.out.replace(shown, "DIR").split(), err.replace(shown, "DIR")) == expected, words


def test_folders_are_found_that_nobody_made(store: AnyStore) -> None:
    for name in ("one", "two"):
        store.put(TORN.data(), f"fleet/{name}/data")
    found = fleet_of([store.url("fleet/*/data")])
    assert [each.path.parts[-2] for each in found] == ["one", "two"]
    fleet = stored(store.url("fleet"))
    assert sorted((each.name, each.is_dir()) for each in fleet.entries()) == [("one", True), ("two", True)]
    with pytest.raises(OSError, match="not empty"):
        fleet.rmdir()
    with pytest.raises(PageFmtError, match="no path matches"):
        fleet_of([store.url("fleet/*/nothing")])
    begun = time.monotonic()
    assert [*stored(store.url("nothing/there")).glob("*")] == [] and time.monotonic() - begun < 5


@AZURE
def test_a_file_is_removed_without_a_lease(store: StandIn) -> None:
    # Others may hold a lease. Some names contain characters that URLs encode.
    folder = fresh(store)
    names = ["part", "day=2026-11-26/queue=q%3Ab/part", "ä +#&?/~'part"]
    for name in names:
        (folder / name).put(b"content")
    store.seen.clear()
    for name in names:
        (folder / name).unlink()
    assert not any("comp=lease" in each for each in store.seen)
    assert not any(path.is_file() for path in folder.rglob("*"))
    with pytest.raises(FileNotFoundError):
        (folder / names[0]).unlink()
    (folder / names[0]).unlink(missing_ok=True)
    with store.failing(store.refuse_credentials), pytest.raises(OSError, match=r"denies access|does not accept"):
        (folder / names[0]).unlink()


def test_every_mode_makes_the_table_of_a_folder(store: AnyStore, tmp_path: Path) -> None:
    assert_every_mode(tmp_path / "out", fresh(store))


def test_nights_beside_a_broker_at_work(store: AnyStore, tmp_path: Path) -> None:
    assert_nights(tmp_path / "data", fresh(store))


@pytest.mark.parametrize("replaced", [Replaced.NOTHING, Replaced.ALL], ids=str)
def test_a_table_is_whole_wherever_its_writer_is_killed(store: AnyStore, replaced: Replaced) -> None:
    changes, whole = assert_whole_wherever_killed(fresh(store), replaced, 5)
    assert changes > 9 and whole > 1


@PROXIED
def test_a_store_that_is_busy_is_asked_again(store: StandIn, tmp_path: Path) -> None:
    # Every ninth request finds the store busy, and every fourteenth loses its connection.
    url, out = store.put(SOUND.data(), "busy"), fresh(store)
    count = Value("i", 0)

    def fail(handler: Any) -> bool:
        with count:
            count.value += 1
            now = count.value
        return (now % 9 == 0 and handler.refuse(503, "ServerBusy")) or (now % 14 == 0 and handler.break_off())

    with store.failing(fail):
        assert read(url) == read(str(SOUND.data()))
        write(out, SOUND, splits=("priority",))
    write(tmp_path / "here", SOUND, splits=("priority",))
    assert rows(out) == rows(tmp_path / "here") and count.value > 30


@PROXIED
def test_a_page_deleted_between_listing_and_reading_is_missed(store: StandIn) -> None:
    url = store.put(SOUND.data(), "deleted")
    every, _ = read(url)
    before, gone = {each.name for each in stored(url).rglob("*.page")}, Value("i", 0)

    def delete(handler: Any) -> bool:
        """Delete the page at the first request that reads one."""
        if store.is_read(handler):
            with gone:
                if not gone.value:
                    gone.value = 1
                    store.delete(handler, url)
        return False

    with store.failing(delete):
        fewer, lost = read(url)
    (name,) = before - {each.name for each in stored(url).rglob("*.page")}
    assert 0 < len(fewer) < len(every) and lost[0] is None
    (missing,) = [each for each in lost if isinstance(each, LostRows)]
    assert missing.file.endswith(name) and missing.offset == 0


@PROXIED
@FORMATS
def test_tables_of_a_format_beside_a_broker_at_work(store: StandIn, form: LakeFormat, tmp_path: Path) -> None:
    # The answer to one commit is lost.
    pytest.importorskip(LIBRARY[form], reason="the extra pagectl[tables] is not installed")
    broker, out = PagingBroker(tmp_path / "data"), fresh(store)
    lost = Value("i", 0)

    def lose(handler: Any) -> bool:
        if not is_commit(handler) or lost.value:
            return False
        lost.value = 1
        return bool(handler.lose_answer())

    for n in range(3):
        broker.delete(n)
        broker.write(30)
        with store.failing(lose) if n == 1 else nullcontext():
            night(TasksHere(), tmp_path / "data", out, ("priority",), form)
        assert named_messages(out) == broker.every and last_export(out) == n + 1
    assert lost.value and not [*out.rglob("_temporary")]


@PROXIED
@FORMATS
def test_of_two_commits_of_a_format_one_is_refused(store: StandIn, form: LakeFormat) -> None:
    pytest.importorskip(LIBRARY[form], reason="the extra pagectl[tables] is not installed")
    out = fresh(store)
    committing(out, 1, "a" * 12, form=form)()
    usual, overtaken = getattr(*COMMIT[form]), committing(out, 2, "c" * 12, form=form)

    def overtake(*given: Any) -> None:
        patch.setattr(*COMMIT[form], usual)
        committing(out, 2, "b" * 12, form=form)()
        usual(*given)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(FormatRefused, match="has committed to it meanwhile"):
        patch.setattr(*COMMIT[form], overtake)
        overtaken()
    assert named_files(out) == [f"part-00000-0-{name * 12}.parquet" for name in "ab"]


@PROXIED
def test_what_a_store_refuses_is_said_at_once(store: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    url, table = store.put(TORN.data(), "refused"), store.url("refused-table")
    begun = time.monotonic()
    with store.failing(store.refuse_credentials):
        answers = [call("pages", "ls", url), call(*EXPORT, TORN.data(), "--to", table, "--incremental")]
    missing = store.url("x", store.authority.replace("brokers", "nobody"))
    answers.append(call(*EXPORT, SOUND.data(), "--to", missing, "--incremental"))
    assert store.gone in answers[-1].err and time.monotonic() - begun < 20
    for answer, named in zip(answers, (url, table, missing), strict=True):
        assert answer.status == 2 and answer.err.startswith(f"pagectl: {named.partition('?')[0]}"), answer
        assert answer.err.count("\n") == 1 and len(answer.err) < 250, answer
        assert AZURITE_KEY not in answer.err and "127.0.0.1" not in answer.err
    assert all("the store" in answer.err for answer in answers[:2]), answers


@PROXIED
def test_a_store_that_does_not_answer_is_named(store: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "RETRY_SECONDS", 1.0)
    url = store.put(TORN.data(), "silent")
    store_at.cache_clear()
    with store.failing(lambda handler: handler.refuse(503, "ServerBusy")):
        for words in (("pages", "ls", url), (*EXPORT, TORN.data(), "--to", url, "--incremental")):
            answer = call(*words)
            assert answer.status == 2 and answer.err.startswith(f"pagectl: {url.partition('?')[0]}"), answer
            assert "the store fails" in answer.err and answer.err.count("\n") == 1, answer
    store_at.cache_clear()


def test_the_command(store: AnyStore, tmp_path: Path) -> None:
    # The command runs as a process of its own, whose tasks know only the path and the environment.
    url, out = store.put(SOUND.data(), "command"), fresh(store)
    env = hadoop_environment() if store.scheme == "hdfs" else {"AZURE_STORAGE_KEY": AZURITE_KEY}
    for to in (out.uri, str(tmp_path / "here")):
        running = started(*EXPORT, url, "--to", to, "--master", "local[1]", "--partition-by", "priority", env=env)
        said, complained = running.communicate(timeout=280)
        assert running.returncode == 0 and AZURITE_KEY not in said + complained, complained
    assert rows(out) == rows(tmp_path / "here") != []


@PROXIED
def test_keys_of_another_account_are_not_sent(store: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    # AZURE_STORAGE_ACCOUNT names the account that the key belongs to.
    if not isinstance(store, AzureStandIn):
        return
    url = store.put(SOUND.data(), "keys")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "another")
    store_at.cache_clear()
    answer = call("pages", "ls", url)
    assert answer.status == 2 and "no credentials" in answer.err and answer.err.count("\n") == 1, answer
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "devstoreaccount1")
    store_at.cache_clear()
    assert call("pages", "ls", url).status == 0


@HADOOP
def test_a_name_node_that_is_not_there_is_no_empty_one(store: AnyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pyarrow reports that nothing exists on such a name node.
    monkeypatch.setattr(base, "RETRY_SECONDS", 1.0)
    url = f"hdfs://127.0.0.1:{free_port()}"
    with pytest.raises(OSError, match="the store fails"):
        stored(f"{url}/broker").exists()
    for words in (("pages", "ls", f"{url}/broker"), (*EXPORT, SOUND.data(), "--to", f"{url}/table", "--incremental")):
        answer = call(*words)
        assert answer.status == 2 and answer.err.startswith(f"pagectl: {url}"), answer
        assert "the store fails: HDFS" in answer.err, answer
        assert answer.err.count("\n") == 1 and "No such file" not in answer.err, answer


@HADOOP
def test_what_is_not_allowed_in_hdfs_is_said(store: AnyStore) -> None:
    # If a parent folder is not readable, pyarrow reports that nothing exists.
    url = store.url("closed/broker")
    store.put(SOUND.data(), "closed/broker")
    other = f"{url}&user=nobody"
    for given in (("pages", "ls", other), (*EXPORT, SOUND.data(), "--to", other), ("pages", "verify", other)):
        answer = call(*given)
        assert answer.status == 2 and "the store denies access" in answer.err, answer
        assert answer.err.count("\n") == 1, answer
    assert call("pages", "ls", url).status == 0


@HADOOP
def test_a_page_deleted_in_hdfs_is_missed(store: AnyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    url = store.put(SOUND.data(), "deleted")
    every, _ = read(url)
    (page, *_) = sorted(stored(url).rglob("*.page"))
    opened = HadoopStore.opened

    def deleting(self: Any, inner: str) -> Any:
        if inner.endswith(page.name):
            page.unlink(missing_ok=True)
        return opened(self, inner)

    monkeypatch.setattr(HadoopStore, "opened", deleting)
    fewer, lost = read(url)
    assert 0 < len(fewer) < len(every)
    (missing,) = [each for each in lost if isinstance(each, LostRows)]
    assert missing.file.endswith(page.name) and missing.offset == 0


@HADOOP
def test_a_file_in_hdfs_is_whole_or_not_there(store: AnyStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, seen = fresh(store), list[bool]()
    blocks = hadoop._blocks

    def looked_at(local: Path) -> Iterator[bytes]:
        for block in blocks(local):
            seen.append(path.exists())
            yield block

    monkeypatch.setattr(hadoop, "_blocks", looked_at)
    (tmp_path / "local").write_text("halfwhole")
    path.put(tmp_path / "local")
    assert path.read_text() == "halfwhole" and seen == [False]
    (other := path.with_name(f"{path.name}-other")).write_text("new")
    other.rename(path)
    assert path.read_text() == "new" and not other.exists()
    begun = time.monotonic()
    with pytest.raises(FileNotFoundError):
        other.unlink()
    with pytest.raises(FileNotFoundError):
        other.rename(path)
    assert time.monotonic() - begun < 5 and path.read_text() == "new"
