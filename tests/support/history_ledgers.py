"""What a ledger says of a recorded history: what was sent, what was acknowledged, and which messages are copies."""

from __future__ import annotations

from typing import Any, NamedTuple

from recorded_histories import HistoryCase

Pair = tuple[int, str]  # id of a message and name of a queue
_ENDS = ("commit", "rollback", "xa-commit", "xa-rollback")


class Ledger(NamedTuple):
    """Facts by the ids of messages that were routed.

    ``routed``: durable messages by id. ``acked``: acknowledgements that took effect, with the reason. ``perhaps``:
    those whose transaction was not ended, or ended in a kill. ``copies``: originals of which the broker sent
    a copy, with whether they expired. ``deleted``: queues that were deleted. ``rolled_back``: ids of messages.
    """

    routed: dict[int, dict[str, Any]]
    acked: dict[Pair, str]
    perhaps: set[Pair]
    copies: dict[Pair, bool]
    deleted: set[str]
    rolled_back: set[int]


def ledger_of(case: HistoryCase) -> Ledger:
    """Return what the ledger of a case says."""
    lines = case.ledger()
    routed = {line["id"]: line for line in lines if line["op"] == "route" and _is_kept(line)}
    ends = _ends(lines)
    acked: dict[Pair, str] = {}
    perhaps: set[Pair] = set()
    session_of = _sessions_of_acks(lines)
    for line in lines:
        if line["op"] != "acked":
            continue
        pair = (line["id"], line["queue"])
        session = session_of.get((line["n"], *pair))
        end = "commit" if session is None else _next(ends, session, line["n"])
        if end in ("commit", "xa-commit"):
            acked.setdefault(pair, line["reason"])
        elif end is None:
            perhaps.add(pair)
    expired = {(line["id"], line["queue"]) for line in lines if line["op"] == "acked" and line["reason"] == "EXPIRED"}
    copies = {
        (line["orig_id"], line["orig_queue"]): (line["orig_id"], line["orig_queue"]) in expired
        for line in lines
        if line["op"] == "route" and line.get("orig_id") and line.get("orig_queue")
    }
    deleted = {line["queue"] for line in lines if line["op"] == "queue_deleted"}
    sends = [line for line in lines if line["op"] == "send" and "session" in line and "id" in line]
    rolled_back = {
        line["id"] for line in sends if _next(ends, line["session"], line["n"]) in ("rollback", "xa-rollback")
    }
    return Ledger(routed, acked, perhaps, copies, deleted, rolled_back)


def _is_kept(line: dict[str, Any]) -> bool:
    return line["result"] == "OK" and bool(line["durable"]) and bool(line["queues"])


def _ends(lines: list[dict[str, Any]]) -> dict[str, list[tuple[int, str]]]:
    """Return the ends of transactions by session: number of the line, and the operation."""
    ends: dict[str, list[tuple[int, str]]] = {}
    for line in lines:
        if line["op"] in _ENDS and "session" in line:
            ends.setdefault(line["session"], []).append((line["n"], line["op"]))
    return ends


def _next(ends: dict[str, list[tuple[int, str]]], session: str, after: int) -> str | None:
    return next((op for n, op in ends.get(session, ()) if n > after), None)


def _sessions_of_acks(lines: list[dict[str, Any]]) -> dict[tuple[int, int, str], str]:
    """Return the transacted session of each acknowledgement, by number of the broker's line, message and queue."""
    transacted = {line["session"] for line in lines if line["op"] in _ENDS and "session" in line}
    waiting: dict[Pair, int] = {}
    sessions = {}
    for line in lines:
        if line["op"] == "acked":
            waiting[line["id"], line["queue"]] = line["n"]
        elif line["op"] == "ack" and line.get("session") in transacted and (line["id"], line["queue"]) in waiting:
            sessions[waiting[line["id"], line["queue"]], line["id"], line["queue"]] = line["session"]
    return sessions
