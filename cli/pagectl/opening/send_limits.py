"""The limits at which a broker refuses, drops or holds up what is sent, as configuration and disks have them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pageengine.disk.config import disk_settings, watched
from pageengine.disk.monitor import edition_of_monitor
from pageengine.paging.next_send import NextSend, needs_memory, next_sends, page_limit
from pageengine.settings.from_document import engine_settings
from pageengine.settings.profiles import profile_of
from pagefmt.storage.filesystems import file_systems

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pagectl.opening.broker import OpenedBroker
    from pagectl.opening.broker_configuration import BrokerConfiguration
    from pageengine.paging.next_send import AddressMemory, PagesAtStart
    from pageengine.settings.profiles import Profile
    from pageengine.settings.settings import EngineSettings
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.journal_parts import JournalParts
    from pagefmt.outstanding.state import PagingState

    Memory = Callable[[], Mapping[str, AddressMemory]]


@dataclass(frozen=True, slots=True)
class SendLimits:
    """Of one broker. ``place``: where its directories lie."""

    place: DataLocation
    configuration: BrokerConfiguration
    settings: EngineSettings
    profile: Profile

    def page_limit(self, address: str, pages: PagesAtStart, memory: Memory) -> NextSend:
        """Return whether an address has reached its page limit, whatever else keeps messages out."""
        return page_limit(self.settings, self.profile, address, pages, memory)

    def counts_messages(self, address: str) -> bool:
        """Return whether a page limit in force for the address counts messages."""
        setting = self.settings.address_settings.effective(address)
        return self.profile.page_limits and None not in (setting.page_full_policy, setting.page_limit_messages)

    def next_sends(self, pages: Mapping[str, PagesAtStart], memory: Memory) -> dict[str, NextSend]:
        """Return what a broker that starts now does with the next message to each address of ``pages``."""
        held = memory() if needs_memory(self.settings, self.profile, pages) else {}
        return next_sends(self.settings, self.profile, pages, held, disk_full=self.disk_full())

    def memory(self, state: PagingState, parts: JournalParts | None = None) -> dict[str, AddressMemory]:
        """Return what the messages of the journal take in memory after a start; all of them are decoded for it.

        ``parts``: these messages, where they are at hand.
        """
        from pageengine.data_directory.after_start import memory_after_start
        from pagefmt.outstanding.journal_parts import JournalParts

        queues = state.bindings.queues if state.bindings is not None else {}
        return memory_after_start(parts or JournalParts(state, None), queues, self.profile)

    def disk_full(self) -> bool:
        """Return whether the disk monitor blocks producers.

        It checks the configured directories, or that of the pages if none of them exists.
        """
        from pageengine.disk.state import DiskState

        config, release = self.configuration, self.configuration.start.release
        edition = edition_of_monitor(release) if release else config.edition
        directories = {
            name: path for name, path in watched(config.document, config.directories).items() if path.exists()
        }
        if not directories and self.place.paging is not None:
            directories = {"paging": self.place.paging}
        settings = disk_settings(config.document, edition, config.entries, lenient=True)
        return DiskState.of(settings, edition, file_systems(directories)[0]).blocked


def send_limits(broker: OpenedBroker) -> SendLimits | None:
    """Return the limits of a broker, None if no configuration was read.

    A global limit of half a heap whose size is not set counts as none, so that nothing is reported as refused by a
    guess.
    """
    config = broker.configuration
    if config is None:
        return None
    settings = engine_settings(config.with_defaults().document, heap=config.start.heap, entries=config.entries)
    limit = config.settings(tell=False).broker().get("global-max-size")
    if limit is None or limit.value is None:
        settings = replace(settings, global_max_size=-1)
    return SendLimits(broker.place, config, settings, profile_of(config.edition))
