"""The settings that the broker really uses, each with where it came from (docs/spec/config-behaviour.md "Merging").

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
)  # fmt: skip
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
    """``heap`` is the JVM's maximal memory, of which the default of global-max-size is a share (None: not known);
    without ``libaio`` on the host a journal of type ASYNCIO is one of type NIO."""

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
        self._texts = frozenset(one.text for one in self.written)
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
        """Whether matches that fit every address may stand elsewhere: of a part, unless it has such a one itself."""
        whole = self.wildcards.any_words in self._texts
        return self.document.laid_over or (self.document.is_part and not whole)

    def override(self, written: str, name: str, value: Value, at: Position, text: str = "") -> None:
        """What a property sets for a match; a match not in the file is made."""
        self._setting_of(written).override(name, value, Override(at, text))

    def set_as_text(self, written: str, name: str, text: str, at: Position) -> None:
        """Set what an element with this text would set for a match; one that counts as not set takes the place of any
        value that the match has."""
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
        """What properties make of the characters of matches: all are read anew."""
        self.wildcards = wildcards
        for text, setting in list(self.settings.items()):
            try:
                setting.match = self._memory.match(text, wildcards, self.edition)
            except MatchError:
                del self.settings[text]
        self._table = None
        self._merged = {}

    def forget(self, written: str | None = None) -> None:
        """What a property takes away: a match, or all of them."""
        if written is None:
            self.settings.clear()
        self.settings.pop(written or "", None)
        self._table = None
        self._merged = {}

    def override_broker(self, name: str, value: Value, at: Position, text: str = "") -> None:
        """What a property sets for the broker."""
        self._broker_overrides[name] = EffectiveValue(value, Origin(Override(at, text)))

    def set_broker_as_text(self, name: str, text: str, at: Position) -> None:
        """Set what an element with this text would set for the broker, in place of the file's and of properties."""
        self._broker_texts[name] = Override(at, text)
        self._broker_overrides.pop(name, None)

    def overridden(self, name: str) -> EffectiveValue | None:
        """What a property sets for the broker, if one does."""
        return self._broker_overrides.get(name)

    def matches(self, address: str) -> list[AddressSetting]:
        """The settings that fit an address, the most specific first."""
        if self._table is None:
            compiled = [one.match for one in self.settings.values() if one.match is not None]
            self._table = self._memory.table(compiled, self.wildcards, self.edition)
        return [self.settings[match.written] for match in self._table.fitting(address)]

    def merged(self, address: str) -> Values:
        """What the matches set for an address, without defaults."""
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
        for other in (one.values(self.edition) for one in ordered[1:]):
            if self.edition <= Edition.ARTEMIS_2_10:
                # the second match gives its page size even where it sets none: then it is the default
                result.setdefault("page-size-bytes", other.get("page-size-bytes", _page_size(self.edition)))
            for name, value in other.items():
                if name not in forgotten:
                    result.setdefault(name, value)
        return result

    def address(self, address: str) -> Values:
        """Every setting of the edition for an address, defaults and derived values included."""
        merged = self._supposed(self.merged(address))
        found: Values = {}
        for name, setting in in_scope(Scope.ADDRESS).items():
            if setting.known_in(self.edition) and field_name(name, self.edition) == name:
                found[name] = merged.get(name) or EffectiveValue(setting.default(self.edition))
        _derive(found, merged)
        self._cap_page(found)
        return {name: self._as_known(value, self.open) for name, value in found.items()}

    def _supposed(self, values: Values) -> Values:
        """Return what is known of values, and note the rest, if defaults are to take its place."""
        if self.supposed is None:
            return values
        self.supposed |= {name: str(one.value) for name, one in values.items() if one.unknown}
        return {name: one for name, one in values.items() if not one.unknown}

    def _as_known(self, value: EffectiveValue, elsewhere: bool) -> EffectiveValue:
        """The value as far as it is known."""
        if value.origin is None:
            return EffectiveValue(None, known=False) if elsewhere else value
        return value._replace(secret=True) if self.document.hides(value.origin.position) else value

    def _cap_page(self, found: Values) -> None:
        """With a database the page is capped without a word (docs/spec/settings.md 6.16); what is derived is not."""
        store = self.first.get("database-store")
        size = found["page-size-bytes"].value
        setting = in_scope(Scope.STORE)["jdbc-max-page-size-bytes"]
        if store is None or not setting.known_in(self.edition) or not isinstance(size, int):
            return
        node = store.child(setting.name)
        cap = read_value(setting, node.text, self.edition) if node else setting.default(self.edition)
        if isinstance(cap, int) and cap < size:
            found["page-size-bytes"] = EffectiveValue(cap, Origin(node or store))

    def broker(self) -> Values:
        """The settings of the broker itself."""
        found: Values = {}
        for name, setting in in_scope(Scope.BROKER).items():
            if setting.known_in(self.edition):
                found[name] = self._broker_value(setting)
        known = self._supposed(found)
        found = {name: known.get(name) or EffectiveValue(self.default(in_scope(Scope.BROKER)[name])) for name in found}
        _journal(found, self.libaio)
        self._global_max_size(found)
        found |= {name: value for name, value in self._supposed(self._broker_overrides).items() if name in found}
        return {name: self._as_known(value, self.document.partial) for name, value in found.items()}

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
        """The default of the broker, or of the application server it runs in."""
        text = self.document.defaults.get(setting.name)
        return setting.default(self.edition) if text is None else setting.value(text, self.edition)

    @property
    def global_size_always_set(self) -> bool:
        """Whether an application server sets global-max-size at each start, so that no share of the heap is used."""
        return "global-max-size" in self.document.defaults

    def _global_max_size(self, found: Values) -> None:
        given = found.get("global-max-size")
        if (
            given is None
            or self.global_size_always_set
            or self.edition < Edition.ARTEMIS_2_4
            or (isinstance(given.value, int) and given.value > 0)
        ):
            return
        if given.unknown:
            return
        percent = found.get("global-max-size-percent-of-jvm-max-memory", EffectiveValue(50))
        if percent.unknown:
            found["global-max-size"] = EffectiveValue(None, known=False)
            return
        share = percent.value if isinstance(percent.value, int) else 50
        computed = None if self.heap is None else self.heap * share // 100
        found["global-max-size"] = EffectiveValue(computed, percent.origin)


def first_of_each_tag(core: ConfigNode | None) -> dict[str, ConfigNode]:
    """What ``core.descendant`` finds, for every tag at once."""
    return {tag: nodes[0] for tag, nodes in core.by_tag().items()} if core else {}


def _page_size(edition: Edition) -> EffectiveValue:
    return EffectiveValue(in_scope(Scope.ADDRESS)["page-size-bytes"].default(edition))


def _never_read(setting: Setting, edition: Edition) -> bool:
    return setting.name == "wild-card-routing-enabled" and setting.ignored_in(edition)


def _derive(found: Values, merged: Values) -> None:
    """Read limits follow the merged page size, prefetch the read limits, the longest redelivery delay the first."""

    def follow(name: str, leader: str, derived: Callable[[int], int]) -> None:
        value = found[leader]
        if name in found and name not in merged:
            if value.unknown or not value.known:
                found[name] = EffectiveValue(None, known=False)
            elif isinstance(value.value, int):
                found[name] = EffectiveValue(derived(value.value))

    follow("max-redelivery-delay", "redelivery-delay", lambda delay: 10 * delay)
    follow("max-read-page-bytes", "page-size-bytes", lambda size: (2 * size + 2**31) % 2**32 - 2**31)
    for unit in ("bytes", "messages"):
        if f"max-read-page-{unit}" in found:
            follow(f"prefetch-page-{unit}", f"max-read-page-{unit}", lambda limit: limit)


def _journal(found: Values, libaio: bool) -> None:
    """Values that depend on the journal's type; the page flush period defaults to the buffer timeout of NIO."""
    asynchronous = found["journal-type"].value == "ASYNCIO" and libaio
    unknown = found["journal-type"].unknown
    nio_timeout = 3333333
    for name, aio, nio in (("journal-buffer-timeout", 500000, nio_timeout), ("journal-max-io", 4096, 1)):
        if found[name].origin is None:
            default = aio if asynchronous else nio
            found[name] = EffectiveValue(None, known=False) if unknown else EffectiveValue(default)
    if "page-sync-timeout" in found and found["page-sync-timeout"].origin is None:
        taken = found["journal-buffer-timeout"]
        value = nio_timeout if asynchronous else taken.value
        found["page-sync-timeout"] = (
            EffectiveValue(None, known=False) if unknown else EffectiveValue(value, taken.origin, taken.known)
        )


def wildcards_of(core: ConfigNode | None, edition: Edition, first: Mapping[str, ConfigNode] | None = None) -> Wildcards:
    """The characters of matches that a configuration sets; ``first`` as ``first_of_each_tag`` where it is at hand."""
    if core is None or edition <= Edition.ARTEMIS_1_5:
        return Wildcards()
    first = first if first is not None else first_of_each_tag(core)
    node = first.get("wildcard-addresses")
    late = edition >= Edition.ARTEMIS_2_44
    markers, namespace = (_text(first.get(n)) if late else "" for n in ("literal-match-markers", "uuid-namespace"))
    given = (
        {name: _text(node.descendant(name))[:1] for name in ("delimiter", "any-words", "single-word")} if node else {}
    )
    return Wildcards(
        given.get("delimiter") or ".", given.get("any-words") or "#", given.get("single-word") or "*",
        markers if len(markers) == 2 else "", namespace,
    )  # fmt: skip


def wildcard_routing(core: ConfigNode | None, edition: Edition) -> bool:
    """Whether wildcards in addresses are followed when messages are routed."""
    node = core.descendant("wildcard-addresses") if core and edition > Edition.ARTEMIS_1_5 else None
    enabled = True
    for name in ("enabled", "routing-enabled"):
        found = node.descendant(name) if node else None
        enabled = parse_boolean(found.text) if found else enabled
    return enabled


def _text(node: ConfigNode | None) -> str:
    return trimmed(node.text) if node else ""
