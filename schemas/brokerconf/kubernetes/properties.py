"""Properties of brokers as Kubernetes hands them on: the entries of each file, and what each pod gets of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from brokerconf.kubernetes.broker_resource import BrokerResource
from brokerconf.kubernetes.held_files import HeldFile
from brokerconf.kubernetes.placed_text import Place, PlacedText
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.properties import Entry, parse_properties
from brokerconf.reading.yaml_tree import YamlNode, read_yaml
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
    if suffix == ".properties":
        for entry in parse_properties(text.text, ""):
            yield entry._replace(position=text.of_line(entry.position))
        return
    if suffix == ".json":
        try:
            json.loads(text.text)
        except (ValueError, RecursionError) as err:
            at = text.position(getattr(err, "pos", 0))
            said = getattr(err, "msg", "nested too deep")
            raise ReadingError("properties-unreadable", at, f"not JSON: {said}", "correct it", _DROPPED) from err
    try:
        documents = read_yaml(text.text.encode("utf-8", "surrogatepass"), "")
    except ReadingError as err:
        at = text.of_line(err.position)
        raise ReadingError("properties-unreadable", at, err.message, err.help, _DROPPED) from err
    for root in documents.roots:
        yield from _flattened(root, "", text)


_DROPPED = "the broker starts without any of the file's properties"


def _flattened(node: YamlNode, above: str, text: PlacedText) -> Iterator[Entry]:
    """Nested keys joined by dots; one that has dots itself is put in quotes at any level but the first of YAML."""
    if node.type != "object":
        message = "not an object of properties"
        raise ReadingError("properties-unreadable", text.position(node.start), message, "correct it", _DROPPED)
    for key, value in node.entries:
        name = above + (f'"{key.text}"' if "." in key.text else key.text)
        if value.type in ("object", "array"):
            for number, item in enumerate(value.items):
                if item.type not in ("object", "array"):
                    yield Entry(f"{name}.{number}", item.text, text.position(item.start))
            if value.type == "object":
                yield from _flattened(value, f"{name}.", text)
        else:
            plain = value.text.lower() if value.type == "boolean" else value.text
            yield Entry(name, plain, text.position(key.start))
