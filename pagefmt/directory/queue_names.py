"""Look-up of queues by the names that users write."""

from __future__ import annotations

from typing import Final

from pagefmt.directory.bindings import Bindings, QueueBinding
from pagefmt.directory.locate import DataLocation
from pagefmt.errors import PageFmtError
from pagefmt.findings import did_you_mean, some

FQQN: Final = "::"  # between address and queue in a fully qualified queue name


class NoSuchQueue(PageFmtError):
    """Raised if the bindings have no queue of the name, or several, or if there are no bindings."""


def named_queue(bindings: Bindings, name: str, place: DataLocation) -> QueueBinding:
    """Return the queue with this name or fully qualified name (``address::queue``). Raise ``NoSuchQueue``.

    ``place`` is only used for the hint in the error.
    """
    matches = [queue for queue in bindings.queues.values() if name in (queue.name, qualified(queue))]
    if len(matches) == 1:
        return matches[0]
    if matches:
        which = some(f"{qualified(queue)} (id {queue.id})" for queue in matches)
        raise NoSuchQueue(f"{name}: {len(matches)} queues have this name: {which}; give one as ADDRESS{FQQN}QUEUE")
    names = {queue.name for queue in bindings.queues.values()} | set(map(qualified, bindings.queues.values()))
    near = [
        candidate
        for candidate in sorted(names)
        if candidate.endswith((f".{name}", f"{FQQN}{name}")) or name.endswith(f".{candidate}")
    ]
    few = f"{place.call('messages ls')} lists the queues"
    empty = "the bindings contain no durable queue"
    meant = f"did you mean {near[0]}?" if near else did_you_mean(name, names, few if names else empty, shown="{}")
    raise NoSuchQueue(f"{name}: no durable queue of this name in the bindings; {meant}")


def qualified(queue: QueueBinding) -> str:
    """Return the fully qualified name, ``address::queue``."""
    return f"{queue.address}{FQQN}{queue.name}"


def has_wildcards(address: str) -> bool:
    """Return whether the address contains wildcards of a broker's default syntax."""
    return not {"#", "*"}.isdisjoint(address.split("."))
