"""Text from messages, addresses and file names, made safe for a terminal.

C0 controls (but newline and tab), DEL, C1, bidirectional and zero-width controls, and lone surrogates become visible
escapes. Rich does not do that by itself.
"""

from __future__ import annotations

import re

UNSAFE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_LINE_UNSAFE = f"[\n\t]|{UNSAFE}"


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return {9: "\\t", 10: "\\n", 13: "\\r", 27: "\\e"}.get(code, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _plain(text: str) -> bool:
    """Nearly every text is, and then the expressions are never compiled."""
    return text.isascii() and text.isprintable()


def visible(text: str) -> str:
    """Return the text with everything that could control a terminal as an escape; newline and tab stay."""
    return text if _plain(text) else re.sub(UNSAFE, _escape, text)


def one_line(text: str) -> str:
    """Return the text as ``visible`` does, with newlines and tabs as escapes: for a table cell or a log line."""
    return text if _plain(text) else re.sub(_LINE_UNSAFE, _escape, text)


def without_secrets(message: str) -> str:
    """Return a message without secrets, and with variables of the environment named instead of their values."""
    from brokerconf.reading.secrets import masked
    from brokerconf.reading.substitution import without_environment

    return masked(without_environment(message))


def csv_cell(text: str) -> str:
    """Return a text as a CSV cell: visible, and with ``'`` before what a spreadsheet would take for a formula."""
    safe = visible(text)
    return f"'{safe}" if safe.startswith(("=", "+", "-", "@", "\t", "\r")) else safe
