"""How far messages were sent: a file of lines, each synced before what it allows is done.

The first line says what is sent where. Each other one is about a queue: ``settled`` messages of its order of delivery
are done with (``crc`` of their ids), what lies from there up to ``begun`` may have been sent, and ``again`` are those
before ``settled`` that the broker does not have: they were refused or could not be read.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pagectl.running.exits import CallError
from pagefmt.storage.writing import refuse_input, refuse_linked_file

_VERSION: Final = 1
_START: Final = b'{"pagectl"'


@dataclass(slots=True)
class QueueProgress:
    """What is known of one queue."""

    settled: int = 0
    begun: int = 0
    crc: int = 0
    again: set[int] = field(default_factory=set)
    done: bool = False

    @property
    def unsure(self) -> int:
        """So many messages the broker may or may not have."""
        return max(0, self.begun - self.settled)


class SendingCheckpoint:
    """``queues`` by fully qualified name. Without a file nothing is kept."""

    def __init__(self, path: Path | None, command: dict[str, Any]) -> None:
        """Open or create the checkpoint file at ``path``; without a path, progress is only in memory.

        ``command`` holds what the run sends and where to. Raises ``CallError`` if the file belongs to another command,
        and ``OSError``.
        """
        self.path = path
        self.queues: dict[str, QueueProgress] = {}
        self._handle = -1
        if path is None:
            return
        head = {"pagectl": "messages send", "version": _VERSION, **command}
        refuse_linked_file(path)
        refuse_input(path)
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            self._begin(path, head)
        except BaseException:
            self.close()
            raise

    def _begin(self, path: Path, head: dict[str, Any]) -> None:
        if not stat.S_ISREG(os.fstat(self._handle).st_mode):
            self._foreign()
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CallError(f"--checkpoint {path}: another run uses it") from None
        lines = self._lines()
        if lines:
            self._read(lines, head)
            return
        self._append(head)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def of(self, queue: str) -> QueueProgress:
        """Return the progress of a queue, creating it if there is none."""
        return self.queues.setdefault(queue, QueueProgress())

    def save(self, queue: str, again: Iterable[int] = (), accepted: Iterable[int] = ()) -> None:
        """Append a queue's progress to the file. Raise ``OSError`` if that fails.

        ``again`` are positions to add to the progress's set of messages to be sent again; ``accepted`` are those to
        remove.
        """
        progress = self.queues[queue]
        progress.again.update(again)
        progress.again.difference_update(accepted)
        if self._handle >= 0:
            line = {name: getattr(progress, name) for name in ("settled", "begun", "crc", "done")}
            changes = {"again": sorted(again), "accepted": sorted(accepted)}
            self._append({"queue": queue} | line | {key: value for key, value in changes.items() if value})

    def close(self) -> None:
        """Close the file; later progress is not saved."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _append(self, line: dict[str, Any]) -> None:
        content = memoryview(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        while content:
            content = content[os.write(self._handle, content) :]
        os.fsync(self._handle)

    def _lines(self) -> list[bytes]:
        """Whole ones; what a killed run wrote of another is cut off."""
        with os.fdopen(os.dup(self._handle), "rb") as stream:
            stream.seek(0)
            content = stream.read(len(_START))
            if not _START.startswith(content):
                self._foreign()
            content += stream.read()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            os.ftruncate(self._handle, end)
        return content[:end].splitlines()

    def _foreign(self) -> None:
        raise CallError(f"--checkpoint {self.path}: not a checkpoint of 'messages send'; name another file")

    def _read(self, lines: list[bytes], head: dict[str, Any]) -> None:
        try:
            first, *records = map(json.loads, lines)
            if first.get("pagectl") != head["pagectl"] or first.get("version") != _VERSION:
                self._foreign()
            other = [key for key in head if first.get(key) != head[key]]
            if other:
                which = ", ".join(f"{key} ({first.get(key)})" for key in other)
                raise CallError(
                    f"--checkpoint {self.path}: it belongs to a command that differs in {which}; run that command "
                    "again, or name another file"
                )
            for line in records:
                state = self.of(line["queue"])
                state.settled, state.begun, state.crc = (int(line["settled"]), int(line["begun"]), int(line["crc"]))
                state.again.update(line.get("again", ()))
                state.again.difference_update(line.get("accepted", ()))
                state.done = bool(line.get("done"))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            self._foreign()
