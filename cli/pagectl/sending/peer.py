"""The broker that messages are sent to: a connection with one sender link at a time.

Proton is the engine; bytes go through ``frames``. Socket and TLS are Python's own.
"""

from __future__ import annotations

import re
import select
import socket
import ssl
import time
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Final, NamedTuple

import cproton
from proton import SASL, Collector, Connection, Delivery, Message, ProtonException, Session, Transport

from pagectl.running.credentials import PASSWORD, USER
from pagectl.running.exits import CallError
from pagectl.sending.frames import FramesIn, FramesOut, NotAmqp
from pagectl.sending.target import Target
from pagefmt.directory.queue_names import FQQN
from pagefmt.exchange.outgoing import MessageFormat
from pagefmt.storage.files import NotReadable

# time limit for a connection or link to open
SECONDS: Final = 30.0
# first release of Artemis that creates the queue that a sender names, or refuses the sender
_MAKES_QUEUES: Final = (2, 29)
TUNNELLING: Final = "AMQ_CORE_MESSAGE_TUNNELING"
_TAGS: Final = {MessageFormat.AMQP: "0", MessageFormat.CORE: "1", MessageFormat.CORE_LARGE: "2"}
_FORMATS: Final = {ord(tag): form.value for form, tag in _TAGS.items()}
_SMALLEST_FRAME: Final = 512  # bytes; AMQP 1.0, 2.7.1
_BESIDE_PAYLOAD: Final = 128  # bytes of a frame left to header and performative: Proton is never to cut a frame itself
# delivery number of requests to the broker's management
_ASKED: Final = -1
_ANSWER: Final = 5.0  # seconds for an answer of management
_LARGEST_ANSWER: Final = 1 << 20  # bytes of an answer of management
_UNASKED: Final = 64 << 20  # bytes that may come without being asked for before the connection is ended
_LONGEST_REASON: Final = 300  # characters of what the broker says
_WAITING_OUTPUT: Final = 1 << 20
_PIECE: Final = 1 << 18


_RETURNED: Final = {
    Delivery.RELEASED: "the broker gave it back without a reason (released)",
    Delivery.MODIFIED: "the broker gave it back without a reason (modified)",
}
_OUTCOMES: Final = frozenset((Delivery.ACCEPTED, Delivery.REJECTED, *_RETURNED))


class ConnectionLost(Exception):
    """The connection has ended; the message has the reason. ``by_broker``: the broker ended it and gave the reason."""

    def __init__(self, why: str, *, by_broker: bool = False) -> None:
        super().__init__(why)
        self.by_broker = by_broker


class LinkEnded(Exception):
    """The broker accepts no messages for a target; the message has the reason."""


class PartlySent(Exception):
    """A message could not be read to its end after its first bytes were sent.

    The connection cannot be used any more.
    """


class SendingOutcome(Enum):
    """The outcome of a delivery. ``FULL``: the broker has no room; ``RETURNED``: it was released for another reason."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    FULL = "full"
    RETURNED = "returned"


class Settlement(NamedTuple):
    """How the broker settled the delivery ``number``. ``why``: its reason for not accepting the message."""

    number: int
    outcome: SendingOutcome
    why: str = ""


class Peer:
    """An open AMQP connection to a broker.

    ``unsure`` holds queues that this user may not look at, so that it is unknown whether they exist. The constructor
    raises ``CallError`` if the other side is no broker or refuses the user; it and all methods raise
    ``ConnectionLost``.
    """

    def __init__(self, where: Target) -> None:
        self._where = where
        self._socket = _connected(where)
        self._incoming = FramesIn()
        self._outgoing = FramesOut((TUNNELLING, "DELAYED_DELIVERY"), _FORMATS)
        self._output = bytearray()
        self._settled: list[Settlement] = []
        self._ended: str | None = None
        self._heard = where.tls is not None
        self.unsure: set[str] = set()
        self._links = self._given = 0
        self._link: Any = None
        self._senders: dict[str, Any] = {}
        self._asking: Any = None
        self._answer: str | None = None
        self._unasked = 0
        self._collector, self._connection, self._transport = Collector(), Connection(), Transport(Transport.CLIENT)
        self._begin()
        self._session = self._connection.session()
        self._session.open()
        self._until(lambda: bool(self._connection.state & Connection.REMOTE_ACTIVE), "connection")
        properties = self._connection.remote_properties
        properties = properties if isinstance(properties, dict) else {}
        self.product, self.version = (
            str(properties[key])[:_LONGEST_REASON] if key in properties else None for key in ("product", "version")
        )
        frame = min(self._transport.remote_max_frame_size or 1 << 20, 1 << 20)
        self._largest = max(frame, _SMALLEST_FRAME) - _BESIDE_PAYLOAD

    @property
    def knows_queues(self) -> bool:
        """Return whether the broker accepts ``address::queue`` as a target.

        Products other than Artemis are assumed to.
        """
        numbers = re.match(r"([0-9]{1,6})\.([0-9]{1,6})(?![0-9])", self.version or "")
        if numbers is None or "artemis" not in (self.product or ""):
            return True
        return (int(numbers[1]), int(numbers[2])) >= _MAKES_QUEUES

    def _begin(self) -> None:
        where, connection = self._where, self._connection
        connection.collect(self._collector)
        connection.hostname = where.host
        sasl = self._transport.sasl()
        sasl.allow_insecure_mechs = True
        if where.user is not None:
            connection.user, connection.password = where.user, where.password
            sasl.allowed_mechs("PLAIN")
        else:
            sasl.allowed_mechs("EXTERNAL" if where.certified else "ANONYMOUS")
        self._transport.bind(connection)
        connection.open()

    @property
    def credit(self) -> int:
        """Return how many more messages the broker accepts now."""
        return int(self._link.credit) if self._link is not None else 0

    @property
    def tunnels(self) -> bool:
        """Return whether the current link accepts core messages unchanged."""
        return TUNNELLING in self._incoming.offered.get(self._link.name, ())

    def attach(self, address: str, capability: str | None) -> None:
        """Replace all links by one to the address. Raise ``LinkEnded`` if the broker refuses it."""
        for link in self._senders.values():
            link.close()
        self._senders.clear()
        self._link = None
        whole, _, queue = address.partition(FQQN)
        if queue and self.knows_queues:
            self._ask_for(address, capability)
        elif queue and (whole != queue or capability != "queue"):
            raise LinkEnded(
                "brokers before 2.29 drop messages that are sent to a queue by its name; give an address: --to-address"
            )
        self.turn_to(address if self.knows_queues else whole, capability)

    def turn_to(self, address: str, capability: str | None) -> None:
        """Make the link to the address the current one, opening it if needed. Raise ``LinkEnded`` if it is refused."""
        link = self._senders.get(address)
        if link is None:
            link = self._session.sender(self._name("to"))
            self._open(link, address, capability)
            self._senders[address] = link
        self._link = link

    def _name(self, what: str) -> str:
        self._links += 1
        return f"pagectl-{what}-{self._links}"

    def _ask_for(self, address: str, capability: str | None) -> None:
        """Have the broker create the queue, or raise ``LinkEnded`` with its reason for not doing so.

        Brokers accept messages for a queue that does not exist, or belongs to another address, and drop them. A
        receiver without credit makes the broker create the queue or refuse (docs/spec/messages.md 16).
        """
        receiver = self._session.receiver(self._name("queue"))
        try:
            self._open(receiver, address, capability)
        except LinkEnded as err:
            if "unauthorized" not in str(err):
                raise
            self.unsure.add(address)
        receiver.close()

    def _open(self, link: Any, address: str | None, capability: str | None, seconds: float = SECONDS) -> None:
        mine, other = (link.target, link.source) if link.is_sender else (link.source, link.target)
        if address is not None:
            mine.address = address
        other.address = link.name
        if capability is not None:
            mine.capabilities.put_symbol(capability)
        link.open()
        self._link = link
        self._until(lambda: bool(link.state & link.REMOTE_ACTIVE), f"link to {address}", seconds)
        remote = link.remote_target if link.is_sender else link.remote_source
        if remote.address is None:
            self._until(lambda: False, f"link to {address}", seconds)

    def ask(self, what: dict[str, str], body: str | None) -> str | None:
        """Ask the broker's management. Return None if there is no answer, and "" for one that is refused or too large.

        Raises ``LinkEnded`` if this user may not ask.
        """
        if self._asking is None:
            answers = self._session.receiver(self._name("answers"))
            answers.source.dynamic = True
            self._open(answers, None, None, _ANSWER)
            sender = self._session.sender(self._name("asking"))
            self._open(sender, "activemq.management", None, _ANSWER)
            self._asking = sender, answers
        self._link, answers = self._asking
        answers.flow(max(0, 1 - answers.credit))
        reply = answers.remote_source.address
        self._answer = None
        end = time.monotonic() + _ANSWER
        while self._answer is None and time.monotonic() < end:
            if self.credit and what:
                named = {"_AMQ_ResourceName": "broker", **what}
                message = Message(body=body, properties=named, reply_to=reply)
                self.send(_ASKED, MessageFormat.AMQP, [message.encode()])
                what = {}
            self._turn(0.5)
        return self._answer

    def send(self, number: int, form: MessageFormat, parts: Iterable[bytes]) -> None:
        """Send one delivery, in as many transfers as it takes; there is credit for it.

        Raises ``NotReadable`` if the first of its parts cannot be read, and ``PartlySent`` for a later one.
        """
        link, pieces = self._link._impl, _pieces(parts, self._largest)
        piece: bytes | None = next(pieces, b"")
        cproton.pn_delivery(link, f"{_TAGS[form]}{number}")
        while piece is not None:
            cproton.pn_link_send(link, piece)
            self._given += len(piece)
            try:
                piece = next(pieces, None)
            except NotReadable as err:
                raise PartlySent(str(err)) from err
            if piece is not None:
                self._drain()
        cproton.pn_link_advance(link)
        if self._given > _PIECE:
            self._drain()

    def settled(self, seconds: float) -> list[Settlement]:
        """Return the deliveries that the broker settled, waiting up to ``seconds`` for the first."""
        self._turn(0 if self._settled else seconds)
        for link in self._senders.values():
            self._check_open(link)
        settlements, self._settled = self._settled, []
        return settlements

    def _check_open(self, link: Any) -> None:
        """Raise ``LinkEnded`` if the broker has ended the link, or the session and all links with it."""
        for endpoint in (self._session, link):
            if endpoint is not None and endpoint.state & Session.REMOTE_CLOSED:
                raise LinkEnded(_condition_text(endpoint.remote_condition))

    def close(self) -> None:
        """Close the connection in AMQP terms if the broker answers within two seconds, else only the socket."""
        if self._socket.fileno() < 0:
            return
        try:
            self._connection.close()
            self._until(lambda: bool(self._connection.state & Connection.REMOTE_CLOSED), "end", seconds=2)
        except (ConnectionLost, LinkEnded, CallError):
            pass
        finally:
            self._socket.close()

    def drop(self) -> None:
        """Close the socket without notice to the broker."""
        self._socket.close()

    # -- the engine's turns -------------------------------------------------------------------------------------------

    def _until(self, done: Any, what: str, seconds: float = SECONDS) -> None:
        end = time.monotonic() + seconds
        while not done():
            left = end - time.monotonic()
            if left <= 0:
                raise ConnectionLost(f"{self._where.url}: no {what} within {seconds:g} s")
            self._turn(min(left, 1.0))
            self._check_open(self._link)

    def _drain(self) -> None:
        """Wait until at most ``_WAITING_OUTPUT`` bytes of output wait in Proton and in this object."""
        self._take_output()
        while len(self._output) + cproton.pn_session_outgoing_bytes(self._session._impl) > _WAITING_OUTPUT:
            self._turn(1.0)
            self._check_open(self._link)

    def _take_output(self) -> None:
        transport, self._given = self._transport, 0
        while (size := transport.pending()) > 0:
            content = bytes(transport.peek(size) or b"")
            transport.pop(len(content))
            self._output += self._outgoing.filtered(content)

    def _turn(self, seconds: float) -> None:
        self._transport.tick(time.monotonic())
        self._take_output()
        waits = [self._socket] if self._output else []
        pending = getattr(self._socket, "pending", lambda: 0)()
        try:
            readable, writable, _ = select.select([self._socket], waits, [], 0 if pending else seconds)
            if writable:
                self._write()
            if readable or pending:
                self._read()
        except ssl.SSLError as err:
            if "CERTIFICATE" in (err.reason or ""):
                raise CallError(
                    f"--to {self._where.url}: the broker requires a different client certificate; give --cert and --key"
                ) from err
            raise ConnectionLost(f"{self._where.url}: TLS: {err.reason or 'failed'}") from err
        except OSError as err:
            raise ConnectionLost(f"{self._where.url}: {err.strerror or err}") from err
        try:
            self._events()
        except (ValueError, TypeError, KeyError, AttributeError, AssertionError, ProtonException) as err:
            raise ConnectionLost(f"{self._where.url}: what it sends is not understood ({type(err).__name__})") from err
        if self._ended is not None:
            raise ConnectionLost(f"{self._where.url}: {self._ended}", by_broker=True)

    def _write(self) -> None:
        try:
            sent = self._socket.send(memoryview(self._output)[:_PIECE])
        except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            return
        del self._output[:sent]

    def _read(self) -> None:
        try:
            content = self._socket.recv(_PIECE)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return
        if not content:
            self._events()
            hint = "" if self._heard else " without giving a reason; does it expect TLS there (amqps)?"
            raise ConnectionLost(f"{self._where.url}: {self._ended or f'the broker ended the connection{hint}'}")
        self._heard = True
        try:
            self._incoming.heard(content)
        except NotAmqp:
            raise CallError(
                f"--to {self._where.url}: it does not speak AMQP 1.0; is the port right, and AMQP among the "
                "protocols of its acceptor?"
            ) from None
        view = memoryview(content)
        while view:
            room = self._transport.capacity()
            if room <= 0:
                break
            self._transport.push(bytes(view[:room]))
            view = view[room:]

    def _events(self) -> None:
        """Handle all collected events.

        Calls the C functions below Proton's classes, because the classes cost more time than everything else per
        message.
        """
        collector = self._collector._impl
        while not cproton.isnull(event := cproton.pn_collector_peek(collector)):
            kind = cproton.pn_event_type(event)
            if kind == cproton.PN_DELIVERY:
                self._delivery(cproton.pn_event_delivery(event))
            elif kind == cproton.PN_CONNECTION_REMOTE_CLOSE:
                condition = self._connection.remote_condition
                self._ended = _condition_text(condition)
                if "AMQ229031" in self._ended:
                    self._not_let_in()
            elif kind == cproton.PN_TRANSPORT_ERROR and self._ended is None:
                self._refused(self._transport.condition)
            cproton.pn_collector_pop(collector)

    def _refused(self, condition: Any) -> None:
        if condition is not None and condition.name == "amqp:unauthorized-access":
            rejected = self._transport.sasl().outcome == SASL.AUTH or "mechanism" not in (condition.description or "")
            self._not_let_in(
                "" if rejected else f"it accepts none of the authentication mechanisms offered; {condition.description}"
            )
        self._ended = _condition_text(condition)

    def _not_let_in(self, how: str = "") -> None:
        nobody = self._where.user is None
        how = how or (f"give --credentials FILE, or {USER} and {PASSWORD}" if nobody else "user or password is wrong")
        raise CallError(f"--to {self._where.url}: the broker refused the login: {how}")

    def _delivery(self, delivery: Any) -> None:
        """Handle an event of a delivery: store an answer of management, or how the broker settled a message.

        A delivery without a final outcome is left until its next event. Why a message was not accepted: FULL if the
        address has no room, REJECTED if the broker refuses the message, RETURNED if another attempt may succeed. A
        request to management that was not accepted counts as an empty answer.
        """
        if cproton.pn_link_is_receiver(cproton.pn_delivery_link(delivery)):
            self._answered(delivery)
            return
        state = cproton.pn_delivery_remote_state(delivery)
        settled = cproton.pn_delivery_settled(delivery)
        if not (settled or state in _OUTCOMES) or not cproton.pn_delivery_updated(delivery):
            return
        number, outcome, why = int(cproton.pn_delivery_tag(delivery)[1:]), SendingOutcome.ACCEPTED, ""
        untyped: Any = Delivery  # also where Proton is not installed
        remote = untyped.wrap(delivery).remote
        if state == Delivery.REJECTED:
            condition = remote.condition
            full = condition is not None and condition.name == "amqp:resource-limit-exceeded"
            outcome, why = SendingOutcome.FULL if full else SendingOutcome.REJECTED, _condition_text(condition)
        elif state == Delivery.MODIFIED and remote.undeliverable:
            outcome, why = SendingOutcome.REJECTED, "the broker cannot deliver it there (modified, undeliverable here)"
        elif state != Delivery.ACCEPTED:
            outcome, why = SendingOutcome.RETURNED, _RETURNED.get(state, "the broker settled it without an outcome")
        if number != _ASKED:
            self._settled.append(Settlement(number, outcome, why))
        elif outcome is not SendingOutcome.ACCEPTED:
            self._answer = ""
        cproton.pn_delivery_settle(delivery)

    def _answered(self, raw: Any) -> None:
        """Store an answer of management. One that is too large becomes "", and its remaining bytes are discarded."""
        untyped: Any = Delivery  # also where Proton is not installed
        delivery = untyped.wrap(raw)
        size = delivery.pending
        if self._answer is not None or size > _LARGEST_ANSWER:
            self._answer = ""
            delivery.link.recv(size)
            self._unasked += size
            if self._unasked > _UNASKED:
                raise ConnectionLost(f"{self._where.url}: its answer does not end; is it a broker?")
        elif delivery.readable and not delivery.partial:
            message = Message()
            try:
                message.decode(delivery.link.recv(size) or b"")
                self._answer = str(message.body or "")
            except (ProtonException, ValueError, TypeError, KeyError, RecursionError):
                self._answer = ""
            delivery.update(Delivery.ACCEPTED)
            delivery.settle()


def _condition_text(condition: Any) -> str:
    if condition is None:
        return "ended without a reason"
    text = " ".join(f"{condition.name or ''}: {condition.description or 'no reason given'}".split())
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"


def _pieces(parts: Iterable[bytes], largest: int) -> Iterator[bytes]:
    for part in parts:
        if len(part) <= largest:
            yield part
        else:
            for at in range(0, len(part), largest):
                yield part[at : at + largest]


def _connected(where: Target) -> Any:
    try:
        connection = socket.create_connection((where.host, where.port), SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if where.tls is not None:
            connection = where.tls.wrap_socket(connection, server_hostname=where.host)
    except ssl.SSLCertVerificationError as err:
        what = "" if "mismatch" in err.verify_message else "; name your authority with --ca"
        raise CallError(f"--to {where.url}: its certificate is not trusted: {err.verify_message}{what}") from err
    except ssl.SSLError as err:
        raise CallError(f"--to {where.url}: it does not speak TLS, or only an insecure version; is it amqp?") from err
    except OSError as err:
        raise ConnectionLost(f"{where.url}: {err.strerror or err}") from err
    connection.setblocking(False)
    return connection
