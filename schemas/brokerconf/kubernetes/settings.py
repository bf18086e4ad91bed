"""The one broker that a file of Kubernetes objects describes, and its settings in force."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from brokerconf.kubernetes.broker_resource import BrokerResource
from brokerconf.kubernetes.held_files import HeldFile
from brokerconf.kubernetes.inventory import Inventory, inventory
from brokerconf.kubernetes.objects import LOOKED_FOR
from brokerconf.kubernetes.placed_text import Place, PlacedText
from brokerconf.kubernetes.properties import PodProperties, entries_of
from brokerconf.kubernetes.secret_values import SecretValues
from brokerconf.reading.document import Document
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.properties import EMPTY_XML, Entry
from brokerconf.reading.yaml_tree import read_yaml
from brokerconf.settings.address_settings import EffectiveValue
from brokerconf.settings.effective import EffectiveSettings
from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Position


@dataclass(frozen=True, slots=True)
class DescribedBroker:
    """A broker before its edition is chosen. ``edition``: the one that its resource asks for.

    ``xml`` with its ``place`` is the broker.xml, ``entries`` the properties that every pod gets. ``partial``: the
    broker.xml of the image, under all this, is not known. ``remarks``: what else is left out.
    """

    xml: str
    place: Place
    entries: tuple[Entry, ...]
    edition: Edition | None
    partial: bool
    secrets: SecretValues
    remarks: tuple[str, ...]


class KubernetesSettings(EffectiveSettings):
    """Settings of which a part may stand in a Secret, or in an image that is not at hand."""

    def __init__(self, document: Document, broker: DescribedBroker, *, heap: int | None) -> None:
        super().__init__(document, heap=heap)
        document.laid_over, self._secrets = broker.partial, broker.secrets

    def _as_known(self, value: EffectiveValue, elsewhere: bool) -> EffectiveValue:
        if value.origin is None:
            return super()._as_known(value, elsewhere)
        return replace(value, secret=self._secrets.holds(value.origin.position))


def described_broker(raw: bytes, name: str, edition: Edition | None = None) -> DescribedBroker:
    """The broker of a file; raises ``ReadingError`` where there is none, more than one, or one that is malformed.

    ``edition``: the one whose broker reads it, None for the one that its resource asks for, else the newest.
    """
    documents = read_yaml(raw, name)
    found = inventory(documents)
    for fault in found.findings:
        raise ReadingError(fault.rule, fault.place, fault.message, fault.help)
    if len(found.brokers) == 1:
        return _of_resource(found, found.brokers[0], edition)
    documents_held = {
        title: files for title, files in found.held.items() if any(file.suffix == ".xml" for file in files)
    }
    candidates = documents_held or {title: files for title, files in found.held.items() if files}
    titles = [broker.found.title for broker in found.brokers] or list(candidates)
    if len(titles) != 1:
        said = f"{len(titles)} brokers ({', '.join(titles[:5])})" if titles else "no configuration of a broker"
        help = "put each into a file of its own" if titles else f"looked for {LOOKED_FOR}"
        raise ReadingError("kubernetes-no-broker", Position(name, 1, 1), said, help)
    return _of_files(found, titles[0], candidates[titles[0]], Position(name, 1, 1), edition or NEWEST)


def _of_resource(found: Inventory, broker: BrokerResource, edition: Edition | None) -> DescribedBroker:
    held = found.mounted(broker)
    properties = PodProperties(broker, held, edition or broker.edition or NEWEST)
    remarks = [f"Secret {name} is not in this file: its properties are left out" for name in held if not held[name]]
    return DescribedBroker(
        broker.xml.text, broker.xml.position, properties.of(), broker.edition, True, found.secrets,
        (*remarks, *_of_pods(properties.pods), _IMAGE),
    )  # fmt: skip


def _of_files(
    found: Inventory, title: str, files: list[HeldFile], start: Position, edition: Edition
) -> DescribedBroker:
    """The files of one object: its properties count over its broker.xml."""
    documents = [file for file in files if file.suffix == ".xml"]
    if len(documents) > 1:
        said = f"{title} has {len(documents)} configurations: {', '.join(file.name for file in documents[:5])}"
        raise ReadingError("kubernetes-no-broker", documents[1].key, said, "put each into a file of its own")
    properties = [file for file in files if file.suffix != ".xml"]
    entries = [entry for file in properties if file.pod is None for entry in entries_of(file, edition)]
    remarks = _of_pods([file.pod for file in properties])
    placed = documents[0].placed if documents else PlacedText().add(EMPTY_XML, lambda _: start)
    remarks += [] if documents else [_IMAGE]
    return DescribedBroker(
        placed.text, placed.position, tuple(entries), None, not documents, found.secrets, tuple(remarks)
    )


_IMAGE = "the broker.xml of the image is not known: settings that this file leaves out are not known (?)"


def _of_pods(pods: Iterable[int | None]) -> list[str]:
    """That what is for one pod alone is left out."""
    numbers = sorted({pod for pod in pods if pod is not None})
    shown = ", ".join(map(str, numbers[:5])) + (" …" if len(numbers) > 5 else "")
    return [f"properties for pod {shown} alone are left out"] if numbers else []
