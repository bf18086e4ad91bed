"""Page files byte by byte, and what a broker of an edition does with them (docs/spec/page-files.md 4.4, 5).

Two readers read a page. The strict one (``page``, ``record``) reports its content and what is wrong with it; the
broker's (``broker_reader``) reports what that edition would deliver. A page that the strict one finds sound is sound
for the broker too, so the second reader is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from pagefmt.check.broker_reader import BrokerReading, read_as_broker
from pagefmt.check.broker_verdict import BrokerVerdict, PageContext, judge
from pagefmt.check.zeroed_sectors import zeroed_sectors
from pagefmt.codec.pages.broker_payload import walk_payload
from pagefmt.codec.pages.frames import Damage, DamageKind
from pagefmt.codec.pages.page import Page, open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import FRAME, Layout, stated_id
from pagefmt.codec.wire import ByteReader, Undecodable
from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Finding
from pagefmt.vectors import SoundRecords

_CHUNK: Final = 1 << 20
FAULTS_SHOWN: Final = 100
NEWEST_OLD: Final = Edition.ARTEMIS_1_5


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """What brokers and the strict reader make of one page.

    ``records``, ``bytes_read``, ``suspects``, ``error``: results of the broker's reader. ``faults``: what the strict
    reader found, at most ``FAULTS_SHOWN``; ``decoded``: number of records that it decoded. ``recovered``: number of
    valid records that the broker would not deliver; ``recovered_from``: offset of the first. ``others``: older editions
    of the layout with another result. ``zeroed``: sectors that may have been lost.
    """

    store: str
    page: int | None
    file: str
    size: int
    crc32c: str | None
    layout: Layout | None
    broker: BrokerVerdict
    decoded: int
    faults: tuple[Damage, ...]
    recovered: int
    recovered_from: int | None
    others: tuple[BrokerVerdict, ...]
    zeroed: Finding | None = None

    @property
    def sound(self) -> bool:
        """Return whether the strict reader found nothing wrong."""
        return not self.faults

    @property
    def records(self) -> int:
        """Return the number of records that the broker delivers."""
        return self.broker.reading.records

    @property
    def bytes_read(self) -> int:
        """Return the offset at which the broker stops."""
        return self.broker.reading.bytes_read


def verify_page(
    file: Path | PageFile,
    place: PageContext,
    edition: Edition | None = None,
    layout: Layout | None = None,
    bytes_before: int = 0,
) -> PageVerdict:
    """Return what brokers and the strict reader make of a page. Raise ``NotReadable`` if none of it can be read.

    ``edition``: None for the newest of the page's layout. ``layout``: of the store, for pages that do not show theirs.
    ``bytes_before``: bytes of the pages verified before, which only affects the time.
    """
    with open_page(file) as page:
        if page.unreadable is not None and not page.buf:
            raise page.unreadable
        return verify_bytes(page, file.name, place, edition, layout, bytes_before)


def verify_bytes(
    page: Page,
    file: str,
    place: PageContext,
    edition: Edition | None = None,
    layout: Layout | None = None,
    bytes_before: int = 0,
) -> PageVerdict:
    """Return the verdict on an open page; see ``verify_page``."""
    page_layout = page.layout() or layout
    newest = newest_of(page_layout)
    strict = _strict_look(page, bytes_before)
    sound = not strict.faults
    if sound and edition in (None, newest):
        reading = BrokerReading(page.count, page.bytes_read)
    else:
        reading = _with_delivery(page, _reading(page, edition or newest), strict, edition or newest)
    others = (
        ()
        if sound or page.unreadable is not None
        else _others(page, strict, reading, edition or newest, page_layout, place)
    )
    recovered, first = (0, None) if sound and reading.whole else _withheld(page, strict, reading)
    return PageVerdict(
        store=place.store,
        page=place.page,
        file=file,
        size=page.size,
        crc32c=_crc32c(page),
        layout=page_layout,
        broker=judge(reading, page.size, edition or newest, place),
        decoded=strict.decoded,
        faults=strict.faults,
        recovered=recovered,
        recovered_from=first,
        others=tuple(others),
        zeroed=zeroed_sectors(page, f"{place.store}/{file}"),
    )


def _reading(page: Page, edition: Edition) -> BrokerReading:
    """Return how the broker reads the page. If the system gives no more bytes, the broker throws at that offset."""
    reading, damage = read_as_broker(page.buf, edition, page.reach), page.damage
    if (
        damage is None
        or damage.kind is not DamageKind.UNREADABLE
        or reading.error
        or reading.bytes_read != damage.offset
    ):
        return reading
    why = f"record {reading.records} at {damage.offset}: {damage.detail}"
    return BrokerReading(reading.records, reading.bytes_read, error=why)


def _with_delivery(page: Page, reading: BrokerReading, strict: _StrictReading, edition: Edition) -> BrokerReading:
    """Return the reading with the first record that the broker hands out, and stops itself at when it delivers it."""
    if edition.old_layout:
        return reading  # decodes all of a message when it reads the page
    for fault in strict.faults:
        if fault.kind is not DamageKind.UNDECODABLE or fault.offset >= reading.bytes_read:
            continue
        if page.reach is not None:
            page.reach(fault.offset, fault.offset + FRAME)
        end = fault.offset + 5 + int.from_bytes(page.buf[fault.offset + 1 : fault.offset + 5], "big")
        if page.reach is not None:
            page.reach(fault.offset, end)
        try:
            walk_payload(ByteReader(page.buf, fault.offset + 5, end), edition, late=True)
        except Undecodable as err:
            return replace(reading, undeliverable=f"record {fault.number} at {fault.offset}: {err}")
    return reading


def newest_of(layout: Layout | None) -> Edition:
    """Return the newest edition that writes the layout."""
    return NEWEST_OLD if layout is Layout.OLD else NEWEST


@dataclass(frozen=True, slots=True)
class _StrictReading:
    decoded: int
    faults: tuple[Damage, ...]
    swallowed: tuple[Damage, ...]


def _strict_look(page: Page, bytes_before: int) -> _StrictReading:
    decoded = 0
    faults: list[Damage] = []
    swallowed: list[Damage] = []
    layout = page.strict_layout()
    sound = SoundRecords(page, bytes_before)
    for number, offset, length in page.frames():
        if sound.hold(offset, length):
            decoded += 1
            continue
        record = page.record(number, offset, length, layout)
        if not isinstance(record, Damage):
            decoded += 1
            continue
        if record.kind is DamageKind.SWALLOWED:
            swallowed.append(record)
        if len(faults) < FAULTS_SHOWN:
            message = stated_id(page.buf, offset, offset + FRAME + length, layout or Layout.NEW)
            faults.append(record._replace(detail=f"message {message}: {record.detail}") if message else record)
    if page.damage is not None:
        faults.append(page.damage)
    return _StrictReading(decoded, tuple(faults), tuple(swallowed))


def _withheld(page: Page, strict: _StrictReading, reading: BrokerReading) -> tuple[int, int | None]:
    """Return how many valid records the broker does not deliver, and the offset of the first, or None."""
    count, first = 0, None
    for offset in _withheld_offsets(page, strict, reading):
        count += 1
        first = offset if first is None else min(first, offset)
    return count, first


def _withheld_offsets(page: Page, strict: _StrictReading, reading: BrokerReading) -> Iterator[int]:
    for fault in strict.swallowed:
        if fault.offset < reading.bytes_read:
            if page.reach is not None:
                page.reach(fault.offset, fault.offset + FRAME)
            end = fault.offset + FRAME + int.from_bytes(page.buf[fault.offset + 1 : fault.offset + 5], "big")
            yield from (record.offset for record in page.behind(fault.offset + 1, end))
    yield from (record.offset for record in page.behind(reading.bytes_read))


def _others(
    page: Page,
    strict: _StrictReading,
    reading: BrokerReading,
    edition: Edition,
    layout: Layout | None,
    place: PageContext,
) -> Iterator[BrokerVerdict]:
    """Yield verdicts of older editions of the same layout that differ from the verdict of the next newer one."""
    newer = judge(reading, page.size, edition, place)
    for other in sorted(Edition, reverse=True):
        if (
            other < edition
            and other.old_layout == edition.old_layout
            and (layout is not Layout.OLD or other.old_layout)
        ):
            seen = _with_delivery(page, read_as_broker(page.buf, other, page.reach), strict, other)
            verdict = judge(seen, page.size, other, place)
            if (verdict.action, verdict.reading.records, verdict.reading.suspect) != (
                newer.action,
                newer.reading.records,
                newer.reading.suspect,
            ):
                yield verdict
                newer = verdict


def _crc32c(page: Page) -> str | None:
    """Return the CRC-32C (Castagnoli) of the file as 8 hex digits; None if not all of it can be read."""
    from crc32c import crc32c

    value = 0
    for at in range(0, len(page.buf), _CHUNK):
        if page.reach is not None:
            page.reach(at, min(at + _CHUNK, len(page.buf)))
        value = crc32c(bytes(page.buf[at : at + _CHUNK]), value)
    return f"{value:08x}" if page.unreadable is None else None


def first_layout(pages: Iterable[PageFile], tries: int = 8) -> Layout | None:
    """Return the layout of the first page, out of the first ``tries``, that shows one; None if none does."""
    for page_file in islice(pages, tries):
        with open_page(page_file) as page:
            layout = page.layout()
        if layout is not None:
            return layout
    return None
