"""Amazon S3, and servers that speak its protocol."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Final
from urllib.error import HTTPError, URLError

from obstore.store import S3Store as Client

from pagefmt.errors import installation
from pagefmt.storage.stores.answers import OTHER_REGION
from pagefmt.storage.stores.base import UnusableUrl
from pagefmt.storage.stores.bucket import BucketStore
from pagefmt.storage.user_folders import NoHome, user_folder

_REGIONS: Final = "https://s3.amazonaws.com"  # names the region of each bucket
_REGION_VARIABLES: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
# variables with which obstore finds credentials, or needs none
_OWN_CREDENTIALS: Final = (
    "AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_SKIP_SIGNATURE",
)  # fmt: skip
_FILES: Final = {"AWS_SHARED_CREDENTIALS_FILE": "credentials", "AWS_CONFIG_FILE": "config"}  # in ~/.aws
_PROFILE_WORDS: Final = ("aws_access_key_id", "credential_process", "role_arn", "sso_", "login_session")
_FRESH: Final = timedelta(minutes=5)  # botocore renews credentials more than five minutes before they expire


class S3Store(BucketStore):
    """A bucket of Amazon's or of another server. obstore reads no profiles: botocore does."""

    client: ClassVar = Client
    schemes: ClassVar = ("s3", "s3a", "s3n")
    form: ClassVar = "s3://BUCKET/…"
    settings: ClassVar = ("endpoint_override", "region", "scheme")

    def configured(self) -> dict[str, Any]:
        """Fill ``options``; the credentials of a profile are passed as a function."""
        self.options["aws_conditional_put"] = "etag"
        host, scheme = self._query.get("endpoint_override", ""), self._query.get("scheme", "https")
        endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), "")
        if not host and endpoint:
            scheme, _, host = endpoint.rstrip("/").rpartition("://")
        if host:
            self.use_endpoint("aws_endpoint_url", host, scheme or "https")
        region = self._query.get("region") or next(filter(None, map(os.environ.get, _REGION_VARIABLES)), None)
        credentials = None
        if not any(os.environ.get(name) for name in _OWN_CREDENTIALS):
            if _has_profiles():
                credentials, of_profile = self._profile()
                region = region or of_profile
            elif os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
                self.options["aws_skip_signature"] = "true"
        self.options["aws_region"] = region or ("us-east-1" if host else self.ask(self._region))
        return {} if credentials is None else {"credential_provider": credentials}

    def _region(self) -> str:
        """Ask Amazon for the region of the bucket. If there is no such bucket, later requests say so."""
        from urllib.request import Request, urlopen

        try:
            with urlopen(Request(f"{_REGIONS}/{self.name}", method="HEAD"), timeout=10) as answer:
                headers = answer.headers
        except HTTPError as err:
            headers = err.headers
        except URLError as err:
            why = getattr(err.reason, "strerror", None) or err.reason
            raise OSError(
                errno.EIO, f"{_REGIONS} cannot be asked for the bucket's region ({why}); set AWS_REGION"
            ) from err
        return headers.get("x-amz-bucket-region") or "us-east-1"

    def _profile(self) -> tuple[Callable[[], dict[str, Any]] | None, str | None]:
        """Return what gives the credentials of a profile, and its region. Raises ``UnusableUrl``."""
        try:
            from botocore.exceptions import BotoCoreError
            from botocore.session import get_session
        except ImportError:
            raise UnusableUrl(
                f"{self.shown}: the credentials of ~/.aws and AWS_PROFILE need botocore; do: {installation('aws')}"
            ) from None
        try:
            session = get_session()
            credentials = session.get_credentials()
            if credentials is None:
                return None, session.get_config_variable("region")
            credentials.get_frozen_credentials()  # it fails here, where the reason is shown whole
        except BotoCoreError as err:
            raise UnusableUrl(f"{self.shown}: no credentials: {err}") from err

        def provide() -> dict[str, Any]:
            now = credentials.get_frozen_credentials()
            return {
                "access_key_id": now.access_key,
                "secret_access_key": now.secret_key,
                "token": now.token,
                "expires_at": datetime.now(UTC) + _FRESH,
            }

        return provide, session.get_config_variable("region")

    def translated(self, err: Exception) -> OSError | None:
        """Return the error of a local file. A redirect to another region comes without the store's answer."""
        if "redirect without LOCATION" in str(err):
            return OSError(errno.ENXIO, OTHER_REGION)
        return super().translated(err)

    def deltalake_options(self) -> dict[str, str]:
        """Return settings with which deltalake looks for credentials itself, and never overwrites a version."""
        return {"AWS_S3_ALLOW_UNSAFE_RENAME": "false", "AWS_FORCE_CREDENTIAL_LOAD": "true"}


def _has_profiles() -> bool:
    """Return whether the files of Amazon's tools have credentials, or a profile is named."""
    for variable, name in _FILES.items():
        with suppress(OSError, NoHome):
            text = (Path(os.environ.get(variable) or user_folder("", ".aws") / name)).read_text("utf-8", "replace")
            if any(word in text for word in _PROFILE_WORDS):
                return True
    return bool(os.environ.get("AWS_PROFILE"))
