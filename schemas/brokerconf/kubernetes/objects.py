"""The Kubernetes objects of a file: every document, and what stands in lists and templates."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from brokerconf.reading.yaml_tree import YamlDocuments, YamlNode
from pagefmt.findings import Finding, Position, Severity

LOOKED_FOR = (
    "an ActiveMQArtemis, Broker, BrokerCluster or ActiveMQArtemisAddress, or a ConfigMap or Secret with a broker.xml "
    "or broker properties"
)

REFUSED = "Kubernetes refuses the object"


class ObjectRole(Enum):
    """What an object is to a broker."""

    BROKER = "broker"
    ADDRESS = "address"
    FILES = "files"
    OTHER = "other"


# By kind: what it is, the group of its API, and the versions, the oldest first. A kind of an operator's group that is
# not listed holds no settings of a broker.
_KINDS = {
    "ActiveMQArtemis": (
        ObjectRole.BROKER, "broker.amq.io", ("v2alpha1", "v2alpha2", "v2alpha3", "v2alpha4", "v2alpha5", "v1beta1"),
    ),
    "BrokerCluster": (ObjectRole.BROKER, "broker.arkmq.org", ("v1beta2",)),
    "Broker": (ObjectRole.BROKER, "broker.arkmq.org", ("v1beta2",)),
    "ActiveMQArtemisAddress": (
        ObjectRole.ADDRESS, "broker.amq.io", ("v2alpha1", "v2alpha2", "v2alpha3", "v1beta1"),
    ),
    "ConfigMap": (ObjectRole.FILES, "", ("v1",)),
    "Secret": (ObjectRole.FILES, "", ("v1",)),
}  # fmt: skip
# Objects that hold others, and where.
_HOLDERS = {"Template": "objects"}


class KubernetesObject(NamedTuple):
    """One object. ``version`` is that of its API without the group, empty where it is none of the kind."""

    documents: YamlDocuments
    node: YamlNode
    kind: str
    name: str
    version: str
    role: ObjectRole

    @property
    def title(self) -> str:
        """As ``ConfigMap broker-config``."""
        return f"{self.kind} {self.name}" if self.name else f"{self.kind} without a name"

    @property
    def position(self) -> Position:
        """Where its kind is said."""
        return self.position_of(next((key for key, _ in self.node.entries if key.text == "kind"), self.node))

    def position_of(self, node: YamlNode) -> Position:
        """Where a part of it begins."""
        return self.documents.source.position(node.start)


def objects_of(documents: YamlDocuments) -> tuple[list[KubernetesObject], list[Finding]]:
    """All objects in the order of the file, and what is wrong with what they say of themselves."""
    objects: list[KubernetesObject] = []
    findings: list[Finding] = []
    for node in (below for root in documents.roots for below in _unpacked(root, 0)):
        kind, name, api = node.said("kind"), node.said("metadata", "name"), node.said("apiVersion")
        role, group, versions = _KINDS.get(kind, (ObjectRole.OTHER, "", ()))
        group_said, _, version = api.rpartition("/")
        found = KubernetesObject(documents, node, kind, name, version if version in versions else "", role)
        if role is not ObjectRole.OTHER and group != group_said and role is not ObjectRole.FILES and "." in group_said:
            # another program's kind of the same name
            found = found._replace(role=ObjectRole.OTHER)
        elif role is not ObjectRole.OTHER and (group != group_said or not found.version):
            findings.append(_api_version(found, [f"{group}/{each}".lstrip("/") for each in versions]))
        objects.append(found)
    return objects, findings


def _unpacked(node: YamlNode, depth: int) -> Iterator[YamlNode]:
    kind = node.said("kind")
    inside = node.get("items" if kind.endswith("List") else _HOLDERS.get(kind, ""))
    if inside is None or depth > 3:
        yield node
        return
    for item in inside.items:
        yield from _unpacked(item, depth + 1)


def _api_version(found: KubernetesObject, known: list[str]) -> Finding:
    node = found.node.get("apiVersion")
    said = (
        f"apiVersion '{node.text[:80]}' does not exist for {found.kind}"
        if node
        else f"a {found.kind} without apiVersion"
    )
    return Finding(
        found.position_of(node) if node else found.position, Severity.ERROR, "kubernetes-api-version", said,
        "apiVersion", f"write {' or '.join(reversed(known))}", REFUSED,
    )  # fmt: skip
