"""Settings from the command line, and the source of each value in force (``replay --set``, ``sweep``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from brokerconf.linting.single_setting import setting_fault
from brokerconf.reading.document import Document
from brokerconf.reading.property_entries import Entry
from brokerconf.reading.secrets import HIDDEN
from brokerconf.settings.address_settings import EffectiveValue
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.matching import MatchError
from brokerconf.settings.overrides import apply
from brokerconf.settings.settings_model import Scope, in_scope

from pageengine.errors import PageEngineError
from pageengine.settings.from_document import engine_settings
from pageengine.settings.settings import HALF_A_GIB, EngineSettings
from pagefmt.findings import Position, nearest

BY_HAND = "--set"
# The settings that a report shows: those that decide a replay.
OF_ADDRESS = (
    "address-full-policy",
    "max-size-bytes",
    "max-size-messages",
    "max-size-bytes-reject-threshold",
    "page-size-bytes",
    "page-limit-bytes",
    "page-limit-messages",
    "page-full-policy",
    "max-read-page-bytes",
    "max-read-page-messages",
    "prefetch-page-bytes",
    "prefetch-page-messages",
    "disk-full-policy",
    "dead-letter-address",
    "expiry-address",
    "max-delivery-attempts",
)
OF_BROKER = (
    "global-max-size",
    "global-max-messages",
    "max-disk-usage",
    "min-disk-free",
    "disk-scan-period",
    "page-sync-timeout",
    "journal-buffer-timeout",
    "journal-sync-transactional",
    "journal-sync-non-transactional",
)

# Settings of paging that no replay models, and what they decide in a broker.
NOT_MODELLED = {
    "page-max-cache-size": "which pages stay in memory",
    "auto-create-queues": "queues are created where the trace creates them",
    "auto-delete-queues": "queues are deleted where the trace deletes them",
    "auto-delete-addresses": "addresses are deleted where the trace deletes them",
}
_AS_REPLAYED = {("auto-delete-queues", "false"), ("auto-delete-addresses", "false")}


class SettingError(PageEngineError):
    """Error for a setting on the command line that does not exist, or whose value the broker would refuse."""


@dataclass(frozen=True, slots=True)
class SettingOverride:
    """Setting over the file; ``match`` None: one of the broker itself."""

    match: str | None
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.match}:{self.name}={self.text}" if self.match is not None else f"{self.name}={self.text}"


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """Setting in force: its value as text, and its source."""

    name: str
    value: str
    source: str


def parse_override(text: str) -> SettingOverride:
    """Parse ``MATCH:NAME=VALUE``, or ``NAME=VALUE`` for one of the broker itself; raise ``SettingError``."""
    left, equals, value = text.partition("=")
    match, colon, name = left.rpartition(":")
    if not equals or not name.strip() or (colon and not match):
        raise SettingError(f"{text!r}: expected MATCH:NAME=VALUE, as in 'orders.#:max-size-bytes=10M'")
    return SettingOverride(match if colon else None, name.strip(), value.strip())


def check_override(override: SettingOverride, document: Document) -> None:
    """Raise ``SettingError`` for an unknown setting, one that no replay uses, or a value that the broker refuses."""
    setting = in_scope(Scope.BROKER if override.match is None else Scope.ADDRESS).get(override.name)
    if setting is None or (override.match is None and override.name not in OF_BROKER):
        what = "setting of the broker that a replay uses" if override.match is None else "setting of an address"
        raise SettingError(f"{str(override)!r}: {override.name!r} is not a {what}; {_advice(override, document)}")
    if not setting.known_in(document.edition):
        raise SettingError(f"{str(override)!r}: {override.name!r} does not exist in {document.edition.value}")
    why = setting_fault(override.name, override.text, document.edition, of_address=override.match is not None)
    if why:
        raise SettingError(f"{str(override)!r}: the broker refuses it: {why}")


def _advice(override: SettingOverride, document: Document) -> str:
    """Return advice: a setting with a similar name, of the same scope or else of the other one."""
    of_address = [name for name, setting in in_scope(Scope.ADDRESS).items() if setting.known_in(document.edition)]
    places = [(override.match or "#", of_address), (None, [*OF_BROKER])]
    for match, names in places if override.match is not None else reversed(places):
        near = nearest(override.name, names, 0.7)
        if near:
            return f"did you mean {str(replace(override, match=match, name=near))!r}?"
    return "expected MATCH:NAME=VALUE"


def not_modelled(document: Document, overrides: Iterable[SettingOverride], entries: Iterable[Entry]) -> list[str]:
    """Return a sentence for each setting that is made but that a replay does not model."""
    set_values = {(item.name, item.text) for item in overrides} | {
        (item.key.rpartition(".")[2], item.value) for item in entries
    }
    set_values.update((node.name, node.own_text.strip()) for node in document.root.walk() if not node.children)
    names = {name for name, _ in set_values - _AS_REPLAYED - {(_camel(name), text) for name, text in _AS_REPLAYED}}
    return [
        f"{name} is set, but a replay does not model it ({what})"
        for name, what in NOT_MODELLED.items()
        if name in names or _camel(name) in names
    ]


def _camel(name: str) -> str:
    first, *others = name.split("-")
    return first + "".join(map(str.title, others))


def overridden(
    document: Document, overrides: Iterable[SettingOverride], *, heap: int | None = None, entries: Iterable[Entry] = ()
) -> EngineSettings:
    """Return the engine's settings: of the document, the properties, then the overrides; raise ``SettingError``."""
    return engine_settings(document, heap=heap, entries=entries, amend=partial(_set_all, overrides, document))


def _set_all(overrides: Iterable[SettingOverride], document: Document, effective: EffectiveSettings) -> None:
    by_hand = Position(BY_HAND, 0, 0)
    for override in overrides:
        check_override(override, document)
        try:
            if override.match is None:
                effective.set_broker_as_text(override.name, override.text, by_hand)
            else:
                effective.set_as_text(override.match, override.name, override.text, by_hand)
        except MatchError as err:
            raise SettingError(f"{str(override)!r}: the broker refuses the match: {err}") from err


def settings_in_force(
    document: Document,
    overrides: Iterable[SettingOverride],
    addresses: Iterable[str],
    *,
    heap: int | None = None,
    entries: Iterable[Entry] = (),
) -> dict[str, list[SettingInForce]]:
    """Return the settings in force: those of the broker first, then by address; overrides must have been checked."""
    effective = EffectiveSettings(document, heap=heap)
    apply(effective, entries)
    _set_all(overrides, document, effective)
    broker = effective.broker()
    by_place = {"broker": [_in_force(name, broker) for name in OF_BROKER if name in broker]}
    for address in addresses:
        values = effective.address(address)
        by_place[address] = [_in_force(name, values) for name in OF_ADDRESS if name in values]
    return by_place


def _in_force(name: str, values: Mapping[str, EffectiveValue]) -> SettingInForce:
    value = values[name]
    if name == "global-max-size" and value.value is None:
        return SettingInForce(name, str(HALF_A_GIB), "half the heap, taken to be 1 GiB (see --heap)")
    shown = HIDDEN if value.secret else "not set" if value.value is None else str(value.value)
    if value.origin is None:
        return SettingInForce(name, shown, "default")
    at = value.origin.position
    place = f"{at.file}:{at.line}" if at.line else at.file
    return SettingInForce(
        name, shown, f"{place}, match {value.origin.match}" if value.origin.match is not None else place
    )
