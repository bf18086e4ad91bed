"""Traits of a queue: its own attributes, else the settings of its address.

Source: docs/spec/trace-format.md 1.2 (defaults for what a trace leaves out), docs/spec/paging-engine.md 3.7.
"""

from __future__ import annotations

from dataclasses import dataclass

from pageengine.settings.settings import AddressSettings, ConfiguredQueue
from pageengine.trace.operations import CreateQueue

LAST_VALUE_KEY = "_AMQ_LVQ_NAME"


@dataclass(frozen=True, slots=True)
class QueueTraits:
    """Traits that survive a restart.

    ``last_value_key`` None: no last-value queue; ``ring_size``, ``max_consumers`` -1: none.
    """

    max_consumers: int
    exclusive: bool
    purge_on_no_consumers: bool
    ring_size: int
    last_value_key: str | None
    non_destructive: bool


def created(creation: CreateQueue, settings: AddressSettings) -> QueueTraits:
    """Return the traits of a queue that a trace creates.

    They follow from the operation, whose defaults count, and the settings of its address.
    """
    return QueueTraits(
        creation.max_consumers,
        creation.exclusive,
        creation.purge_on_no_consumers,
        settings.ring_size,
        _last_value_key(None, None, settings),
        settings.non_destructive,
    )


def configured(queue: ConfiguredQueue, settings: AddressSettings) -> QueueTraits:
    """Return the traits of a configured queue; what it does not set follows from its address settings."""
    return QueueTraits(
        settings.max_consumers if queue.max_consumers is None else queue.max_consumers,
        settings.exclusive_queue if queue.exclusive is None else queue.exclusive,
        settings.purge_on_no_consumers if queue.purge_on_no_consumers is None else queue.purge_on_no_consumers,
        settings.ring_size if queue.ring_size is None else queue.ring_size,
        _last_value_key(queue.last_value, queue.last_value_key, settings),
        settings.non_destructive if queue.non_destructive is None else queue.non_destructive,
    )


def _last_value_key(last_value: bool | None, key: str | None, settings: AddressSettings) -> str | None:
    key = settings.last_value_key if key is None else key
    if key:
        return key
    kept = settings.last_value_queue if last_value is None else last_value
    return LAST_VALUE_KEY if kept else None
