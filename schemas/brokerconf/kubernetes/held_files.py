"""Configurations of brokers under the keys of ConfigMaps and Secrets (docs/spec/kubernetes.md 3)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from brokerconf.kubernetes.objects import REFUSED, KubernetesObject
from brokerconf.kubernetes.placed_text import PlacedText
from brokerconf.reading.sources import SourceFile
from brokerconf.reading.substitution import ReplacedText
from brokerconf.reading.yaml_nodes import ScalarText, YamlNode
from pagefmt.findings import Finding, Position, Severity

# Secrets whose name ends so are handed to the broker by the operators, all their keys in the order of the alphabet.
PROPERTIES_SUFFIX = "-bp"
_POD = re.compile(r"broker-([0-9]+)\.(.*)")
_BROKER_XML = re.compile(r"(?s)<(?:[\w.-]+:)?(?:configuration|hornetq-server)\b|urn:(?:activemq|hornetq)")
_ENCODED = {"data": "Secret", "binaryData": "ConfigMap"}


class HeldFile(NamedTuple):
    """File under a key of a ConfigMap or Secret.

    ``suffix`` is its format: ``.xml``, ``.properties``, ``.json``, ``.yaml``; empty if the file is none of a broker.
    ``placed`` is its text and ``key`` the position of its key. ``encoded``: it is in base64, so that only the key has a
    position. ``secret``: its values are never shown. ``pod``: the number of the only pod that reads it, None for all.
    """

    name: str
    suffix: str
    placed: PlacedText
    key: Position
    encoded: bool
    secret: bool
    pod: int | None = None


def pod_and_rest(key: str) -> tuple[int | None, str]:
    """Split a key: ``broker-1.maxDiskUsage`` is ``maxDiskUsage`` of pod 1; the pod is None if all pods use the key."""
    match = _POD.fullmatch(key)
    return (int(match[1]), match[2]) if match and len(match[1]) < 10 else (None, key)


class HeldIncludes:
    """Files that a configuration under a key may include: keys mounted into the same folder, of two the later one.

    ``alone`` names a file whose positions are not those of the YAML file; ``taken`` are the names that were included.
    """

    def __init__(self, files: Iterable[HeldFile], yaml: str, alone: Callable[[HeldFile], str]) -> None:
        self.files = list(files)
        self._by_name = {file.name: file for file in self.files}
        self._yaml, self._alone = yaml, alone
        self.included: set[str] = set()

    def __call__(self, name: str) -> SourceFile | None:
        """Return the file under a key, or None if there is no such key."""
        file = self._by_name.get(name)
        if file is None:
            return None
        self.included.add(name)
        alone, text = self._alone(file), file.placed.text
        place = None if alone else file.placed.position
        return SourceFile(alone or self._yaml, text, ReplacedText(text), place=place)


def held_files(item: KubernetesObject) -> tuple[list[HeldFile], list[HeldFile], list[Finding]]:
    """Return the broker's files in a ConfigMap or Secret, its other keys, and findings about unreadable ones."""
    files: list[HeldFile] = []
    others: list[HeldFile] = []
    findings: list[Finding] = []
    for part, key, value in _keys(item):
        place = item.position_of(key)
        encoded = _ENCODED.get(part) == item.kind
        text = _decoded(value.text) if encoded else value.text
        suffix = _suffix(item, key.text, text or "")
        if text is None:
            findings.append(
                Finding(
                    place,
                    Severity.ERROR,
                    "kubernetes-base64",
                    f"{item.title}: {part} of '{key.text}' is not base64",
                    f"{part}.{key.text}",
                    "encode it, or move it to stringData" if part == "data" else "encode it",
                    REFUSED,
                )
            )
        else:
            inside = (lambda _, place=place: place) if encoded else ScalarText(item.documents.source, value).position
            placed = PlacedText().add(text, inside)
            secret, pod = item.kind == "Secret", pod_and_rest(key.text)[0]
            file = HeldFile(key.text, suffix, placed, place, encoded, secret, pod)
            (files if suffix else others).append(file)
    return sorted(files, key=lambda file: file.name), others, findings


def _keys(item: KubernetesObject) -> Iterator[tuple[str, YamlNode, YamlNode]]:
    """Yield (part, key, value) of a ConfigMap or Secret; for keys in both parts, ``stringData`` wins."""
    plain = item.node.get("stringData") if item.kind == "Secret" else None
    again = {key.text for key, _ in plain.entries} if plain else set()
    for part in ("data", "binaryData" if item.kind == "ConfigMap" else "stringData"):
        node = item.node.get(part)
        for key, value in node.entries if node else ():
            if part != "data" or key.text not in again:
                yield part, key, value


def _suffix(item: KubernetesObject, key: str, text: str) -> str:
    """Return the suffix of the file's format, or an empty string if the file is none of a broker."""
    suffix = f".{key.rpartition('.')[2].lower()}"
    if text.lstrip()[:1] == "<" or suffix == ".xml":
        broker = key in ("broker.xml", "hornetq-configuration.xml") or _BROKER_XML.search(text)
        return ".xml" if broker else ""
    suffix = ".yaml" if suffix == ".yml" else suffix
    if suffix not in (".properties", ".json", ".yaml"):
        return ""
    mine = item.name.endswith(PROPERTIES_SUFFIX) or pod_and_rest(key)[1] == "broker.properties"
    return suffix if mine else ""


def _decoded(text: str) -> str | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None
