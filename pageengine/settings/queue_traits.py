"""The traits of a queue: its own attributes, else the settings of its address.

Source: docs/spec/trace-format.md 1.2 (what a trace leaves out is said by its defaults), docs/spec/paging-engine.md 3.7.
"""

from __future__ import annotations

from dataclasses import dataclass

from pageengine.settings.settings import AddressSettings, ConfiguredQueue
from pageengine.trace.operations import CreateQueue

LAST_VALUE_KEY = "_AMQ_LVQ_NAME"


@dataclass(frozen=True, slots=True)
class QueueTraits:
    """Kept over a restart. ``last_value_key`` None: no last-value queue; ``ring_size``, ``max_consumers`` -1: none."""

    max_consumers: int
    exclusive: bool
    purge_on_no_consumers: bool
    ring_size: int
    last_value_key: str | None
    non_destructive: bool


def created(made: CreateQueue, settings: AddressSettings) -> QueueTraits:
    """Of a queue that a trace creates: by the operation, whose defaults count, and the settings of its address."""
    return QueueTraits(
        made.max_consumers, made.exclusive, made.purge_on_no_consumers, settings.ring_size,
        _last_value_key(None, None, settings), settings.non_destructive,
    )  # fmt: skip


def configured(one: ConfiguredQueue, settings: AddressSettings) -> QueueTraits:
    """Of a configured queue: what it does not set follows from the settings of its address."""
    return QueueTraits(
        settings.max_consumers if one.max_consumers is None else one.max_consumers,
        settings.exclusive_queue if one.exclusive is None else one.exclusive,
        settings.purge_on_no_consumers if one.purge_on_no_consumers is None else one.purge_on_no_consumers,
        settings.ring_size if one.ring_size is None else one.ring_size,
        _last_value_key(one.last_value, one.last_value_key, settings),
        settings.non_destructive if one.non_destructive is None else one.non_destructive,
    )


def _last_value_key(last_value: bool | None, key: str | None, settings: AddressSettings) -> str | None:
    key = settings.last_value_key if key is None else key
    if key:
        return key
    kept = settings.last_value_queue if last_value is None else last_value
    return LAST_VALUE_KEY if kept else None
