"""What a custom resource says of its broker: address settings as of a broker.xml, properties, limits of the pod
(docs/spec/kubernetes.md 1, 2, 4).

The operator writes ``addressSettings`` into the broker.xml of the image, and ``brokerProperties`` line by line into a
file of properties; those that begin with ``broker-N.`` into one for pod N alone. Nothing of that image's own broker.xml
is known here.
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
from brokerconf.reading.yaml_tree import ScalarText, YamlNode
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
    """A custom resource of a broker."""

    found: KubernetesObject

    def _spec(self, *names: str) -> YamlNode | None:
        return self.found.node.get("spec", *names)

    @property
    def edition(self) -> Edition | None:
        """Of the version that is asked for; None where none is, or one of another product."""
        said = self._spec("version")
        plain = said is not None and re.fullmatch(r"[12]\.\d+(\.\d+)?", said.text)
        return edition_of_release(said.text) if plain and said else None

    @property
    def memory(self) -> int | None:
        """Bytes that a pod may have at most; the heap is smaller by an amount that the image decides."""
        said = self._spec(_PLAN, "resources", "limits", "memory")
        return quantity(said.text) if said else None

    @property
    def pods(self) -> int | None:
        """How many there are; None where it is not said, or not as a number."""
        said = self._spec(_PLAN, "size")
        return int(said.text) if said and said.text.isdecimal() and len(said.text) < 10 else None

    @property
    def mounted(self) -> list[str]:
        """The Secrets whose properties the broker gets, in their order."""
        node = self._spec(_PLAN, "extraMounts", "secrets")
        return [item.text for item in node.items if item.text.endswith(PROPERTIES_SUFFIX)] if node else []

    @cached_property
    def xml(self) -> PlacedText:
        """The address settings and the journal's type as a broker.xml; what is between them stands at the kind."""
        outside = self.found.position
        placed = PlacedText().add(_START, lambda _: outside)
        journal = self._spec(_PLAN, "journalType")
        if journal is not None and journal.text:
            self._element(placed, journal, "journal-type", _JOURNALS.get(journal.text.lower(), "NIO"))
        settings = self._spec("addressSettings", "addressSetting")
        placed.add("<address-settings>", lambda _: outside)
        known = known_fields(self.found) - {f"{ADDRESS_SETTING}match"}
        for item in settings.items if settings else ():
            self._setting(placed, item, known)
        return placed.add(f"</address-settings>{_END}", lambda _: outside)

    def _setting(self, placed: PlacedText, item: YamlNode, known: set[str]) -> None:
        match = item.get("match")
        at = self.found.position_of(match or item)
        placed.add(f'<address-setting match="{_escaped(match.text if match else "")}">', lambda _: at)
        for key, value in item.entries:
            if ADDRESS_SETTING + key.text in known and value.type not in ("object", "array", "null"):
                self._element(placed, value, _tag(key.text), value.text, key)
        placed.add("</address-setting>", lambda _: at)

    def _element(self, placed: PlacedText, value: YamlNode, tag: str, text: str, key: YamlNode | None = None) -> None:
        start, inside = self.found.position_of(key or value), self.found.position_of(value)
        placed.add(f"<{tag}>", lambda _: start).add(_escaped(text), lambda _: inside)
        placed.add(f"</{tag}>", lambda _: start)

    def properties(self) -> dict[int | None, PlacedText]:
        """The files of properties that the operator writes: that of all pods, and one for each pod that is named."""
        files: dict[int | None, PlacedText] = {None: PlacedText()}
        for item in self._properties():
            text = ScalarText(self.found.documents.source, item)
            pod, rest = pod_and_rest(item.text)
            skipped = len(item.text) - len(rest)
            file = files.setdefault(pod, PlacedText())
            file.add(f"{rest}\n", lambda at, text=text, skipped=skipped: text.position(skipped + at))  # type: ignore[misc]
        return files

    def _properties(self) -> Iterator[YamlNode]:
        node = self._spec("brokerProperties")
        for item in node.items if node else ():
            if item.type not in ("object", "array", "null"):
                yield item

    def findings(self) -> Iterator[Finding]:
        """What the operator refuses, or never gives to the broker."""
        seen: dict[str, Position] = {}
        for item in self._properties():
            at = self.found.position_of(item)
            key = _key_for_the_operator(item.text)
            if key in seen:
                shown = _shown(key)
                yield self._error(
                    "kubernetes-duplicate-property", at,
                    f"property '{shown}' appears a second time, first in line {seen[key].line}", shown,
                    "keep one of them",
                    "the operator refuses the resource (Valid is False)",
                )  # fmt: skip
            seen.setdefault(key, at)
            yield from self._pod(item, at)
        maps = self._spec(_PLAN, "extraMounts", "configMaps")
        for item in maps.items if maps else ():
            if item.text.endswith(PROPERTIES_SUFFIX):
                yield self._error(
                    "kubernetes-properties-not-applied", self.found.position_of(item),
                    f"ConfigMap '{item.text[:80]}' is mounted, and its properties are not applied",
                    f"spec.{_PLAN}.extraMounts.configMaps", "make it a Secret, and name it in extraMounts.secrets",
                    f"operators look for properties in Secrets whose names end in {PROPERTIES_SUFFIX}",
                )  # fmt: skip

    def _pod(self, item: YamlNode, at: Position) -> Iterator[Finding]:
        pod, _ = pod_and_rest(item.text)
        first = item.text.partition("\n")[0]
        key = _shown(first)
        if pod is None and pod_and_rest(first)[0] is not None:
            yield self._error(
                "kubernetes-pod-prefix", at, "a text of several lines does not start with a prefix for one pod", key,
                "write each property for one pod as an item of its own, or the block with |-",
                "the operator reads the prefix only from items of one line; here it becomes part of a key for all pods",
            )  # fmt: skip
        elif pod is not None and self.pods is not None and pod >= self.pods:
            said = f"there is no pod {pod}: deploymentPlan.size is {self.pods}"
            why = "the property is not applied to any broker"
            yield Finding(at, Severity.WARNING, "kubernetes-pod-prefix", said, key, "count pods from 0", why)

    def _error(self, rule: str, at: Position, said: str, path: str, help: str, why: str) -> Finding:
        return Finding(at, Severity.ERROR, rule, said, path, help, why)


def quantity(text: str) -> int | None:
    """A quantity of Kubernetes (``2Gi``, ``500M``) in whole units; None for what is none."""
    found = re.fullmatch(r"(\d{1,18})(?:\.(\d{1,9}))?([A-Za-z]{0,2})", text)
    unit = {**_BINARY, **_DECIMAL}.get(found[3]) if found else None
    if found is None or unit is None:
        return None
    return int(found[1]) * unit + (int(found[2]) * unit // 10 ** len(found[2]) if found[2] else 0)


@cache
def _tag(field: str) -> str:
    return re.sub("([A-Z])", r"-\1", field).lower()


def _key_for_the_operator(text: str) -> str:
    """What stands before the first ``=`` that has no backslash before it."""
    found = re.search(r"(?<=[^\\])=", text)
    return text[: found.start()] if found else text


def _shown(text: str) -> str:
    """The key of a property, without any of its value."""
    return re.split(r"(?<!\\)[=:\s]", text, maxsplit=1)[0][:120]


def _escaped(text: str) -> str:
    """As XML has it, line feeds and tabs kept; other controls, for which it has no place, as a question mark."""
    plain = re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)
    return re.sub(r"[\t\n\r]", lambda found: f"&#{ord(found.group())};", escape(plain))
