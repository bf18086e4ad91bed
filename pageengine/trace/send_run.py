"""Sends that follow one another and differ in time, number and size alone: a trace read in columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pageengine.trace.operations import Send

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SendRun:
    """``first`` is the send at its head; ``t``, ``seq`` and ``size`` have one number for each send, the head too."""

    first: Send
    t: Numbers
    seq: Numbers
    size: Numbers

    def __len__(self) -> int:
        return len(self.seq)

    def __iter__(self) -> Iterator[Send]:
        first = self.first
        columns = zip(self.t.tolist(), self.seq.tolist(), self.size.tolist(), strict=True)
        for i, (t, seq, size) in enumerate(columns, first.i):
            yield Send(
                i, t, first.address, seq, first.session, first.type, size, first.text, first.body, first.durable,
                first.priority, first.expire_ms, first.props,
            )  # fmt: skip

    def after(self, count: int) -> SendRun:
        """What follows the first ``count`` sends."""
        t, seq, size = self.t[count:], self.seq[count:], self.size[count:]
        if not len(t):
            return SendRun(self.first, t, seq, size)
        return SendRun(self.single(count), t, seq, size)

    def single(self, n: int) -> Send:
        """Send number ``n`` from 0."""
        t, seq, size = int(self.t[n]), int(self.seq[n]), int(self.size[n])
        return replace(self.first, i=self.first.i + n, t=t, seq=seq, size=size)

    def upto(self, count: int) -> SendRun:
        """The first ``count`` sends."""
        return SendRun(self.first, self.t[:count], self.seq[:count], self.size[:count])

    def sized(self, size: int) -> Send:
        """A send of this size."""
        return replace(self.first, size=size)
