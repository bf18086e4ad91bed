"""Errors of obstore in the words of a local file's."""

from __future__ import annotations

import errno
import os
from typing import Final

from obstore.exceptions import BaseError, InvalidPathError, PermissionDeniedError, UnauthenticatedError

OTHER_REGION: Final = "the bucket is in another region, which has to be given as region=… after a ?"
_DENIED: Final = (errno.EACCES, "the store denies access with these credentials")
_KEY_UNKNOWN: Final = (errno.EACCES, "the store does not know the access key")
_NOT_ACCEPTED: Final = (errno.EACCES, "the store does not accept the credentials")
_NO_CREDENTIALS: Final = (errno.EACCES, "the store requires credentials")
_CLOCK: Final = (errno.EACCES, "this machine's clock differs from the store's; set it")
_NO_CONTAINER: Final = (errno.ENXIO, "no such container in this account; check the names of both")
REPLACED: Final = (
    errno.ESTALE, "it was replaced by another while it was read; read a copy that does not change",
)  # fmt: skip
# meaning of codes in answers of Amazon, Google and Azure; all but EIO do not pass by themselves
_CODES: Final = {
    "AccessDenied": _DENIED,
    "AccountProblem": _DENIED,
    "AllAccessDisabled": _DENIED,
    "InvalidAccessKeyId": _KEY_UNKNOWN,
    "InvalidClientTokenId": _KEY_UNKNOWN,
    "SignatureDoesNotMatch": (errno.EACCES, "the store does not accept the secret key"),
    "ExpiredToken": (errno.EACCES, "the credentials have expired; renew them"),
    "InvalidToken": (errno.EACCES, "the store does not accept the session token"),
    "RequestTimeTooSkewed": _CLOCK,
    "RequestExpired": _CLOCK,
    "PermanentRedirect": (errno.ENXIO, OTHER_REGION),
    "AuthorizationHeaderMalformed": (errno.ENXIO, OTHER_REGION),
    "NoSuchBucket": (errno.ENXIO, "no such bucket in this store; check its name, and the store's address"),
    "NoSuchUpload": (errno.EIO, "the store fails: an upload was lost"),
    "InvalidRange": REPLACED,
    "MissingAuthenticationToken": _NO_CREDENTIALS,
    "AuthenticationRequired": _NO_CREDENTIALS,
    "NoAuthenticationInformation": _NO_CREDENTIALS,
    "PublicAccessNotPermitted": _NO_CREDENTIALS,
    "ContainerNotFound": _NO_CONTAINER,
    "AuthenticationFailed": _NOT_ACCEPTED,
    "InvalidAuthenticationInfo": _NOT_ACCEPTED,
    "AuthorizationFailure": _NOT_ACCEPTED,
    "AuthorizationPermissionMismatch": _DENIED,
    "InsufficientAccountPermissions": _DENIED,
}  # fmt: skip
_METADATA_HOST: Final = "169.254.169.254"  # of all three clouds: it gives machines their credentials
_TWO_SLASHES: Final = (
    "an object there has a key with two slashes in a row, or a part '.' or '..', and cannot be read; copy it to a key "
    "without"
)


def store_code(text: str) -> str:
    """Return the code of the error document that a store has sent, out of the text of an error; empty if none."""
    return text.partition("<Code>")[2].partition("</Code>")[0].strip()


def code_reason(text: str) -> str | None:
    """Return what the code in the text of an error means, the code itself if it is no known one, or None."""
    code = store_code(text)
    return _CODES[code][1] if code in _CODES else code or None


def translated_answer(err: Exception) -> OSError | None:
    """Return the error of a local file for one of obstore, or None if it is none of obstore's.

    A list names the reason of a refusal only by the code in the store's answer; all other requests have types for it.
    """
    if isinstance(err, OSError) and err.errno is not None:
        return err
    if not isinstance(err, BaseError | OSError):
        return None
    text = str(err)
    code = store_code(text)
    if code in _CODES:
        return OSError(*_CODES[code])
    if isinstance(err, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if isinstance(err, InvalidPathError):
        return OSError(errno.EINVAL, _TWO_SLASHES)
    if _METADATA_HOST in text:
        return OSError(
            errno.EACCES,
            "no credentials: none in the environment or the files of the store's tools, and none of this machine",
        )
    if isinstance(err, PermissionDeniedError | UnauthenticatedError):
        return OSError(*_DENIED)
    return OSError(errno.EIO, f"the store fails: {code or short_reason(text)}")


def short_reason(text: str) -> str:
    """Return what failed, of the text of an error: neither the URL before it nor the answer after it."""
    line = text.partition("\n")[0]
    parts = (line.partition(" - ")[2] or line).split(": ")
    return ": ".join(parts[parts[0].startswith("Generic ") :][:2])[:200].rstrip(": ")
