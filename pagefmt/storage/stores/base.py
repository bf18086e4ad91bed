"""What all stores share: how a URL names one, and how requests are made, repeated and given up."""

from __future__ import annotations

import errno
import re
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar, Final, TypeVar
from urllib.parse import parse_qsl

from pagefmt.errors import PageFmtError
from pagefmt.quantities import count_text
from pagefmt.storage.file_trees import FarEntry, FileTree
from pagefmt.storage.interruptible_calls import LIMITS, CallLimits, NoEnd, interruptibly

T = TypeVar("T")

RETRY_SECONDS: Final = 20.0  # after this long, a failed request is not repeated
MAX_FAILURES: Final = 3  # requests that fail for good, one after another; then the store counts as gone
GONE_SECONDS: Final = 60.0  # for this long, a store that is gone gets no request
_FIRST_PAUSE: Final = 0.2  # seconds; each further pause is twice as long
# a colon that no port follows belongs to a secret: half of a secret key that contains a slash
_HOST: Final = re.compile(r"[^:]*(:\d{1,5})?|\[[^]]*\](:\d{1,5})?")


class UnusableUrl(PageFmtError):
    """A URL that cannot be read, or must not be written so."""


class StoreLost(PageFmtError):
    """Raised if a store has failed to answer repeatedly: every reader of it ends."""


class RemoteStore(FileTree):
    """The files below the authority of a URL: a bucket, a container, a name node.

    A request that fails for good is like a disk that does not return a file. ``MAX_FAILURES`` of them in a row raise
    ``StoreLost``, and so does every request for a while, so that no export waits for each page of a store that is gone.
    """

    schemes: ClassVar[tuple[str, ...]]  # the first is the usual one
    form: ClassVar[str]  # how a URL is written
    holder: ClassVar[str] = "bucket"  # what the authority names
    settings: ClassVar[tuple[str, ...]] = ()  # names that may follow the ? of a URL, none of them secret

    def __init__(self, shown: str) -> None:
        self.shown = shown  # the URL without settings
        self._failures, self._failed_at = 0, 0.0

    @classmethod
    @abstractmethod
    def at(cls, scheme: str, authority: str, query: str) -> RemoteStore:
        """Return the store of a URL that ``check_url`` accepts. Raises ``UnusableUrl`` and ``OSError``."""

    @classmethod
    def takes_user(cls, user: str) -> bool:
        """Return whether this name may precede the @ of an authority."""
        return False

    @classmethod
    def check_url(cls, scheme: str, authority: str, query: str) -> None:
        """Raise ``UnusableUrl`` for a URL that names no bucket, has credentials or has unknown settings.

        The error's text contains nothing that may be secret.
        """
        user, at, host = authority.rpartition("@")
        if not host.partition(":")[0]:
            raise UnusableUrl(f"{scheme}:///…: names no {cls.holder}; give {cls.form}")
        has_user = bool(at) and (":" in user or not cls.takes_user(user))
        has_port = ":" in host and cls.holder != "host"
        if has_user or has_port or not _HOST.fullmatch(host) or "@" in query:
            raise UnusableUrl(
                f"{scheme}://…: credentials must not be in a URL; put them in the environment (AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, …) or the configuration of the store's tools"
            )
        for setting in filter(None, query.split("&")):
            name = setting.partition("=")[0]
            if name not in cls.settings:
                choices = f"known are {', '.join(cls.settings)}" if cls.settings else "none is known"
                raise UnusableUrl(f"{scheme}://…: there is no URL setting {name[:40]!r}; {choices}")

    @abstractmethod
    def translated(self, err: Exception) -> OSError | None:
        """Return the error of a local file that says the same, or None for an error of another kind.

        ``EIO`` stands for a failure that may pass; its request is repeated.
        """

    def ask(self, request: Callable[[], T], *, writes: bool = False) -> T:
        """Return the answer to a request, which is repeated if it fails for a reason that may pass.

        Args:
            request: Makes the request; called in another thread.
            writes: It sends or copies a file, so that it takes as long as the file is large.

        Raises:
            OSError: The store refuses the request, or keeps failing.
            StoreLost: The store is gone, or its answer has no end.
        """
        if self._failures >= MAX_FAILURES and time.monotonic() - self._failed_at < GONE_SECONDS:
            raise StoreLost(f"{self.shown}: the store does not answer; try again when it does")
        try:
            answer = self._repeated(request, None if writes else LIMITS)
        except NoEnd as err:
            self._failures, self._failed_at = MAX_FAILURES, time.monotonic()
            raise StoreLost(f"{self.shown}: an answer with {err}; is the address right, and that a store?") from err
        except OSError as err:
            self._failures = self._failures + 1 if err.errno == errno.EIO else 0
            self._failed_at = time.monotonic()
            if self._failures < MAX_FAILURES:
                raise
            raise StoreLost(f"{self.shown}: {err.strerror}, {MAX_FAILURES} times; try again when it answers") from err
        self._failures = 0
        return answer

    def _repeated(self, request: Callable[[], T], limits: CallLimits | None) -> T:
        start, pause, attempts = time.monotonic(), _FIRST_PAUSE, 0
        while True:
            attempts += 1
            try:
                return interruptibly(request, limits)
            except NoEnd:
                raise
            except Exception as err:
                reason, elapsed = self.translated(err), time.monotonic() - start
                if reason is None:
                    raise
                if reason.errno != errno.EIO:
                    raise reason from err
                if elapsed + pause > RETRY_SECONDS:
                    text = f"{reason.strerror} (tried {count_text(attempts, 'time')} in {elapsed:.0f} s)"
                    raise OSError(errno.EIO, text) from err
            time.sleep(pause)
            pause *= 2

    @abstractmethod
    def entries(self, inner: str, *, deep: bool = False) -> Iterator[FarEntry]:
        """Yield what is in a folder.

        ``deep``: with what is in its folders, by names with slashes; nothing if the folder does not exist.
        """

    @abstractmethod
    def put(self, inner: str, content: bytes | Path, *, in_place: bool = False) -> None:
        """Write a file, whole or not at all. ``content`` may be a local file.

        ``in_place``: the name exists at all times, while the bytes may be incomplete.
        """

    @abstractmethod
    def move(self, inner: str, target: str) -> None:
        """Rename a file, in place of another one if there is one."""

    @abstractmethod
    def remove(self, inner: str) -> None: ...

    @abstractmethod
    def remove_folder(self, inner: str) -> None:
        """Delete a folder with all that is in it, if it exists."""

    def make_folder(self, inner: str) -> None:
        """Create a folder and its parents, where a store has folders."""


def settings_of(query: str) -> dict[str, str]:
    """Return the settings after the ? of a URL."""
    return dict(parse_qsl(query))
