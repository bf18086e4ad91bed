"""Values of a configuration that the engine decides by, already merged and with their defaults filled in.

``from_document`` fills these from a broker.xml (docs/spec/settings.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from pageengine.trace.operations import RoutingType

HALF_A_GIB = 512 * 1024 * 1024


class AddressFullPolicy(Enum):
    """Values of ``address-full-policy``."""

    PAGE = "PAGE"
    DROP = "DROP"
    FAIL = "FAIL"
    BLOCK = "BLOCK"


class PageFullPolicy(Enum):
    """Values of ``page-full-policy``."""

    DROP = "DROP"
    FAIL = "FAIL"


class DiskFullPolicy(Enum):
    """Values of ``disk-full-policy``."""

    BLOCK = "BLOCK"
    DROP = "DROP"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class AddressSettings:
    """Settings in force for one address. Sizes in bytes, times in milliseconds; -1: no limit; None: not set."""

    policy: AddressFullPolicy = AddressFullPolicy.PAGE
    max_size_bytes: int = -1
    max_size_messages: int = -1
    max_size_bytes_reject_threshold: int = -1
    page_size_bytes: int = 10 * 1024 * 1024
    page_limit_bytes: int | None = None
    page_limit_messages: int | None = None
    page_full_policy: PageFullPolicy | None = None
    # None: twice the page size.
    max_read_page_bytes: int | None = None
    max_read_page_messages: int = -1
    # None: the same as ``max_read_page_bytes``.
    prefetch_page_bytes: int | None = None
    prefetch_page_messages: int | None = None
    disk_full_policy: DiskFullPolicy | None = None
    dead_letter_address: str | None = None
    expiry_address: str | None = None
    max_delivery_attempts: int = 10
    redelivery_delay: int = 0
    expiry_delay: int = -1
    min_expiry_delay: int = -1
    max_expiry_delay: int = -1
    no_expiry: bool = False
    last_value_queue: bool = False
    last_value_key: str | None = None
    non_destructive: bool = False
    ring_size: int = -1
    exclusive_queue: bool = False
    purge_on_no_consumers: bool = False
    max_consumers: int = -1
    send_to_dla_on_no_route: bool = False
    auto_create_addresses: bool = True
    id_cache_size: int = 20000

    @property
    def changes_expiry(self) -> bool:
        """Return whether messages of the address may expire at another time than their producer set."""
        return self.no_expiry or self.expiry_delay >= 0 or self.min_expiry_delay != -1 or self.max_expiry_delay != -1


class AddressSettingsSource(ABC):
    """Source of the settings of each address."""

    __slots__ = ()

    @abstractmethod
    def effective(self, address: str) -> AddressSettings:
        """Return the merged settings of one address."""

    @abstractmethod
    def changed(self, match: str, values: Mapping[str, str]) -> AddressSettingsSource:
        """Return a source with settings of one match (by XML name) replaced or added, as management does it."""


@dataclass(frozen=True, slots=True)
class OneForAll(AddressSettingsSource):
    """The same settings for every address: for tests and simple questions."""

    settings: AddressSettings = AddressSettings()

    def effective(self, address: str) -> AddressSettings:
        """Return the settings, which are the same for every address."""
        return self.settings

    def changed(self, match: str, values: Mapping[str, str]) -> AddressSettingsSource:
        """Raise ``NotImplementedError``, because there are no matches to change."""
        raise NotImplementedError("settings without matches cannot be changed by match")


@dataclass(frozen=True, slots=True)
class ConfiguredQueue:
    """Queue that the configuration declares; None: what its address settings say."""

    name: str
    address: str
    routing: RoutingType = RoutingType.ANYCAST
    filter: str | None = None
    durable: bool = True
    max_consumers: int | None = None
    purge_on_no_consumers: bool | None = None
    exclusive: bool | None = None
    last_value: bool | None = None
    last_value_key: str | None = None
    non_destructive: bool | None = None
    ring_size: int | None = None


@dataclass(frozen=True, slots=True)
class Divert:
    """Divert of the configuration."""

    name: str
    address: str
    forwarding_address: str
    exclusive: bool = False
    filter: str | None = None


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Settings of a broker. ``global_max_size`` is the value in force (half of the heap when unset)."""

    address_settings: AddressSettingsSource = field(default_factory=OneForAll)
    global_max_size: int = HALF_A_GIB
    global_max_messages: int = -1
    max_disk_usage: int = 90
    min_disk_free: int = -1
    # In ms; below 0 the disk is never checked.
    disk_scan_period: int = 5000
    # In ns: the longest wait of a message until its page is written, or synced.
    page_sync_timeout: int = 3333333
    # In ns.
    journal_buffer_timeout: int = 3333333
    journal_buffer_size: int = 490 * 1024
    journal_sync_transactional: bool = True
    journal_sync_non_transactional: bool = True
    management_address: str = "activemq.management"
    persist_id_cache: bool = True
    purge_page_folders: bool = False
    # None: pages are files.
    jdbc_max_page_size_bytes: int | None = None
    # URLs.
    acceptors: tuple[str, ...] = ()
    addresses: Mapping[str, frozenset[RoutingType]] = field(default_factory=dict)
    queues: tuple[ConfiguredQueue, ...] = ()
    diverts: tuple[Divert, ...] = ()
    wildcard_routing: bool = True
    delimiter: str = "."
    any_words: str = "#"
    single_word: str = "*"
