"""Tables that the tasks of Spark write, each its Parquet files below ``_temporary``.

When all are done the files move up, then ``_SUCCESS`` says that the table is whole. The table's folder is one that all
tasks see, or lies below a URL. No row passes through Spark's virtual machine, which would cost two to three times the
processor time.

Before that, ``surveys`` reads journals and bindings, in tasks. What comes back to the machine that runs the command
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

from pagefmt.bytes.files import utf8_name
from pagefmt.bytes.stored_paths import StoredPath, made_folder
from pagefmt.bytes.writing import PARTIAL_SUFFIX
from pagefmt.columns.files import PARQUET, table_file
from pagefmt.columns.partitions import PartitionedTable
from pagefmt.columns.state_tables import TELLS_HARM
from pagefmt.columns.table_content import LakeFormat, TableContent
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
    told_pages,
    write_entries,
)
from pagefmt.spark.groups import GROUP, JOURNAL, PageGroup, Piece, grouped
from pagefmt.spark.known_brokers import KnownPlaces
from pagefmt.spark.options import TableSpec
from pagefmt.spark.rows import BrokerFailure, LostRows, rows_of
from pagefmt.spark.session import answered, cause
from pagefmt.spark.survey import BrokerSurvey, surveyed
from pagefmt.spark.table_folder import DAMAGED, EXPORTED, SUCCESS, TEMPORARY, Replaced, note_shortened, put, read_note
from pagefmt.spark.table_formats import FileFacts, FormatCommit, TablePart, last_export, table_schema, values_of

if TYPE_CHECKING:
    from pyspark import SparkContext

_Found = TypeVar("_Found")
Watched = Callable[[], AbstractContextManager[None]]
"""A context around the job in which the caller shows progress."""
SURVEYS: Final = 16
"""Tasks for each core in which brokers are looked at."""
SPLIT: Final = 8 * GROUP
"""Bytes of pages that make the files of one task where a table is split by what differs from message to message."""
LOG: Final = "pages.arrow"
"""What a run found out about pages, below its folder and that of each task."""
_UNSHARED: Final = "sees a different folder there; every machine has to see the same one, or name a URL (s3://…)"
OF_PAGE: Final = ("broker", "store", "page")
PAGE_SPLITS: Final = frozenset(("broker", "store", "store_address", "page"))
"""Columns with one value for all messages of a page."""


class ExportFailed(PageFmtError):
    """A task failed; there is no table."""


class FolderRefused(PageFmtError):
    """A table's folder is another one on another machine."""


@dataclass(frozen=True, slots=True)
class TableTarget:
    """Where a table goes, and how. ``folder``: of ``table_at``. ``mode``: rights of its files."""

    folder: Path
    compression: str = "zstd"
    splits: tuple[str, ...] = ()
    replaced: Replaced = Replaced.NOTHING
    mode: int = 0o666
    form: LakeFormat = LakeFormat.PARQUET


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """What is in the table. ``bytes``: of its files. ``damaged``: where the rows of a page end before it does.
    ``from_journal``: rows of messages in the journal.

    ``failed``: why a broker could not be read to its end. ``harmed``: rows that tell of something damaged or not known.
    ``standing``: as ``damaged``, found by an earlier run in pages that are as they were, and were not read again;
    ``standing_remarks``: what it found wrong with brokers that nobody looked at. ``left``: why temporary files are.
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
    """What is new beside a table. ``settings``: how it is made; ``log``: None where there is none yet.

    ``surveyed``: what is wrong with brokers, nothing of those that are well; the others were not looked at.
    ``brokers``: where the brokers of the table were read, after this run.
    """

    settings: dict[str, Any]
    news: tuple[BrokerNews, ...]
    log: ExportLog | None = None
    surveyed: BrokerRemarks = field(default_factory=dict)
    brokers: Mapping[str, KnownPlaces] = field(default_factory=dict)

    @property
    def nothing(self) -> bool:
        """No page has to be looked at, and the table is there."""
        return self.log is not None and not any(each.looked for each in self.news)

    @property
    def wrong(self) -> BrokerRemarks:
        """What is damaged or not known of brokers beside their pages, as it was when somebody looked last."""
        before = self.log.wrong if self.log is not None else {}
        return {name: told for name, told in {**before, **self.surveyed}.items() if told}

    @property
    def standing(self) -> BrokerRemarks:
        """Of that, what an earlier run has found of brokers of this one, which has not looked again."""
        mine = {each.broker.name for each in self.news} - self.surveyed.keys()
        return {name: told for name, told in self.wrong.items() if name in mine}

    def is_as_it_was(self, found: Mapping[str, Any]) -> bool:
        """Whether a page with this damage is there, and was not looked at."""
        if found["store"] is None:
            return any(each.same_journal for each in self.news if each.broker.name == found["broker"])
        skipped = (each.skipped.get(found["store"], ()) for each in self.news if each.broker.name == found["broker"])
        return any(found["page"] in each for each in skipped)


@dataclass(slots=True)
class PartFiles:
    """What one task wrote: files, below the run's folder; ``shortened`` as ``PartitionedTable``.

    ``log``: of the pages that it looked at.
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
    """Of all brokers, in their order. Raises ``ExportFailed``."""
    tasks = min(len(brokers), SURVEYS * context.defaultParallelism)
    return _looked(lambda: context.parallelize(brokers, tasks).map(lambda each: surveyed(each, spec)).collect())


def _looked(job: Callable[[], list[_Found]]) -> list[_Found]:
    """What a job that writes nothing finds."""
    try:
        return answered(job)
    except Exception as err:
        raise ExportFailed(f"brokers cannot be read: {cause(err)}") from err


class FleetBacklogs(NamedTuple):
    """``rows`` of a table of ``outstanding``, with ``oldest`` in ms, and why brokers could not be read any further."""

    rows: list[dict[str, Any]]
    failed: dict[str, str]


def backlogs_of(context: SparkContext, brokers: Sequence[FleetBroker], spec: TableSpec) -> FleetBacklogs:
    """Which queue holds how much, of all brokers. Raises ``ExportFailed``."""
    wanted = TableSpec(content=TableContent.OUTSTANDING, exported_at=spec.exported_at, run=spec.run)
    surveyed_now = surveys(context, brokers, wanted)
    groups = grouped([piece for each in surveyed_now for piece in each.pieces])
    made = _looked(
        lambda: context.parallelize(groups, len(groups)).flatMap(lambda each: list(_plain(each, wanted))).collect()
    )
    failed = {each.broker: each.failed for each in surveyed_now if each.failed is not None}
    failed |= {each.broker: each.why for each in made if isinstance(each, BrokerFailure)}
    return FleetBacklogs([each for each in made if not isinstance(each, BrokerFailure)], failed)


def _plain(group: PageGroup, spec: TableSpec) -> Iterator[dict[str, Any] | BrokerFailure]:
    for piece in group.pieces:
        for batch in rows_of(piece, spec):
            if isinstance(batch, BrokerFailure):
                yield batch
            elif isinstance(batch, pa.RecordBatch):
                at = batch.schema.get_field_index("oldest")
                yield from batch.set_column(at, "oldest", batch.column(at).cast(pa.int64())).to_pylist()


def write_by_tasks(
    context: SparkContext, pieces: Sequence[Piece], spec: TableSpec, target: TableTarget, watched: Watched,
    increment: Increment | None = None,
) -> WrittenTable:  # fmt: skip
    """Raises ``ExportFailed``."""
    if increment is not None:
        if increment.nothing:
            return write_log(target, spec, increment)
        pieces = [*_remaining(pieces, increment)]
    cores = max(1, context.defaultParallelism)
    least = GROUP if set(target.splits) <= PAGE_SPLITS else min(SPLIT, sum(each.size for each in pieces) // (2 * cores))
    groups = grouped(pieces, max(GROUP, least))
    run = _new_run(target.folder)
    with watched():
        try:
            made = context.parallelize(groups, len(groups)).map(lambda group: write_part(group, spec, target, run))
            parts: list[PartFiles] = answered(made.collect)
        except Exception as err:
            raise ExportFailed(f"{_called(target.folder)}: {cause(err)}; nothing was written") from err
    return _put(target, spec, run, parts, increment)


def write_log(target: TableTarget, spec: TableSpec, increment: Increment) -> WrittenTable:
    """Where no page has to be looked at: those that were deleted are noted, and nothing else is done."""
    if not any(each.deleted for each in increment.news):
        standing = [each for each in _known_damage(target.folder) if increment.is_as_it_was(each)]
        pages = told_pages(NO_PAGES, increment.news)
        return WrittenTable(0, 0, [], pages=pages, standing=standing, standing_remarks=increment.standing)
    return _put(target, spec, _new_run(target.folder), [], increment)


def _remaining(pieces: Iterable[Piece], increment: Increment) -> Iterator[Piece]:
    news = {each.broker.name: each for each in increment.news}
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
    damaged = _sorted(each._asdict() for part in parts for each in part.damaged)
    anew = target.replaced in (Replaced.ALL, Replaced.LOG)
    known = [] if anew else _known_damage(target.folder)
    shortened = {short: value for part in parts for short, value in part.shortened.items()}
    note_shortened(target.folder, run, shortened)
    empty = target.form is LakeFormat.PARQUET and not (target.folder / SUCCESS).exists()
    empty = empty and not any(part.rows for part in parts)
    files = {
        file: (_in_table(file, number, run.name), facts)
        for number, part in enumerate(parts) for file, facts in part.files.items() if facts.rows or empty
    }  # fmt: skip
    names = {file: name for file, (name, _) in files.items()}
    if not isinstance(run, StoredPath) and not all((run / name).exists() for name in names):
        raise ExportFailed(f"{_called(target.folder)}: a machine where a task ran {_UNSHARED}; nothing was written")
    number = last_export(target.folder)
    pages = commit = None
    standing: list[dict[str, Any]] = []
    if increment is not None:
        number = number if increment.log is None or anew else max(number, increment.log.run)
        looked = write_entries(
            run / LOG, [run / part.log for part in parts if part.log], increment.news, increment.settings,
            increment.wrong, increment.brokers,
        )  # fmt: skip
        names[LOG] = f"{EXPORTED}/{log_name(number + 1, run.name, run / LOG)}"
        pages = told_pages(looked, increment.news)
        states = _states(looked) if known else {}
        known = [each for each in known if states.get(_page_of(each), SAME) in (SAME, DELETED)]
        standing = [each for each in known if increment.is_as_it_was(each) or states.get(_page_of(each)) == SAME]
    if target.form is not LakeFormat.PARQUET:
        made = [TablePart(name, facts, values_of(Path(name).parts[:-1], shortened)) for name, facts in files.values()]
        far = isinstance(target.folder, StoredPath)
        table = target.folder if far else Path(_called(target.folder.absolute()))
        schema = table_schema(spec.schema, target.splits)
        commit = FormatCommit(
            target.form, target.folder, table, schema, target.splits, made, number + 1, anew, run.name
        )
    left = put(
        target.folder, run, names, _text([*known, *damaged]) if known or damaged else None, target.replaced, commit
    )  # fmt: skip
    failed = {broker: why for part in parts for broker, why in part.failed.items()}
    size = sum(facts.size for _, facts in files.values())
    counts = ("rows", "from_journal", "harmed")
    rows, from_journal, harmed = (sum(getattr(part, name) for part in parts) for name in counts)
    remarks = {} if increment is None else increment.standing
    return WrittenTable(rows, size, damaged, from_journal, harmed, failed, pages, standing, remarks, left)


def _known_damage(folder: Path) -> list[dict[str, Any]]:
    """What earlier runs have found in the pages that the rows of a table are of."""
    return read_note(folder / DAMAGED, [])


def _states(looked: pa.Table) -> dict[tuple[Any, ...], str]:
    """Of the pages that a run looked at."""
    columns = [looked.column(name).to_pylist() for name in (*OF_PAGE, "state")]
    return {tuple(page): state for *page, state in zip(*columns, strict=True)}


def _page_of(found: Mapping[str, Any]) -> tuple[Any, ...]:
    """As the log names it."""
    page = JOURNAL if found["page"] is None else found["page"]
    return found["broker"], utf8_name(found["store"] or ""), page


def _called(folder: Path) -> str:
    return str(folder).removesuffix(PARTIAL_SUFFIX)


def _in_table(file: str, number: int, run: str) -> str:
    """``TASK/NAME=VALUE/part-0.parquet`` as it is called in the table: files in the order of their positions."""
    folders, name = Path(file).parts[1:-1], Path(file).stem.removeprefix("part-")
    return str(Path(*folders, f"part-{number:05d}-{name}-{run}.parquet"))


def write_part(group: PageGroup, spec: TableSpec, target: TableTarget, run: Path) -> PartFiles:
    """Runs in the task: the rows of its pieces in files of its own, also while a second attempt runs."""
    found = PartFiles()
    name = uuid.uuid4().hex
    if not isinstance(run, StoredPath) and not run.is_dir():
        raise FolderRefused(f"{platform.node()}, where a task runs, {_UNSHARED}")
    with _hidden_as(target.mode), made_folder(run / name) as folder:
        with _output(folder, spec, target, found.shortened) as out, entries_to(folder / LOG) as log:
            for piece in group.pieces:
                for each in rows_of(piece, spec):
                    if isinstance(each, LostRows):
                        found.damaged.append(each)
                    elif isinstance(each, BrokerFailure):
                        found.failed[each.broker] = each.why
                    elif isinstance(each, PageEntry):
                        log.add(each)
                        found.log = f"{name}/{LOG}"
                    elif each.num_rows:
                        out.write_batch(each)
                        found.rows += each.num_rows
                        found.from_journal += each.num_rows if spec.content.of_messages and piece.store is None else 0
                        found.harmed += _harmed(each, spec)
        made = sorted(folder.rglob("*.parquet"))
        found.files = {f"{name}/{path.relative_to(folder)}": FileFacts.of(path) for path in made}
    return found


def _harmed(rows: pa.RecordBatch, spec: TableSpec) -> int:
    column = TELLS_HARM.get(spec.content)
    return 0 if column is None else rows.num_rows - rows.column(column).null_count


@contextmanager
def _output(folder: Path, spec: TableSpec, target: TableTarget, shortened: dict[str, str]) -> Iterator[Any]:
    """The one place that opens files of a table."""
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
    """Inside, new files get no rights beyond ``mode``; a worker on another machine has a mask of its own."""
    hidden = sum(0o7 << shift for shift in (0, 3) if not mode >> shift & 0o4)
    before = os.umask(0o077)
    os.umask(before | hidden)
    try:
        yield
    finally:
        os.umask(before)


def _sorted(damaged: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(
        damaged, key=lambda each: (each["broker"], each["store"] or "", each["page"] or 0, each["offset"])
    )  # fmt: skip


def _text(damaged: Iterable[dict[str, Any]]) -> str:
    return json.dumps(_sorted(damaged), indent=2) + "\n"
