"""Inventory of a file of Kubernetes objects: brokers' resources, and files under the keys of other objects."""

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
    """Objects of a file, and the files in them.

    ``held``: the files of brokers, and ``others``: the remaining keys, both by the title of the object. ``findings``
    are about the objects' own kinds and versions; ``readable``: nothing in them was skipped.
    """

    objects: list[KubernetesObject]
    findings: list[Finding]
    held: dict[str, list[HeldFile]] = field(default_factory=dict)
    others: dict[str, list[HeldFile]] = field(default_factory=dict)
    secrets: SecretValues = field(default_factory=SecretValues)
    readable: bool = True

    @property
    def brokers(self) -> list[BrokerResource]:
        """Return the custom resources of brokers."""
        return [BrokerResource(item) for item in self.objects if item.role is ObjectRole.BROKER]

    def keys_beside(self, title: str) -> list[HeldFile]:
        """Return the files under all keys of all objects, those of ``title`` last.

        Volumes can put several objects into one folder, so an include may name a file of another object.
        """
        titles = [*(other for other in self.held if other != title), title]
        return [file for owner in titles for file in (*self.held.get(owner, ()), *self.others.get(owner, ()))]

    def mounted(self, broker: BrokerResource) -> dict[str, list[HeldFile]]:
        """Return the files of each Secret whose properties a broker gets; empty for a Secret that the file lacks."""
        return {name: self.held.get(f"Secret {name}", []) for name in broker.mounted}


def inventory(documents: YamlDocuments) -> Inventory:
    """Sort the objects of a file by role, and collect the broker files that they contain."""
    objects, faults = objects_of(documents)
    result = Inventory(objects, [*documents.findings, *faults])
    for item in objects:
        if item.role is not ObjectRole.FILES:
            continue
        if item.kind == "Secret":
            result.secrets.add(item)
        files, others, unreadable = held_files(item)
        result.held.setdefault(item.title, []).extend(files)
        result.others.setdefault(item.title, []).extend(others)
        result.findings += unreadable
        result.readable &= not unreadable
    return result
