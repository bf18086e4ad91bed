"""A machine that stops in front of a change to the file system."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from functools import partial
from typing import Any


class Stopping(AbstractContextManager["Stopping"]):
    """Inside, the machine stops in front of a change to the file system: that and every later one is not made."""

    CHANGES = ("rename", "replace", "unlink", "rmdir", "mkdir", "open")

    class Stopped(BaseException):
        """Instead of the change."""

    def __init__(self, changes: int) -> None:
        self.left, self.usual = changes, {name: getattr(os, name) for name in self.CHANGES}

    def __enter__(self) -> Stopping:
        for name in self.CHANGES:
            setattr(os, name, partial(self.change, name))
        return self

    def change(self, name: str, *given: Any, **more: Any) -> Any:
        if name != "open" or given[1] & os.O_CREAT:
            self.left -= 1
            if self.left < 0:
                raise self.Stopped
        return self.usual[name](*given, **more)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        for name in self.CHANGES:
            setattr(os, name, self.usual[name])
        return kind is self.Stopped
