"""A broker's configuration as its broker reads it: document, properties in force, directories, and their sources."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pagectl.opening.start_parameters import StartParameters
from pagectl.terminal.streams import note
from pagefmt.findings import some

if TYPE_CHECKING:
    from brokerconf.evidence.queue_declarations import QueueDeclarations
    from brokerconf.instance.instance import Directories
    from brokerconf.reading.document import Document
    from brokerconf.reading.property_entries import Entry
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
        """Return the edition whose broker reads the configuration."""
        return self.document.edition

    @property
    def root(self) -> Path:
        """Return the folder of the instance."""
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
        """Return the settings in force. Note overrides that set nothing known, unless ``tell`` is off."""
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
        """Fill settings that the configuration leaves out with the broker's defaults, and note that.

        For readers that need a value of each setting. Returns the same object.
        """
        self.document.suppose_defaults()
        if self.document.supposed:
            note(f"{self.start.config}: {self.document.supposed}")
        return self

    def declared(self, settings: EffectiveSettings) -> QueueDeclarations:
        """Return the queues and addresses that the configuration declares.

        HornetQ declares JMS destinations in a file beside the configuration.
        """
        from brokerconf.evidence.queue_declarations import queue_declarations
        from brokerconf.properties.application import apply_all
        from brokerconf.reading.document import FileKind
        from brokerconf.reading.reading import read

        beside = self.start.config.with_name(HORNETQ_JMS)
        has_jms = self.document.kind is FileKind.HORNETQ and beside.is_file()
        outcomes = apply_all(self.entries, settings.edition, settings.core)
        return queue_declarations(settings, outcomes, read(beside, edition=self.edition).root if has_jms else None)

    def note_journal(self, settings: EffectiveSettings) -> None:
        """Note what a journal of type ASYNCIO was taken for, since defaults of the journal depend on it."""
        if settings.broker()["journal-type"].value == "ASYNCIO":
            kind = "ASYNCIO" if self.start.libaio else "NIO"
            note(f"{self.start.config}: journal of type ASYNCIO is treated as {kind} ({self.sources['journal']})")

    def placeholders(self) -> dict[str, str]:
        """Return the values of the document's ``${…}`` that come from system properties or the environment."""
        values = (value.placeholder for value in self.document.placeholders)
        return {value.name: value.value for value in values if value.origin in ("property", "environment")}
