"""The common structure of the AMQP messages of a page, found from a few samples and checked on all at once.

One application's messages have the same sections, fields and names, the same constructors, and many of the same values.
A plan is a run of windows of bytes: most bytes of a window are the same in all messages, the content of numbers is not
looked at, and a window ends in front of a value whose size a message says for itself. What a message has to check is
then one comparison for each window, whatever the number of its values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple, TypeAlias, assert_never

import numpy as np

from pagefmt.arrays import Bytes, Ints, Mask
from pagefmt.vectors.amqp.outline import WHOLE_SECTION, Buffer, OutlinedValue, outline
from pagefmt.vectors.amqp.walk import NULL, mixed_widths, u32
from pagefmt.vectors.pages.gather import PageBytes

# In place of a constructor: the messages' constructors differ.
MIXED: Final = -2
_LONGEST_SAME: Final = 128
_SIZED: Final = 0xA0


class Edge(Enum):
    """What a window ends with."""

    END = auto()  # of the message
    SIZE = auto()  # of one byte
    WIDE_SIZE = auto()  # of four bytes
    CONSTRUCTOR = auto()  # that differs from message to message


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of bytes with fixed length in messages of the same shape.

    ``same``: the bytes that all messages have, where ``mask`` is 255; elsewhere both are 0.
    """

    same: Bytes
    mask: Bytes
    edge: Edge


class PlannedValue(NamedTuple):
    """A value: its constructor lies ``offset`` bytes into a window.

    ``code``: its constructor, or MIXED. ``same``: its content, where that is the same in all messages.
    """

    window: int
    offset: int
    code: int
    same: bytes | None


class SizedBlock(NamedTuple):
    """A list or map whose size must end where its last value ends."""

    window: int
    offset: int
    wide: bool
    end_window: int
    end_offset: int


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The windows in message order, and where the values lie in them."""

    windows: list[Window]
    places: dict[tuple[int, int], PlannedValue]
    wholes: list[SizedBlock]
    counts: dict[int, int]  # of the values in each section that is there


Shape: TypeAlias = tuple[tuple[int, int, int], ...]


class SampleMessages:
    """A sample of messages, from which a plan for all messages of the commonest shape is made."""

    def __init__(self, buf: Buffer) -> None:
        self._buf = buf
        self._alike: dict[Shape, list[tuple[int, int, list[OutlinedValue]]]] = {}
        self._shape: Shape | None = None

    def add(self, messages: Iterable[tuple[int, int]]) -> bool:
        """Add messages as (offset, end). Messages whose sections cannot be outlined are ignored.

        Return whether a new plan would learn from them: whether one has the shape of the last plan, or before the first
        plan any shape at all.
        """
        shapes = set()
        for at, end in messages:
            tokens = outline(self._buf, at, end)
            if tokens is not None:
                shape = tuple((t.section, t.place, self._buf[t.at] if t.place == WHOLE_SECTION else 0) for t in tokens)
                self._alike.setdefault(shape, []).append((at, end, tokens))
                shapes.add(shape)
        return self._shape in shapes if self._shape else bool(shapes)

    def plan(self) -> Plan:
        """Return a plan for the commonest shape, made from all samples of that shape so far."""
        if self._shape is None:
            self._shape = max(self._alike, key=lambda shape: len(self._alike[shape]))
        samples = self._alike[self._shape]
        lead, end, _ = samples[0]
        return _Maker(self._buf, lead).made([tokens for _, _, tokens in samples], end)


class _Maker:
    """Builds a plan along the first sample; positions are offsets in it."""

    def __init__(self, buf: Buffer, lead: int) -> None:
        self.buf = buf
        self.start = lead
        self.free: list[tuple[int, int]] = []
        self.windows: list[Window] = []
        self.places: dict[tuple[int, int], PlannedValue] = {}
        self.wholes: list[SizedBlock] = []
        self.open: tuple[OutlinedValue, int, int] | None = None
        self.counts: dict[int, int] = {}

    def made(self, samples: list[list[OutlinedValue]], end: int) -> Plan:
        for n, token in enumerate(samples[0]):
            self._close(token.at)
            if token.place == WHOLE_SECTION:
                self._whole(token)
            else:
                self._value(token, [sample[n] for sample in samples])
        self._close(end)
        self._edge(end, Edge.END)
        return Plan(self.windows, self.places, self.wholes, self.counts)

    def _whole(self, token: OutlinedValue) -> None:
        code = self.buf[token.at]
        self._add_value(token, code, None)
        self.counts[token.section] = 0
        if code >= _SIZED:
            self.free.append((token.at + 1, token.start))
            self.open = (token, len(self.windows), token.at + 1 - self.start)

    def _close(self, at: int) -> None:
        """End the open list or map if ``at`` is at or after its end."""
        if self.open is not None and at >= self.open[0].end:
            token, window, offset = self.open
            wide = token.start - token.at == 5
            self.wholes.append(SizedBlock(window, offset, wide, len(self.windows), token.end - self.start))
            self.open = None

    def _value(self, token: OutlinedValue, peers: list[OutlinedValue]) -> None:
        buf = self.buf
        self.counts[token.section] = token.place + 1
        codes = {buf[peer.at] for peer in peers}
        if len(codes) > 1:
            self._add_value(token, MIXED, None)
            self._edge(token.at + 1, Edge.CONSTRUCTOR, token.end)
            return
        (code,) = codes
        content = bytes(buf[token.start : token.end]) if token.end - token.start <= _LONGEST_SAME else None
        same = content is not None and all(bytes(buf[peer.start : peer.end]) == content for peer in peers)
        if code < _SIZED:
            self._add_value(token, code, None)
            self.free.append((token.start, token.end))
        elif same:
            self._add_value(token, code, content)
        else:
            self._add_value(token, code, None)
            self.free.append((token.at + 1, token.start))
            self._edge(token.start, Edge.WIDE_SIZE if code & 0x10 else Edge.SIZE, token.end)

    def _add_value(self, token: OutlinedValue, code: int, same: bytes | None) -> None:
        self.places[token.section, token.place] = PlannedValue(len(self.windows), token.at - self.start, code, same)

    def _edge(self, at: int, edge: Edge, behind: int = 0) -> None:
        """End a window before ``at``; the next one begins at ``behind``."""
        mask = np.full(at - self.start, 255, np.uint8)
        for first, end in self.free:
            mask[first - self.start : end - self.start] = 0
        if edge is Edge.CONSTRUCTOR:
            mask[-1] = 0
        same = np.frombuffer(bytes(self.buf[self.start : at]), np.uint8) & mask
        self.windows.append(Window(same, mask, edge))
        self.start, self.free = behind, []


@dataclass(slots=True)
class PlanMatch:
    """The messages ``rows`` (None: all) that a plan fits: the starts of the windows, and the values after them."""

    plan: Plan
    rows: Ints | None
    windows: list[Ints]
    contents: list[tuple[Ints, Ints]]  # (offset, size) of the value behind each window

    def names(self, kind: int) -> tuple[tuple[int, bytes | None], ...]:
        """Return the constructors and contents of a map's keys."""
        keys = (self.plan.places[kind, n] for n in range(0, self.plan.counts[kind], 2))
        return tuple((key.code, key.same) for key in keys)

    def cut(self, rows: Ints, keep: Mask) -> PlanMatch:
        """Return the match of the messages to keep, which are those at ``rows`` of the page."""
        if keep.all():
            return PlanMatch(self.plan, rows, self.windows, self.contents)
        contents = [(start[keep], size[keep]) for start, size in self.contents]
        return PlanMatch(self.plan, rows[keep], [at[keep] for at in self.windows], contents)


def followed(page: PageBytes, plan: Plan, at: Ints, end: Ints) -> tuple[PlanMatch, Mask]:
    """Match the messages between ``at`` and ``end`` with the plan, and return which ones fit.

    The match has arbitrary positions for messages that do not fit.
    """
    match = PlanMatch(plan, None, [], [])
    if max(len(window.same) for window in plan.windows) > page.size:
        return match, np.zeros(len(at), bool)
    good = np.ones(len(at), bool)
    for window in plan.windows:
        at = _sound(page, window, at, end, good)
        match.windows.append(at)
        content = _content(page, window, at, good)
        match.contents.append(content)
        at = content[0] + content[1]
    good &= at == end
    for whole in plan.wholes:
        first = match.windows[whole.window] + whole.offset
        size = page.i32(first) & 0xFFFFFFFF if whole.wide else page.byte(first)
        good &= first + (4 if whole.wide else 1) + size == match.windows[whole.end_window] + whole.end_offset
    return match, good


def _sound(page: PageBytes, window: Window, at: Ints, end: Ints, good: Mask) -> Ints:
    """Return the position of the window in each message, and clear ``good`` where its fixed bytes differ.

    The position is 0 for messages that are too short.
    """
    width = len(window.same)
    if not width:
        return at
    inside = at + width <= end
    if not inside.all():
        good &= inside
        at = np.where(inside, at, 0)
    odd = page.window(at, width)
    # Compare all bytes at once: XOR leaves the differing bits, the mask drops the bits that may differ.
    np.bitwise_xor(odd, window.same, out=odd)
    np.bitwise_and(odd, window.mask, out=odd)
    if odd.max():
        good &= ~odd.any(axis=1)
    return at


def _content(page: PageBytes, window: Window, at: Ints, good: Mask) -> tuple[Ints, Ints]:
    """Return (offset, size) of the value after the window."""
    behind = at + len(window.same)
    match window.edge:
        case Edge.SIZE:
            return behind, page.byte(behind - 1).astype(np.int64)
        case Edge.WIDE_SIZE:
            return behind, u32(page, behind - 4)
        case Edge.CONSTRUCTOR:
            code = page.byte(behind - 1)
            good &= code >= NULL
            return mixed_widths(page, behind - 1, code)
        case Edge.END:
            return behind, np.zeros(len(at), np.int64)
        case _ as never:
            assert_never(never)
