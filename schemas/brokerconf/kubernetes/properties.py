"""Properties of brokers as Kubernetes hands them on: the entries of each file, and what each pod gets of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from brokerconf.kubernetes.broker_resource import BrokerResource
from brokerconf.kubernetes.held_files import HeldFile
from brokerconf.kubernetes.placed_text import Place, PlacedText
from brokerconf.reading.properties import Entry, PropertiesError, entries_in, parse_properties
from pagefmt.findings import Position

EMPTY_XML = '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"></core></configuration>'
"""A broker.xml that says nothing, for properties over one that is not known."""


def entries_of(file: HeldFile, alone: str = "") -> tuple[Entry, ...]:
    """The entries of a file; raises ``ReadingError``.

    ``alone``: a name under which the positions are those in the file by itself instead of those in the YAML.
    """
    text = PlacedText().add(file.placed.text, _alone(alone, file.placed.text)) if alone else file.placed
    return tuple(_entries(text, file.suffix))


class PodProperties:
    """What the pods of a resource get, in the broker's order: its own properties, then those of mounted Secrets
    (docs/spec/kubernetes.md 3)."""

    def __init__(self, resource: BrokerResource, held: Mapping[str, list[HeldFile]]) -> None:
        """``held`` has the files of the Secrets that are at hand, by name. Raises ``ReadingError``."""
        self._parts = [(pod, tuple(_entries(text, ".properties"))) for pod, text in resource.properties().items()]
        self._parts += [(file.pod, entries_of(file)) for name in resource.mounted for file in held.get(name, ())]
        self.pods = sorted({pod for pod, _ in self._parts if pod is not None})

    def of(self, pods: Iterable[int] = ()) -> tuple[Entry, ...]:
        """The entries that all pods get, and those of these pods."""
        pods = frozenset(pods)
        return tuple(entry for pod, entries in self._parts if pod is None or pod in pods for entry in entries)


def _alone(name: str, text: str) -> Place:
    def position(offset: int) -> Position:
        before = text[:offset]
        return Position(name, before.count("\n") + 1, offset - before.rfind("\n"))

    return position


def _entries(text: PlacedText, suffix: str) -> Iterator[Entry]:
    try:
        if suffix == ".properties":
            found: Iterable[Entry] = parse_properties(text.text, "")
        else:
            found = entries_in(text.text.encode("utf-8", "surrogatepass"), suffix)
        for entry in found:
            yield _placed(entry, text)
    except PropertiesError as err:
        raise PropertiesError(text.of_line(err.position), err.message, err.help) from err


def _placed(entry: Entry, text: PlacedText) -> Entry:
    at_value = entry.at_value and text.of_line(entry.at_value)
    earlier = entry.earlier and _placed(entry.earlier, text)
    return Entry(entry.key, entry.value, text.of_line(entry.position), at_value, earlier)
