"""Checks of one journal's records: added twice, updates without the record, unknown types."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pagefmt.arrays import Ints, narrow
from pagefmt.check.cross.of_journal import bad_record
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Severity, about_data
from pagefmt.journal.bodies import COUNTERS, FIXED, BadBody, decode_body
from pagefmt.journal.files import Journal
from pagefmt.journal.load import LoadedJournal, UnreadableRecord
from pagefmt.journal.numbers import Numbers
from pagefmt.journal.record_types import BINDINGS, EVERY, RecordType, type_name
from pagefmt.quantities import count_text

_BY_THEMSELVES = frozenset((RecordType.DUPLICATE_ID, RecordType.HEURISTIC_COMPLETION))
# types that ``of_messages`` reports
_WITH_MESSAGES = frozenset(
    (
        RecordType.ADD_REF,
        RecordType.ACKNOWLEDGE_REF,
        RecordType.UPDATE_DELIVERY_COUNT,
        RecordType.SET_SCHEDULED_DELIVERY_TIME,
    )
)


def check_records(place: str, journal: Journal, loaded: LoadedJournal, *, live: bool) -> Iterator[Finding]:
    """Yield findings about records that are added twice, updates without a record, and bodies of the wrong form.

    ``loaded`` must have all of its live records. ``live``: a broker may be between two records.
    """
    if not loaded.rows:
        return
    columns = loaded.columns
    ids, types = _of_rows(loaded, columns.ids), _of_rows(loaded, columns.types)
    update = _of_rows(loaded, columns.updates) != 0
    added, counts = np.unique(ids[~update], return_counts=True)
    severity = Severity.INFO if live or loaded.is_continued else Severity.WARNING
    if (twice := added[counts > 1]).size:
        yield about_data(
            severity,
            "record-given-twice",
            place,
            f"{count_text(len(twice), 'record id')} added more than once, the first is {twice[0]}",
            "loads each of them; for messages and queues, the last one counts",
        )
    prepared = [np.frombuffer(branch.rows, np.int64) for branch in loaded.prepared]
    record_ids = np.concatenate([added, *(columns.ids.at(branch) for branch in prepared)])
    without = update & ~np.isin(ids, record_ids)
    for kind in np.unique(types[without]).tolist():
        if journal is not Journal.MESSAGES or kind not in _WITH_MESSAGES:
            orphans = ids[without & (types == kind)]
            yield about_data(
                severity,
                "update-without-record",
                f"{place} {type_name(kind)}",
                f"{count_text(len(orphans), 'update')} of records that do not exist, the first of record {orphans[0]}",
                "treats it as the record itself" if journal is Journal.BINDINGS else "skips it",
            )
    if journal is Journal.MESSAGES:
        yield from _bodies(place, loaded, types)


def check_types(place: str, journal: Journal, loaded: LoadedJournal, edition: Edition) -> Iterator[Finding]:
    """Yield records that do not belong in this journal, with what a broker of the edition does about them."""
    if not loaded.rows or journal is Journal.JMS:
        return
    misplaced = loaded.misplaced(BINDINGS if journal is Journal.BINDINGS else EVERY - BINDINGS)
    if misplaced is None:
        return
    rows = misplaced.rows.every()
    types, ids = loaded.columns.types.at(rows), loaded.columns.ids.at(rows)
    passes = journal is Journal.BINDINGS or edition >= Edition.ARTEMIS_2_56
    for kind in np.unique(types).tolist():
        found_ids = ids[types == kind]
        yield about_data(
            Severity.WARNING if passes else Severity.ERROR,
            "unknown-record",
            f"{place} {type_name(kind)}",
            f"{count_text(len(found_ids), 'record')} of a type that does not belong there, the first is record "
            f"{found_ids[0]}",
            "skips them; one up to 2.44 does not start" if passes else "does not start",
        )


def _of_rows(loaded: LoadedJournal, column: Numbers) -> Ints:
    """Return the values of a column for the live records."""
    return np.concatenate([narrow(column.at(some)) for some in loaded.rows.portions()])


def _bodies(place: str, loaded: LoadedJournal, types: Ints) -> Iterator[Finding]:
    """Yield records whose bodies do not have the form of their type."""
    sizes = _of_rows(loaded, loaded.columns.sizes)
    for kind in np.unique(types).tolist():
        suspects = types == kind
        if layout := FIXED.get(kind) or COUNTERS.get(kind):
            short = COUNTERS.get(kind)
            suspects &= ~np.isin(sizes, [layout.LAYOUT.size, *([short.SHORT.size] if short else [])])
        elif kind not in _BY_THEMSELVES:
            continue
        for row in map(loaded.rows.__getitem__, np.flatnonzero(suspects).tolist()):
            try:
                decode_body(kind, loaded.columns.body(row))
            except BadBody as err:
                yield bad_record(place, UnreadableRecord(loaded.columns.ids[row], kind, str(err), err.longer))
