"""What Proton for Python cannot say in AMQP frames, and cannot hear: filtered in the bytes on their way.

An attach gets the capabilities that its sender desires, a transfer the message format that the first character of its
tag stands for; the capabilities that the other side offers are read out of its attach (AMQP 1.0, 2.7.3 and 2.7.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pagefmt.codec.messages.amqp_values import decode_amqp_value, encode_amqp_value
from pagefmt.codec.messages.values import NULL, TypedValue, ValueKind
from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable

LARGEST_FRAME: Final = 1 << 20  # bytes; Proton announces that it takes less
_PROTOCOL: Final = b"AMQP"
_ATTACH, _TRANSFER = 0x12, 0x14
_OFFERED, _DESIRED = 11, 12
_UINT, _UINT_0, _SMALL_UINT, _LIST8 = 0x70, 0x43, 0x52, 0xC0


class NotAmqp(Exception):
    """The other side does not speak AMQP 1.0."""


class Frames:
    """Cuts a stream into protocol headers and frames."""

    def __init__(self) -> None:
        self._rest = b""

    def cut(self, content: bytes) -> Iterator[bytes]:
        """Whole ones; the rest waits for what follows. Raises ``NotAmqp``."""
        content = self._rest + content if self._rest else content
        at, end = 0, len(content)
        while end - at >= 8:
            size = 8 if content[at : at + 4] == _PROTOCOL else int.from_bytes(content[at : at + 4], "big")
            if not 8 <= size <= LARGEST_FRAME:
                raise NotAmqp
            if end - at < size:
                break
            yield content[at : at + size]
            at += size
        self._rest = content[at:]


def performative(frame: bytes) -> int | None:
    """Return the performative code of a frame, or None if the frame is empty or is no AMQP frame."""
    at = frame[4] * 4
    if frame[:4] == _PROTOCOL or frame[5] != 0 or len(frame) < at + 3 or frame[at : at + 2] != b"\0\x53":
        return None
    return frame[at + 2]


class FramesOut:
    """Frames on their way out. ``formats``: the message format by the first character of a delivery's tag."""

    def __init__(self, desired: Sequence[str], formats: dict[int, int]) -> None:
        self._frames = Frames()
        self._desired, self._formats = desired, formats

    def filtered(self, content: bytes) -> bytes:
        """Return the complete frames in ``content``, changed as they are to be sent."""
        return b"".join(map(self._changed, self._frames.cut(content)))

    def _changed(self, frame: bytes) -> bytes:
        code = performative(frame)
        if code == _TRANSFER:
            return self._with_format(frame)
        return self._with_capabilities(frame) if code == _ATTACH else frame

    def _with_format(self, frame: bytes) -> bytes:
        """Return a transfer frame with the message format of its delivery.

        Proton always writes format 0 as one byte after handle, delivery id and tag, so the byte is replaced by a
        four-byte uint and the sizes of frame and list grow by four.
        """
        start = frame[4] * 4 + 3
        at = start + 3
        for _ in range(2):
            at += {_UINT_0: 1, _SMALL_UINT: 2, _UINT: 5}[frame[at]]
        assert frame[start] == _LIST8 and frame[at] == 0xA0
        form = self._formats[frame[at + 2]]
        if not form:
            return frame
        at += 2 + frame[at + 1]
        assert frame[at] == _UINT_0
        size = (len(frame) + 4).to_bytes(4, "big")
        listed = bytes((_LIST8, frame[start + 1] + 4))
        encoded = bytes((_UINT,)) + form.to_bytes(4, "big")
        return size + frame[4:start] + listed + frame[start + 2 : at] + encoded + frame[at + 1 :]

    def _with_capabilities(self, frame: bytes) -> bytes:
        at = frame[4] * 4
        reader = ByteReader(frame, at + 3)
        fields = list(decode_amqp_value(reader).value)
        fields += [NULL] * (_DESIRED + 1 - len(fields))
        fields[_DESIRED] = TypedValue(
            ValueKind.ARRAY, tuple(TypedValue(ValueKind.SYMBOL, name, 0xA3) for name in self._desired), 0xF0 | 0xA3 << 8
        )
        out = ByteWriter()
        encode_amqp_value(out, TypedValue(ValueKind.LIST, tuple(fields)))
        body = frame[4 : at + 3] + out.done()
        return (len(body) + 4).to_bytes(4, "big") + body


class FramesIn:
    """Frames on their way in. ``offered``: capabilities by the name of the link."""

    def __init__(self) -> None:
        self._frames = Frames()
        self.offered: dict[str, frozenset[str]] = {}

    def heard(self, content: bytes) -> None:
        """Record the capabilities offered in attach frames of ``content``. Raise ``NotAmqp`` if it is malformed."""
        for frame in self._frames.cut(content):
            if performative(frame) == _ATTACH:
                try:
                    fields = decode_amqp_value(ByteReader(frame, frame[4] * 4 + 3)).value
                    capabilities = fields[_OFFERED] if len(fields) > _OFFERED else NULL
                    names = capabilities.value if capabilities.kind is ValueKind.ARRAY else (capabilities,)
                    self.offered[str(fields[0].value)] = frozenset(str(name.value) for name in names)
                except (Undecodable, ValueError, TypeError, AttributeError, LookupError, RecursionError) as err:
                    raise NotAmqp from err
