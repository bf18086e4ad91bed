"""Transactions that begin and end in one journal file, all at once: most of what a broker writes is of that kind.

``pagefmt.journal.load`` applies the others record by record and is the reference for these (docs/spec/journal.md 3.2).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

import numpy as np

from pagefmt.journal.fast_scan import Ints, JournalFrames
from pagefmt.journal.records import RecordKind

_ROWS: Final = (RecordKind.ADD_TX, RecordKind.UPDATE_TX, RecordKind.DELETE_TX)
_IN_TRANSACTION: Final = (*_ROWS, RecordKind.PREPARE, RecordKind.COMMIT, RecordKind.ROLLBACK)


class SettledRecords(NamedTuple):
    """Rows of a file's frames by what became of them.

    ``rows``: records that took effect, in that order. ``when``: the frame that made each valid, itself or a commit.
    ``deletes``: deleting records that took effect. ``others``: left to the reference.
    """

    rows: Ints
    when: Ints
    deletes: Ints
    others: Ints


def settled(frames: JournalFrames, open_before: Collection[int]) -> SettledRecords:
    """Sort the frames of a file by their effect. ``open_before``: transactions that an earlier file began."""
    kind = frames.kind
    events = np.flatnonzero(np.isin(kind, _IN_TRANSACTION))
    whole, commits = _whole(frames, events, open_before)
    ended = events[whole]
    adds = (kind == RecordKind.ADD) | (kind == RecordKind.UPDATE)
    adds[ended] = np.isin(kind[ended], (RecordKind.ADD_TX, RecordKind.UPDATE_TX))
    when = np.arange(len(kind))
    when[ended] = commits[whole]
    rows = np.flatnonzero(adds)
    rows = rows[np.argsort(when[rows], kind="stable")]
    deletes = np.concatenate([np.flatnonzero(kind == RecordKind.DELETE), ended[kind[ended] == RecordKind.DELETE_TX]])
    return SettledRecords(rows, when[rows], deletes, events[~whole])


def _whole(frames: JournalFrames, events: Ints, open_before: Collection[int]) -> tuple[Ints, Ints]:
    """Return which events belong to a complete transaction, and the last event of each one's transaction.

    Complete: nothing but records followed by a commit that states their number.
    """
    # Grouping events by transaction with a stable sort keeps their order within each one.
    order = np.argsort(frames.tx[events], kind="stable")
    sorted_events = events[order]
    tx = frames.tx[sorted_events]
    starts = np.flatnonzero(np.append(True, tx[1:] != tx[:-1])[: len(tx)])
    ends = np.append(starts[1:], len(tx))[: len(starts)]
    last = sorted_events[ends - 1]
    records = np.append(0, np.cumsum(np.isin(frames.kind[sorted_events], _ROWS)))
    inside = records[ends] - records[starts]
    whole = (frames.kind[last] == RecordKind.COMMIT) & (inside == ends - starts - 1) & (frames.records[last] == inside)
    if open_before:
        whole &= ~np.isin(tx[starts], np.fromiter(open_before, np.int64, len(open_before)))
    back = np.empty(len(order), np.int64)
    back[order] = np.repeat(np.arange(len(starts)), ends - starts)
    return whole[back], last[back]
