"""Recovery planned, and carried out in a new folder. What it reads is never changed.

Both go the same way; a plan writes nothing. Page stores are salvaged by what is left of journal and bindings, and
what queues will be given is counted in the pages as they will be. Journals are written as a compaction writes them
(docs/spec/journal.md 8.7), with page counters made anew, for brokers up to 2.27 go by these (7.4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pagefmt.bytes.file_snapshot import take_snapshot
from pagefmt.bytes.writing import Disk, whole_folder
from pagefmt.compaction.planning import roots_of
from pagefmt.directory.locate import DataLocation, new_names
from pagefmt.editions import Edition
from pagefmt.pages.paging import read_paging
from pagefmt.recovery.counting import PageTally
from pagefmt.recovery.message_outcomes import MessageOutcomes
from pagefmt.recovery.new_directory import write_rest
from pagefmt.recovery.plan import RecoveryPlan
from pagefmt.recovery.planning import names_of_pages, plan_of_recovery, salvaged_pages
from pagefmt.recovery.queues import QueueToName
from pagefmt.recovery.sources import read_sources
from pagefmt.salvage.directory import refuse_linked_pages


class _NothingToDo(Exception):
    """Takes the new folder away again."""


def plan_recovery(
    place: DataLocation, declared: Sequence[QueueToName] = (), edition: Edition | None = None,
    outcomes: MessageOutcomes | None = None,
) -> RecoveryPlan:  # fmt: skip
    """Reads everything, writes nothing. ``outcomes`` takes messages that are known by id. Raises ``NothingLeft``."""
    found = read_sources(place, declared, edition, outcomes)
    tally = PageTally(found.rule, None, names_of_pages(found))
    with TemporaryDirectory() as folder:
        salvaged = salvaged_pages(found, Path(folder), tally)
    return plan_of_recovery(found, salvaged, tally)


def recover(
    place: DataLocation, out: Path, declared: Sequence[QueueToName] = (), edition: Edition | None = None,
    held: Mapping[Path, int] | None = None, disk: Disk | None = None, outcomes: MessageOutcomes | None = None,
) -> RecoveryPlan:  # fmt: skip
    """Write a data directory below ``out``, whole or not at all. Where nothing is damaged nothing is written.

    ``held``: lock files that are held. Raises ``NothingLeft``, ``SourceChanged``, ``TargetRefused``, ``LinkRefused``,
    ``OSError``.
    """
    roots = roots_of(place)
    if place.paging is not None:
        refuse_linked_pages(read_paging(place.paging).stores())
    sources = take_snapshot(roots.values())
    found = read_sources(place, declared, edition, outcomes)
    try:
        like = next(iter(roots.values())).parent
        with whole_folder(out, roots.values(), disk, like) as (folder, disk), sources.unchanged():
            new = {kind: folder / name for kind, name in new_names(roots).items()}
            tally = PageTally(found.rule, disk, names_of_pages(found))
            disk.make_folder(new["paging"])
            salvaged = salvaged_pages(found, new["paging"], tally)
            plan = plan_of_recovery(found, salvaged, tally)
            if not plan.mends:
                raise _NothingToDo
            write_rest(found, plan, tally, new, disk, held or {})
    except _NothingToDo:
        pass
    return plan
