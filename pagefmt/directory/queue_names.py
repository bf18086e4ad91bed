"""Queues by their names, as people write them."""

from __future__ import annotations

from typing import Final

from pagefmt.directory.bindings import Bindings, QueueBinding
from pagefmt.directory.locate import DataLocation
from pagefmt.errors import PageFmtError
from pagefmt.findings import did_you_mean, some

FQQN: Final = "::"
"""Between address and queue in a fully qualified queue name."""


class NoSuchQueue(PageFmtError):
    """A queue that the bindings do not know, or a name that several have, or a name where there are no bindings."""


def named_queue(bindings: Bindings, name: str, place: DataLocation) -> QueueBinding:
    """Return the queue that a name or fully qualified name (``address::queue``) means. Raise ``NoSuchQueue``.

    ``place``: whose bindings these are.
    """
    found = [queue for queue in bindings.queues.values() if name in (queue.name, qualified(queue))]
    if len(found) == 1:
        return found[0]
    if found:
        which = some(f"{qualified(queue)} (id {queue.id})" for queue in found)
        raise NoSuchQueue(f"{name}: {len(found)} queues have this name: {which}; give one as ADDRESS{FQQN}QUEUE")
    names = {queue.name for queue in bindings.queues.values()} | set(map(qualified, bindings.queues.values()))
    near = [each for each in sorted(names) if each.endswith((f".{name}", f"{FQQN}{name}")) or name.endswith(f".{each}")]
    few = f"{place.call('messages ls')} lists the queues"
    empty = "the bindings contain no durable queue"
    meant = f"did you mean {near[0]}?" if near else did_you_mean(name, names, few if names else empty, shown="{}")
    raise NoSuchQueue(f"{name}: no durable queue of this name in the bindings; {meant}")


def qualified(queue: QueueBinding) -> str:
    """``address::queue``."""
    return f"{queue.address}{FQQN}{queue.name}"


def has_wildcards(address: str) -> bool:
    """Whether it stands for others, as brokers read it unless they are told otherwise."""
    return not {"#", "*"}.isdisjoint(address.split("."))
