"""Facts of messages (ids, times, texts) on columns and on the reference decoder's messages: the same are chosen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from both_decoders import ALL, assert_same_lines, pages_of
from golden_cases import GoldenCase, cases, cases_of_each_kind, spread

from pagefmt.codec.messages.body_text import whole_text
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.messages.message_ids import accepted_texts
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.pages.page import OddRecord, Page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.wire import Undecodable
from pagefmt.outstanding.message_filter import MessageFilter, SelectedMessage, select_messages
from pagefmt.outstanding.state import StoreState
from pagefmt.selector import parse
from pagefmt.selector.facts import (
    AddressIs,
    BodyContains,
    CorrelationIdIs,
    ExpiredBy,
    IdIs,
    SentBetween,
    UserIdIs,
    joined,
)
from pagefmt.selector.nodes import MessageFact
from pagefmt.storage.files import NotReadable
from pagefmt.vectors import record_choice

NOW = 1_795_253_000_000


def messages(page: PageFile, state: StoreState) -> list[Message]:
    found = (each for each in select_messages(page, state, ALL) if isinstance(each, SelectedMessage))
    return [each.record.message for each in found if not isinstance(each.record, OddRecord)]


def correlation(message: Message) -> object:
    scanned = getattr(message, "scanned", None)
    of_amqp = scanned().properties.get("correlation_id") if scanned else None
    return of_amqp or message.properties().get("JMSCorrelationID")


def text_of(message: Message, large: LargeMessages) -> str | None:
    try:
        return whole_text(message, large)
    except (NotReadable, Undecodable):
        return None


def facts(page: PageFile, state: StoreState, large: LargeMessages) -> Iterator[MessageFact]:
    """Yield facts that match some messages of the page, and for most kinds one that matches none."""
    known = messages(page, state)
    some = known[:: max(1, len(known) // 3)]
    yield IdIs(frozenset(message.id for message in some))
    yield IdIs(frozenset((-1,)))
    yield AddressIs(frozenset(message.address for message in some if message.address is not None))
    yield UserIdIs(frozenset().union(*(accepted_texts(one.user_id) for one in some if one.user_id)))
    answers = [getattr(typed, "value", None) for typed in map(correlation, known)]
    for answer in [each for each in answers if each is not None][:2]:
        yield CorrelationIdIs(accepted_texts(answer.hex() if isinstance(answer, bytes) else str(answer)))
    yield CorrelationIdIs(accepted_texts("none has it"))
    times = sorted(message.timestamp for message in known)
    if times:
        yield SentBetween(times[len(times) // 3], times[-1])
        yield SentBetween(None, times[len(times) // 2])
    yield ExpiredBy(NOW)
    texts = [text for text in (text_of(message, large) for message in known) if text]
    for text in texts[:2]:
        yield BodyContains(text[len(text) // 2 : len(text) // 2 + 6], large)
    yield BodyContains("\ufffd", large)


@pytest.mark.parametrize("case", spread(cases_of_each_kind(), 4), ids=str)
def test_columns_choose_as_the_reference_does(case: GoldenCase) -> None:
    large = LargeMessages(case.data() / "large-messages")
    where = parse("seq > 3 OR AMQPriority > 4")
    for number, (state, page) in enumerate(pages_of(case)):
        if number % 3 and number > 2:
            continue
        for fact in facts(page, state, large):
            for choice in (MessageFilter(selector=joined([fact], None)), MessageFilter(selector=joined([fact], where))):
                assert_same_lines(page, state, choice=choice, about=fact)


def forms(kind: str, text: str, raw: bytes | None) -> list[str]:
    """Return notations of an id: with and without JMS prefixes, in upper case, hexadecimal."""
    match kind:
        case "uuid":
            return [text, text.upper(), f"ID:{text}", f"ID:AMQP_UUID:{text}", text.replace("-", ""), f"{{{text}}}"]
        case "ulong":
            return [text, f"ID:AMQP_ULONG:{text}"]
        case "bytes":
            assert raw is not None
            return [text, raw.hex(), raw.hex().upper(), f"ID:AMQP_BINARY:{raw.hex().upper()}"]
        case _:
            bare = text.removeprefix("ID:")
            return [text, bare, f"ID:{bare}", f"ID:AMQP_STRING:{text}", f"ID:AMQP_NO_PREFIX:{text}"]


@pytest.mark.parametrize("case", [case for case in cases("2.56.0", "2.10.1") if "amqp" in case.name], ids=str)
def test_each_form_of_an_id_finds_its_message(case: GoldenCase) -> None:
    seen: set[tuple[str, str]] = set()
    for state, page in pages_of(case):
        for message in messages(page, state):
            fields = message.scanned().properties  # type: ignore[union-attr]
            for name, fact in (("message_id", UserIdIs), ("correlation_id", CorrelationIdIs)):
                typed = fields.get(name)
                if typed is None:
                    continue
                seen.add((name, typed.kind))
                raw = typed.value if isinstance(typed.value, bytes) else None
                text = {"message_id": message.user_id}.get(name) or _text(typed)
                for form in forms(str(typed.kind), text, raw if typed.kind == "bytes" else None):
                    assert fact(accepted_texts(form)).of(message), form
    assert seen if case.name != "amqp-sections" else len(seen) >= 6


def _text(typed: object) -> str:
    from pagefmt.codec.messages.amqp_text import identifier_text
    from pagefmt.codec.messages.values import TypedValue

    assert isinstance(typed, TypedValue)
    return identifier_text(typed) or ""


OPENWIRE = {"2.10.1": "ID:vm-45365-1795255920543-3:1:1:1:2", "2.56.0": "ID:vm-40141-1795253709151-5:1:1:1:3"}


@pytest.mark.parametrize("version", OPENWIRE)
def test_openwire_clients_ids_are_found_in_properties(version: str) -> None:
    # Before 2.17 the id is as the client marshalled it.
    fact = UserIdIs(accepted_texts(OPENWIRE[version]))
    found = [
        message
        for state, page in pages_of(GoldenCase(version, "openwire"))
        for message in messages(page, state)
        if fact.of(message)
    ]
    assert len(found) == 1
    shown = found[0].properties()["__HDR_MESSAGE_ID"].value
    pasted = UserIdIs(accepted_texts(shown.hex() if isinstance(shown, bytes) else shown))
    assert pasted.of(found[0])


def test_odd_texts_are_no_error(tmp_path: Path) -> None:
    for text in (
        "ID:",
        "ID:AMQP_UUID:",
        "AMQP_BINARY:0",
        "\\u",
        "\\UFFFFFFFF",
        "{",
        "0x",
        "urn:uuid:",
        "\0",
        "é\u202e",
    ):
        assert text in accepted_texts(text)
    choice = MessageFilter(selector=joined([BodyContains("x", LargeMessages(tmp_path))], None))
    for state, page in pages_of(GoldenCase("2.56.0", "large-core")):
        assert_same_lines(page, state, choice=choice)


def test_of_messages_with_other_ids_nothing_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    (state, page), *_ = pages_of(GoldenCase("2.56.0", "core-types"))
    (wanted, *_) = messages(page, state)
    choice = MessageFilter(selector=joined([IdIs(frozenset((wanted.id,)))], None))
    decoded: list[int] = []
    record, columns = Page.record, record_choice.decode_page

    def counted(self: Page, number: int, *words: Any) -> Any:
        decoded.append(1)
        return record(self, number, *words)

    def counted_columns(content: Any, page: int, level: Any, frames: Any) -> Any:
        decoded.append(len(frames.offset))
        return columns(content, page, level, frames)

    monkeypatch.setattr(Page, "record", counted)
    monkeypatch.setattr(record_choice, "decode_page", counted_columns)
    assert_same_lines(page, state, choice=choice)
    assert 0 < sum(decoded) <= 3
