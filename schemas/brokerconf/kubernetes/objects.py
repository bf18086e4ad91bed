"""Kubernetes objects of a file: those of every document, and those in lists and templates."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from brokerconf.reading.yaml_nodes import YamlNode
from brokerconf.reading.yaml_tree import YamlDocuments
from pagefmt.findings import Finding, Position, Severity

LOOKED_FOR = (
    "an ActiveMQArtemis, Broker, BrokerCluster or ActiveMQArtemisAddress, or a ConfigMap or Secret with a broker.xml "
    "or broker properties"
)

REFUSED = "Kubernetes refuses the object"


class ObjectRole(Enum):
    """Role of an object for a broker."""

    BROKER = "broker"
    ADDRESS = "address"
    FILES = "files"
    OTHER = "other"


# By kind: what it is, the group of its API, and the versions, the oldest first. A kind of an operator's group that is
# not listed holds no settings of a broker.
_KINDS = {
    "ActiveMQArtemis": (
        ObjectRole.BROKER,
        "broker.amq.io",
        ("v2alpha1", "v2alpha2", "v2alpha3", "v2alpha4", "v2alpha5", "v1beta1"),
    ),
    "BrokerCluster": (ObjectRole.BROKER, "broker.arkmq.org", ("v1beta2",)),
    "Broker": (ObjectRole.BROKER, "broker.arkmq.org", ("v1beta2",)),
    "ActiveMQArtemisAddress": (ObjectRole.ADDRESS, "broker.amq.io", ("v2alpha1", "v2alpha2", "v2alpha3", "v1beta1")),
    "ConfigMap": (ObjectRole.FILES, "", ("v1",)),
    "Secret": (ObjectRole.FILES, "", ("v1",)),
}
# Objects that hold others, and where.
_HOLDERS = {"Template": "objects"}


class KubernetesObject(NamedTuple):
    """Kubernetes object; ``version`` is that of its API without the group, empty if its kind has no such version."""

    documents: YamlDocuments
    node: YamlNode
    kind: str
    name: str
    version: str
    role: ObjectRole

    @property
    def title(self) -> str:
        """Return kind and name, as ``ConfigMap broker-config``."""
        return f"{self.kind} {self.name}" if self.name else f"{self.kind} without a name"

    @property
    def position(self) -> Position:
        """Return the position of its ``kind``, or of its beginning."""
        return self.position_of(next((key for key, _ in self.node.entries if key.text == "kind"), self.node))

    def position_of(self, node: YamlNode) -> Position:
        """Return the position where a part of it begins."""
        return self.documents.source.position(node.start)


def objects_of(documents: YamlDocuments) -> tuple[list[KubernetesObject], list[Finding]]:
    """Return all objects in the order of the file, and findings about their kinds and versions."""
    objects: list[KubernetesObject] = []
    findings: list[Finding] = []
    for node in (below for root in documents.roots for below in _unpacked(root, 0)):
        kind, name, api = node.text_at("kind"), node.text_at("metadata", "name"), node.text_at("apiVersion")
        role, group, versions = _KINDS.get(kind, (ObjectRole.OTHER, "", ()))
        group_said, _, version = api.rpartition("/")
        item = KubernetesObject(documents, node, kind, name, version if version in versions else "", role)
        if role is not ObjectRole.OTHER and group != group_said and role is not ObjectRole.FILES and "." in group_said:
            # another program's kind of the same name
            item = item._replace(role=ObjectRole.OTHER)
        elif role is not ObjectRole.OTHER and (group != group_said or not item.version):
            findings.append(_api_version(item, [f"{group}/{supported}".lstrip("/") for supported in versions]))
        objects.append(item)
    return objects, findings


def _unpacked(node: YamlNode, depth: int) -> Iterator[YamlNode]:
    kind = node.text_at("kind")
    inside = node.get("items" if kind.endswith("List") else _HOLDERS.get(kind, ""))
    if inside is None or depth > 3:
        yield node
        return
    for item in inside.items:
        yield from _unpacked(item, depth + 1)


def _api_version(item: KubernetesObject, versions: list[str]) -> Finding:
    node = item.node.get("apiVersion")
    message = (
        f"apiVersion '{node.text[:80]}' does not exist for {item.kind}" if node else f"a {item.kind} without apiVersion"
    )
    return Finding(
        item.position_of(node) if node else item.position,
        Severity.ERROR,
        "kubernetes-api-version",
        message,
        "apiVersion",
        f"write {' or '.join(reversed(versions))}",
        REFUSED,
    )
