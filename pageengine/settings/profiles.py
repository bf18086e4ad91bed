"""What an edition of the broker decides differently: one profile per edition, chosen once where an engine is made.

Source: docs/spec/editions.md 1, docs/spec/paging-engine.md 1.3 and 1.5, measured in the probes of every edition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from pagefmt.editions import Edition


class FullWhen(Enum):
    """When a limit in bytes is reached, and when it is left again."""

    ABOVE = "size > limit, checked at each use"
    AT_CLEARED_AT = "size >= limit, cleared at size <= limit"
    AT_CLEARED_BELOW = "size >= limit, cleared at size < limit"


class ReadAhead(Enum):
    """Which rule lets a queue read more messages from its pages."""

    MAX_SIZE = "bytes in the queue below max-size-bytes"
    MAX_SIZE_AND_COUNT = "the same, and fewer than 1000 messages waiting"
    MAX_READ = "max-read-page-bytes and -messages, what is being delivered included"
    MAX_READ_AND_PREFETCH = "the same, and prefetch-page-bytes and -messages"


@dataclass(frozen=True, slots=True)
class Profile:
    """The rules of one edition. The defaults are those of the newest."""

    edition: Edition = Edition.ARTEMIS_2_56
    full_when: FullWhen = FullWhen.AT_CLEARED_BELOW
    counts_messages: bool = True
    """Limits by number of messages exist (2.21.0)."""
    global_limit: bool = True
    refuses_page_above_max: bool = False
    """page-size-bytes >= max-size-bytes with PAGE: the store cannot be made (up to 2.19)."""
    management_exempt: bool = True
    reference_bytes: int = 72
    message_offset: int = 352
    old_layout: bool = False
    """Messages of 1.x and HornetQ: 4 bytes more encoded, and in memory the buffer they came in."""
    buffer_in_powers_of_two: bool = False
    """HornetQ: the buffer is of 1500 bytes, or of the next power of two."""
    large_offset: int = 168
    references_booked_on_queue: bool = True
    """False: all references of a message are booked on the store of the message's own address (up to 2.15)."""
    page_limits: bool = True
    page_full_without_paging: bool = True
    """A page limit that is reached refuses messages also outside of page mode (2.44.0, not yet 2.28.0)."""
    read_ahead: ReadAhead = ReadAhead.MAX_READ_AND_PREFETCH
    deletes_middle_pages: bool = True
    keeps_empty_page: bool = True
    """After page mode one empty file stays; 2.17 keeps none and skips one number."""
    disk_monitor: bool = True
    disk_policy: bool = True
    """disk-full-policy exists, and a full disk is looked at before the limits (2.50.0)."""
    keeps_grants_of_failed: bool = True
    releases_failed_with_disk: bool = True
    """Where a full disk refused producers of an address with FAIL, they are released when it is well (2.44.0)."""
    forgets_closed: bool = True
    """Grants of a client of another protocol that has gone wait no longer (2.32.0)."""
    drains_refused: bool = True
    """An AMQP link that was refused for a full address is asked for its credit back (2.44.0)."""
    large_amqp_names_address: bool = True
    """A large AMQP message has its address as an extra property by anonymous links, too (2.44.0)."""
    mqtt_names_routing: bool = True
    """A message that came by MQTT has its routing type as a property (2.44.0)."""
    mqtt_session_bytes: int = 621
    """Of the state that the broker keeps of a session of MQTT 3.1.1 (2.56.0)."""
    reloads_decoded: bool = False
    """Messages read from the journal come with their properties decoded, which counts."""
    books_live_pages: bool = False
    """A reference read from the page being written takes its bytes off when acknowledged, though never added."""
    fails_in_transaction: bool = False
    """A refused send of a transaction reaches the client at once and the rest can be committed (HornetQ)."""
    filtered_out_is_unrouted: bool = True
    reports_store_paging: bool = True
    """False: page mode as the old attribute shows it, which answers with `full` for DROP and FAIL."""
    first_page_none: int = 2**63 - 1
    drops_stop_routing: bool = True
    purges_in_place: bool = True
    """A purge with a filter leaves what it passes in the pages (2.53.0); before, it reads it into memory."""
    asks_at_equal: bool = True
    """A core client asks for more credits also where it has exactly what it wants to have (2.56.0, not yet 2.44.0)."""
    writes_pages_in_batches: bool = True
    """A timer writes what goes to a page (2.40.0); before, it is written at once and the timer syncs."""
    flushes_unsynced: bool = True
    """The timer of the journal's buffer also writes what nobody waits for (2.44.0, not yet 2.28.0)."""
    syncs_closed_pages: bool = True
    """A page is forced to the disk when the next one is opened (2.10.0)."""
    keeps_highest: bool = True
    """When a priority is empty, a queue's list takes the next lower one for the highest (2.44.0).

    False, as in 2.28.0: the lowest there is; what waits in between is passed over once.
    """

    @property
    def release(self) -> str:
        """The exact release that was examined."""
        return self.edition.release


_2_56 = Profile()
_2_44 = replace(
    _2_56,
    edition=Edition.ARTEMIS_2_44,
    disk_policy=False,
    filtered_out_is_unrouted=False,
    drops_stop_routing=False,
    purges_in_place=False,
    asks_at_equal=False,
    mqtt_session_bytes=0,
)
_2_28 = replace(
    _2_44,
    edition=Edition.ARTEMIS_2_28,
    full_when=FullWhen.AT_CLEARED_AT,
    read_ahead=ReadAhead.MAX_READ,
    reports_store_paging=False,
    page_full_without_paging=False,
    writes_pages_in_batches=False,
    flushes_unsynced=False,
    keeps_highest=False,
    releases_failed_with_disk=False,
    forgets_closed=False,
    drains_refused=False,
    large_amqp_names_address=False,
    mqtt_names_routing=False,
)
_2_17 = replace(
    _2_28,
    edition=Edition.ARTEMIS_2_17,
    full_when=FullWhen.ABOVE,
    counts_messages=False,
    refuses_page_above_max=True,
    large_offset=0,
    page_limits=False,
    read_ahead=ReadAhead.MAX_SIZE_AND_COUNT,
    deletes_middle_pages=False,
    keeps_empty_page=False,
    first_page_none=2**31 - 1,
)
_2_10 = replace(
    _2_17,
    edition=Edition.ARTEMIS_2_10,
    reference_bytes=64,
    references_booked_on_queue=False,
    keeps_empty_page=True,
    reloads_decoded=True,
)
_2_4 = replace(
    _2_10,
    edition=Edition.ARTEMIS_2_4,
    management_exempt=False,
    read_ahead=ReadAhead.MAX_SIZE,
    keeps_grants_of_failed=False,
    syncs_closed_pages=False,
)
_1_5 = replace(
    _2_4,
    edition=Edition.ARTEMIS_1_5,
    reference_bytes=48,
    old_layout=True,
)
_HORNETQ = replace(
    _1_5,
    edition=Edition.HORNETQ_2_4,
    global_limit=False,
    disk_monitor=False,
    fails_in_transaction=True,
    buffer_in_powers_of_two=True,
    books_live_pages=True,
)

PROFILES = {profile.edition: profile for profile in (_2_56, _2_44, _2_28, _2_17, _2_10, _2_4, _1_5, _HORNETQ)}
FROM_SOURCES_ALONE = frozenset({Edition.ARTEMIS_2_4})
"""Editions that no running broker was compared with."""


def profile_of(edition: Edition) -> Profile:
    """The profile of an edition, or of the newest before it where it behaves as that one does."""
    nearest = PROFILES[max(known for known in PROFILES if known <= edition)]
    return nearest if nearest.edition is edition else replace(nearest, edition=edition)
