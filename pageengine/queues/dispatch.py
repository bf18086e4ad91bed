"""Delivery of waiting messages: the round over the consumers of a queue, in turn.

Source: docs/spec/paging-engine.md 3.1 and 3.7; QueueImpl.deliver of 2.56.0 for the order of the checks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pageengine.model.message import GROUP_ID, GROUP_SEQUENCE
from pageengine.model.reference import QueuePort, Reference
from pageengine.model.reference_list import ReferenceList
from pageengine.queues.ports import BrokerPort, ConsumerPort, HandleStatus

# The group that all messages of an exclusive queue belong to.
EXCLUSIVE = ""
LAST_OF_GROUP = -1


@dataclass(eq=False)
class Dispatch:
    """Consumers of one queue in turn; ``_left`` of them are still to be asked before the round ends."""

    broker: BrokerPort
    queue: QueuePort
    references: ReferenceList
    exclusive: bool
    consumers: list[ConsumerPort] = field(default_factory=list)
    groups: dict[object, ConsumerPort] = field(default_factory=dict)
    _turn: int = 0
    _left: int = 0
    _last: ConsumerPort | None = None
    _repeat: bool = False

    def consumers_changed(self) -> None:
        """Begin the next round with the first consumer, because one came or went."""
        self._turn = 0
        self._last = None
        self._repeat = False

    def forget(self, consumer: ConsumerPort) -> None:
        """Remove a consumer and its groups."""
        self.groups = {group: owner for group, owner in self.groups.items() if owner is not consumer}
        if consumer.iterator is not None:
            consumer.iterator.close()
            consumer.iterator = None
        self.consumers_changed()

    def hand_out(self) -> None:
        """Run one delivery round: until every consumer is busy or wants no waiting message."""
        consumers = self.consumers
        if len(consumers) == 1:
            only = consumers[0]
            credits = only.credits
            if credits is not None and credits <= 0 and not (self.broker.expiring or self._repeat):
                return
            if self._alone(only):
                return
        self._left = len(consumers)
        queue, references = self.queue, self.references
        idle = 0
        while references.size and (self._left or self._repeat):
            consumer = self._next()
            iterator = consumer.iterator
            if iterator is None:
                iterator = consumer.iterator = references.iterator()
            sticky: ConsumerPort | None = None
            ref = iterator.peek()
            if ref is None:
                idle += 1
            else:
                if ref.message.expiration and ref.message.expiration <= self.broker.now:
                    iterator.remove()
                    queue.expire_waiting(ref)
                    self._left = len(consumers)
                    continue
                group = self._group(ref)
                sticky = self.groups.get(group) if group is not None else None
                taker = sticky or consumer
                status = taker.status(ref)
                if status is HandleStatus.HANDLED:
                    idle = 0
                    if group is not None:
                        self._stick(group, ref, taker)
                    if not queue.non_destructive:
                        iterator.remove()
                        queue.removed(ref)
                    self._left = len(consumers)
                    taker.handle(ref)
                elif status is HandleStatus.BUSY:
                    iterator.repeat()
                    idle += 1
                else:
                    self._left = len(consumers)
            if sticky is not None and idle:
                break
            if sticky is None and not (self._left or self._repeat):
                if idle == len(consumers):
                    break
                idle = 0

    def _alone(self, consumer: ConsumerPort) -> bool:
        """Run the short round for a single consumer without selector; return False if the general round must go on."""
        queue, references = self.queue, self.references
        if consumer.selector is not None or self.exclusive or queue.non_destructive or self.groups or self._repeat:
            return False
        iterator, expiring, now = consumer.iterator, self.broker.expiring, self.broker.now
        if iterator is None:
            iterator = consumer.iterator = references.iterator()
        self._last = consumer
        while references.size:
            ref = iterator.peek()
            if ref is None:
                break
            message = ref.message
            if message.special or (message.expiration and message.expiration <= now):
                iterator.repeat()
                return False
            if consumer.credits is not None and consumer.credits <= 0:
                iterator.repeat()
                return True
            iterator.remove()
            queue.removed(ref)
            consumer.handle(ref)
            if not expiring and consumer.credits is not None and consumer.credits <= 0:
                break
        return True

    def _next(self) -> ConsumerPort:
        if self._repeat and self._last is not None:
            self._repeat = False
            return self._last
        consumers = self.consumers
        consumer = self._last = consumers[self._turn]
        self._turn = (self._turn + 1) % len(consumers)
        self._left -= 1
        return consumer

    def _group(self, ref: Reference) -> object:
        """Return the group that sticks to one consumer, or None.

        An exclusive queue is one group; otherwise a message names its group.
        """
        if self.exclusive:
            return EXCLUSIVE
        return ref.message.property(GROUP_ID) if ref.message.special else None

    def _stick(self, group: object, ref: Reference, taker: ConsumerPort) -> None:
        is_assigned = group in self.groups
        if group is not EXCLUSIVE and ref.message.property(GROUP_SEQUENCE) == LAST_OF_GROUP:
            self.groups.pop(group, None)
            self._repeat = True
            return
        if not is_assigned:
            self.groups[group] = taker
        self._repeat = is_assigned or group is EXCLUSIVE
