"""An export carried out: which brokers are new, what they hold, and the table written by Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pagefmt.directory.fleet import FleetBroker
from pagefmt.directory.privacy import hidden_as, private_mode
from pagefmt.spark import session
from pagefmt.spark.executors import Tell
from pagefmt.spark.export_job import ExportJob, ExportRefused
from pagefmt.spark.exported import ExportLog, all_news
from pagefmt.spark.java_side import default_file_system
from pagefmt.spark.known_brokers import KnownBroker, recognise
from pagefmt.spark.survey import BrokerSurvey, remarks_of
from pagefmt.spark.table import (
    FleetBacklogs,
    Increment,
    TableTarget,
    WrittenTable,
    backlogs_of,
    surveys,
    write_by_tasks,
    write_log,
)
from pagefmt.spark.table_folder import table_at
from pagefmt.storage.remote_paths import FarPath
from pagefmt.table.table_content import WriteMode

if TYPE_CHECKING:
    from pyspark import SparkContext

_ALL_MAY_READ: Final = 0o666


@dataclass(frozen=True, slots=True)
class SparkRun:
    """How Spark is run, and who hears of it. ``note`` and ``warn`` take a line for the person that waits.

    ``progress``: a context around a job in which its progress is shown.
    """

    master: str
    settings: Mapping[str, str]
    note: Tell
    warn: Tell
    progress: Callable[[SparkContext], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export has done. ``brokers``: how many were read; ``failed``: why others were not, or not to the end.

    ``backlogs``: of all queues, if they were counted. ``apart``: places of brokers that are read in two copies whose
    pages differ. ``alone``: the call names one broker.
    """

    written: WrittenTable
    surveys: tuple[BrokerSurvey, ...] = ()
    backlogs: FleetBacklogs | None = None
    brokers: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)
    apart: Mapping[str, Sequence[str]] = field(default_factory=dict)
    alone: bool = True

    @property
    def is_wrong(self) -> bool:
        """Return whether something is damaged, not known, or not in the table."""
        written = self.written
        return bool(
            written.damaged
            or written.standing
            or written.harmed
            or written.standing_remarks
            or self.failed
            or written.left
            or self.apart
            or any(survey.wrong for survey in self.surveys)
        )

    @property
    def rights(self) -> int:
        """Return the mode of a file made from the pages of all brokers."""
        return rights_of(self.surveys)


def export(job: ExportJob, run: SparkRun, fleet: list[FleetBroker], failed: Mapping[str, str]) -> Exported:
    """Write the table. ``failed``: why brokers of the call were not opened.

    Raises ``ExportRefused``, ``ExportFailed``, ``NoSpark``, and what reading the only broker raises.
    """
    alone = len(fleet) + len(failed) == 1
    why_failed, places = dict(failed), dict[str, list[str]]()
    with ExitStack() as ending:
        if job.incremental:
            held = ending.enter_context(added_to(job.folder, fleet))
            recognised, increment = _increment(job, held, fleet, run)
            job = replace(job, held=held, increment=increment)
            fleet = [news.broker for news in increment.news]
            why_failed |= {broker.named: _copy_text(broker) for broker in recognised if broker.is_copy}
            places = {name: [place.path for place in known_at] for name, known_at in increment.brokers.items()}
        else:
            _note_same(fleet, run.note)
        if job.held is not None and job.increment is not None and job.increment.nothing and not job.backlogs:
            target = TableTarget(job.held, splits=job.splits, form=job.form)
            exported = Exported(write_log(target, job.spec, job.increment))
        else:
            exported = by_spark(job, run, fleet, alone=alone)
    unread = {survey.broker: survey.failed for survey in exported.surveys if survey.failed is not None}
    why_failed |= unread | exported.written.failed
    why_failed |= exported.backlogs.failed if exported.backlogs is not None else {}
    changed = {page["broker"] for page in (exported.written.pages or {}).get("changed", ())}
    return replace(
        exported,
        brokers=len(fleet) - len(unread),
        failed=why_failed,
        alone=alone,
        apart={name: paths for name, paths in places.items() if name in changed and len(paths) > 1},
    )


@contextmanager
def added_to(folder: Path, fleet: list[FleetBroker]) -> Iterator[Path | None]:
    """Lock the table until the block ends, and yield its folder; None if there is no table yet."""
    rights = reduce(and_, (private_mode(broker.place) for broker in fleet))
    there = isinstance(folder, FarPath) or folder.is_dir()
    with hidden_as(rights), table_at(folder) if there else nullcontext() as held:
        yield held


def _increment(
    job: ExportJob, held: Path | None, fleet: list[FleetBroker], run: SparkRun
) -> tuple[list[KnownBroker], Increment]:
    """Return the brokers of the call as the table knows them, and what is new since it was written.

    ``held``: the table's folder, or None if there is no table yet. A table that is overwritten counts as empty. Raises
    ``ExportRefused`` if the table cannot be added to, for example because it was exported with other settings.
    """
    spec = job.spec
    settings = {"in": str(spec.within), "body": str(spec.body), "where": spec.where, "partition_by": list(job.splits)}
    log = None
    if held is not None:
        job.check_format(held)
        if job.mode_in(held) is WriteMode.APPEND:
            log = ExportLog.of(held)
    for name, value in settings.items():
        if log is not None and log.settings.get(name) != value:
            raise ExportRefused(
                f"{job.folder}: was exported with another --{name.replace('_', '-')} "
                f"({log.settings.get(name) or 'none'}); give the same, or --mode overwrite, or another folder"
            )
    before = {} if log is None else log.brokers
    recognised = recognise(fleet, before, {} if log is None else log.stores_of(before))
    _say_known(recognised, run)
    exported = [broker for broker in recognised if broker.same_as is None]
    identities = {**before, **{broker.broker.name: broker.places for broker in exported}}
    news = all_news([broker.broker for broker in exported], log, spec.within)
    return recognised, Increment(settings, news, log, brokers=identities)


def _say_known(brokers: list[KnownBroker], run: SparkRun) -> None:
    """Say which brokers are left out because the call names them twice, and which the table has under another name."""
    for broker in brokers:
        if broker.is_copy:
            run.warn(f"{broker.named}: {_copy_text(broker)}")
        elif broker.same_as is not None:
            run.note(f"{broker.named}: the same directory as {broker.same_as}; exported once")
        elif broker.named != broker.broker.name:
            run.note(f"{broker.named}: the table knows this broker as {broker.broker.name}; its rows keep that name")


def _copy_text(broker: KnownBroker) -> str:
    return (
        f"a copy of {broker.same_as}: both have the node id {broker.identity.node}; left out, so that no message is in "
        "the table twice"
    )


def _note_same(fleet: list[FleetBroker], note: Tell) -> None:
    """Say which brokers are one, named twice, or copies of one: each of its messages is in the table twice."""
    for broker in recognise(fleet, {}, {}) if len(fleet) > 1 else []:
        if broker.is_copy:
            note(
                f"{broker.named}: a copy of {broker.same_as}: both have the node id {broker.identity.node}; the rows "
                "of both are in the table"
            )
        elif broker.same_as is not None:
            note(f"{broker.named}: the same directory as {broker.same_as}; its rows are in the table under both names")


def by_spark(job: ExportJob, run: SparkRun, fleet: list[FleetBroker], *, alone: bool) -> Exported:
    """Survey the brokers and write the table in a Spark context. ``alone``: the call names one broker."""
    if job.increment is not None and not job.backlogs:
        fleet = [news.broker for news in job.increment.news if news.looked or job.increment.log is None]
    with session.running(f"pagectl export {job.folder}", run.master, run.settings, run.note) as context:
        if not session.is_local(run.master):
            _check_default(context, job)
        surveyed = surveys(context, fleet, job.spec)
        readable = [broker for broker, survey in zip(fleet, surveyed, strict=True) if survey.failed is None]
        _say_remarks(surveyed, run, alone=alone)
        if not readable and (job.increment is None or job.increment.log is None):
            raise ExportRefused(next(survey.failed for survey in surveyed if survey.failed is not None))
        written = write_table(context, job, surveyed, partial(run.progress, context))
        backlogs = backlogs_of(context, readable, job.spec) if job.backlogs else None
        return Exported(written, tuple(surveyed), backlogs)


def _check_default(context: SparkContext, job: ExportJob) -> None:
    """Raise ``ExportRefused`` if a path without a scheme means something else to a cluster than to this machine."""
    usual = default_file_system(context)
    if not (isinstance(job.folder, FarPath) or job.to.startswith("file:") or usual.startswith("file:")):
        path = job.folder.absolute()
        raise ExportRefused(
            f"{job.to}: the cluster keeps its files at {usual}; give --to {usual}{path}, or file://{path}"
        )


def _say_remarks(surveyed: list[BrokerSurvey], run: SparkRun, *, alone: bool) -> None:
    """Say what is not known of brokers, and why some cannot be read."""
    for survey in surveyed:
        for remark in remarks_of(survey, alone=alone):
            (run.note if remark.missing else run.warn)(remark.text)
        if survey.failed is not None and not alone:
            run.warn(f"{survey.broker}: {survey.failed}; left out")


def rights_of(surveyed: Sequence[BrokerSurvey]) -> int:
    """Return the rights of files that are made of the pages of all brokers."""
    return reduce(and_, (survey.mode for survey in surveyed), _ALL_MAY_READ)


def write_table(
    context: SparkContext,
    job: ExportJob,
    surveyed: Sequence[BrokerSurvey],
    progress: Callable[[], AbstractContextManager[None]],
) -> WrittenTable:
    """Write the rows of surveyed brokers by Spark's tasks. Raises ``ExportRefused`` and ``ExportFailed``."""
    rights = rights_of(surveyed)
    with hidden_as(rights), table_at(job.folder) if job.held is None else nullcontext(job.held) as into:
        if job.held is None:
            job.check_format(into)
        target = job.target_in(into, rights)
        if job.increment is not None and job.held is None and any(into.iterdir()):
            raise ExportRefused(f"{job.to}: another export has written this table meanwhile; export again")
        pieces = [piece for survey in surveyed for piece in survey.pieces]
        wrong = {survey.broker: survey.remarks if survey.wrong else () for survey in surveyed}
        increment = job.increment and replace(job.increment, surveyed=wrong)
        return write_by_tasks(context, pieces, job.spec, target, progress, increment)
