"""``pagectl export``: the messages of brokers, or what is known of them, as Parquet, through Spark."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from enum import StrEnum
from functools import partial, reduce
from itertools import groupby
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pagectl.opening.broker import NO_DIR, from_environment, located
from pagectl.options.columns import FLEET_SPLITS
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import BrokersOption, InOption, TextOrJsonOption, WhereOption
from pagectl.running.exits import CallError, Exit, describe
from pagefmt.bytes.far_paths import FarPath, forget_archives
from pagefmt.columns.table_body import TableBody
from pagefmt.columns.table_content import LakeFormat, StoredIn, TableContent
from pagefmt.errors import PageFmtError
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pyspark import SparkContext

    from pagefmt.directory.fleet import FleetBroker
    from pagefmt.spark.known_brokers import KnownBroker
    from pagefmt.spark.options import TableSpec
    from pagefmt.spark.survey import BrokerSurvey
    from pagefmt.spark.table import FleetBacklogs, Increment, WrittenTable


class Mode(StrEnum):
    """What to do if the table exists."""

    ERROR = "error"
    APPEND = "append"
    OVERWRITE = "overwrite"
    PARTITIONS = "overwrite-partitions"


class Compression(StrEnum):
    """Codecs of Parquet files."""

    ZSTD = "zstd"
    SNAPPY = "snappy"
    GZIP = "gzip"
    LZ4 = "lz4"
    NONE = "none"


_STANDING = "found by an earlier export and not read again since"
EXAMPLES = (
    ("A table of all messages, on all cores of this machine", "export /var/lib/broker --to messages"),
    ("By address, with text bodies", "export /var/lib/broker --to messages --partition-by address --body text"),
    (
        "How much each queue of each broker holds, as a table and an HTML page",
        "export --brokers fleet.csv --what outstanding --to backlogs --report fleet.html",
    ),
    ("Every night, what is new", "export /var/lib/broker --to messages --incremental"),
    ("The same as a Delta Lake table", "export /var/lib/broker --to messages --incremental --table-format delta"),
    (
        "On a cluster that sees the directories under the same paths",
        "export '/nfs/brokers/*' --to /nfs/messages --partition-by broker --master spark://head:7077",
    ),
    ("From an object store and a backup", "export s3://backups/broker-1 /backups/broker-2.tar.zst --to messages"),
    ("Into an object store", "export /var/lib/broker --to s3://warehouse/messages --incremental"),
)


def command(
    to: Annotated[
        str, typer.Option("--to", metavar="OUT", help="Folder of the table: a path that every machine sees, or a URL.")
    ],
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DIR…",
            help="Broker instances, data or paging directories, store folders, page files, such directories below a "
            "URL (s3://…, gs://…, abfs://…, hdfs://…) or in an archive (.tar, .tar.gz, .tar.zst, .tar.xz, .zip), or "
            "patterns of all these [default: $ARTEMIS_INSTANCE].",
        ),
    ] = None,
    brokers: BrokersOption = None,
    what: Annotated[
        TableContent,
        typer.Option("--what", help="What each row is."),
    ] = TableContent.MESSAGES,
    within: InOption = StoredIn.LIVE,
    master: Annotated[
        str,
        typer.Option(
            "--master", metavar="MASTER", help="Where Spark runs: local[N], spark://HOST:PORT, yarn, k8s://HOST."
        ),
    ] = "local[*]",
    body: Annotated[
        TableBody, typer.Option(help="Body columns to write; base64 keeps the bytes, in a binary column.")
    ] = TableBody.SIZE,
    partition_by: Annotated[
        list[str],
        typer.Option(
            "--partition-by", metavar="COLUMN", help=f"Partition the table by: {', '.join(FLEET_SPLITS)}; repeatable."
        ),
    ] = [],  # noqa: B006
    where: WhereOption = None,
    mode: Annotated[
        Mode,
        typer.Option(
            help="What to do if OUT exists; overwrite-partitions replaces only the partitions with new files."
        ),
    ] = Mode.ERROR,
    compression: Annotated[
        Compression, typer.Option("--compression", help="Compression of the files.")
    ] = Compression.ZSTD,
    incremental: Annotated[
        bool,
        typer.Option(
            "--incremental", help="Add only what the table does not have yet; it keeps a log of exported pages."
        ),
    ] = False,
    table_format: Annotated[
        LakeFormat,
        typer.Option("--table-format", help="What defines the files of the table: the folder itself, or a log in it."),
    ] = LakeFormat.PARQUET,
    conf: Annotated[list[str], typer.Option(metavar="K=V", help="Spark setting; repeatable.")] = [],  # noqa: B006
    report_to: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write a report as an HTML file."),
    ] = None,
    broker: BrokerOptions = BrokerOptions(),
    form: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Export messages of one or more brokers to Parquet with Spark.

    Or export what is known about their pages and queues (--what). --report ranks the queues by the bytes they hold,
    with the oldest message. Spark runs on this machine unless --master names a cluster, where every machine must see
    each DIR under the same path and have a Python with numpy, pyarrow and crc32c (--conf spark.pyspark.python=PATH).

    Of a damaged page, the rows before the damage are written; OUT/_damaged.json lists where each ends, and the exit
    status is 1. It is also 1 if rows of --what report damage, if it is not known what is outstanding, or if one of
    several brokers cannot be read (the others are written).

    With --incremental, a page or journal adds only its new messages, each message once, and rows stay when messages
    are gone; if nothing is new, Spark is not started. Damage that an earlier export found is reported again, with
    status 1, as long as the page is unchanged.
    """
    from pagectl.files.destination import refuse_below
    from pagectl.terminal.streams import note

    fleet, failed = _fleet(given or [], brokers, broker)
    settings = _settings(conf)
    spec = _spec(what, within, body, where, partition_by)
    folder = _folder(to)
    places = [each.place for each in fleet]
    refuse_below(folder, places)
    if report_to is not None:
        refuse_below(report_to, places)
        inside = report_to.absolute().is_relative_to(folder.absolute())
        if inside or not report_to.absolute().parent.is_dir() or report_to.is_dir():
            raise CallError(f"--report {report_to}: name a file in an existing folder outside the table")
    if mode is Mode.PARTITIONS and not partition_by:
        raise CallError(f"--mode {mode}: needs --partition-by")
    if incremental and (not what.of_messages or mode is Mode.PARTITIONS):
        raise CallError(
            "--incremental: adds messages to a table; it cannot be combined with other --what or --mode "
            "overwrite-partitions"
        )
    if table_format is not LakeFormat.PARQUET:
        from pagefmt.spark.table_formats import check_format

        if mode is Mode.PARTITIONS:
            raise CallError(f"--table-format {table_format}: works with --mode append and overwrite only")
        check_format(table_format, folder)
    splits = tuple(dict.fromkeys(partition_by))
    job = _Job(to, folder, mode, table_format, compression.value, splits, spec, report_to is not None)
    if folder.is_dir():
        from pagefmt.bytes.writing import refuse_links

        if not isinstance(folder, FarPath):
            refuse_links(folder)
        _check_format(job, folder)
        if not incremental:
            _mode_for(folder, mode)
    elif folder.exists():
        raise CallError(f"{folder}: is a file; name a folder that does not exist yet")
    from pagefmt.spark.session import check_installed

    check_installed(folder)
    alone = len(fleet) + len(failed) == 1
    with ExitStack() as ending:
        ending.callback(forget_archives)
        held = ending.enter_context(_being_added_to(folder, fleet)) if incremental else None
        copies: dict[str, list[str]] = {}
        if incremental:
            known, increment = _increment(job, folder, held, fleet)
            job, fleet = job._replace(held=held, increment=increment), [each.broker for each in increment.news]
            failed |= {each.named: _copy_text(each) for each in known if each.is_copy}
            copies = {name: [each.path for each in places] for name, places in increment.brokers.items()}
        else:
            _note_same(fleet)
        if held is not None and job.increment is not None and job.increment.nothing and report_to is None:
            from pagefmt.spark.table import TableTarget, write_log

            done = _Done(write_log(TableTarget(held, splits=splits, form=table_format), spec, job.increment))
        else:
            done = _by_spark(job, master, settings, fleet, alone=alone)
    failed |= {each.broker: each.failed for each in done.found if each.failed is not None}
    brokers_read = len(fleet) - sum(each.failed is not None for each in done.found)
    written = done.written
    failed |= written.failed
    for name, why in written.failed.items():
        _warn(f"{name}: {why}; not all of it is in the table")
    if report_to is not None and done.backlogs is not None:
        for name, why in done.backlogs.failed.items():
            _warn(f"{name}: {why}; not all of it is in the report")
        failed |= done.backlogs.failed
        _report(report_to, done.backlogs.rows, brokers_read, failed, spec, done.found)
    for name, remarks in written.standing_remarks.items():
        for text, missing in remarks:
            (note if missing else _warn)(f"{'' if alone else f'{name}: '}{text}, {_STANDING}")
    changed = {each["broker"] for each in (written.pages or {}).get("changed", ())}
    apart = [name for name, places in copies.items() if name in changed and len(places) > 1]
    for name in apart:
        _warn(
            f"{name}: {' and '.join(copies[name])} are two copies of one broker (one node id) with pages of different "
            "content; messages that both number alike are in the table once; export each copy to its own table"
        )
    if written.left is not None:
        _warn(
            f"{folder}: {written.left}; the table is complete, and the next export removes the leftover temporary files"
        )
    summary = {
        "to": str(folder) if isinstance(folder, FarPath) else to, "wrote": str(folder.absolute()),
        "brokers": brokers_read, "rows": written.rows,
        "from": {"journal": written.from_journal, "pages": written.rows - written.from_journal}
        if what.of_messages else None,
        "bytes": written.bytes, "damaged": _damaged(written), "harmed": written.harmed,
        "failed": [{"broker": name, "why": why} for name, why in failed.items()], "pages": written.pages,
    }  # fmt: skip
    _say(summary, what, form)
    wrong = summary["damaged"] or written.harmed or written.standing_remarks or failed or written.left
    wrong = wrong or apart or any(each.wrong for each in done.found)
    return Exit.FOUND if wrong else Exit.OK


def _damaged(written: WrittenTable) -> list[dict[str, Any]]:
    found = [(each, False) for each in written.damaged] + [(each, True) for each in written.standing]
    return [{**each, "standing": standing} for each, standing in found]


class _Job(NamedTuple):
    """What is asked for. ``held``: the table that is being added to."""

    to: str
    folder: Path
    mode: Mode
    form: LakeFormat
    compression: str
    splits: tuple[str, ...]
    spec: TableSpec
    report: bool
    held: Path | None = None
    increment: Increment | None = None


class _Done(NamedTuple):
    written: WrittenTable
    found: tuple[BrokerSurvey, ...] = ()
    backlogs: FleetBacklogs | None = None


@contextmanager
def _being_added_to(folder: Path, fleet: list[FleetBroker]) -> Iterator[Path | None]:
    """The table, which no other export changes meanwhile; None where there is none yet."""
    from pagectl.files.destination import hidden_as
    from pagefmt.directory.privacy import private_mode
    from pagefmt.spark.table_folder import table_at

    rights = reduce(and_, (private_mode(each.place) for each in fleet))
    there = isinstance(folder, FarPath) or folder.is_dir()
    with hidden_as(rights), table_at(folder) if there else nullcontext() as held:
        yield held


def _increment(
    job: _Job, folder: Path, held: Path | None, fleet: list[FleetBroker]
) -> tuple[list[KnownBroker], Increment]:  # fmt: skip
    """Return which brokers of the table those of the call are, and what is new.

    Raises ``CallError`` if the table cannot be added to.
    """
    from pagefmt.spark.exported import ExportLog, all_news
    from pagefmt.spark.known_brokers import recognise
    from pagefmt.spark.table import Increment

    spec = job.spec
    settings = {"in": str(spec.within), "body": str(spec.body), "where": spec.where, "partition_by": list(job.splits)}
    log = None
    if held is not None:
        _check_format(job, held)
        if _mode_for(held, job.mode, incremental=True) is Mode.APPEND:
            log = ExportLog.of(held)
    for name, value in settings.items():
        if log is not None and log.settings.get(name) != value:
            before = log.settings.get(name)
            raise CallError(
                f"{folder}: was exported with another --{name.replace('_', '-')} ({before or 'none'}); "
                "give the same, or --mode overwrite, or another folder"
            )
    before = {} if log is None else log.brokers
    known = recognise(fleet, before, {} if log is None else log.stores_of(before))
    _tell_known(known)
    mine = [each for each in known if each.same_as is None]
    identities = {**before, **{each.broker.name: each.places for each in mine}}
    return known, Increment(
        settings, all_news([each.broker for each in mine], log, spec.within), log, brokers=identities
    )


def _tell_known(known: list[KnownBroker]) -> None:
    """Say which brokers are left out because the call names them twice, and which the table has under another name."""
    from pagectl.terminal.streams import note

    for each in known:
        if each.is_copy:
            _warn(f"{each.named}: {_copy_text(each)}")
        elif each.same_as is not None:
            note(f"{each.named}: the same directory as {each.same_as}; exported once")
        elif each.named != each.broker.name:
            note(f"{each.named}: the table knows this broker as {each.broker.name}; its rows keep that name")


def _copy_text(one: KnownBroker) -> str:
    return (
        f"a copy of {one.same_as}: both have the node id {one.identity.node}; left out, so that no message is in the "
        "table twice"
    )


def _by_spark(job: _Job, master: str, settings: dict[str, str], fleet: list[FleetBroker], *, alone: bool) -> _Done:
    from pagectl.terminal.streams import note
    from pagefmt.spark.session import is_local, running

    if job.increment is not None and not job.report:
        fleet = [each.broker for each in job.increment.news if each.looked or job.increment.log is None]
    with running(f"pagectl export {job.folder}", master, settings, note) as context:
        from pagefmt.spark.table import backlogs_of, surveys

        if not is_local(master):
            _check_default(context, job)
        found = surveys(context, fleet, job.spec)
        readable = [each for each, seen in zip(fleet, found, strict=True) if seen.failed is None]
        _tell(found, alone=alone)
        if not readable and (job.increment is None or job.increment.log is None):
            raise CallError(next(each.failed for each in found if each.failed is not None))
        written = _write(context, job, found)
        return _Done(written, tuple(found), backlogs_of(context, readable, job.spec) if job.report else None)


def _check_default(context: SparkContext, job: _Job) -> None:
    """Raises ``CallError`` where a path without a scheme means something else to a cluster than to this machine."""
    usual = str(context._jsc.hadoopConfiguration().get("fs.defaultFS"))
    if not (isinstance(job.folder, FarPath) or job.to.startswith("file:") or usual.startswith("file:")):
        path = job.folder.absolute()
        raise CallError(f"{job.to}: the cluster keeps its files at {usual}; give --to {usual}{path}, or file://{path}")


def _fleet(
    given: list[str], listing: Path | None, options: BrokerOptions
) -> tuple[list[FleetBroker], dict[str, str]]:  # fmt: skip
    """The brokers, and why others cannot be opened. Raises ``CallError`` where there is none."""
    from pagefmt.bytes.far_paths import share_archive
    from pagefmt.directory.fleet import FleetBroker, absolute, fleet_of, looked_for, path_name

    instance = from_environment()
    usual = [str(instance)] if instance is not None and listing is None and options.broker_xml is None else []
    entries = fleet_of(given or usual, listing)
    if len(entries) > 1 and options != BrokerOptions():
        raise CallError("--config, --properties, --profile and --server work with one DIR only")
    if not entries:
        if options.broker_xml is None:
            raise CallError(NO_DIR if listing is None else f"{listing}: names no broker")
        place = located(None, options)
        return [FleetBroker(path_name(place.given), absolute(place))], {}
    found: list[FleetBroker] = []
    failed: dict[str, str] = {}
    with looked_for(entry.path for entry in entries) as find:
        for entry in entries:
            try:
                place = located(entry.path, options, far=True, find=find)
                unpacked = share_archive(place.given, keep=True)
                found.append(FleetBroker(entry.name, absolute(place), entry.edition, unpacked))
            except (CallError, PageFmtError, OSError) as err:
                if len(entries) == 1:
                    raise
                failed[entry.name] = describe(err)
                _warn(f"{entry.name}: {failed[entry.name]}; left out")
    if not found:
        raise CallError(f"none of {len(entries)} brokers can be read")
    return found, failed


def _note_same(fleet: list[FleetBroker]) -> None:
    """Say which brokers are one, named twice, or copies of one: each of its messages is in the table twice."""
    from pagectl.terminal.streams import note
    from pagefmt.spark.known_brokers import recognise

    for each in recognise(fleet, {}, {}) if len(fleet) > 1 else []:
        if each.is_copy:
            note(
                f"{each.named}: a copy of {each.same_as}: both have the node id {each.identity.node}; the rows of both "
                "are in the table"
            )
        elif each.same_as is not None:
            note(f"{each.named}: the same directory as {each.same_as}; its rows are in the table under both names")


def _spec(what: TableContent, within: StoredIn, body: TableBody, where: str | None, splits: list[str]) -> TableSpec:
    """Raises ``CallError``, and the selector's error."""
    from pagefmt.spark.options import TableSpec

    if not what.of_messages and (where is not None or body is not TableBody.SIZE):
        raise CallError(f"--what {what}: has no messages; --where and --body work with --what messages only")
    spec = TableSpec.now(content=what, within=within, body=body, where=where)
    there = [
        name for name in FLEET_SPLITS if name in (*spec.schema.names, *(["day", "hour"] if what.of_messages else []))
    ]
    unknown = [name for name in splits if name not in there]
    if unknown:
        raise CallError(f"--partition-by {unknown[0]}: no such column to partition by; choose from {', '.join(there)}")
    return spec


def _tell(found: list[BrokerSurvey], *, alone: bool) -> None:
    """Say what is not known of brokers; why some cannot be read."""
    from pagectl.terminal.streams import note
    from pagefmt.spark.survey import remarks_of

    for each in found:
        for remark in remarks_of(each, alone=alone):
            (note if remark.missing else _warn)(remark.text)
        if each.failed is not None and not alone:
            _warn(f"{each.broker}: {each.failed}; left out")


def _warn(text: str) -> None:
    from pagectl.terminal.streams import warning

    warning(text)


def _report(
    to: Path, backlogs: Sequence[dict[str, Any]], brokers: int, failed: dict[str, str], spec: TableSpec,
    found: Sequence[BrokerSurvey],
) -> None:  # fmt: skip
    from pagectl.outputs.fleet_html import fleet_html
    from pagefmt.bytes.writing import atomic_file

    with atomic_file(to, at_most=_rights(found)) as fresh:
        fresh.write_text(fleet_html(backlogs, brokers, failed, spec.exported_at), "utf-8")


def _rights(found: Sequence[BrokerSurvey]) -> int:
    """Of files that are made of the pages of all brokers."""
    return reduce(and_, (each.mode for each in found), 0o666)


def _settings(conf: list[str]) -> dict[str, str]:
    settings = {}
    for each in conf:
        key, equals, value = each.partition("=")
        if not equals or not key:
            raise CallError(f"--conf {each}: give KEY=VALUE")
        settings[key] = value
    return settings


def _folder(to: str) -> Path:
    """OUT. Raises ``UnusableUrl`` and ``CallError``."""
    from pagefmt.bytes.far_paths import any_path
    from pagefmt.bytes.stored_paths import StoredPath

    folder = any_path(to)
    if isinstance(folder, FarPath):
        if folder.local_archive is not None:
            raise CallError(f"{folder}: is inside an archive; name a folder, or a URL")
        folder = StoredPath(*folder.parts)
    return folder


def _check_format(job: _Job, folder: Path) -> None:
    """Raises ``CallError`` where a folder holds another table than one that can be written there.

    What an unfinished run has left there is none: it is undone first, and then this is asked again.
    """
    from pagefmt.spark.table_folder import TEMPORARY, unfinished
    from pagefmt.spark.table_formats import check_fits, format_of

    form = format_of(folder)
    if form is not job.form and {path.name for path in folder.iterdir()} - {TEMPORARY} and not unfinished(folder):
        raise CallError(f"{folder}: contains no {job.form} table; give --table-format {form}, or another folder")
    if form is job.form is not LakeFormat.PARQUET:
        check_fits(folder, job.spec.schema, job.splits)


def _mode_for(folder: Path, mode: Mode, *, incremental: bool = False) -> Mode:
    """The mode; where no table is, or what is new is added, one adds."""
    from pagefmt.spark.table_folder import EXPORTED, SUCCESS, TEMPORARY, foreign

    names = {path.name for path in folder.iterdir()} - {TEMPORARY}
    if not names:
        return Mode.APPEND
    if incremental and mode is not Mode.OVERWRITE:
        if not any((folder / EXPORTED).glob("part-*.arrow")):
            raise CallError(
                f"{folder}: has no log of what was exported to it, so nothing can be added without repeating rows; "
                "give --mode overwrite, or another folder"
            )
        return Mode.APPEND
    if mode is Mode.ERROR:
        whole = "a table" if SUCCESS in names else "files without the _SUCCESS of a complete table"
        raise CallError(f"{folder}: contains {whole}; give --mode overwrite or --mode append, or another folder")
    if EXPORTED in names and mode is not Mode.OVERWRITE:
        raise CallError(f"{folder}: has a log of what was exported to it; give --incremental instead of --mode {mode}")
    others = foreign(folder) if mode is Mode.OVERWRITE else []
    if others:
        raise CallError(
            f"{folder}: contains {others[0]}, which does not belong to a table and would be lost; name another folder"
        )
    return mode


def _write(context: SparkContext, job: _Job, found: list[BrokerSurvey]) -> WrittenTable:
    from pagectl.files.destination import hidden_as
    from pagectl.terminal.spark_progress import spark_progress
    from pagefmt.spark.table import TableTarget, write_by_tasks
    from pagefmt.spark.table_folder import Replaced, table_at

    rights = _rights(found)
    watched = partial(spark_progress, context, "exporting")
    with hidden_as(rights), table_at(job.folder) if job.held is None else nullcontext(job.held) as into:
        if job.held is None:
            _check_format(job, into)
        chosen = _mode_for(into, job.mode, incremental=job.increment is not None)
        if job.increment is not None and job.held is None and any(into.iterdir()):
            raise CallError(f"{job.to}: another export has written this table meanwhile; export again")
        replaced = {Mode.OVERWRITE: Replaced.ALL, Mode.PARTITIONS: Replaced.PARTITIONS}.get(chosen, Replaced.NOTHING)
        if replaced is Replaced.ALL and job.form is not LakeFormat.PARQUET:
            replaced = Replaced.LOG
        target = TableTarget(into, job.compression, job.splits, replaced, rights, job.form)
        pieces = [piece for each in found for piece in each.pieces]
        wrong = {each.broker: each.remarks if each.wrong else () for each in found}
        increment = job.increment and replace(job.increment, surveyed=wrong)
        return write_by_tasks(context, pieces, job.spec, target, watched, increment)


def _say(summary: dict[str, Any], what: TableContent, form: TextOrJson) -> None:
    from pagectl.terminal.streams import print_json
    from pagefmt.columns.state_tables import TELLS_HARM
    from pagefmt.pages.frames import DamageKind
    from pagefmt.quantities import size_text

    closed = [each for each in summary["damaged"] if each["kind"] == DamageKind.NOT_PERMITTED]
    damaged = [each for each in summary["damaged"] if each["kind"] != DamageKind.NOT_PERMITTED]
    for each in damaged:
        whose = f"{each['broker']}: " if summary["brokers"] > 1 else ""
        _warn(
            f"{whose}{each['store'] or 'journal'}/{each['file']}: rows end before offset {each['offset']}, "
            f"{'an unknown number of' if each['bytes'] is None else each['bytes']} bytes are not in the table "
            f"({each['kind']})"
            f"{f', {_STANDING}' if each['standing'] else ''}; see: pagectl pages verify"
        )
    if summary["harmed"] and what is not TableContent.DAMAGE:
        _warn(
            f"{count_text(summary['harmed'], 'row')} with damage or unknown values: see the column {TELLS_HARM[what]}"
        )
    pages = summary["pages"]
    for (broker, store), mine in groupby(
        pages["changed"] if pages else [], lambda each: (each["broker"], each["store"])
    ):
        every = [*mine]
        new, missing = (sum(each[name] for each in every) for name in ("rows", "missing"))
        _warn(
            f"{broker}: {store}: {count_text(len(every), 'page')} from {every[0]['page']} on, of other content than "
            f"was exported (compacted, or a number given again): {count_text(new, 'message')} added; "
            f"{missing} that were exported are in them no longer, and stay in the table"
        )
    if form is TextOrJson.json:
        print_json(summary)
        return
    where = f"({summary['wrote']}/_damaged.json)"
    aside = f", {count_text(len(damaged), 'damaged page')} {where}" if damaged else ""
    aside += f", {count_text(len(closed), 'page')} not permitted to be read {where}" if closed else ""
    rows = count_text(summary["rows"], "message" if what.of_messages else "row")
    if summary["from"] is not None and summary["rows"]:
        rows += f" ({summary['from']['journal']} from the journal, {summary['from']['pages']} from pages)"
    sys.stdout.write(f"{rows}, {size_text(summary['bytes'])} in {summary['wrote']}{aside}{_pages_text(pages)}\n")


def _pages_text(pages: dict[str, Any] | None) -> str:
    if pages is None:
        return ""
    deleted = sum(last - first + 1 for each in pages["deleted"] for first, last in each["pages"])
    counts = {
        "new": pages["added"], "grew": pages["grew"], "changed": len(pages["changed"]),
        "deleted, their rows stay": deleted, "as before": pages["skipped"],
    }  # fmt: skip
    return f"; pages: {', '.join(f'{count} {name}' for name, count in counts.items() if count) or 'none'}"
