"""Tables below a URL: written, read back, and their writer stopped."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from golden_cases import GoldenCase
from incremental_exports import PagingBroker, TasksHere, night, page_counts

from pagefmt.directory.fleet import FleetBroker, absolute
from pagefmt.directory.locate import within
from pagefmt.spark import table_formats
from pagefmt.spark.format_commit import FileFacts, FormatCommit, TablePart, named_for_others
from pagefmt.spark.options import TableSpec
from pagefmt.spark.survey import surveyed
from pagefmt.spark.table import TableTarget, WrittenTable, write_by_tasks
from pagefmt.spark.table_folder import Replaced, table_at
from pagefmt.spark.table_formats import carry_out_commit, format_of, table_schema
from pagefmt.storage.remote_outputs import StoredPath
from pagefmt.storage.remote_paths import any_path
from pagefmt.storage.stores.azure import AzureStore
from pagefmt.storage.stores.bucket import BucketStore
from pagefmt.storage.stores.hadoop import HadoopStore
from pagefmt.table.table_content import LakeFormat

COMMIT: dict[LakeFormat, tuple[Any, str]] = {
    LakeFormat.DELTA: (table_formats, "_commit_to"), LakeFormat.ICEBERG: (BucketStore, "create"),
}  # fmt: skip
"""What asks a store to make a version, by its owner and name."""
TORN, SOUND = GoldenCase("artemis-1.5.6", "torn"), GoldenCase("2.56.0", "multicast-acks")


def stored(url: str) -> StoredPath:
    return StoredPath(*any_path(url).parts)


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
    """Return the rows of all files of a table with their folders, sorted."""
    found = []
    for path in [*out.rglob("*.parquet")]:
        table = read(path)
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


def named_files(out: Path, version: int | None = None) -> list[str]:
    """List the data files that a table's log names; ``version`` selects a version of an Iceberg table."""
    if format_of(out) is LakeFormat.DELTA:
        from deltalake import DeltaTable

        where, options = named_for_others(out)
        table = DeltaTable(where, storage_options=options)
        return sorted(table.get_add_actions().column("path").to_pylist())
    from pagefmt.spark.iceberg import FolderFiles, metadata_at

    metadata = metadata_at(out, version)
    files = FolderFiles(out, metadata.location, out / "nothing")
    manifests = [each.manifests(files) for each in [metadata.current_snapshot()] if each is not None]
    entries = [each for manifest in chain(*manifests) for each in manifest.fetch_manifest_entry(files)]
    return sorted(each.data_file.file_path.removeprefix(f"{metadata.location}/") for each in entries)


def hint_is_last(out: Path) -> bool:
    """Return whether an Iceberg table's hint names its last version."""
    from pagefmt.spark.iceberg import version_at

    return (out / "metadata" / "version-hint.text").read_text() == str(version_at(out))


def named_messages(out: Path) -> Counter[tuple[int, int]]:
    """Count the messages of the files that the log names, by page and id."""
    found: Counter[tuple[int, int]] = Counter()
    for name in named_files(out):
        table = read(out / name)
        found.update(zip(table["page"].to_pylist(), table["id"].to_pylist(), strict=True))
    return found


def committing(
    out: StoredPath, number: int, run: str, overwrite: bool = False, form: LakeFormat = LakeFormat.DELTA
) -> Callable[[], None]:
    """Prepare the commit of one data file that does not exist."""
    made = [TablePart(f"part-00000-0-{run}.parquet", FileFacts(3, 3, {}, {}), ())]
    schema = table_schema(TableSpec().schema, ())
    commit = FormatCommit(form, out, out, schema, (), made, number, overwrite, run)
    return partial(carry_out_commit, commit, out / "_temporary" / run / "made")


def is_commit(handler: Any) -> bool:
    """Return whether a request writes a version of a table."""
    path = unquote(handler.path.partition("?")[0])
    named = "_delta_log" in path or path.endswith(".metadata.json")
    return handler.command in ("PUT", "POST") and named


def aside(out: Path) -> Any:
    path = out / "_damaged.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def assert_every_mode(here: Path, far: StoredPath) -> None:
    """Assert that each mode writes the same table to a URL as to a folder."""
    steps: list[tuple[GoldenCase, dict[str, Any]]] = [
        (TORN, {}),
        (SOUND, {}),
        (SOUND, {"replaced": Replaced.PARTITIONS, "where": "color = 'red'"}),
        (TORN, {"replaced": Replaced.ALL}),
        (SOUND, {"compression": "none"}),
    ]
    for case, how in steps:
        made = [write(out, case, splits=("store_address", "priority"), **how) for out in (here, far)]
        assert rows(far) == rows(here) and aside(far) == aside(here)
        assert made[0].rows == made[1].rows and (far / "_SUCCESS").exists()
        assert not [*far.rglob("_temporary")], "nothing is left"


def assert_nights(data: Path, out: StoredPath) -> None:
    """Assert that exports beside a broker that writes, deletes and restarts have each message once."""
    broker, nightly = PagingBroker(data), partial(night, TasksHere(), data, out, ("priority",))
    broker.write(60)
    assert "added" in page_counts(nightly())
    broker.write(30)
    broker.delete(3)
    assert page_counts(nightly()).keys() >= {"added", "grew", "deleted"} and messages(out) == broker.every
    broker.start_anew()
    broker.write(20)
    assert nightly().pages["changed"] and messages(out) == broker.every


class Stopped(BaseException):
    """In the place of a change."""


@contextmanager
def stopping(changes: int, *more: tuple[Any, str]) -> Iterator[list[int]]:
    """Stop the process before a change in the store: that change and every later one is not made.

    ``changes``: how many are made before. ``more``: other changes, by owner and name. The list yielded has the number
    of changes left.
    """
    left, lock = [changes], threading.Lock()
    names = ("put", "create", "move", "remove", "make_folder", "remove_folder")
    owners = [
        (owner, name) for owner in (BucketStore, AzureStore, HadoopStore) for name in names if name in vars(owner)
    ]
    usual = {(owner, name): getattr(owner, name) for owner, name in [*owners, *more]}

    def change(what: tuple[Any, str], *given: Any, **more: Any) -> Any:
        with lock:
            left[0] -= 1
        if left[0] < 0:
            raise OSError("gone") if threading.current_thread().daemon else Stopped
        return usual[what](*given, **more)

    with pytest.MonkeyPatch.context() as patch, suppress(Stopped):
        for what in usual:
            patch.setattr(*what, partial_method(change, what))
        yield left


def assert_whole_wherever_killed(out: StoredPath, replaced: Replaced, step: int) -> tuple[int, int]:
    """Assert that ``_SUCCESS`` appears only beside the old or the new table, wherever a run is killed.

    The next run must complete. Return the number of changes at which a run is not stopped any more, and how often
    ``_SUCCESS`` was there.
    """
    split = {"splits": ("store_address",)}
    write(out, TORN, **split)
    before = rows(out)
    write(out, SOUND, **split)
    old = rows(out)
    expected = {Replaced.NOTHING: [*before, *before, *(set(old) - set(before))], Replaced.PARTITIONS: old}
    new = sorted(expected.get(replaced, before))
    whole = 0
    for changes in range(0, 60, step):
        with stopping(changes) as left:
            write(out, TORN, replaced, **split)
        forget(out)
        whole += (out / "_SUCCESS").exists()
        assert not (out / "_SUCCESS").exists() or rows(out) in (old, new), changes
        write(out, SOUND, Replaced.ALL, **split)
        write(out, TORN, Replaced.NOTHING, **split)
        assert rows(out) == old and aside(out), changes
        assert not [*out.rglob("_temporary")]
        if left[0] >= 0:
            break
    return changes, whole


def forget(out: StoredPath) -> None:
    """Remove the claims of killed writers, instead of waiting until they expire."""
    for claim in (out / "_temporary").glob("claim-*"):
        claim.unlink()


def partial_method(change: Any, what: Any) -> Any:
    return lambda *given, **more: change(what, *given, **more)
