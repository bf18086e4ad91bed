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
    """Print names for shell completion, one per line, and return 0; errors are ignored."""
    with contextlib.suppress(Exception), Path(os.devnull).open("w") as silence, contextlib.redirect_stderr(silence):
        kind, directory = words
        read = {"queue": queue_names, "address": addresses}[kind]
        lines = "".join(f"{name}\n" for name in read(_directories(Path(directory).expanduser())) if name.isprintable())
        sys.stdout.write(lines)
        sys.stdout.flush()
    return 0


def _directories(directory: Path) -> DataLocation:
    """Return the directories by the usual names; a configuration is read only if these lead nowhere."""
    try:
        place = locate(directory)
    except LocateError:
        place = None
    if place is not None and (place.bindings is not None or configuration_in(directory) is None):
        return place
    from pagectl.opening.broker import located
    from pagectl.options.groups import BrokerOptions

    return located(directory, BrokerOptions())


def queue_names(place: DataLocation) -> list[str]:
    """Return the names that ``--queue`` accepts, with the address before a name that several queues have."""
    from pagefmt.directory.bindings import load_bindings
    from pagefmt.directory.queue_names import qualified

    queues = load_bindings(place.bindings).queues.values() if place.bindings else ()
    times = Counter(queue.name for queue in queues)
    return sorted(queue.name if times[queue.name] == 1 else qualified(queue) for queue in queues)


def addresses(place: DataLocation) -> list[str]:
    """Return the addresses of the stores."""
    from pagefmt.directory.locate import stores

    return sorted({store.address for store in stores(place) if store.address is not None})
