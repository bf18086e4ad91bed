"""Sizes on the command line, written as in ``broker.xml``."""

from __future__ import annotations

from pagectl.running.exits import CallError


def size_of(text: str, option: str) -> int:
    """Return the bytes of an option's text, which may begin with ``-Xmx``. Raise ``CallError``."""
    from brokerconf.reading.sizes import SizeError, parse_size

    try:
        size = parse_size(text.removeprefix("-Xmx")).value
    except SizeError as err:
        raise CallError(f"{option} {text!r}: {err}; write it as 512M or 4G") from err
    if size <= 0:
        raise CallError(f"{option} {text!r}: a size above 0 is needed, such as 512M or 4G")
    return size
