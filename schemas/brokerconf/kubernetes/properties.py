"""Properties of brokers as Kubernetes passes them on: the entries of each file, and what each pod gets of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from brokerconf.kubernetes.broker_resource import BrokerResource
from brokerconf.kubernetes.held_files import HeldFile
from brokerconf.kubernetes.placed_text import PlacedText
from brokerconf.reading.properties import entries_in
from brokerconf.reading.property_entries import Entry, PropertiesError
from brokerconf.reading.sources import plain_source
from pagefmt.editions import Edition
from pagefmt.findings import Position


def entries_of(file: HeldFile, edition: Edition, alone: str = "") -> tuple[Entry, ...]:
    """Return the entries of a file as that edition reads them; raise ``PropertiesError``.

    If ``alone`` is not empty, positions are those in the file itself under this name, not those in the YAML.
    """
    text = file.placed.text
    placed = PlacedText().add(text, plain_source(alone, text).position) if alone else file.placed
    return tuple(_entries(placed, file.suffix, edition))


class PodProperties:
    """Properties of the pods of a resource, in the order in which the broker applies them.

    First the resource's own, then those of mounted Secrets (docs/spec/kubernetes.md 3).
    """

    def __init__(self, resource: BrokerResource, held: Mapping[str, list[HeldFile]], edition: Edition) -> None:
        """Read the properties; ``held`` has the files of the available Secrets by name. Raise ``PropertiesError``."""
        files = [(file.pod, file.placed, file.suffix) for name in resource.mounted for file in held.get(name, ())]
        written = [(pod, text, ".properties") for pod, text in resource.properties().items()]
        self._parts = [(pod, tuple(_entries(text, suffix, edition))) for pod, text, suffix in (*written, *files)]
        self.pods = sorted({pod for pod, _ in self._parts if pod is not None})

    def of(self, pods: Iterable[int] = ()) -> tuple[Entry, ...]:
        """Return the entries that all pods get, and those of the given pods."""
        pods = frozenset(pods)
        return tuple(entry for pod, entries in self._parts if pod is None or pod in pods for entry in entries)


def _entries(text: PlacedText, suffix: str, edition: Edition) -> Iterator[Entry]:
    written = text.text
    # properties are read as Latin-1: columns count bytes
    wide = written.split("\n") if suffix == ".properties" and not written.isascii() else []

    def place(at: Position) -> Position:
        if 0 < at.line <= len(wide):
            before = wide[at.line - 1].encode("utf-8", "surrogatepass")[: at.column - 1]
            at = at._replace(column=len(before.decode("utf-8", "ignore")) + 1)
        return text.of_line(at)

    try:
        for entry in entries_in(written.encode("utf-8", "surrogatepass"), suffix, edition):
            yield _placed(entry, place)
    except PropertiesError as err:
        raise PropertiesError(place(err.position), err.message, err.help, err.why) from err


def _placed(entry: Entry, place: Callable[[Position], Position]) -> Entry:
    at_value = entry.at_value and place(entry.at_value)
    earlier = entry.earlier and _placed(entry.earlier, place)
    return Entry(
        entry.key, entry.value, place(entry.position), at_value, earlier, lambda offset: place(entry.at_step(offset))
    )
