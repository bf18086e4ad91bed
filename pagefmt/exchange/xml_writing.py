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
from collections.abc import Iterable
from typing import Final, NamedTuple, TextIO

from pagefmt.bytes.files import NotReadable
from pagefmt.directory.bindings import Bindings
from pagefmt.exchange.core_form import CoreForm, core_form
from pagefmt.messages.large import LargeMessages, chunks
from pagefmt.messages.persisted import Message
from pagefmt.messages.values import TypedValue, ValueKind

PIECE: Final = 48 * 1024
"""Bytes of a large body in one piece."""
_TYPES: Final = {2: "object", 3: "text", 4: "bytes", 5: "map", 6: "stream"}
_KINDS: Final = {
    ValueKind.NULL: "bytes", ValueKind.BOOLEAN: "boolean", ValueKind.BYTE: "byte", ValueKind.SHORT: "short",
    ValueKind.INT: "integer", ValueKind.LONG: "long", ValueKind.FLOAT: "float", ValueKind.DOUBLE: "double",
    ValueKind.STRING: "simple-string", ValueKind.BYTES: "bytes",
}  # fmt: skip
_NULL: Final = "_AMQ_NULL"
_UNFIT: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_PLAIN: Final = re.compile(r"[^ !#-%'-;=?-~]")
_ESCAPED: Final = str.maketrans({
    "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;",
})  # fmt: skip


class XmlMessage(NamedTuple):
    """One message for some queues. ``large``: pieces of its body where that is in a file; None: ``form`` has it."""

    form: CoreForm
    queues: tuple[str, ...]
    large: Iterable[bytes] | None = None


class JournalXml:
    """Writes the document as its parts come."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n<activemq-journal>\n')

    def bindings(self, found: Bindings, queues: Iterable[int]) -> None:
        """``queues``: the ids of those that are wanted, with their addresses."""
        self._out.write("   <bindings>\n")
        wanted = [found.queues[queue] for queue in queues]
        names = {queue.address for queue in wanted}
        for address in found.addresses.values():
            if address.name in names:
                self._empty("address-binding", 2, [
                    ("routing-types", ",".join(address.routing)), ("name", address.name), ("id", str(address.id)),
                ])  # fmt: skip
        for queue in wanted:
            self._empty("queue-binding", 2, [
                ("address", queue.address), ("filter-string", queue.filter or ""), ("name", queue.name),
                ("id", str(queue.id)), ("routing-type", queue.routing or "MULTICAST"),
            ])  # fmt: skip
        self._out.write("   </bindings>\n   <messages>\n")

    def message(self, one: XmlMessage) -> list[str]:
        """Writes it; returns what the document does not hold, a sentence each."""
        form, lost = one.form, list(one.form.lost)
        attributes = [
            ("id", str(form.id)), ("priority", str(form.priority)), ("expiration", str(form.expiration)),
            ("timestamp", str(form.timestamp)), ("type", _TYPES.get(form.type, "default")),
        ]  # fmt: skip
        if form.user_id is not None:
            attributes.append(("user-id", form.user_id))
        self._out.write(f"      <message{_written(attributes)}>\n         <properties>\n")
        for name, typed in form.properties.items():
            self._property(name, typed, lost)
        self._out.write("         </properties>\n         <queues>\n")
        for queue in one.queues:
            self._empty("queue", 4, [("name", queue)])
        self._out.write("         </queues>\n")
        self._body(one)
        self._out.write("      </message>\n")
        if not form.durable:
            lost.append("it becomes durable")
        return lost

    def end(self) -> None:
        """Behind the last message."""
        self._out.write("   </messages>\n</activemq-journal>\n")

    def _property(self, name: str, typed: TypedValue, lost: list[str]) -> None:
        kind, text = _KINDS.get(typed.kind), _value(typed)
        if kind is None:
            lost.append(f"property {name}: of kind {typed.kind.value}")
            return
        if _UNFIT.search(name) or _UNFIT.search(text):
            lost.append(f"property {name}: characters that XML does not allow")
        if typed.kind is ValueKind.STRING and text == _NULL:
            lost.append(f"property {name}: its text stands for null")
        self._empty("property", 4, [("name", name), ("value", text), ("type", kind)])

    def _body(self, one: XmlMessage) -> None:
        if one.large is None:
            self._out.write(f"         <body>\n            {_cdata(one.form.body)}\n         </body>\n")
            return
        self._out.write('         <body isLarge="true">\n')
        for piece in one.large:
            for at in range(0, len(piece), PIECE):
                self._out.write(f"            {_cdata(piece[at : at + PIECE])}\n")
        self._out.write("         </body>\n")

    def _empty(self, name: str, depth: int, attributes: list[tuple[str, str]]) -> None:
        self._out.write(f"{'   ' * depth}<{name}{_written(attributes)}/>\n")


def _written(attributes: list[tuple[str, str]]) -> str:
    return "".join([f' {name}="{_text(value)}"' for name, value in attributes])


def _text(value: str) -> str:
    return _UNFIT.sub("�", value).translate(_ESCAPED) if _NOT_PLAIN.search(value) else value


def _cdata(content: bytes) -> str:
    return f"<![CDATA[{urlsafe_b64encode(content).decode('ascii')}]]>"


def _value(typed: TypedValue) -> str:
    match typed.kind:
        case ValueKind.NULL:
            return _NULL
        case ValueKind.BOOLEAN:
            return "true" if typed.value else "false"
        case ValueKind.BYTES:
            return urlsafe_b64encode(typed.value).decode("ascii")
        case ValueKind.FLOAT:
            import numpy as np

            return _java(str(np.float32(typed.value)))
        case ValueKind.DOUBLE:
            return _java(repr(typed.value))
        case _:
            return str(typed.value)


def _java(number: str) -> str:
    """As Java's parsers take it."""
    return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(number, number)


def xml_message(message: Message, queues: tuple[str, ...], large: LargeMessages | None) -> XmlMessage:
    """A message of a page or journal. Raises ``Undecodable``, and ``NotReadable`` where its body is not there."""
    if not message.large:
        return XmlMessage(core_form(message), queues)
    file = large.find(message.id) if large is not None else None
    if file is None:
        raise NotReadable(f"message {message.id}: its file in the large-messages directory is not there")
    if message.protocol == "core":
        return XmlMessage(core_form(message), queues, chunks(file))
    return XmlMessage(core_form(message, b"".join(chunks(file))), queues)
