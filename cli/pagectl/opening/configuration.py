"""A broker's configuration opened: the document with includes, properties in force, directories, edition, heap."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.opening.broker_configuration import BrokerConfiguration
from pagectl.opening.reading import kubernetes_text, read_configuration
from pagectl.opening.start_parameters import start_parameters
from pagectl.opening.starting import require_start
from pagectl.options.configuration import ConfigurationOptions
from pagectl.terminal.streams import note
from pagefmt.findings import some

if TYPE_CHECKING:
    from brokerconf.reading.document import Document
    from brokerconf.reading.property_entries import Entry
    from brokerconf.settings.effective import EffectiveSettings


def open_configuration(
    path: Path, options: ConfigurationOptions | None = None, *, root: Path | None = None, fragments: bool = False
) -> BrokerConfiguration:
    """Open the configuration of an instance, or a configuration file: XML, properties, or Kubernetes objects.

    The edition is the one requested, else that of the instance's jars, else the newest whose schema the file fits.

    Args:
        path: An instance or a file.
        options: How to read the configuration.
        root: The instance for which a configuration kept elsewhere is used: relative directories are relative to it.
        fragments: Whether a part of a configuration is read as well.

    Raises:
        BrokerConfError, CallError, OSError: The configuration cannot be read.
    """
    from brokerconf.instance.instance import bases_of, directories
    from brokerconf.reading.properties import read_properties

    options = options or ConfigurationOptions()
    objects = kubernetes_text(path, options)
    start = start_parameters(path, options, root, alone=objects is not None)
    options = options._replace(edition=start.edition, define=start.system)
    environment = _environment(options)
    parsed = read_configuration(start.config, options, environment, objects, fragments=fragments)
    document = parsed.document
    if len(document.cores) > 1:
        from brokerconf.reading.application_server import name_of

        first, *others = map(name_of, document.cores)
        note(
            f"{start.config}: {len(document.cores)} messaging servers; only the first, {first}, is used; "
            f"--server selects another: {some(others)}"
        )
    for remark in parsed.remarks:
        note(f"{start.config}: {remark}")
    files = [read_properties(path_of_file, document.edition) for path_of_file in start.files]
    for file in files:
        if file.fault:
            note(f"{file.fault}; the broker starts without that file")
    beside = (entry for file in files for entry in file.entries)
    entries = entries_in_force(document, (*parsed.entries, *beside), start.system, environment)
    bases = bases_of(start.instance, document.kind, path if path.is_dir() else None)
    where = directories(document, bases, entries, os.environ)
    reason = start.sources.get("edition", parsed.reason)
    return BrokerConfiguration(start, document, entries, where, {**where.sources, **start.sources, "edition": reason})


def open_settings(
    path: Path, options: ConfigurationOptions, *, anyway: bool | None, defaults: bool = False
) -> tuple[BrokerConfiguration, EffectiveSettings]:
    """Open a configuration and its settings in force for the ``config`` commands, and note how it was read.

    ``anyway`` is that of ``require_start``; None leaves it to the caller whether a broker starts with it. ``defaults``
    fills settings left out as ``with_defaults`` does. Raises as ``open_configuration`` and ``require_start``.
    """
    configuration = open_configuration(path, options._replace(names_environment=True), fragments=True)
    config, document = configuration.start.config, configuration.document
    if document.taken_for:
        note(f"{config}: read as part of a configuration: {document.taken_for}")
    if anyway is not None:
        require_start(configuration, anyway=anyway)
    if document.core is None:
        note(f"{config}: has no <core>; the broker starts with defaults")
    if defaults:
        configuration.with_defaults()
    elif document.partial:
        note(f"{config}: {document.under} may set what this file leaves out, so that is not known (?)")
    note(f"{config}: {configuration.edition.value} ({configuration.sources['edition']})")
    return configuration, configuration.settings()


def _environment(options: ConfigurationOptions) -> Mapping[str, str]:
    """Return the variables that fill in ``${…}``, or only their names for a command that shows what it read."""
    from brokerconf.reading.substitution import names_only

    return names_only(os.environ) if options.names_environment else os.environ


def entries_in_force(
    document: Document, files: Iterable[Entry], system: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[Entry, ...]:
    """Return the properties of files and of the system that are in force, with ``${…}`` in their values replaced."""
    from brokerconf.reading.properties import in_force, resolved
    from brokerconf.reading.substitution import PlaceholderValues

    values = PlaceholderValues.of(document.edition, system, environment)
    return resolved(in_force(document.core, document.edition, files, system), values)
