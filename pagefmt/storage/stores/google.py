"""Google Cloud Storage."""

from __future__ import annotations

from typing import Any, ClassVar

from obstore.store import GCSStore as Client

from pagefmt.storage.stores.bucket import BucketStore

_ANONYMOUS = "anonymous"  # before the @ of an authority: without credentials
_NO_ACCOUNT = '{"disable_oauth": true, "client_email": "", "private_key": "", "private_key_id": ""}'


class GoogleStore(BucketStore):
    """A bucket of Google's, or of a server in its place."""

    client: ClassVar = Client
    schemes: ClassVar = ("gs", "gcs")
    form: ClassVar = "gs://BUCKET/…"
    settings: ClassVar = ("endpoint_override", "scheme")

    @classmethod
    def takes_user(cls, user: str) -> bool:
        """Return whether a name stands for requests without credentials."""
        return user == _ANONYMOUS

    def configured(self) -> dict[str, Any]:
        """Fill ``options`` with the address, and for requests without credentials with an empty account.

        ``object_store`` requires an account for writing, also if no request is signed. Takes the user off ``name``.
        """
        if host := self._query.get("endpoint_override"):
            self.use_endpoint("google_base_url", host, self._query.get("scheme", "https"))
        user, _, self.name = self.name.rpartition("@")
        if user:
            self.options |= {"google_skip_signature": "true", "google_service_account_key": _NO_ACCOUNT}
        return {}
