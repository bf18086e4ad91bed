"""Which consumer gets which waiting message: the delivery round over the consumers of a queue, in turn.

Source: spec/paging-engine.md 3.1 and 3.7; QueueImpl.deliver of 2.56.0 for the order of the questions.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from pageengine.model.message import GROUP_ID, GROUP_SEQUENCE, Reference

if TYPE_CHECKING:
    from pageengine.model.reference_list import ReferenceList
    from pageengine.queues.consumer import Consumer
    from pageengine.queues.queue import Queue

EXCLUSIVE = ""
"""The group that all messages of an exclusive queue belong to."""
LAST_OF_GROUP = -1


class Answer(Enum):
    """What a consumer says to a message that is offered to it."""

    TAKES = "takes it"
    BUSY = "has no credits"
    NO_MATCH = "selects others"


class Dispatch:
    """The consumers of one queue in turn; ``left`` of them are still to be asked before the round ends."""

    __slots__ = ("_last", "_left", "_repeat", "_turn", "groups", "queue")

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.groups: dict[object, Consumer] = {}
        self._turn = 0
        self._left = 0
        self._last: Consumer | None = None
        self._repeat = False

    def consumers_changed(self) -> None:
        """One came or went: the next round begins with the first."""
        self._turn = 0
        self._last = None
        self._repeat = False

    def forget(self, consumer: Consumer) -> None:
        """A consumer goes, and with it the groups that it had."""
        self.groups = {group: owner for group, owner in self.groups.items() if owner is not consumer}
        if consumer.iterator is not None:
            consumer.iterator.close()
            consumer.iterator = None
        self.consumers_changed()

    def hand_out(self) -> None:
        """Until every consumer is busy or wants nothing of what waits."""
        queue = self.queue
        if queue.consumers:
            self._round(queue, queue.references)
        if queue.last_values is not None and queue.references.size:
            queue.last_values.prune(queue)

    def _round(self, queue: Queue, references: ReferenceList) -> None:
        self._left = len(queue.consumers)
        if self._left == 1 and self._alone(queue, queue.consumers[0], references):
            return
        idle = 0
        while references.size and (self._left or self._repeat):
            consumer = self._next()
            iterator = consumer.iterator
            if iterator is None:
                iterator = consumer.iterator = references.iterator()
            sticky: Consumer | None = None
            if not iterator.has_next():
                idle += 1
            else:
                ref = iterator.next()
                if ref.message.expiration and ref.message.expiration <= queue.broker.now:
                    iterator.remove()
                    queue.expire_waiting(ref)
                    self._left = len(queue.consumers)
                    continue
                group = self._group(ref)
                sticky = self.groups.get(group) if group is not None else None
                taker = sticky or consumer
                answer = taker.answer(ref)
                if answer is Answer.TAKES:
                    idle = 0
                    if group is not None:
                        self._stick(group, ref, taker)
                    if not queue.non_destructive:
                        iterator.remove()
                        queue.forgotten(ref)
                    self._left = len(queue.consumers)
                    taker.handle(ref)
                elif answer is Answer.BUSY:
                    iterator.repeat()
                    idle += 1
                else:
                    self._left = len(queue.consumers)
            if sticky is not None and idle:
                break
            if sticky is None and not (self._left or self._repeat):
                if idle == len(queue.consumers):
                    break
                idle = 0

    def _alone(self, queue: Queue, consumer: Consumer, references: ReferenceList) -> bool:
        """The round of a consumer that is alone and selects nothing, cut short. False: the rest goes the long way."""
        if consumer.selector is not None or queue.exclusive or queue.non_destructive or self.groups or self._repeat:
            return False
        iterator = consumer.iterator
        if iterator is None:
            iterator = consumer.iterator = references.iterator()
        now = queue.broker.now
        self._last = consumer
        while references.size and iterator.has_next():
            ref = iterator.next()
            message = ref.message
            if message.special or (message.expiration and message.expiration <= now):
                iterator.repeat()
                return False
            if consumer.credits is not None and consumer.credits <= 0:
                iterator.repeat()
                return True
            iterator.remove()
            queue.forgotten(ref)
            consumer.handle(ref)
        return True

    def _next(self) -> Consumer:
        if self._repeat and self._last is not None:
            self._repeat = False
            return self._last
        consumers = self.queue.consumers
        consumer = self._last = consumers[self._turn]
        self._turn = (self._turn + 1) % len(consumers)
        self._left -= 1
        return consumer

    def _group(self, ref: Reference) -> object:
        """The group that sticks to one consumer: all messages of an exclusive queue, or what a message names."""
        if self.queue.exclusive:
            return EXCLUSIVE
        return ref.message.property(GROUP_ID) if ref.message.special else None

    def _stick(self, group: object, ref: Reference, taker: Consumer) -> None:
        known = group in self.groups
        if group is not EXCLUSIVE and ref.message.property(GROUP_SEQUENCE) == LAST_OF_GROUP:
            self.groups.pop(group, None)
            self._repeat = True
            return
        if not known:
            self.groups[group] = taker
        self._repeat = known or group is EXCLUSIVE
