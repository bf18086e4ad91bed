"""Histories of real brokers as traces: replayed under their own configuration they do what the ledgers say.

The bounds are those of docs/spec/trace-format.md 3.5.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from brokerconf.reading.reading import read
from history_ledgers import ledger_of
from program import call
from recorded_histories import HistoryCase, histories

from pageengine.history_import.importing import HistoryImport, import_history
from pageengine.model.outcome import OperationResult
from pageengine.replay.replaying import Configuration, steps
from pageengine.trace import operations as ops
from pageengine.trace.reading import open_trace
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.directory.locate import locate
from pagefmt.editions import Edition
from pagefmt.history.bodies import HistoryBodies
from pagefmt.history.history import load_history

EDITIONS = {
    "2.18.0": Edition.ARTEMIS_2_17,
    "2.28.0": Edition.ARTEMIS_2_28,
    "2.44.0": Edition.ARTEMIS_2_44,
    "2.56.0": Edition.ARTEMIS_2_56,
}
# How many messages may be paged where the broker kept them in memory, or the other way, by case.
PAGED_OTHERWISE = {
    "amqp": 31,  # a plugin of the recording has read the application properties of each message
    "nondurable": 3,  # messages in memory are in no journal
    "cutoff-size": 7,  # the history begins with messages in the store
    "cutoff-period": 9,
}
# Cases in which pages have other numbers or limits, for the same reasons.
OTHER_PLACES = {*PAGED_OTHERWISE, "late"}
# Queues whose count at the end is another one.
OTHER_COUNTS = {
    ("multicast", "passing"),  # not durable
    ("2.28.0", "p.t"),  # counts what is sent in prepared transactions
    ("cutoff-period", "o.q"),  # one acknowledgement more than the history can tell
}


class Replayed(NamedTuple):
    """A trace that was replayed: its operations with their results, the report of the import, the state at the end."""

    steps: list[tuple[ops.Operation, OperationResult]]
    report: HistoryImport
    state: dict[str, Any]

    def sends(self) -> dict[int, tuple[ops.Send, dict[str, Any]]]:
        """Return the first send of each message of the ledger, by its number there, with its result."""
        sends: dict[int, tuple[ops.Send, dict[str, Any]]] = {}
        for operation, result in self.steps:
            if isinstance(operation, ops.Send):
                number = next((item.value for item in operation.props if item.name == "seq"), None)
                if isinstance(number, int):
                    sends.setdefault(number, (operation, result.as_json()))
        return sends


def replayed(case: HistoryCase, folder: Path) -> Replayed:
    """Import the history of a case, and replay it under the broker's configuration."""
    root, trace = case.root(), folder / "trace.jsonl"
    place = locate(root / "data")
    history = load_history(place, root / "history", UTC)
    large = LargeMessages(root / "data" / "large-messages")
    bodies = HistoryBodies(large.path, history.messages, large)
    report = import_history(history, place, bodies, trace, name=case.name, source="history")
    reader = open_trace(trace)
    engine = Configuration(case.folder / "broker.xml", EDITIONS[case.version], reader=read).engine(reader)
    return Replayed(list(steps(engine, reader)), report, engine.state().as_json())  # type: ignore[arg-type]


@pytest.mark.parametrize("case", histories(), ids=str)
def test_a_replay_does_what_the_broker_did(case: HistoryCase, tmp_path: Path) -> None:
    run = replayed(case, tmp_path)
    sends, ledger = run.sends(), ledger_of(case)
    otherwise, elsewhere = [], []
    for line in case.ledger():
        routed = ledger.routed.get(line.get("id"))
        # a bridge may have sent its copy before the line was written, which then is about the copy
        if line["op"] != "send" or line.get("seq") not in sends or not routed or routed["address"] != line["address"]:
            continue
        result = sends[line["seq"]][1]
        if line["protocol"] == "core":
            assert result["mem"] == line["mem"], line
            if not line["large"]:
                assert result["enc"] == line["enc"], line
        if "paged" in line:
            if (result["r"] == "paged") != line["paged"]:
                otherwise.append(line["seq"])
            elif line["paged"] and (result["page"], result["nr"]) != (line["page"], line["nr"]):
                elsewhere.append(line["seq"])
    assert len(otherwise) <= PAGED_OTHERWISE.get(case.name, 0), otherwise
    assert case.name in OTHER_PLACES or not elsewhere
    counts = case.counts()[-1]
    for queue, expected in counts["queues"].items():
        if not {(case.name, queue), (case.version, queue)} & OTHER_COUNTS:
            assert run.state[f"q:{queue}"]["n"] == expected["count"], queue
    for address, expected in counts["paging"].items():
        store = run.state.get(f"a:{address}", {"paging": False, "pages": 0})
        assert (store["paging"], store["pages"]) == (expected["paging"], expected["pages"]), address


@pytest.mark.parametrize("case", histories(), ids=str)
def test_sends_and_acknowledgements_are_those_of_the_ledger(case: HistoryCase, tmp_path: Path) -> None:
    run, ledger = replayed(case, tmp_path), ledger_of(case)
    sends = run.sends()
    order = [
        line["seq"]
        for line in case.ledger()
        if line["op"] == "send" and line["by"] == "client" and line.get("seq") in sends and "session" not in line
    ]
    if case.name != "threads":
        kept = set(order)
        assert [number for number in sends if number in kept] == order
    numbers = {
        operation.seq: number
        for operation, _ in run.steps
        if isinstance(operation, ops.Send)
        for number in [next((item.value for item in operation.props if item.name == "seq"), None)]
    }
    queue_of = {step.consumer: step.queue for step, _ in run.steps if isinstance(step, ops.OpenConsumer)}
    received: Counter[tuple[str, object]] = Counter()
    for operation, result in run.steps:
        if isinstance(operation, ops.Receive):
            assert set(result.as_json()["got"]) == set(operation.seq or ()), operation
            received.update((queue_of[operation.consumer], numbers[seq]) for seq in operation.seq or ())
    durable = {step.queue for step, _ in run.steps if isinstance(step, ops.CreateQueue)} - ledger.deleted
    times = Counter((line["id"], line["queue"]) for line in case.ledger() if line["op"] == "acked")
    acked = Counter(
        (queue, ledger.routed[number].get("seq"))
        for (number, queue), reason in ledger.acked.items()
        # of several acknowledgements of a message only one took effect, perhaps none
        if number in ledger.routed and reason != "REPLACED" and queue in durable and times[number, queue] == 1
    )
    missing = {key for key in (acked - received) if key[1] in sends}
    assert not missing or case.name in ("late", "cutoff-size", "cutoff-period", "kill", "amqp"), missing


def test_the_command_says_what_a_journal_never_has(tmp_path: Path) -> None:
    case = HistoryCase("2.56.0", "paged")
    instance, trace = case.copy(tmp_path / "instance"), tmp_path / "trace.jsonl.zst"
    answer = _answer("replay", "import", instance, "--to", trace, "--timezone", "UTC")
    assert (answer["source"], answer["sends"]) == ("history", {"logged": 226, "left_out": 0})
    replay = _answer("replay", "run", trace, "--config", instance / "broker.xml")
    assert replay["unknown"] == answer["never_known"]
    assert "Not in the trace" in call("replay", "run", trace, "--config", instance / "broker.xml").out


def test_without_a_retention_folder_the_trace_has_what_is_still_there(tmp_path: Path) -> None:
    case = HistoryCase("2.56.0", "paged")
    instance, trace = case.copy(tmp_path / "instance"), tmp_path / "trace.jsonl"
    (instance / "history").rename(tmp_path / "elsewhere")
    answer = _answer("replay", "import", instance / "data", "--to", trace)
    assert answer["source"] == "journal"
    waiting = sum(queue["messages"] for queue in _answer("messages", "ls", instance)["queues"])
    engine = Configuration(instance / "broker.xml", EDITIONS[case.version], reader=read).engine(open_trace(trace))
    list(steps(engine, open_trace(trace)))
    state: dict[str, Any] = engine.state().as_json()
    assert sum(value["n"] for key, value in state.items() if key.startswith("q:") and value) >= waiting


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["LOG", "DIR"], "a history is imported by itself"),
        (["DIR", "--guess-sizes"], "--guess-sizes is for logs"),
        (["LOG", "--timezone", "UTC"], "are for the directory of a broker"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, words: list[str], sentence: str) -> None:
    log = tmp_path / "audit.log"
    log.touch()
    places = {"LOG": str(log), "DIR": str(tmp_path)}
    answer = call("replay", "import", *(places.get(word, word) for word in words), "--to", tmp_path / "t.jsonl")
    assert answer.status == 2
    assert sentence in answer.err


def test_advice_from_a_history(tmp_path: Path) -> None:
    instance = HistoryCase("2.56.0", "paged").copy(tmp_path / "instance")
    options = ("--config", instance / "broker.xml", "--heap", "64M", "--disk", "100M", "--timezone", "UTC")
    answer = _answer("replay", "advise", instance, *options)
    trace = tmp_path / "t.jsonl"
    call("replay", "import", instance, "--to", trace, "--timezone", "UTC")
    by_trace = _answer("replay", "advise", trace, *options[:-2])
    assert _without_trace(answer) == _without_trace(by_trace)


def _without_trace(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != "trace"}


def _answer(*words: str | Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(call(*words, "--format", "json").out)
    return answer
