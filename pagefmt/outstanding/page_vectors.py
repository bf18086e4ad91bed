"""What ``pagefmt.vectors`` gives this wing: whole pages read in one pass.

``outstanding`` decides record by record and knows no vectors. Whoever opens a directory fills this port
(``pagefmt.vectors.load_place``); both ways give the same result, which ``tests/equivalence`` proves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.page_load import PageLoad, QueueLoad

LoadOfPage: TypeAlias = tuple[PageLoad, dict[int, QueueLoad]]  # one page, and the queues that it holds something for


@dataclass(slots=True)
class PageCount:
    """Message counts of one page. ``begun``: timestamp of the first record that has one, in ms."""

    messages: int = 0
    outstanding: int = 0
    begun: int | None = None
    damage: Damage | None = None


class PageVectors(Protocol):
    """Reads a whole page in one pass. Both methods return None if the page has to be read record by record."""

    def load(self, page: PageFile, rule: PageRule, keep: bool) -> LoadOfPage | None:
        """Return what the page holds for each queue; ``keep``: with the numbers of outstanding records."""

    def count(self, page: PageFile, rule: PageRule | None) -> PageCount | None:
        """Return how many messages the page has; without a rule none of them counts as outstanding."""
