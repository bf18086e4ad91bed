"""Questions to a running broker through Jolokia (HTTP and JSON), as its console has it. Nothing is changed there.

The other side is not trusted: it may be slow, large, or something else. The password leaves in one header alone, over
no redirect and no proxy, and is in no message.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from pagectl.running.credentials import PASSWORD, USER, credentials
from pagectl.running.deadline import Answer, TimedOut, within
from pagectl.running.exits import CallError

# path of Jolokia in the console of Artemis
PATH: Final = "/console/jolokia"
# time limit of one answer, from its first byte to its last
SECONDS: Final = 30.0
LARGEST: Final = 64 << 20
LOCAL: Final = ("localhost", "127.0.0.1", "::1")


class Console(NamedTuple):
    """Where to ask, and as whom; ``authorization`` is a header's value, empty: as nobody."""

    url: str
    origin: str
    authorization: str

    @property
    def in_clear(self) -> bool:
        """Return whether a password would cross the network unencrypted."""
        parts = urlsplit(self.url)
        return bool(self.authorization) and parts.scheme == "http" and parts.hostname not in LOCAL


def console(url: str, file: Path | None) -> Console:
    """Parse the URL of a console. Raise ``CallError`` or ``OSError``.

    ``file`` contains USER:PASSWORD; without it, two environment variables are read.
    """
    try:
        parts = urlsplit(url)
        is_http = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        is_http = False
    if "@" in url:
        raise CallError(
            "--jolokia: credentials do not belong in a URL, where others can see them; give --credentials FILE"
        )
    if not is_http or not url.isascii() or not url.isprintable() or " " in url or parts.query or parts.fragment:
        raise CallError(f"--jolokia {url}: not a URL of a console; write http://HOST:8161{PATH}")
    path = parts.path.rstrip("/")
    path = PATH if path in ("", "/console") else path
    return Console(f"{parts.scheme}://{parts.netloc}{path}/", f"{parts.scheme}://{parts.netloc}", _basic(file))


def _basic(file: Path | None) -> str:
    raw = credentials(file)
    return "" if raw is None else f"Basic {base64.b64encode(raw).decode('ascii')}"


def ask(place: Console, reads: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the value of each read, empty if no bean matches. Raise ``CallError``."""
    content = json.dumps([{"type": "read", **request} for request in reads]).encode()
    try:
        answer = within(SECONDS, lambda: _posted(place, content))
    except TimedOut:
        answer = Answer(1, err=f"no complete answer within {SECONDS:g} s; is it the broker's console?")
    if answer.status:
        raise CallError(f"{place.url}: {answer.err}")
    try:
        answers = json.loads(answer.out)
    except (ValueError, RecursionError):
        answers = None
    if isinstance(answers, dict) and "status" in answers:
        answers = [answers] * len(reads)
    if not isinstance(answers, list) or len(answers) != len(reads):
        raise CallError(f"{place.url}: the answer is not Jolokia's; {_where()}")
    return [_value(place, request) for request in answers]


def _where() -> str:
    return f"the console of Artemis has it at {PATH}"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Refuse redirects, so that credentials go to no other host."""


def _posted(place: Console, content: bytes) -> Answer:
    """Return the response as text, or the reason why there is none, with a status other than 0."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Origin": place.origin}
    if place.authorization:
        headers["Authorization"] = place.authorization
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)
    try:
        with opener.open(urllib.request.Request(place.url, content, headers), timeout=SECONDS) as stream:
            raw = stream.read(LARGEST + 1)
    except urllib.error.HTTPError as err:
        return Answer(1, err=_refused(err.code, bool(place.authorization)))
    except (OSError, http.client.HTTPException) as err:
        return Answer(1, err=_failed(err))
    if len(raw) > LARGEST:
        return Answer(1, err=f"the answer is larger than {LARGEST >> 20} MiB; is it the broker's console?")
    return Answer(0, raw.decode("utf-8", "replace"))


def _refused(code: int, named: bool) -> str:
    if code in (401, 403):
        if not named:
            return f"HTTP {code}: it requires a user; give --credentials FILE, or {USER} and {PASSWORD}"
        return f"HTTP {code}: user or password is wrong, or the user has no role for the console (etc/management.xml)"
    if 300 <= code < 400:
        return f"HTTP {code}: it redirects, and credentials are not sent to another place; {_where()}"
    return f"HTTP {code}: not Jolokia, or not working; {_where()}"


def _failed(err: OSError | http.client.HTTPException) -> str:
    reason = err.reason if isinstance(err, urllib.error.URLError) else err
    if isinstance(reason, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {reason.verify_message}; name your authority with SSL_CERT_FILE"
    if isinstance(reason, ssl.SSLError):
        return "it does not speak TLS, or only an insecure version; is it http?"
    if isinstance(reason, OSError):
        return f"cannot be reached: {reason.strerror or reason}; is the console on, and the port right?"
    return "it does not speak HTTP; is the port right?"


def _value(place: Console, answer: Any) -> dict[str, Any]:
    status = answer.get("status") if isinstance(answer, dict) else None
    if status == 404:
        return {}
    value = answer.get("value") if status == 200 else None
    if isinstance(value, dict):
        return value
    error = str(answer.get("error", "")) if isinstance(answer, dict) else ""
    if status == 403 and "rigin" in error:
        raise CallError(
            f"{place.url}: calls from {place.origin} are not allowed (etc/jolokia-access.xml); "
            "name the host as it is allowed there"
        )
    if status == 403:
        raise CallError(f"{place.url}: the user may not read the broker's beans (etc/management.xml)")
    shown = f" (status {status:d})" if isinstance(status, int) else ""
    raise CallError(f"{place.url}: not Jolokia, or not working{shown}; {_where()}")
