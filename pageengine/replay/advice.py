"""Settings under which a trace holds with the least paging, found by replays: nothing lost, heap and disk suffice.

Paging is the only policy that neither loses a message nor stops a producer, so the search is for how much of the heap
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
# Divisors of the common limit to try for all other addresses if one address has none.
OTHERS = (1, 2, 4, 8)
# Divisors of the page size to try for one address if the disk does not suffice.
SMALLER_PAGES = (4, 16)
# Least share of all paged messages that an address must page, or its own limit must save, to be considered.
WORTH = 0.1
# Settings that make an address page rather than lose or block, as far as the edition has them.
_PAGES = {
    "address-full-policy": "PAGE",
    "max-size-messages": "-1",
    "page-limit-bytes": "-1",
    "page-limit-messages": "-1",
}


@dataclass(frozen=True)
class Budget:
    """Bytes of the heap and of the disk, and the part of each that messages and pages may take."""

    heap: int
    disk: int
    memory: int
    pages: int


def budget(heap: int, disk: int, configuration: Configuration) -> Budget:
    """Return half of the heap, the broker's default, and the disk up to where its monitor blocks.

    Raises as ``Configuration.settings`` does.
    """
    settings = configuration.settings()[0]
    if settings.min_disk_free > 0:
        pages = max(disk - settings.min_disk_free, 0)
    else:
        pages = disk * settings.max_disk_usage // 100 if settings.max_disk_usage >= 0 else disk
    return Budget(heap, disk, heap // 2, pages)


@dataclass(frozen=True)
class Trial:
    """Replay with a limit for each address (UNLIMITED: none), its totals, and why they do not hold.

    ``failing`` is empty if they do.
    """

    limit: int
    settings: tuple[str, ...]
    totals: Totals
    failing: tuple[str, ...]
    most_paged: tuple[tuple[str, int], ...]
    # The setting that one address has for itself.
    own: SettingOverride | None = None

    @property
    def limit_text(self) -> str:
        """Return the limit as people write it."""
        return "none" if self.limit == UNLIMITED else size_text(self.limit)


@dataclass
class Advice:
    """Result of the search.

    ``best`` is None if nothing holds. ``evidence``: a sentence by setting. ``trials`` are by limit, the lowest first.
    """

    budget: Budget
    best: Trial | None
    demand: Totals
    trials: list[Trial]
    evidence: list[tuple[str, str]] = field(default_factory=list)


Replays = Callable[[Sequence[SweepVariant]], Sequence[SweepRow]]


def advise(base: Configuration, addresses: Sequence[str], allowed: Budget, replays: Replays) -> Advice:
    """Search for the best limits.

    First without limits per address, then halves of the heap's share, then near the best. The global limit is the
    memory that messages may take, less what still arrives once it is hit.
    """
    space = _Overrides(base, addresses)
    together = allowed.memory - allowed.memory // 16
    rows = replays([SweepVariant(n, space.limits(UNLIMITED, most)) for n, most in enumerate((UNLIMITED, together))])
    demand, passed = rows[0].totals, rows[1].totals.peak_memory - together
    if passed > allowed.memory // 16:
        together = max(allowed.memory - passed * 3 // 2, allowed.memory // 2)
    trials: dict[int, Trial] = {}

    def attempt(limits: Sequence[int]) -> None:
        new = [limit for limit in dict.fromkeys(limits) if limit not in trials]
        rows = replays([SweepVariant(n, space.limits(item, together)) for n, item in enumerate(new)]) if new else []
        for limit, row in zip(new, rows, strict=True):
            trials[limit] = _trial(limit, row, None)

    def _trial(limit: int, row: SweepRow, own: SettingOverride | None) -> Trial:
        return Trial(limit, row.settings, row.totals, _failing(row.totals, demand, allowed), row.most_paged, own)

    grid = [together >> n for n in range(LARGEST_OF_GRID)]
    attempt([UNLIMITED, *(limit for limit in grid if limit > 2 * space.page_size)])
    for _ in range(ROUNDS):
        best = _best(trials.values())
        if best is None or not best.totals.paged:
            break
        attempt(_between(best.limit, sorted(trials)))
    ordered = [trials[limit] for limit in sorted(trials)]
    holding = _best(ordered)
    common = holding or min(ordered, key=lambda item: item.totals.peak_disk or 0)
    own = space.of_one(common, together)
    variants = [SweepVariant(n, space.limits(limit, together, item)) for n, (limit, item) in enumerate(own)]
    rows = replays(variants) if variants else []
    single = [_trial(limit, row, item) for (limit, item), row in zip(own, rows, strict=True)]
    enough = common.totals.paged * (1 - WORTH)
    best = _best(item for item in single if holding is None or item.totals.paged <= enough) or holding
    if best is None:
        return Advice(allowed, None, demand, [*ordered, *single])
    evidence = [*_evidence(best, common, ordered, demand, allowed), *_evidence_of_one(best, common, single)]
    return Advice(allowed, best, demand, [*ordered, *single], evidence)


def _best(trials: Iterable[Trial]) -> Trial | None:
    holding = [trial for trial in trials if not trial.failing]
    return min(
        holding, key=lambda trial: (trial.totals.paged, trial.totals.page_mode_ns or 0, -trial.limit), default=None
    )


def _between(limit: int, limits: list[int]) -> list[int]:
    """Return limits between this one and the next lower and higher ones."""
    at = limits.index(limit)
    between = []
    for low, high in zip(limits[max(at - 1, 0) : at + 1], limits[max(at, 1) : at + 2], strict=False):
        if high < UNLIMITED:
            between += [low + (high - low) * n // (BETWEEN + 1) for n in range(1, BETWEEN + 1)]
    return between


def _failing(figures: Totals, demand: Totals, allowed: Budget) -> tuple[str, ...]:
    """Return why the limits do not hold; losses that occur without any limit are not the settings' fault."""
    reasons = [
        f"{getattr(figures, name) - getattr(demand, name)} messages {name}"
        for name in ("dropped", "refused", "blocked")
        if getattr(figures, name) > getattr(demand, name)
    ]
    if figures.peak_memory > allowed.memory:
        reasons.append(f"needs {size_text(figures.peak_memory)} of memory, more than {size_text(allowed.memory)}")
    if (figures.peak_disk or 0) > allowed.pages:
        reasons.append(f"needs {size_text(figures.peak_disk or 0)} of disk, more than {size_text(allowed.pages)}")
    return tuple(reasons)


class _Overrides:
    """Overrides of the configuration: for ``#``, and for addresses whose own sections would win over that."""

    def __init__(self, base: Configuration, addresses: Sequence[str]) -> None:
        _, edition = base.settings()
        self.edition = edition
        known_settings = {
            name: setting for name, setting in in_scope(Scope.ADDRESS).items() if setting.known_in(edition)
        }
        self.paging = {name: value for name, value in _PAGES.items() if name in known_settings}
        self.matches = ["#"]
        in_force = base.over(self.limits(UNLIMITED, UNLIMITED)).settings_in_force([*addresses])
        paging_names = {*self.paging, "max-size-bytes"}
        self.matches += [
            name
            for name in addresses
            if any(
                setting.name in paging_names and not setting.source.startswith(BY_HAND) for setting in in_force[name]
            )
        ]
        sizes = (setting.value for name in addresses for setting in in_force[name] if setting.name == "page-size-bytes")
        self.addresses = len(addresses)
        self.page_size = max((int(size) for size in sizes if size.isdecimal() and len(size) < 19), default=0)

    def of_one(self, common: Trial, together: int) -> list[tuple[int, SettingOverride]]:
        """Return what to try for one address that pages much.

        That is no limit while others have lower ones, or smaller pages if the disk does not suffice.
        """
        worth = [name for name, paged in common.most_paged if paged >= common.totals.paged * WORTH]
        if common.failing:
            sizes = [self.page_size // n for n in SMALLER_PAGES if self.page_size >= n]
            return [(common.limit, SettingOverride(name, "page-size-bytes", str(n))) for name in worth for n in sizes]
        if self.addresses < 2:
            return []
        others = [limit for n in OTHERS if (limit := min(common.limit, together) // n) > 2 * self.page_size]
        return [(limit, SettingOverride(name, "max-size-bytes", "-1")) for name in worth for limit in others]

    def limits(self, limit: int, together: int, own: SettingOverride | None = None) -> tuple[SettingOverride, ...]:
        """Return the overrides for a limit of each address and one of all; ``own`` is what one address has instead."""
        overrides = [
            SettingOverride(match, name, value)
            for match in self.matches
            for name, value in {**self.paging, "max-size-bytes": "-1" if limit == UNLIMITED else str(limit)}.items()
        ]
        broker = in_scope(Scope.BROKER)
        for name, value in (("global-max-size", together), ("global-max-messages", -1)):
            if broker[name].known_in(self.edition):
                overrides.insert(0, SettingOverride(None, name, str(value)))
        if own is not None:
            overrides = [
                override for override in overrides if (override.match, override.name) != (own.match, own.name)
            ] + [own]
        return tuple(overrides)


def _evidence(
    best: Trial, common: Trial, trials: list[Trial], demand: Totals, allowed: Budget
) -> list[tuple[str, str]]:
    figures = best.totals
    needed = f"without any limit, messages take {size_text(demand.peak_memory)}"
    share = f"half of the {size_text(allowed.heap)} heap is for messages: {size_text(allowed.memory)}"
    evidence = [
        ("global-max-size", f"{share}; they take {size_text(figures.peak_memory)} at most ({needed})"),
        ("max-size-bytes", _beside(common, trials)),
    ]
    if figures.paged:
        why = f"paged because a limit was hit: {figures.paged}; any other policy would drop, refuse or block these"
    else:
        why = "no message was paged; under more traffic than this, none is lost"
    room = f"of the {size_text(allowed.disk)} disk, pages may take {size_text(allowed.pages)} before the broker blocks"
    return [
        *evidence,
        ("address-full-policy", why),
        ("disk", f"{room}; they take {size_text(figures.peak_disk or 0)} at most (plus journal and other files)"),
    ]


def _evidence_of_one(best: Trial, common: Trial, single: list[Trial]) -> Iterator[tuple[str, str]]:
    """Yield the evidence for an address's own setting: what it pages otherwise, and the values that were tried."""
    if best.own is None:
        return
    name = best.own.match
    tried = [
        f"{trial.own.text} ({trial.limit_text} for the others): {_came_to(trial)}"
        for trial in single
        if trial.own is not None and trial.own.match == name
    ]
    paged = next(count for address, count in common.most_paged if address == name)
    share = f"{paged} of {common.totals.paged} paged messages are its own if all have the same limit"
    yield f"{name}:{best.own.name}", f"{share}; {'; '.join(tried)}"


def _beside(best: Trial, trials: list[Trial]) -> str:
    """Return the limit and the next ones tried, in words."""
    at = trials.index(best)
    sentences = [
        _sentence(best),
        *(_sentence(trial) for trial in (*trials[max(at - 1, 0) : at], *trials[at + 1 : at + 2])),
    ]
    return "; ".join(sentences)


def _sentence(trial: Trial) -> str:
    return f"{trial.limit_text}: {_came_to(trial)}"


def _came_to(trial: Trial) -> str:
    return ", ".join(trial.failing) or f"{trial.totals.paged} paged"
