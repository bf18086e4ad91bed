"""Local transactions and XA branches (docs/spec/trace-format.md 1.2, docs/spec/paging-engine.md 2.9)."""

from __future__ import annotations

from pageengine.broker.transaction import Transaction
from pageengine.clients.run import Run
from pageengine.clients.session import Session
from pageengine.model.failure import OperationFailed
from pageengine.model.outcome import OperationResult
from pageengine.trace.operations import Begin, Commit, Prepare, Rollback, SessionKind

UNKNOWN_BRANCH = "XA_-4"
WRONG_ORDER = "XA_-6"
DUPLICATE_BRANCH = "XA_-8"


def begin(run: Run, op: Begin, result: OperationResult) -> None:
    """Start an XA branch. Raises OperationFailed."""
    session = run.session(op.session)
    if session.kind is not SessionKind.XA or op.xid is None:
        return
    if op.xid in run.branches:
        raise OperationFailed(DUPLICATE_BRANCH)
    if session.tx is not None:
        raise OperationFailed(WRONG_ORDER)
    session.tx = Transaction(run.broker)
    session.xid = op.xid
    run.branches[op.xid] = session.tx


def _end(session: Session, xid: str) -> None:
    if session.tx is None or session.xid != xid:
        raise OperationFailed(WRONG_ORDER)
    session.tx = None
    session.xid = None


def prepare(run: Run, op: Prepare, result: OperationResult) -> None:
    """Prepare an XA branch. Raises OperationFailed."""
    session = run.session(op.session)
    if op.xid not in run.branches:
        raise OperationFailed(UNKNOWN_BRANCH)
    _end(session, op.xid)
    tx = run.branches[op.xid]
    if tx.failed is not None:
        raise OperationFailed("XA_104")
    tx.prepared = True
    if tx.page_tx is not None:
        tx.page_tx.prepared = True
    result.vote = "ok"


def _branch(run: Run, session: Session, xid: str, *, ends: bool) -> Transaction:
    if ends:
        _end(session, xid)
    tx = run.branches.get(xid)
    if tx is None:
        raise OperationFailed(UNKNOWN_BRANCH)
    del run.branches[xid]
    return tx


def commit(run: Run, op: Commit, result: OperationResult) -> None:
    """Commit a local transaction or a branch. Raises OperationFailed."""
    session = run.session(op.session)
    if op.xid is not None:
        tx = _branch(run, session, op.xid, ends=op.one_phase or op.active)
        error = session.finish(tx, commit=True)
    elif session.kind is SessionKind.LOCAL:
        error = session.end_local(commit=True)
    else:
        error = None
    if error is not None:
        raise OperationFailed(error if op.xid is None else "XA_104")


def rollback(run: Run, op: Rollback, result: OperationResult) -> None:
    """Roll back a local transaction or a branch. Raises OperationFailed."""
    session = run.session(op.session)
    for consumer in session.consumers.values():
        # the client does this before it asks, whatever the answer
        consumer.cleared()
        run.broker.schedule.touch(consumer.queue)
    if op.xid is not None:
        session.finish(_branch(run, session, op.xid, ends=op.one_phase or op.active), commit=False)
    elif session.kind is SessionKind.LOCAL:
        session.end_local(commit=False)
    for consumer in session.consumers.values():
        consumer.opened.clear()
