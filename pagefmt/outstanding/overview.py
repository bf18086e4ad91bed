"""One look at every store: how much is in it, how much of that is outstanding, what is wrong with it.

Only frames and queue ids are read: ``verification`` reads every byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.journal_backlog import LOOKED_AT_FOR_A_TIME
from pagefmt.outstanding.knowledge import Unknown, UnknownPart
from pagefmt.outstanding.state import LoadOfPage, PageLook, StoreRemark, StoreState, StoreSummary
from pagefmt.pages.frames import NO_BYTES, Damage, DamageKind
from pagefmt.pages.page import Page, open_page
from pagefmt.pages.paging import PageFile
from pagefmt.pages.record import Layout
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.outstanding.route_columns import RouteColumns


class Condition(StrEnum):
    """Worst first."""

    UNDECODABLE = "undecodable"
    SUSPECT = "suspect"
    NOT_PERMITTED = "not permitted"
    NO_ADDRESS = "no address"
    DUPLICATE = "duplicate"
    UNKNOWN = "unknown"
    ORPHAN = "orphan"
    EMPTY = "empty"
    OK = "ok"


REMARKS_EACH: Final = 8
"""So many remarks of one condition are given, the first ones."""
_UNDECODABLE: Final = frozenset((DamageKind.UNDECODABLE, DamageKind.SWALLOWED))


class StoreVerdict(NamedTuple):
    """``conditions`` worst first, a sentence for each in ``remarks``. ``counted``: it is known what is outstanding.

    ``closed``: what of it this user may not read, in words; empty if nothing. ``remarks`` do not repeat it.
    """

    conditions: tuple[Condition, ...]
    remarks: tuple[str, ...]
    counted: bool
    closed: str = ""

    @property
    def all_remarks(self) -> tuple[str, ...]:
        """``remarks``, and what this user may not read."""
        return (*self.remarks, self.closed) if self.closed else self.remarks

    @property
    def fine(self) -> bool:
        """Nothing is wrong."""
        return self.conditions[0] in (Condition.OK, Condition.EMPTY)


class StoreOverview(NamedTuple):
    """``bytes`` of page files. ``outstanding``: messages that some queue still waits for, None where it is not known.

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


@dataclass(slots=True)
class PageCount:
    """What was counted in one page."""

    messages: int = 0
    outstanding: int = 0
    begun: int | None = None
    damage: Damage | None = None


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
    """Count a page with vectors, or record by record where they do not apply."""
    from pagefmt.outstanding.route_columns import IrregularPage

    rule = state.rule(page.number)
    try:
        return _at_once(page, rule)
    except IrregularPage:
        return _with_care(page, rule)


def overview(state: StoreState, look: PageLook[PageCount] = count_page) -> StoreOverview:
    """Reads the store's pages one at a time."""
    store, tally = state.store, _StoreCount()
    for page in store.pages:
        tally.add(state, page, look(state, page))
    found = verdict(state, tally.damages, tally.messages, tally.outstanding)
    return StoreOverview(
        address=store.address,
        folder=store.name,
        pages=len(store.pages),
        messages=tally.messages,
        bytes=sum(page.size for page in store.pages),
        outstanding=tally.outstanding if found.counted else None,
        oldest=tally.oldest,
        verdict=found,
        notes=tuple(tally.notes),
        waiting=tuple(tally.waiting),
    )


def judged(state: StoreState, look: PageLook[LoadOfPage] | None = None) -> tuple[StoreSummary, StoreVerdict]:
    """What the queues of a store wait for, and what is wrong with it."""
    summary = state.summary(look)
    files = {page.number: page for page in state.store.pages}
    still = [load for load in summary.pages if load.page not in summary.moving]
    damages = [(files[load.page], load.damage) for load in still if load.damage is not None]
    messages = sum(load.records for load in summary.pages)
    waiting = sum(load.live_records for load in summary.pages)
    return summary, verdict(state, damages, messages, waiting)


def verdict(state: StoreState, damages: Sequence[tuple[PageFile, Damage]], messages: int, waiting: int) -> StoreVerdict:
    """What is wrong with a store. ``messages`` are in its pages, ``waiting`` of them unacknowledged by the journal."""
    remarks: dict[Condition, list[str]] = {}
    closed = closed_part(state, damages)
    if closed:
        remarks[Condition.NOT_PERMITTED] = []
    for condition, remark in _conditions(state, damages, messages, waiting):
        remarks.setdefault(condition, []).append(remark)
    return StoreVerdict(
        conditions=tuple(each for each in Condition if each in remarks and each is not Condition.OK) or (Condition.OK,),
        remarks=tuple(remark for each in Condition for remark in remarks.get(each, ())[:REMARKS_EACH]),
        counted=not (closed or state.unseen or (state.unknown and (messages or state.store.problem)))
        and not any(damage.kind in NO_BYTES for _, damage in damages),
        closed=closed,
    )


def closed_part(state: StoreState, damages: Sequence[tuple[PageFile, Damage]]) -> str:
    """Return what of a store this user may not read, in words; empty if nothing."""
    if _is_closed(state.unknown):
        return state.store.problem or state.store.text.problem or ""
    closed = [(page, damage) for page, damage in damages if damage.kind is DamageKind.NOT_PERMITTED]
    more = f", and {count_text(len(closed) - 1, 'other page')}" if len(closed) > 1 else ""
    return f"{closed[0][0].name}: {closed[0][1].detail}{more}" if closed else ""


def _is_closed(unknown: Unknown | None) -> bool:
    """Return whether it is for lack of rights that a store or its address is not known."""
    of_store = (UnknownPart.FOLDER, UnknownPart.ADDRESS)
    return unknown is not None and unknown.part in of_store and not unknown.permitted


def _at_once(page: PageFile, rule: PageRule | None) -> PageCount:
    from pagefmt.outstanding.ack_state_columns import any_outstanding
    from pagefmt.outstanding.route_columns import routed

    found = PageCount()
    for routes in routed(page):
        if not found.messages:
            found.begun = _begins(page, routes)
        found.messages += len(routes)
        if rule is not None:
            found.outstanding += int(any_outstanding(rule, routes).sum())
    return found


def _begins(page: PageFile, routes: RouteColumns) -> int | None:
    """As ``_begins_at``, of the chunk that the page begins with if that has enough records to tell."""
    if routes.page.size < page.size and len(routes) < LOOKED_AT_FOR_A_TIME:
        with open_page(page) as opened:
            return _begins_at(opened, opened.layout())
    opened = Page(memoryview(routes.page.buffer)[: routes.page.size])
    return _begins_at(opened, opened.layout() if routes.old else Layout.NEW)


def _with_care(page: PageFile, rule: PageRule | None) -> PageCount:
    found = PageCount()
    with open_page(page) as opened:
        for number, _, _, tx, _, _, queues in opened.routes():
            if rule is not None and rule.outstanding(number, tx, queues):
                found.outstanding += 1
        found.messages, found.damage = opened.count, opened.damage_in_messages()
        found.begun = _begins_at(opened, opened.layout())
    return found


def _begins_at(opened: Page, layout: Layout | None) -> int | None:
    """The timestamp of the first record of a page that has one."""
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
    told = messages and state.unknown is not None and state.unknown.part is UnknownPart.ADDRESS
    if state.store.address is None and not told and not (state.store.problem or _is_closed(state.unknown)):
        yield Condition.NO_ADDRESS, f"{state.store.text.problem}; a broker skips this folder"
    for finding in state.faults():
        file = str(finding.place).partition(", ")[2]
        yield Condition.SUSPECT, f"{file}: {finding.message}"
    if messages and not (state.queues or state.read_instead or state.unknown):
        here = count_text(messages, "message")
        orphan = f"the bindings contain no queue of this address; the {here} here will never be read"
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
