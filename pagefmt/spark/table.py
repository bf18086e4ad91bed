"""Tables that Spark tasks write, each task its Parquet files below ``_temporary``.

When all are finished, the files move up, then ``_SUCCESS`` shows that the table is complete. The table's folder is
visible to all tasks, or below a URL. No row passes through Spark's virtual machine, which would take two to three times
the processor time.

Before that, ``surveys`` reads journals and bindings, in tasks. The data that returns to the machine of the command
grows with brokers, stores and tasks, not with messages or acknowledgements.
"""

from __future__ import annotations

import json
import os
import platform
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import pyarrow as pa

from pagefmt.directory.fleet import FleetBroker
from pagefmt.errors import PageFmtError
from pagefmt.spark.exported import (
    DELETED,
    NO_PAGES,
    SAME,
    BrokerNews,
    BrokerRemarks,
    ExportLog,
    PageEntry,
    entries_to,
    log_name,
    page_summary,
    write_entries,
)
from pagefmt.spark.format_commit import FileFacts, FormatCommit, TablePart
from pagefmt.spark.groups import GROUP, JOURNAL, PageGroup, Piece, grouped
from pagefmt.spark.known_brokers import KnownPlaces
from pagefmt.spark.options import TableSpec
from pagefmt.spark.rows import BrokerFailure, LostRows, rows_of
from pagefmt.spark.session import answered, cause
from pagefmt.spark.survey import BrokerSurvey, surveyed
from pagefmt.spark.table_folder import DAMAGED, EXPORTED, SUCCESS, TEMPORARY, Replaced, note_shortened, put, read_note
from pagefmt.spark.table_formats import last_export, table_schema, values_of
from pagefmt.storage.files import utf8_name
from pagefmt.storage.remote_outputs import StoredPath, create_folder
from pagefmt.storage.writing import PARTIAL_SUFFIX
from pagefmt.table.partitions import PartitionedTable
from pagefmt.table.state_tables import TELLS_HARM
from pagefmt.table.table_content import LakeFormat, TableContent
from pagefmt.table.table_files import PARQUET, table_file

if TYPE_CHECKING:
    from pyspark import SparkContext

_Found = TypeVar("_Found")
Watched = Callable[[], AbstractContextManager[None]]  # a context around the job in which the caller shows progress
SURVEYS: Final = 16  # tasks per core for surveys of brokers
# bytes of pages for the files of one task, if the table is split by a column that differs within pages
SPLIT: Final = 8 * GROUP
LOG: Final = "pages.arrow"  # the entries of a run's pages, in its folder and in that of each task
_UNSHARED: Final = "sees a different folder there; every machine has to see the same one, or name a URL (s3://…)"
OF_PAGE: Final = ("broker", "store", "page")
# columns with one value for all messages of a page
PAGE_SPLITS: Final = frozenset(("broker", "store", "store_address", "page"))


class ExportFailed(PageFmtError):
    """Raised if a task failed; there is no table."""


class FolderRefused(PageFmtError):
    """The machine of a task does not see the table's folder."""


@dataclass(frozen=True, slots=True)
class TableTarget:
    """The place and form of a table. ``folder``: see ``table_at``. ``mode``: rights of its files."""

    folder: Path
    compression: str = "zstd"
    splits: tuple[str, ...] = ()
    replaced: Replaced = Replaced.NOTHING
    mode: int = 0o666
    form: LakeFormat = LakeFormat.PARQUET


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """What a run wrote, and what is wrong with the table.

    ``bytes``: of its files. ``damaged``: positions at which the rows of a page end early. ``from_journal``: rows of
    messages in the journal. ``failed``: why a broker could not be read completely. ``harmed``: number of rows that
    report damage or something unknown. ``standing``: damage found by an earlier run in pages that did not change and
    were not read again. ``standing_remarks``: faults that it found in brokers that were not surveyed again. ``left``:
    why temporary files remain.
    """

    rows: int
    bytes: int
    damaged: list[dict[str, Any]]
    from_journal: int = 0
    harmed: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    pages: dict[str, Any] | None = None
    standing: list[dict[str, Any]] = field(default_factory=list)
    standing_remarks: BrokerRemarks = field(default_factory=dict)
    left: str | None = None


@dataclass(frozen=True, slots=True)
class Increment:
    """What is new since a table was written. ``settings``: of the table. ``log``: None if there is none yet.

    ``surveyed``: what is wrong with the brokers that were surveyed; empty for sound ones. ``brokers``: directories from
    which the brokers of the table were read, after this run.
    """

    settings: dict[str, Any]
    news: tuple[BrokerNews, ...]
    log: ExportLog | None = None
    surveyed: BrokerRemarks = field(default_factory=dict)
    brokers: Mapping[str, KnownPlaces] = field(default_factory=dict)

    @property
    def nothing(self) -> bool:
        """Return whether the table exists and no page has to be read."""
        return self.log is not None and not any(item.looked for item in self.news)

    @property
    def wrong(self) -> BrokerRemarks:
        """Return faults of brokers outside of pages, as the last survey of each found them."""
        before = self.log.wrong if self.log is not None else {}
        return {name: remarks for name, remarks in {**before, **self.surveyed}.items() if remarks}

    @property
    def standing(self) -> BrokerRemarks:
        """Return the faults that an earlier run found in brokers of this run that were not surveyed again."""
        unsurveyed = {item.broker.name for item in self.news} - self.surveyed.keys()
        return {name: remarks for name, remarks in self.wrong.items() if name in unsurveyed}

    def is_as_it_was(self, damage: Mapping[str, Any]) -> bool:
        """Return whether the page with this damage still exists and was not read again."""
        if damage["store"] is None:
            return any(item.same_journal for item in self.news if item.broker.name == damage["broker"])
        skipped = (item.skipped.get(damage["store"], ()) for item in self.news if item.broker.name == damage["broker"])
        return any(damage["page"] in item for item in skipped)


@dataclass(slots=True)
class PartFiles:
    """The result of one task: its files, by paths below the run's folder. ``shortened``: see ``PartitionedTable``.

    ``log``: the file with the entries of its pages, None if there are none.
    """

    files: dict[str, FileFacts] = field(default_factory=dict)
    log: str | None = None
    shortened: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    from_journal: int = 0
    harmed: int = 0
    damaged: list[LostRows] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def surveys(context: SparkContext, brokers: Sequence[FleetBroker], spec: TableSpec) -> list[BrokerSurvey]:
    """Return the surveys of all brokers, in order. Raise ``ExportFailed``."""
    tasks = min(len(brokers), SURVEYS * context.defaultParallelism)
    return _looked(lambda: context.parallelize(brokers, tasks).map(lambda broker: surveyed(broker, spec)).collect())


def _looked(job: Callable[[], list[_Found]]) -> list[_Found]:
    """Return the results of a job that writes nothing. Raise ``ExportFailed``."""
    try:
        return answered(job)
    except Exception as err:
        raise ExportFailed(f"brokers cannot be read: {cause(err)}") from err


class FleetBacklogs(NamedTuple):
    """The backlogs of queues of all brokers.

    ``rows`` of a table of ``outstanding``, with ``oldest`` in ms. ``failed``: why brokers could not be read completely.
    """

    rows: list[dict[str, Any]]
    failed: dict[str, str]


def backlogs_of(context: SparkContext, brokers: Sequence[FleetBroker], spec: TableSpec) -> FleetBacklogs:
    """Return the backlogs of the queues of all brokers. Raise ``ExportFailed``."""
    wanted = TableSpec(content=TableContent.OUTSTANDING, exported_at=spec.exported_at, run=spec.run)
    surveyed_now = surveys(context, brokers, wanted)
    groups = grouped([piece for item in surveyed_now for piece in item.pieces])
    results = _looked(
        lambda: (
            context.parallelize(groups, len(groups)).flatMap(lambda item: list(_backlog_rows(item, wanted))).collect()
        )
    )
    failed = {item.broker: item.failed for item in surveyed_now if item.failed is not None}
    failed |= {item.broker: item.why for item in results if isinstance(item, BrokerFailure)}
    return FleetBacklogs([item for item in results if not isinstance(item, BrokerFailure)], failed)


def _backlog_rows(group: PageGroup, spec: TableSpec) -> Iterator[dict[str, Any] | BrokerFailure]:
    """Yield the rows of a group as dictionaries, ``oldest`` in ms, and the brokers that cannot be read completely."""
    for piece in group.pieces:
        for batch in rows_of(piece, spec):
            if isinstance(batch, BrokerFailure):
                yield batch
            elif isinstance(batch, pa.RecordBatch):
                at = batch.schema.get_field_index("oldest")
                yield from batch.set_column(at, "oldest", batch.column(at).cast(pa.int64())).to_pylist()


def write_by_tasks(
    context: SparkContext,
    pieces: Sequence[Piece],
    spec: TableSpec,
    target: TableTarget,
    watched: Watched,
    increment: Increment | None = None,
) -> WrittenTable:
    """Write the pieces in Spark tasks and move the files into the table. Raise ``ExportFailed``."""
    if increment is not None:
        if increment.nothing:
            return write_log(target, spec, increment)
        pieces = [*_remaining(pieces, increment)]
    cores = max(1, context.defaultParallelism)
    least = (
        GROUP if set(target.splits) <= PAGE_SPLITS else min(SPLIT, sum(piece.size for piece in pieces) // (2 * cores))
    )
    groups = grouped(pieces, max(GROUP, least))
    run = _new_run(target.folder)
    with watched():
        try:
            job = context.parallelize(groups, len(groups)).map(lambda group: write_part(group, spec, target, run))
            parts: list[PartFiles] = answered(job.collect)
        except Exception as err:
            raise ExportFailed(f"{_called(target.folder)}: {cause(err)}; nothing was written") from err
    return _put(target, spec, run, parts, increment)


def write_log(target: TableTarget, spec: TableSpec, increment: Increment) -> WrittenTable:
    """Note deleted pages in the log if no page has to be read."""
    if not any(item.deleted for item in increment.news):
        standing = [item for item in _known_damage(target.folder) if increment.is_as_it_was(item)]
        pages = page_summary(NO_PAGES, increment.news)
        return WrittenTable(0, 0, [], pages=pages, standing=standing, standing_remarks=increment.standing)
    return _put(target, spec, _new_run(target.folder), [], increment)


def _remaining(pieces: Iterable[Piece], increment: Increment) -> Iterator[Piece]:
    news = {item.broker.name: item for item in increment.news}
    for piece in pieces:
        if (left := news[piece.broker.name].remaining(piece)) is not None:
            yield left


def _new_run(folder: Path) -> Path:
    run = folder.absolute() / TEMPORARY / uuid.uuid4().hex[:12]
    run.mkdir(parents=True)
    return run


def _put(
    target: TableTarget, spec: TableSpec, run: Path, parts: Sequence[PartFiles], increment: Increment | None
) -> WrittenTable:
    damaged = _sorted(item._asdict() for part in parts for item in part.damaged)
    anew = target.replaced in (Replaced.ALL, Replaced.LOG)
    known_damage = [] if anew else _known_damage(target.folder)
    shortened = {short: value for part in parts for short, value in part.shortened.items()}
    note_shortened(target.folder, run, shortened)
    empty = target.form is LakeFormat.PARQUET and not (target.folder / SUCCESS).exists()
    empty = empty and not any(part.rows for part in parts)
    files = {
        file: (_in_table(file, number, run.name), facts)
        for number, part in enumerate(parts)
        for file, facts in part.files.items()
        if facts.rows or empty
    }
    names = {file: name for file, (name, _) in files.items()}
    if not isinstance(run, StoredPath) and not all((run / name).exists() for name in names):
        raise ExportFailed(f"{_called(target.folder)}: a machine where a task ran {_UNSHARED}; nothing was written")
    number = last_export(target.folder)
    pages = commit = None
    standing: list[dict[str, Any]] = []
    if increment is not None:
        number = number if increment.log is None or anew else max(number, increment.log.run)
        looked = write_entries(
            run / LOG,
            [run / part.log for part in parts if part.log],
            increment.news,
            increment.settings,
            increment.wrong,
            increment.brokers,
        )
        names[LOG] = f"{EXPORTED}/{log_name(number + 1, run.name, run / LOG)}"
        pages = page_summary(looked, increment.news)
        states = _states(looked) if known_damage else {}
        known_damage = [item for item in known_damage if states.get(_page_of(item), SAME) in (SAME, DELETED)]
        standing = [item for item in known_damage if increment.is_as_it_was(item) or states.get(_page_of(item)) == SAME]
    if target.form is not LakeFormat.PARQUET:
        table_parts = [
            TablePart(name, facts, values_of(Path(name).parts[:-1], shortened)) for name, facts in files.values()
        ]
        far = isinstance(target.folder, StoredPath)
        table = target.folder if far else Path(_called(target.folder.absolute()))
        schema = table_schema(spec.schema, target.splits)
        commit = FormatCommit(
            target.form, target.folder, table, schema, target.splits, table_parts, number + 1, anew, run.name
        )
    left = put(
        target.folder,
        run,
        names,
        _text([*known_damage, *damaged]) if known_damage or damaged else None,
        target.replaced,
        commit,
    )
    failed = {broker: why for part in parts for broker, why in part.failed.items()}
    size = sum(facts.size for _, facts in files.values())
    counts = ("rows", "from_journal", "harmed")
    rows, from_journal, harmed = (sum(getattr(part, name) for part in parts) for name in counts)
    remarks = {} if increment is None else increment.standing
    return WrittenTable(rows, size, damaged, from_journal, harmed, failed, pages, standing, remarks, left)


def _known_damage(folder: Path) -> list[dict[str, Any]]:
    """Return the damage that earlier runs found in pages whose rows are in the table."""
    return read_note(folder / DAMAGED, [])


def _states(looked: pa.Table) -> dict[tuple[Any, ...], str]:
    """Return the states of the pages that a run read, by page."""
    columns = [looked.column(name).to_pylist() for name in (*OF_PAGE, "state")]
    return {tuple(page): state for *page, state in zip(*columns, strict=True)}


def _page_of(damage: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the page of a damage, as the log names it."""
    page = JOURNAL if damage["page"] is None else damage["page"]
    return damage["broker"], utf8_name(damage["store"] or ""), page


def _called(folder: Path) -> str:
    return str(folder).removesuffix(PARTIAL_SUFFIX)


def _in_table(file: str, number: int, run: str) -> str:
    """Return the name in the table of ``TASK/NAME=VALUE/part-0.parquet``: sorted like the files' positions."""
    folders, name = Path(file).parts[1:-1], Path(file).stem.removeprefix("part-")
    return str(Path(*folders, f"part-{number:05d}-{name}-{run}.parquet"))


def write_part(group: PageGroup, spec: TableSpec, target: TableTarget, run: Path) -> PartFiles:
    """Write the rows of a group to files in a new folder of the run. Runs in the task.

    The folder's name is random, because Spark may run a task twice at a time; only the files of the attempt whose
    result it returns become part of the table. Raises ``FolderRefused`` if this machine does not see the run's folder.
    """
    part_files = PartFiles()
    name = uuid.uuid4().hex
    if not isinstance(run, StoredPath) and not run.is_dir():
        raise FolderRefused(f"{platform.node()}, where a task runs, {_UNSHARED}")
    with _hidden_as(target.mode), create_folder(run / name) as folder:
        with _output(folder, spec, target, part_files.shortened) as out, entries_to(folder / LOG) as log:
            for piece in group.pieces:
                for rows in rows_of(piece, spec):
                    if isinstance(rows, LostRows):
                        part_files.damaged.append(rows)
                    elif isinstance(rows, BrokerFailure):
                        part_files.failed[rows.broker] = rows.why
                    elif isinstance(rows, PageEntry):
                        log.add(rows)
                        part_files.log = f"{name}/{LOG}"
                    elif rows.num_rows:
                        out.write_batch(rows)
                        part_files.rows += rows.num_rows
                        part_files.from_journal += (
                            rows.num_rows if spec.content.of_messages and piece.store is None else 0
                        )
                        part_files.harmed += _harmed(rows, spec)
        paths = sorted(folder.rglob("*.parquet"))
        part_files.files = {f"{name}/{path.relative_to(folder)}": FileFacts.of(path) for path in paths}
    return part_files


def _harmed(rows: pa.RecordBatch, spec: TableSpec) -> int:
    column = TELLS_HARM.get(spec.content)
    return 0 if column is None else rows.num_rows - rows.column(column).null_count


@contextmanager
def _output(folder: Path, spec: TableSpec, target: TableTarget, shortened: dict[str, str]) -> Iterator[Any]:
    """Yield a writer for the files of a table; all of them are opened here."""
    if not target.splits:
        with table_file(folder / "part-0.parquet", PARQUET, spec.schema, target.compression) as out:
            yield out
        return
    parts = PartitionedTable(
        folder, PARQUET, spec.schema, target.splits, shortened=shortened, compression=target.compression
    )
    yield parts
    parts.close()


@contextmanager
def _hidden_as(mode: int) -> Iterator[None]:
    """Give new files no rights beyond ``mode`` inside: a worker on another machine has its own umask."""
    hidden = sum(0o7 << shift for shift in (0, 3) if not mode >> shift & 0o4)
    before = os.umask(0o077)
    os.umask(before | hidden)
    try:
        yield
    finally:
        os.umask(before)


def _sorted(damaged: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(
        damaged, key=lambda damage: (damage["broker"], damage["store"] or "", damage["page"] or 0, damage["offset"])
    )


def _text(damaged: Iterable[dict[str, Any]]) -> str:
    return json.dumps(_sorted(damaged), indent=2) + "\n"
