"""The disk monitor's formula at its boundaries, per release (docs/spec/disk-monitor.md 1 to 4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pageengine.disk.effect import ArrivalEffect, ProducerEffect, closed_connections, disk_full_effect
from pageengine.disk.monitor import (
    MAX_LONG,
    DiskLimit,
    DiskMonitor,
    DiskSettings,
    DiskSpace,
    LimitKind,
    Transition,
    Unmonitored,
    beyond,
    default_max_disk_usage,
)
from pagefmt.editions import Edition

OLD, NEW = Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_56
USAGE, MINIMUM = LimitKind.USAGE, LimitKind.MINIMUM
GIB = 2**30


@pytest.mark.parametrize(
    ("kind", "value", "edition", "usable", "total", "within"),
    [
        # exactly at the limit: beyond since 2.31.0, fine before
        (USAGE, 50, NEW, 50, 100, False),
        (USAGE, 50, NEW, 51, 100, True),
        (USAGE, 50, OLD, 50, 100, True),
        (USAGE, 50, OLD, 49, 100, False),
        # 90 %: up to 2.30 the limit is 0.8999999761581421, so that 1 - 10/100 is beyond there too
        (USAGE, 90, NEW, 10, 100, False),
        (USAGE, 90, OLD, 10, 100, False),
        (USAGE, 90, OLD, 100_000_003, 1_000_000_000, False),
        (USAGE, 90, OLD, 100_000_024, 1_000_000_000, True),
        # 100: blocks at the last byte since 2.31.0, never before
        (USAGE, 100, NEW, 1, 100, True),
        (USAGE, 100, NEW, 0, 100, False),
        (USAGE, 100, OLD, 0, 100, True),
        # 0: never within since 2.31.0; before, while nothing is used
        (USAGE, 0, NEW, 100, 100, False),
        (USAGE, 0, OLD, 100, 100, True),
        (USAGE, 0, OLD, 99, 100, False),
        # pseudo file systems: size 0
        (USAGE, 90, NEW, 0, 0, True),
        (USAGE, 90, OLD, 0, 0, True),
        (USAGE, 0, NEW, 0, 0, False),
        (MINIMUM, 1, NEW, 0, 0, False),
        # minimum: equal is not enough
        (MINIMUM, 10 * GIB, NEW, 10 * GIB, 100 * GIB, False),
        (MINIMUM, 10 * GIB, NEW, 10 * GIB + 1, 100 * GIB, True),
        (MINIMUM, 101 * GIB, NEW, 100 * GIB, 100 * GIB, False),
        # a size that does not fit counts as 2**63 - 1: usage is about 1
        (USAGE, 90, NEW, 10 * GIB, MAX_LONG, False),
        (USAGE, 90, NEW, MAX_LONG, MAX_LONG, True),
        # more usable than total (quotas): usage below 0
        (USAGE, 90, NEW, 200, 100, True),
    ],
)
def test_boundary(kind: LimitKind, value: int, edition: Edition, usable: int, total: int, within: bool) -> None:
    assert DiskLimit(kind, value, edition).within(DiskSpace(usable, total)) is within


def test_sizes_that_do_not_fit_are_the_largest_number() -> None:
    assert DiskSpace.of(2**70, 2**70) == DiskSpace(MAX_LONG, MAX_LONG)
    assert DiskSpace.of(5, -1) == DiskSpace(5, MAX_LONG)


@pytest.mark.parametrize(
    ("kind", "value", "edition", "total", "at"),
    [
        (USAGE, 90, NEW, 100, 10),
        (USAGE, 50, NEW, 1000, 500),
        (USAGE, 50, OLD, 1000, 499),
        (USAGE, 90, OLD, 1_000_000_000, 100_000_023),
        (USAGE, 100, NEW, 1000, 0),
        (USAGE, 100, OLD, 1000, None),
        (USAGE, 0, NEW, 1000, 1000),
        (USAGE, 90, NEW, 0, None),
        (USAGE, 0, NEW, 0, MAX_LONG),
        (MINIMUM, 5, NEW, 1000, 5),
        (MINIMUM, 5000, NEW, 1000, 5000),
        (MINIMUM, MAX_LONG, NEW, 1000, MAX_LONG),
    ],
)
def test_the_byte_at_which_it_blocks(kind: LimitKind, value: int, edition: Edition, total: int, at: int | None) -> None:
    limit = DiskLimit(kind, value, edition)
    assert limit.blocks_at(total) == at
    space = DiskSpace(total // 2, total)
    assert limit.margin(space) == (None if at is None else total // 2 - at)


@given(
    st.sampled_from([OLD, NEW]),
    st.integers(0, 100),
    st.one_of(st.integers(1, 10**6), st.integers(1, 2**45), st.integers(2**53, MAX_LONG)),
)
def test_the_boundary_byte_is_the_last_one_that_blocks(edition: Edition, percent: int, total: int) -> None:
    limit = DiskLimit(USAGE, percent, edition)
    at = limit.blocks_at(total)
    if at is None:
        assert limit.within(DiskSpace(0, total))
        return
    assert not limit.within(DiskSpace(at, total))
    assert at == MAX_LONG or limit.within(DiskSpace(at + 1, total))
    if total < 2**40:
        assert abs(at - total * (100 - percent) / 100) <= 1 + total * 3e-8


@pytest.mark.parametrize(
    ("settings", "edition", "expected"),
    [
        (DiskSettings(), NEW, (USAGE, 90)),
        (DiskSettings(), Edition.ARTEMIS_2_10, (USAGE, 90)),
        (DiskSettings(), Edition.ARTEMIS_2_4, (USAGE, 100)),
        (DiskSettings(), Edition.ARTEMIS_1_5, (USAGE, 100)),
        (DiskSettings(), Edition.HORNETQ_2_4, Unmonitored.TOO_OLD),
        (DiskSettings(max_disk_usage=80), NEW, (USAGE, 80)),
        (DiskSettings(max_disk_usage=-1), NEW, Unmonitored.SWITCHED_OFF),
        (DiskSettings(min_disk_free=GIB), NEW, (MINIMUM, GIB)),
        (DiskSettings(max_disk_usage=80, min_disk_free=GIB), NEW, (MINIMUM, GIB)),
        (DiskSettings(max_disk_usage=80, min_disk_free=GIB), Edition.ARTEMIS_2_44, (MINIMUM, GIB)),
        (DiskSettings(max_disk_usage=80, min_disk_free=GIB), OLD, (USAGE, 80)),
        (DiskSettings(max_disk_usage=-1, min_disk_free=GIB), OLD, Unmonitored.SWITCHED_OFF),
        (DiskSettings(min_disk_free=-1), NEW, (USAGE, 90)),
        (DiskSettings(database=True), NEW, Unmonitored.DATABASE),
        (DiskSettings(database=True, min_disk_free=GIB), NEW, (MINIMUM, GIB)),
        (DiskSettings(database=True), OLD, (USAGE, 90)),
        (DiskSettings(disk_scan_period=-1), NEW, Unmonitored.NO_SCAN),
    ],
)
def test_which_limit_is_in_force(settings: DiskSettings, edition: Edition, expected: object) -> None:
    limit = settings.limit(edition)
    assert (limit if isinstance(limit, Unmonitored) else (limit.kind, limit.value)) == expected


@pytest.mark.parametrize(
    ("settings", "edition", "refused"),
    [
        (DiskSettings(max_disk_usage=101), NEW, True),
        (DiskSettings(max_disk_usage=-1), NEW, False),
        (DiskSettings(max_disk_usage=-1), Edition.ARTEMIS_2_4, True),
        (DiskSettings(max_disk_usage=0), NEW, False),
        (DiskSettings(max_disk_usage=100), NEW, False),
        (DiskSettings(min_disk_free=0), NEW, True),
        (DiskSettings(min_disk_free=-2), NEW, True),
        (DiskSettings(min_disk_free=0), OLD, False),
        (DiskSettings(disk_scan_period=0), NEW, True),
        (DiskSettings(disk_scan_period=-1), NEW, False),
        (DiskSettings(max_disk_usage=101), Edition.HORNETQ_2_4, False),
    ],
)
def test_what_the_broker_would_not_start_with(settings: DiskSettings, edition: Edition, refused: bool) -> None:
    assert (settings.refusal(edition) is not None) is refused


def test_an_explicit_usage_limit_is_reported_as_overridden() -> None:
    both = DiskSettings(max_disk_usage=80, min_disk_free=1)
    assert both.overridden(NEW)
    assert not both.overridden(OLD)
    assert not DiskSettings(min_disk_free=1).overridden(NEW)


def test_default_usage_limit_changed_with_2_7() -> None:
    assert [default_max_disk_usage(edition) for edition in (Edition.ARTEMIS_2_4, Edition.ARTEMIS_2_10)] == [100, 90]


def test_one_bad_store_decides() -> None:
    limit = DiskLimit(USAGE, 90)
    good, bad = DiskSpace(50, 100), DiskSpace(5, 100)
    assert beyond(limit, [good, good]) is None
    assert beyond(limit, [good, bad, good]) == 1
    assert beyond(limit, []) is None


@pytest.mark.parametrize(
    ("kind", "value", "codes"), [(USAGE, 90, ["AMQ222210", "AMQ222211"]), (MINIMUM, 10, ["AMQ224128", "AMQ224129"])]
)
def test_transitions(kind: LimitKind, value: int, codes: list[str]) -> None:
    monitor = DiskMonitor(DiskLimit(kind, value))
    seen = [monitor.tick([DiskSpace(usable, 100)]) for usable in (50, 11, 10, 5, 10, 11, 50)]
    assert seen == [None, None, Transition.BLOCKED, None, None, Transition.RELEASED, None]
    assert [change.code(kind) for change in seen if change] == codes


@pytest.mark.parametrize(
    ("edition", "address", "disk", "asked", "arriving"),
    [
        (NEW, None, None, ProducerEffect.WAITS, ArrivalEffect.PAGED),
        (NEW, "PAGE", "BLOCK", ProducerEffect.WAITS, ArrivalEffect.PAGED),
        (NEW, "BLOCK", None, ProducerEffect.WAITS, ArrivalEffect.MEMORY),
        (NEW, "FAIL", None, ProducerEffect.WAITS, ArrivalEffect.REFUSED),
        (NEW, "DROP", None, ProducerEffect.WAITS, ArrivalEffect.DROPPED),
        (NEW, "PAGE", "FAIL", ProducerEffect.REFUSED, ArrivalEffect.REFUSED),
        (NEW, "BLOCK", "DROP", ProducerEffect.GOES_ON, ArrivalEffect.DROPPED),
        (Edition.ARTEMIS_2_44, "FAIL", "BLOCK", ProducerEffect.REFUSED, ArrivalEffect.REFUSED),
        (Edition.ARTEMIS_2_44, "PAGE", "FAIL", ProducerEffect.WAITS, ArrivalEffect.PAGED),
        (OLD, "DROP", None, ProducerEffect.WAITS, ArrivalEffect.DROPPED),
        (OLD, "BLOCK", None, ProducerEffect.WAITS, ArrivalEffect.MEMORY),
    ],
)
def test_what_producers_feel(
    edition: Edition, address: str | None, disk: str | None, asked: ProducerEffect, arriving: ArrivalEffect
) -> None:
    effect = disk_full_effect(address, disk, edition)
    assert (effect.asked, effect.arriving) == (asked, arriving)
    assert effect.words


def test_unknown_policies_are_refused() -> None:
    for call in (("KEEP", None), ("PAGE", "PAGE")):
        with pytest.raises(ValueError, match="is not one of"):
            disk_full_effect(*call)


def test_openwire_is_closed_only_before_2_25() -> None:
    assert "OpenWire" in closed_connections(Edition.ARTEMIS_2_17)
    assert "OpenWire" not in closed_connections(NEW)
