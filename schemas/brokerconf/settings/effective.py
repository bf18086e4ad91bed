"""The settings that the broker really uses, each with its origin (docs/spec/config-behaviour.md "Merging").

``EffectiveSettings`` answers for one document and edition: for the broker itself, and for any address. Up to 2.28 a
lookup changes what is stored, so later answers depend on earlier ones: ask in the order in which the broker would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from brokerconf.reading.document import ConfigNode, Document, FileKind
from brokerconf.reading.sizes import parse_boolean, trimmed
from brokerconf.settings.address_settings import (
    AddressSetting,
    AddressSettingReader,
    EffectiveValue,
    Origin,
    Override,
    Values,
    address_setting_nodes,
    field_name,
    read_value,
)
from brokerconf.settings.matching import MatchError, MatchMemory, MatchTable, Wildcards, modified
from brokerconf.settings.settings_model import Scope, Setting, Value, in_scope
from pagefmt.editions import Edition
from pagefmt.findings import Position

# Fields that the merging of an edition forgets.
_NOT_MERGED = {
    Edition.HORNETQ_2_4: {"last-value-queue"},
    Edition.ARTEMIS_1_5: {"last-value-queue"},
    Edition.ARTEMIS_2_4: {"last-value-queue"},
    Edition.ARTEMIS_2_10: {"default-group-first-key"},
}


class EffectiveSettings:
    """Settings in force after merging matches, defaults and properties.

    ``heap`` is the JVM's maximum memory in bytes, of which the default of global-max-size is a share (None: unknown);
    without ``libaio`` on the host a journal of type ASYNCIO is one of type NIO.
    """

    def __init__(
        self,
        document: Document,
        *,
        heap: int | None = None,
        core: ConfigNode | None = None,
        libaio: bool = True,
        memory: MatchMemory | None = None,
    ) -> None:
        self._memory = memory or MatchMemory()
        self.document = document
        self.edition = document.edition
        self.heap, self.libaio = heap, libaio
        self.core = core or document.core
        self.first = first_of_each_tag(self.core)
        self.wildcards = wildcards_of(self.core, self.edition, self.first)
        self._broker_overrides: Values = {}
        self._broker_texts: dict[str, Override] = {}
        # by name, what defaults take the place of, because only the running broker knows it; None: nothing
        self.supposed: dict[str, str] | None = None
        # all elements in the order of the file, also those that do not count; what counts, by its match
        self.written: list[AddressSetting] = []
        self.duplicates: list[ConfigNode] = []
        self.refused: list[tuple[ConfigNode, MatchError]] = []
        self.settings: dict[str, AddressSetting] = {}
        self._store()
        self._texts = frozenset(setting.text for setting in self.written)
        self._table: MatchTable | None = None
        self._merged: dict[str, Values] = {}

    def _store(self) -> None:
        reader = AddressSettingReader(self.edition, self.document.always_set)
        late = self.edition >= Edition.ARTEMIS_2_28
        for node in address_setting_nodes(self.core):
            text = node.attributes.get("match", "")
            repeated = text in self.settings
            if repeated:
                self.duplicates.append(node)
            setting = reader.setting(node, len(self.written))
            self.written.append(setting)
            if repeated and late:
                continue
            try:
                setting.match = self._memory.match(text, self.wildcards, self.edition)
            except MatchError as err:
                self.refused.append((node, err))
                continue
            self.settings[text] = setting

    @property
    def open(self) -> bool:
        """Return whether matches that fit every address may be in another file.

        That is so for a part of a configuration unless it has such a match itself.
        """
        whole = self.wildcards.any_words in self._texts
        return self.document.laid_over or (self.document.is_part and not whole)

    def override(self, written: str, name: str, value: Value, at: Position, text: str = "") -> None:
        """Set a value of a match by a property; the match is created if the file lacks it."""
        self._setting_of(written).override(name, value, Override(at, text))

    def set_as_text(self, written: str, name: str, text: str, at: Position) -> None:
        """Set what an element with this text would set for a match.

        A text that counts as not set removes any value that the match has.
        """
        value = read_value(in_scope(Scope.ADDRESS)[name], text, self.edition)
        if value is None:
            self._setting_of(written).leave_out(name)
        else:
            self.override(written, name, value, at)

    def _setting_of(self, written: str) -> AddressSetting:
        if written not in self.settings:
            match = self._memory.match(written, self.wildcards, self.edition)
            self.settings[written] = AddressSetting(written, None, len(self.written) + len(self.settings), match)
        self._table = None
        self._merged = {}
        return self.settings[written]

    def respell(self, wildcards: Wildcards) -> None:
        """Apply wildcard characters that properties set: compile all matches anew, dropping those now refused."""
        self.wildcards = wildcards
        for text, setting in list(self.settings.items()):
            try:
                setting.match = self._memory.match(text, wildcards, self.edition)
            except MatchError:
                del self.settings[text]
        self._table = None
        self._merged = {}

    def forget(self, written: str | None = None) -> None:
        """Remove a match, or all matches if ``written`` is None, as a property does."""
        if written is None:
            self.settings.clear()
        self.settings.pop(written or "", None)
        self._table = None
        self._merged = {}

    def override_broker(self, name: str, value: Value, at: Position, text: str = "") -> None:
        """Set a value of the broker by a property."""
        self._broker_overrides[name] = EffectiveValue(value, Origin(Override(at, text)))

    def set_broker_as_text(self, name: str, text: str, at: Position) -> None:
        """Set what an element with this text would set for the broker, in place of the file's and of properties."""
        self._broker_texts[name] = Override(at, text)
        self._broker_overrides.pop(name, None)

    def overridden(self, name: str) -> EffectiveValue | None:
        """Return the value that a property sets for the broker, or None."""
        return self._broker_overrides.get(name)

    def matches(self, address: str) -> list[AddressSetting]:
        """Return the settings whose match fits an address, the most specific first."""
        if self._table is None:
            compiled = [setting.match for setting in self.settings.values() if setting.match is not None]
            self._table = self._memory.table(compiled, self.wildcards, self.edition)
        return [self.settings[match.written] for match in self._table.fitting(address)]

    def merged(self, address: str) -> Values:
        """Return what the matches set for an address, without defaults."""
        key = modified(address, self.wildcards, self.edition)
        if key not in self._merged:
            self._merged[key] = self._merge(self.matches(address))
        return self._merged[key]

    def _merge(self, ordered: list[AddressSetting]) -> Values:
        if not ordered:
            return {}
        writes_back = self.edition < Edition.ARTEMIS_2_44
        first = ordered[0].values(self.edition)
        result = first if writes_back else dict(first)
        forgotten = _NOT_MERGED.get(self.edition, set())
        for other in (setting.values(self.edition) for setting in ordered[1:]):
            if self.edition <= Edition.ARTEMIS_2_10:
                # the second match gives its page size even where it sets none: then it is the default
                result.setdefault("page-size-bytes", other.get("page-size-bytes", _page_size(self.edition)))
            for name, value in other.items():
                if name not in forgotten:
                    result.setdefault(name, value)
        return result

    def address(self, address: str) -> Values:
        """Return every setting of the edition for an address, including defaults and derived values."""
        merged = self._supposed(self.merged(address))
        values: Values = {}
        for name, setting in in_scope(Scope.ADDRESS).items():
            if setting.known_in(self.edition) and field_name(name, self.edition) == name:
                values[name] = merged.get(name) or EffectiveValue(setting.default(self.edition))
        _derive(values, merged)
        self._cap_page(values)
        return {name: self._as_known(value, self.open) for name, value in values.items()}

    def _supposed(self, values: Values) -> Values:
        """Return the known values, and record the unknown ones in ``supposed`` if defaults are to replace them."""
        if self.supposed is None:
            return values
        self.supposed |= {name: str(value.value) for name, value in values.items() if value.unknown}
        return {name: value for name, value in values.items() if not value.unknown}

    def _as_known(self, value: EffectiveValue, elsewhere: bool) -> EffectiveValue:
        """Return the value, as unknown if it may be set elsewhere, and as secret if its position is."""
        if value.origin is None:
            return EffectiveValue(None, known=False) if elsewhere else value
        return value._replace(secret=True) if self.document.hides(value.origin.position) else value

    def _cap_page(self, values: Values) -> None:
        """Reduce the page size to a database's limit, silently as the broker does (docs/spec/settings.md 6.16).

        Values derived from the page size are not changed.
        """
        store = self.first.get("database-store")
        size = values["page-size-bytes"].value
        setting = in_scope(Scope.STORE)["jdbc-max-page-size-bytes"]
        if store is None or not setting.known_in(self.edition) or not isinstance(size, int):
            return
        node = store.child(setting.name)
        cap = read_value(setting, node.text, self.edition) if node else setting.default(self.edition)
        if isinstance(cap, int) and cap < size:
            values["page-size-bytes"] = EffectiveValue(cap, Origin(node or store))

    def broker(self) -> Values:
        """Return the settings of the broker itself."""
        values: Values = {}
        for name, setting in in_scope(Scope.BROKER).items():
            if setting.known_in(self.edition):
                values[name] = self._broker_value(setting)
        certain = self._supposed(values)
        values = {
            name: certain.get(name) or EffectiveValue(self.default(in_scope(Scope.BROKER)[name])) for name in values
        }
        _journal(values, self.libaio)
        self._global_max_size(values)
        values |= {name: value for name, value in self._supposed(self._broker_overrides).items() if name in values}
        return {name: self._as_known(value, self.document.partial) for name, value in values.items()}

    def _broker_value(self, setting: Setting) -> EffectiveValue:
        written = self._broker_texts.get(setting.name)
        if written is not None:
            value = read_value(setting, written.text, self.edition)
            return EffectiveValue(self.default(setting)) if value is None else EffectiveValue(value, Origin(written))
        node = self.first.get(setting.name)
        if node is None or _never_read(setting, self.edition):
            return EffectiveValue(self.default(setting))
        text = node.text
        if self.document.kind is FileKind.EAP6 and setting.kind == "path":
            text = node.attributes.get("path", text)
        value = read_value(setting, text, self.edition)
        return EffectiveValue(self.default(setting)) if value is None else EffectiveValue(value, Origin(node))

    def default(self, setting: Setting) -> Value:
        """Return the default of the broker, or of the application server it runs in."""
        text = self.document.defaults.get(setting.name)
        return setting.default(self.edition) if text is None else setting.value(text, self.edition)

    @property
    def global_size_always_set(self) -> bool:
        """Return whether an application server sets global-max-size at each start, whatever the heap."""
        return "global-max-size" in self.document.defaults

    def _global_max_size(self, values: Values) -> None:
        size = values.get("global-max-size")
        if (
            size is None
            or self.global_size_always_set
            or self.edition < Edition.ARTEMIS_2_4
            or (isinstance(size.value, int) and size.value > 0)
        ):
            return
        if size.unknown:
            return
        percent = values.get("global-max-size-percent-of-jvm-max-memory", EffectiveValue(50))
        if percent.unknown:
            values["global-max-size"] = EffectiveValue(None, known=False)
            return
        share = percent.value if isinstance(percent.value, int) else 50
        computed = None if self.heap is None else self.heap * share // 100
        values["global-max-size"] = EffectiveValue(computed, percent.origin)


def first_of_each_tag(core: ConfigNode | None) -> dict[str, ConfigNode]:
    """Return the first descendant of each tag, as ``core.descendant`` does for one."""
    return {tag: nodes[0] for tag, nodes in core.by_tag().items()} if core else {}


def _page_size(edition: Edition) -> EffectiveValue:
    return EffectiveValue(in_scope(Scope.ADDRESS)["page-size-bytes"].default(edition))


def _never_read(setting: Setting, edition: Edition) -> bool:
    return setting.name == "wild-card-routing-enabled" and setting.ignored_in(edition)


def _derive(values: Values, merged: Values) -> None:
    """Add defaults that follow other settings.

    Read limits follow the page size, prefetch follows the read limits, the longest redelivery delay the first one.
    """

    def follow(name: str, leader: str, derived: Callable[[int], int]) -> None:
        value = values[leader]
        if name in values and name not in merged:
            if value.unknown or not value.known:
                values[name] = EffectiveValue(None, known=False)
            elif isinstance(value.value, int):
                values[name] = EffectiveValue(derived(value.value))

    follow("max-redelivery-delay", "redelivery-delay", lambda delay: 10 * delay)
    follow("max-read-page-bytes", "page-size-bytes", lambda size: (2 * size + 2**31) % 2**32 - 2**31)
    for unit in ("bytes", "messages"):
        if f"max-read-page-{unit}" in values:
            follow(f"prefetch-page-{unit}", f"max-read-page-{unit}", lambda limit: limit)


def _journal(values: Values, libaio: bool) -> None:
    """Set the defaults that depend on the journal's type.

    The page flush period defaults to the buffer timeout of NIO.
    """
    asynchronous = values["journal-type"].value == "ASYNCIO" and libaio
    unknown = values["journal-type"].unknown
    nio_timeout = 3333333
    for name, aio, nio in (("journal-buffer-timeout", 500000, nio_timeout), ("journal-max-io", 4096, 1)):
        if values[name].origin is None:
            default = aio if asynchronous else nio
            values[name] = EffectiveValue(None, known=False) if unknown else EffectiveValue(default)
    if "page-sync-timeout" in values and values["page-sync-timeout"].origin is None:
        timeout = values["journal-buffer-timeout"]
        value = nio_timeout if asynchronous else timeout.value
        values["page-sync-timeout"] = (
            EffectiveValue(None, known=False) if unknown else EffectiveValue(value, timeout.origin, timeout.known)
        )


def wildcards_of(core: ConfigNode | None, edition: Edition, first: Mapping[str, ConfigNode] | None = None) -> Wildcards:
    """Return the wildcard characters that a configuration sets; ``first`` is ``first_of_each_tag``, if known."""
    if core is None or edition <= Edition.ARTEMIS_1_5:
        return Wildcards()
    first = first if first is not None else first_of_each_tag(core)
    node = first.get("wildcard-addresses")
    late = edition >= Edition.ARTEMIS_2_44
    markers, namespace = (_text(first.get(n)) if late else "" for n in ("literal-match-markers", "uuid-namespace"))
    characters = (
        {name: _text(node.descendant(name))[:1] for name in ("delimiter", "any-words", "single-word")} if node else {}
    )
    return Wildcards(
        characters.get("delimiter") or ".",
        characters.get("any-words") or "#",
        characters.get("single-word") or "*",
        markers if len(markers) == 2 else "",
        namespace,
    )


def wildcard_routing(core: ConfigNode | None, edition: Edition) -> bool:
    """Return whether wildcards in addresses are resolved when messages are routed."""
    node = core.descendant("wildcard-addresses") if core and edition > Edition.ARTEMIS_1_5 else None
    enabled = True
    for name in ("enabled", "routing-enabled"):
        switch = node.descendant(name) if node else None
        enabled = parse_boolean(switch.text) if switch else enabled
    return enabled


def _text(node: ConfigNode | None) -> str:
    return trimmed(node.text) if node else ""
