"""Settings under which a trace holds with the least paging, found by replays: nothing lost, heap and disk suffice.

Paging is the only policy that neither loses a message nor stops a producer, so what is searched is how much of the heap
an address may take before it pages. The broker's global limit bounds all of them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from brokerconf.settings.settings_model import Scope, in_scope

from pageengine.replay.replaying import Configuration
from pageengine.replay.sweep import SweepRow, SweepVariant
from pageengine.replay.totals import Totals
from pageengine.settings.overrides import BY_HAND, SettingOverride
from pagefmt.quantities import size_text

UNLIMITED = 1 << 62
LARGEST_OF_GRID = 8
ROUNDS, BETWEEN = 2, 3
OTHERS = (1, 2, 4, 8)
"""Parts of the common limit that are tried for all others where one address has none."""
SMALLER_PAGES = (4, 16)
"""Parts of its pages that are tried for one address alone where the disk does not suffice."""
WORTH = 0.1
"""So much of what is paged an address pages, or a limit of its own saves, or it is not worth it."""
_PAGES = {
    "address-full-policy": "PAGE",
    "max-size-messages": "-1",
    "page-limit-bytes": "-1",
    "page-limit-messages": "-1",
}
"""What makes an address page rather than lose or block, as far as the edition has the setting."""


@dataclass(frozen=True)
class Budget:
    """Bytes of the heap and of the disk; of each, what messages and pages may take."""

    heap: int
    disk: int
    memory: int
    pages: int


def budget(heap: int, disk: int, configuration: Configuration) -> Budget:
    """Half of the heap, as the broker has it where nothing is set; the disk up to where its monitor blocks.

    Raises as ``Configuration.settings``.
    """
    settings = configuration.settings()[0]
    if settings.min_disk_free > 0:
        pages = max(disk - settings.min_disk_free, 0)
    else:
        pages = disk * settings.max_disk_usage // 100 if settings.max_disk_usage >= 0 else disk
    return Budget(heap, disk, heap // 2, pages)


@dataclass(frozen=True)
class Trial:
    """One replay: the limit of each address (UNLIMITED: none), what it came to, and why that does not hold."""

    limit: int
    settings: tuple[str, ...]
    totals: Totals
    failing: tuple[str, ...]
    most_paged: tuple[tuple[str, int], ...]
    own: SettingOverride | None = None
    """What one address has of its own."""

    @property
    def limit_text(self) -> str:
        """The limit as people write it."""
        return "none" if self.limit == UNLIMITED else size_text(self.limit)


@dataclass
class Advice:
    """``best`` None: nothing holds. ``evidence``: by setting, a sentence. ``trials`` by limit, the lowest first."""

    budget: Budget
    best: Trial | None
    demand: Totals
    trials: list[Trial]
    evidence: list[tuple[str, str]] = field(default_factory=list)


Replays = Callable[[Sequence[SweepVariant]], Sequence[SweepRow]]


def advise(base: Configuration, addresses: Sequence[str], allowed: Budget, replays: Replays) -> Advice:
    """Search: first without a limit of addresses, then halves of the heap's share, then beside the best.

    The global limit is what messages may take, less than that by what still arrives once it is hit.
    """
    known = _Overrides(base, addresses)
    together = allowed.memory - allowed.memory // 16
    rows = replays([SweepVariant(n, known.limits(UNLIMITED, most)) for n, most in enumerate((UNLIMITED, together))])
    demand, passed = rows[0].totals, rows[1].totals.peak_memory - together
    if passed > allowed.memory // 16:
        together = max(allowed.memory - passed * 3 // 2, allowed.memory // 2)
    trials: dict[int, Trial] = {}

    def attempt(limits: Sequence[int]) -> None:
        new = [limit for limit in dict.fromkeys(limits) if limit not in trials]
        rows = replays([SweepVariant(n, known.limits(one, together)) for n, one in enumerate(new)]) if new else []
        for limit, row in zip(new, rows, strict=True):
            trials[limit] = _trial(limit, row, None)

    def _trial(limit: int, row: SweepRow, own: SettingOverride | None) -> Trial:
        return Trial(limit, row.settings, row.totals, _failing(row.totals, demand, allowed), row.most_paged, own)

    grid = [together >> n for n in range(LARGEST_OF_GRID)]
    attempt([UNLIMITED, *(limit for limit in grid if limit > 2 * known.page_size)])
    for _ in range(ROUNDS):
        best = _best(trials.values())
        if best is None or not best.totals.paged:
            break
        attempt(_between(best.limit, sorted(trials)))
    ordered = [trials[limit] for limit in sorted(trials)]
    holding = _best(ordered)
    common = holding or min(ordered, key=lambda one: one.totals.peak_disk or 0)
    own = known.of_one(common, together)
    variants = [SweepVariant(n, known.limits(limit, together, one)) for n, (limit, one) in enumerate(own)]
    rows = replays(variants) if variants else []
    single = [_trial(limit, row, one) for (limit, one), row in zip(own, rows, strict=True)]
    enough = common.totals.paged * (1 - WORTH)
    best = _best(one for one in single if holding is None or one.totals.paged <= enough) or holding
    if best is None:
        return Advice(allowed, None, demand, [*ordered, *single])
    evidence = [*_evidence(best, common, ordered, demand, allowed), *_evidence_of_one(best, common, single)]
    return Advice(allowed, best, demand, [*ordered, *single], evidence)


def _best(trials: Iterable[Trial]) -> Trial | None:
    holding = [one for one in trials if not one.failing]
    return min(holding, key=lambda one: (one.totals.paged, one.totals.page_mode_ns or 0, -one.limit), default=None)


def _between(limit: int, known: list[int]) -> list[int]:
    """Limits between this one and the next lower and higher ones."""
    at = known.index(limit)
    found = []
    for low, high in zip(known[max(at - 1, 0) : at + 1], known[max(at, 1) : at + 2], strict=False):
        if high < UNLIMITED:
            found += [low + (high - low) * n // (BETWEEN + 1) for n in range(1, BETWEEN + 1)]
    return found


def _failing(found: Totals, demand: Totals, allowed: Budget) -> tuple[str, ...]:
    """Why it does not hold. What is lost or blocked without any limit is not for the settings to answer."""
    reasons = [
        f"{getattr(found, name) - getattr(demand, name)} messages {name}"
        for name in ("dropped", "refused", "blocked")
        if getattr(found, name) > getattr(demand, name)
    ]
    if found.peak_memory > allowed.memory:
        reasons.append(f"needs {size_text(found.peak_memory)} of memory, more than {size_text(allowed.memory)}")
    if (found.peak_disk or 0) > allowed.pages:
        reasons.append(f"needs {size_text(found.peak_disk or 0)} of disk, more than {size_text(allowed.pages)}")
    return tuple(reasons)


class _Overrides:
    """What is put over the configuration: for ``#``, and for addresses whose own sections would win over that."""

    def __init__(self, base: Configuration, addresses: Sequence[str]) -> None:
        _, edition = base.settings()
        self.edition = edition
        here = {name: one for name, one in in_scope(Scope.ADDRESS).items() if one.known_in(edition)}
        self.paging = {name: value for name, value in _PAGES.items() if name in here}
        self.matches = ["#"]
        told = base.over(self.limits(UNLIMITED, UNLIMITED)).settings_in_force([*addresses])
        asked = {*self.paging, "max-size-bytes"}
        self.matches += [
            name
            for name in addresses
            if any(one.name in asked and not one.source.startswith(BY_HAND) for one in told[name])
        ]
        sizes = (one.value for name in addresses for one in told[name] if one.name == "page-size-bytes")
        self.addresses = len(addresses)
        self.page_size = max((int(size) for size in sizes if size.isdecimal() and len(size) < 19), default=0)

    def of_one(self, common: Trial, together: int) -> list[tuple[int, SettingOverride]]:
        """What to try for one address that pages much: no limit beside lower ones, smaller pages for a short disk."""
        worth = [name for name, paged in common.most_paged if paged >= common.totals.paged * WORTH]
        if common.failing:
            sizes = [self.page_size // n for n in SMALLER_PAGES if self.page_size >= n]
            return [(common.limit, SettingOverride(name, "page-size-bytes", str(n))) for name in worth for n in sizes]
        if self.addresses < 2:
            return []
        others = [limit for n in OTHERS if (limit := min(common.limit, together) // n) > 2 * self.page_size]
        return [(limit, SettingOverride(name, "max-size-bytes", "-1")) for name in worth for limit in others]

    def limits(self, limit: int, together: int, own: SettingOverride | None = None) -> tuple[SettingOverride, ...]:
        """The overrides for a limit of each address and one of all; ``own``: what one address has instead."""
        found = [
            SettingOverride(match, name, value)
            for match in self.matches
            for name, value in {**self.paging, "max-size-bytes": "-1" if limit == UNLIMITED else str(limit)}.items()
        ]
        broker = in_scope(Scope.BROKER)
        for name, value in (("global-max-size", together), ("global-max-messages", -1)):
            if broker[name].known_in(self.edition):
                found.insert(0, SettingOverride(None, name, str(value)))
        if own is not None:
            found = [one for one in found if (one.match, one.name) != (own.match, own.name)] + [own]
        return tuple(found)


def _evidence(
    best: Trial, common: Trial, trials: list[Trial], demand: Totals, allowed: Budget
) -> list[tuple[str, str]]:
    found = best.totals
    needed = f"without any limit, messages take {size_text(demand.peak_memory)}"
    share = f"half of the {size_text(allowed.heap)} heap is for messages: {size_text(allowed.memory)}"
    evidence = [
        ("global-max-size", f"{share}; they take {size_text(found.peak_memory)} at most ({needed})"),
        ("max-size-bytes", _beside(common, trials)),
    ]
    if found.paged:
        why = f"paged because a limit was hit: {found.paged}; any other policy would drop, refuse or block these"
    else:
        why = "no message was paged; under more traffic than this, none is lost"
    room = f"of the {size_text(allowed.disk)} disk, pages may take {size_text(allowed.pages)} before the broker blocks"
    return [
        *evidence,
        ("address-full-policy", why),
        ("disk", f"{room}; they take {size_text(found.peak_disk or 0)} at most (plus journal and other files)"),
    ]


def _evidence_of_one(best: Trial, common: Trial, single: list[Trial]) -> Iterator[tuple[str, str]]:
    """For what one address has of its own: what it pages otherwise, and the values that were tried."""
    if best.own is None:
        return
    name = best.own.match
    tried = [
        f"{one.own.text} ({one.limit_text} for the others): {_came_to(one)}"
        for one in single
        if one.own is not None and one.own.match == name
    ]
    paged = next(count for address, count in common.most_paged if address == name)
    share = f"{paged} of {common.totals.paged} paged messages are its own if all have the same limit"
    yield f"{name}:{best.own.name}", f"{share}; {'; '.join(tried)}"


def _beside(best: Trial, trials: list[Trial]) -> str:
    """The limit and the next ones tried."""
    at = trials.index(best)
    sentences = [_sentence(best), *(_sentence(one) for one in (*trials[max(at - 1, 0) : at], *trials[at + 1 : at + 2]))]
    return "; ".join(sentences)


def _sentence(one: Trial) -> str:
    return f"{one.limit_text}: {_came_to(one)}"


def _came_to(one: Trial) -> str:
    return ", ".join(one.failing) or f"{one.totals.paged} paged"
