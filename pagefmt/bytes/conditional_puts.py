"""Objects that a store makes where there is none, through Rust's ``object_store``: pyarrow has no such request."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import Any


def put_new(url: str, options: Mapping[str, str], data: bytes) -> None:
    """One request; ``url`` and ``options`` as ``ObjectStore`` has them for that library.

    Raises ``FileExistsError``, and ``OSError`` (``EIO``) with all that the store says.
    """
    import obstore
    from obstore.exceptions import AlreadyExistsError, BaseError
    from obstore.store import from_url

    folder, _, name = url.rpartition("/")
    config: Any = {**options}
    client: Any = {"allow_http": config.pop("allow_http", "") == "true"}
    more: Any = {}
    if url.startswith("s3:"):
        credentials = _amazon_credentials()
        config["aws_skip_signature"] = str(credentials is None).lower()
        more = {"credential_provider": lambda: credentials} if credentials else {}
    try:
        # who calls repeats a request that fails
        store = from_url(folder, config=config, client_options=client, retry_config={"max_retries": 0}, **more)
        obstore.put(store, name, data, mode="create", use_multipart=False)
    except AlreadyExistsError as err:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from err
    except (BaseError, FileNotFoundError) as err:
        raise OSError(errno.EIO, str(err)) from err


def _amazon_credentials() -> dict[str, Any] | None:
    """Those of the environment, of the files of Amazon's tools, or of the machine; the library reads no files."""
    from botocore.exceptions import BotoCoreError
    from botocore.session import get_session

    try:
        if (credentials := get_session().get_credentials()) is None:
            return None
        found = credentials.get_frozen_credentials()
    except BotoCoreError as err:
        raise OSError(errno.ENXIO, f"no credentials: {err}") from err
    return {
        "access_key_id": found.access_key, "secret_access_key": found.secret_key, "token": found.token,
        "expires_at": None,
    }  # fmt: skip
