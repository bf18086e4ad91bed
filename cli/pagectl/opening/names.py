"""Names on the disk of a broker, for completion scripts: ``pagectl __names queue|address DIR``.

It answers at every Tab: nothing is imported that is not needed, and what cannot be read has no names.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from pathlib import Path

from pagefmt.directory.locate import DataLocation, LocateError, configuration_in, locate


def answer(words: list[str]) -> int:
    """A name a line; never an error."""
    with contextlib.suppress(Exception), Path(os.devnull).open("w") as silence, contextlib.redirect_stderr(silence):
        kind, given = words
        read = {"queue": queue_names, "address": addresses}[kind]
        found = "".join(f"{name}\n" for name in read(_directories(Path(given).expanduser())) if name.isprintable())
        sys.stdout.write(found)
        sys.stdout.flush()
    return 0


def _directories(given: Path) -> DataLocation:
    """By the usual names; a configuration is asked only where these lead nowhere."""
    try:
        place = locate(given)
    except LocateError:
        place = None
    if place is not None and (place.bindings is not None or configuration_in(given) is None):
        return place
    from pagectl.opening.broker import located
    from pagectl.options.groups import BrokerOptions

    return located(given, BrokerOptions())


def queue_names(place: DataLocation) -> list[str]:
    """As ``--queue`` takes them: with the address in front where several have the name."""
    from pagefmt.directory.bindings import load_bindings
    from pagefmt.directory.queue_names import qualified

    queues = load_bindings(place.bindings).queues.values() if place.bindings else ()
    times = Counter(queue.name for queue in queues)
    return sorted(queue.name if times[queue.name] == 1 else qualified(queue) for queue in queues)


def addresses(place: DataLocation) -> list[str]:
    """Of the stores."""
    from pagefmt.directory.locate import stores

    return sorted({store.address for store in stores(place) if store.address is not None})
