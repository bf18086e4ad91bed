"""Requests that go through Rust's ``object_store``.

Objects that a store makes where there is none: pyarrow has no such request. And Azure's deletions: pyarrow leases a
file to delete it and then gives the lease back, which Azure answers with an error, and its library ends the process
where that answer comes together with the ``100 Continue`` in front of it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any


def put_new(url: str, options: Mapping[str, str], data: bytes) -> None:
    """One request; ``url`` and ``options`` as ``ObjectStore`` has them for that library.

    Raises ``FileExistsError``, and ``OSError`` (``EIO``) with all that the store says.
    """
    import obstore
    from obstore.exceptions import AlreadyExistsError, BaseError

    folder, _, name = url.rpartition("/")
    more: Any = {}
    if url.startswith("s3:"):
        credentials = _amazon_credentials()
        options = {**options, "aws_skip_signature": str(credentials is None).lower()}
        more = {"credential_provider": lambda: credentials} if credentials else {}
    try:
        obstore.put(_store(folder, options, **more), name, data, mode="create", use_multipart=False)
    except AlreadyExistsError as err:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from err
    except (BaseError, FileNotFoundError) as err:
        raise OSError(errno.EIO, str(err)) from err


def delete(url: str, options: Mapping[str, str], inner: str) -> None:
    """One request; ``url``: of an Azure container, ``options`` likewise.

    Raises ``FileNotFoundError``, and ``OSError`` as ``put_new`` does.
    """
    import obstore
    from obstore.exceptions import BaseError

    try:
        obstore.delete(_container(url, tuple(options.items())), inner)
    except FileNotFoundError as err:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from err
    except BaseError as err:
        raise OSError(errno.EIO, str(err)) from err


@lru_cache(8)
def _container(url: str, options: tuple[tuple[str, str], ...]) -> Any:
    """It keeps its connections."""
    return _store(url, dict(options))


def _store(url: str, options: Mapping[str, str], **more: Any) -> Any:
    """Who calls repeats a request that fails."""
    from obstore.store import from_url

    config: Any = {**options}
    client: Any = {"allow_http": config.pop("allow_http", "") == "true"}
    return from_url(url, config=config, client_options=client, retry_config={"max_retries": 0}, **more)


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
