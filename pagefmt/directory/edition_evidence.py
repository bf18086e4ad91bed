"""Which edition wrote a directory, as far as its queue bindings and counter records show (docs/spec/editions.md).

Nothing states it. But HornetQ names its files after itself, a queue binding ends with the fields that its writer knew,
and 2.28 and later leave no counter increments behind, because they count anew at start. It matters where readers of
different editions say different things of the same bytes (``message_json``).

    internal (2.33)                          no difference from the newest
    enabled (2.14), no increments            2.28
    enabled, increments                      2.17
    routing type (2.0)                       2.10
    metadata (1.x), no bindings of addresses 1.5
    files named hornetq-…                    HornetQ 2.4
"""

from __future__ import annotations

from pagefmt.directory.bindings import Bindings
from pagefmt.editions import NEWEST, Edition
from pagefmt.journal.listing import OF_HORNETQ
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.record_types import RecordType

INCREMENTS = (RecordType.PAGE_CURSOR_COUNTER_INC, RecordType.PAGE_CURSOR_PENDING_COUNTER)


def assumed_edition(bindings: Bindings | None, journal: MessageJournal) -> Edition:
    """Return the edition that probably wrote the journals, or the newest if nothing shows it."""
    return likely_writer(bindings, journal) or NEWEST


def likely_writer(bindings: Bindings | None, journal: MessageJournal) -> Edition | None:
    """Return the edition that probably wrote the data, judged by file names and binding fields; None if unknown."""
    names = [file.name for source in (journal, bindings) if source for file in source.loaded.files]
    if any(name.startswith(OF_HORNETQ) for name in names):
        return Edition.HORNETQ_2_4 if all(name.startswith(OF_HORNETQ) for name in names) else None
    fields = {name for queue in (bindings.queues.values() if bindings else ()) for name in queue.fields}
    if "internal" in fields:
        return NEWEST
    if "enabled" in fields:
        counted = next(journal.of_type(*INCREMENTS), None) is not None
        return Edition.ARTEMIS_2_17 if counted else Edition.ARTEMIS_2_28
    if "routing_type" in fields:
        return Edition.ARTEMIS_2_10
    return Edition.ARTEMIS_1_5 if "metadata" in fields and bindings and not bindings.addresses else None
