"""Which brokers of a table the brokers of a call are, however their paths are written (``export --incremental``).

A broker is known by its node id, which the journal keeps in ``server.lock``: it stays when the directories are moved,
and two with one node id are copies of one broker. Directories without a node id (a paging directory alone) are known
by their path, with links resolved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

from pagefmt.directory.fleet import FleetBroker
from pagefmt.directory.locate import DataLocation, stores
from pagefmt.directory.locks import node_id
from pagefmt.errors import PageFmtError
from pagefmt.storage.files import utf8_name
from pagefmt.storage.interruptible_calls import thread_pool
from pagefmt.storage.remote_paths import any_path

_AT_ONCE: Final = 16  # brokers whose node ids are read at once


class BrokerIdentity(NamedTuple):
    """What identifies a broker. ``path`` is resolved; ``journal``: where the node id was read."""

    node: str | None
    path: str
    journal: str | None

    @classmethod
    def of(cls, place: DataLocation) -> BrokerIdentity:
        """Return the identity of a broker, or of the one store or page that was named."""
        path = (place.page or place.store or place.paging or place.given).resolve()
        node = node_id(place.journal)
        narrowed = [path_named.name for path_named in (place.store, place.page) if path_named is not None]
        journal = None if node is None or place.journal is None else utf8_name(str(place.journal.resolve()))
        return cls(None if node is None else "/".join((node, *narrowed)), utf8_name(str(path)), journal)

    def is_there(self) -> bool:
        """Return whether the broker can still be read where it was."""
        if self.node is None or self.journal is None:
            return False
        with suppress(PageFmtError, OSError):
            return node_id(any_path(self.journal)) == self.node.partition("/")[0]
        return False


KnownPlaces = Sequence[BrokerIdentity]  # directories of a broker: the last one first, then others that still exist


class KnownBroker(NamedTuple):
    """A broker of a call. ``broker`` has the table's name for it, ``named`` is the call's name.

    ``before``: directories from which it was read earlier. ``same_as``: the name of an earlier broker of the call that
    is the same one; ``is_copy``: in other directories.
    """

    broker: FleetBroker
    named: str
    identity: BrokerIdentity
    before: KnownPlaces = ()
    same_as: str | None = None
    is_copy: bool = False

    @property
    def places(self) -> KnownPlaces:
        """Return its current directory, and the last of its other directories that still exists."""
        others = (other for other in self.before if other.path != self.identity.path and other.is_there())
        return [self.identity, *islice(others, 1)]


def recognise(
    fleet: Sequence[FleetBroker], known_places: Mapping[str, KnownPlaces], stores_of: Mapping[str, frozenset[str]]
) -> list[KnownBroker]:
    """Return the brokers of a call in order, each with the name that the table knows it by.

    ``known_places``: identities of the table's brokers by name. ``stores_of``: store folders of each. Brokers with one
    node id and no common store folder are not copies, but were created from one template.
    """
    with thread_pool(min(_AT_ONCE, max(1, len(fleet)))) as pool:
        identities = [*pool.map(lambda broker: BrokerIdentity.of(broker.place), fleet)]
    folders = dict(stores_of)
    by_name = {name: places[0] for name, places in known_places.items()}
    by_path = {place.path: name for name, places in known_places.items() for place in places}
    by_node: dict[str, list[str]] = {}
    for name, place in by_name.items():
        by_node.setdefault(place.node or "", []).append(name)
    first: dict[str, KnownBroker] = {}
    recognised: list[KnownBroker] = []

    def name_of(broker: FleetBroker, identity: BrokerIdentity) -> str | None:
        for name in (by_path.get(identity.path, broker.name), broker.name):
            if name in by_name and (None in (by_name[name].node, identity.node) or by_name[name].node == identity.node):
                return name
        for name in by_node.get(identity.node or "", []) if identity.node is not None else []:
            mine, others = _store_names(broker.place), folders.get(name, frozenset())
            if not (mine and others) or mine & others:
                return name
        return None

    for broker, identity in zip(fleet, identities, strict=True):
        known_as = name_of(broker, identity)
        own = broker.name if broker.name not in by_name else f"{broker.name} (node {identity.node})"
        name = known_as or own
        if known_as is None:
            by_name[name], by_path[identity.path], folders[name] = identity, name, _store_names(broker.place)
            by_node.setdefault(identity.node or "", []).append(name)
        broker_found = KnownBroker(replace(broker, name=name), broker.name, identity, known_places.get(name, ()))
        if name in first:
            is_copy = first[name].identity.path != identity.path
            broker_found = broker_found._replace(same_as=first[name].named, is_copy=is_copy)
        first.setdefault(name, broker_found)
        recognised.append(broker_found)
    return recognised


def _store_names(place: DataLocation) -> frozenset[str]:
    with suppress(PageFmtError, OSError):
        return frozenset(utf8_name(store.name) for store in stores(place))
    return frozenset()
