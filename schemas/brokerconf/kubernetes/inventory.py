"""What a file of Kubernetes objects has of brokers: their resources, and files under the keys of other objects."""

from __future__ import annotations

from dataclasses import dataclass, field

from brokerconf.kubernetes.broker_resource import BrokerResource
from brokerconf.kubernetes.held_files import HeldFile, held_files
from brokerconf.kubernetes.objects import KubernetesObject, ObjectRole, objects_of
from brokerconf.kubernetes.secret_values import SecretValues
from brokerconf.reading.yaml_tree import YamlDocuments
from pagefmt.findings import Finding


@dataclass(slots=True)
class Inventory:
    """``held``: the files of brokers, and ``others``: the remaining keys, both by the title of the object.

    ``findings`` are about what objects say of themselves; ``readable``: nothing in them was passed over.
    """

    objects: list[KubernetesObject]
    findings: list[Finding]
    held: dict[str, list[HeldFile]] = field(default_factory=dict)
    others: dict[str, list[HeldFile]] = field(default_factory=dict)
    secrets: SecretValues = field(default_factory=SecretValues)
    readable: bool = True

    @property
    def brokers(self) -> list[BrokerResource]:
        """The custom resources of brokers."""
        return [BrokerResource(one) for one in self.objects if one.role is ObjectRole.BROKER]

    def keys_beside(self, title: str) -> list[HeldFile]:
        """The files under all keys, those of one object last: volumes can put several objects into one folder."""
        titles = [*(other for other in self.held if other != title), title]
        return [file for each in titles for file in (*self.held.get(each, ()), *self.others.get(each, ()))]

    def mounted(self, broker: BrokerResource) -> dict[str, list[HeldFile]]:
        """The files of the Secrets with properties that a broker is given; none for one that is not in the file."""
        return {name: self.held.get(f"Secret {name}", []) for name in broker.mounted}


def inventory(documents: YamlDocuments) -> Inventory:
    """Goes through all objects."""
    objects, faults = objects_of(documents)
    found = Inventory(objects, [*documents.findings, *faults])
    for one in objects:
        if one.role is not ObjectRole.FILES:
            continue
        if one.kind == "Secret":
            found.secrets.add(one)
        files, others, unreadable = held_files(one)
        found.held.setdefault(one.title, []).extend(files)
        found.others.setdefault(one.title, []).extend(others)
        found.findings += unreadable
        found.readable &= not unreadable
    return found
