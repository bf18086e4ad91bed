"""Data directories that the engine writes: read back by the page and journal readers, loaded by real brokers."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from replay_scenarios import engine_after, scenarios

from pageengine.data_directory.encoding import body_of
from pageengine.data_directory.writing import CannotWrite, write_data_directory
from pageengine.running.engine import Engine
from pageengine.settings.profiles import profile_of
from pageengine.settings.settings import AddressSettings, EngineSettings, OneForAll
from pageengine.trace.operations import (
    Ack,
    AckMode,
    ClientOptions,
    ClientProtocol,
    Crash,
    CreateQueue,
    MessageProperties,
    MessageProperty,
    OpenConsumer,
    OpenSession,
    Receive,
    Send,
    TraceHeader,
)
from pagefmt.codec.messages.amqp_message import AmqpLargeMessage
from pagefmt.codec.messages.persisters import AMQP_LARGE
from pagefmt.codec.messages.values import ValueKind
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.pages.record import PageRecord
from pagefmt.directory.bindings import load_bindings
from pagefmt.directory.paging import page_name, read_paging
from pagefmt.editions import Edition
from pagefmt.journal.message_journal import load_messages
from pagefmt.storage.writing import TargetRefused

ARCHIVE = Path(__file__).parents[1] / "recorded" / "replays" / "broker-2.56.0.tar.xz"
ORACLE = Path(os.environ.get("PAGECTL_ORACLE", Path(__file__).resolve().parents[3] / "shared" / "oracle"))
CUTS = {
    "page-basic": 30, "acks-out-of-order": 52, "large-messages": 28, "tx-commit-rollback": 41, "multicast-slow": 70,
    "random-001-08": 700, "xa-prepare-restart": 36, "queue-filters": 54, "size-model-paged": 28,
    "non-durable": 31, "restart-mid": 30, "random-001-12": 300,
}  # fmt: skip


def delivered_after_crash(engine: Engine) -> dict[str, list[tuple[int, str | None]]]:
    """Crash the engine, then consume every queue; return (message id, SHA-256 of the body) by queue.

    Expired messages are not delivered and therefore missing.
    """
    engine.apply(Crash(i=0, t=engine.broker.now))
    found = {}
    for name in list(engine.broker.queues):
        engine.apply(OpenConsumer("last", name, "s", i=1, t=engine.broker.now))
        consumer = engine.consumers["last"]
        refs = []
        while True:
            result = engine.apply(Receive("last", 1, i=2, t=engine.broker.now))
            if not result.got:
                break
            ref = next(reversed(consumer.opened.values()))
            refs.append((ref.message.id, hashlib.sha256(b"".join(body_of(ref.message.source))).hexdigest()))
            engine.apply(Ack("last", AckMode.ALL, i=3, t=engine.broker.now))
        found[name] = refs
        engine.consumers.pop("last")
        engine.close_consumer(consumer)
    return found


@pytest.mark.parametrize("name", sorted(CUTS))
def test_read_back(name: str, tmp_path: Path) -> None:
    engine = engine_after(scenarios(ARCHIVE)[name], CUTS[name])
    data = tmp_path / "data"
    write_data_directory(engine, data)
    stores = {store.address: store for store in read_paging(data / "paging").stores()}
    with_pages = {name: store for name, store in engine.broker.stores.items() if store.pages}
    assert set(stores) == set(with_pages)
    for address, store in with_pages.items():
        found = stores[address]
        assert [page.number for page in found.pages] == store.files
        for page in found.pages:
            ours = store.pages[page.number]
            path = found.folder / page_name(page.number)
            assert path.stat().st_size == ours.bytes
            with open_page(path) as opened:
                records = [record for _, record in opened.records() if isinstance(record, PageRecord)]
            assert [(r.message.id, r.length, r.tx, r.queues) for r in records] == [
                (r.message.id, r.size, r.tx, r.queues) for r in ours.records
            ]
    bindings = load_bindings(data / "bindings")
    assert {q.name for q in bindings.queues.values()} == {q.name for q in engine.broker.queues.values() if q.durable}
    assert not bindings.bad
    journal = load_messages(data / "journal")
    assert not journal.bad


def test_an_existing_directory_is_not_touched(tmp_path: Path) -> None:
    engine = engine_after(scenarios(ARCHIVE)["page-basic"], 20)
    (tmp_path / "mine").write_text("x")
    with pytest.raises(TargetRefused, match="not an empty"):
        write_data_directory(engine, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_old_layouts_are_refused(tmp_path: Path) -> None:
    scenario = scenarios(ARCHIVE)["page-basic"]
    settings = engine_after(scenario, 1).settings
    engine = Engine(settings, profile_of(Edition.ARTEMIS_1_5), TraceHeader("old"))
    with pytest.raises(CannotWrite, match=r"artemis-1\.5"):
        write_data_directory(engine, tmp_path / "data")


def large_by_amqp(edition: Edition, *, paged: bool) -> Engine:
    """Return an engine that received AMQP messages, two of three of them large.

    Links have an address or none, and durability and properties vary.
    """
    settings = AddressSettings(max_size_bytes=0 if paged else -1, page_size_bytes=2048)
    engine = Engine(EngineSettings(OneForAll(settings)), profile_of(edition), TraceHeader("big"), check=True)
    engine.apply(CreateQueue("a"))
    engine.apply(OpenSession("to", protocol=ClientProtocol.AMQP))
    engine.apply(OpenSession("by", protocol=ClientProtocol.AMQP, client=ClientOptions(anonymous=True)))
    for n in range(12):
        named = (MessageProperty("color", ValueKind.STRING, "red"),) if n % 5 else ()
        size = 200 if n % 3 == 2 else 150_000
        send = Send("a", n, ("to", "by")[n % 2], size=size, durable=n % 4 != 3, props=MessageProperties(named), i=n + 3)
        engine.apply(send)
    return engine


@pytest.mark.parametrize("edition", [Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_56])
def test_large_messages_of_amqp_clients(edition: Edition, tmp_path: Path) -> None:
    # A record is a byte longer for each section that is absent (measured on 2.56).
    write_data_directory(large_by_amqp(edition, paged=True), tmp_path / "paged")
    (store,) = read_paging(tmp_path / "paged" / "paging").stores()
    with open_page(store.folder / page_name(1)) as opened:
        found = [record.message for _, record in opened.records() if isinstance(record, PageRecord)]
    large = [message for message in found if isinstance(message, AmqpLargeMessage)]
    assert len(large) > 5
    for message in large:
        (file,) = (tmp_path / "paged" / "large-messages").glob(f"{message.id}.*")
        content = file.read_bytes()
        where = message.saved
        assert content[where.body_position :].startswith(b"\0Su\xb0" + (150_000).to_bytes(4, "big"))
        assert (where.header_position == 0) == message.durable == content.startswith(b"\0Sp")
        if where.application_position >= 0:
            assert content[where.application_position :].startswith(b"\0St")
    write_data_directory(large_by_amqp(edition, paged=False), tmp_path / "kept")
    encoded = [bytes(body) for _, body in load_messages(tmp_path / "kept" / "journal").messages()]
    assert [one[0] for one in encoded].count(AMQP_LARGE) == 6 and len(encoded) == 9


@pytest.mark.broker
@pytest.mark.parametrize("paged", [True, False])
@pytest.mark.parametrize("edition", [Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_56])
def test_a_real_broker_drains_large_messages_of_amqp_clients(edition: Edition, paged: bool, tmp_path: Path) -> None:
    if not (ORACLE / "oracle").exists():
        pytest.skip(f"no broker oracle at {ORACLE} (PAGECTL_ORACLE names another place)")
    case = tmp_path / "case"
    write_data_directory(large_by_amqp(edition, paged=paged), case / "data")
    (case / "broker.xml").write_bytes(scenarios(ARCHIVE)["page-basic"].config)
    drained = drained_by(edition, case)
    (queue,) = (one for one in drained["queues"] if one["name"] == "a")
    assert len(queue["delivered"]) == (12 if paged else 9)
    for one in queue["delivered"]:
        if one["large"] and one["durable"]:
            content = (case / "data" / "large-messages" / f"{one['id']}.msg").read_bytes()
            assert (one["size"], one["body_sha256"]) == (len(content), hashlib.sha256(content).hexdigest())


def drained_by(edition: Edition, case: Path) -> dict[str, Any]:
    """Let a real broker drain a copy of the folder and return its report."""
    out = case / "drain.json"
    copied = shutil.copytree(case, case.parent / "copied")
    subprocess.run(
        [sys.executable, str(ORACLE / "oracle"), "drain", str(copied), "--version", edition.release, "--out", str(out)],
        check=True,
        capture_output=True,
        timeout=300,
    )
    found: dict[str, Any] = json.loads(out.read_text())
    return found


@pytest.mark.broker
@pytest.mark.parametrize("edition", [Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_44, Edition.ARTEMIS_2_56])
@pytest.mark.parametrize("name", sorted(CUTS))
def test_a_real_broker_drains_it_to_the_same_messages(name: str, edition: Edition, tmp_path: Path) -> None:
    if not (ORACLE / "oracle").exists():
        pytest.skip(f"no broker oracle at {ORACLE} (PAGECTL_ORACLE names another place)")
    scenario = scenarios(ARCHIVE)[name]
    engine = engine_after(scenario, CUTS[name], edition)
    case = tmp_path / "case"
    write_data_directory(engine, case / "data")
    (case / "broker.xml").write_bytes(scenario.config)
    drained = drained_by(edition, case)
    expected = delivered_after_crash(engine)
    theirs = {queue["name"]: queue["delivered"] for queue in drained["queues"]}
    for queue, messages in expected.items():
        ours = [id for id, _ in messages]
        assert sorted(one["id"] for one in theirs[queue]) == sorted(ours)
        bodies = dict(messages)
        for one in theirs[queue]:
            assert one["large"] or one["body_sha256"] == bodies[one["id"]]
    print(f"{name} {edition.release}: {sum(map(len, expected.values()))} messages in {len(expected)} queues")
