"""A configuration file read, in whichever form: XML, properties, JSON, YAML, or Kubernetes objects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brokerconf.reading.properties import EMPTY_XML, SUFFIXES

from pagectl.options.configuration import ConfigurationOptions
from pagectl.running.exits import CallError
from pagefmt.editions import NEWEST, Edition

if TYPE_CHECKING:
    from brokerconf.instance.recognition import ConfigurationForm
    from brokerconf.reading.document import Document
    from brokerconf.reading.properties import Entry

_OF_OBJECTS = (".yaml", ".yml", ".json")


def kubernetes_text(path: Path, options: ConfigurationOptions) -> bytes | None:
    """The bytes of a file of Kubernetes objects; None for every other configuration. Raises as ``told_form``."""
    raw, form = told_form(path, options)
    return raw if form is not None and form.of_objects else None


def told_form(path: Path, options: ConfigurationOptions) -> tuple[bytes | None, ConfigurationForm | None]:
    """The bytes and the form of a file whose name does not tell whether it is one of Kubernetes objects, else neither.

    Raises ``OSError``, and ``CallError`` for options that such a file cannot be read with, and for other files of an
    instance.
    """
    _refuse_other(path)
    if path.suffix.lower() not in _OF_OBJECTS or not path.is_file():
        return None, None
    from brokerconf.instance.recognition import ConfigurationForm, form_of
    from brokerconf.reading.inclusion import read_raw

    raw = read_raw(path)
    form = form_of(path.name, raw)
    if options.properties and form is ConfigurationForm.KUBERNETES:
        raise CallError(f"{path}: --properties is not for Kubernetes objects; write them into brokerProperties")
    return raw, form


def _refuse_other(path: Path) -> None:
    from brokerconf.instance.recognition import OTHER_FILES, other_file
    from brokerconf.reading.inclusion import read_raw

    suspect = path.name in OTHER_FILES or path.suffix.lower() in _OF_OBJECTS
    said = other_file(path.name, read_raw(path)) if suspect and path.is_file() else ""
    if said:
        raise CallError(f"{path}: no configuration of the broker: {said}")


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
    """Read a file in whichever form; ``objects`` are the bytes of one of Kubernetes, with ``fragments`` parts of a
    configuration are read as well. Raises ``ReadingError``, ``CallError``, ``OSError``."""
    from brokerconf.reading.application_server import leave_server

    if objects is not None:
        found = _read_objects(objects, path, options, environment)
    elif path.suffix in SUFFIXES:
        found = _read_properties(path, options, environment)
    else:
        found = _read_document(path, options, environment, fragments)
    leave_server(found.document, options.profile, options.server)
    return found


def whole_document(
    path: Path, *, edition: Edition | None, properties: Mapping[str, str], options: ConfigurationOptions
) -> Document:
    """The document of a file alone, in whichever form, for a replay, which may run elsewhere: settings that are left
    out are supposed to be the defaults."""
    objects = kubernetes_text(path, options)
    document = read_configuration(path, replace(options, edition=edition, define=properties), {}, objects).document
    document.suppose_defaults()
    return document


def _read_properties(path: Path, options: ConfigurationOptions, environment: Mapping[str, str]) -> ReadConfiguration:
    """A file of properties over a document that says nothing; raises its fault where a broker leaves it out."""
    from brokerconf.reading.properties import read_properties
    from brokerconf.reading.reading import read_bytes

    document = read_bytes(
        EMPTY_XML.encode(), str(path), folder=path.parent, edition=options.edition or NEWEST,
        properties=options.define, environment=environment,
    )  # fmt: skip
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
        path, edition=options.edition, cwd=options.cwd, properties=options.define, environment=environment,
        fragments=fragments,
    )  # fmt: skip
    return ReadConfiguration(fitting.document, fitting.reason)


def _read_objects(
    raw: bytes, path: Path, options: ConfigurationOptions, environment: Mapping[str, str]
) -> ReadConfiguration:
    """What a file of Kubernetes objects says of its one broker."""
    from brokerconf.instance.detection import as_fits
    from brokerconf.kubernetes.settings import described_broker

    described = described_broker(raw, str(path), options.edition)
    folder = Path(os.path.realpath(options.cwd or path.parent))
    asked = options.edition or described.edition

    def read(edition: Edition | None) -> Document:
        return described.read(str(path), folder, edition, options.define, environment)

    if described.partial:
        document = read(asked or NEWEST)
        reason = "its version" if asked else "the newest; no version is given"
    else:
        fitting = as_fits(read, asked)
        document, reason = fitting.document, fitting.reason
    return ReadConfiguration(document, reason, described.entries, described.remarks)
