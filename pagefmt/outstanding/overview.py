"""One look at every store: how much is in it, how much of that is outstanding, what is wrong with it.

Only frames and queue ids are read: ``verification`` reads every byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from pagefmt.codec.pages.frames import NO_BYTES, Damage, DamageKind
from pagefmt.codec.pages.page import Page, open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import Layout
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.journal_backlog import LOOKED_AT_FOR_A_TIME
from pagefmt.outstanding.loaded_journals import Unknown, UnknownPart
from pagefmt.outstanding.page_vectors import LoadOfPage, PageCount
from pagefmt.outstanding.state import PageLook, StoreRemark, StoreState, StoreSummary
from pagefmt.quantities import count_text


class Condition(StrEnum):
    """The condition of a store, worst first."""

    UNDECODABLE = "undecodable"
    SUSPECT = "suspect"
    NOT_PERMITTED = "not permitted"
    NO_ADDRESS = "no address"
    DUPLICATE = "duplicate"
    UNKNOWN = "unknown"
    ORPHAN = "orphan"
    EMPTY = "empty"
    OK = "ok"


# Remarks shown for one condition, the first ones.
REMARKS_EACH: Final = 8
_UNDECODABLE: Final = frozenset((DamageKind.UNDECODABLE, DamageKind.SWALLOWED))


class StoreVerdict(NamedTuple):
    """What is wrong with a store.

    ``conditions`` worst first, a sentence for each in ``remarks``. ``counted``: it is known what is outstanding.

    ``closed``: why this user may not read a part of it; empty if all is readable. ``remarks`` do not repeat it.
    """

    conditions: tuple[Condition, ...]
    remarks: tuple[str, ...]
    counted: bool
    closed: str = ""

    @property
    def all_remarks(self) -> tuple[str, ...]:
        """Return ``remarks``, and what this user may not read."""
        return (*self.remarks, self.closed) if self.closed else self.remarks

    @property
    def fine(self) -> bool:
        """Return whether nothing is wrong."""
        return self.conditions[0] in (Condition.OK, Condition.EMPTY)


class StoreOverview(NamedTuple):
    """Counts of a store, and what is wrong with it.

    ``bytes`` of page files. ``outstanding``: messages that some queue still waits for, None where it is not known.

    ``oldest``: earliest timestamp (ms) of what its pages begin with. ``notes``: what a running broker is doing with its
    pages. ``waiting``: for each page, the newest last, whether a queue waits for something in it, or nobody knows.
    ``page_full``: whether a broker that starts takes nothing more, ``page_limit_used``: how much of the page limit is
    used (0 to 1); None: not known, and of the latter that there is no limit.
    """

    address: str | None
    folder: str
    pages: int
    messages: int
    bytes: int
    outstanding: int | None
    oldest: int | None
    verdict: StoreVerdict
    notes: tuple[str, ...] = ()
    waiting: tuple[bool, ...] = ()
    page_full: bool | None = None
    page_limit_used: float | None = None


class _StoreCount:
    __slots__ = ("damages", "messages", "notes", "oldest", "outstanding", "waiting")

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.messages = 0
        self.outstanding = 0
        self.oldest: int | None = None
        self.damages: list[tuple[PageFile, Damage]] = []
        self.waiting: list[bool] = []

    def add(self, state: StoreState, page: PageFile, count: PageCount) -> None:
        self.messages += count.messages
        self.outstanding += count.outstanding
        self.waiting.append(count.outstanding > 0 or count.damage is not None)
        if count.damage is not None and (motion := state.motion(page, count.damage)) is not None:
            self.notes.append(f"{page.name}: {motion}")
        elif count.damage is not None:
            self.damages.append((page, count.damage))
        if count.begun is not None:
            self.oldest = count.begun if self.oldest is None else min(count.begun, self.oldest)


def count_page(state: StoreState, page: PageFile) -> PageCount:
    """Return the message counts of a page."""
    rule = state.rule(page.number)
    count = state.vectors.count(page, rule) if state.vectors is not None else None
    return _with_care(page, rule) if count is None else count


def overview(state: StoreState, count: PageLook[PageCount] = count_page) -> StoreOverview:
    """Return the overview of a store. Reads its pages one at a time."""
    store, tally = state.store, _StoreCount()
    for page in store.pages:
        tally.add(state, page, count(state, page))
    store_verdict = verdict(state, tally.damages, tally.messages, tally.outstanding)
    return StoreOverview(
        address=store.address,
        folder=store.name,
        pages=len(store.pages),
        messages=tally.messages,
        bytes=sum(page.size for page in store.pages),
        outstanding=tally.outstanding if store_verdict.counted else None,
        oldest=tally.oldest,
        verdict=store_verdict,
        notes=tuple(tally.notes),
        waiting=tuple(tally.waiting),
    )


def judged(state: StoreState, read_page: PageLook[LoadOfPage] | None = None) -> tuple[StoreSummary, StoreVerdict]:
    """Return what the queues of a store wait for, and what is wrong with it."""
    summary = state.summary(read_page)
    files = {page.number: page for page in state.store.pages}
    still = [load for load in summary.pages if load.page not in summary.moving]
    damages = [(files[load.page], load.damage) for load in still if load.damage is not None]
    messages = sum(load.records for load in summary.pages)
    waiting = sum(load.live_records for load in summary.pages)
    return summary, verdict(state, damages, messages, waiting)


def verdict(state: StoreState, damages: Sequence[tuple[PageFile, Damage]], messages: int, waiting: int) -> StoreVerdict:
    """Return what is wrong with a store.

    ``messages``: number in its pages; ``waiting``: of these, not acknowledged according to the journal.
    """
    remarks: dict[Condition, list[str]] = {}
    closed = closed_part(state, damages)
    if closed:
        remarks[Condition.NOT_PERMITTED] = []
    for condition, remark in _conditions(state, damages, messages, waiting):
        remarks.setdefault(condition, []).append(remark)
    return StoreVerdict(
        conditions=tuple(kind for kind in Condition if kind in remarks and kind is not Condition.OK) or (Condition.OK,),
        remarks=tuple(remark for kind in Condition for remark in remarks.get(kind, ())[:REMARKS_EACH]),
        counted=not (closed or state.unseen or (state.unknown and (messages or state.store.problem)))
        and not any(damage.kind in NO_BYTES for _, damage in damages),
        closed=closed,
    )


def closed_part(state: StoreState, damages: Sequence[tuple[PageFile, Damage]]) -> str:
    """Return why this user may not read the store, or the first page that this user may not read; "" if neither.

    ``damages``: of the store's pages.
    """
    if _is_closed(state.unknown):
        return state.store.problem or state.store.text.problem or ""
    closed = [(page, damage) for page, damage in damages if damage.kind is DamageKind.NOT_PERMITTED]
    more = f", and {count_text(len(closed) - 1, 'other page')}" if len(closed) > 1 else ""
    return f"{closed[0][0].name}: {closed[0][1].detail}{more}" if closed else ""


def _is_closed(unknown: Unknown | None) -> bool:
    """Return whether a store or its address is unknown for lack of rights."""
    of_store = (UnknownPart.FOLDER, UnknownPart.ADDRESS)
    return unknown is not None and unknown.part in of_store and not unknown.permitted


def _with_care(page: PageFile, rule: PageRule | None) -> PageCount:
    page_count = PageCount()
    with open_page(page) as opened:
        for number, _, _, tx, _, _, queues in opened.routes():
            if rule is not None and rule.outstanding(number, tx, queues):
                page_count.outstanding += 1
        page_count.messages, page_count.damage = opened.count, opened.damage_in_messages()
        page_count.begun = first_timestamp(opened, opened.layout())
    return page_count


def first_timestamp(opened: Page, layout: Layout | None) -> int | None:
    """Return the timestamp (ms) of the first record that has one, None if the first few have none."""
    for number, offset, length in opened.frames():
        if number >= LOOKED_AT_FOR_A_TIME:
            return None
        record = opened.record(number, offset, length, layout)
        if not isinstance(record, Damage) and record.message.timestamp > 0:
            return record.message.timestamp
    return None


def _conditions(
    state: StoreState, damages: Sequence[tuple[PageFile, Damage]], messages: int, waiting: int
) -> Iterator[tuple[Condition, str]]:
    for page, damage in damages:
        if damage.kind is DamageKind.NOT_PERMITTED:
            continue  # said of the whole store
        kind = Condition.UNDECODABLE if damage.kind in _UNDECODABLE else Condition.SUSPECT
        yield kind, f"{page.name}: offset {damage.offset}: {damage.kind}: {damage.detail}"
    for about, remark in state.remarks(messages, None if state.rule(0) is None else waiting):
        if about is StoreRemark.UNKNOWN and _is_closed(state.unknown):
            continue  # said of the whole store
        yield _of_remark(about, state.unknown), remark
    is_reported = messages and state.unknown is not None and state.unknown.part is UnknownPart.ADDRESS
    if state.store.address is None and not is_reported and not (state.store.problem or _is_closed(state.unknown)):
        yield Condition.NO_ADDRESS, f"{state.store.text.problem}; a broker skips this folder"
    for finding in state.faults():
        file = str(finding.place).partition(", ")[2]
        yield Condition.SUSPECT, f"{file}: {finding.message}"
    if messages and not (state.queues or state.read_instead or state.unknown):
        in_pages = count_text(messages, "message")
        orphan = f"the bindings contain no queue of this address; the {in_pages} here will never be read"
        yield Condition.ORPHAN, f"{orphan} unless 'pagectl pages salvage' finds their address"
    if not messages and not damages and state.store.problem is None:
        yield Condition.EMPTY, "no messages"


def _of_remark(about: StoreRemark, unknown: Unknown | None) -> Condition:
    if about is StoreRemark.SAME_ADDRESS:
        return Condition.DUPLICATE
    if unknown is None or about is StoreRemark.LOST:
        return Condition.UNKNOWN
    if unknown.part is UnknownPart.FOLDER:
        return Condition.SUSPECT
    if unknown.part is UnknownPart.ADDRESS:
        return Condition.NO_ADDRESS
    return Condition.OK if unknown.alone else Condition.UNKNOWN
