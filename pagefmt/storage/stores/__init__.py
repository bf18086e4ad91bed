"""Stores that a URL names: one class for each, in a module of its own.

A new store is a subclass of ``RemoteStore`` (of ``BucketStore`` if obstore has it) and an entry of ``_CLASSES``.
Credentials come from the environment and the files that the store's own tools use, never from a URL.
"""

from __future__ import annotations

from typing import Final

from pagefmt.storage.stores.azure import AzureStore
from pagefmt.storage.stores.base import RemoteStore
from pagefmt.storage.stores.google import GoogleStore
from pagefmt.storage.stores.hadoop import HadoopStore
from pagefmt.storage.stores.s3 import S3Store

_CLASSES: Final[tuple[type[RemoteStore], ...]] = (S3Store, GoogleStore, AzureStore, HadoopStore)
STORES: Final = {scheme: store for store in _CLASSES for scheme in store.schemes}  # the class for each scheme
