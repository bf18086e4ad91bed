"""What a directory says of a broker that starts on it, beside what the engine holds once it has started."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from replay_scenarios import engine_after, scenarios
from test_data_directory import ARCHIVE, CUTS, large_by_amqp

from pageengine.data_directory.after_start import memory_after_start, pages_of_store
from pageengine.data_directory.writing import write_data_directory
from pageengine.paging.next_send import PagesAtStart, next_sends
from pageengine.running.engine import Engine
from pageengine.trace.operations import Crash
from pagefmt.directory.locate import locate
from pagefmt.editions import Edition
from pagefmt.outstanding.backlog import backlog_of
from pagefmt.outstanding.journal_parts import JournalParts
from pagefmt.outstanding.schedules import BrokerStart
from pagefmt.vectors import load_place

SETTLED = {"tx-commit-rollback", "xa-prepare-restart"}
"""Scenarios whose transactions end with the restart before the engine counts again."""


def compare(engine: Engine, data: Path) -> None:
    write_data_directory(engine, data)
    state = load_place(locate(data))
    assert state.bindings is not None
    profile = engine.profile
    parts = JournalParts(state, None, BrokerStart(int(time.time() * 1000), profile.edition))
    memory = memory_after_start(parts, state.bindings.queues, profile)
    pages = dict.fromkeys(state.addresses, PagesAtStart())
    for known in state.stores():
        found = backlog_of(known, {})
        most = max((queue.messages or 0 for queue in found.queues), default=0)
        assert known.store.address is not None
        pages[known.store.address] = pages_of_store(len(found.waiting), found.waiting, found.size, most)
    sends = next_sends(engine.settings, profile, pages, memory, disk_full=False)
    engine.apply(Crash(i=0, t=engine.broker.now))
    stores = engine.broker.stores
    assert {name: tuple(load) for name, load in memory.items() if load.size} == {
        name: (store.metric.size - store.own_bytes, store.metric.count - bool(store.own_bytes))
        for name, store in stores.items()
        if store.metric.size - store.own_bytes
    }
    for name, at in pages.items():
        if name in stores:
            store = stores[name]
            assert sends[name].page_full == store.page_limits.reached
            full = store.gates.full and not at.waits  # then page mode began and ended again
            assert (0 if full else at.files, at.waits) == (store.number_of_pages, store.paging), name


@pytest.mark.parametrize("name", sorted(set(CUTS) - SETTLED))
def test_memory_and_pages(name: str, tmp_path: Path) -> None:
    compare(engine_after(scenarios(ARCHIVE)[name], CUTS[name]), tmp_path / "data")


@pytest.mark.parametrize("edition", [Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_56])
def test_memory_of_amqp_messages(edition: Edition, tmp_path: Path) -> None:
    compare(large_by_amqp(edition, paged=False), tmp_path / "data")
