"""Recovery planned, and carried out in a new folder. The sources are never changed.

Both work the same way, but a plan writes nothing. Page stores are salvaged with what is left of journal and bindings,
and what queues will receive is counted in the resulting pages. Journals are written as by a compaction
(docs/spec/journal.md 8.7), with new page counters, because brokers up to 2.27 rely on them (7.4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pagefmt.change.compaction.planning import roots_of
from pagefmt.change.recovery.counting import PageTally
from pagefmt.change.recovery.message_outcomes import MessageOutcomes
from pagefmt.change.recovery.new_directory import write_rest
from pagefmt.change.recovery.plan import RecoveryPlan
from pagefmt.change.recovery.planning import names_of_pages, plan_of_recovery, salvaged_pages
from pagefmt.change.recovery.queues import QueueToName
from pagefmt.change.recovery.sources import read_sources
from pagefmt.change.salvage.directory import refuse_linked_pages
from pagefmt.directory.locate import DataLocation, new_names
from pagefmt.directory.paging import read_paging
from pagefmt.editions import Edition
from pagefmt.storage.file_snapshot import take_snapshot
from pagefmt.storage.writing import Disk, whole_folder


class _NothingToDo(Exception):
    """Takes the new folder away again."""


def plan_recovery(
    place: DataLocation,
    declared: Sequence[QueueToName] = (),
    edition: Edition | None = None,
    outcomes: MessageOutcomes | None = None,
) -> RecoveryPlan:
    """Read everything, write nothing, and return the plan. Raise ``NothingLeft``.

    ``outcomes`` receives the messages that are known by id.
    """
    sources = read_sources(place, declared, edition, outcomes)
    tally = PageTally(sources.rule, None, names_of_pages(sources))
    with TemporaryDirectory() as folder:
        salvaged = salvaged_pages(sources, Path(folder), tally)
    return plan_of_recovery(sources, salvaged, tally)


def recover(
    place: DataLocation,
    out: Path,
    declared: Sequence[QueueToName] = (),
    edition: Edition | None = None,
    held: Mapping[Path, int] | None = None,
    disk: Disk | None = None,
    outcomes: MessageOutcomes | None = None,
) -> RecoveryPlan:
    """Write a data directory below ``out``, completely or not at all. Write nothing if nothing is damaged.

    ``held``: descriptors of locked lock files. Raises ``NothingLeft``, ``SourceChanged``, ``TargetRefused``,
    ``LinkRefused``, ``OSError``.
    """
    roots = roots_of(place)
    if place.paging is not None:
        refuse_linked_pages(read_paging(place.paging).stores())
    sources = take_snapshot(roots.values())
    recovery_sources = read_sources(place, declared, edition, outcomes)
    try:
        like = next(iter(roots.values())).parent
        with whole_folder(out, roots.values(), disk, like) as (folder, disk), sources.unchanged():
            new = {kind: folder / name for kind, name in new_names(roots).items()}
            tally = PageTally(recovery_sources.rule, disk, names_of_pages(recovery_sources))
            disk.make_folder(new["paging"])
            salvaged = salvaged_pages(recovery_sources, new["paging"], tally)
            plan = plan_of_recovery(recovery_sources, salvaged, tally)
            if not plan.mends:
                raise _NothingToDo
            write_rest(recovery_sources, plan, tally, new, disk, held or {})
    except _NothingToDo:
        pass
    return plan
