"""What stores are told by URLs and the environment, and how their refusals are worded; without a server of theirs."""

from __future__ import annotations

import errno
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from obstore.exceptions import GenericError, PermissionDeniedError

from pagefmt import parallel as ahead
from pagefmt.errors import PageFmtError
from pagefmt.storage.remote_paths import any_path, store_at
from pagefmt.storage.stores import STORES, base, s3
from pagefmt.storage.stores.bucket import BucketStore


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Hide the machine's credentials and store settings from the test."""
    for name in (*s3._OWN_CREDENTIALS, *s3._REGION_VARIABLES, *s3._ENDPOINTS, "AWS_PROFILE", "AZURE_STORAGE_ACCOUNT"):
        monkeypatch.delenv(name, raising=False)
    for name in s3._FILES:
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    yield
    store_at.cache_clear()
    ahead._fork_disabled = False


def bucket(url: str) -> BucketStore:
    store_at.cache_clear()
    store = store_at(any_path(url).parts[:2])
    assert isinstance(store, BucketStore)
    return store


class Regions(BaseHTTPRequestHandler):
    """Says of each bucket where it is, as Amazon does to everyone."""

    def do_HEAD(self) -> None:
        self.send_response(200 if self.path == "/near" else 301)
        self.send_header("x-amz-bucket-region", "us-east-1" if self.path == "/near" else "eu-central-1")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_the_region_of_a_bucket_is_asked_for_unless_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    with HTTPServer(("127.0.0.1", 0), Regions) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(s3, "_REGIONS", f"http://127.0.0.1:{server.server_address[1]}")
        assert bucket("s3://near/x").options["aws_region"] == "us-east-1"
        assert bucket("s3://far/x").options["aws_region"] == "eu-central-1"
        server.shutdown()
    monkeypatch.setattr(base, "RETRY_SECONDS", 0)
    with pytest.raises(OSError, match=r"for the bucket's region \(Connection refused\); set AWS_REGION"):
        bucket("s3://far/x")  # the server is closed
    assert bucket("s3://far/x?region=here").options["aws_region"] == "here"
    assert bucket("s3://far/x?endpoint_override=minio:9000").options["aws_region"] == "us-east-1"
    monkeypatch.setenv("AWS_DEFAULT_REGION", "there")
    assert bucket("s3://far/x").options["aws_region"] == "there"


def test_amazons_credentials_come_from_where_its_tools_look(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Files without credentials need no botocore. Without credentials access is anonymous; those of the machine are not
    # used.
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    (tmp_path / "AWS_CONFIG_FILE").write_text("[default]\nregion = here\n")
    url = "s3://far/x?region=here"
    assert bucket(url).options["aws_skip_signature"] == "true"
    for text in ("[default]\nsso_session = x\n", "[default]\nrole_arn = x\n", "[profile x]\ncredential_process = x\n"):
        (tmp_path / "AWS_CONFIG_FILE").write_text(text)
        with pytest.raises(PageFmtError, match=r"s3://far: the credentials of .* need botocore; do: pip install"):
            bucket(url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush-hush")
    assert "aws_skip_signature" not in bucket(url).options


def test_endpoints_are_those_of_the_url_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://minio:9000/")
    assert bucket("s3://far/x").options.items() >= {("aws_endpoint_url", "http://minio:9000"), ("allow_http", "true")}
    assert bucket("s3://far/x?endpoint_override=a:1").options["aws_endpoint_url"] == "https://a:1"
    assert bucket("gs://far/x?endpoint_override=a:1&scheme=http").options["google_base_url"] == "http://a:1"
    azure = "abfs://c@account.dfs.core.windows.net/x"
    assert "azure_storage_endpoint" not in bucket(azure).options
    for query, endpoint in (
        ("blob_storage_authority=a:1", "https://a:1/account"),
        ("enable_tls=false", "http://account.blob.core.windows.net"),
        ("enable_tls=false&blob_storage_authority=.a.net", "http://account.a.net"),
    ):
        assert bucket(f"{azure}?{query}").options["azure_storage_endpoint"] == endpoint


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("gs://someone@bucket/x", "credentials must not be in a URL"),
        ("az://container/x", "names no account; give abfs"),
        ("gs://bucket/x?retry_limit_seconds=1", "no URL setting 'retry_limit_seconds'; known are endpoint_override"),
    ],
)
def test_other_urls_are_refused(url: str, said: str) -> None:
    with pytest.raises(PageFmtError, match=said):
        bucket(url)


ANSWER = "Generic S3 error: Error performing GET http://10.0.0.1/b/x?sig=hush-hush in 5ms - "
STATUS = f"{ANSWER}Server returned non-2xx status code: "
REFUSED: list[tuple[type[Exception], str, int, str]] = [
    (GenericError, f"{STATUS}400 Bad Request: <?xml?>\n <Error>\n <Code>ExpiredToken</Code>hush-hush", errno.EACCES,
     "the credentials have expired; renew them"),
    (GenericError, f"{STATUS}502 Bad Gateway: <html>hush-hush</html>", errno.EIO,
     "the store fails: Server returned non-2xx status code: 502 Bad Gateway"),
    (GenericError, f"{STATUS}503 Slow: <Error><Code>SlowDown</Code>", errno.EIO, "the store fails: SlowDown"),
    (GenericError, "Generic S3 error: HTTP error: error sending request\n\nDebug source: hush-hush", errno.EIO,
     "the store fails: HTTP error: error sending request"),
    (GenericError, "Error performing PUT http://169.254.169.254/latest/api/token in 5s - HTTP error: x", errno.EACCES,
     "no credentials: none in the environment or the files of the store's tools, and none of this machine"),
    (GenericError, f"{ANSWER}Received redirect without LOCATION, this normally indicates …", errno.ENXIO,
     "the bucket is in another region, which has to be given as region=… after a ?"),
    (PermissionDeniedError, f"{STATUS}403 Forbidden: ", errno.EACCES, "the store denies access with these credentials"),
    (FileNotFoundError, f"{STATUS}404: <Error><Code>NoSuchBucket</Code>", errno.ENXIO,
     "no such bucket in this store; check its name, and the store's address"),
    (FileNotFoundError, f"{STATUS}404: <Error><Code>NoSuchKey</Code>", errno.ENOENT, "No such file or directory"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "number", "said"), REFUSED)
def test_refusals_are_worded_without_what_the_store_was_asked(
    kind: type[Exception], text: str, number: int, said: str
) -> None:
    told = bucket("s3://far/x?region=here").translated(kind(text))
    assert told is not None and (told.errno, told.strerror) == (number, said)


def test_errors_of_this_program_are_not_taken_for_the_stores() -> None:
    store = bucket("s3://far/x?region=here")
    with pytest.raises(TypeError):
        store.ask(lambda: None + 1)  # type: ignore[operator]


def test_each_scheme_has_one_class() -> None:
    assert set(STORES) == {"s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "az", "hdfs", "viewfs"}
