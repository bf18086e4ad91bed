"""Times of delivery found in a chunk, and queue entries of many records, equal those of one record at a time."""

from __future__ import annotations

import golden_cases
import numpy as np
import pytest
from both_decoders import stores_of
from golden_cases import GoldenCase
from hypothesis import given
from hypothesis import strategies as st

from pagefmt.arrays import ranked
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import open_page
from pagefmt.outstanding.message_location import PageOrigin, scheduled_time
from pagefmt.table.location_columns import note_schedules
from pagefmt.vectors.record_choice import opened_chunks

LONG = st.integers(-(1 << 62), 1 << 62)


def times_of(case: GoldenCase) -> list[int]:
    found = []
    for store in stores_of(case):
        for page in store.store.pages:
            origin = PageOrigin({}, None, None, 0, page.name)
            for content, frames, opened in opened_chunks(page):
                note_schedules(origin, content, opened, frames)
            with open_page(page) as opened:
                records = [(number, each) for number, each in opened.records() if not isinstance(each, Damage)]
            times = {number: scheduled_time(record.message) for number, record in records}
            assert origin.scheduled == {number: time for number, time in times.items() if time}
            found += origin.scheduled.values()
    return found


@pytest.mark.parametrize("case", golden_cases.cases_of_each_kind(), ids=str)
def test_times_of_delivery(case: GoldenCase) -> None:
    times_of(case)


def test_some_messages_have_a_time() -> None:
    assert len(times_of(GoldenCase("2.56.0", "schedule-kinds"))) > 20


@given(st.lists(st.one_of(LONG, st.integers(-9, 9))))
def test_ranked_values(values: list[int]) -> None:
    rising, place = ranked(np.array(values, np.int64))
    assert rising.tolist() == sorted(set(values))
    assert rising[place].tolist() == values


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3), LONG)), st.lists(st.integers(1, 4)))
def test_entries_are_those_of_each_record(scheduled: list[tuple[int, int, int]], queues: list[int]) -> None:
    times = {number: time for number, _, time in scheduled}
    origin = PageOrigin({}, None, None, 1 << 40, "page", scheduled=times)
    numbers = np.arange(6)
    named = [queues[number:] for number in numbers.tolist()]
    offsets = np.cumsum([0, *map(len, named)])
    tx, flat = np.full(6, -1), np.array([queue for each in named for queue in each], np.int64)
    every = origin.entries(None, numbers, tx, offsets, flat)
    told = [every.distinct[n] for n in every.which.tolist()]
    for number in numbers.tolist():
        mine = origin.entries(
            None, numbers[:1] + number, tx[:1], np.array([0, len(named[number])]), np.array(named[number], np.int64)
        )
        assert told[every.offsets[number] : every.offsets[number + 1]] == [
            mine.distinct[n] for n in mine.which.tolist()
        ]
    assert set(every.which.tolist()) == set(range(len(every.distinct)))
