"""Where a broker's directories lie: from an instance, or from a configuration file alone (spec/settings.csv).

Artemis resolves relative directories against the instance (the folder above ``etc``), HornetQ against the folder it is
started in (``bin``), EAP 6 against the server's ``data`` folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from brokerconf.errors import BrokerConfError
from brokerconf.reading.document import ConfigNode, Document, Kind
from brokerconf.reading.sizes import SizeError, parse_size, trimmed

BROKER_XML = "broker.xml"
HORNETQ_XML = "hornetq-configuration.xml"
_DEFAULTS = {
    "paging-directory": "data/paging",
    "journal-directory": "data/journal",
    "bindings-directory": "data/bindings",
    "large-messages-directory": "data/largemessages",
}
_EAP6_DEFAULTS = {
    "paging-directory": "messagingpaging",
    "journal-directory": "messagingjournal",
    "bindings-directory": "messagingbindings",
    "large-messages-directory": "messaginglargemessages",
}
_ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Z_]+)=(.*?)\s*$", re.MULTILINE)
_DEFINITION = re.compile(r"""-D([^\s=]+)=("[^"]*"|'[^']*'|[^\s"']*)""")
_HEAP = re.compile(r"-Xmx(\d+[kKmMgG]?)\b")
_VARIABLE = re.compile(r"\$\{?([A-Z_]+)\}?")
_PROFILE_LIMIT = 1 << 20


class InstanceError(BrokerConfError):
    """A folder that is no broker instance; the message says what was looked for."""


@dataclass(frozen=True, slots=True)
class Directories:
    """Absolute paths; none of them need exist."""

    paging: Path
    journal: Path
    bindings: Path
    large_messages: Path


@dataclass(frozen=True, slots=True)
class Instance:
    """A broker instance: its folder, its configuration, and what its profile says about the process.

    ``properties`` are those that the start script hands to the broker; ``heap`` is -Xmx in bytes; ``home`` the
    installation it runs.
    """

    root: Path
    config: Path
    home: Path | None = None
    heap: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


def find_instance(path: Path) -> Instance:
    """The instance a path belongs to: its folder, its ``etc``, or its configuration file; raises ``InstanceError``."""
    if path.is_file():
        return _with_profile(_root_of(path), path)
    for config in (path / "etc" / BROKER_XML, path / BROKER_XML, path / "config" / HORNETQ_XML, path / HORNETQ_XML):
        if config.is_file():
            return _with_profile(_root_of(config), config)
    raise InstanceError(f"{path}: no etc/{BROKER_XML} there; name a broker instance or its configuration file")


def directories(document: Document, root: Path | None = None) -> Directories:
    """The four store directories of a document; ``root``: the folder that relative ones are taken against."""
    base = (root or base_of(Path(document.path), document.kind)).absolute()
    core = document.core
    found = {name: base / _directory(core, name, document.kind) for name in _DEFAULTS}
    return Directories(
        found["paging-directory"], found["journal-directory"], found["bindings-directory"],
        found["large-messages-directory"],
    )  # fmt: skip


def base_of(config: Path, kind: Kind) -> Path:
    """The folder that a configuration's relative directories are taken against."""
    if kind is Kind.EAP6:
        return config.absolute().parent.parent / "data"
    if kind is Kind.HORNETQ:
        return next((up / "bin" for up in config.absolute().parents if (up / "bin").is_dir()), config.absolute().parent)
    return _root_of(config)


def _directory(core: ConfigNode | None, name: str, kind: Kind) -> str:
    if kind is Kind.EAP6:
        node = core.child(name) if core else None
        return node.attributes.get("path", "") if node else _EAP6_DEFAULTS[name]
    node = core.descendant(name) if core else None
    return trimmed(node.text) if node else _DEFAULTS[name]


def _root_of(config: Path) -> Path:
    folder = config.absolute().parent
    return folder.parent if folder.name == "etc" else folder


def _with_profile(root: Path, config: Path) -> Instance:
    profile = config.parent / "artemis.profile"
    try:
        with profile.open(encoding="utf-8", errors="replace") as stream:
            text = stream.read(_PROFILE_LIMIT)
    except OSError:
        return Instance(root, config)
    variables = _variables(text)
    arguments = variables.get("JAVA_ARGS", "")
    home = variables.get("ARTEMIS_HOME")
    given = {name: value.strip("\"'") for name, value in _DEFINITION.findall(arguments)}
    started_with = {
        "artemis.instance": variables.get("ARTEMIS_INSTANCE", str(root)),
        "artemis.home": home,
        "data.dir": variables.get("ARTEMIS_DATA_DIR"),
        "artemis.instance.etc": variables.get("ARTEMIS_ETC_DIR") or variables.get("ARTEMIS_INSTANCE_ETC"),
    }
    properties = {name: value for name, value in started_with.items() if value} | given
    return Instance(root, config, Path(home) if home else None, _heap(arguments), properties)


def _variables(text: str) -> dict[str, str]:
    """The assignments of a shell profile, the last of each name; nothing is run, only $NAME is replaced."""
    found: dict[str, str] = {}
    for name, value in _ASSIGNMENT.findall(text):
        if value.startswith(("'", '"')) and len(value) > 1:
            value = value[1:].rpartition(value[0])[0] or value.strip("\"'")
        found[name] = _VARIABLE.sub(lambda match: found.get(match.group(1), ""), value)
    return found


def _heap(arguments: str) -> int | None:
    given = _HEAP.findall(arguments)
    try:
        return parse_size(given[-1]).value if given else None
    except SizeError:
        return None
