"""The one broker that a file of Kubernetes objects describes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from brokerconf.kubernetes.broker_resource import BrokerResource
from brokerconf.kubernetes.held_files import HeldFile, HeldIncludes
from brokerconf.kubernetes.inventory import Inventory, inventory
from brokerconf.kubernetes.objects import LOOKED_FOR
from brokerconf.kubernetes.placed_text import Place, PlacedText
from brokerconf.kubernetes.properties import PodProperties, entries_of
from brokerconf.kubernetes.secret_values import SecretValues
from brokerconf.reading.document import OF_THE_IMAGE, Document
from brokerconf.reading.fragments import fragment_in
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.properties import EMPTY_XML, Entry
from brokerconf.reading.reading import WHOLE_FILES, read_bytes
from brokerconf.reading.yaml_tree import read_yaml
from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Position, some


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
    includes: HeldIncludes | None = None

    def read(
        self, name: str, folder: Path, edition: Edition | None, properties: Mapping[str, str],
        environment: Mapping[str, str],
    ) -> Document:  # fmt: skip
        """Its document, as that edition reads it; raises ``ReadingError``, without what a Secret holds."""
        try:
            found = read_bytes(
                self.xml.encode("utf-8", "replace"), name, folder=folder, edition=edition, properties=properties,
                environment=environment, place=self.place, held=self.includes,
            )  # fmt: skip
        except ReadingError as err:
            if self.secrets.holds(err.position):
                said = "the contents of a Secret here cannot be read"
                raise ReadingError(err.rule, err.position, said, "config lint says more") from err
            raise
        found.laid_over, found.under, found.secret = self.partial, OF_THE_IMAGE, self.secrets.holds
        return found


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
        said = f"{len(titles)} brokers ({some(titles)})" if titles else "no configuration of a broker"
        help = "put each in a file of its own" if titles else f"looked for {LOOKED_FOR}"
        raise ReadingError("kubernetes-no-broker", Position(name, 1, 1), said, help)
    return _of_files(found, titles[0], candidates[titles[0]], Position(name, 1, 1), edition or NEWEST)


def _of_resource(found: Inventory, broker: BrokerResource, edition: Edition | None) -> DescribedBroker:
    held = found.mounted(broker)
    properties = PodProperties(broker, held, edition or broker.edition or NEWEST)
    remarks = [f"Secret {name} is not in this file: its properties are left out" for name in held if not held[name]]
    return DescribedBroker(
        broker.xml.text, broker.xml.position, properties.of(), broker.edition, True, found.secrets,
        (*remarks, *_of_pods(properties.pods)),
    )  # fmt: skip


def _of_files(
    found: Inventory, title: str, files: list[HeldFile], start: Position, edition: Edition
) -> DescribedBroker:
    """The files of one object: its properties count over its broker.xml."""
    documents = [file for file in files if file.suffix == ".xml"]
    if len(documents) > 1:
        # the others are parts that it may include
        documents = [file for file in documents if _is_whole(file)] or documents
    if len(documents) > 1:
        said = f"{title} has {len(documents)} configurations: {some(file.name for file in documents)}"
        raise ReadingError("kubernetes-no-broker", documents[1].key, said, "put each in a file of its own")
    properties = [file for file in files if file.suffix != ".xml"]
    entries = [entry for file in properties if file.pod is None for entry in entries_of(file, edition)]
    remarks = _of_pods([file.pod for file in properties])
    placed = documents[0].placed if documents else PlacedText().add(EMPTY_XML, lambda _: start)
    return DescribedBroker(
        placed.text, placed.position, tuple(entries), None, not documents, found.secrets, tuple(remarks),
        HeldIncludes(found.keys_beside(title), start.file, lambda _: ""),
    )  # fmt: skip


def _is_whole(file: HeldFile) -> bool:
    """Return whether a file is a configuration and no part that is included in one."""
    fragment = fragment_in(file.placed.text, None)
    return file.name in WHOLE_FILES or fragment is None or not fragment.tags


def _of_pods(pods: Iterable[int | None]) -> list[str]:
    """That what is for one pod alone is left out."""
    numbers = sorted({pod for pod in pods if pod is not None})
    return [f"properties that apply only to pod {some(numbers)} are left out"] if numbers else []
