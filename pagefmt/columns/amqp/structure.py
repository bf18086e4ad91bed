"""The positions of the values of all AMQP messages of a page: by plans, and by the general walk where no plan fits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from pagefmt.columns.amqp import walk
from pagefmt.columns.amqp.outline import WHOLE_SECTION
from pagefmt.columns.amqp.parts import AmqpParts
from pagefmt.columns.amqp.plan import MIXED, Plan, PlanMatch, SampleMessages, followed
from pagefmt.columns.amqp.walk import ABSENT, NULL, Pairs
from pagefmt.columns.arrays.strings import few
from pagefmt.pages.gather import Ints, Mask, PageBytes

_SPREAD: Final = np.arange(8) * 0.6180339887 % 1
"""Where samples are taken: at irregular distances, since producers often alternate."""
_ROUNDS: Final = 4
_MOST_PLANS: Final = 6
_WORTH_IT: Final = 16
"""A plan that fits fewer than one message in so many is not used, and ends the search."""
_LONGEST_WAIT: Final = 4
"""Chunks, as a power of two."""
Value = TypeVar("Value", bound=np.generic)


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """One value of each message. ``at``: where its constructor is, ABSENT where it is missing or null.

    ``code``: the constructor that all have, ABSENT if no message has the value, else MIXED. ``content``: (offset,
    size), where they are known already. ``same``: the content, if it is known to be the same in all messages.
    """

    at: Ints
    code: int = MIXED
    content: tuple[Ints, Ints] | None = None
    same: bytes | None = None


@dataclass(frozen=True, slots=True)
class RepeatedSection:
    """A section that few of the messages ``rows`` have another one of: ``which`` of the ``different`` ones each has."""

    rows: Ints
    which: Ints
    different: list[bytes]

    def spread(self, values: Iterable[bool | int], absent: npt.NDArray[Value]) -> npt.NDArray[Value]:
        """A value of each different section as one of each message; ``absent``: of those without it."""
        absent[self.rows] = np.fromiter(values, absent.dtype, len(self.different))[self.which]
        return absent


@dataclass(slots=True)
class Structure:
    """``plans`` have the messages that they fit, ``rest`` the sections of the others (``others``)."""

    page: PageBytes
    regular: Mask
    plans: list[PlanMatch]
    others: Ints
    rest: walk.SectionPositions
    absent: Ints
    _lists: dict[int, Ints] = field(default_factory=dict)

    @property
    def only(self) -> PlanMatch | None:
        """The plan that all messages follow."""
        return self.plans[0] if self.plans and self.plans[0].rows is None else None

    def section(self, kind: int) -> ValueColumn:
        """The list, map or (first) body of a kind of section, which may be null."""
        index = WHOLE_SECTION if kind in walk.FIELDS or kind in walk.MAPS else 0
        return self._merged(self.rest.at[kind], kind, index)

    def field(self, kind: int, index: int) -> ValueColumn:
        """A field of the header or the properties."""
        if kind not in self._lists:
            self._lists[kind] = self._of_others(kind)
        value = self._merged(self._lists[kind][index], kind, index)
        if value.code == NULL:
            return ValueColumn(self.absent, ABSENT)
        if value.code == MIXED and self.plans:
            at = np.where(self.page.byte(value.at) == NULL, ABSENT, value.at)
            return ValueColumn(at, MIXED)
        return value

    def _of_others(self, kind: int) -> Ints:
        if len(self.others):
            return walk.list_fields(self.page, self.rest.at[kind], walk.FIELDS[kind], self.regular)
        return np.broadcast_to(self.absent, (walk.FIELDS[kind], len(self.absent)))

    def _merged(self, others: Ints, kind: int, index: int) -> ValueColumn:
        if self.only is not None:
            return self._planned(self.only, kind, index)
        if not self.plans:
            return ValueColumn(others, ABSENT if bool((others == ABSENT).all()) else MIXED)
        at = others.copy()
        values = []
        for plan in self.plans:
            values.append(self._planned(plan, kind, index))
            at[plan.rows] = values[-1].at
        codes = {value.code for value in values}
        if len(self.others):
            codes.add(ABSENT if bool((others[self.others] == ABSENT).all()) else MIXED)
        return ValueColumn(at, codes.pop() if len(codes) == 1 else MIXED)

    def _planned(self, plan: PlanMatch, kind: int, index: int) -> ValueColumn:
        if (kind, index) in plan.plan.places:
            return _at_place(plan, kind, index)
        return ValueColumn(self.absent[: len(plan.windows[0])], ABSENT)

    def entries(self, kind: int) -> list[ValueColumn] | None:
        """Keys and values of a map in turn, where all messages have the same number; nulls count as values here."""
        if self.only is None:
            return None
        return [_at_place(self.only, kind, n) for n in range(self.only.plan.counts.get(kind, 0))]

    def table(self, kind: int) -> tuple[Ints, list[ValueColumn]] | None:
        """As ``entries``, of the messages that have the map at all (which these are comes first).

        None where they have not the same names, or where some messages follow no plan.
        """
        having = [plan for plan in self.plans if kind in plan.plan.counts]
        if len(self.others) or len({plan.names(kind) for plan in having}) != 1:
            return None
        count = having[0].plan.counts[kind]
        if self.only is not None:
            return np.arange(len(self.absent)), [_at_place(self.only, kind, n) for n in range(count)]
        rows = np.concatenate([plan.rows for plan in having if plan.rows is not None])
        order = np.argsort(rows, kind="stable")
        values = [[_at_place(plan, kind, n) for plan in having] for n in range(count)]
        return rows[order], [_joined(each, order) for each in values]

    def repeated(self, kind: int) -> RepeatedSection | None:
        """A list or map that is worth to be read once for many messages; None where many differ in it."""
        at = self.section(kind).at
        rows = np.flatnonzero(at != ABSENT)
        at = at[rows]
        _, start, size = walk.widths(self.page, at)
        found = few(self.page, at, start + size - at) if len(rows) else None
        return None if found is None else RepeatedSection(rows, found[1], found[0])

    def pairs(self, kind: int) -> Pairs:
        """The entries of a map, flat."""
        others = walk.map_pairs(self.page, self.rest.at[kind], self.regular)
        if not self.plans:
            return others
        counts, present = np.diff(others.offsets), others.present
        for plan in self.plans:
            rows = slice(None) if plan.rows is None else plan.rows
            counts[rows], present[rows] = plan.plan.counts.get(kind, 0) // 2, kind in plan.plan.counts
        offsets = np.concatenate(([0], np.cumsum(counts)))
        out = Pairs(offsets, present, np.zeros(offsets[-1], np.int64), np.zeros(offsets[-1], np.int64))
        for plan in self.plans:
            first = offsets[:-1] if plan.rows is None else offsets[plan.rows]
            for n in range(0, plan.plan.counts.get(kind, 0), 2):
                out.key_at[first + n // 2] = _at_place(plan, kind, n).at
                out.value_at[first + n // 2] = _at_place(plan, kind, n + 1).at
        if len(others.key_at):
            row = others.owners()
            slot = offsets[row] + np.arange(len(row)) - others.offsets[row]
            out.key_at[slot], out.value_at[slot] = others.key_at, others.value_at
        return out

    def sections(self) -> walk.SectionPositions:
        """All sections as the general walk finds them."""
        return walk.SectionPositions([self.section(kind).at for kind in range(walk.FOOTER + 1)], self.body_kinds())

    def body_kinds(self) -> Ints:
        """How many body sections each message has."""
        out = self.rest.body_kinds.copy()
        for plan in self.plans:
            rows = slice(None) if plan.rows is None else plan.rows
            out[rows] = sum(plan.plan.counts.get(kind, 0) for kind in (walk.DATA, walk.SEQUENCE, walk.AMQP_VALUE))
        return out

    def passed_over(self) -> Mask:
        """Messages with more of a body than one data section: whether it decodes is not known here."""
        kinds, data = self.body_kinds(), self.section(walk.DATA).at
        # a0 or b0, by the size of its length
        binary = (data != ABSENT) & (self.page.byte(np.where(data == ABSENT, 0, data)) & 0xEF == 0xA0)
        out: Mask = (kinds > 1) | ((kinds == 1) & ~binary)
        return out


def _at_place(plan: PlanMatch, kind: int, index: int) -> ValueColumn:
    place = plan.plan.places[kind, index]
    at = plan.windows[place.window] + place.offset
    known = place.code == MIXED or (place.same is None and place.code >= 0xA0 and index != WHOLE_SECTION)
    return ValueColumn(at, place.code, plan.contents[place.window] if known else None, place.same)


def _joined(values: list[ValueColumn], order: Ints) -> ValueColumn:
    """The value of several plans' messages."""
    codes, same = {value.code for value in values}, {value.same for value in values}
    contents = [value.content for value in values if value.content is not None]
    return ValueColumn(
        np.concatenate([value.at for value in values])[order],
        codes.pop() if len(codes) == 1 else MIXED,
        None
        if len(contents) < len(values)
        else (np.concatenate([at for at, _ in contents])[order], np.concatenate([size for _, size in contents])[order]),
        same.pop() if len(same) == 1 else None,
    )


def structure(page: PageBytes, parts: AmqpParts) -> Structure:
    """The structure of all messages; what does not fit clears ``parts.regular``."""
    n = len(parts.regular)
    rows = np.flatnonzero(parts.regular & (parts.encoded_size > 0))
    plans, left = _known(page, parts, rows)
    if len(left) and _RECENT.search_is_due():
        if len(left) * _WORTH_IT > len(rows):
            plans, left = [], rows
        while len(left) and len(plans) < _MOST_PLANS:
            found, good = _fresh(page, parts, left)
            if found is None or int(good.sum()) * _WORTH_IT < len(left):
                break
            plans.append(found.cut(left, good))
            left = left[~good]
        _RECENT.searched(in_vain=len(left) > 0)
    if len(left) * 2 > len(rows):
        plans, left = [], rows
    _RECENT.plans = [found.plan for found in plans]
    if len(plans) == 1 and len(rows) - len(left) == n:
        plans[0].rows = None
    others = np.ones(n, bool)
    for found in plans:
        others[slice(None) if found.rows is None else found.rows] = False
    rest = walk.sections(page, parts, left)
    return Structure(page, parts.regular, plans, np.flatnonzero(others), rest, np.full(n, ABSENT, np.int64))


class _Recent:
    """The plans of the previous chunk, which the next one mostly follows as well. Results do not depend on them.

    A search for plans takes long where messages are of many shapes: where it leaves some, the next one is put off.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Nothing was read yet."""
        self.plans: list[Plan] = []
        self._vain = self._wait = 0

    def search_is_due(self) -> bool:
        self._wait -= 1
        return self._wait < 0

    def searched(self, *, in_vain: bool) -> None:
        self._vain = min(self._vain + 1, _LONGEST_WAIT) if in_vain else 0
        self._wait = (1 << self._vain) - 1


_RECENT: Final = _Recent()


def _known(page: PageBytes, parts: AmqpParts, rows: Ints) -> tuple[list[PlanMatch], Ints]:
    """The messages that follow the plans of the previous chunk, and the others."""
    plans: list[PlanMatch] = []
    left = rows
    for plan in _RECENT.plans:
        if not len(left):
            break
        found, good = followed(page, plan, parts.encoded_at[left], parts.encoded_at[left] + parts.encoded_size[left])
        if int(good.sum()) * _WORTH_IT >= len(left):
            plans.append(found.cut(left, good))
            left = left[~good]
    return plans, left


def _fresh(page: PageBytes, parts: AmqpParts, rows: Ints) -> tuple[PlanMatch | None, Mask]:
    """A plan that was made for the messages ``rows``, and which of them follow it.

    A plan made from a few samples need not fit the others: messages that it does not fit become samples as well.
    """
    at = parts.encoded_at[rows]
    end = at + parts.encoded_size[rows]
    samples = SampleMessages(page.buffer)
    best, best_good = None, np.zeros(len(rows), bool)
    left = np.arange(len(rows))
    for _ in range(_ROUNDS):
        # one further each time: the distances may all be multiples of the turn in which messages come
        some = left[np.unique(((_SPREAD * len(left)).astype(np.int64) + np.arange(len(_SPREAD))) % len(left))]
        if not samples.add(zip(at[some].tolist(), end[some].tolist(), strict=True)):
            break
        found, good = followed(page, samples.plan(), at, end)
        if best is None or good.sum() > best_good.sum():
            best, best_good = found, good
        left = np.flatnonzero(~good)
        if not len(left):
            break
    return best, best_good
