"""A broker's messages and bindings as the XML that ``artemis data imp`` takes (docs/spec/messages.md 13).

    <activemq-journal>
       <bindings>  <address-binding routing-types name id/>  <queue-binding address filter-string name id routing-type/>
       <messages>  <message id priority expiration timestamp type user-id>
                      <properties> <property name value type/>   <queues> <queue name/>   <body isLarge> CDATA, Base64

Bodies are Base64 of the URL-safe alphabet; a large one is cut into pieces with white space between, each decoded alone.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, BinaryIO, Final, NamedTuple

from pagefmt.codec.messages.core_fields import BYTES, DEFAULT, MAP, MESSAGE_TYPES, OBJECT, STREAM, TEXT
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.messages.values import TypedValue, ValueKind
from pagefmt.directory.bindings import Bindings
from pagefmt.exchange.core_form import CoreForm, core_form
from pagefmt.storage.files import NotReadable

PIECE: Final = 48 * 1024  # bytes of a large body in one piece
_TOGETHER: Final = 1 << 18  # characters that are written at once
_NAMED_TYPES: Final = frozenset((OBJECT, TEXT, BYTES, MAP, STREAM))
_KINDS: Final = {
    ValueKind.NULL: "bytes", ValueKind.BOOLEAN: "boolean", ValueKind.BYTE: "byte", ValueKind.SHORT: "short",
    ValueKind.INT: "integer", ValueKind.LONG: "long", ValueKind.FLOAT: "float", ValueKind.DOUBLE: "double",
    ValueKind.STRING: "simple-string", ValueKind.BYTES: "bytes",
}  # fmt: skip
NULL_TEXT: Final = "_AMQ_NULL"  # represents null
UNFIT: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NOT_PLAIN: Final = re.compile(r"[^ !#-%'-;=?-~]")
_ESCAPED: Final = str.maketrans({
    "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;",
})  # fmt: skip


class XmlMessage(NamedTuple):
    """One message for some queues. ``large``: pieces of its body from a file; None if ``form`` contains the body."""

    form: CoreForm
    queues: tuple[str, ...]
    large: Iterable[bytes] | None = None


class JournalXml:
    """Writes the document to ``out``, in UTF-8, as its parts come."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._waiting: list[str] = []
        self._size = 0
        self._write('<?xml version="1.0" encoding="UTF-8"?>\n<activemq-journal>\n')

    def bindings(self, bindings: Bindings, queues: Iterable[int]) -> None:
        """Write the bindings of the queues with these ids, and their addresses."""
        self._write("   <bindings>\n")
        wanted = [bindings.queues[queue] for queue in queues]
        names = {queue.address for queue in wanted}
        for address in bindings.addresses.values():
            if address.name in names:
                self._empty(
                    "address-binding",
                    [("routing-types", ",".join(address.routing)), ("name", address.name), ("id", str(address.id))],
                )
        for queue in wanted:
            self._empty(
                "queue-binding",
                [
                    ("address", queue.address),
                    ("filter-string", queue.filter or ""),
                    ("name", queue.name),
                    ("id", str(queue.id)),
                    ("routing-type", queue.routing or "MULTICAST"),
                ],
            )
        self._write("   </bindings>\n   <messages>\n")

    def elements(self, content: memoryview) -> None:
        """Write finished elements."""
        self._flush()
        self._out.write(content)

    def _write(self, text: str) -> None:
        self._waiting.append(text)
        self._size += len(text)
        if self._size >= _TOGETHER:
            self._flush()

    def _flush(self) -> None:
        self._out.write("".join(self._waiting).encode())
        self._waiting.clear()
        self._size = 0

    def message(self, message: XmlMessage) -> list[str]:
        """Write a message. Return what the document does not preserve, one sentence each."""
        text, lost = message_text(message)
        self._write(text)
        if message.large is not None:
            self._large_body(message.large)
        return lost

    def end(self) -> None:
        """Behind the last message."""
        self._write("   </messages>\n</activemq-journal>\n")
        self._flush()

    def _large_body(self, pieces: Iterable[bytes]) -> None:
        self._write('         <body isLarge="true">\n')
        for piece in pieces:
            for at in range(0, len(piece), PIECE):
                self._write(f"            {_cdata(piece[at : at + PIECE])}\n")
        self._write("         </body>\n      </message>\n")

    def _empty(self, name: str, attributes: list[tuple[str, str]]) -> None:
        self._write(f"      <{name}{_written(attributes)}/>\n")


def message_text(message: XmlMessage) -> tuple[str, list[str]]:
    """Return the element of a message, up to a large body, and what the document does not preserve."""
    form, lost = message.form, list(message.form.lost)
    user = "" if form.user_id is None else f' user-id="{xml_text(form.user_id)}"'
    out = [
        f'      <message id="{form.id}" priority="{form.priority}" expiration="{form.expiration}"'
        f' timestamp="{form.timestamp}" type="{xml_type(form.type)}"{user}>\n'
        "         <properties>\n"
    ]
    for name, typed in form.properties.items():
        kind = typed.kind
        lead, close, unfit = property_frame(name, kind)
        if not close:
            lost.append(f"property {name}: of kind {kind.value}")
            continue
        text = value_text(typed)
        if kind is ValueKind.STRING and NOT_PLAIN.search(text):
            unfit = unfit or UNFIT.search(text) is not None
            text = xml_text(text)
        elif text == NULL_TEXT and kind is ValueKind.STRING:
            lost.append(f"property {name}: its text would be read as null")
        if unfit:
            lost.append(f"property {name}: characters that XML does not allow")
        out += (lead, text, close)
    out += ("         </properties>\n         <queues>\n", queue_elements(message.queues), "         </queues>\n")
    if message.large is None:
        out += ("         <body>\n            ", _cdata(form.body), "\n         </body>\n      </message>\n")
    if not form.durable:
        lost.append("it becomes durable")
    return "".join(out), lost


def xml_type(code: int) -> str:
    """Return the name of a message type in the document, which has default for the types that it does not name."""
    return MESSAGE_TYPES[code if code in _NAMED_TYPES else DEFAULT]


@lru_cache(maxsize=1 << 10)
def property_frame(name: str, kind: ValueKind) -> tuple[str, str, bool]:
    """Return the text before and after a property's value, and whether its name contains characters unfit for XML.

    Both texts are empty if no kind of the document fits.
    """
    if kind not in _KINDS:
        return "", "", False
    lead = f'            <property name="{xml_text(name)}" value="'
    return lead, f'" type="{_KINDS[kind]}"/>\n', UNFIT.search(name) is not None


@lru_cache(maxsize=1 << 10)
def queue_elements(names: tuple[str, ...]) -> str:
    """Return an element for each queue."""
    return "".join(f'            <queue name="{xml_text(name)}"/>\n' for name in names)


def _written(attributes: list[tuple[str, str]]) -> str:
    return "".join([f' {name}="{xml_text(value)}"' for name, value in attributes])


def xml_text(value: str) -> str:
    """Return a value escaped for an attribute, with U+FFFD for characters that XML does not allow."""
    return UNFIT.sub("�", value).translate(_ESCAPED) if NOT_PLAIN.search(value) else value


def _cdata(content: bytes) -> str:
    return f"<![CDATA[{urlsafe_b64encode(content).decode('ascii')}]]>"


def value_text(typed: TypedValue) -> str:
    """Return a value as the document writes it, before escaping."""
    written = _WRITTEN.get(typed.kind)
    return str(typed.value) if written is None else written(typed.value)


def _single(value: float) -> str:
    import numpy as np

    return _java(str(np.float32(value)))


def _java(number: str) -> str:
    """Return a number as Java's parsers accept it."""
    return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(number, number)


_WRITTEN: Final[dict[ValueKind, Callable[[Any], str]]] = {
    ValueKind.NULL: lambda _: NULL_TEXT, ValueKind.BOOLEAN: lambda value: "true" if value else "false",
    ValueKind.BYTES: lambda value: urlsafe_b64encode(value).decode("ascii"), ValueKind.FLOAT: _single,
    ValueKind.DOUBLE: lambda value: _java(repr(value)),
}  # fmt: skip


def xml_message(message: Message, queues: tuple[str, ...], large: LargeMessages | None) -> XmlMessage:
    """Return a message of a page or journal for the document.

    Raises ``Undecodable``, and ``NotReadable`` if its large body is missing.
    """
    if not message.large:
        return XmlMessage(core_form(message), queues)
    file = large.find(message.id) if large is not None else None
    if file is None:
        raise NotReadable(f"message {message.id}: its file in the large-messages directory is missing")
    if message.protocol == "core":
        return XmlMessage(core_form(message), queues, file.chunks())
    return XmlMessage(core_form(message, b"".join(file.chunks())), queues)
