"""``messages send``: what queues wait for, sent to a running broker over AMQP 1.0."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.message_filter import QueueOption
from pagectl.options.sending import PaceOptions, PeerOptions
from pagectl.options.shared import DirArgument, DryRunOption, InOption, TextOrJsonOption, WhereOption
from pagectl.running.exits import CallError, Exit
from pagectl.running.exits import report as complain
from pagectl.terminal.streams import note, print_json, warning
from pagefmt.columns.table_content import StoredIn
from pagefmt.errors import installation

if TYPE_CHECKING:
    from pagectl.sending.messages import QueueToSend, StoredMessages
    from pagectl.sending.report import SendingReport
    from pagefmt.directory.bindings import QueueBinding
    from pagefmt.directory.locate import DataLocation

EXAMPLES = (
    ("What would be sent, and how", "messages send /var/lib/broker --to amqp://new:5672 --dry-run"),
    (
        "One queue, so that the run can be interrupted and resumed",
        "messages send /var/lib/broker --to amqps://new --credentials user.txt --queue red.news --checkpoint red.state",
    ),
)


def command(
    given: DirArgument = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="URL", help="Broker to send to: amqp://HOST[:PORT] or amqps://HOST[:PORT]."),
    ] = None,
    queues: QueueOption = None,
    where: WhereOption = None,
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--to-address",
            metavar="FROM=TO",
            help="Send messages of FROM to TO instead, each an ADDRESS or ADDRESS::QUEUE; repeatable.",
        ),
    ] = None,
    pace: PaceOptions = PaceOptions(),
    peer: PeerOptions = PeerOptions(),
    within: InOption = StoredIn.LIVE,
    dry_run: DryRunOption = False,
    form: TextOrJsonOption = TextOrJson.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Send outstanding messages of a stopped broker's queues to a running one, in delivery order, each message once.

    Each message goes only to the queue of the same name and address. AMQP messages are sent unchanged, others
    unchanged inside AMQP if the broker accepts that (2.32 and later), and converted otherwise; what is lost is
    reported. Each gets a duplicate id (_AMQ_DUPL_ID) unless it has its own, so that the broker knows it again. Messages
    in doubt are left out. Ends with status 1 if any were, if the broker refused something, or if a message, a page or
    the journal cannot be read.
    """
    from pagectl.opening.broker import located
    from pagectl.running.locking import brokers_held_off
    from pagectl.sending.messages import Preparing
    from pagectl.sending.report import SendingReport, plan
    from pagectl.sending.target import target

    if to is None:
        raise CallError("no broker given; name it with --to amqp://HOST:5672")
    aim = target(to, peer.credentials, peer.ca, peer.cert, peer.key)
    if aim.in_clear and not dry_run:
        warning("the password is sent over the network unencrypted; use amqps if the broker accepts it")
    place = located(given, broker)
    with brokers_held_off(place, not dry_run):
        stored, chosen = _chosen(place, queues, where, mapping or [], within)
        preparing = Preparing(place, stored.large)
        report = SendingReport(aim, chosen, preparing)
        _count(stored, chosen)
        if dry_run:
            plan(stored, report)
        else:
            call = {
                "source": preparing.source, "to": aim.url, "queues": sorted(queues) if queues else None,
                "where": where, "to_address": sorted(mapping) if mapping else None,
            }  # fmt: skip
            if within is not StoredIn.LIVE:
                call["in"] = within.value
            _send(stored, report, pace, call)
    if form is TextOrJson.json:
        print_json(report.as_json())
    else:
        report.print_text()
    report.tell()
    if report.stopped is not None:
        kept = "" if pace.checkpoint is None else f": {pace.checkpoint} records how far it got"
        complain(f"{report.stopped}; to continue, run the same command again{kept}")
        return report.status
    return Exit.FOUND if report.wrong or stored.damaged or stored.state.known.incomplete else Exit.OK


def _chosen(
    place: DataLocation, queues: list[str] | None, where: str | None, mapping: list[str], within: StoredIn
) -> tuple[StoredMessages, list[QueueToSend]]:
    from pagectl.running.reading import told_state
    from pagectl.sending.messages import QueueToSend, StoredMessages
    from pagefmt.messages.large import LargeMessages
    from pagefmt.outstanding.message_filter import queue_ids
    from pagefmt.outstanding.state import CannotKnow
    from pagefmt.selector import parse

    selector = parse(where) if where is not None else None
    state = told_state(place, journal=True, within=within)
    if state.bindings is None or state.unknown is not None:
        why = "there are no bindings" if state.unknown is None else state.unknown.reason
        raise CannotKnow(
            f"{place.given}: {why}, so it is not known which messages to send where; see: "
            f"{place.call('journal verify' if state.known.unknown_journal else 'recover')}"
        )
    known = state.bindings.queues
    ids = queue_ids(queues, state.bindings, place) if queues else frozenset(known)
    if missing := sorted(ids - known.keys()):
        raise CallError(f"--queue {missing[0]}: no queue has this id; {place.call('messages ls')} lists them")
    wanted = (known[each] for each in ids if queues or not known[each].address.startswith("$"))
    found = sorted(wanted, key=lambda queue: (queue.address, queue.name))
    targets = _targets(found, mapping, place)
    large = LargeMessages(place.large_messages) if place.large_messages is not None else None
    sending = [QueueToSend(queue, aim) for queue, aim in zip(found, targets, strict=True)]
    return StoredMessages(place, state, selector, large, within), sending


def _targets(queues: list[QueueBinding], mapping: list[str], place: DataLocation) -> list[str]:
    """Where each queue's messages go. An address in the place of an address keeps the names of its queues, but for a
    queue that is named as its address. Destinations of HornetQ and 1.x have their names of today."""
    from pagefmt.conversion.names import NewNames
    from pagefmt.directory.queue_names import qualified

    rules: dict[str, str] = {}
    for rule in mapping:
        source, equals, aim = rule.partition("=")
        if not (source and equals and aim):
            raise CallError(f"--to-address {rule}: write FROM=TO, both an ADDRESS or ADDRESS::QUEUE")
        if rules.setdefault(source, aim) != aim:
            raise CallError(f"--to-address {rule}: {source} goes to {rules[source]} already")
    used: set[str] = set()
    found = []
    for queue in queues:
        address, name, whole = queue.address, queue.name, qualified(queue)
        source = next((each for each in (whole, address) if each in rules), "")
        used.add(source)
        if not source:
            new = NewNames(keep=queue.routing is not None)
            found.append(f"{new.address(address)}::{new.address(name)}")
        elif source == address and "::" not in rules[source]:
            found.append(f"{rules[source]}::{rules[source] if name == address else name}")
        else:
            found.append(rules[source])
    if unused := sorted(rules.keys() - used):
        raise CallError(
            f"--to-address {unused[0]}=…: no queue to be sent has this address or name; see: "
            f"{place.call('messages ls')}"
        )
    return found


def _send(stored: StoredMessages, report: SendingReport, pace: PaceOptions, call: dict[str, Any]) -> None:
    try:
        from pagectl.sending.run import send_queues
    except ModuleNotFoundError as err:
        if (err.name or "").partition(".")[0] not in ("proton", "cproton", "cproton_ffi"):
            raise
        raise CallError(f"messages send needs python-qpid-proton; install it with: {installation('amqp')}") from err
    from pagectl.sending.checkpoint import SendingCheckpoint
    from pagectl.terminal.progress import progress

    checkpoint = SendingCheckpoint(pace.checkpoint, call)
    try:
        if pace.checkpoint is None:
            note(
                "no --checkpoint: after an interruption a second run sends from the beginning, and the broker "
                "drops what it has only as far as it remembers ids (id-cache-size)"
            )
        total = sum(each.totals.waiting for each in report.queues) if stored.selector is None else 0
        with progress("sending", total or None, "messages") as bar:
            send_queues(stored, report, checkpoint, bar, pace.duplicates, pace.rate)
    finally:
        checkpoint.close()


def _count(stored: StoredMessages, queues: list[QueueToSend]) -> None:
    """Where there is a prepared transaction, or somebody who looks at a bar."""
    if not stored.state.journal.prepared and not sys.stderr.isatty():
        return
    from pagectl.decoding.counts import counted

    counts, _ = counted(stored.place, stored.state, stored.within, beside_output=False)
    for each in queues:
        found = counts.queues[each.queue.id]
        each.totals.in_doubt, each.totals.waiting = found.in_doubt, found.journal + found.pages
