"""A configuration opened for its settings in force: instance, edition, properties and overrides taken into account."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from brokerconf.instance.detection import read_as_fits
from brokerconf.reading.properties import read_properties
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.overrides import apply, in_force

from pagectl.opening.config_call import definitions, instance_of
from pagectl.options.sizes import size_of
from pagectl.running.exits import CallError
from pagectl.terminal.streams import note
from pagefmt.editions import Edition


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that all commands on settings share."""

    edition: Edition | None = None
    cwd: Path | None = None
    define: tuple[str, ...] = ()
    heap: str | None = None


def open_settings(file: Path, asked: Asked) -> EffectiveSettings:
    """The settings of a file, or of an instance's; raises ``CallError`` or a room's own error."""
    if asked.cwd is not None and not asked.cwd.is_dir():
        raise CallError(f"--cwd {asked.cwd}: no such folder; name the one that the broker is started in")
    instance = instance_of(file)
    config = instance.config if instance else file
    given = {**(instance.properties if instance else {}), **definitions(asked.define)}
    detected = read_as_fits(
        config,
        edition=asked.edition,
        cwd=asked.cwd,
        properties=given,
        environment=dict(os.environ),
    )
    document = detected.document
    if document.core is None:
        note(f"{config}: the broker finds no <core> in it and starts with its defaults alone")
    if len(document.cores) > 1:
        note(f"{config}: {len(document.cores)} messaging servers; this is about the first")
    heap = size_of(asked.heap, "--heap") or (instance.heap if instance else None)
    settings = EffectiveSettings(document, heap=heap)
    entries = in_force(settings, read_properties(config.parent / "broker.properties"), given)
    _note_unused(apply(settings, entries))
    note(f"{config}: {document.edition.value} ({detected.reason})")
    return settings


def _note_unused(entries: Iterable[object]) -> None:
    names = [str(getattr(entry, "key", "")) for entry in entries]
    if names:
        note(f"overrides that set nothing shown here: {', '.join(names[:5])}{' …' if len(names) > 5 else ''}")
