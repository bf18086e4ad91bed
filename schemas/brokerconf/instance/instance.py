"""Directories of a broker: from an instance, or from a configuration file alone (facts/settings.csv).

Artemis resolves relative directories against the instance (the folder above ``etc``), HornetQ and embedded brokers
against the folder they are started in (``bin`` of an installed HornetQ; of others no file says which), an application
server against its ``data`` folder or the path that ``relative-to`` names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brokerconf.errors import BrokerConfError
from brokerconf.reading.decoding import read_at_most
from brokerconf.reading.document import ConfigNode, Document, FileKind
from brokerconf.reading.sizes import SizeError, parse_size, trimmed

if TYPE_CHECKING:
    from brokerconf.reading.property_entries import Entry

BROKER_XML = "broker.xml"
HORNETQ_XML = "hornetq-configuration.xml"
_DEFAULTS = {
    "paging-directory": "data/paging",
    "journal-directory": "data/journal",
    "bindings-directory": "data/bindings",
    "large-messages-directory": "data/largemessages",
}
NAMES = ("paging", "journal", "bindings", "large_messages")
_BEANS = {
    "paging-directory": "pagingDirectory",
    "journal-directory": "journalDirectory",
    "bindings-directory": "bindingsDirectory",
    "large-messages-directory": "largeMessagesDirectory",
}
RETENTION = "journal-retention-directory"
_RETENTION_BEAN = "journalRetentionDirectory"
DEFAULT = "default"
_ASSIGNMENT = r"(?m)^\s*(?:export\s+)?([A-Z_]+)=(.*?)\s*$"
_DEFINITION = r"""-D([^\s=]+)=("[^"]*"|'[^']*'|[^\s"']*)"""
_HEAP = r"-Xmx(\d+[kKmMgG]?)\b"
_VARIABLE = r"\$\{?([A-Z_]+)\}?"
_PROFILE_LIMIT = 1 << 20


class InstanceError(BrokerConfError):
    """Error for a folder that is no broker instance; the message says what was expected."""


class Directories(NamedTuple):
    """Absolute paths of a broker's store directories; none of them need exist.

    ``retention``: of the journal, or None if the broker keeps no history. ``sources``: where each of the others is set,
    as ``etc/broker.xml:12``. ``base``: the folder that relative ones are relative to, or None if all are absolute;
    ``paging_candidates``: the paging directory below each possible base.
    """

    paging: Path
    journal: Path
    bindings: Path
    large_messages: Path
    retention: Path | None = None
    sources: Mapping[str, str] = {}
    base: Path | None = None
    paging_candidates: tuple[Path, ...] = ()


class Instance(NamedTuple):
    """Broker instance: its folder, its configuration, and what its profile says about the process.

    ``properties`` are those that the start script passes to the broker; ``heap`` is -Xmx in bytes; ``home`` the
    installation it runs.
    """

    root: Path
    config: Path
    home: Path | None = None
    heap: int | None = None
    properties: Mapping[str, str] = {}
    profile: Path | None = None


def find_instance(path: Path, root: Path | None = None) -> Instance:
    """Return the instance of a path: its folder, its ``etc``, or its configuration file; raise ``InstanceError``.

    ``root`` is the instance of a configuration that is kept elsewhere; its start profile is used then.
    """
    if not path.is_dir():
        return _with_profile(path, root)
    for config in (path / "etc" / BROKER_XML, path / BROKER_XML, path / "config" / HORNETQ_XML, path / HORNETQ_XML):
        if config.is_file():
            return _with_profile(config, root)
    raise InstanceError(f"{path}: no etc/{BROKER_XML} there; name a broker instance or its configuration file")


def directories(
    document: Document,
    bases: Sequence[Path],
    entries: Iterable[Entry] = (),
    environment: Mapping[str, str] | None = None,
) -> Directories:
    """Return the store directories of a document, and where each is set.

    Relative ones are relative to the first of ``bases`` below which pages or a journal exist, else to the first.
    ``entries`` are the properties in force, which come after the file; ``environment`` has the values of variables that
    the document only names.
    """
    entries = tuple(entries)
    candidates = [_directories_below(document, base.absolute(), entries, environment or {}) for base in bases]
    chosen = next(
        (candidate for candidate in candidates if candidate.paging.is_dir() or candidate.journal.is_dir()),
        candidates[0],
    )
    return chosen._replace(paging_candidates=tuple(dict.fromkeys(candidate.paging for candidate in candidates)))


def _directories_below(
    document: Document, base: Path, entries: Iterable[Entry], environment: Mapping[str, str]
) -> Directories:
    if document.root.name == "domain" and base.name == "data" and not base.is_dir():
        base = _data_of_domain(base.parent)
    by_bean: dict[str, tuple[str, str]] = {}
    for name in _DEFAULTS:
        text, source = _directory(document, name, base)
        by_bean[_BEANS[name]] = (_filled_in(text, environment), source)
    retention = _retention(document)
    for entry in entries:
        if entry.key in by_bean and entry.value:
            place = f"{entry.position.file}:{entry.position.line}" if entry.position.line else entry.position.file
            by_bean[entry.key] = (_filled_in(entry.value, environment), place)
        if entry.key == _RETENTION_BEAN:
            retention = entry.value
    settings = dict(zip(NAMES, (by_bean[bean] for bean in _BEANS.values()), strict=True))
    paging, journal, bindings, large_messages = (base / text for text, _ in settings.values())
    return Directories(
        paging,
        journal,
        bindings,
        large_messages,
        retention=base / _filled_in(retention, environment) if retention else None,
        sources={name: source for name, (_, source) in settings.items()},
        base=None if all(Path(text).is_absolute() for text, _ in settings.values()) else base,
    )


def _retention(document: Document) -> str:
    node = document.core.descendant(RETENTION) if document.core else None
    return trimmed(node.text) if node else ""


def _filled_in(path: str, environment: Mapping[str, str]) -> str:
    """Return a path with the environment variables in it replaced; other expressions stay."""
    return re.sub(
        r"\$\{(?:env\.)?([^:}]+)[^}]*\}",
        lambda match: environment.get(match[1].strip(), match[0]).replace("\0", ""),
        path,
    )


def bases_of(instance: Instance, kind: FileKind, working_directory: Path | None = None) -> tuple[Path, ...]:
    """Return the folders that relative directories of a configuration may be relative to, the most likely first.

    HornetQ resolves them against its working directory: ``bin`` of an installation; of any other HornetQ no file names
    it. ``working_directory`` is the folder that an operator named.
    """
    folder = instance.config.absolute().parent
    own = instance.root == _root_of(instance.config)
    if kind.of_application_server:
        return (folder.parent / "data" if own else _existing_or(instance.root / "data", instance.root),)
    if kind is not FileKind.HORNETQ:
        return (instance.root,)
    homes = [up for up in folder.parents if folder.is_relative_to(up / "config")] + [instance.root]
    installed = [home / "bin" for home in homes if _is_hornetq_home(home)]
    others = [folder] if own else [instance.root, folder]
    return tuple(dict.fromkeys([*installed, *others, *([working_directory.absolute()] if working_directory else [])]))


def _is_hornetq_home(folder: Path) -> bool:
    return any((folder / "bin" / name).is_file() for name in ("run.sh", "bootstrap.jar"))


def _existing_or(folder: Path, other: Path) -> Path:
    return folder if folder.is_dir() else other


def _directory(document: Document, name: str, base: Path) -> tuple[str, str]:
    """Return the directory as written, and where: ``FILE:LINE`` or ``default``."""
    core = document.core
    if document.kind.of_application_server:
        from brokerconf.reading.application_server import written_server

        node = written_server(core).child(name) if core else None
        text = node.attributes.get("path", "") if node else ""
        text = _of_server(document, text or document.defaults.get(name, _DEFAULTS[name]), node, base)
    else:
        node = core.descendant(name) if core else None
        text = trimmed(node.text) if node else _DEFAULTS[name]
    return text, f"{node.position.file}:{node.position.line}" if node else DEFAULT


def _of_server(document: Document, text: str, node: ConfigNode | None, base: Path) -> str:
    """Return a path with an application server's named paths resolved.

    A path that only the server knows stays a ``${name}``.
    """
    configured = document.root.child("paths")
    named = (
        {configured_path.attributes.get("name", ""): configured_path for configured_path in configured.children}
        if configured
        else {}
    )
    paths = {
        "jboss.server.data.dir": base,
        "jboss.server.base.dir": base.parent,
        "jboss.home.dir": base.parent.parent,
        "jboss.server.config.dir": Path(document.path).absolute().parent,
    }
    relative = "jboss.server.data.dir"
    for _ in named.keys() | {""}:
        relative = node.attributes.get("relative-to", relative) if node else relative
        node = named.get(relative)
        if node is None:
            break
        text, relative = f"{node.attributes.get('path', '')}/{text}", ""
    for name, path in paths.items():
        text = text.replace(f"${{{name}}}", str(path))
    return str(paths.get(relative, f"${{{relative}}}" if relative else "/") / Path(text))


def _data_of_domain(folder: Path) -> Path:
    """Return the data folder of a domain's only server; with several, one of a server named ``SERVER``."""
    folders = sorted((folder / "servers").glob("*/data"))
    return folders[0] if len(folders) == 1 else folder / "servers" / "SERVER" / "data"


def _root_of(config: Path) -> Path:
    folder = config.absolute().parent
    return folder.parent if folder.name == "etc" else folder


def _with_profile(config: Path, root: Path | None) -> Instance:
    """Return the instance with what its start profile sets.

    ``artemis.instance`` is the folder that contains the instance now, even if its profile was written for another
    place.
    """
    profiles = [folder / "artemis.profile" for folder in ([root / "etc"] if root else []) + [config.parent]]
    try:
        # of anything else than a file the end may never come
        profile = next(path for path in profiles if path.is_file())
        text = read_at_most(profile, _PROFILE_LIMIT).decode("utf-8", "replace").replace("\r\n", "\n")
    except (StopIteration, OSError):
        return Instance(root or _root_of(config), config)
    variables = _variables(text)
    written_for = variables.get("ARTEMIS_INSTANCE")
    if root is None:
        apart = written_for if config.absolute().parent.name != "etc" else None
        root = Path(apart) if apart else _root_of(config)
    arguments = variables.get("JAVA_ARGS", "")
    home = variables.get("ARTEMIS_HOME")
    started_with = {
        "artemis.home": home,
        "data.dir": variables.get("ARTEMIS_DATA_DIR"),
        "artemis.instance.etc": variables.get("ARTEMIS_ETC_DIR") or variables.get("ARTEMIS_INSTANCE_ETC"),
    } | {name: value.strip("\"'") for name, value in re.findall(_DEFINITION, arguments)}
    properties = {"artemis.instance": str(root.absolute())} | {
        name: _relocated(value, written_for, root) for name, value in started_with.items() if value
    }
    return Instance(root, config, Path(home) if home else None, _heap(arguments), properties, profile)


def _relocated(value: str, written_for: str | None, root: Path) -> str:
    """Return a path of a start profile, moved along if the instance lies elsewhere than the profile says."""
    if not written_for or not f"{value}/".startswith(f"{written_for.rstrip('/')}/"):
        return value
    return str(root.absolute()) + value[len(written_for.rstrip("/")) :]


def _variables(text: str) -> dict[str, str]:
    """Return the assignments of a shell profile, the last of each name; nothing is executed, only $NAME is replaced."""
    variables: dict[str, str] = {}
    for name, value in re.findall(_ASSIGNMENT, text):
        if value.startswith(("'", '"')) and len(value) > 1:
            value = value[1:].rpartition(value[0])[0] or value.strip("\"'")
        variables[name] = re.sub(_VARIABLE, lambda match: variables.get(match.group(1), ""), value)
    return variables


def _heap(arguments: str) -> int | None:
    sizes = re.findall(_HEAP, arguments)
    try:
        return parse_size(sizes[-1]).value if sizes else None
    except SizeError:
        return None
