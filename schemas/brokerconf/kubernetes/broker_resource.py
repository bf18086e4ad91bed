"""Custom resource of a broker: address settings as in a broker.xml, properties, limits of the pod.

The operator writes ``addressSettings`` into the broker.xml of the image, and ``brokerProperties`` line by line into a
properties file; those that begin with ``broker-N.`` into one for pod N alone. The image's own broker.xml is unknown
(docs/spec/kubernetes.md 1, 2, 4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape

from brokerconf.instance.installed import edition_of_release
from brokerconf.kubernetes.fields import ADDRESS_SETTING, known_fields
from brokerconf.kubernetes.held_files import PROPERTIES_SUFFIX, pod_and_rest
from brokerconf.kubernetes.objects import KubernetesObject
from brokerconf.kubernetes.placed_text import PlacedText
from brokerconf.reading.yaml_nodes import ScalarText, YamlNode
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Position, Severity

_START = '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">'
_END = "</core></configuration>"
_JOURNALS = {"aio": "ASYNCIO"}
_BINARY = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50}
_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_PLAN = "deploymentPlan"


@dataclass(frozen=True)
class BrokerResource:
    """Custom resource of a broker."""

    resource: KubernetesObject

    def _spec(self, *names: str) -> YamlNode | None:
        return self.resource.node.get("spec", *names)

    @property
    def edition(self) -> Edition | None:
        """Return the edition of the requested version; None if none is requested, or one of another product."""
        version = self._spec("version")
        plain = version is not None and re.fullmatch(r"[12]\.\d+(\.\d+)?", version.text)
        return edition_of_release(version.text) if plain and version else None

    @property
    def memory(self) -> int | None:
        """Return a pod's memory limit in bytes, or None; the heap is smaller by an amount that the image decides."""
        limit = self._spec(_PLAN, "resources", "limits", "memory")
        return quantity(limit.text) if limit else None

    @property
    def pods(self) -> int | None:
        """Return the number of pods, or None if it is not stated as a number."""
        size = self._spec(_PLAN, "size")
        return int(size.text) if size and size.text.isdecimal() and len(size.text) < 10 else None

    @property
    def mounted(self) -> list[str]:
        """Return the names of Secrets with properties for the broker, in their order."""
        node = self._spec(_PLAN, "extraMounts", "secrets")
        return [item.text for item in node.items if item.text.endswith(PROPERTIES_SUFFIX)] if node else []

    @cached_property
    def xml(self) -> PlacedText:
        """Return the address settings and the journal type as a broker.xml.

        Text around the resource's own values is positioned at its kind.
        """
        outside = self.resource.position
        placed = PlacedText().add(_START, lambda _: outside)
        journal = self._spec(_PLAN, "journalType")
        if journal is not None and journal.text:
            self._element(placed, journal, "journal-type", _JOURNALS.get(journal.text.lower(), "NIO"))
        settings = self._spec("addressSettings", "addressSetting")
        placed.add("<address-settings>", lambda _: outside)
        allowed = known_fields(self.resource) - {f"{ADDRESS_SETTING}match"}
        for item in settings.items if settings else ():
            self._setting(placed, item, allowed)
        return placed.add(f"</address-settings>{_END}", lambda _: outside)

    def _setting(self, placed: PlacedText, item: YamlNode, allowed: set[str]) -> None:
        match = item.get("match")
        at = self.resource.position_of(match or item)
        placed.add(f'<address-setting match="{_escaped(match.text if match else "")}">', lambda _: at)
        for key, value in item.entries:
            if ADDRESS_SETTING + key.text in allowed and value.type not in ("object", "array", "null"):
                self._element(placed, value, _tag(key.text), value.text, key)
        placed.add("</address-setting>", lambda _: at)

    def _element(self, placed: PlacedText, value: YamlNode, tag: str, text: str, key: YamlNode | None = None) -> None:
        start, inside = self.resource.position_of(key or value), self.resource.position_of(value)
        placed.add(f"<{tag}>", lambda _: start).add(_escaped(text), lambda _: inside)
        placed.add(f"</{tag}>", lambda _: start)

    def properties(self) -> dict[int | None, PlacedText]:
        """Return the properties files that the operator writes, by pod number; None is the file for all pods."""
        files: dict[int | None, PlacedText] = {None: PlacedText()}
        for item in self._properties():
            text = ScalarText(self.resource.documents.source, item)
            pod, without_pod = pod_and_rest(item.text)
            skipped = len(item.text) - len(without_pod)
            file = files.setdefault(pod, PlacedText())
            file.add(f"{without_pod}\n", lambda at, text=text, skipped=skipped: text.position(skipped + at))  # type: ignore[misc]
        return files

    def _properties(self) -> Iterator[YamlNode]:
        node = self._spec("brokerProperties")
        for item in node.items if node else ():
            if item.type not in ("object", "array", "null"):
                yield item

    def findings(self) -> Iterator[Finding]:
        """Yield findings for what the operator refuses, or never passes to the broker."""
        seen: dict[str, Position] = {}
        for item in self._properties():
            at = self.resource.position_of(item)
            key = _key_for_the_operator(item.text)
            if key in seen:
                shown = _shown(key)
                yield self._error(
                    "kubernetes-duplicate-property",
                    at,
                    f"property '{shown}' appears a second time, first in line {seen[key].line}",
                    shown,
                    "keep one of them",
                    "the operator refuses the resource (Valid is False)",
                )
            seen.setdefault(key, at)
            yield from self._pod(item, at)
        maps = self._spec(_PLAN, "extraMounts", "configMaps")
        for item in maps.items if maps else ():
            if item.text.endswith(PROPERTIES_SUFFIX):
                yield self._error(
                    "kubernetes-properties-not-applied",
                    self.resource.position_of(item),
                    f"ConfigMap '{item.text[:80]}' is mounted, and its properties are not applied",
                    f"spec.{_PLAN}.extraMounts.configMaps",
                    "make it a Secret, and name it in extraMounts.secrets",
                    f"operators look for properties in Secrets whose names end in {PROPERTIES_SUFFIX}",
                )

    def _pod(self, item: YamlNode, at: Position) -> Iterator[Finding]:
        pod, _ = pod_and_rest(item.text)
        first = item.text.partition("\n")[0]
        key = _shown(first)
        if pod is None and pod_and_rest(first)[0] is not None:
            yield self._error(
                "kubernetes-pod-prefix",
                at,
                "a text of several lines does not start with a prefix for one pod",
                key,
                "write each property for one pod as an item of its own, or the block with |-",
                "the operator reads the prefix only from items of one line; here it becomes part of a key for all pods",
            )
        elif pod is not None and self.pods is not None and pod >= self.pods:
            message = f"there is no pod {pod}: deploymentPlan.size is {self.pods}"
            why = "the property is not applied to any broker"
            yield Finding(at, Severity.WARNING, "kubernetes-pod-prefix", message, key, "count pods from 0", why)

    def _error(self, rule: str, at: Position, message: str, path: str, help: str, why: str) -> Finding:
        return Finding(at, Severity.ERROR, rule, message, path, help, why)


def quantity(text: str) -> int | None:
    """Return a Kubernetes quantity (``2Gi``, ``500M``) in whole units, or None if the text is none."""
    match = re.fullmatch(r"(\d{1,18})(?:\.(\d{1,9}))?([A-Za-z]{0,2})", text)
    unit = {**_BINARY, **_DECIMAL}.get(match[3]) if match else None
    if match is None or unit is None:
        return None
    return int(match[1]) * unit + (int(match[2]) * unit // 10 ** len(match[2]) if match[2] else 0)


@cache
def _tag(field: str) -> str:
    return re.sub("([A-Z])", r"-\1", field).lower()


def _key_for_the_operator(text: str) -> str:
    """Return the text before the first ``=`` that is not escaped by a backslash."""
    separator = re.search(r"(?<=[^\\])=", text)
    return text[: separator.start()] if separator else text


def _shown(text: str) -> str:
    """Return the key of a property without any of its value, at most 120 characters."""
    return re.split(r"(?<!\\)[=:\s]", text, maxsplit=1)[0][:120]


def _escaped(text: str) -> str:
    """Return the text escaped for XML; line feeds and tabs are kept, other control characters become question marks."""
    plain = re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)
    return re.sub(r"[\t\n\r]", lambda match: f"&#{ord(match.group())};", escape(plain))
