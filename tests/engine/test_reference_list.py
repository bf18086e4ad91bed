"""A queue's list of what waits, and the iterators on it: what comes next when others take from it meanwhile."""

from __future__ import annotations

import pytest

from pageengine.broker.copies import from_send
from pageengine.model.reference import Reference
from pageengine.model.reference_list import ReferenceIterator, ReferenceList
from pageengine.running.engine import Engine
from pageengine.settings.profiles import profile_of
from pageengine.settings.settings import AddressSettings, EngineSettings, OneForAll
from pageengine.trace.operations import CreateAddress, CreateQueue, RoutingType, Send, TraceHeader
from pagefmt.editions import NEWEST

HEADER = TraceHeader("list")
ENGINE = Engine(EngineSettings(OneForAll(AddressSettings())), profile_of(NEWEST), HEADER)
ENGINE.apply(CreateAddress("q", RoutingType.ANYCAST, t=0))
ENGINE.apply(CreateQueue("q", i=1, t=0))


def add(references: ReferenceList, *numbers: int, priority: int = 4) -> list[Reference]:
    added = []
    for number in numbers:
        message = from_send(ENGINE.broker, HEADER, Send("q", number, priority=priority, i=number, t=0))
        ref = Reference(message, ENGINE.broker.queues["q"], None)
        ref.sequence = number
        references.add_tail(ref)
        added.append(ref)
    return added


def seq_of(ref: Reference | None) -> int | None:
    return ref.message.seq if ref is not None else None


def given(iterator: ReferenceIterator) -> list[int | None]:
    found = []
    while (ref := iterator.peek()) is not None:
        found.append(ref.message.seq)
    return found


def test_highest_priority_first_then_in_order_of_coming() -> None:
    references = ReferenceList()
    add(references, 1, 2)
    add(references, 3, priority=9)
    add(references, 4, priority=0)
    assert given(references.iterator()) == [3, 1, 2, 4]


def test_what_comes_behind_an_iterator_is_given_too() -> None:
    references = ReferenceList()
    add(references, 1)
    iterator = references.iterator()
    assert given(iterator) == [1]
    add(references, 2)
    add(references, 3, priority=9)
    assert given(iterator) == [3, 2]


def test_an_iterator_goes_on_where_another_took_what_it_stood_on() -> None:
    references = ReferenceList()
    add(references, 1, 2, 3)
    first, second = references.iterator(), references.iterator()
    assert seq_of(first.peek()) == 1
    assert seq_of(second.peek()) == 1
    second.remove()
    assert given(first) == [2, 3]


def test_repeat_gives_the_same_once_more() -> None:
    references = ReferenceList()
    add(references, 1, 2)
    iterator = references.iterator()
    assert seq_of(iterator.peek()) == 1
    iterator.repeat()
    assert given(iterator) == [1, 2]


@pytest.mark.parametrize(("keeps_highest", "expected"), [(True, [5, 1, 9]), (False, [9])])
def test_2_28_passes_over_what_waits_once(*, keeps_highest: bool, expected: list[int]) -> None:
    # After the last message of a priority 2.28 takes the lowest priority for the highest: the next round begins there,
    # and ends.
    references = ReferenceList(keeps_highest=keeps_highest)
    add(references, 1, priority=2)
    add(references, 5, priority=4)
    add(references, 7, priority=7)
    consumer = references.iterator()
    assert seq_of(consumer.peek()) == 7
    consumer.remove()
    add(references, 9, priority=0)
    assert given(consumer) == expected
    assert given(references.iterator()) == [5, 1, 9]


def test_2_56_passes_over_a_higher_priority_after_a_purge_below_it() -> None:
    # Recorded in random-001-08: removing the last message of a lower priority sets the highest priority to it.
    references = ReferenceList()
    add(references, 5, priority=9)
    add(references, 1)
    purge = references.iterator()
    while (ref := purge.peek()) is not None:
        if ref.message.priority == 4:
            purge.remove()
    consumer = references.iterator()
    add(references, 2)
    assert given(consumer) == [2]
    assert given(consumer) == [5]


def test_sorted_back_to_its_place() -> None:
    references = ReferenceList()
    one, two, three = add(references, 1, 2, 3)
    references.remove(two)
    references.remove(one)
    references.add_sorted(two)
    references.add_sorted(one)
    assert [ref.sequence for ref in references] == [1, 2, 3]
    assert references.poll() is one
    assert references.size == 2
    assert three.linked
