"""A broker's configuration opened: the document with includes, properties in force, directories, edition, heap."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brokerconf.reading.properties import EMPTY_XML, SUFFIXES

from pagectl.opening.start_parameters import StartParameters, start_parameters
from pagectl.options.configuration import ConfigurationOptions
from pagectl.terminal.streams import note
from pagefmt.editions import NEWEST

if TYPE_CHECKING:
    from brokerconf.evidence.queue_declarations import QueueDeclarations
    from brokerconf.instance.instance import Directories
    from brokerconf.reading.document import Document
    from brokerconf.reading.properties import Entry
    from brokerconf.settings.effective import EffectiveSettings

    from pagefmt.editions import Edition

HORNETQ_JMS = "hornetq-jms.xml"


class BrokerConfiguration(NamedTuple):
    """A configuration as its broker reads it. ``entries`` are the properties in force, the last of a key counts.

    ``sources`` says where ``edition``, ``heap`` and each directory come from: ``default``, ``FILE:LINE``,
    ``-Dbrokerconfig.…``, an option, or how it was found.
    """

    start: StartParameters
    document: Document
    entries: tuple[Entry, ...]
    directories: Directories
    sources: Mapping[str, str]

    @property
    def edition(self) -> Edition:
        """The edition whose broker reads it."""
        return self.document.edition

    @property
    def root(self) -> Path:
        """The instance's folder."""
        return self.start.instance.root

    def settings(self) -> EffectiveSettings:
        """The settings in force; entries that set nothing known are told on standard error."""
        from brokerconf.settings.effective import EffectiveSettings
        from brokerconf.settings.overrides import apply

        settings = EffectiveSettings(self.document, heap=self.start.heap, libaio=self.start.libaio)
        note_unused(entry.key for entry in apply(settings, self.entries))
        return settings

    def declared(self, settings: EffectiveSettings) -> QueueDeclarations:
        """The queues and addresses that it declares; HornetQ has JMS destinations in a file beside it."""
        from brokerconf.evidence.queue_declarations import queue_declarations
        from brokerconf.properties.application import apply_all
        from brokerconf.reading.document import FileKind
        from brokerconf.reading.reading import read

        beside = self.start.config.with_name(HORNETQ_JMS)
        has_jms = self.document.kind is FileKind.HORNETQ and beside.is_file()
        outcomes = apply_all(self.entries, settings.edition, settings.core)
        return queue_declarations(settings, outcomes, read(beside, edition=self.edition).root if has_jms else None)

    def note_journal(self, settings: EffectiveSettings) -> None:
        """Says what a journal of type ASYNCIO was taken for: defaults of the journal depend on it."""
        if settings.broker()["journal-type"].value == "ASYNCIO":
            kind = "ASYNCIO" if self.start.libaio else "NIO"
            note(f"{self.start.config}: journal of type ASYNCIO counts as {kind} ({self.sources['journal']})")

    def placeholders(self) -> dict[str, str]:
        """The values that the document's ``${…}`` take from system properties and the environment."""
        found = (each.placeholder for each in self.document.placeholders)
        return {each.name: each.value for each in found if each.origin in ("property", "environment")}


def note_unused(keys: Iterable[str]) -> None:
    """Tells which properties set nothing known."""
    unused = list(keys)
    if unused:
        more = " …" if len(unused) > 5 else ""
        note(f"overrides that set nothing shown here: {', '.join(unused[:5])}{more}")


def open_configuration(
    path: Path, options: ConfigurationOptions | None = None, *, root: Path | None = None, newest_that_fits: bool = False
) -> BrokerConfiguration:
    """Open the configuration of an instance, or a configuration file.

    ``root`` is the instance that a configuration kept elsewhere is used for: relative directories are resolved
    against it. The edition is the one asked for, else that of the instance's jars, else what the namespace says; with
    ``newest_that_fits`` the newest whose schema the file fits. Raises ``BrokerConfError``, ``CallError``, ``OSError``.
    """
    from brokerconf.instance.instance import base_in, base_of, directories
    from brokerconf.reading.application_server import leave_profile

    options = options or ConfigurationOptions()
    start = start_parameters(path, options, root)
    document, reason = _read(start, newest_that_fits)
    leave_profile(document, options.profile)
    entries = _entries(start, document)
    if root is None and start.instance.root == start.config.absolute().parent:
        base = base_of(start.config, document.kind)
    else:
        base = base_in(start.instance.root, document.kind)
    found = directories(document, base, entries)
    return BrokerConfiguration(start, document, entries, found, {**found.sources, **start.sources, "edition": reason})


def open_settings(path: Path, options: ConfigurationOptions) -> EffectiveSettings:
    """The settings in force of a file or an instance, for the ``config`` commands; raises as ``open_configuration``."""
    return open_told(path, options)[1]


def open_told(path: Path, options: ConfigurationOptions) -> tuple[BrokerConfiguration | None, EffectiveSettings]:
    """The configuration of a file or an instance (None: of Kubernetes) and its settings in force, with notes on what
    it was taken for."""
    from brokerconf.reading.application_server import written_server

    from pagectl.opening.kubernetes import kubernetes_text, settings_in

    raw = kubernetes_text(path, options)
    if raw is not None:
        return None, settings_in(raw, path, options)
    found = open_configuration(path, options, newest_that_fits=True)
    config, document = found.start.config, found.document
    if document.taken_for:
        note(f"{config}: taken for a part: {document.taken_for}")
    if document.core is None:
        note(f"{config}: has no <core>; the broker starts with defaults")
    if len(document.cores) > 1:
        name = written_server(document.cores[0]).attributes.get("name", "default")
        note(f"{config}: {len(document.cores)} messaging servers; only the first, {name}, counts here")
    settings = found.settings()
    if settings.partial:
        note(f"{config}: what it leaves out may be set in the rest of the configuration, and is not known (?)")
    note(f"{config}: {found.edition.value} ({found.sources['edition']})")
    return found, settings


def _read(start: StartParameters, newest_that_fits: bool) -> tuple[Document, str]:
    """The document, and how its edition was found; of a file of properties one that says nothing."""
    if start.config.suffix in SUFFIXES:
        from brokerconf.reading.reading import read_bytes

        found = read_bytes(
            EMPTY_XML.encode(), str(start.config), folder=start.config.parent, edition=start.edition or NEWEST,
            properties=start.system, environment=os.environ,
        )  # fmt: skip
        found.laid_over = True
        return found, start.sources.get("edition", "the newest; properties say none")
    if newest_that_fits:
        from brokerconf.instance.detection import read_as_fits

        fitting = read_as_fits(
            start.config, edition=start.edition, cwd=start.cwd, properties=start.system, environment=os.environ
        )
        return fitting.document, start.sources.get("edition", fitting.reason)
    from brokerconf.reading.reading import read

    document = read(start.config, edition=start.edition, cwd=start.cwd, properties=start.system, environment=os.environ)
    return document, start.sources.get("edition", "by its namespace")


def _entries(start: StartParameters, document: Document) -> tuple[Entry, ...]:
    from brokerconf.reading.properties import read_properties

    own = (start.config,) if start.config.suffix in SUFFIXES else ()
    files = [read_properties(path, document.edition) for path in (*own, *start.files)]
    for file in files:
        if file.fault:
            note(f"{file.fault}; the broker starts without that file")
    return entries_in_force(document, (entry for file in files for entry in file.entries), start.system)


def entries_in_force(document: Document, files: Iterable[Entry], system: Mapping[str, str]) -> tuple[Entry, ...]:
    """The properties of files and of the system that are in force, ``${…}`` in their values replaced."""
    from brokerconf.reading.properties import in_force, resolved
    from brokerconf.reading.substitution import PlaceholderValues

    values = PlaceholderValues.of(document.edition, system, os.environ)
    return resolved(in_force(document.core, document.edition, files, system), values)
