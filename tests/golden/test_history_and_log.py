"""One run of a real broker, imported from its audit log and from its history: the two traces say the same."""

from __future__ import annotations

from collections import Counter
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import zstandard
from brokerconf.reading.reading import read
from golden_cases import unpacked

from pageengine.history_import.importing import import_history
from pageengine.log_import.importing import import_logs
from pageengine.replay.replaying import Configuration, steps
from pageengine.trace import operations as ops
from pageengine.trace.reading import open_trace
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.directory.locate import locate
from pagefmt.editions import Edition
from pagefmt.history.bodies import HistoryBodies
from pagefmt.history.history import load_history

RECORDED = Path(__file__).resolve().parents[1] / "recorded" / "history_and_log"
CASES = sorted(folder.name for folder in RECORDED.iterdir() if folder.is_dir())
SHOWN = ("r", "page", "nr", "enc", "mem")
# Acknowledgements of prepared branches are in no audit log.
ONLY_IN_HISTORY = {"2.56.0-tx": {"t.q": 3}}


class Run(NamedTuple):
    """What a trace does in a replay: results of sends by message, and acknowledged messages by queue, in order."""

    sends: dict[object, tuple[Any, ...]]
    acknowledged: dict[str, list[object]]


def run_of(trace: Path, case: Path) -> Run:
    edition = Edition("artemis-" + case.name.rpartition(".0-")[0])
    reader = open_trace(trace)
    engine = Configuration(case / "broker.xml", edition, reader=read).engine(reader)
    sends: dict[object, tuple[Any, ...]] = {}
    acknowledged: dict[str, list[object]] = {}
    numbers: dict[int, object] = {}
    queues: dict[str, str] = {}
    for operation, outcome in steps(engine, reader):
        result = outcome.as_json()
        if isinstance(operation, ops.Send):
            number = next(item.value for item in operation.props if item.name == "seq")
            numbers[operation.seq] = number
            sends[number] = (operation.address, operation.durable, operation.priority, *map(result.get, SHOWN))
        elif isinstance(operation, ops.OpenConsumer):
            queues[operation.consumer] = operation.queue
        elif isinstance(operation, ops.Receive) and operation.ack is ops.ReceiveAck.EACH:
            acknowledged.setdefault(queues[operation.consumer], []).extend(numbers[seq] for seq in result["got"])
        elif isinstance(operation, ops.Ack):
            acknowledged.setdefault(queues[operation.consumer], []).extend(numbers[seq] for seq in operation.seqs)
    return Run(sends, acknowledged)


@pytest.mark.parametrize("name", CASES)
def test_log_and_history_are_the_same_traffic(name: str, tmp_path: Path) -> None:
    case = RECORDED / name
    log = tmp_path / "audit.log"
    with (case / "audit.log.zst").open("rb") as packed:
        log.write_bytes(zstandard.ZstdDecompressor().stream_reader(packed).read())
    import_logs([log], tmp_path / "log.jsonl")
    root = unpacked(case / "case.tar.zst")
    place, large = locate(root / "data"), LargeMessages(root / "data" / "large-messages")
    history = load_history(place, root / "history", UTC)
    bodies = HistoryBodies(large.path, history.messages, large)
    import_history(history, place, bodies, tmp_path / "history.jsonl", name=name, source="history")
    by_log, by_history = run_of(tmp_path / "log.jsonl", case), run_of(tmp_path / "history.jsonl", case)

    durable = {number: facts for number, facts in by_log.sends.items() if facts[1]}
    assert by_history.sends == durable if not name.endswith("-core") else by_history.sends.items() <= durable.items()
    if not name.endswith("-threads"):
        assert list(by_history.sends) == [number for number in durable if number in by_history.sends]
    more = ONLY_IN_HISTORY.get(name, {})
    assert by_log.acknowledged.keys() == by_history.acknowledged.keys()
    for queue, numbers in by_history.acknowledged.items():
        logged = by_log.acknowledged[queue]
        assert sum((Counter(numbers) - Counter(logged)).values()) == more.get(queue, 0)
        assert logged == numbers or queue in more
