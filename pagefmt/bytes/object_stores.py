"""Files of object stores and HDFS, through pyarrow, and through fsspec where pyarrow has no such file system.

Credentials come from the environment and the files that the store's own tools use, never from a URL. A request that
fails for a reason that may pass is made again for a while; what is not there, or not allowed, is said at once.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import parse_qsl

from pagefmt.ahead import stay_alone
from pagefmt.bytes.trees import FarEntry, FileTree, OpenFile, status_of
from pagefmt.bytes.user_folders import NoHome, user_folder
from pagefmt.bytes.waiting import LIMITS, CallLimits, NoEnd, interruptibly
from pagefmt.bytes.writing import PARTIAL_SUFFIX
from pagefmt.errors import PageFmtError
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem, NativeFile

T = TypeVar("T")

AGAIN_FOR: Final = 20.0
"""Seconds after which a request that failed is not made again."""
LOST: Final = 3
"""Requests that fail to the end, one after another: the store is gone."""
LOST_FOR: Final = 60.0
"""Seconds for which nobody asks it then."""
_FIRST_WAIT: Final = 0.2
_ONE_REQUEST: Final = 4 << 20
"""Bytes that pyarrow reads by one request; more it reads by several."""
_ATTEMPTS: Final = 3
"""Of a request by the AWS library, milliseconds apart: an action takes several requests."""
_SAME: Final = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
_AZURE: Final = ("enable_tls", "blob_storage_authority", "dfs_storage_authority")
_HADOOP: Final = ("user", "kerb_ticket", "replication", "buffer_size")
SETTINGS: Final = {
    "s3": ("endpoint_override", "region", "scheme"), "gs": ("endpoint_override", "retry_limit_seconds", "scheme"),
    "abfs": _AZURE, "abfss": _AZURE, "hdfs": _HADOOP, "viewfs": _HADOOP,
}  # fmt: skip
"""What may stand behind the ? of a URL, by its scheme: nothing that is secret."""
_OTHER_REGION: Final = "the bucket is in another region, which has to be given as region=… after a ?"
_FINAL: Final = {
    "ACCESS_DENIED": (errno.EACCES, "the store denies access with these credentials"),
    "INVALID_ACCESS_KEY_ID": (errno.EACCES, "the store does not know the access key"),
    "INVALID_CLIENT_TOKEN_ID": (errno.EACCES, "the store does not know the access key"),
    "SIGNATURE_DOES_NOT_MATCH": (errno.EACCES, "the store does not accept the secret key"),
    "EXPIRED_TOKEN": (errno.EACCES, "the credentials have expired; renew them"),
    "INVALID_TOKEN": (errno.EACCES, "the store does not accept the session token"),
    "REQUEST_TIME_TOO_SKEWED": (errno.EACCES, "this machine's clock differs from the store's; set it"),
    "REQUEST_EXPIRED": (errno.EACCES, "this machine's clock differs from the store's; set it"),
    "PERMANENT_REDIRECT": (errno.ENXIO, _OTHER_REGION),
    "AUTHORIZATION_HEADER_MALFORMED": (errno.ENXIO, _OTHER_REGION),
    "NO_SUCH_BUCKET": (errno.ENXIO, "no such bucket in this store; check its name, and the store's address"),
    "MISSING_AUTHENTICATION_TOKEN": (errno.EACCES, "the store requires credentials"),
    "BlobNotFound": (errno.ENOENT, os.strerror(errno.ENOENT)),
    "ContainerNotFound": (errno.ENXIO, "no such container in this account; check the names of both"),
    "AuthenticationFailed": (errno.EACCES, "the store does not accept the credentials"),
    "AuthorizationFailure": (errno.EACCES, "the store does not accept the credentials"),
    "AuthorizationPermissionMismatch": (errno.EACCES, "the store denies access with these credentials"),
}  # fmt: skip
"""Words of Amazon's and Azure's libraries for what does not pass."""
_UNTOLD: Final = 255
"""The number of libhdfs for errors of Java that it has no other number for."""
_HADOOP_NEEDS: Final = (
    "hdfs needs Java (JAVA_HOME), Hadoop's native library (HADOOP_HOME or ARROW_LIBHDFS_DIR) and CLASSPATH of "
    "`hadoop classpath --glob`"
)
_HADOOP_LIMITS: Final = (
    f"ipc.client.rpc-timeout.ms={AGAIN_FOR * 1000:.0f}", "ipc.client.connect.max.retries.on.timeouts=0",
)  # fmt: skip
"""Its client would wait two minutes for each answer, and a quarter of an hour for a connection."""
_OWN_SIGNALS: Final = "-Xrs"
"""Else Java takes Ctrl-C for itself, and ends the process before that has cleaned up."""
_HADOOPS: Final = ("hdfs", "viewfs")
_USERLESS: Final = ("s3", "http", "https")
_BUCKETS: Final = ("s3", "gs", "abfs", "abfss")
_HOST: Final = re.compile(r"[^:]*(:\d{1,5})?|\[[^]]*\](:\d{1,5})?")
"""Of what a URL names: half of a secret key that has a slash is none."""
_FORMS: Final = {
    "s3": "s3://BUCKET/…", "gs": "gs://BUCKET/…", "abfs": "abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/…",
    "abfss": "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/…", "hdfs": "hdfs://HOST:PORT/…",
    "viewfs": "viewfs://CLUSTER/…",
}  # fmt: skip
"""How a URL of each scheme is written."""
_CONDITIONAL: Final = frozenset(("s3", "gcs", "abfs"))
_ODD: Final = re.compile(r"[^A-Za-z0-9._~=/-]")
"""In a name: what libraries write into URLs in different ways."""
_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_AZURES: Final = ".blob.core.windows.net"
_AZURE_KEYS: Final = {"AZURE_STORAGE_KEY": "account_key", "AZURE_STORAGE_SAS_TOKEN": "sas_token"}
_WORD: Final = re.compile(r"(?:AWS Error (\w+)|Azure Error: \[(\w+)\])(?: \(HTTP status (\d+)\)| (\d{3})\b)?")
_STORES_WORD: Final = re.compile(r"Unable to parse ExceptionName: (\w+)|<Code>(\w+)</Code>")
"""As Amazon's store writes it, in what libraries say that do not know it."""
_WORDLESS: Final = "No response body"
_NOTHING: Final = ".pagectl-nothing"
"""A folder that nobody has."""
_WORDY: Final = re.compile(
    r".*Azure Error: \[\] |.*Azure\d*Core\w*E: |google::cloud::Status\(|[\w ]+, with a last message of | error_info=.*"
    r"|.*Error performing \w+ \S+ in \S+ - |: <.*"
)
"""What Azure's and Google's libraries, and Rust's, say around their reason."""
_AUTHORITY: Final = re.compile(r"[\w.-]+(:\d{1,5})?")
_ABSENT: Final = re.compile(r"AWS Error NO_SUCH_KEY|^No such (?:file or )?directory")
_DENIED: Final = re.compile(
    r"HTTP status 40[13]|PERMISSION_DENIED|UNAUTHENTICATED|\] 40[13] |AuthenticationException|403 Forbidden"
    r"|401 Unauthorized|OAuth2 access token"
)


class UnusableUrl(PageFmtError):
    """A URL that cannot be read, or must not be written so."""


class StoreLost(PageFmtError):
    """A store that has failed to answer again and again: whatever is read there ends."""


class ObjectStore(FileTree):
    """The files below an authority: a bucket, a container, a name node.

    A request that fails to the end is like a disk that does not give a file; ``LOST`` of them one after another raise
    ``StoreLost``, and so does every other one for a while, so that no export waits for each page of a store that is
    gone.
    """

    def __init__(self, system: FileSystem, base: str, shown: str = "", query: str = "") -> None:
        self._system, self._base, self._shown, self._query = system, base.rstrip("/"), shown, query
        self._failed, self._lost_at = 0, 0.0
        self._bucket_seen = not self.flat

    @classmethod
    def at(cls, scheme: str, authority: str, query: str) -> ObjectStore:
        """Raises ``UnusableUrl``."""
        check_settings(scheme, authority, query)
        stay_alone()
        system, base = _file_system(_SAME.get(scheme, scheme), authority, query)
        found = cls(system, base, f"{scheme}://{authority}", query)
        if found.flat and not base.strip("/"):
            raise UnusableUrl(f"{scheme}://{authority}: names no container; give {_form(scheme)}")
        return found

    def _path(self, inner: str) -> str:
        return f"{self._base}/{inner}" if inner else self._base or "/"

    def ask(self, request: Callable[[], T], *, writes: bool = False) -> T:
        """What a request gives. Raises ``OSError`` and ``StoreLost``, also for an answer beyond the limits.

        ``writes``: it makes or copies a file, which takes as long as that is large.
        """
        if self._failed >= LOST and time.monotonic() - self._lost_at < LOST_FOR:
            raise StoreLost(f"{self._shown}: the store does not answer; try again when it does")
        try:
            found = patiently(lambda: self._worded(request), None if writes else LIMITS)
        except NoEnd as err:
            self._failed, self._lost_at = LOST, time.monotonic()
            raise StoreLost(f"{self._shown}: an answer with {err}; is the address right, and that a store?") from err
        except OSError as err:
            self._failed = self._failed + 1 if err.errno == errno.EIO else 0
            self._lost_at = time.monotonic()
            if self._failed < LOST:
                raise
            raise StoreLost(f"{self._shown}: {err.strerror}, {LOST} times; try again when it answers") from err
        self._failed = 0
        return found

    def _worded(self, request: Callable[[], T]) -> T:
        """What a request gives. An answer without content does not say why it is refused: that of a list does."""
        from pyarrow.fs import FileSelector

        try:
            return request()
        except OSError as err:
            if _WORDLESS in str(err):
                self._system.get_file_info(FileSelector(self._path(_NOTHING), allow_not_found=True))
            raise

    def status(self, inner: str) -> os.stat_result:
        """Folders have no time."""
        return self.ask(lambda: self.status_now(inner))

    def status_now(self, inner: str) -> os.stat_result:
        """Without patience. pyarrow takes what HDFS does not tell for what is not there: a list says which it is."""
        from pyarrow.fs import FileSelector, FileType

        path = self._path(inner)
        found = self._system.get_file_info(path)
        if found.type == FileType.NotFound:
            self._require_bucket()
            if self._renames:
                self._system.get_file_info(FileSelector(path))
                found = self._system.get_file_info(path)
        return _status(found)

    def _require_bucket(self) -> None:
        """What is not there may be the bucket itself, which is asked for once. Who may not ask has read in it."""
        from pyarrow.fs import FileType
        from pyarrow.lib import ArrowException

        if self._bucket_seen:
            return
        try:
            there = self._system.get_file_info(self._base).type != FileType.NotFound
        except (OSError, ArrowException) as err:
            if _translated(err).errno != errno.EACCES:
                raise
            there = True
        if not there:
            raise OSError(*_FINAL["ContainerNotFound" if self._system.type_name == "abfs" else "NO_SUCH_BUCKET"])
        self._bucket_seen = True

    def entries(self, inner: str, *, deep: bool = False) -> Iterator[FarEntry]:
        """Some stores list a folder among what it holds. ``deep``: with what is in folders, none where there is none.

        Such names have slashes. Of Google's pyarrow lists files alone, so that folders are found by all that they hold.
        A name may be both, of an object and in front of others: it comes twice, so that neither hides the other.
        """
        from pyarrow.fs import FileSelector

        folder = self._path(inner)
        recursive, folders = deep or self._system.type_name == "gcs", set[str]()
        asked = FileSelector(folder, allow_not_found=deep and not self._renames, recursive=recursive)
        try:
            listed = self.ask(lambda: self._system.get_file_info(asked))
        except FileNotFoundError:
            self.ask(self._require_bucket)
            if not deep:
                raise
            listed = []
        for each in listed:
            if not deep and each.path.rstrip("/") == folder and self._system.type_name == "s3":
                raise OSError(
                    errno.EINVAL,
                    "an object below it has two slashes in its key and is not seen; copy it to a key with one",
                )
            name = each.path.rstrip("/").removeprefix(folder).strip("/")
            first, slash, _ = name.partition("/")
            found = FarEntry(name, _status(each)) if deep or not slash else FarEntry(first, _folder())
            if found.is_dir():
                name = "" if found.name in folders else found.name
                folders.add(found.name)
            if name:
                yield found

    def opened(self, inner: str) -> OpenFile:
        """Its size is asked for at once."""
        return _StoredFile(self, inner, self.ask(lambda: self.opened_now(inner)))

    def opened_now(self, inner: str) -> NativeFile:
        """Without patience."""
        return self._system.open_input_file(self._path(inner))

    @property
    def flat(self) -> bool:
        """A file needs no folder that is made before; to make one of Azure's makes its container, too."""
        return self._system.type_name in ("s3", "gcs", "abfs")

    @property
    def _renames(self) -> bool:
        return bool(self._system.type_name == "hdfs")

    def put(self, inner: str, blocks: Callable[[], Iterable[bytes]], *, in_place: bool = False) -> None:
        """A file of these bytes, whole or not at all; they are asked for anew where it has to be made again.

        HDFS shows a file that is being written: it is written beside its name, then the old one goes away and the new
        one gets the name. ``in_place``: the name is there all the time, the bytes may not be.
        """
        path = self._path(inner)

        def once() -> None:
            beside = self._renames and not in_place
            to = path + PARTIAL_SUFFIX if beside else path
            try:
                with self._system.open_output_stream(to) as out:
                    for block in blocks():
                        out.write(block)
            except FileNotFoundError as err:
                raise self._why_nowhere() from err
            if beside:
                self._system.move(to, path)

        self.ask(once, writes=True)

    def _why_nowhere(self) -> OSError:
        """Google's store knows the bucket no more, or the upload, which has to begin anew."""
        from pyarrow.fs import FileSelector

        try:
            self._system.get_file_info(FileSelector(self._path(_NOTHING)))
        except FileNotFoundError:
            return OSError(*_FINAL["NO_SUCH_BUCKET"])
        except OSError:  # the bucket is there, the folder is not
            return OSError(errno.EIO, "an upload failed")
        return OSError(*_FINAL["NO_SUCH_BUCKET"])

    def create(self, inner: str, data: bytes) -> None:
        """A file of these bytes on condition that there is none. Raises ``FileExistsError``, also where an earlier
        request of this call has made it, whose answer was lost; ``UnusableUrl`` where a store has no such request.
        """
        from pagefmt.bytes.rust_store import put_new

        url, options = self._for_object_store(inner)
        self.ask(lambda: put_new(url, options, data), writes=True)

    def asked_by_others(self, inner: str) -> tuple[str, dict[str, str]]:
        """A URL and settings for deltalake, which asks stores through Rust's ``object_store``.

        It looks for credentials where they are looked for here, Azure's keys of the environment aside. Raises
        ``UnusableUrl``.
        """
        url, options = self._for_object_store(inner)
        options |= {"retry_timeout": f"{AGAIN_FOR:.0f}s", "max_retries": "100"}
        if self._system.type_name == "s3":
            options |= {"AWS_S3_ALLOW_UNSAFE_RENAME": "false", "AWS_FORCE_CREDENTIAL_LOAD": "true"}
        return url, options

    def _for_object_store(self, inner: str) -> tuple[str, dict[str, str]]:
        """A URL and settings by the names of that library, whatever the environment says of conditions."""
        if self._system.type_name not in _CONDITIONAL:
            raise UnusableUrl(
                f"{self._shown}: only s3, gs and abfs can write a file on condition that it does not exist"
            )
        if odd := _ODD.search(inner):
            raise UnusableUrl(f"{self._shown}/{inner}: give it a name without {odd[0]!r}")
        url, options = self._bucket_for_object_store()
        return f"{url}/{inner}", options

    def _bucket_for_object_store(self) -> tuple[str, dict[str, str]]:
        scheme, _, authority = self._shown.partition("://")
        kind = self._system.type_name
        options = {"s3": self._amazon_options, "gcs": self._google_options, "abfs": self._azure_options}[kind]()
        authority = authority.rpartition("@")[2] if kind == "gcs" else authority
        return f"{_SAME.get(scheme, scheme)}://{authority}", options

    def _amazon_options(self) -> dict[str, str]:
        found = {"aws_region": self._system.region, "aws_conditional_put": "etag"}
        settings = _amazon_settings(self._query)
        if host := settings.get("endpoint_override"):
            plain = settings.get("scheme") == "http"
            found["aws_endpoint_url"] = f"{'http' if plain else 'https'}://{host}"
            found["allow_http"] = str(plain).lower()
        return found

    def _google_options(self) -> dict[str, str]:
        settings = dict(parse_qsl(self._query))
        found = {"google_skip_signature": "true"} if "//anonymous@" in self._shown else {}
        if host := settings.get("endpoint_override"):
            scheme = settings.get("scheme", "https")
            found |= {"google_base_url": f"{scheme}://{host}", "allow_http": str(scheme == "http").lower()}
        return found

    def _azure_options(self) -> dict[str, str]:
        settings = _azure_settings(self._system)
        found = {name: settings[name] for name in _AZURE_KEYS.values() if settings.get(name)}
        host, scheme = settings.get("blob_storage_authority", ""), settings.get("blob_storage_scheme", "https")
        if host and (host, scheme) != (_AZURES, "https"):
            account = settings["account_name"]
            endpoint = f"{scheme}://{account}{host}" if host.startswith(".") else f"{scheme}://{host}/{account}"
            found |= {"azure_storage_endpoint": endpoint, "allow_http": str(scheme == "http").lower()}
        return found if found.keys() & _AZURE_KEYS.values() or not _signed_in() else found | {"use_azure_cli": "true"}

    def copy(self, inner: str, target: str) -> None:
        """Inside of the store."""
        self.ask(lambda: self._system.copy_file(self._path(inner), self._path(target)), writes=True)

    def move(self, inner: str, target: str) -> None:
        """A file: HDFS renames it, and puts it in the place of another; elsewhere it is copied, then deleted."""
        if self._renames:
            self._ask_for(inner, lambda: self._system.move(self._path(inner), self._path(target)))
            return
        self.copy(inner, target)
        with suppress(FileNotFoundError):
            self.remove(inner)

    def remove(self, inner: str) -> None:
        """A file."""
        if self._system.type_name == "abfs":
            from pagefmt.bytes.rust_store import delete

            container, options = self._bucket_for_object_store()
            self.ask(lambda: delete(container, options, inner))
            return
        self._ask_for(inner, lambda: self._system.delete_file(self._path(inner)))

    def _ask_for(self, inner: str, request: Callable[[], None]) -> None:
        """Where it fails the file may not be there: HDFS has the same number for that as for a failure."""

        def once() -> None:
            try:
                request()
            except OSError:
                self.status_now(inner)
                raise

        self.ask(once)

    def make_folder(self, inner: str) -> None:
        """With those above it, unless it is there."""
        self.ask(lambda: self._system.create_dir(self._path(inner), recursive=self._system.type_name != "s3"))

    def remove_folder(self, inner: str) -> None:
        """And all that is in it, if it is there."""
        with suppress(FileNotFoundError):
            self.ask(lambda: self._system.delete_dir(self._path(inner)))


class _StoredFile(OpenFile):
    """``_version``: what the store calls the content that was there when it was opened, None where it has no word."""

    __slots__ = ("_file", "_inner", "_size", "_started", "_store", "_version")

    def __init__(self, store: ObjectStore, inner: str, file: NativeFile) -> None:
        self._store, self._inner, self._file, self._started = store, inner, file, False
        self._size: int = file.size()
        self._version = _version(file)

    def size(self) -> int:
        return self._size

    def read_at(self, count: int, at: int) -> bytes:
        """What more than one request gives may be of two contents, where the object was replaced in between."""
        found = self.read_part(count, at)
        if self._started or count > _ONE_REQUEST:
            self.require_same()
        self._started = True
        return found

    def read_part(self, count: int, at: int) -> bytes:
        """Where it fails the file may have been deleted: that is looked for, because stores do not say so here."""
        count = min(count, self._size - at)

        def once() -> bytes:
            try:
                found: bytes = self._file.read_at(count, at)
            except OSError:
                self._store.status_now(self._inner)
                raise
            return found

        return self._store.ask(once) if count > 0 else b""

    def require_same(self) -> None:
        if self._version is None:
            return
        with self._store.ask(lambda: self._store.opened_now(self._inner)) as now:
            if (_version(now), now.size()) != (self._version, self._size):
                raise OSError(
                    errno.ESTALE, "it was replaced by another while it was read; read a copy that does not change"
                )

    def close(self) -> None:
        self._file.close()


def _version(file: NativeFile) -> str | None:
    """An ETag. HDFS and what fsspec reads have none."""
    told = {_text(name).lower(): _text(value) for name, value in (file.metadata() or {}).items()}
    return told.get("etag") or None


def _text(given: str | bytes) -> str:
    return given.decode("utf-8", "replace") if isinstance(given, bytes) else given


@cache
def fsspec_schemes() -> frozenset[str]:
    """None where it is not installed."""
    if find_spec("fsspec") is None:
        return frozenset()
    return frozenset(import_module("fsspec.registry").known_implementations)


def _form(scheme: str) -> str:
    return _FORMS.get(_SAME.get(scheme, scheme), f"{scheme}://HOST/…")


def _holder(scheme: str) -> str:
    """What the first name of a URL is."""
    scheme = _SAME.get(scheme, scheme)
    return "container" if SETTINGS.get(scheme) is _AZURE else "bucket" if scheme in _BUCKETS else "host"


def check_settings(scheme: str, authority: str, query: str) -> None:
    """Nothing secret may stand in a URL. Raises ``UnusableUrl``, whose text has none either."""
    user, at, host = authority.rpartition("@")
    if not host.partition(":")[0]:
        raise UnusableUrl(f"{scheme}:///…: names no {_holder(scheme)}; give {_form(scheme)}")
    scheme = _SAME.get(scheme, scheme)
    alone = at and scheme in _USERLESS
    if alone or ":" in user or not _HOST.fullmatch(host) or (":" in host and scheme in _BUCKETS) or "@" in query:
        raise UnusableUrl(
            f"{scheme}://…: credentials must not be in a URL; put them in the environment (AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, …) or the configuration of the store's tools"
        )
    if at and scheme in _HADOOPS:
        raise UnusableUrl(f"{scheme}://…: a user goes after the ? of a URL, as user=NAME")  # else it is not heeded
    known = SETTINGS.get(scheme, ())
    for each in filter(None, query.split("&")):
        name = each.partition("=")[0]
        if name not in known:
            there = f"known are {', '.join(known)}" if known else "none is known"
            raise UnusableUrl(f"{scheme}://…: there is no URL setting {name[:40]!r}; {there}")
        if name.endswith("authority") and not _AUTHORITY.fullmatch(each.partition("=")[2]):
            raise UnusableUrl(f"{scheme}://…: {name} is HOST or HOST:PORT")  # Azure's library would end the process


def _file_system(scheme: str, authority: str, query: str) -> tuple[FileSystem, str]:
    from pyarrow.fs import FileSystem

    if scheme == "s3":
        return _amazon(authority, query)
    if scheme in _HADOOPS:
        query = "&".join(filter(None, (query, *_HADOOP_LIMITS)))
        if _OWN_SIGNALS not in (given := os.environ.get("LIBHDFS_OPTS", "")):
            os.environ["LIBHDFS_OPTS"] = f"{given} {_OWN_SIGNALS}".strip()
    if scheme == "gs" and "retry_limit_seconds" not in query:
        query = "&".join(filter(None, (query, f"retry_limit_seconds={AGAIN_FOR:.0f}")))
    url = f"{scheme}://{authority}/" + (f"?{query}" if query else "")
    more = f"; {_HADOOP_NEEDS}" if scheme in _HADOOPS else f"; give {_form(scheme)}" if scheme in _FORMS else ""
    try:
        made_of = url if scheme in SETTINGS else f"fsspec+{url}"
        found: tuple[FileSystem, str] = interruptibly(lambda: FileSystem.from_uri(made_of))
    except ImportError as err:
        why = f"pyarrow has no such file system, and fsspec cannot provide it: {err}"
        raise UnusableUrl(f"{scheme}://{authority}: {why}") from err
    except (ValueError, NotImplementedError, OSError) as err:
        raise UnusableUrl(f"{scheme}://{authority}: {_short(err)}{more}") from err
    return (_with_azure_keys(found[0]), found[1]) if SETTINGS.get(scheme) is _AZURE else found


def _with_azure_keys(system: FileSystem) -> FileSystem:
    """With the key or the token that the environment has for its account, as Azure's own tools take them."""
    from pyarrow.fs import AzureFileSystem

    given = {name: os.environ[variable] for variable, name in _AZURE_KEYS.items() if os.environ.get(variable)}
    settings = _azure_settings(system)
    if not given or os.environ.get("AZURE_STORAGE_ACCOUNT") not in (None, "", settings["account_name"]):
        return system
    name = next(iter(given))
    return AzureFileSystem(**settings | {name: given[name]})


@cache
def _signed_in() -> bool:
    """To Azure by its own command line tool, which pyarrow's library asks before the identity of the machine."""
    try:
        folder = user_folder("AZURE_CONFIG_DIR", ".azure")
        return bool(json.loads((folder / "azureProfile.json").read_text("utf-8-sig")).get("subscriptions"))
    except (OSError, ValueError, AttributeError, NoHome):
        return False


def _azure_settings(system: FileSystem) -> dict[str, str]:
    """Those that it was made with, keys among them."""
    return {name: value for name, value in system.__reduce__()[1][0].items() if value}


def _amazon_settings(query: str) -> dict[str, str]:
    """Those of a URL, with the environment's endpoint."""
    settings = dict(parse_qsl(query))
    endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), None)
    if endpoint and "endpoint_override" not in settings:
        scheme, _, settings["endpoint_override"] = endpoint.rstrip("/").rpartition("://")
        settings["scheme"] = scheme or "https"
    return settings


def _amazon(bucket: str, query: str) -> tuple[FileSystem, str]:
    """Small files are written by one request. Its library repeats a request a few times, not for a minute."""
    from pyarrow.fs import AwsDefaultS3RetryStrategy, S3FileSystem, resolve_s3_region

    settings = _amazon_settings(query)
    if "endpoint_override" not in settings and "region" not in settings:
        settings["region"] = patiently(lambda: resolve_s3_region(bucket))
    few = AwsDefaultS3RetryStrategy(max_attempts=_ATTEMPTS)
    try:
        return S3FileSystem(**settings, retry_strategy=few, allow_delayed_open=True), bucket
    except (ValueError, OSError) as err:
        raise UnusableUrl(f"s3://{bucket}: {_short(err)}") from err


def _folder() -> os.stat_result:
    return status_of(stat.S_IFDIR | 0o700)


def _status(found: FileInfo) -> os.stat_result:
    from pyarrow.fs import FileType

    if found.type == FileType.NotFound:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if found.type == FileType.Directory:
        return _folder()
    modified = (found.mtime_ns or 0) / 1e9
    return status_of(stat.S_IFREG | 0o600, found.size or 0, modified, modified)


def patiently(ask: Callable[[], T], limits: CallLimits | None = None) -> T:
    """What ``ask`` gives; asked again with pauses where it fails for a reason that may pass.

    Raises ``OSError``, and ``NoEnd`` for an answer beyond the limits.
    """
    from pyarrow.lib import ArrowException

    begun, wait, times = time.monotonic(), _FIRST_WAIT, 0
    while True:
        times += 1
        try:
            return interruptibly(ask, limits)
        except (OSError, ArrowException) as err:
            said, taken = _translated(err), time.monotonic() - begun
            if said.errno != errno.EIO:
                raise said from err
            if taken + wait > AGAIN_FOR:
                raise OSError(
                    errno.EIO, f"{said.strerror} (tried {count_text(times, 'time')} in {taken:.0f} s)"
                ) from err
        time.sleep(wait)
        wait *= 2


def _translated(err: Exception) -> OSError:
    """The same in the words of a local file; ``EIO``: what may pass. Azure's errors are none of the system's."""
    if isinstance(err, FileNotFoundError) or _ABSENT.search(str(err)):
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if isinstance(err, PermissionError):
        return PermissionError(*_FINAL["ACCESS_DENIED"])
    if isinstance(err, OSError) and err.errno == _UNTOLD:
        text = f"{_short(err).partition(' Detail')[0]} Hadoop's library wrote the reason to standard error"
        return OSError(errno.EIO, f"the store fails: {text}")
    if isinstance(err, OSError) and not isinstance(err, ConnectionError) and err.errno not in (None, errno.EIO):
        return OSError(err.errno, _short(err))
    number, text = _FINAL.get(_word(str(err))[0], (0, ""))
    if number:
        return OSError(number, text)
    if _DENIED.search(str(err)):
        return PermissionError(errno.EACCES, f"the store denies access: {_short(err)}")
    return OSError(errno.EIO, f"the store fails: {_short(err)}")


def _word(text: str) -> tuple[str, str]:
    """A store's word for why it fails, and the status of HTTP; empty where there is none."""
    found, named = _WORD.search(text), _STORES_WORD.search(text)
    word = (found[1] or found[2]) if found else ""
    if named and word in ("", "UNKNOWN"):
        word = named[1] or named[2]
        word = word if word in _FINAL else re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).upper()
    return word, (found[3] or found[4] or "") if found else ""


def why_refused(text: str) -> str | None:
    """What an error of a library says, in the words used here; None where it has no word of a store for it."""
    word = _word(text)[0]
    return _FINAL[word][1] if word in _FINAL else word or None


def _short(err: Any) -> str:
    """What a library says, on one line, without what may be secret: queries of URLs, and what follows its first line.

    Of S3 and Azure their word alone.
    """
    text = str(getattr(err, "strerror", None) or err).strip()
    word, status = _word(text)
    if word:
        return f"{word}, HTTP status {status}" if status else word
    text = _WORDY.sub("", text.partition("\n")[0])
    return re.sub(r"//[^\s/@]*:[^\s/@]*@", "//", re.sub(r"\?\S+", "", text))[:200].rstrip(": ")
