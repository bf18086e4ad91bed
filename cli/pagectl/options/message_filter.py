"""Options that say which messages are wanted, and the filter that they make together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.groups import OptionGroup
from pagectl.options.shared import PageOption, WhereOption
from pagectl.options.times import TIME_HELP, in_both_zones, milliseconds, parse_instant
from pagectl.running.exits import CallError
from pagectl.running.reading import page_range
from pagectl.terminal.streams import note, warning

if TYPE_CHECKING:
    from pagefmt.codec.messages.large import LargeMessages
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.message_filter import MessageFilter
    from pagefmt.outstanding.state import PagingState
    from pagefmt.selector import Selector
    from pagefmt.selector.facts import BodyContains
    from pagefmt.selector.nodes import MessageFact

IdOption = Annotated[
    list[str] | None, typer.Option("--id", metavar="N", help="Only the message with this broker id; repeatable.")
]
UserIdOption = Annotated[
    list[str] | None,
    typer.Option(
        "--message-id",
        metavar="S",
        help="Only the message with this id set by its client, in any form: JMSMessageID, AMQUserID, UUID; repeatable.",
    ),
]
CorrelationIdOption = Annotated[
    list[str] | None,
    typer.Option(
        "--correlation-id", metavar="S", help="Only messages with this correlation id, in any form; repeatable."
    ),
]
AddressOption = Annotated[
    list[str] | None, typer.Option("--address", metavar="ADDRESS", help="Only messages of this address; repeatable.")
]
QueueOption = Annotated[
    list[str] | None,
    typer.Option("--queue", metavar="QUEUE", help="Only messages for this queue (name or id); repeatable."),
]
SinceOption = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help=f"Only messages sent at this time or later: {TIME_HELP}.")
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Only messages sent before this time; written as --since.")
]
ContainsOption = Annotated[
    str | None,
    typer.Option(
        "--contains",
        metavar="TEXT",
        help="Only messages whose body is text that contains TEXT: text messages and bytes that are UTF-8; also "
        "compressed and large ones, up to 16 MiB each.",
    ),
]
ExpiredOption = Annotated[bool, typer.Option("--expired", help="Only messages whose time to live is over.")]
OutstandingOption = Annotated[
    bool, typer.Option("--outstanding", help="Only what is not yet acknowledged (with --queue: by that queue).")
]


class FilterOptions(OptionGroup):
    """Which messages are wanted, by what is written in them: all of the options together."""

    message_id: IdOption = None
    user_id: UserIdOption = None
    correlation_id: CorrelationIdOption = None
    address: AddressOption = None
    since: SinceOption = None
    until: UntilOption = None
    contains: ContainsOption = None
    expired: ExpiredOption = False
    where: WhereOption = None
    page: PageOption = None

    @property
    def needs_journal(self) -> bool:
        """Return whether the filter cannot be applied without the journal."""
        return False

    def selector(self) -> Selector | None:
        """Return the parsed ``--where``, None without one. Raise ``SelectorError``."""
        if self.where is None:
            return None
        from pagefmt.selector import parse

        return parse(self.where)

    def filter(
        self, place: DataLocation, state: PagingState, where: Selector | None, large: LargeMessages | None
    ) -> MessageFilter:
        """Return all of them together; standard error tells which times were understood.

        ``large``: bodies of large messages, None if there are none.
        """
        return self._filter(place, None, where, large)

    def _filter(
        self, place: DataLocation, state: PagingState | None, where: Selector | None, large: LargeMessages | None
    ) -> MessageFilter:
        """Return the filter. ``state``: messages may lie in the journal as well, so its addresses exist, too."""
        from pagefmt.outstanding.message_filter import MessageFilter

        wanted = None if self.address is None else _addresses(_texts("--address", self.address), place, state)
        return MessageFilter(None, self.joined(where, large), False, page_range(self.page), wanted)

    def joined(self, where: Selector | None, large: LargeMessages | None) -> Selector | None:
        """Return a selector for all options together but those about addresses and pages, None for any message."""
        facts = (self.message_id, self.since, self.until, self.user_id, self.correlation_id, self.contains)
        if not self.expired and all(fact is None for fact in facts):
            return where
        from pagefmt.selector.facts import joined

        return joined(self._facts(large), where)

    def _facts(self, large: LargeMessages | None) -> Iterator[MessageFact]:
        from pagefmt.codec.messages.message_ids import accepted_texts
        from pagefmt.selector.facts import BodyContains, CorrelationIdIs, ExpiredBy, IdIs, SentBetween, UserIdIs

        now = datetime.now(UTC)
        if self.message_id is not None:
            yield IdIs(frozenset(map(_message_id, self.message_id)))
        if self.since is not None or self.until is not None:
            since, until = _instant("--since", self.since, now), _instant("--until", self.until, now)
            _note_times(since, until)
            yield SentBetween(
                None if since is None else milliseconds(since), None if until is None else milliseconds(until)
            )
        if self.expired:
            yield ExpiredBy(milliseconds(now))
        for option, values, fact in (
            ("--message-id", self.user_id, UserIdIs),
            ("--correlation-id", self.correlation_id, CorrelationIdIs),
        ):
            if values is not None:
                yield fact(frozenset().union(*map(accepted_texts, _texts(option, values))))
        if self.contains is not None:
            (text,) = _texts("--contains", [self.contains])
            yield BodyContains(text, large)


class QueueFilterOptions(FilterOptions):
    """The same, and for whom messages are, which the journal tells."""

    queue: QueueOption = None
    outstanding: OutstandingOption = False

    @property
    def says_what(self) -> bool:
        """Return whether any option restricts the messages."""
        return any(getattr(self, name) not in (None, False) for name in QueueFilterOptions.hints())

    @property
    def needs_journal(self) -> bool:
        """Return whether the filter cannot be applied without the journal."""
        return self.outstanding

    def filter(
        self, place: DataLocation, state: PagingState, where: Selector | None, large: LargeMessages | None
    ) -> MessageFilter:
        """Return all of them together; messages may lie in the journal as well."""
        from pagefmt.outstanding.message_filter import queue_ids

        queues = queue_ids(self.queue, state.bindings, place) if self.queue else None
        return replace(self._filter(place, state, where, large), queues=queues, outstanding=self.outstanding)


def tell_unsearched(choice: MessageFilter) -> None:
    """Warn of bodies that ``--contains`` could not look through."""
    if choice.selector is not None:
        from pagefmt.selector.facts import BodyContains

        for fact in choice.selector.facts():
            if isinstance(fact, BodyContains) and fact.unsearched:
                _warn_unsearched(fact)


def _warn_unsearched(fact: BodyContains) -> None:
    from pagefmt.findings import some

    bodies = "1 body" if len(fact.unsearched) == 1 else f"{len(fact.unsearched)} bodies"
    warning(
        f"{bodies} could not be searched (no file, damaged, or more than 16 MiB): message id "
        f"{some(sorted(fact.unsearched))}"
    )


def _texts(option: str, values: Iterable[str]) -> list[str]:
    """Return the texts of an option.

    Raise ``CallError`` for one that is empty or not UTF-8, which no message contains.
    """
    texts = list(values)
    for text in texts:
        if not text:
            raise CallError(f"{option}: is empty; give what to look for")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise CallError(f"{option} {text}: is not UTF-8") from None
    return texts


def _message_id(text: str) -> int:
    plain = text.strip()
    digits = plain.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20) or abs(int(plain)) >= 1 << 63:
        raise CallError(f"--id {text}: broker ids are whole numbers; for ids set by clients use --message-id")
    return int(plain)


def _instant(option: str, text: str | None, now: datetime) -> datetime | None:
    try:
        return None if text is None else parse_instant(text, now)
    except ValueError as err:
        raise CallError(f"{option} {err}") from err


def _note_times(since: datetime | None, until: datetime | None) -> None:
    parts = [f"{word} {in_both_zones(time)}" for word, time in (("from", since), ("before", until)) if time is not None]
    note(f"sent {' and '.join(parts)}; messages whose sender set no time are left out")
    if since is not None and until is not None and since >= until:
        note("there is no time between the two")


def _addresses(wanted: list[str], place: DataLocation, state: PagingState | None) -> frozenset[str]:
    """Return addresses as a set.

    Raise ``CallError`` for one without a store, if the address of every store is known. With ``state``, an address that
    has a queue is accepted, too.
    """
    from pagefmt.directory.locate import stores
    from pagefmt.findings import did_you_mean

    existing = {store.address for store in stores(place)}
    if state is not None:
        existing |= state.addresses if state.known.unknown_bindings is None else {None}
        existing |= {row.name for row in state.bindings.addresses.values()} if state.bindings is not None else set()
    missing, lists = ("it has no pages", f"{place.call('pages ls')} lists the addresses with pages")
    if state is not None:
        missing, lists = ("it has no queue", f"{place.call('messages ls')} lists the addresses with queues")
    for name in wanted:
        if name not in existing and None not in existing:
            raise CallError(
                f"--address {name}: {missing}; {did_you_mean(name, filter(None, existing), lists, shown='{}')}"
            )
    return frozenset(wanted)
