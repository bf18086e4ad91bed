"""Where messages go: ``amqp[s]://HOST[:PORT]``, as whom, and how it is made sure who the other side is."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from brokerconf.reading.decoding import read_at_most

from pagectl.running.credentials import credentials
from pagectl.running.exits import CallError
from pagectl.running.jolokia import LOCAL

_PORTS: Final = {"amqp": 5672, "amqps": 5671}


@dataclass(frozen=True, slots=True)
class Target:
    """Where to send, and as whom. ``tls`` None: in the clear."""

    url: str
    host: str
    port: int
    user: str | None
    password: str
    tls: ssl.SSLContext | None
    certified: bool = False

    @property
    def in_clear(self) -> bool:
        """Return whether a password would cross the network unencrypted."""
        return self.user is not None and self.tls is None and self.host not in LOCAL


def target(url: str, file: Path | None, ca: Path | None, cert: Path | None, key: Path | None) -> Target:
    """Parse the target URL and the options beside it. Raise ``CallError`` or ``OSError``.

    ``file`` contains the credentials, None for an anonymous connection.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if "@" in url:
        raise CallError("--to: credentials do not belong in a URL, where others can see them; give --credentials FILE")
    plain = host and url.isascii() and url.isprintable() and " " not in url
    if not plain or parts.scheme not in _PORTS or parts.path.strip("/") or parts.query or parts.fragment:
        raise CallError(f"--to {url}: not the URL of a broker; write amqp://HOST:5672 or amqps://HOST:5671")
    assert host is not None
    if parts.scheme == "amqp" and (ca or cert or key):
        raise CallError("--ca, --cert and --key need TLS; write amqps://")
    raw = credentials(file)
    name, _, password = (raw or b"").decode("utf-8", "surrogateescape").partition(":")
    tls = _tls(ca, cert, key) if parts.scheme == "amqps" else None
    port = port or _PORTS[parts.scheme]
    return Target(
        f"{parts.scheme}://{parts.netloc}", host, port, None if raw is None else name, password, tls, cert is not None
    )


def _tls(ca: Path | None, cert: Path | None, key: Path | None) -> ssl.SSLContext:
    if key is not None and cert is None:
        raise CallError("--key: needs a certificate; name it with --cert")
    for option, path in (("--ca", ca), ("--cert", cert), ("--key", key)):
        if path is not None:
            read_at_most(path, 0)  # raises the error that names the file; that of ssl does not
            try:
                if option == "--ca":
                    context = ssl.create_default_context(cafile=str(path))
            except ssl.SSLError as err:
                raise CallError(f"--ca {path}: contains no certificate in PEM form") from err
    if ca is None:
        context = ssl.create_default_context()
    if cert is not None:
        try:
            context.load_cert_chain(cert, key, password=lambda: b"")
        except (ssl.SSLError, ValueError) as err:
            raise CallError(f"--cert {cert}: not a certificate in PEM form with an unencrypted key") from err
    return context
