"""A configuration file read, in whichever form: XML, properties, JSON, YAML, or Kubernetes objects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brokerconf.reading.properties import EMPTY_XML, SUFFIXES

from pagectl.options.configuration import ConfigurationOptions
from pagectl.running.exits import CallError
from pagefmt.editions import NEWEST, Edition

if TYPE_CHECKING:
    from brokerconf.instance.recognition import ConfigurationForm
    from brokerconf.reading.document import Document
    from brokerconf.reading.property_entries import Entry

_OF_OBJECTS = (".yaml", ".yml", ".json")


def kubernetes_text(path: Path, options: ConfigurationOptions) -> bytes | None:
    """Return the bytes of a file of Kubernetes objects, None for any other configuration.

    Raises as ``kubernetes_form`` does.
    """
    raw, form = kubernetes_form(path, options)
    return raw if form is not None and form.of_objects else None


def kubernetes_form(path: Path, options: ConfigurationOptions) -> tuple[bytes | None, ConfigurationForm | None]:
    """Return the bytes and form of a file that may contain Kubernetes objects by its name, else None twice.

    Raises ``OSError``, and ``CallError`` for options that do not apply to such a file, and for other files of an
    instance.
    """
    _refuse_other(path)
    if path.suffix.lower() not in _OF_OBJECTS or not path.is_file():
        return None, None
    from brokerconf.instance.recognition import ConfigurationForm, form_of
    from brokerconf.reading.decoding import read_at_most
    from brokerconf.reading.inclusion import LARGEST

    raw = read_at_most(path, LARGEST)
    form = form_of(path.name, raw)
    if options.properties and form is ConfigurationForm.KUBERNETES:
        raise CallError(f"{path}: --properties is not for Kubernetes objects; write them into brokerProperties")
    return raw, form


def _refuse_other(path: Path) -> None:
    from brokerconf.instance.recognition import OTHER_FILES, other_file
    from brokerconf.reading.decoding import read_at_most
    from brokerconf.reading.inclusion import LARGEST

    suspect = path.name in OTHER_FILES or path.suffix.lower() in _OF_OBJECTS
    content = other_file(path.name, read_at_most(path, LARGEST)) if suspect and path.is_file() else ""
    if content:
        raise CallError(f"{path}: no configuration of the broker: {content}")


class ReadConfiguration(NamedTuple):
    """What a file says by itself. ``reason``: how its edition was found; ``remarks``: what is left out of it."""

    document: Document
    reason: str
    entries: tuple[Entry, ...] = ()
    remarks: tuple[str, ...] = ()


def read_configuration(
    path: Path,
    options: ConfigurationOptions,
    environment: Mapping[str, str],
    objects: bytes | None,
    *,
    fragments: bool = False,
) -> ReadConfiguration:
    """Read a configuration file in any form. Raise ``ReadingError``, ``CallError`` or ``OSError``.

    ``objects`` are the bytes of a file of Kubernetes objects, None for other files. ``fragments`` allows parts of a
    configuration.
    """
    if objects is not None:
        parsed = _read_objects(objects, path, options, environment)
    elif path.suffix in SUFFIXES:
        parsed = _read_properties(path, options, environment)
    else:
        parsed = _read_document(path, options, environment, fragments)
    if parsed.document.subsystems or options.profile is not None or options.server is not None:
        from brokerconf.reading.application_server import leave_server

        leave_server(parsed.document, options.profile, options.server)
    return parsed


def whole_document(
    path: Path, *, edition: Edition | None, properties: Mapping[str, str], options: ConfigurationOptions
) -> Document:
    """Return the document of a single file for a replay, which may run on another host.

    Settings that are left out are assumed to have their defaults.
    """
    objects = kubernetes_text(path, options)
    document = read_configuration(path, options._replace(edition=edition, define=properties), {}, objects).document
    document.suppose_defaults()
    return document


def _read_properties(path: Path, options: ConfigurationOptions, environment: Mapping[str, str]) -> ReadConfiguration:
    """Read a file of properties over an empty document. Raise its fault if a broker would ignore the file."""
    from brokerconf.reading.properties import read_properties
    from brokerconf.reading.reading import read_bytes

    document = read_bytes(
        EMPTY_XML.encode(),
        str(path),
        folder=path.parent,
        edition=options.edition or NEWEST,
        properties=options.define,
        environment=environment,
    )
    document.laid_over = True
    file = read_properties(path, document.edition)
    if file.fault:
        raise file.fault
    return ReadConfiguration(document, "the newest; properties name no release", file.entries)


def _read_document(
    path: Path, options: ConfigurationOptions, environment: Mapping[str, str], fragments: bool
) -> ReadConfiguration:
    from brokerconf.instance.detection import read_as_fits

    fitting = read_as_fits(
        path,
        edition=options.edition,
        cwd=options.cwd,
        properties=options.define,
        environment=environment,
        fragments=fragments,
    )
    return ReadConfiguration(fitting.document, fitting.reason)


def _read_objects(
    raw: bytes, path: Path, options: ConfigurationOptions, environment: Mapping[str, str]
) -> ReadConfiguration:
    """Read the settings that a file of Kubernetes objects has for its one broker."""
    from brokerconf.instance.detection import as_fits
    from brokerconf.kubernetes.settings import described_broker

    described = described_broker(raw, str(path), options.edition)
    folder = Path(os.path.realpath(options.cwd or path.parent))
    requested = options.edition or described.edition

    def read(edition: Edition | None) -> Document:
        return described.read(str(path), folder, edition, options.define, environment)

    if described.partial:
        document = read(requested or NEWEST)
        reason = "its version" if requested else "the newest; no version is given"
    else:
        fitting = as_fits(read, requested)
        document, reason = fitting.document, fitting.reason
    return ReadConfiguration(document, reason, described.entries, described.remarks)
