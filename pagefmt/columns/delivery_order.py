"""The order in which a broker that starts delivers the journal's messages to a queue (docs/spec/journal.md 7.2)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.columns.arrays.schema import Detail
from pagefmt.columns.page import decode_page
from pagefmt.messages.amqp_message import DEFAULT_PRIORITY
from pagefmt.messages.persisters import AMQP
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
from pagefmt.outstanding.schedules import amqp_at_default
from pagefmt.pages.gather import Ints, PageBytes


def delivery_order(parts: JournalParts, queue: int) -> tuple[Ints, Ints, Ints]:
    """Numbers of the messages that are due, and of those that are scheduled with their times.

    Those of a higher priority come first, those of one priority in the order of arrival; scheduled ones at their time.
    Some editions do not look into AMQP messages for their priority.
    """
    waiting, times = parts.due(queue)
    due = waiting[times == 0]
    priorities = [np.zeros(0, np.int64)]
    for part in parts.parts(due):
        count = len(part.origin.numbers) if isinstance(part, JournalPart) else part.messages
        found = np.full(count, DEFAULT_PRIORITY, np.int64)
        if isinstance(part, JournalPart):
            known = decode_page(PageBytes(part.page.content), 0, Detail.HEADERS).table
            priority = pc.fill_null(known.column("priority"), DEFAULT_PRIORITY)
            if amqp_at_default(parts.start.edition):
                unread = pc.is_in(known.column("persister"), pa.array(AMQP, known.column("persister").type))
                unread = pc.and_not(unread, pa.array(parts.looked_into[part.origin.numbers[: len(known)]]))
                priority = pc.if_else(unread, DEFAULT_PRIORITY, priority)
            found[: len(known)] = np.asarray(priority)
        priorities.append(found)
    due = due[np.argsort(-np.concatenate(priorities), kind="stable")]
    later = np.flatnonzero(times)
    later = later[np.argsort(times[later], kind="stable")]
    return due, waiting[later], times[later]
