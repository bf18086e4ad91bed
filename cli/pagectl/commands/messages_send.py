"""``messages send``: what queues wait for, sent to a running broker over AMQP 1.0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.message_filter import QueueOption
from pagectl.options.sending import PaceOptions, PeerOptions
from pagectl.options.shared import DirArgument, DryRunOption, TextOrJsonOption, WhereOption
from pagectl.running.exits import CallError, Exit, report
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import note, print_json, print_table, warning
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagectl.sending.messages import QueueToSend, StoredMessages
    from pagectl.sending.run import Sending
    from pagefmt.directory.locate import DataLocation

EXAMPLES = (
    ("What would be sent, and how", "messages send /var/lib/broker --to amqp://new:5672 --dry-run"),
    (
        "One queue, so that it can be interrupted and goes on",
        "messages send /var/lib/broker --to amqps://new --credentials user.txt --queue red.news --checkpoint red.state",
    ),
)
_TOLD = 10


def command(
    given: DirArgument = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="URL", help="The broker: amqp://HOST[:PORT] or amqps://HOST[:PORT].")
    ] = None,
    queues: QueueOption = None,
    where: WhereOption = None,
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--to-address",
            metavar="FROM=TO",
            help="ADDRESS or ADDRESS::QUEUE, and which to send to instead; repeatable.",
        ),
    ] = None,
    pace: PaceOptions = PaceOptions(),
    peer: PeerOptions = PeerOptions(),
    dry_run: DryRunOption = False,
    form: TextOrJsonOption = TextOrJson.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Send what queues of a stopped broker still wait for to a running one, in the order of delivery, each once.

    Each queue's messages go to the queue of that name and address alone. AMQP messages go as they are, others untouched
    inside of AMQP where the broker takes that (2.32 and later), elsewhere converted; what is lost is told. What is in
    doubt is left out; the status is 1 then, and where the broker refused something or a page or the journal is damaged.
    """
    try:
        from pagectl.sending.peer import target
    except ModuleNotFoundError as err:
        if (err.name or "").partition(".")[0] not in ("proton", "cproton", "cproton_ffi"):
            raise
        raise CallError("messages send needs python-qpid-proton; install it with: pip install 'pagectl[amqp]'") from err
    from pagectl.opening.broker import located
    from pagectl.running.locking import brokers_held_off

    if to is None:
        raise CallError("no broker given; name it with --to amqp://HOST:5672")
    aim = target(to, peer.credentials, peer.ca, peer.cert, peer.key)
    if aim.in_clear and not dry_run:
        warning("the password crosses the network unencrypted; the broker can speak amqps")
    place = located(given, broker)
    with brokers_held_off(place, not dry_run):
        stored, chosen = _chosen(place, queues, where, mapping or [])
        return _carried_out(aim, stored, chosen, pace, (where, queues, mapping), dry_run, form)


def _chosen(
    place: DataLocation, queues: list[str] | None, where: str | None, mapping: list[str]
) -> tuple[StoredMessages, list[QueueToSend]]:
    from pagectl.running.reading import told_state
    from pagectl.sending.messages import QueueToSend, StoredMessages
    from pagefmt.messages.large import LargeMessages
    from pagefmt.outstanding.message_filter import queue_ids
    from pagefmt.outstanding.state import CannotKnow
    from pagefmt.selector import parse

    selector = parse(where) if where is not None else None
    state = told_state(place, journal=True, pages=False)
    if state.bindings is None or state.unknown is not None:
        why = "the bindings are not there" if state.unknown is None else state.unknown.reason
        raise CannotKnow(f"{place.given}: {why}, so it is not known what to send where; see: pagectl pages verify")
    known = state.bindings.queues
    ids = queue_ids(queues, state.bindings) if queues else frozenset(known)
    if missing := sorted(ids - known.keys()):
        raise CallError(f"--queue {missing[0]}: no queue has this id; 'pagectl messages ls' lists them")
    wanted = (known[each] for each in ids if queues or not known[each].address.startswith("$"))
    found = sorted(wanted, key=lambda queue: (queue.address, queue.name))
    targets = _targets([(queue.address, queue.name) for queue in found], mapping)
    large = LargeMessages(place.large_messages) if place.large_messages is not None else None
    sending = [QueueToSend(queue, aim) for queue, aim in zip(found, targets, strict=True)]
    return StoredMessages(place, state, selector, large), sending


def _targets(queues: list[tuple[str, str]], mapping: list[str]) -> list[str]:
    """Where each queue's messages go. An address in the place of an address keeps the names of its queues, but for a
    queue that is named as its address."""
    rules: dict[str, str] = {}
    for rule in mapping:
        source, equals, aim = rule.partition("=")
        if not (source and equals and aim):
            raise CallError(f"--to-address {rule}: write FROM=TO, both an ADDRESS or ADDRESS::QUEUE")
        if rules.setdefault(source, aim) != aim:
            raise CallError(f"--to-address {rule}: {source} goes to {rules[source]} already")
    used: set[str] = set()
    found = []
    for address, name in queues:
        whole = f"{address}::{name}"
        source = next((each for each in (whole, address) if each in rules), "")
        used.add(source)
        if not source:
            found.append(whole)
        elif source == address and "::" not in rules[source]:
            found.append(f"{rules[source]}::{rules[source] if name == address else name}")
        else:
            found.append(rules[source])
    if unused := sorted(rules.keys() - used):
        raise CallError(
            f"--to-address {unused[0]}=…: no queue that is sent has this address or name; see: pagectl messages ls"
        )
    return found


def _carried_out(
    aim: Any, stored: StoredMessages, queues: list[QueueToSend], pace: PaceOptions, said: tuple[Any, ...],
    dry_run: bool, form: TextOrJson,
) -> int:  # fmt: skip
    from pagectl.sending.checkpoint import SendingCheckpoint
    from pagectl.sending.messages import Preparing
    from pagectl.sending.peer import ConnectionLost
    from pagectl.sending.run import Interrupted, Sending
    from pagectl.terminal.progress import Progress, progress

    preparing = Preparing(stored.place, stored.large)
    where, named, mapping = said
    call = {
        "source": preparing.source, "to": aim.url, "queues": sorted(named) if named else None, "where": where,
        "to_address": sorted(mapping) if mapping else None,
    }  # fmt: skip
    checkpoint = SendingCheckpoint(None if dry_run else pace.checkpoint, call)
    sending = Sending(aim, stored, preparing, checkpoint, Progress(), pace.duplicates, pace.rate)
    stopped: str | None = None
    status = int(Exit.OK)
    try:
        _in_doubt(stored, queues)
        if dry_run:
            _plan(sending, queues)
        else:
            sending.check(queues)
            if pace.checkpoint is None:
                note(
                    "no --checkpoint: after an interruption a second run sends from the beginning, and the broker "
                    f"drops what it has only as far as it remembers ids ({pace.duplicates} an address)"
                )
            with progress("sending", None, "messages") as bar:
                sending.bar = bar
                sending.run(queues)
    except Interrupted as err:
        status, stopped = err.status, "interrupted"
    except ConnectionLost as err:
        status, stopped = Exit.FAILED, str(err)
    finally:
        checkpoint.close()
    if form is TextOrJson.json:
        print_json(_object(sending, queues, dry_run, stopped))
    else:
        _text(sending, queues, dry_run)
    _tell(sending, queues)
    if stopped is not None:
        how = f"to go on, call the same again: {pace.checkpoint} has how far it went"
        report(f"{stopped}; {how if pace.checkpoint is not None else 'to go on, call the same again'}")
        return status
    doubt = any(each.totals.in_doubt or each.totals.failure for each in queues)
    wrong = sending.refusals or doubt or stored.damaged or stored.state.known.damaged
    return Exit.FOUND if wrong else Exit.OK


def _in_doubt(stored: StoredMessages, queues: list[QueueToSend]) -> None:
    """Counted where there is a prepared transaction at all."""
    if not stored.state.journal.prepared:
        return
    from pagectl.decoding.counts import counted

    counts, _ = counted(stored.place, stored.state, beside_output=False)
    for each in queues:
        each.totals.in_doubt = counts.queues[each.queue.id].in_doubt


def _plan(sending: Sending, queues: list[QueueToSend]) -> None:
    """What would be sent, by a broker that takes core messages as they are; lost: by one that does not."""
    from pagefmt.bytes.files import NotReadable
    from pagefmt.bytes.wire import Undecodable
    from pagefmt.exchange.outgoing import SendingWay

    for each in queues:
        for queued in sending.stored.of(each.queue):
            try:
                sending.preparing.ready(each, queued, tunnel=False)
            except (Undecodable, NotReadable) as err:
                sending.refused(each, queued.id, f"cannot be read: {err}")
        ways = each.totals.ways
        ways[SendingWay.TUNNELLED] = ways.pop(SendingWay.CONVERTED, 0)


def _object(sending: Sending, queues: list[QueueToSend], dry_run: bool, stopped: str | None) -> dict[str, Any]:
    return {
        "done": not dry_run and stopped is None,
        "stopped": stopped,
        "to": sending.target.url,
        "broker": None if sending.product is None else {"product": sending.product, "version": sending.version},
        "queues": [
            {
                "queue": each.queue.name, "address": each.queue.address, "id": each.queue.id, "target": each.target,
                "messages": each.totals.messages, "bytes": each.totals.bytes,
                **{way.name.lower(): each.totals.ways[way] for way in _ways()},
                "scheduled": each.totals.scheduled, "expired": each.totals.expired, "in_doubt": each.totals.in_doubt,
                "sent": each.totals.sent, "sent_before": each.totals.before, "refused": each.totals.refused,
                "failure": each.totals.failure,
            }
            for each in queues
        ],
        "lost": [
            {"way": way.name.lower(), "what": what, "messages": count}
            for (way, what), count in sorted(sending.preparing.lost.items())
        ],
        "refused": [each._asdict() for each in sending.refusals],
    }  # fmt: skip


def _ways() -> list[Any]:
    from pagefmt.exchange.outgoing import SendingWay

    return list(SendingWay)


def _text(sending: Sending, queues: list[QueueToSend], dry_run: bool) -> None:
    from pagefmt.exchange.outgoing import SendingWay

    heads = ("MESSAGES", "BYTES", *(way.value.upper() for way in _ways()))
    shown = [each for each in queues if each.totals.messages or each.totals.before or each.totals.failure]
    if not shown:
        print("no message to send")
        return
    last = () if dry_run else ("SENT", "REFUSED")
    rows = (_cells(each, dry_run) for each in shown)
    print_table((*heads, *last, "QUEUE", "TARGET"), rows, right=(*heads, *last))
    broker = "" if sending.version is None else f" ({one_line(sending.product or '')} {one_line(sending.version)})"
    total = count_text(sum(each.totals.messages if dry_run else each.totals.sent for each in queues), "message")
    print(f"would send {total} to {sending.target.url}" if dry_run else f"sent {total} to {sending.target.url}{broker}")
    if dry_run and any(each.totals.ways[SendingWay.TUNNELLED] for each in queues):
        note("tunnelled: brokers before 2.32 do not take that; to these such messages are sent converted")


def _cells(each: QueueToSend, dry_run: bool) -> tuple[object, ...]:
    totals = each.totals
    ways = [totals.ways[way] for way in _ways()]
    last = () if dry_run else (totals.sent, totals.refused)
    return (totals.messages, size_text(totals.bytes), *ways, *last, each.name, each.target)


def _tell(sending: Sending, queues: list[QueueToSend]) -> None:
    for each in queues:
        totals = each.totals
        if totals.failure is not None:
            warning(f"{each.name}: nothing sent: the broker refuses {each.target}: {totals.failure}")
        if totals.in_doubt:
            warning(
                f"{each.name}: {count_text(totals.in_doubt, 'message')} in doubt left out: prepared transactions wait"
            )
    for refusal in sending.refusals[:_TOLD]:
        warning(f"{refusal.queue}: message {refusal.id}: {refusal.why}")
    if len(sending.refusals) > _TOLD:
        warning(
            f"{count_text(len(sending.refusals) - _TOLD, 'more message')} refused or unreadable; --format json has them"
        )
    for (way, what), count in sending.preparing.lost.most_common():
        note(f"lost in {count_text(count, 'message')} that {'is' if count == 1 else 'are'} {way.value}: {what}")
    for told, count in (
        ("are scheduled, and are delivered at their time", sum(each.totals.scheduled for each in queues)),
        ("have expired: the broker there does with them what it does", sum(each.totals.expired for each in queues)),
    ):
        if count:
            note(f"{count_text(count, 'message')}: {told}")
