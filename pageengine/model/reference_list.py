"""Waiting messages of a queue: a list for each priority, and the iterators that consumers, scans and purges have on it.

The broker's iterators keep their place for as long as they live. Which priority they go on with follows the list's
record of the highest one, which a removal may set too low; a message of a high priority is then passed over once.
Source: docs/spec/paging-engine.md 3.1; PriorityLinkedListImpl and LinkedListImpl of 2.56.0 for the iterators.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pageengine.model.reference import Reference

PRIORITIES = 10


@dataclass(eq=False)
class PriorityLevel:
    """References of one priority, in order, as a linked list: ends and removal cost the same at any length."""

    head: Reference | None = None
    tail: Reference | None = None
    size: int = 0
    iterators: list[PriorityIterator] = field(default_factory=list)

    def insert(self, ref: Reference, after: Reference | None) -> None:
        """Insert after a reference, or at the head if that is None."""
        following = self.head if after is None else after.next
        ref.prev, ref.next = after, following
        if after is None:
            self.head = ref
        else:
            after.next = ref
        if following is None:
            self.tail = ref
        else:
            following.prev = ref
        ref.linked = True
        self.size += 1

    def remove(self, ref: Reference) -> None:
        """Unlink a reference; iterators at it move on, at the end to the one before, already returned."""
        before, following = ref.prev, ref.next
        if before is None:
            self.head = following
        else:
            before.next = following
        if following is None:
            self.tail = before
        else:
            following.prev = before
        self.size -= 1
        for iterator in self.iterators:
            if iterator.current is ref:
                iterator.current = following or before
                if following is None and before is not None and iterator.last is ref:
                    iterator.last = before
        ref.linked = False
        ref.prev = ref.next = None


@dataclass(eq=False)
class PriorityIterator:
    """Position ``current``; that reference was returned already if it is also ``last``, unless ``repeat`` is set."""

    level: PriorityLevel
    current: Reference | None = None
    last: Reference | None = None
    repeat: bool = False

    def __post_init__(self) -> None:
        self.current = self.level.head
        self.level.iterators.append(self)

    def close(self) -> None:
        """Stop being updated when references are removed."""
        self.level.iterators.remove(self)


@dataclass(eq=False)
class ReferenceList:
    """References in delivery order: by priority, then by sequence. ``keeps_highest``: see the profiles.

    ``by_seq``: references by the numbers of their messages, those that were removed among them; None until one is
    looked for. ``has_doubles``: several references have had one number.
    """

    keeps_highest: bool = True
    levels: tuple[PriorityLevel, ...] = field(default_factory=lambda: tuple(PriorityLevel() for _ in range(PRIORITIES)))
    size: int = 0
    highest: int = -1
    last_priority: int = -1
    resets: int = 0
    by_seq: dict[int | None, Reference] | None = None
    has_doubles: bool = False

    def waiting(self, seq: int) -> Reference | None:
        """Return the reference to a message by its number, None if it does not wait here."""
        if self.by_seq is None:
            self.by_seq = {}
            for reference in self:
                self._note(reference)
        ref = self.by_seq.get(seq)
        if ref is not None and not ref.linked:
            del self.by_seq[seq]
            return None
        return ref

    def _note(self, ref: Reference) -> None:
        assert self.by_seq is not None
        other = self.by_seq.get(ref.message.seq)
        if other is not None and other.linked:
            self.has_doubles = True
        self.by_seq[ref.message.seq] = ref

    def _adds(self, priority: int) -> PriorityLevel:
        if priority != self.last_priority or priority > self.highest:
            self.last_priority = priority
            self.resets += 1
            if priority > self.highest:
                self.highest = priority
        self.size += 1
        return self.levels[priority]

    def add_tail(self, ref: Reference) -> None:
        """Append behind all of the same priority."""
        if self.by_seq is not None:
            self._note(ref)
        priority = ref.message.priority
        if priority == self.last_priority and priority <= self.highest:
            self.size += 1
            level = self.levels[priority]
        else:
            level = self._adds(priority)
        last = level.tail
        ref.prev = last
        if last is None:
            level.head = ref
        else:
            last.next = ref
        level.tail = ref
        ref.linked = True
        level.size += 1

    def add_head(self, ref: Reference) -> None:
        """Insert in front of all of the same priority."""
        if self.by_seq is not None:
            self._note(ref)
        self._adds(ref.message.priority).insert(ref, None)

    def add_sorted(self, ref: Reference) -> None:
        """Insert by sequence; what was just delivered belongs near the head."""
        if self.by_seq is not None:
            self._note(ref)
        level = self._adds(ref.message.priority)
        after: Reference | None = None
        at = level.head
        if level.tail is not None and level.tail.sequence < ref.sequence:
            after, at = level.tail, None
        while at is not None and at.sequence < ref.sequence:
            after, at = at, at.next
        level.insert(ref, after)

    def remove(self, ref: Reference) -> None:
        """Remove a reference that no iterator has just returned; the highest priority is kept."""
        self.levels[ref.message.priority].remove(ref)
        self.size -= 1

    def poll(self) -> Reference | None:
        """Remove and return the first reference of what the list takes for the highest priority."""
        for priority in range(self.highest, -1, -1):
            level = self.levels[priority]
            ref = level.head
            if ref is not None:
                level.remove(ref)
                self.size -= 1
                if level.size == 0 and self.highest == priority:
                    self.highest -= 1
                return ref
        return None

    def first(self) -> Reference | None:
        """Return the first reference in delivery order, or None if the list is empty."""
        return next(iter(self), None)

    def iterator(self) -> ReferenceIterator:
        """Return a new iterator, which the caller must close."""
        return ReferenceIterator(self)

    def iterator_at(self, ref: Reference | None) -> ReferenceIterator:
        """Return a new iterator that returns a reference next, and then what comes in; None: only what comes in."""
        iterator = ReferenceIterator(self)
        iterator.pass_over_all()
        if ref is not None:
            iterator.go_to(ref)
        return iterator

    def __iter__(self) -> Iterator[Reference]:
        """Yield references in delivery order; the one just yielded may be removed during iteration."""
        for level in reversed(self.levels):
            at = level.head
            while at is not None:
                following = at.next
                yield at
                at = following


class ReferenceIterator:
    """Iterator from the highest priority down.

    When the list's ``resets`` counter has changed, it begins again at the priority that the list records as highest.
    """

    __slots__ = ("_index", "_levels", "_list", "_now", "_resets")

    def __init__(self, references: ReferenceList) -> None:
        self._list = references
        self._index = PRIORITIES - 1
        self._levels: list[PriorityIterator | None] = [None] * PRIORITIES
        self._now: PriorityIterator | None = None
        self._resets = references.resets

    def peek(self) -> Reference | None:
        """Return the next reference in the list's order, or None at its end."""
        references = self._list
        if references.resets != self._resets:
            self._resets = references.resets
            self._index = references.highest
        index = self._index
        levels = self._levels
        while index >= 0:
            now = levels[index]
            if now is None:
                now = levels[index] = PriorityIterator(references.levels[index])
            self._now = now
            at = now.current
            if at is None:
                at = now.current = now.level.head
            if at is not None:
                if now.repeat:
                    now.repeat = False
                    self._index = index
                    return at
                if at is now.last:
                    at = at.next
                if at is not None:
                    now.current = now.last = at
                    self._index = index
                    return at
            index -= 1
        self._index = PRIORITIES - 1
        return None

    def pass_over_all(self) -> None:
        """Go behind all references of every priority."""
        for priority, level in enumerate(self._list.levels):
            position = self._levels[priority] = PriorityIterator(level)
            position.current = position.last = level.tail

    def go_to(self, ref: Reference) -> None:
        """Make the next ``peek`` return a reference of the list."""
        self._index = ref.message.priority
        position = self._levels[self._index]
        assert position is not None
        position.current, position.repeat = ref, True

    def repeat(self) -> None:
        """Make the next ``peek`` return the last reference once more."""
        assert self._now is not None
        self._now.repeat = True

    def remove(self) -> None:
        """Remove the reference just returned. When its priority is empty, the highest priority is lowered."""
        now = self._now
        assert now is not None and now.current is not None
        references = self._list
        references.levels[self._index].remove(now.current)
        now.last = None
        levels = references.levels
        index = self._index
        while index >= 0 and levels[index].size == 0:
            references.highest = index if references.keeps_highest else 0
            index -= 1
        references.size -= 1

    def close(self) -> None:
        """Stop being updated when references are removed."""
        for level in self._levels:
            if level is not None:
                level.close()
