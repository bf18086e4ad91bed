"""``--config`` of the ``replay`` commands: the settings in force of an instance or of a configuration file."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from pagectl.opening.configuration import open_configuration
from pagectl.opening.reading import whole_document
from pagectl.opening.starting import require_start
from pagectl.options.configuration import ConfigurationOptions
from pagectl.terminal.streams import note, warning
from pageengine.replay.replaying import Configuration
from pageengine.settings.overrides import parse_override
from pageengine.settings.profiles import FROM_SOURCES_ALONE


def replay_configuration(
    path: Path, options: ConfigurationOptions, overrides: list[str] | None = None, *, anyway: bool
) -> Configuration:
    """Return the configuration of a replay: file, properties, system properties and -Xmx, then ``--set``.

    Warns of an edition that was never compared with a running broker. ``anyway`` is that of ``require_start``. Raises
    ``BrokerConfError``, ``CallError``, ``PageEngineError``, ``OSError``.
    """
    settings = tuple(parse_override(text) for text in overrides or ())
    config = open_configuration(path, options)
    require_start(config, anyway=anyway)
    config.with_defaults()
    config.settings()
    edition = config.edition
    if edition in FROM_SOURCES_ALONE:
        warning(f"{edition.value}: modelled from that release's source code only, never compared with a running broker")
    return Configuration(
        config.start.config,
        edition,
        settings,
        config.start.heap,
        {**config.placeholders(), **config.start.system},
        tuple(entry.whole() for entry in config.entries),
        partial(whole_document, options=options),
        "" if options.edition else config.sources["edition"],
    )


def note_not_modelled(configurations: Iterable[Configuration]) -> None:
    """Note the editions that were assumed, and the settings that a replay does not model."""
    configurations = list(configurations)
    assumed = (
        f"{config.path}: {config.edition.value} ({config.assumed})"
        for config in configurations
        if config.edition and config.assumed
    )
    for text in dict.fromkeys(assumed):
        note(text)
    for text in dict.fromkeys(text for config in configurations for text in config.not_modelled()):
        note(text)
