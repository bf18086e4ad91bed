"""Delivery times and delays of every type in messages that a broker journaled and paged.

The drain shows which messages were delivered, and a conversion to the other protocol must keep the time.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from golden_cases import GoldenCase

from pagefmt.codec.messages.core_message import CoreMessage
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.messages.values import TypedValue, ValueKind, java_long
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import open_page
from pagefmt.exchange.amqp_form import amqp_form
from pagefmt.exchange.core_form import core_form
from pagefmt.outstanding.message_location import AT_SOME_TIME, scheduled_time

CASE = GoldenCase("2.56.0", "schedule-kinds")
MOST, LEAST = (1 << 63) - 1, -(1 << 63)


def paged() -> Iterator[Message]:
    for path in sorted(CASE.data().glob("paging/*/*.page")):
        with open_page(path) as page:
            for _, record in page.records():
                assert not isinstance(record, Damage)
                yield record.message


def test_what_has_a_time_was_not_delivered() -> None:
    (queue,) = (each for each in CASE.drain()["queues"] if each["name"] == "sk.paged")
    delivered = {each["id"] for each in queue["delivered"]}
    times = {message.id: scheduled_time(message) for message in paged()}
    assert len(times) > 80
    assert {number for number, time in times.items() if time == 0} == delivered & times.keys()
    assert all(time == AT_SOME_TIME or 0 < time <= MOST for time in times.values() if time)


def test_another_form_of_a_message_has_its_time() -> None:
    compared = 0
    for message in paged():
        time, form = scheduled_time(message), core_form(message)  # type: ignore[arg-type]
        if isinstance(message, CoreMessage):
            annotated = b"x-opt-delivery-time" in amqp_form(form, "a", 0).content
            assert annotated == (time > 0), message.id
            compared += 1
        elif "x-opt-delivery-delay" not in {name.removeprefix("JMS_AMQP_MA_") for name in form.properties}:
            said = form.properties.get("_AMQ_SCHED_DELIVERY")
            assert max(0, int(said.value) if said else 0) == time and (said is None or said.value <= MOST), message.id
            compared += 1
    assert compared > 30


@pytest.mark.parametrize(
    ("kind", "value", "narrowed"),
    [
        (ValueKind.ULONG, (1 << 64) - 1, -1),
        (ValueKind.ULONG, 1 << 63, LEAST),
        (ValueKind.LONG, LEAST, LEAST),
        (ValueKind.UINT, (1 << 32) - 1, (1 << 32) - 1),
        (ValueKind.BYTE, -7, -7),
        (ValueKind.DOUBLE, -1.9, -1),
        (ValueKind.DOUBLE, float("inf"), MOST),
        (ValueKind.FLOAT, float("-inf"), LEAST),
        (ValueKind.DOUBLE, float("nan"), 0),
        (ValueKind.DECIMAL64, bytes(8), 0),
        (ValueKind.BOOLEAN, True, None),
        (ValueKind.CHAR, 120, None),
        (ValueKind.TIMESTAMP, 5, None),
        (ValueKind.STRING, "5", None),
        (ValueKind.NULL, None, None),
    ],
)
def test_numbers_as_java_narrows_them(kind: ValueKind, value: object, narrowed: int | None) -> None:
    assert java_long(TypedValue(kind, value)) == narrowed
