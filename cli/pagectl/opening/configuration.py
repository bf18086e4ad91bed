"""A broker's configuration opened: the document with includes, properties in force, directories, edition, heap."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pagectl.opening.reading import kubernetes_text, read_configuration
from pagectl.opening.start_parameters import StartParameters, start_parameters
from pagectl.opening.starting import require_start
from pagectl.options.configuration import ConfigurationOptions
from pagectl.terminal.streams import note
from pagefmt.findings import some

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

    @property
    def base_remark(self) -> str:
        """Say which folder the relative directories of HornetQ were resolved against, unless that is its ``bin``."""
        from brokerconf.reading.document import FileKind

        base, config = self.directories.base, self.start.config.absolute()
        if base is None or base.name == "bin" or self.document.kind is not FileKind.HORNETQ:
            return ""
        own = ", the folder of that file" if base == config.parent else ""
        return f"{self.start.config}: relative directories are read below {base}{own}: no file says where HornetQ runs"

    def settings(self, *, tell: bool = True) -> EffectiveSettings:
        """The settings in force; entries that set nothing known are told on standard error, unless ``tell`` is off."""
        from brokerconf.reading.secrets import shown_key
        from brokerconf.settings.effective import EffectiveSettings
        from brokerconf.settings.overrides import apply

        settings = EffectiveSettings(self.document, heap=self.start.heap, libaio=self.start.libaio)
        unused = apply(settings, self.entries)
        keys = [entry.key for entry in unused if not self.document.hides(entry.position)]
        if tell and keys:
            note(f"overrides that set nothing shown here: {some(shown_key(key)[:200] for key in keys)}")
        return settings

    def with_defaults(self) -> BrokerConfiguration:
        """The same for what needs a value of each setting: those that it leaves out count as the broker's defaults,
        and that is said."""
        self.document.suppose_defaults()
        if self.document.supposed:
            note(f"{self.start.config}: {self.document.supposed}")
        return self

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
            note(f"{self.start.config}: journal of type ASYNCIO is treated as {kind} ({self.sources['journal']})")

    def placeholders(self) -> dict[str, str]:
        """The values that the document's ``${…}`` take from system properties and the environment."""
        found = (each.placeholder for each in self.document.placeholders)
        return {each.name: each.value for each in found if each.origin in ("property", "environment")}


def open_configuration(
    path: Path, options: ConfigurationOptions | None = None, *, root: Path | None = None, fragments: bool = False
) -> BrokerConfiguration:
    """Open the configuration of an instance, or a configuration file: XML, properties, or Kubernetes objects.

    ``root`` is the instance that a configuration kept elsewhere is used for: relative directories are resolved
    against it. The edition is the one asked for, else that of the instance's jars, else the newest whose schema the
    file fits. With ``fragments`` a part of a configuration is read as well. Raises ``BrokerConfError``, ``CallError``,
    ``OSError``.
    """
    from brokerconf.instance.instance import bases_of, directories
    from brokerconf.reading.application_server import name_of
    from brokerconf.reading.properties import read_properties

    options = options or ConfigurationOptions()
    objects = kubernetes_text(path, options)
    start = start_parameters(path, options, root, alone=objects is not None)
    options = replace(options, edition=start.edition, define=start.system)
    environment = _environment(options)
    found = read_configuration(start.config, options, environment, objects, fragments=fragments)
    document = found.document
    if len(document.cores) > 1:
        first, *others = map(name_of, document.cores)
        note(f"{start.config}: {len(document.cores)} messaging servers; only the first, {first}, is used; "
             f"--server selects another: {some(others)}")  # fmt: skip
    for remark in found.remarks:
        note(f"{start.config}: {remark}")
    files = [read_properties(each, document.edition) for each in start.files]
    for file in files:
        if file.fault:
            note(f"{file.fault}; the broker starts without that file")
    beside = (entry for file in files for entry in file.entries)
    entries = entries_in_force(document, (*found.entries, *beside), start.system, environment)
    bases = bases_of(start.instance, document.kind, path if path.is_dir() else None)
    where = directories(document, bases, entries, os.environ)
    reason = start.sources.get("edition", found.reason)
    return BrokerConfiguration(start, document, entries, where, {**where.sources, **start.sources, "edition": reason})


def open_settings(
    path: Path, options: ConfigurationOptions, *, anyway: bool | None, defaults: bool = False
) -> tuple[BrokerConfiguration, EffectiveSettings]:
    """Open a configuration and its settings in force, for the ``config`` commands, with notes on what it was taken for.

    ``anyway``: as ``require_start``; None: whether a broker starts with it is the caller's to say. ``defaults``: as
    ``with_defaults``. Raises as ``open_configuration`` and ``require_start``.
    """
    found = open_configuration(path, replace(options, names_environment=True), fragments=True)
    config, document = found.start.config, found.document
    if document.taken_for:
        note(f"{config}: read as part of a configuration: {document.taken_for}")
    if anyway is not None:
        require_start(found, anyway=anyway)
    if document.core is None:
        note(f"{config}: has no <core>; the broker starts with defaults")
    if defaults:
        found.with_defaults()
    elif document.partial:
        note(f"{config}: {document.under} may set what this file leaves out, so that is not known (?)")
    note(f"{config}: {found.edition.value} ({found.sources['edition']})")
    return found, found.settings()


def _environment(options: ConfigurationOptions) -> Mapping[str, str]:
    """Return the variables that fill in ``${…}``, or only their names for a command that shows what it read."""
    from brokerconf.reading.substitution import names_only

    return names_only(os.environ) if options.names_environment else os.environ


def entries_in_force(
    document: Document, files: Iterable[Entry], system: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[Entry, ...]:
    """The properties of files and of the system that are in force, ``${…}`` in their values replaced."""
    from brokerconf.reading.properties import in_force, resolved
    from brokerconf.reading.substitution import PlaceholderValues

    values = PlaceholderValues.of(document.edition, system, environment)
    return resolved(in_force(document.core, document.edition, files, system), values)
