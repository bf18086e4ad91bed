"""Local transactions and XA branches (spec/trace-format.md 1.2, spec/paging-engine.md 2.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pageengine.broker.transaction import Transaction
from pageengine.model.failure import Failed
from pageengine.model.outcome import OperationResult
from pageengine.trace.operations import Begin, Commit, Prepare, Rollback, SessionKind

if TYPE_CHECKING:
    from pageengine.clients.session import Session
    from pageengine.running.engine import Engine

UNKNOWN_BRANCH = "XA_-4"
WRONG_ORDER = "XA_-6"
DUPLICATE_BRANCH = "XA_-8"


def begin(engine: Engine, op: Begin, result: OperationResult) -> None:
    session = engine.session(op.session)
    if session.kind is not SessionKind.XA or op.xid is None:
        return
    if op.xid in engine.branches:
        raise Failed(DUPLICATE_BRANCH)
    if session.tx is not None:
        raise Failed(WRONG_ORDER)
    session.tx = Transaction(engine.broker)
    session.xid = op.xid
    engine.branches[op.xid] = session.tx


def _end(session: Session, xid: str) -> None:
    if session.tx is None or session.xid != xid:
        raise Failed(WRONG_ORDER)
    session.tx = None
    session.xid = None


def prepare(engine: Engine, op: Prepare, result: OperationResult) -> None:
    session = engine.session(op.session)
    if op.xid not in engine.branches:
        raise Failed(UNKNOWN_BRANCH)
    _end(session, op.xid)
    tx = engine.branches[op.xid]
    if tx.failed is not None:
        raise Failed("XA_104")
    tx.prepared = True
    if tx.page_tx is not None:
        tx.page_tx.prepared = True
    result.vote = "ok"


def _branch(engine: Engine, session: Session, xid: str, *, ends: bool) -> Transaction:
    if ends:
        _end(session, xid)
    tx = engine.branches.get(xid)
    if tx is None:
        raise Failed(UNKNOWN_BRANCH)
    del engine.branches[xid]
    return tx


def commit(engine: Engine, op: Commit, result: OperationResult) -> None:
    session = engine.session(op.session)
    if op.xid is not None:
        tx = _branch(engine, session, op.xid, ends=op.one_phase or op.active)
        error = session.finish(tx, commit=True)
    elif session.kind is SessionKind.LOCAL:
        error = session.end_local(commit=True)
    else:
        error = None
    if error is not None:
        raise Failed(error if op.xid is None else "XA_104")


def rollback(engine: Engine, op: Rollback, result: OperationResult) -> None:
    session = engine.session(op.session)
    for consumer in session.consumers.values():
        # the client does this before it asks, whatever the answer
        consumer.cleared()
        engine.broker.touch(consumer.queue)
    if op.xid is not None:
        session.finish(_branch(engine, session, op.xid, ends=op.one_phase or op.active), commit=False)
    elif session.kind is SessionKind.LOCAL:
        session.end_local(commit=False)
    for consumer in session.consumers.values():
        consumer.opened.clear()
