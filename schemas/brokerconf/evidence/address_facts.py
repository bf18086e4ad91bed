"""Address settings as rules see them: each match as written, and the values after merging.

A rule about merged settings iterates over the *cases*: for each match an address that fits it and as few others as
possible, then the declared addresses that several matches fit.
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
    """Settings after merging for an address: a declared one, or one that fits a match and as few others as possible."""

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
        """Return the value alone, without what set it: a fast path for rules that check thousands of matches."""
        value = self._read.get(name)
        if value is not None and not isinstance(value, str):
            return value
        return self._facts.default(name) if name in self._facts.nowhere else self[name].value

    def number(self, name: str) -> int:
        """Return the value as a number, or -1 if it is none."""
        return as_number(self.value(name))

    @property
    def address(self) -> str:
        """Return the address itself; for a match, an example address that few other matches fit."""
        if self._address is None:
            self._address = self._facts.spelling.representative(self.match)
        return self._address

    @property
    def place(self) -> ConfigNode | Position:
        """Return the match's element or position; the whole configuration if no match fits."""
        effective = self._facts.effective
        return self.own.place if self.own is not None else effective.core or effective.document.root

    @property
    def chain(self) -> list[AddressSetting]:
        """Return the matches that fit, the most specific first."""
        if self._chain is None:
            self._chain = self._facts.chain(self.address)
        return self._chain


def _resolved(setting: AddressSetting, name: str) -> ResolvedSetting:
    return ResolvedSetting(name, setting.read[name], setting.given[name], setting.text)


class AddressFacts:
    """Matches of one ``core``, including properties that override them."""

    def __init__(self, effective: EffectiveSettings) -> None:
        self.effective, self.edition = effective, effective.edition
        self._cases_by_address: dict[str, AddressCase] = {}
        self._with: dict[tuple[str, ...], list[AddressCase]] = {}
        self._defaults: dict[str, Value] = {}
        self.assumed: set[str | None] = set()
        """The matches of which a rule looked at an unknown value since this was cleared: a default that may be set
        elsewhere (``open``), or what only the running broker knows. None: a setting of the broker."""

    @cached_property
    def open(self) -> bool:
        """Return whether matches that fit every address may be in another file."""
        return self.effective.open

    @cached_property
    def spelling(self) -> MatchSpelling:
        """Return the wildcards and literal markers of this configuration."""
        return MatchSpelling(self.effective.wildcards, self.edition)

    @cached_property
    def matches(self) -> tuple[AddressSetting, ...]:
        """Return all matches in the order of the file, then those that only properties make.

        Those of the first ``address-settings`` count, matches without effect included.
        """
        by_properties = (setting for setting in self.effective.settings.values() if setting.node is None)
        return (*self.effective.written, *by_properties)

    @cached_property
    def in_force(self) -> dict[str, AddressSetting]:
        """Return the matches by text in the order of the file; of two with the same text the one that counts."""
        late = self.edition >= Edition.ARTEMIS_2_28
        counting = {setting.text: setting for setting in (reversed(self.matches) if late else self.matches)}
        return {setting.text: setting for setting in self.matches if counting[setting.text] is setting}

    @cached_property
    def match_at(self) -> dict[int, str]:
        """Return the texts of the matches in force by the ``id`` of their place."""
        return {id(setting.place): text for text, setting in self.in_force.items()}

    @cached_property
    def given(self) -> frozenset[str]:
        """Return the names of settings that any match sets."""
        return frozenset().union(*(match.given for match in self.matches))

    @cached_property
    def nowhere(self) -> frozenset[str]:
        """Return the settings that no match sets and that follow no other, so that their default applies everywhere."""
        names = () if self.open else self._settings
        return frozenset(name for name in names if not name.startswith(_FOLLOWING)) - self.given

    @cached_property
    def _settings(self) -> dict[str, Setting]:
        return {name: setting for name, setting in in_scope(Scope.ADDRESS).items() if setting.known_in(self.edition)}

    def own(self, match: AddressSetting, name: str) -> ResolvedSetting | None:
        """Return what a match itself sets, or None."""
        if isinstance(value := match.read.get(name), str) and is_expression(value):
            self.assumed.add(match.text)
        return _resolved(match, name) if name in match.given else None

    def chain(self, address: str) -> list[AddressSetting]:
        """Return the matches that fit an address, the most specific first."""
        return self.effective.matches(address)

    def default(self, name: str) -> Value:
        """Return the default of an address setting in this edition, or None if the edition lacks it."""
        if name not in self._defaults:
            setting = self._settings.get(name)
            self._defaults[name] = setting.default(self.edition) if setting else None
        return self._defaults[name]

    def derived(self, name: str, case: AddressCase) -> ResolvedSetting:
        """Return the default; read limits follow the page size, and prefetch follows the read limits."""
        if self.open:
            self.assumed.add(case.match)
        if name == "max-read-page-bytes" and name in self._settings:
            twice = 2 * case.number("page-size-bytes")
            return ResolvedSetting(name, (twice + 2**31) % 2**32 - 2**31)
        if name.startswith("prefetch-page-"):
            return ResolvedSetting(name, case.value(f"max-read-page-{name.rpartition('-')[2]}"))
        return ResolvedSetting(name, self.default(name))

    @cached_property
    def cases(self) -> tuple[AddressCase, ...]:
        """Return one case for each match in force in file order, then declared addresses that fit several."""
        of_matches = [AddressCase(self, text, setting) for text, setting in self.in_force.items()]
        real = [self.at(address.name) for address in self.addresses]
        return (*of_matches, *(case for case in real if len(case.chain) > 1 and case.address not in self.in_force))

    def cases_with(self, *names: str, only_if_set: str = "") -> list[AddressCase]:
        """Return the cases that set one of these names themselves, and the declared addresses.

        Returns none if no match sets ``only_if_set``.
        """
        if only_if_set and only_if_set not in self.given:
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
        """Return the numbers of the cases that set a setting, by its name."""
        numbers: dict[str, list[int]] = {name: [] for name in self.given}
        for number, setting in enumerate(self.in_force.values()):
            for name in setting.given:
                numbers[name].append(number)
        return numbers

    def at(self, address: str) -> AddressCase:
        """Return the case of one address; the same object at each call."""
        case = self._cases_by_address.get(address)
        if case is None:
            chain = self.chain(address)
            case = AddressCase(self, chain[0].text if chain else address, chain[0] if chain else None, address)
            case._chain = chain
            self._cases_by_address[address] = case
        return case

    # what the file declares

    @cached_property
    def addresses_node(self) -> ConfigNode | None:
        """Return the ``addresses`` element, or None."""
        return self.effective.first.get("addresses")

    @cached_property
    def addresses(self) -> tuple[DeclaredAddress, ...]:
        """Return the declared addresses with their queues."""
        return addresses_of(self.addresses_node)


_FOLLOWING = ("max-read-page-", "prefetch-page-")
