"""Sends decided, recorded, written and encoded together come out as each one by itself does."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from brokerconf.reading.reading import read_bytes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from replay_scenarios import HEAP, scenarios

from pageengine.data_directory.encoding import encoded_record
from pageengine.data_directory.page_encoding import encoded_page
from pageengine.data_directory.writing import write_data_directory
from pageengine.replay.outcome_writing import OutcomeWriter
from pageengine.replay.recording import Recording
from pageengine.replay.replaying import outcome_of, steps
from pageengine.running.engine import Engine
from pageengine.running.paged_sends import PagedSends
from pageengine.settings.from_document import engine_settings
from pageengine.settings.profiles import profile_of
from pageengine.settings.settings import AddressSettings, EngineSettings, OneForAll
from pageengine.trace import operations as ops
from pageengine.trace.reading import open_trace
from pageengine.trace.writing import write_trace
from pagefmt.editions import NEWEST, Edition

RECORDED = Path(__file__).parents[1] / "recorded" / "replays" / "broker-2.56.0.tar.xz"
loose = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)

KEY = ops.Property("k", ops.PropertyType.INT, 2)
bursts = st.tuples(
    st.just("send"), st.sampled_from(["q", "q", "m"]), st.integers(1, 60), st.sampled_from([0, 300, 301, None]),
    st.sampled_from([(), (KEY,)]), st.booleans(), st.sampled_from([4, 4, 9]),
    st.sampled_from([ops.MessageType.BYTES, ops.MessageType.TEXT]),
)  # fmt: skip
others = st.one_of(
    st.tuples(st.just("receive"), st.sampled_from(["q", "m1"]), st.integers(1, 40), st.sampled_from(ops.ReceiveAck)),
    st.tuples(st.sampled_from(["restart", "crash", "pause", "resume", "purge", "browse", "checkpoint"])),
)
chosen = st.builds(
    AddressSettings,
    max_size_bytes=st.sampled_from([0, 0, 4000]),
    page_size_bytes=st.sampled_from([2000, 9000, 40000]),
    max_read_page_bytes=st.sampled_from([1500, 1500, None]),
    page_limit_bytes=st.sampled_from([None, None, 60000]),
    no_expiry=st.booleans(),
)


def trace(drawn: list[tuple[Any, ...]], filtered: bool) -> Iterator[ops.Operation]:
    queues = (("q", "q", None), ("m1", "m", None), ("m2", "m", "k = 2" if filtered else None))
    i = seq = 0
    for name, address, filter in queues:
        kind = ops.RoutingType.ANYCAST if name == "q" else ops.RoutingType.MULTICAST
        yield ops.CreateQueue(i, i, name, address, kind, filter, durable=name != "m1")
        i += 1
    opened: set[str] = set()
    for what, *values in drawn:
        made: list[tuple[Any, ...]] = []
        if what == "send":
            address, count, size, props, durable, priority, type = values
            for _ in range(count):
                seq += 1
                found = size if size is not None else seq * 7919 % 900
                yield ops.Send(i, i * 10, address, seq, "p", type, found, None, None, durable, priority, 0, props)
                i += 1
        elif what == "receive":
            name, most, ack = values
            if name not in opened:
                opened.add(name)
                made = [(ops.OpenConsumer, name, name, f"s-{name}", None, 2000 * (most % 3))]
            made += [(ops.Receive, name, most, ack), (ops.Ack, name, ops.AckMode.ALL)]
        elif what in ("restart", "crash"):
            opened.clear()
            made = [(ops.Restart if what == "restart" else ops.Crash,)]
        else:
            kinds = {"pause": ops.PauseQueue, "resume": ops.ResumeQueue, "purge": ops.Purge, "browse": ops.Browse}
            made = [(kinds[what], "q")] if what in kinds else [(ops.Checkpoint,)]
        for cls, *arguments in made:
            yield cls(i, i * 10, *arguments)
            i += 1


def files(engine: Engine, folder: Path) -> dict[str, bytes]:
    if engine.profile.old_layout:
        return {}
    write_data_directory(engine, folder)
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for store in engine.broker.stores.values():
        for page in store.pages.values():
            apart = b"".join(encoded_record(engine, record) for record in page.records)
            assert encoded_page(engine, page).tobytes() == apart
    return found


def run(path: Path, source: EngineSettings, edition: Edition, folder: Path, *, together: bool) -> tuple[Any, ...]:
    """Outcome, recording and files of a replay; how many sends were decided together."""
    reader = open_trace(path)
    engine = Engine(source, profile_of(edition), reader.header)
    recording, out = Recording("t"), io.StringIO()
    writer = OutcomeWriter(out)
    recording.begin(engine.start().as_json())
    count = 0
    if together:
        for done in steps(engine, reader):
            if isinstance(done, PagedSends):
                count += len(done)
                writer.sends(done)
                recording.see_sends(done)
            else:
                writer.line(done[1])
                recording.see(*done)
    else:
        for item in reader:
            line = outcome_of(engine, item)
            writer.line(line)
            recording.see(item, line)
    end = engine.finish().as_json()
    writer.line(end)
    recording.finish(end)
    return out.getvalue(), asdict(recording), files(engine, folder), count


def same(path: Path, source: EngineSettings, edition: Edition, folder: Path) -> int:
    apart = run(path, source, edition, folder / "apart", together=False)
    together = run(path, source, edition, folder / "together", together=True)
    assert together[0].splitlines() == apart[0].splitlines()
    assert together[1] == apart[1]
    assert together[2] == apart[2]
    return int(together[3])


@loose
@given(
    st.lists(st.one_of(bursts, bursts, others), min_size=1, max_size=8),
    chosen,
    st.sampled_from([NEWEST, NEWEST, Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_17, Edition.ARTEMIS_1_5]),
    st.sampled_from([-1, 1, 1000]),
    st.sampled_from(["_seq", ""]),
    st.booleans(),
)
def test_random_traces(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[Any, ...]], address: AddressSettings,
    edition: Edition, window: int, name: str, filtered: bool,
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("t")
    header = ops.TraceHeader("t", producer_window=window, seq_property=name, min_large_message_size=800)
    write_trace(folder / "t.jsonl", header, trace(drawn, filtered))
    same(folder / "t.jsonl", EngineSettings(OneForAll(address)), edition, folder)


def test_most_sends_of_a_burst_are_decided_together(tmp_path: Path) -> None:
    drawn = [("send", "q", 500, None, (KEY,), True, 4, ops.MessageType.BYTES)] * 4
    write_trace(tmp_path / "t.jsonl", ops.TraceHeader("t"), trace(drawn, False))
    address = AddressSettings(max_size_bytes=0, page_size_bytes=100_000, max_read_page_bytes=1500)
    assert same(tmp_path / "t.jsonl", EngineSettings(OneForAll(address)), NEWEST, tmp_path) > 1800


@pytest.mark.parametrize("name", sorted(scenarios(RECORDED)))
def test_recorded_traces(tmp_path: Path, name: str) -> None:
    scenario = scenarios(RECORDED)[name]
    (tmp_path / "t.jsonl").write_bytes(scenario.trace)
    document = read_bytes(scenario.config, "broker.xml", folder=Path(), edition=NEWEST, properties={}, environment={})
    same(tmp_path / "t.jsonl", engine_settings(document, heap=HEAP), NEWEST, tmp_path)
