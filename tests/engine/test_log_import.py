"""Traces out of logs: what a real broker logged against the trace that it had executed."""

from __future__ import annotations

import contextlib
import gzip
import re
from collections import Counter
from pathlib import Path

import pytest
from generated import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from pageengine.errors import PageEngineError
from pageengine.log_import.importing import ImportReport, LogSource, import_logs
from pageengine.log_import.messages import find_message, find_transaction
from pageengine.running.engine import Engine
from pageengine.settings.profiles import profile_of
from pageengine.settings.settings import EngineSettings
from pageengine.trace import operations as ops
from pageengine.trace.reading import open_trace
from pagefmt.editions import NEWEST

LOGS = Path(__file__).parents[1] / "recorded" / "replays" / "traffic-logs"
REFUSED = {28, 29, 30, 58}
"""Sends that no log shows: refused for a full address, or blocked by the operator."""


def imported(tmp_path: Path, *names: str) -> tuple[ImportReport, list[ops.Operation]]:
    report = import_logs([LOGS / name for name in names], tmp_path / "t.jsonl")
    reader = open_trace(tmp_path / "t.jsonl")
    found = list(reader)
    assert reader.warnings == []
    return report, found  # type: ignore[return-value]


def original() -> list[ops.Operation]:
    return list(open_trace(LOGS / "trace.jsonl.gz"))  # type: ignore[arg-type]


def number(send: ops.Send) -> int:
    """Return the sequence number that the recorded client set as a property."""
    return next(one.value for one in send.props if one.name == "_seq")  # type: ignore[return-value]


def described(send: ops.Send) -> tuple[object, ...]:
    body = send.size
    if send.text is not None:
        body = 1 + 4 + 2 * len(send.text)
    props = {one.name: one.value for one in send.props if one.name != "_seq"}
    return send.address, body, send.durable, send.priority, bool(send.expire_ms), tuple(sorted(props.items()))


def acknowledged(found: list[ops.Operation]) -> list[int]:
    """List the recorded client's sequence numbers in order of acknowledgement."""
    numbers = {one.seq: number(one) for one in found if isinstance(one, ops.Send)}
    return [numbers[seq] for one in found if isinstance(one, ops.Ack) for seq in one.seqs]


@pytest.mark.parametrize(
    "names",
    [
        ("plugin-debug.log.gz",),
        ("audit-message.log.gz",),
        ("audit-message.log.gz", "audit-base.log.gz", "audit-resource.log.gz"),
    ],
)
def test_every_send_that_reached_the_broker_comes_back(tmp_path: Path, names: tuple[str, ...]) -> None:
    sends = {number(one): described(one) for one in imported(tmp_path, *names)[1] if isinstance(one, ops.Send)}
    wanted = {one.seq: described(one) for one in original() if isinstance(one, ops.Send) and one.seq not in REFUSED}
    assert sends == wanted
    assert len(wanted) == 55


def test_info_lines_give_the_sends_whose_message_is_printed_later(tmp_path: Path) -> None:
    report, found = imported(tmp_path, "plugin-info.log.gz")
    wanted = {one.seq: described(one) for one in original() if isinstance(one, ops.Send)}
    sends = {number(one): described(one) for one in found if isinstance(one, ops.Send)}
    assert len(sends) == 45
    assert all(wanted[seq] == one for seq, one in sends.items())
    assert report.source is LogSource.PLUGIN_INFO
    assert report.unknown["content of a send (its message is not logged)"] == 7


def test_sends_that_no_line_describes_are_counted_and_guessed_only_when_asked(tmp_path: Path) -> None:
    text = gzip.decompress((LOGS / "plugin-info.log.gz").read_bytes()).decode()
    # without the lines that print messages of one address, only deliveries show that these were there
    log = tmp_path / "artemis.log"
    kept = [line for line in text.splitlines() if "address=orders" not in line or "AMQ84101" not in line]
    log.write_text("\n".join([*kept, next(line for line in text.splitlines() if "address=orders" in line)]) + "\n")
    exact = import_logs([log], tmp_path / "exact.jsonl")
    guessed = import_logs([log], tmp_path / "guessed.jsonl", guess_sizes=True)
    assert (exact.logged_sends, guessed.logged_sends) == (52, 52)
    assert 7 < exact.left_out == 52 - exact.operations["send"]
    sends = [one for one in open_trace(tmp_path / "guessed.jsonl") if isinstance(one, ops.Send)]
    made = [one for one in sends if one.note == "size guessed"]
    assert len(made) == exact.left_out - guessed.left_out > 0
    assert not any("guessed" in (one.note or "") for one in open_trace(tmp_path / "exact.jsonl"))  # type: ignore[union-attr]
    for address in {one.address for one in made}:
        known = [one.size for one in sends if one.address == address and one.note != "size guessed"]
        assert {one.size for one in made if one.address == address} == {round(sum(known) / len(known))}


@pytest.mark.parametrize("name", ["plugin-debug.log.gz", "plugin-info.log.gz", "audit-message.log.gz"])
def test_each_delivery_names_its_messages(tmp_path: Path, name: str) -> None:
    _, found = imported(tmp_path, name)
    receives = [one for one in found if isinstance(one, ops.Receive)]
    assert receives
    assert all(len(one.seq or ()) == one.max for one in receives)


# What the clients acknowledged, by the outcome of the same run: the last one on tx1 was rolled back.
IN_ORDER = [0, 6, 12, 1, 2, 18, 3, 4, 5, 7, 8, 9]


@pytest.mark.parametrize("name", ["plugin-debug.log.gz", "plugin-info.log.gz", "audit-message.log.gz"])
def test_acknowledgements_in_order(tmp_path: Path, name: str) -> None:
    done = acknowledged(imported(tmp_path, name)[1])
    assert done[:12] == IN_ORDER
    assert len(done) == (41 if "debug" in name else 40)


def test_debug_lines_give_sessions_transactions_and_consumers(tmp_path: Path) -> None:
    report, found = imported(tmp_path, "plugin-debug.log.gz")
    kinds = Counter(one.kind for one in found if isinstance(one, ops.OpenSession))
    assert kinds == {ops.SessionKind.AUTO: 5, ops.SessionKind.LOCAL: 1, ops.SessionKind.XA: 1}
    assert report.operations["commit"] == 3 and report.operations["rollback"] == 2 and report.operations["begin"] == 1
    selectors = [one.selector for one in found if isinstance(one, ops.OpenConsumer)]
    assert selectors == [None, "customer = 'c1'", None, None]
    browse = [one for one in found if isinstance(one, ops.Browse)]
    assert [one.queue for one in browse] == ["orders"]
    queues = {one.queue: one for one in found if isinstance(one, ops.CreateQueue)}
    assert sorted(queues) == ["expired", "limited", "lossy", "orders", "prices.all", "prices.london"]
    assert queues["prices.london"].filter == "region = 'london'"
    assert queues["prices.all"].routing is ops.RoutingType.MULTICAST
    assert [one.queue for one in found if isinstance(one, ops.DeleteQueue)] == ["prices.london"]


def test_audit_logs_together_give_what_operators_did(tmp_path: Path) -> None:
    _, found = imported(tmp_path, "audit-base.log.gz", "audit-message.log.gz", "audit-resource.log.gz")
    operators = [
        one for one in found if isinstance(one, ops.BlockAddress | ops.UnblockAddress | ops.Purge | ops.Browse)
    ]
    assert [(one.op, getattr(one, "address", None) or getattr(one, "queue", None)) for one in operators] == [
        ("browse", "orders"),
        ("block_address", "limited"),
        ("unblock_address", "limited"),
        ("purge", "lossy"),
    ]
    assert "customer = 'c1'" in [one.selector for one in found if isinstance(one, ops.OpenConsumer)]


def test_the_fuller_log_wins(tmp_path: Path) -> None:
    report, found = imported(tmp_path, "plugin-debug.log.gz", "audit-message.log.gz")
    assert report.source is LogSource.PLUGIN_DEBUG
    assert sum(isinstance(one, ops.Send) for one in found) == 55


def test_older_wordings(tmp_path: Path) -> None:
    message = (
        "CoreMessage[messageID=7,durable=true,userID=null,priority=4, timestamp=0,expiration=0, durable=true, "
        "address=a,size=62,properties=TypedProperties[]]@1"
    )
    log = tmp_path / "artemis.log"
    stamp = "2020-01-01 00:00:00,%03d INFO  [x] "
    log.write_text(
        "\n".join(
            stamp % n + line
            for n, line in enumerate(
                [
                    "AMQ841002: created session name: S, session connectionID: c",
                    f"AMQ843009: message ID: 7, message {message}, session name: S with tx: null, session: "
                    "ServerSessionImpl(), direct: true, noAutoCreateQueue: false",
                    "AMQ841009: sent message with ID: 7, session name: S, session connectionID: c, result: OK",
                    "AMQ841012: delivered message with message ID: 7, to consumer on address: a, queue: q,"
                    " consumer sessionID: R, consumerID: 3",
                    "AMQ841014: acknowledged message ID: 7, messageRef sessionID: R, with messageRef consumerID: 3, "
                    "messageRef QueueName: q,  with ackReason: NORMAL",
                ]
            )
        )
    )
    import_logs([log], tmp_path / "t.jsonl")
    found = list(open_trace(tmp_path / "t.jsonl"))
    assert [one.op for one in found] == ["create_queue", "open_session", "send", "open_consumer", "receive", "ack"]
    send, ack = found[2], found[5]
    assert isinstance(send, ops.Send) and (send.session, send.size, send.seq) == ("S", 22, 0)
    assert isinstance(ack, ops.Ack) and ack.seqs == (0,)


SENT = "AMQ843009: afterSend message: %s, result: OK, transaction: %s, session: S, connection: c, direct: true, no"
MESSAGE = (
    "CoreMessage[messageID=%d, durable=true, userID=null, priority=4, timestamp=0, expiration=0, durable=true, "
    "address=a, size=62, properties=TypedProperties[]]@1"
)
CLIENTS_OWN = "TransactionImpl [xid=null, txID=9, xid=null, state=ACTIVE, createTime=1(x), timeoutSeconds=300, nr]@5"
SESSION = "AMQ841002: created session name: S, session connectionID: c, remote address x"
COMMITTING = (
    "AMQ843000: beforeCreateSession called with name: S, username: u, minLargeMessageSize: 1, connection: c, "
    "autoCommitSends: false, autoCommitAcks: false, preAcknowledge: false, xa: false"
)
DELIVERED = (
    "AMQ841012: delivered message with message ID: %d, to consumer on address: a, queue: a, consumer sessionID: R, "
    "consumerID: %d"
)
ACKNOWLEDGED = (
    "AMQ843014: messageAcknowledged ID: %d, sessionID: R, consumerID: 0, queue: a, transaction: %s, ackReason: NORMAL"
)
ANNOUNCED = (
    "AMQ843004: beforeCreateConsumer called with ConsumerID: 0, QueueBinding: LocalQueueBinding [address=a, "
    "queue=QueueImpl[name=a, postOffice=x]@1], filterString: %s, browseOnly: false, supportLargeMessage: true"
)


def operations_of(tmp_path: Path, *lines: str) -> list[ops.Operation]:
    stamped = [f"2026-01-01 00:00:00,{n:03} DEBUG [x] {line}" for n, line in enumerate(lines)]
    (tmp_path / "artemis.log").write_text("\n".join(stamped))
    import_logs([tmp_path / "artemis.log"], tmp_path / "t.jsonl")
    return list(open_trace(tmp_path / "t.jsonl"))  # type: ignore[arg-type]


def test_a_delivery_may_be_logged_before_its_send(tmp_path: Path) -> None:
    # A broker's threads do not write their lines in the order of events.
    found = operations_of(
        tmp_path, SESSION, ACKNOWLEDGED % (7, "null"), DELIVERED % (7, 0), SENT % (MESSAGE % 7, "UNAVAILABLE")
    )
    assert [one.op for one in found] == ["create_queue", "open_session", "send", "open_consumer", "receive", "ack"]


def test_what_is_delivered_was_committed(tmp_path: Path) -> None:
    found = operations_of(
        tmp_path,
        COMMITTING,
        SESSION,
        SENT % (MESSAGE % 7, CLIENTS_OWN),
        DELIVERED % (7, 0),
        f"AMQ841009: sent message with ID: 7, result: OK, transaction: {CLIENTS_OWN}",
    )
    wanted = ["create_queue", "open_session", "send", "open_consumer", "commit", "receive"]
    assert [one.op for one in found] == wanted


def test_a_rollback_gives_back_what_the_client_had_not_acknowledged(tmp_path: Path) -> None:
    found = operations_of(
        tmp_path,
        COMMITTING.replace("name: S", "name: R"),
        SESSION.replace("name: S", "name: R"),
        *(SENT % (MESSAGE % number, "UNAVAILABLE") for number in (7, 8)),
        *(DELIVERED % (number, 0) for number in (7, 8)),
        ACKNOWLEDGED % (7, CLIENTS_OWN),
        f"AMQ843018: rolled back transaction {CLIENTS_OWN} involving {MESSAGE % 7}",
        *(DELIVERED % (number, 0) for number in (7, 8)),
    )
    assert [one.op for one in found][-7:] == [
        "open_consumer",
        "receive",
        "ack",
        "rollback",
        "close_consumer",
        "open_consumer",
        "receive",
    ]
    assert isinstance(found[-1], ops.Receive) and found[-1].max == 2


def test_sessions_may_create_consumers_at_the_same_time(tmp_path: Path) -> None:
    created = "AMQ841005: created consumer with ID: 0, with session name: %s"
    lines = [ANNOUNCED % "k = 1", ANNOUNCED % "null", created % "R", created % "Q"]
    found = operations_of(tmp_path, *lines, SENT % (MESSAGE % 7, "UNAVAILABLE"))
    consumers = [(one.session, one.selector) for one in found if isinstance(one, ops.OpenConsumer)]
    assert consumers == [("R", "k = 1"), ("Q", None)]


def test_a_session_that_names_no_transaction_sends_alone(tmp_path: Path) -> None:
    # The broker creates sessions of MQTT without automatic commits, and commits each message itself.
    found = operations_of(tmp_path, COMMITTING, SESSION, SENT % (MESSAGE % 7, "UNAVAILABLE"))
    assert [one.kind for one in found if isinstance(one, ops.OpenSession)] == [ops.SessionKind.AUTO]


def test_a_queue_without_an_address_has_its_own(tmp_path: Path) -> None:
    queue = "AMQ843006: beforeCreateQueue called with queueConfig: QueueConfiguration [id=null, name=$sys.mqtt.sessions, address=null, routingType=ANYCAST, filterString=null, durable=true, user=null"  # noqa: E501
    found = operations_of(tmp_path, queue, SENT % (MESSAGE % 7, "UNAVAILABLE"))
    created = [(one.queue, one.address) for one in found if isinstance(one, ops.CreateQueue)]
    assert created == [("$sys.mqtt.sessions", "$sys.mqtt.sessions")]


def test_logs_without_traffic_are_refused(tmp_path: Path) -> None:
    (tmp_path / "artemis.log").write_text("2026-11-21 09:10:13,140 WARN  [x] AMQ222018: AIO was not located\n")
    with pytest.raises(PageEngineError, match="AMQ601500"):
        import_logs([tmp_path / "artemis.log"], tmp_path / "t.jsonl")


def test_a_property_value_with_a_separator_is_uncertain() -> None:
    text = (
        "CoreMessage[messageID=1, durable=true, userID=null, priority=4, timestamp=0, expiration=0, durable=true, "
        "address=a, size=200, properties=TypedProperties[k=x, y, n=5, d=1.5, b=true, z=NULL-value]]@5"
    )
    found = find_message(text)
    assert found is not None and found.uncertain
    assert [(one.name, one.value) for one in found.props] == [
        ("k", "x, y"),
        ("n", 5),
        ("d", 1.5),
        ("b", True),
        ("z", None),
    ]


def test_transactions_of_the_broker_itself_are_told_apart() -> None:
    text = "TransactionImpl [xid=null, txID=111, xid=null, state=ACTIVE, createTime=1(x), timeoutSeconds=%s, nr]@5"
    own, client = find_transaction(text % "-1"), find_transaction(text % "300")
    assert own is not None and own.own and client is not None and not client.own


PIECES = (
    "CoreMessage[messageID=1, durable=true, userID=null, priority=1, timestamp=0, expiration=0, durable=true, address=",
    "CoreMessage[messageID=1, durable=true, userID=null, priority=4, timestamp=0, expiration=0, durable=true, "
    "address=a, size=9, properties=TypedProperties[",
    "TransactionImpl [xid=null, txID=1, xid=null, state=",
    "QueueImpl[name=",
    "name: x, username: y minLargeMessageSize: 5, ",
    "ConsumerID: 1, QueueImpl[name=q, postOffice=filterString: ",
    "QueueConfiguration [name=q, address=",
    "message ID: 5, to consumer on address: a, queue: ",
    " with parameters: [0, q, f, 0, ",
    "a" * 100,
    "- queueID=5 address:a name:",
)
CODES = (601500, 601501, 601502, 601760, 601761, 601265, 601196, 841012, 841014, 843000, 843004, 843006, 843009, 843014)


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece[:20])
def test_records_made_to_be_slow_are_read_in_time(tmp_path: Path, piece: str) -> None:
    # No time is measured, but a pattern that backtracks would reach the timeout of the suite.
    stamp = "2026-11-21 09:10:15,695 [AUDIT](x) AMQ"
    lines = [f"{stamp}{code}: {start}{piece * 300}" for code in CODES for start in ("", "User u@h sent a message ")]
    (tmp_path / "log").write_text("\n".join(lines))
    import_logs([tmp_path / "log"], tmp_path / "t.jsonl")


@given(st.lists(st.tuples(st.sampled_from(CODES), st.sampled_from(PIECES) | st.text(max_size=30)), max_size=8))
@settings(deadline=None, max_examples=examples(60))
def test_arbitrary_records_raise_own_errors_only(
    tmp_path_factory: pytest.TempPathFactory, records: list[tuple[int, str]]
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    lines = [f"2026-11-21 09:10:15,695 [AUDIT](x) AMQ{code}: {text}" for code, text in records]
    (folder / "log").write_text("\n".join(lines), "utf-8", "replace")
    with contextlib.suppress(PageEngineError):
        import_logs([folder / "log"], folder / "t.jsonl")


@pytest.mark.parametrize("protocol", ["amqp", "openwire", "stomp", "mqtt"])
def test_the_protocol_comes_from_the_messages(tmp_path: Path, protocol: str) -> None:
    report, found = imported(tmp_path, f"audit-{protocol}.log.gz")
    opened = [one for one in found if isinstance(one, ops.OpenSession)]
    sends = [one for one in found if isinstance(one, ops.Send)]
    assert [one.protocol.value for one in opened] == [protocol]
    assert [(one.session, one.size, one.props) for one in sends] == [(opened[0].session, 100, ())] * 2
    logged = re.findall(
        r"601500.*?[, ]size=(\d+)", gzip.decompress((LOGS / f"audit-{protocol}.log.gz").read_bytes()).decode()
    )
    engine = Engine(EngineSettings(), profile_of(NEWEST), open_trace(tmp_path / "t.jsonl").header, check=True)
    decisions = [result.verdict for result in map(engine.apply, found) if result.op == "send"]
    assert [str(one.enc) for one in decisions] == logged
    assert "uncertain" not in " ".join(report.unknown)
