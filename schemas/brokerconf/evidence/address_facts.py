"""Address settings as rules see them: each match as written, and the values after merging.

A rule that looks at merged settings goes through the *cases*: for each match an address that fits it and as few others
as possible, then the declared addresses that several matches fit.
"""

from __future__ import annotations

from functools import cached_property

from brokerconf.evidence.declarations import DeclaredAddress, addresses_of
from brokerconf.evidence.resolved_setting import ResolvedSetting, as_number
from brokerconf.evidence.spelling import MatchSpelling
from brokerconf.reading.document import ConfigNode
from brokerconf.reading.substitution import is_expression
from brokerconf.settings.address_settings import AddressSetting
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.settings_model import Scope, Setting, Value, in_scope
from pagefmt.editions import Edition
from pagefmt.findings import Position


class AddressCase:
    """An address that fits a match and as few others as possible, or a real one: what holds for it after merging."""

    __slots__ = ("_address", "_chain", "_facts", "_read", "match", "own")

    def __init__(self, facts: AddressFacts, match: str, own: AddressSetting | None, address: str | None = None) -> None:
        self.match, self.own = match, own
        self._facts, self._address = facts, address
        self._chain: list[AddressSetting] | None = None
        self._read = own.read if own is not None else {}

    def __getitem__(self, name: str) -> ResolvedSetting:
        if self._read.get(name) is not None and self.own is not None:
            return self._set_by(self.own, name)
        if name in self._facts.given:
            for setting in self.chain:
                if setting.read.get(name) is not None:
                    return self._set_by(setting, name)
        return self._facts.derived(name, self)

    def _set_by(self, setting: AddressSetting, name: str) -> ResolvedSetting:
        """Return what a match sets, and note if the rule looks at a value that only the running broker knows."""
        value = setting.read[name]
        if isinstance(value, str) and is_expression(value):
            self._facts.assumed.update((self.match, setting.text))
        return _resolved(setting, name)

    def value(self, name: str) -> Value:
        """The value alone: what most rules look at first, for each of thousands of matches."""
        value = self._read.get(name)
        if value is not None and not isinstance(value, str):
            return value
        return self._facts.default(name) if name in self._facts.nowhere else self[name].value

    def number(self, name: str) -> int:
        """The value as a number; -1 where there is none."""
        return as_number(self.value(name))

    @property
    def address(self) -> str:
        """The address itself; for a match, one that fits it and as few others as possible."""
        if self._address is None:
            self._address = self._facts.spelling.representative(self.match)
        return self._address

    @property
    def place(self) -> ConfigNode | Position:
        """Where the match is written; where no match fits, the whole configuration."""
        effective = self._facts.effective
        return self.own.place if self.own is not None else effective.core or effective.document.root

    @property
    def chain(self) -> list[AddressSetting]:
        """The matches that fit, the most specific first."""
        if self._chain is None:
            self._chain = self._facts.chain(self.address)
        return self._chain


def _resolved(setting: AddressSetting, name: str) -> ResolvedSetting:
    return ResolvedSetting(name, setting.read[name], setting.given[name], setting.text)


class AddressFacts:
    """The matches of one ``core``, properties that override them included."""

    def __init__(self, effective: EffectiveSettings) -> None:
        self.effective, self.edition = effective, effective.edition
        self._found: dict[str, AddressCase] = {}
        self._with: dict[tuple[str, ...], list[AddressCase]] = {}
        self._defaults: dict[str, Value] = {}
        self.assumed: set[str | None] = set()
        """The matches of which a rule looked at an unknown value since this was cleared: a default that may be set
        elsewhere (``open``), or what only the running broker knows. None: a setting of the broker."""

    @cached_property
    def open(self) -> bool:
        """Whether matches that fit every address may stand elsewhere."""
        return self.effective.open

    @cached_property
    def spelling(self) -> MatchSpelling:
        """Wildcards and literal markers of this configuration."""
        return MatchSpelling(self.effective.wildcards, self.edition)

    @cached_property
    def matches(self) -> tuple[AddressSetting, ...]:
        """All of the first ``address-settings``, in the order of the file, the ignored ones included; then those that
        only properties make."""
        made = (one for one in self.effective.settings.values() if one.node is None)
        return (*self.effective.written, *made)

    @cached_property
    def in_force(self) -> dict[str, AddressSetting]:
        """By text, in the order of the file; of two with one text the one that counts."""
        late = self.edition >= Edition.ARTEMIS_2_28
        counting = {one.text: one for one in (reversed(self.matches) if late else self.matches)}
        return {one.text: one for one in self.matches if counting[one.text] is one}

    @cached_property
    def match_at(self) -> dict[int, str]:
        """The matches in force by the identity of their place."""
        return {id(one.place): text for text, one in self.in_force.items()}

    @cached_property
    def given(self) -> frozenset[str]:
        """The settings that any match sets."""
        return frozenset().union(*(match.given for match in self.matches))

    @cached_property
    def nowhere(self) -> frozenset[str]:
        """The settings that no match sets and that follow no other: their default holds everywhere."""
        names = () if self.open else self._known
        return frozenset(name for name in names if not name.startswith(_FOLLOWING)) - self.given

    @cached_property
    def _known(self) -> dict[str, Setting]:
        return {name: one for name, one in in_scope(Scope.ADDRESS).items() if one.known_in(self.edition)}

    def own(self, match: AddressSetting, name: str) -> ResolvedSetting | None:
        """What a match sets itself, if it does."""
        if isinstance(value := match.read.get(name), str) and is_expression(value):
            self.assumed.add(match.text)
        return _resolved(match, name) if name in match.given else None

    def chain(self, address: str) -> list[AddressSetting]:
        """The matches that fit an address, the most specific first."""
        return self.effective.matches(address)

    def default(self, name: str) -> Value:
        """The default of an address setting in this edition; None where the edition does not know it."""
        if name not in self._defaults:
            setting = self._known.get(name)
            self._defaults[name] = setting.default(self.edition) if setting else None
        return self._defaults[name]

    def derived(self, name: str, case: AddressCase) -> ResolvedSetting:
        """The default; the read limits follow the page size, and the prefetch the read limits."""
        if self.open:
            self.assumed.add(case.match)
        if name == "max-read-page-bytes" and name in self._known:
            twice = 2 * case.number("page-size-bytes")
            return ResolvedSetting(name, (twice + 2**31) % 2**32 - 2**31)
        if name.startswith("prefetch-page-"):
            return ResolvedSetting(name, case.value(f"max-read-page-{name.rpartition('-')[2]}"))
        return ResolvedSetting(name, self.default(name))

    @cached_property
    def cases(self) -> tuple[AddressCase, ...]:
        """One for each match in force, in the order of the file, then the declared addresses that have several."""
        found = [AddressCase(self, text, setting) for text, setting in self.in_force.items()]
        real = [self.at(address.name) for address in self.addresses]
        return (*found, *(case for case in real if len(case.chain) > 1 and case.address not in self.in_force))

    def cases_with(self, *names: str, given: str = "") -> list[AddressCase]:
        """The cases that set one of these themselves, and the declared addresses; none if ``given`` is set nowhere."""
        if given and given not in self.given:
            return []
        if names not in self._with:
            self._with[names] = self._cases_with(names)
        return self._with[names]

    def _cases_with(self, names: tuple[str, ...]) -> list[AddressCase]:
        numbers = {number for name in names for number in self._setting.get(name, ())}
        chosen = range(len(self.in_force)) if len(numbers) == len(self.in_force) else sorted(numbers)
        return [self.cases[number] for number in chosen] + list(self.cases[len(self.in_force) :])

    @cached_property
    def _setting(self) -> dict[str, list[int]]:
        """The cases that set something, by its name."""
        found: dict[str, list[int]] = {name: [] for name in self.given}
        for number, setting in enumerate(self.in_force.values()):
            for name in setting.given:
                found[name].append(number)
        return found

    def at(self, address: str) -> AddressCase:
        """What holds for one address."""
        found = self._found.get(address)
        if found is None:
            chain = self.chain(address)
            found = AddressCase(self, chain[0].text if chain else address, chain[0] if chain else None, address)
            found._chain = chain
            self._found[address] = found
        return found

    # what the file declares

    @cached_property
    def addresses_node(self) -> ConfigNode | None:
        """The ``addresses`` element."""
        return self.effective.first.get("addresses")

    @cached_property
    def addresses(self) -> tuple[DeclaredAddress, ...]:
        """The declared addresses with their queues."""
        return addresses_of(self.addresses_node)


_FOLLOWING = ("max-read-page-", "prefetch-page-")
