"""The settings in force of a broker that Kubernetes objects describe."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.options.configuration import ConfigurationOptions
from pagectl.running.exits import CallError
from pagectl.terminal.streams import note

if TYPE_CHECKING:
    from brokerconf.kubernetes.settings import KubernetesSettings

_SUFFIXES = (".yaml", ".yml", ".json")


def kubernetes_text(path: Path, options: ConfigurationOptions) -> bytes | None:
    """The bytes of a file of Kubernetes objects; None for every other configuration.

    Raises ``OSError``, and ``CallError`` for options that such a file cannot be read with.
    """
    if path.suffix.lower() not in _SUFFIXES or not path.is_file():
        return None
    from brokerconf.instance.recognition import ConfigurationForm, form_of
    from brokerconf.linting.lint import read_raw

    raw = read_raw(path)
    if form_of(path.name, raw) is not ConfigurationForm.KUBERNETES:
        return None
    if options.properties:
        raise CallError(f"{path}: --properties is not for Kubernetes objects; write them into brokerProperties")
    return raw


def settings_in(raw: bytes, path: Path, options: ConfigurationOptions) -> KubernetesSettings:
    """The settings of its one broker; what they leave out is told on standard error. Raises ``ReadingError``."""
    from brokerconf.instance.detection import as_fits
    from brokerconf.kubernetes.settings import KubernetesSettings, described_broker
    from brokerconf.reading.document import Document
    from brokerconf.reading.parsing import ReadingError
    from brokerconf.reading.reading import read_bytes
    from brokerconf.settings.overrides import apply

    from pagectl.opening.configuration import entries_in_force, note_unused
    from pagefmt.editions import NEWEST, Edition

    described = described_broker(raw, str(path), options.edition)
    folder = (options.cwd or path.parent).resolve()

    def read(edition: Edition | None) -> Document:
        try:
            return read_bytes(
                described.xml.encode("utf-8", "replace"), str(path), folder=folder, edition=edition,
                properties=options.define, environment=os.environ, place=described.place,
            )  # fmt: skip
        except ReadingError as err:
            if described.secrets.holds(err.position):
                said = f"{err.position}: what a Secret holds here cannot be read [{err.rule}]"
                raise CallError(f"{said}; config lint says more") from err
            raise

    asked = options.edition or described.edition
    if described.partial:
        document = read(asked or NEWEST)
        reason = "as asked for" if options.edition else "its version" if asked else "the newest; no version is said"
    else:
        fitting = as_fits(read, asked)
        document, reason = fitting.document, fitting.reason
    settings = KubernetesSettings(document, described, heap=options.heap)
    unused = apply(settings, entries_in_force(document, described.entries, options.define))
    note_unused(entry.key for entry in unused if not described.secrets.holds(entry.position))
    for remark in described.remarks:
        note(f"{path}: {remark}")
    note(f"{path}: {document.edition.value} ({reason})")
    return settings
