"""``pages browse``: a data directory on a terminal, down to the byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagectl.opening.broker import located
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument
from pagectl.screens.starting import show

if TYPE_CHECKING:
    from textual.screen import Screen

EXAMPLES = (("Browse the pages of a broker", "pages browse /var/lib/broker"),)


def command(directory: DirArgument = None, broker: BrokerOptions = BrokerOptions()) -> int:
    """Browse addresses, their pages, records, and bytes beside the field names. Nothing is changed.

    Enter opens, Escape goes back, / searches (text, or 0x and hexadecimal digits), n searches on, x shows fields
    without their bytes, c copies JSON, q quits.
    """
    place = located(directory, broker)

    def first() -> Screen[None]:
        from pagectl.screens.browser import OpenedPlace, StoresScreen

        return StoresScreen(OpenedPlace(place))

    return show("pages browse", "pages inspect or pages decode", first)
