"""What a broker that has just started does with the next message of a core client, address by address.

Source: docs/spec/paging-engine.md 2.3, 2.6, 2.8 and 4; measured on the directories of corpus/limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

from pageengine.model.metric import BY_SIZE
from pageengine.model.schedule import Schedule
from pageengine.paging.gates import Gate
from pageengine.paging.limits import Limits
from pageengine.paging.store import AddressStore
from pageengine.settings.profiles import Profile
from pageengine.settings.settings import AddressFullPolicy, EngineSettings, PageFullPolicy


class SendBlocker(StrEnum):
    """Limit that keeps a message out."""

    PAGE_BYTES = "page-limit-bytes"
    PAGE_MESSAGES = "page-limit-messages"
    SIZE_BYTES = "max-size-bytes"
    SIZE_MESSAGES = "max-size-messages"
    DISK = "disk"
    GLOBAL = "global-max-size"


class AddressMemory(NamedTuple):
    """Bytes and messages that an address holds in memory."""

    size: int = 0
    messages: int = 0


class PagesAtStart(NamedTuple):
    """Page files of an address that remain after a broker's clean-up at start.

    ``files`` is their number, ``waits`` whether messages wait in them, ``most`` the messages of the queue with the
    most.
    """

    files: int = 0
    waits: bool = False
    most: int = 0


class PageLimit(NamedTuple):
    """Page limit in force. ``used``: 0 to 1, of the limit that is nearer."""

    bytes: int | None
    messages: int | None
    policy: PageFullPolicy
    used: float


class NextSend(NamedTuple):
    """Broker's answer to the next message for an address.

    ``page_full`` is the broker's own flag. ``refusal`` is the reason for not accepting the message (None: it is
    accepted), ``effect`` whether it is refused or dropped, or its producer blocked.
    """

    page_full: bool
    limit: PageLimit | None
    refusal: SendBlocker | None = None
    effect: str | None = None


def next_sends(
    settings: EngineSettings,
    profile: Profile,
    pages: Mapping[str, PagesAtStart],
    memory: Mapping[str, AddressMemory],
    *,
    disk_full: bool,
) -> dict[str, NextSend]:
    """Return the answer to the next message of each address of ``pages``.

    Addresses that only ``memory`` has count towards the global limit alone.
    """
    limits = Limits(settings, profile)
    limits.set_disk_full(disk_full)
    for load in memory.values():
        if load.size:
            limits.metric.add(load.size, load.messages)
    return {address: _next_send(limits, address, at, memory.get(address)) for address, at in pages.items()}


def needs_memory(settings: EngineSettings, profile: Profile, pages: Mapping[str, PagesAtStart]) -> bool:
    """Return whether the memory that messages take decides anything.

    With PAGE it keeps none out, but a full address starts page mode, which the clean-up ends again: an empty page goes.
    """
    limits = Limits(settings, profile)
    return any(_decided_by_memory(_store(limits, address, at)) for address, at in pages.items())


def page_limit(
    settings: EngineSettings,
    profile: Profile,
    address: str,
    at: PagesAtStart,
    memory: Callable[[], Mapping[str, AddressMemory]],
) -> NextSend:
    """Return the page limit of an address and whether it is reached, whatever else keeps messages out.

    ``memory`` is asked only where it decides: see ``needs_memory``.
    """
    store = _store(Limits(settings, profile), address, at)
    if store.gates.policy is AddressFullPolicy.PAGE and _decided_by_memory(store):
        return next_sends(settings, profile, {address: at}, memory(), disk_full=False)[address]
    return NextSend(store.page_limits.reached, _used(store, at))


def _decided_by_memory(store: AddressStore) -> bool:
    """Return whether memory decides if a page limit stays reached, or if a message is let in."""
    return store.gates.policy is not AddressFullPolicy.PAGE or (store.page_limits.reached and not store.paging)


def _store(limits: Limits, address: str, at: PagesAtStart) -> AddressStore:
    store = AddressStore(limits, Schedule(), {}, address, limits.settings.address_settings.effective(address))
    store.number_of_pages = at.files
    store.paging = at.waits
    store.page_limits.check_pages(at.files)
    store.page_limits.check_messages(at.most)
    return store


def _next_send(limits: Limits, address: str, at: PagesAtStart, memory: AddressMemory | None) -> NextSend:
    store = _store(limits, address, at)
    if memory is not None and memory.size:
        store.metric.add(*memory)
    if store.gates.policy is AddressFullPolicy.PAGE and not store.paging and (store.gates.full or limits.global_over):
        store.number_of_pages = 0
        store.page_limits.reached = False
    limit = _used(store, at)
    effect = _effect(store)
    return NextSend(store.page_limits.reached, limit, _refusal(store) if effect else None, effect)


def _refusal(store: AddressStore) -> SendBlocker:
    if store.limits.disk_full:
        return SendBlocker.DISK
    if store.gates.policy is AddressFullPolicy.PAGE:
        has_room = store.page_limits.has_room(store.number_of_pages)
        return SendBlocker.PAGE_MESSAGES if has_room else SendBlocker.PAGE_BYTES
    if store.gates.full:
        return SendBlocker.SIZE_BYTES if store.metric.over == BY_SIZE else SendBlocker.SIZE_MESSAGES
    return SendBlocker.GLOBAL


def _effect(store: AddressStore) -> str | None:
    """Return what keeps a message of a core client out: at the request for credits, or when it has arrived."""
    granted: list[bool] = []
    if not store.gates.check_memory(lambda: granted.append(True), keep_refused=False):
        return "refused"
    if not granted:
        return "blocked"
    return {Gate.FAIL: "refused", Gate.DROP: "dropped"}.get(store.gates.decide_arrival())


def _used(store: AddressStore, at: PagesAtStart) -> PageLimit | None:
    limits, policy = store.page_limits, store.page_limits.policy
    if policy is None:
        return None
    used = 0.0
    most_bytes = store.settings.page_limit_bytes
    bounded = most_bytes is not None and most_bytes >= 0 and limits.max_pages is not None
    if bounded:
        held = at.files * store.page_size
        used = min(held / most_bytes, 1.0) if most_bytes else float(bool(held))
    if limits.messages is not None:
        used = max(used, min(at.most / limits.messages, 1.0) if limits.messages else 1.0)
    return PageLimit(most_bytes if bounded else None, limits.messages, policy, used)
