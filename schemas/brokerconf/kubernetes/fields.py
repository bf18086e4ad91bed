"""Checks of the operators' custom resources against ``facts/custom_resources.csv`` (docs/spec/kubernetes.md 1).

A row of the table is a field below ``spec``: ``broker`` holds those of ActiveMQArtemis, BrokerCluster and Broker, and
``address`` those of ActiveMQArtemisAddress. It applies from the version ``since`` of the API up to, not including,
``until``; the versions of brokers are ordered with the kind Broker last, which leaves out what its operator no longer
does. What Kubernetes itself defines (``map``, ``kubernetes``, arrays without a row for their items) is left to
Kubernetes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from brokerconf.kubernetes.objects import REFUSED, KubernetesObject, ObjectRole
from brokerconf.reading.secrets import masked
from brokerconf.reading.tables import read_table
from brokerconf.reading.yaml_nodes import YamlNode
from brokerconf.settings.settings_model import Scope, in_scope
from pagefmt.findings import Finding, Severity, did_you_mean

_VERSIONS = ("v2alpha1", "v2alpha2", "v2alpha3", "v2alpha4", "v2alpha5", "v1beta1", "v1beta2", "Broker")
_DROPPED = "Kubernetes drops a field that the resource does not define, or refuses the object; the broker never sees it"
_FITS = {"integer": ("integer",), "number": ("integer", "number"), "boolean": ("boolean",), "string": ("string",)}
_ANY = ("map", "kubernetes")
_AROUND = {"apiVersion", "kind", "metadata", "spec", "status"}
# How the operators take words: these in any case, and what they make of others.
_ANY_CASE = {"deploymentPlan.journalType": "every other word is read as nio without an error"}
ADDRESS_SETTING = "addressSettings.addressSetting[]."


class ResourceField(NamedTuple):
    """Row of the table of fields of the operators' custom resources."""

    resource: str
    path: str
    type: str
    since: str
    until: str
    allowed: str
    required: str

    def known_in(self, version: str) -> bool:
        """Return whether a version of the API has this field; the kind Broker counts as the latest version."""
        at = _VERSIONS.index(version)
        late = bool(self.until) and at >= _VERSIONS.index(self.until)
        return not late and (not self.since or at >= _VERSIONS.index(self.since))


@cache
def _fields(resource: str) -> dict[str, ResourceField]:
    rows = [ResourceField(*row) for row in read_table("custom_resources.csv")]
    return {row.path: row for row in rows if row.resource == resource}


def known_fields(resource: KubernetesObject) -> set[str]:
    """Return the paths of the fields that the resource has in its version."""
    last = "v1beta1" if resource.role is ObjectRole.ADDRESS else "v1beta2"
    version = "Broker" if resource.kind == "Broker" else resource.version or last
    return {path for path, field in _fields(resource.role.value).items() if field.known_in(version)}


def field_findings(resource: KubernetesObject) -> Iterator[Finding]:
    """Yield findings for unknown or missing fields, and for values of a wrong type."""
    return _FieldChecks(resource).findings()


class _FieldChecks:
    def __init__(self, resource: KubernetesObject) -> None:
        self.resource = resource
        self.all_fields = _fields(resource.role.value)
        self.in_version = known_fields(resource)
        self.required: dict[str, list[str]] = {}
        for path in sorted(self.in_version):
            if self.all_fields[path].required:
                head, _, name = path.rpartition(".")
                self.required.setdefault(head, []).append(name)

    def findings(self) -> Iterator[Finding]:
        for key, _ in self.resource.node.entries:
            if key.text not in _AROUND:
                inside = "it is outside spec" if key.text in self.in_version else ""
                yield self._unknown(key, key.text, inside, f"move it below spec ({key.text})" if inside else "")
        spec = self.resource.node.get("spec")
        if spec is not None:
            yield from self._object(spec, "", "spec")

    def _object(self, node: YamlNode, path: str, shown: str) -> Iterator[Finding]:
        """Yield findings about the fields of an object.

        ``path`` is that of the table, ``shown`` has the numbers of items.
        """
        if node.type == "null":
            return
        if node.type != "object":
            yield self._wrong(node, shown, "object")
            return
        prefix = f"{path}." if path else ""
        for key, value in node.entries:
            below = f"{prefix}{key.text}"
            if below in self.in_version:
                yield from self._value(value, below, f"{shown}.{key.text}")
            else:
                yield self._no_field(key, below, f"{shown}.{key.text}")
        for name in self.required.get(path, ()):
            if node.get(name) is None:
                at = self.resource.position_of(node)
                message = f"{shown} without '{name}'"
                yield Finding(at, Severity.ERROR, "kubernetes-field-missing", message, shown, f"add {name}", REFUSED)

    def _value(self, node: YamlNode, path: str, shown: str) -> Iterator[Finding]:
        field = self.all_fields[path]
        if field.type in _ANY or node.type == "null":
            return
        if field.type == "object":
            yield from self._object(node, path, shown)
        elif field.type == "array":
            if node.type != "array":
                yield self._wrong(node, shown, "array")
            elif f"{path}[]" in self.all_fields:
                for number, item in enumerate(node.items):
                    yield from self._value(item, f"{path}[]", f"{shown}[{number}]")
                    if f"{path}[]." == ADDRESS_SETTING and item.type == "object" and not item.text_at("match"):
                        yield self._without_match(item, f"{shown}[{number}]")
        elif node.type not in _FITS[field.type]:
            yield self._wrong(node, shown, field.type)
        elif field.allowed:
            yield from self._word(node, field, shown)

    def _word(self, node: YamlNode, field: ResourceField, shown: str) -> Iterator[Finding]:
        allowed = field.allowed.split("|")
        word = node.text.lower() if field.path in _ANY_CASE else node.text
        if word not in allowed and word:
            why = _ANY_CASE.get(field.path, "the operator does not know the word")
            message = f"{shown}: '{masked(node.text)[:80]}' is not one of {', '.join(allowed)}"
            yield self._error("kubernetes-field-value", node, message, shown, f"write {' or '.join(allowed)}", why)

    def _wrong(self, node: YamlNode, shown: str, wanted: str) -> Finding:
        help = f'write it in quotes: "{masked(node.text, shown)[:40]}"' if wanted == "string" and node.text else ""
        if wanted == "string" and node.type == "object" and len(node.entries) == 1:
            help = "write it as one text, key=value"
        if wanted in ("integer", "number", "boolean") and node.style in ("'", '"'):
            help = "remove the quotes"
        message = f"{shown} must be {_ARTICLES[wanted]}, but is {_ARTICLES[node.type]}"
        return self._error("kubernetes-field-type", node, message, shown, help or f"write {_ARTICLES[wanted]}", REFUSED)

    def _without_match(self, item: YamlNode, shown: str) -> Finding:
        message = f"{shown} has no match: it applies to no address"
        at = self.resource.position_of(item.get("match") or item)
        why = "match is optional in the resource, and the operator writes an empty one"
        return Finding(at, Severity.WARNING, "kubernetes-field-missing", message, shown, "write match: '#'", why)

    def _no_field(self, key: YamlNode, path: str, shown: str) -> Finding:
        field = self.all_fields.get(path)
        if field is not None:
            first, last = field.since or _VERSIONS[0], _VERSIONS[_VERSIONS.index(field.until or "Broker") - 1]
            reason = "BrokerCluster has it" if self.resource.kind == "Broker" else f"it is one of {first} to {last}"
            return self._unknown(key, shown, reason, _instead(path))
        parent, _, name = path.rpartition(".")
        return self._unknown(key, shown, "", self._similar_field(parent, name) or _instead(path))

    def _similar_field(self, parent: str, name: str) -> str:
        """Return a hint at a similar field of the same part, else at the same name elsewhere; empty without one."""
        prefix = f"{parent}." if parent else ""
        siblings = [path.removeprefix(prefix) for path in self.in_version if path.startswith(prefix)]
        siblings = [name_here for name_here in siblings if "." not in name_here and "[" not in name_here]
        elsewhere = sorted(path for path in self.in_version if path.rpartition(".")[2] == name)
        otherwise = f"did you mean spec.{elsewhere[0]}?" if elsewhere else ""
        return did_you_mean(re.sub("[^A-Za-z0-9]", "", name), siblings, otherwise, cutoff=0.75, shown="{}")

    def _unknown(self, key: YamlNode, shown: str, more: str, help: str) -> Finding:
        message = f"{self.resource.kind} has no field '{shown[:120]}'" + (f": {more}" if more else "")
        return self._error("kubernetes-unknown-field", key, message, shown, help or "remove it", _DROPPED)

    def _error(self, rule: str, node: YamlNode, message: str, shown: str, help: str, why: str) -> Finding:
        return Finding(self.resource.position_of(node), Severity.ERROR, rule, message, shown, help, why)


_ARTICLES = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "empty",
}


def _instead(path: str) -> str:
    """Return the advice to set a property if the resource lacks a field that the broker has, or an empty string."""
    name = path.rpartition(".")[2]
    beans = {setting.bean for setting in in_scope(Scope.ADDRESS).values()}
    if path.startswith(ADDRESS_SETTING) and name in beans:
        return f'write it in brokerProperties: addressSettings."MATCH".{name}=…'
    return "write it in brokerProperties" if path.startswith("addressSettings") else ""
