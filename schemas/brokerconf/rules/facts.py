"""What a rule may know: the document, the settings in force, and plain values about heap, data directory and host.

Nothing here changes once made; what is costly is worked out when a rule first asks for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from brokerconf.document import ConfigNode, Document, FoundPlaceholder, Kind
from brokerconf.effective import EffectiveSettings, address_setting_nodes, field_name, read_value
from brokerconf.matching import MatchError, Wildcards, compile_match
from brokerconf.properties import Entry
from brokerconf.rules.places import (
    Address,
    Endpoint,
    SecretPlace,
    addresses_of,
    endpoints_of,
    jms_destinations_of,
    secrets_of,
)  # fmt: skip
from brokerconf.secrets import masked
from brokerconf.settings_model import Scope, Setting, Value, in_scope
from brokerconf.sizes import trimmed
from pagefmt.editions import Edition

# What the disk monitor looks at (spec/disk-monitor.md 2).
WATCHED = frozenset({"paging", "journal", "large-messages", "bindings"})
# A word that no address has, for an address that fits a match and as few others as possible.
_FRESH = "\u00b7"


@dataclass(frozen=True, slots=True)
class Store:
    """A page folder on the disk: its address ("" where unknown), page files and their bytes."""

    address: str
    folder: str
    pages: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Volume:
    """The file system of a directory; ``what`` is paging, journal, bindings, large-messages or journal-retention."""

    what: str
    device: int
    total: int
    usable: int


@dataclass(frozen=True, slots=True)
class Taken:
    """A setting as the broker takes it. ``node`` gives it, or ``entry``; neither: the default. ``value`` None: not set,
    or not readable."""

    name: str
    value: Value
    node: ConfigNode | None = None
    match: str = ""
    entry: Entry | None = None

    @property
    def given(self) -> bool:
        return self.node is not None or self.entry is not None

    @property
    def number(self) -> int:
        """The value as a number; -1 where there is none, as everywhere in this configuration."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else -1

    @property
    def text(self) -> str:
        if self.node is not None:
            return self.node.text
        return self.entry.value if self.entry else "" if self.value is None else str(self.value)

    def __str__(self) -> str:
        """As ``page-size-bytes 10M``."""
        said = masked(trimmed(self.text), self.name)
        return f"{self.name} {said}" if self.given else f"{self.name} {said} (default)"


class Own(Mapping[str, Taken]):
    """What one match sets itself; a value is read when it is first asked for."""

    __slots__ = ("_facts", "_taken", "_text", "nodes")

    def __init__(self, facts: Facts, text: str, nodes: dict[str, ConfigNode]) -> None:
        self.nodes, self._facts, self._text = nodes, facts, text
        self._taken: dict[str, Taken] = {}

    def __getitem__(self, name: str) -> Taken:
        found = self._taken.get(name)
        if found is None:
            node = self.nodes[name]
            found = Taken(name, self._facts.own_value(name, node), node, self._text)
            self._taken[name] = found
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, slots=True)
class Match:
    """An ``address-setting`` as it is written: ``own`` holds what it sets itself."""

    text: str
    node: ConfigNode
    own: Own


class Case:
    """An address that fits a match and as few others as possible, or a real one: what holds for it after merging."""

    __slots__ = ("_chain", "_facts", "address", "match", "node", "own")

    def __init__(
        self, facts: Facts, match: str, node: ConfigNode, own: Own, address: str,
        chain: list[Match] | None = None,
    ) -> None:  # fmt: skip
        self.match, self.node, self.own, self.address = match, node, own, address
        self._facts = facts
        self._chain = chain

    def __getitem__(self, name: str) -> Taken:
        if name in self.own.nodes:
            found = self.own[name]
            if found.value is not None:
                return found
        if name in self._facts.given:
            for match in self.chain:
                if name in match.own.nodes and match.own[name].value is not None:
                    return match.own[name]
        return self._facts.derived(name, self)

    @property
    def chain(self) -> list[Match]:
        """The matches that fit, the most specific first."""
        if self._chain is None:
            self._chain = self._facts.chain(self.address)
        return self._chain


class Facts:
    """Everything about one ``core``."""

    def __init__(
        self,
        document: Document,
        core: ConfigNode | None,
        *,
        heap: int | None = None,
        properties: tuple[Entry, ...] = (),
        stores: tuple[Store, ...] | None = None,
        volumes: tuple[Volume, ...] | None = None,
    ) -> None:
        self.document, self.core, self.edition = document, core, document.edition
        self.heap, self.properties, self.stores, self.volumes = heap, properties, stores, volumes
        self._found: dict[str, Case] = {}
        self._with: dict[tuple[str, ...], list[Case]] = {}
        self._defaults: dict[str, Taken] = {}
        # tag of an element to the name of the setting it gives, empty for none
        self._names: dict[str, str] = {}

    @cached_property
    def effective(self) -> EffectiveSettings:
        return EffectiveSettings(self.document, core=self.core, heap=self.heap)

    @cached_property
    def first(self) -> dict[str, ConfigNode]:
        """The first element of each tag inside ``core``: what the broker's reader finds by name."""
        return self.effective.first

    # settings of the broker and of the store

    @cached_property
    def broker(self) -> Mapping[str, Taken]:
        return _Named(lambda name: self._taken(Scope.BROKER, name, self.first.get(name)))

    @cached_property
    def store(self) -> Mapping[str, Taken]:
        base = self.database_store
        return _Named(lambda name: self._taken(Scope.STORE, name, base.child(name) if base else None))

    def _taken(self, scope: Scope, name: str, node: ConfigNode | None) -> Taken:
        setting = in_scope(scope).get(name)
        if setting is None:
            return Taken(name, None, node)
        entry = self._entries.get(setting.bean) if scope is Scope.BROKER else None
        if entry is not None:
            value = read_value(setting, entry.value, self.edition)
            if value is not None:
                return Taken(name, value, entry=entry)
        value = None if node is None else read_value(setting, node.text, self.edition)
        return Taken(name, setting.default(self.edition)) if value is None else Taken(name, value, node)

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        """The last of each key counts."""
        return {entry.key: entry for entry in self.properties if "." not in entry.key}

    @cached_property
    def database_store(self) -> ConfigNode | None:
        return self.first.get("database-store")

    @cached_property
    def global_off(self) -> bool:
        """No limit over all addresses: HornetQ has none, 1.x none by default, later ones only by a property."""
        size = self.broker["global-max-size"]
        if self.edition <= Edition.ARTEMIS_1_5:
            return size.number <= 0
        return size.entry is not None and size.number == -1

    # matches

    @cached_property
    def wildcards(self) -> Wildcards:
        return self.effective.wildcards

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        """All of the first ``address-settings``, in the order of the file, the ignored ones included."""
        return tuple(self._match(node) for node in address_setting_nodes(self.core))

    def _match(self, node: ConfigNode) -> Match:
        text, names = node.attributes.get("match", ""), self._names
        nodes: dict[str, ConfigNode] = {}
        for child in node.children:
            if child.tag not in names:
                name = field_name(child.tag, self.edition)
                names[child.tag] = name if name in self._known else ""
            if names[child.tag]:
                nodes[names[child.tag]] = child
        return Match(text, node, Own(self, text, nodes))

    def own_value(self, name: str, node: ConfigNode) -> Value:
        """The value that an element gives; a prefetch of -1 is kept, though the broker takes it for "not set"."""
        value = self.effective.read(self._known[name], node.text)
        refused = value is None and name.startswith("prefetch-page-") and trimmed(node.text) == "-1"
        return -1 if refused else value

    @cached_property
    def _known(self) -> dict[str, Setting]:
        return {name: one for name, one in in_scope(Scope.ADDRESS).items() if one.known_in(self.edition)}

    @cached_property
    def _in_force(self) -> dict[str, Match]:
        """By text; of two with one text the one that counts."""
        late = self.edition >= Edition.ARTEMIS_2_28
        return {match.text: match for match in (reversed(self.matches) if late else self.matches)}

    @cached_property
    def given(self) -> frozenset[str]:
        """The settings that any match sets."""
        return frozenset().union(*(match.own.nodes for match in self.matches))

    def chain(self, address: str) -> list[Match]:
        found = [self._in_force.get(one.match.written) for one in self.effective.matches(address)]
        return [match for match in found if match is not None]

    def derived(self, name: str, case: Case) -> Taken:
        """The default; the read limits follow the page size, and the prefetch the read limits."""
        if name == "max-read-page-bytes" and "page-size-bytes" in self.given:
            twice = 2 * case["page-size-bytes"].number
            return Taken(name, (twice + 2**31) % 2**32 - 2**31)
        if name.startswith("prefetch-page-"):
            return Taken(name, case[f"max-read-page-{name.rpartition('-')[2]}"].value)
        if name not in self._defaults:
            setting = self._known.get(name)
            value = setting.default(self.edition) if setting else None
            if name == "max-read-page-bytes" and setting:
                value = 2 * case["page-size-bytes"].number
            self._defaults[name] = Taken(name, value)
        return self._defaults[name]

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """One for each match in force, in the order of the file, then the declared addresses that have several."""
        found = [self._case(match) for match in self.matches if self._in_force[match.text] is match]
        real = [self.at(address.name) for address in self.addresses]
        return (*found, *(case for case in real if len(case.chain) > 1 and case.address not in self._in_force))

    def _case(self, match: Match) -> Case:
        return Case(self, match.text, match.node, match.own, self._representative(match.text))

    def _representative(self, text: str) -> str:
        """``a.*.#`` becomes ``a.·.·.·``: two words for the last wildcard, so that ``a.*.*`` does not fit."""
        if not self.is_wildcard(text):
            return self.unmarked(text) or text
        wild = self.wildcards
        end = f"{_FRESH}{wild.delimiter}{_FRESH}"
        bare = text.removesuffix(wild.any_words)
        if bare != text and bare and not bare.endswith(wild.delimiter):
            bare += wild.delimiter
        return bare.replace(wild.single_word, _FRESH) + (end if bare != text else "")

    def cases_with(self, *names: str, given: str = "") -> list[Case]:
        """The cases that set one of these themselves, and the declared addresses; none if ``given`` is set nowhere."""
        if given and given not in self.given:
            return []
        if names not in self._with:
            wanted = frozenset(names)
            declared = len(self._in_force)
            self._with[names] = [
                case for n, case in enumerate(self.cases) if n >= declared or not wanted.isdisjoint(case.own.nodes)
            ]
        return self._with[names]

    def at(self, address: str) -> Case:
        """What holds for one address."""
        if address not in self._found:
            chain = self.chain(address)
            text = chain[0].text if chain else address
            node = chain[0].node if chain else self.core or self.document.root
            self._found[address] = Case(self, text, node, chain[0].own if chain else self._nothing, address, chain)
        return self._found[address]

    @cached_property
    def _nothing(self) -> Own:
        return Own(self, "", {})

    @cached_property
    def wildcard_matches(self) -> tuple[Match, ...]:
        """Those in force that have a wildcard and are not literal."""
        return tuple(match for text, match in sorted(self._in_force.items()) if self.is_wildcard(text))

    def is_literal(self, text: str) -> bool:
        marks = self.wildcards.literal_markers
        return bool(marks) and len(text) > 1 and text[0] == marks[0] and text[-1] == marks[1]

    def unmarked(self, text: str) -> str | None:
        return text[1:-1] if self.is_literal(text) else None

    def is_wildcard(self, text: str) -> bool:
        return self.wildcards.is_wild(text) and not self.is_literal(text)

    def catches_all(self, text: str) -> bool:
        return text == self.wildcards.any_words

    def spelt_with_delimiter(self, text: str) -> str | None:
        """``a.#`` for ``a#``; None for anything else."""
        wild = self.wildcards
        bare = text.removesuffix(wild.any_words)
        odd = bare != text and bare and not bare.endswith(wild.delimiter) and not self.is_literal(text)
        return f"{bare}{wild.delimiter}{wild.any_words}" if odd else None

    def fits(self, text: str, address: str) -> bool:
        try:
            return compile_match(text, self.wildcards, self.edition).fits(address)
        except MatchError:
            return False

    def is_management(self, case: Case) -> bool:
        return self.reaches_only_management(case.match)

    def reaches_only_management(self, text: str) -> bool:
        """Every address that begins with the management address is exempt, so what stands before a wildcard decides."""
        address = self.broker["management-address"].value
        if not address or not text.startswith(str(address)):
            return False
        wild = self.wildcards
        plain = text.split(wild.any_words)[0].split(wild.single_word)[0] if self.is_wildcard(text) else text
        return plain.startswith(str(address))

    # limits

    def page_size(self, case: Case) -> int:
        """Bytes of a page; a database store caps it since 2.31."""
        size = case["page-size-bytes"].number
        if self.database_store is None or self.edition < Edition.ARTEMIS_2_44:
            return size
        return min(size, self.store["jdbc-max-page-size-bytes"].number)

    def has_page_limit(self, case: Case) -> bool:
        return case["page-limit-bytes"].number > 0 or case["page-limit-messages"].number > 0

    def has_memory_limit(self, case: Case) -> bool:
        return case["max-size-bytes"].number >= 0 or case["max-size-messages"].number >= 0

    # what else the file declares

    @cached_property
    def addresses_node(self) -> ConfigNode | None:
        return self.first.get("addresses")

    @cached_property
    def addresses(self) -> tuple[Address, ...]:
        return addresses_of(self.addresses_node)

    def declares(self, address: str) -> bool:
        return address in self._declared

    @cached_property
    def _declared(self) -> frozenset[str]:
        names = {address.name for address in self.addresses} | set(self.jms_destinations)
        queues = self.first.get("queues")
        for queue in queues.children_named("queue") if queues else ():
            node = queue.child("address")
            names.add(trimmed(node.text) if node else queue.attributes.get("name", ""))
        return frozenset(names)

    @cached_property
    def jms_destinations(self) -> dict[str, str]:
        """Names of JMS queues and topics, and the prefix of their addresses."""
        return jms_destinations_of(self.document, self.core)

    @cached_property
    def acceptors(self) -> tuple[Endpoint, ...]:
        return endpoints_of(self.first.get("acceptors"), "acceptor")

    @cached_property
    def connectors(self) -> tuple[Endpoint, ...]:
        return endpoints_of(self.first.get("connectors"), "connector")

    @cached_property
    def secrets(self) -> tuple[SecretPlace, ...]:
        mask = self.first.get("mask-password")
        hidden = mask is not None and trimmed(mask.text).lower() == "true"
        return () if hidden else secrets_of(self.core)

    @cached_property
    def empty_placeholders(self) -> tuple[FoundPlaceholder, ...]:
        """Those that became nothing, comments left out."""
        found = [one for one in self.document.placeholders if one.placeholder.origin == "empty"]
        return tuple(one for one in found if not _in_comment(one.source.original, one.placeholder.offset))

    @cached_property
    def foreign(self) -> tuple[tuple[Setting, ConfigNode], ...]:
        """Elements that are settings of another edition."""
        if self.core is None or self.document.kind is Kind.EAP6:
            return ()
        places = [(Scope.BROKER, self.core)] + [(Scope.ADDRESS, match.node) for match in self.matches]
        places += [(Scope.STORE, self.database_store)] if self.database_store else []
        return tuple(self._foreign_in(places))

    def _foreign_in(self, places: list[tuple[Scope, ConfigNode]]) -> Iterator[tuple[Setting, ConfigNode]]:
        strange: defaultdict[Scope, dict[str, Setting]] = defaultdict(dict)
        for scope in {scope for scope, _ in places}:
            strange[scope] = {n: one for n, one in in_scope(scope).items() if not one.known_in(self.edition)}
        written = {tag.rpartition(":")[2] for tag in self.core.by_tag()} if self.core else set()
        for scope, parent in places:
            if written.isdisjoint(strange[scope]):
                continue
            for child in parent.children:
                if child.name in strange[scope]:
                    yield strange[scope][child.name], child


class _Named(Mapping[str, Taken]):
    """Settings worked out one by one, when asked for."""

    def __init__(self, find: Callable[[str], Taken]) -> None:
        self._find = find
        self._known: dict[str, Taken] = {}

    def __getitem__(self, name: str) -> Taken:
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _in_comment(text: str, offset: int) -> bool:
    start = text.rfind("<!--", 0, offset)
    return start >= 0 and text.find("-->", start, offset) < 0
