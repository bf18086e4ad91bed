"""Everything a rule may ask: the document, the settings in force, and facts about heap, data directory and host.

Settings in force are those of the file with ``broker.properties`` and system properties applied. Nothing changes after
construction; costly values are computed when a rule first asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from brokerconf.evidence.address_facts import AddressCase, AddressFacts
from brokerconf.evidence.declarations import Endpoint, PasswordInClear, endpoints_of, jms_destinations_of, secrets_of
from brokerconf.evidence.host import PageFolder, Volume
from brokerconf.evidence.resolved_setting import ResolvedSetting, SettingsByName
from brokerconf.reading.application_server import written_server
from brokerconf.reading.document import ConfigNode, Document, PlaceholderReference
from brokerconf.reading.properties import in_force
from brokerconf.reading.sizes import trimmed
from brokerconf.reading.substitution import is_expression
from brokerconf.settings.address_settings import AddressSetting, read_value
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.matching import MatchMemory
from brokerconf.settings.settings_model import Scope, Setting, in_scope
from pagefmt.editions import Edition
from pagefmt.findings import Position

if TYPE_CHECKING:
    from brokerconf.evidence.queue_declarations import QueueDeclarations
    from brokerconf.properties.application import Bean
    from brokerconf.properties.outcomes import Outcome
    from brokerconf.reading.property_entries import Entry


class ConfigFacts(AddressFacts):
    """Everything that rules can ask about one ``core``.

    ``properties`` are the entries of ``broker.properties``, ``system`` all system properties the broker starts with.
    """

    def __init__(
        self,
        document: Document,
        core: ConfigNode | None,
        *,
        heap: int | None = None,
        properties: tuple[Entry, ...] = (),
        system: Mapping[str, str] | None = None,
        stores: tuple[PageFolder, ...] | None = None,
        volumes: tuple[Volume, ...] | None = None,
        memory: MatchMemory | None = None,
    ) -> None:
        super().__init__(EffectiveSettings(document, core=core, heap=heap, memory=memory))
        self.document, self.core = document, core
        self.heap, self.stores, self.volumes = heap, stores, volumes
        self.properties = in_force(core, document.edition, properties, system or {})
        self.beans: Bean | None = None
        self.outcomes: list[Outcome] = []
        if self.properties:
            from brokerconf.properties.application import applied
            from brokerconf.settings.overrides import lay_over

            self.beans, self.outcomes = applied(self.properties, self.edition, core)
            for outcome in self.outcomes:
                lay_over(self.effective, outcome)

    @cached_property
    def first(self) -> dict[str, ConfigNode]:
        """Return the first element of each tag inside ``core``, which is the one that the broker's reader uses."""
        return self.effective.first

    def key_at(self, position: Position) -> str:
        """Return the key of the property at a position, or an empty string."""
        return self._keys.get(position, "")

    @cached_property
    def _keys(self) -> dict[Position, str]:
        return {entry.position: entry.key for entry in self.properties}

    # settings of the broker and of the store

    @cached_property
    def broker(self) -> Mapping[str, ResolvedSetting]:
        """Return the settings of the broker by name."""
        return SettingsByName(self._of_broker)

    def _of_broker(self, name: str) -> ResolvedSetting:
        over = self.effective.overridden(name)
        if over is not None and over.origin is not None:
            return self._noted(ResolvedSetting(name, over.value, over.origin.given))
        return self._resolved(Scope.BROKER, name, self.first.get(name))

    @cached_property
    def store(self) -> Mapping[str, ResolvedSetting]:
        """Return the settings of the database store by name."""
        base = self.database_store
        return SettingsByName(lambda name: self._resolved(Scope.STORE, name, base.child(name) if base else None))

    def _resolved(self, scope: Scope, name: str, node: ConfigNode | None) -> ResolvedSetting:
        setting = in_scope(scope).get(name)
        if setting is None:
            return ResolvedSetting(name, None, node)
        value = None if node is None else read_value(setting, node.text, self.edition)
        if value is None:
            default = self.effective.default(setting) if scope is Scope.BROKER else setting.default(self.edition)
            return ResolvedSetting(name, default)
        return self._noted(ResolvedSetting(name, value, node))

    def _noted(self, setting: ResolvedSetting) -> ResolvedSetting:
        """Return the setting, and note if the rule looks at a value that only the running broker knows."""
        if setting.unknown:
            self.assumed.add(None)
        return setting

    @cached_property
    def database_store(self) -> ConfigNode | None:
        """Return the ``database-store`` element, or None if the stores are files."""
        return self.first.get("database-store")

    @cached_property
    def global_off(self) -> bool:
        """Return whether there is no limit over all addresses.

        HornetQ has none, 1.x none by default, later editions only by a property or in an application server.
        """
        size = self.broker["global-max-size"]
        if self.edition <= Edition.ARTEMIS_1_5 or self.effective.global_size_always_set:
            return size.number <= 0
        return size.by_property and size.number == -1

    # matches and limits

    @property
    def wildcards_known(self) -> bool:
        """Return whether this document defines the wildcards; for a part they may be set in another file."""
        return not self.document.is_part or "wildcard-addresses" in self.first

    @cached_property
    def wildcard_matches(self) -> tuple[AddressSetting, ...]:
        """Return the matches in force that have a wildcard and are not literal."""
        return tuple(match for text, match in sorted(self.in_force.items()) if self.spelling.is_wildcard(text))

    def is_management(self, case: AddressCase) -> bool:
        """Return whether the case is about management addresses alone."""
        return self.reaches_only_management(case.match)

    def reaches_only_management(self, text: str) -> bool:
        """Return whether a match applies only to management addresses, which are exempt from limits."""
        return self.spelling.begins_with(text, self._management)

    @cached_property
    def _management(self) -> str:
        return str(self.broker["management-address"].value or "")

    def page_size(self, case: AddressCase) -> int:
        """Return the bytes of a page; a database store limits it since 2.31."""
        size = case.number("page-size-bytes")
        if self.database_store is None or self.edition < Edition.ARTEMIS_2_44:
            return size
        return min(size, self.store["jdbc-max-page-size-bytes"].number)

    def has_page_limit(self, case: AddressCase) -> bool:
        """Return whether page files are limited by bytes or by messages."""
        return case.number("page-limit-bytes") > 0 or case.number("page-limit-messages") > 0

    def has_memory_limit(self, case: AddressCase) -> bool:
        """Return whether the address has a memory limit of its own."""
        return case.number("max-size-bytes") >= 0 or case.number("max-size-messages") >= 0

    # what else the file declares

    def lacks(self, address: str) -> bool:
        """Return whether no address, JMS destination or queue of that address is declared; False if that is unknown."""
        elsewhere = self.document.laid_over or (self.document.is_part and self.addresses_node is None)
        unknown = elsewhere or is_expression(address) or self._declares_unknown
        return not unknown and address not in self._declared

    @cached_property
    def declared_queues(self) -> QueueDeclarations:
        """Return all queues and addresses that elements or properties declare."""
        from brokerconf.evidence.queue_declarations import queue_declarations

        return queue_declarations(self.effective, self.outcomes)

    @cached_property
    def _declared(self) -> frozenset[str]:
        names = {address.name for address in self.addresses} | set(self.jms_destinations)
        queues = self.first.get("queues")
        for queue in queues.children_named("queue") if queues else ():
            node = queue.child("address")
            names.add(trimmed(node.text) if node else queue.attributes.get("name", ""))
        return frozenset(names)

    @cached_property
    def _declares_unknown(self) -> bool:
        """Return whether only the running broker knows the name of a declared address."""
        return any(map(is_expression, self._declared))

    @cached_property
    def jms_destinations(self) -> dict[str, str]:
        """Return the names of JMS queues and topics, and the prefix of their addresses."""
        return jms_destinations_of(self.document, self.core)

    @cached_property
    def acceptors(self) -> tuple[Endpoint, ...]:
        """Return the declared acceptors."""
        return endpoints_of(self.first.get("acceptors"), "acceptor")

    @cached_property
    def connectors(self) -> tuple[Endpoint, ...]:
        """Return the declared connectors."""
        return endpoints_of(self.first.get("connectors"), "connector")

    @cached_property
    def secrets(self) -> tuple[PasswordInClear, ...]:
        """Return the passwords in clear text; none if ``mask-password`` says that all are masked."""
        mask = self.first.get("mask-password")
        hidden = mask is not None and trimmed(mask.text).lower() == "true"
        return () if hidden or self.core is None else secrets_of(written_server(self.core))

    @cached_property
    def empty_placeholders(self) -> tuple[PlaceholderReference, ...]:
        """Return the placeholders outside comments that became empty.

        Of an application server's file, only those of this server are included.
        """
        empty = [placeholder for placeholder in self.document.placeholders if placeholder.placeholder.origin == "empty"]
        if empty and self.document.kind.of_application_server and self.core is not None:
            first, last = self.core.source.range_of(self.core.ordinal)
            empty = [placeholder for placeholder in empty if first <= placeholder.placeholder.offset < last]
        return tuple(
            placeholder
            for placeholder in empty
            if not _in_comment(placeholder.source.original, placeholder.placeholder.offset)
        )

    @cached_property
    def foreign(self) -> tuple[tuple[Setting, ConfigNode], ...]:
        """Return the elements that are settings of another edition."""
        if self.core is None or self.document.kind.of_application_server:
            return ()
        places = {
            Scope.BROKER: [self.core],
            Scope.ADDRESS: [match.node for match in self.effective.written if match.node is not None],
            Scope.STORE: [self.database_store] if self.database_store else [],
        }
        return tuple(self._foreign_in(places))

    def _foreign_in(self, places: Mapping[Scope, list[ConfigNode]]) -> Iterator[tuple[Setting, ConfigNode]]:
        written = {tag.rpartition(":")[2] for tag in self.core.by_tag()} if self.core else set()
        for scope, parents in places.items():
            strange = {
                n: setting
                for n, setting in in_scope(scope).items()
                if n in written and not setting.known_in(self.edition)
            }
            for parent in parents if strange else ():
                for child in parent.children:
                    if child.name in strange:
                        yield strange[child.name], child


def _in_comment(text: str, offset: int) -> bool:
    start = text.rfind("<!--", 0, offset)
    return start >= 0 and text.find("-->", start, offset) < 0
