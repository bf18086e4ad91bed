"""``pagectl disk watch``: the live picture."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pagectl.options.disk import DiskOptions, IntervalOption, disk_query
from pagectl.options.shared import PlaceArgument
from pagectl.running.collector import collected_as_usual
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.keyboard import Keys, keys

if TYPE_CHECKING:
    from pagectl.running.disk_live import LiveDisks

REDRAW = 0.25


EXAMPLES = (
    ("While a disk fills", "disk watch /var/lib/broker"),
    ("Every ten seconds", "disk watch /var/lib/broker --every 10"),
)


def command(path: PlaceArgument = None, interval: IntervalOption = 2.0, options: DiskOptions = DiskOptions()) -> int:
    """Show how full the broker's disks are, how fast they fill, and which addresses grow. Press q to quit."""
    query = disk_query(path, options)
    if not sys.stdout.isatty():
        raise CallError("disk watch needs a terminal as standard output; elsewhere use disk check or disk forecast")
    from pagectl.opening.monitored_disks import monitored_disks
    from pagectl.running.disk_live import LiveDisks

    disks = monitored_disks(query)
    live = LiveDisks(disks.root, disks.directories.get("paging"), disks.state, interval)
    collected_as_usual()
    live.start()
    try:
        with keys() as pressed:
            _draw(live, pressed)
    finally:
        live.stop()
    if live.failure is not None:
        raise live.failure
    return Exit.OK


def _draw(live: LiveDisks, pressed: Keys) -> None:
    """Draw until a key is pressed or a measurement fails, then restore the screen."""
    from rich.live import Live as Picture

    from pagectl.outputs.watch_screen import Screen
    from pagectl.terminal.streams import console

    out = console(sys.stdout)
    picture = Picture(Screen(live), console=out, screen=True, auto_refresh=False, vertical_overflow="crop")
    try:  # not a with statement: an interrupt while it starts would leave its screen behind
        picture.start()
        while live.failure is None:
            picture.refresh()
            if pressed.pressed(REDRAW).lower() in ("q", "\x1b"):
                return
    finally:
        picture.stop()
