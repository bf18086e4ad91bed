"""Small paging directories made here, for what no golden case holds: nasty texts, odd files, many stores."""

from __future__ import annotations

from pathlib import Path

from pagefmt.codec.messages.core_message import CoreMessage, HeaderBlock
from pagefmt.codec.messages.properties import properties_bytes
from pagefmt.codec.messages.values import Property, string
from pagefmt.codec.pages.record import Layout, PageRecord, encode_record

FOLDER = "11111111-1111-11ee-8111-111111111111"


def message(message_id: int, address: str, text: str, properties: dict[str, str] | None = None) -> bytes:
    """Encode a core text message as a framed page record for queue 7."""
    entries = tuple(Property(name, string(value)) for name, value in (properties or {}).items())
    header = HeaderBlock(
        id=message_id,
        address_mark=1,
        address=address,
        user_mark=0,
        user_bytes=None,
        type=3,
        durable_mark=1,
        expiration=0,
        timestamp=1_700_000_000_000,
        priority=4,
        properties_bytes=properties_bytes(entries),
    )
    encoded = text.encode("utf-16-le", "surrogatepass")
    body = b"\x01" + len(encoded).to_bytes(4, "big") + encoded
    core = CoreMessage(message_id, 1, address, body, header)
    return encode_record(PageRecord(0, 0, -1, 0, Layout.NEW, 1, core, (7,)))


def store(paging: Path, address: str, pages: dict[int, bytes], folder: str = FOLDER) -> Path:
    """Write a store folder with the given page contents, by page number."""
    path = paging / folder
    path.mkdir(parents=True)
    (path / "address.txt").write_bytes(address.encode("utf-8") + b"\n")
    for number, content in pages.items():
        (path / f"{number:09d}.page").write_bytes(content)
    return path
