"""Azure Blob Storage, with or without a hierarchical namespace."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import Any, ClassVar, Final

import obstore
from obstore.exceptions import BaseError
from obstore.store import AzureStore as Client

from pagefmt.storage.stores.base import UnusableUrl
from pagefmt.storage.stores.bucket import BucketStore
from pagefmt.storage.user_folders import NoHome, user_folder

_AUTHORITY: Final = re.compile(r"[\w.-]+(:\d{1,5})?")
_USUAL_HOST: Final = ".blob.core.windows.net"
_ACCOUNT: Final = "AZURE_STORAGE_ACCOUNT"
_KEYS: Final = {"AZURE_STORAGE_KEY": ("access_key", "account_key"), "AZURE_STORAGE_SAS_TOKEN": ("sas_token", "sas_key")}
_IDENTITIES: Final = {"AZURE_CLIENT_SECRET": "client_secret", "AZURE_FEDERATED_TOKEN_FILE": "workload_identity"}


class AzureStore(BucketStore):
    """A container of an account."""

    client: ClassVar = Client
    schemes: ClassVar = ("abfs", "abfss", "az")
    form: ClassVar = "abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/…"
    holder: ClassVar = "container"
    settings: ClassVar = ("enable_tls", "blob_storage_authority")

    @classmethod
    def takes_user(cls, user: str) -> bool:
        """Return whether a name may be a container's."""
        return True

    @classmethod
    def check_url(cls, scheme: str, authority: str, query: str) -> None:
        """Raise ``UnusableUrl`` also for a server's address that is none."""
        super().check_url(scheme, authority, query)
        for setting in query.split("&"):
            name, _, value = setting.partition("=")
            if name.endswith("authority") and not _AUTHORITY.fullmatch(value):
                raise UnusableUrl(f"{scheme}://…: {name} is HOST or HOST:PORT")

    def configured(self) -> dict[str, Any]:
        """Fill ``options`` with account, address and the kind of credentials. Raises ``UnusableUrl``."""
        container, at, host = self.name.rpartition("@")
        account = host.partition(".")[0] if at else os.environ.get(_ACCOUNT, "")
        if not at and "." in host:
            raise UnusableUrl(f"{self.shown}: names no container; give {self.form}")
        if not account:
            raise UnusableUrl(f"{self.shown}: names no account; give {self.form}, or set {_ACCOUNT}")
        self.name = container if at else host
        self.options = {"account_name": account} | _credentials(account)
        host, plain = self._query.get("blob_storage_authority", ""), self._query.get("enable_tls") == "false"
        if host or plain:
            host = host or _USUAL_HOST
            host, path = (f"{account}{host}", "") if host.startswith(".") else (host, f"/{account}")
            self.use_endpoint("azure_storage_endpoint", host, "http" if plain else "https", path)
        return {}

    def remove_folder(self, inner: str) -> None:
        """Delete a folder; in a hierarchical namespace the folders in it stay behind, empty."""
        super().remove_folder(inner)
        self.ask(lambda: self._remove_empty(inner))

    def _remove_empty(self, inner: str) -> None:
        for folder in obstore.list_with_delimiter(self._reader, inner)["common_prefixes"]:
            self._remove_empty(folder)
        with suppress(FileNotFoundError, BaseError):  # without such a namespace there are no folders
            obstore.delete(self._reader, inner)


def _credentials(account: str) -> dict[str, str]:
    """Return the kind of credentials that Azure's own tools would take, so that no key goes to another account.

    ``AZURE_STORAGE_ACCOUNT``, if set, says whose the keys of the environment are.
    """
    if os.environ.get(_ACCOUNT) in (None, "", account):
        for variable, (kind, option) in _KEYS.items():
            if os.environ.get(variable):
                return {"credential_type": kind, option: os.environ[variable]}
    for variable, kind in _IDENTITIES.items():
        if os.environ.get(variable):
            return {"credential_type": kind}
    return {"credential_type": "azure_cli" if _is_signed_in() else "managed_identity"}


def _is_signed_in() -> bool:
    """Return whether the command line tool of Azure is signed in."""
    try:
        folder = user_folder("AZURE_CONFIG_DIR", ".azure")
        return bool(json.loads((folder / "azureProfile.json").read_text("utf-8-sig")).get("subscriptions"))
    except (OSError, ValueError, AttributeError, NoHome):
        return False
