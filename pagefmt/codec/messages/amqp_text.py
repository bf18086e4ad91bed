"""AMQP values as the broker (Java) writes them as text."""

from __future__ import annotations

from pagefmt.codec.messages.values import TypedValue, ValueKind


def uuid_text(raw: bytes) -> str:
    """Return a UUID of 16 bytes in its usual form."""
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def identifier_text(typed: TypedValue) -> str | None:
    """Return a message id (ulong, uuid, binary or string) as text, None for null."""
    match typed.kind:
        case ValueKind.NULL:
            return None
        case ValueKind.UUID:
            return uuid_text(typed.value)
        case ValueKind.BYTES:
            return binary_text(typed.value)
        case _:
            return str(typed.value)


def binary_text(raw: bytes) -> str:
    r"""Print a binary as the broker's AMQP library does: printable ASCII as it is, other bytes as ``\xnn``."""
    return "".join(chr(b) if 0x20 <= b < 0x7F and b != 0x5C else f"\\x{b:02x}" for b in raw)


def annotation_name(name: str) -> str:
    """Return the annotation that brokers keep under a name of their own (docs/spec/messages.md 9).

    For example ``x-opt-ORIG-ADDRESS`` for ``_AMQ_ORIG_ADDRESS``. Other names are returned unchanged.
    """
    return f"x-opt-{name[5:].replace('_', '-')}" if name.startswith("_AMQ_") else name
