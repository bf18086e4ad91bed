"""The positions of the values of all AMQP messages of a page: by plans, and by the general walk where no plan fits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from pagefmt.arrays import Ints, Mask
from pagefmt.vectors.amqp import walk
from pagefmt.vectors.amqp.outline import WHOLE_SECTION
from pagefmt.vectors.amqp.parts import AmqpParts
from pagefmt.vectors.amqp.plan import MIXED, Plan, PlanMatch, SampleMessages, followed
from pagefmt.vectors.amqp.walk import ABSENT, NULL, Pairs
from pagefmt.vectors.arrays.strings import few
from pagefmt.vectors.pages.gather import PageBytes

# Relative positions of samples: irregular distances (golden ratio), since producers often alternate.
_SPREAD: Final = np.arange(8) * 0.6180339887 % 1
_ROUNDS: Final = 4
_MOST_PLANS: Final = 6
# A plan that fits fewer than one in so many messages is not used, and ends the search.
_WORTH_IT: Final = 16
# Chunks between searches, as a power of two.
_LONGEST_WAIT: Final = 4
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
        """Distribute one value per different section to its messages. ``absent`` has the values of all others."""
        absent[self.rows] = np.fromiter(values, absent.dtype, len(self.different))[self.which]
        return absent


@dataclass(slots=True)
class Structure:
    """The values of all messages of a chunk by section and field.

    ``plans`` have the messages that they fit, ``rest`` the sections of the others (``others``).
    """

    page: PageBytes
    regular: Mask
    plans: list[PlanMatch]
    others: Ints
    rest: walk.SectionPositions
    absent: Ints
    _lists: dict[int, Ints] = field(default_factory=dict)

    @property
    def only(self) -> PlanMatch | None:
        """Return the plan that all messages follow, if there is one."""
        return self.plans[0] if self.plans and self.plans[0].rows is None else None

    def section(self, kind: int) -> ValueColumn:
        """Return the positions of the list, map or first body of a kind of section, which may be null."""
        index = WHOLE_SECTION if kind in walk.FIELDS or kind in walk.MAPS else 0
        return self._merged(self.rest.at[kind], kind, index)

    def field(self, kind: int, index: int) -> ValueColumn:
        """Return a field of the header or the properties."""
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
        """Return keys and values of a map in turn if all messages have as many, else None. Nulls are values too."""
        if self.only is None:
            return None
        return [_at_place(self.only, kind, n) for n in range(self.only.plan.counts.get(kind, 0))]

    def table(self, kind: int) -> tuple[Ints, list[ValueColumn]] | None:
        """Return the rows of the messages that have the map, and its keys and values in turn.

        None if their names differ, or if some messages follow no plan.
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
        return rows[order], [_joined(column, order) for column in values]

    def repeated(self, kind: int) -> RepeatedSection | None:
        """Return the different contents of a list or map, to be decoded once each. None if many messages differ."""
        at = self.section(kind).at
        rows = np.flatnonzero(at != ABSENT)
        at = at[rows]
        _, start, size = walk.widths(self.page, at)
        distinct = few(self.page, at, start + size - at) if len(rows) else None
        return None if distinct is None else RepeatedSection(rows, distinct[1], distinct[0])

    def pairs(self, kind: int) -> Pairs:
        """Return the entries of a map of all messages in flat columns."""
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
        """Return the positions of all sections in the form that the general walk gives."""
        return walk.SectionPositions([self.section(kind).at for kind in range(walk.FOOTER + 1)], self.body_kinds())

    def body_kinds(self) -> Ints:
        """Return the number of body sections of each message."""
        out = self.rest.body_kinds.copy()
        for plan in self.plans:
            rows = slice(None) if plan.rows is None else plan.rows
            out[rows] = sum(plan.plan.counts.get(kind, 0) for kind in (walk.DATA, walk.SEQUENCE, walk.AMQP_VALUE))
        return out

    def passed_over(self) -> Mask:
        """Return keys and values of a map in turn if all messages have as many, else None; nulls count."""
        kinds, data = self.body_kinds(), self.section(walk.DATA).at
        # a0 or b0, by the size of its length
        binary = (data != ABSENT) & (self.page.byte(np.where(data == ABSENT, 0, data)) & 0xEF == 0xA0)
        out: Mask = (kinds > 1) | ((kinds == 1) & ~binary)
        return out


def _at_place(plan: PlanMatch, kind: int, index: int) -> ValueColumn:
    place = plan.plan.places[kind, index]
    at = plan.windows[place.window] + place.offset
    has_content = place.code == MIXED or (place.same is None and place.code >= 0xA0 and index != WHOLE_SECTION)
    return ValueColumn(at, place.code, plan.contents[place.window] if has_content else None, place.same)


def _joined(values: list[ValueColumn], order: Ints) -> ValueColumn:
    """Return the column of one value over the messages of several plans."""
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
    """Return the structure of all messages; unusual ones clear ``parts.regular``."""
    n = len(parts.regular)
    rows = np.flatnonzero(parts.regular & (parts.encoded_size > 0))
    plans, left = _known(page, parts, rows)
    # The search for new plans costs more than it saves on varied messages: after a search in vain it is
    # due again only after a growing number of chunks.
    if len(left) and RECENT_PLANS.search_is_due():
        if len(left) * _WORTH_IT > len(rows):
            plans, left = [], rows
        while len(left) and len(plans) < _MOST_PLANS:
            match, good = _fresh(page, parts, left)
            if match is None or int(good.sum()) * _WORTH_IT < len(left):
                break
            plans.append(match.cut(left, good))
            left = left[~good]
        RECENT_PLANS.searched(in_vain=len(left) > 0)
    if len(left) * 2 > len(rows):
        plans, left = [], rows
    RECENT_PLANS.plans = [match.plan for match in plans]
    if len(plans) == 1 and len(rows) - len(left) == n:
        plans[0].rows = None
    others = np.ones(n, bool)
    for match in plans:
        others[slice(None) if match.rows is None else match.rows] = False
    walked = walk.sections(page, parts, left)
    return Structure(page, parts.regular, plans, np.flatnonzero(others), walked, np.full(n, ABSENT, np.int64))


class RecentPlans:
    """The plans of the previous chunk, which the next one mostly follows as well.

    A search for plans takes long where messages are of many shapes: where it leaves some, the next one is put off.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the plans, as if no chunk had been read."""
        self.plans: list[Plan] = []
        self._vain = self._wait = 0

    def search_is_due(self) -> bool:
        """Return whether the chunk is to be searched for plans, and count it if not."""
        self._wait -= 1
        return self._wait < 0

    def searched(self, *, in_vain: bool) -> None:
        """Take in the end of a search: each in vain doubles the number of chunks up to the next one."""
        self._vain = min(self._vain + 1, _LONGEST_WAIT) if in_vain else 0
        self._wait = (1 << self._vain) - 1


# State of the process, which every page adds to, whoever reads it: passing it through columns, lines, XML and selectors
# would be worth a parameter of thirty functions, and results do not depend on it. Tests clear it.
RECENT_PLANS: Final = RecentPlans()


def _known(page: PageBytes, parts: AmqpParts, rows: Ints) -> tuple[list[PlanMatch], Ints]:
    """Return the messages that follow the plans of the previous chunk, and the rows of the others."""
    plans: list[PlanMatch] = []
    left = rows
    for plan in RECENT_PLANS.plans:
        if not len(left):
            break
        match, good = followed(page, plan, parts.encoded_at[left], parts.encoded_at[left] + parts.encoded_size[left])
        if int(good.sum()) * _WORTH_IT >= len(left):
            plans.append(match.cut(left, good))
            left = left[~good]
    return plans, left


def _fresh(page: PageBytes, parts: AmqpParts, rows: Ints) -> tuple[PlanMatch | None, Mask]:
    """Make a plan from samples of the messages ``rows``. Return its match and which messages follow it.

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
        match, good = followed(page, samples.plan(), at, end)
        if best is None or good.sum() > best_good.sum():
            best, best_good = match, good
        left = np.flatnonzero(~good)
        if not len(left):
            break
    return best, best_good
