"""Decisions in which an edition of the broker differs: one profile per edition, chosen when an engine is created.

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
    """Rule by which a queue reads more messages from its pages."""

    MAX_SIZE = "bytes in the queue below max-size-bytes"
    MAX_SIZE_AND_COUNT = "the same, and fewer than 1000 messages waiting"
    MAX_READ = "max-read-page-bytes and -messages, what is being delivered included"
    MAX_READ_AND_PREFETCH = "the same, and prefetch-page-bytes and -messages"


@dataclass(frozen=True, slots=True)
class Profile:
    """Rules of one edition. The defaults are those of the newest."""

    edition: Edition = Edition.ARTEMIS_2_56
    full_when: FullWhen = FullWhen.AT_CLEARED_BELOW
    # Limits by number of messages exist (2.21.0).
    counts_messages: bool = True
    global_limit: bool = True
    # With PAGE and page-size-bytes >= max-size-bytes the store cannot be created (up to 2.19).
    refuses_page_above_max: bool = False
    management_exempt: bool = True
    reference_bytes: int = 72
    message_offset: int = 352
    # Messages of 1.x and HornetQ: 4 bytes more encoded, and in memory the buffer they came in.
    old_layout: bool = False
    # HornetQ: the buffer has 1500 bytes, or the next power of two.
    buffer_in_powers_of_two: bool = False
    large_offset: int = 168
    # False: all references of a message are booked on the store of the message's own address (up to 2.15).
    references_booked_on_queue: bool = True
    page_limits: bool = True
    # A page limit that is reached refuses messages also outside page mode (2.44.0, not yet 2.28.0).
    page_full_without_paging: bool = True
    read_ahead: ReadAhead = ReadAhead.MAX_READ_AND_PREFETCH
    deletes_middle_pages: bool = True
    # After page mode one empty file stays; 2.17 keeps none and skips one number.
    keeps_empty_page: bool = True
    disk_monitor: bool = True
    # disk-full-policy exists, and a full disk is checked before the limits (2.50.0).
    disk_policy: bool = True
    keeps_grants_of_failed: bool = True
    # Producers that a full disk refused on an address with FAIL are released when it has room (2.44.0).
    releases_failed_with_disk: bool = True
    # Grants of a client of another protocol that has gone are removed (2.32.0).
    forgets_closed: bool = True
    # An AMQP link that was refused for a full address is asked to return its credit (2.44.0).
    drains_refused: bool = True
    # A large AMQP message has its address as an extra property by anonymous links, too (2.44.0).
    large_amqp_names_address: bool = True
    # A message that came by MQTT has its routing type as a property (2.44.0).
    mqtt_names_routing: bool = True
    # Bytes of the state that the broker keeps of a session of MQTT 3.1.1 (2.56.0).
    mqtt_session_bytes: int = 621
    # Messages read from the journal have decoded properties, which count as memory.
    reloads_decoded: bool = False
    # Acknowledging a reference read from the page being written subtracts its bytes, which were never added.
    books_live_pages: bool = False
    # A refused send in a transaction reaches the client at once, and the rest can be committed (HornetQ).
    fails_in_transaction: bool = False
    filtered_out_is_unrouted: bool = True
    # False: page mode as the old attribute shows it, which answers with `full` for DROP and FAIL.
    reports_store_paging: bool = True
    first_page_none: int = 2**63 - 1
    drops_stop_routing: bool = True
    # A purge with a filter leaves messages it skips in the pages (2.53.0); before, it reads them into memory.
    purges_in_place: bool = True
    # A core client requests more credits also if it has exactly what it wants (2.56.0, not yet 2.44.0).
    asks_at_equal: bool = True
    # A timer writes records to a page (2.40.0); before, they are written at once and the timer syncs.
    writes_pages_in_batches: bool = True
    # The timer of the journal's buffer also writes what no client waits for (2.44.0, not yet 2.28.0).
    flushes_unsynced: bool = True
    # A page is synced when the next one is opened (2.10.0).
    syncs_closed_pages: bool = True
    # When a priority is empty, a queue's list takes the next lower one for the highest (2.44.0). False, as in 2.28.0:
    # the lowest of all; messages between are then passed over once.
    keeps_highest: bool = True

    @property
    def release(self) -> str:
        """Return the exact release that was examined."""
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
_1_5 = replace(_2_4, edition=Edition.ARTEMIS_1_5, reference_bytes=48, old_layout=True)
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
# Editions that were compared with sources only, not with a running broker.
FROM_SOURCES_ALONE = frozenset({Edition.ARTEMIS_2_4})


def profile_of(edition: Edition) -> Profile:
    """Return the profile of an edition, or that of the newest earlier edition if it behaves the same."""
    nearest = PROFILES[max(candidate for candidate in PROFILES if candidate <= edition)]
    return nearest if nearest.edition is edition else replace(nearest, edition=edition)
