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
from brokerconf.reading.properties import EMPTY_XML
from brokerconf.reading.property_entries import Entry
from brokerconf.reading.reading import WHOLE_FILES, read_bytes
from brokerconf.reading.yaml_tree import read_yaml
from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Position, some


@dataclass(frozen=True, slots=True)
class DescribedBroker:
    """Broker before its edition is chosen; ``edition`` is the one that its resource requests.

    ``xml`` with its ``place`` is the broker.xml, ``entries`` the properties that every pod gets. ``partial``: the
    broker.xml of the image, which all this overrides, is unknown. ``remarks``: what else is left out.
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
        self,
        name: str,
        folder: Path,
        edition: Edition | None,
        properties: Mapping[str, str],
        environment: Mapping[str, str],
    ) -> Document:
        """Read the broker's configuration as that edition does.

        Raises ``ReadingError``, whose message quotes nothing from a Secret.
        """
        try:
            document = read_bytes(
                self.xml.encode("utf-8", "replace"),
                name,
                folder=folder,
                edition=edition,
                properties=properties,
                environment=environment,
                place=self.place,
                held=self.includes,
            )
        except ReadingError as err:
            if self.secrets.holds(err.position):
                message = "the contents of a Secret here cannot be read"
                raise ReadingError(err.rule, err.position, message, "config lint says more") from err
            raise
        document.laid_over, document.under, document.secret = self.partial, OF_THE_IMAGE, self.secrets.holds
        return document


def described_broker(raw: bytes, name: str, edition: Edition | None = None) -> DescribedBroker:
    """Return the broker described in a file; raise ``ReadingError`` if there is none, several, or a malformed one.

    ``edition`` is that of the broker that reads it; None for the one its resource requests, else the newest.
    """
    documents = read_yaml(raw, name)
    contents = inventory(documents)
    for fault in contents.findings:
        raise ReadingError(fault.rule, fault.place, fault.message, fault.help)
    if len(contents.brokers) == 1:
        return _of_resource(contents, contents.brokers[0], edition)
    documents_held = {
        title: files for title, files in contents.held.items() if any(file.suffix == ".xml" for file in files)
    }
    candidates = documents_held or {title: files for title, files in contents.held.items() if files}
    titles = [broker.resource.title for broker in contents.brokers] or list(candidates)
    if len(titles) != 1:
        message = f"{len(titles)} brokers ({some(titles)})" if titles else "no configuration of a broker"
        help = "put each in a file of its own" if titles else f"looked for {LOOKED_FOR}"
        raise ReadingError("kubernetes-no-broker", Position(name, 1, 1), message, help)
    return _of_files(contents, titles[0], candidates[titles[0]], Position(name, 1, 1), edition or NEWEST)


def _of_resource(contents: Inventory, broker: BrokerResource, edition: Edition | None) -> DescribedBroker:
    held = contents.mounted(broker)
    properties = PodProperties(broker, held, edition or broker.edition or NEWEST)
    remarks = [f"Secret {name} is not in this file: its properties are left out" for name in held if not held[name]]
    return DescribedBroker(
        broker.xml.text,
        broker.xml.position,
        properties.of(),
        broker.edition,
        True,
        contents.secrets,
        (*remarks, *_of_pods(properties.pods)),
    )


def _of_files(
    contents: Inventory, title: str, files: list[HeldFile], start: Position, edition: Edition
) -> DescribedBroker:
    """Return the broker whose files one object contains; its properties override its broker.xml."""
    documents = [file for file in files if file.suffix == ".xml"]
    if len(documents) > 1:
        # the others are parts that it may include
        documents = [file for file in documents if _is_whole(file)] or documents
    if len(documents) > 1:
        message = f"{title} has {len(documents)} configurations: {some(file.name for file in documents)}"
        raise ReadingError("kubernetes-no-broker", documents[1].key, message, "put each in a file of its own")
    properties = [file for file in files if file.suffix != ".xml"]
    entries = [entry for file in properties if file.pod is None for entry in entries_of(file, edition)]
    remarks = _of_pods([file.pod for file in properties])
    placed = documents[0].placed if documents else PlacedText().add(EMPTY_XML, lambda _: start)
    return DescribedBroker(
        placed.text,
        placed.position,
        tuple(entries),
        None,
        not documents,
        contents.secrets,
        tuple(remarks),
        HeldIncludes(contents.keys_beside(title), start.file, lambda _: ""),
    )


def _is_whole(file: HeldFile) -> bool:
    """Return whether a file is a configuration and no part that is included in one."""
    fragment = fragment_in(file.placed.text, None)
    return file.name in WHOLE_FILES or fragment is None or not fragment.tags


def _of_pods(pods: Iterable[int | None]) -> list[str]:
    """Return the remark that properties for single pods are left out, if there are any."""
    numbers = sorted({pod for pod in pods if pod is not None})
    return [f"properties that apply only to pod {some(numbers)} are left out"] if numbers else []
