"""Data directories with something wrong about them, and disks that fail: for the tests under ``tests/harm``.

Everything here works on bytes and on the command line, so that no test depends on how the program is made inside.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from golden_cases import CACHE, GoldenCase
from program import Answer, environment, forked

START, END, FRAME = 0x7B, 0x7D, 6
FOLDER = "11111111-1111-11ee-8111-111111111111"
OTHER_FOLDER = "22222222-2222-11ee-8111-222222222222"
LAST_PAGE = (1 << 31) - 1
ENOSPC, EIO = errno.ENOSPC, errno.EIO
DROP_BACKUP = ("pages", "drop-backup")
"""The call that destroys the way back; its directory stands behind the second word."""


# ---------------------------------------------------------------- calls


def pagectl(
    *words: str | Path,
    extra: Mapping[str, str] | None = None,
    seconds: float = 120,
    prepare: Callable[[], None] | None = None,
    **how: Any,
) -> Answer:
    """Run one call in its own process. ``how``: see ``forked_calls``."""
    if prepare is None and words[0] != "export":
        return forked(*words, extra=extra, seconds=seconds, preload=_library(), **how)
    done = subprocess.run(
        [sys.executable, "-m", "pagectl", *map(os.fspath, words)],
        env=environment(extra),
        capture_output=True,
        timeout=seconds,
        preexec_fn=prepare,
    )
    return Answer(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def json_of(answer: Answer) -> Any:
    """Parse the document that was printed, or fail the test with the whole answer if there is none."""
    try:
        return json.loads(answer.out)
    except ValueError:
        pytest.fail(f"no JSON: {answer}")


def no_trace(answer: Answer) -> None:
    """Assert that a call ended with a documented status and without a traceback."""
    assert "Traceback" not in answer.err and "internal error" not in answer.err, answer
    assert answer.status in (0, 1, 2, 3), answer


def peak(*words: str | Path, seconds: float = 120, limit: int | None = None) -> tuple[Answer, int]:
    """Run one call, and return its answer and its peak memory in bytes.

    ``limit``: bytes of address space that it may have.
    """

    def prepare() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    program = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:])\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, file=sys.stderr)\n"
        "sys.exit(done.returncode & 255)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, sys.executable, "-m", "pagectl", *map(os.fspath, words)],
        env=environment(),
        capture_output=True,
        timeout=seconds,
        preexec_fn=prepare,
    )
    *err, told = done.stderr.decode("utf-8", "replace").splitlines()
    return Answer(done.returncode, done.stdout.decode("utf-8", "replace"), "\n".join(err)), int(told)


# ---------------------------------------------------------------- pages


def text(string: str) -> bytes:
    encoded = string.encode("utf-16-le", "surrogatepass")
    return struct.pack(">i", len(encoded)) + encoded


def record(
    message: int,
    body: str = "hello",
    queues: tuple[int, ...] = (7,),
    *,
    tx: int = -1,
    address: str = "a",
    properties: Mapping[str, str] | None = None,
) -> bytes:
    """Encode a core text message as a framed record of an Artemis 2 page (docs/spec/page-files.md 4)."""
    content = b"\x01" + text(body)
    block = b"\0"
    if properties:
        block = b"\x01" + struct.pack(">i", len(properties))
        block += b"".join(text(name) + b"\x0a" + text(value) for name, value in properties.items())
    core = struct.pack(">i", len(content) + 13) + content + struct.pack(">q", message) + b"\x01" + text(address)
    core += b"\0" + b"\x03\x01" + struct.pack(">qqB", 0, 1_700_000_000_000, 4) + block
    payload = struct.pack(">qbB", tx, 0, 1) + struct.pack(">q", message) + b"\x01" + text(address)
    payload += struct.pack(">i", len(core)) + core + struct.pack(f">i{len(queues)}q", len(queues), *queues)
    return bytes([START]) + struct.pack(">i", len(payload)) + payload + bytes([END])


def spans(content: bytes) -> list[tuple[int, int]]:
    """Return (start, end) of each record, by the frames alone."""
    found, at = [], 0
    while at + FRAME <= len(content) and content[at] == START:
        end = at + FRAME + struct.unpack_from(">i", content, at + 1)[0]
        if not at + FRAME <= end <= len(content) or content[end - 1] != END:
            break
        found.append((at, end))
        at = end
    return found


def store(paging: Path, pages: Mapping[int, bytes], address: str | None = "a", folder: str = FOLDER) -> Path:
    """Write a store folder; ``address`` None leaves ``address.txt`` out."""
    path = paging / folder
    path.mkdir(parents=True)
    if address is not None:
        (path / "address.txt").write_bytes(address.encode() + b"\n")
    for number, content in pages.items():
        (path / f"{number:09d}.page").write_bytes(content)
    return path


def data_directory(to: Path, pages: Mapping[int, bytes] | None = None, **more: Any) -> Path:
    """Copy journals and bindings of a golden case, and write a store with the given pages."""
    data = golden("basic").copy(to)
    shutil.rmtree(data / "paging")
    store(data / "paging", pages or {1: record(1) + record(2), 2: record(3)}, **more)
    return data


# ---------------------------------------------------------------- journals


def acknowledgement(page: int, number: int, queue: int, record_id: int) -> bytes:
    """Encode an added journal record of type 39, a cursor acknowledgement (docs/spec/journal.md)."""
    body = struct.pack(">qqi", queue, page, number)
    raw = struct.pack(">biBqiB", 11, 0, 0, record_id, len(body), 39) + body
    return raw + struct.pack(">i", len(raw) + 4)


def journal_with(data: Path, records: list[bytes]) -> None:
    """Write the records to one journal file under its file id, and delete the other files."""
    first, *others = sorted((data / "journal").glob("activemq-data-*.amq"), key=lambda path: -len(head(path)))
    content = bytearray(first.read_bytes())
    file_id = content[8:16]
    size, at = len(content), 16
    content[at:] = bytes(size - at)
    for one in records:
        one = bytearray(one)
        one[1:5] = file_id[4:]
        content[at : at + len(one)] = one
        at += len(one)
    first.write_bytes(content)
    for other in others:
        other.unlink()


def head(path: Path) -> bytes:
    return path.read_bytes().rstrip(b"\0")


def bound_queue(data: Path) -> int:
    """Bind the store to the address of the queue in the golden bindings, and return the id of this queue."""
    (pages_of(data)[0].parent / "address.txt").write_bytes(b"orders\n")
    (found,) = json_of(pagectl("pages", "outstanding", data, "--format", "json"))["stores"]
    return int(found["queues"][0]["id"])


# ---------------------------------------------------------------- golden cases


def golden(name: str, version: str = "2.56.0") -> GoldenCase:
    return GoldenCase(version, name)


def stores_of(data: Path) -> list[Path]:
    """List the store folders with pages of a data or paging directory, sorted by address."""
    paging = data / "paging" if (data / "paging").is_dir() else data
    found = {page.parent for page in paging.glob("*/*.page")}
    return sorted(
        found, key=lambda folder: address.read_bytes() if (address := folder / "address.txt").is_file() else b""
    )


def pages_of(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.page"))


# ---------------------------------------------------------------- what changed


def snapshot(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Return kind, content hash, owner, group and mode of everything in a folder, by path."""
    found: dict[str, tuple[Any, ...]] = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()))
        elif path.is_file():
            found[name] = (hashlib.sha256(path.read_bytes()).hexdigest(), status.st_uid, status.st_gid, status.st_mode)
        else:
            found[name] = ("folder", status.st_uid, status.st_gid, status.st_mode)
    return found


def left_behind(folder: Path, but: set[str]) -> list[str]:
    """Return the names in a folder except those in ``but``."""
    return sorted(path.name for path in folder.iterdir() if path.name not in but)


# ---------------------------------------------------------------- rights


def as_root_or_skip() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")


def without_override() -> None:
    """Drop root's right to bypass permissions, for ``prepare``.

    A file with mode 000 is then unreadable for root, too.
    """
    _without_capabilities(1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def without_chown() -> None:
    """Drop root's right to give files to other users, for ``prepare``."""
    _without_capabilities(0, 3)  # CAP_CHOWN, CAP_FOWNER


def _without_capabilities(*numbers: int) -> None:
    """Drop capabilities of root from the bounding set, so that the next program runs without them."""
    if os.geteuid() == 0:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        for capability in numbers:
            if prctl(24, capability, 0, 0, 0):
                os._exit(97)


def permissions_count() -> None:
    """Skip the test if this process cannot start a child that permissions apply to."""
    done = subprocess.run([sys.executable, "-c", "pass"], preexec_fn=without_override)
    if done.returncode == 97:
        pytest.skip("root without CAP_SETPCAP: permissions would not hold for the program")


# ---------------------------------------------------------------- disks that fail


@dataclass(frozen=True, slots=True)
class Faults:
    """The preloaded library of ``faults.c``."""

    library: Path

    def reads(self, path: str, offset: int = 0, error: int = EIO) -> dict[str, str]:
        """Return the environment in which reads of files fail from an offset on, if their paths contain ``path``."""
        return self._words(path, "read", FAULT_FROM=str(offset), FAULT_DO=str(error))

    def opens(self, path: str, number: int, do: int) -> dict[str, str]:
        """Return the environment in which the n-th opening of files fails, if their paths contain ``path``.

        ``do`` is an errno, or the negative number of a signal that the program gets instead.
        """
        return self._words(path, "open", FAULT_FROM=str(number), FAULT_DO=str(do))

    def changes(self, path: Path | str, number: int, do: int) -> dict[str, str]:
        """Return the environment in which the n-th change below a path fails.

        ``do`` is an errno, or the negative number of a signal that the program gets instead.
        """
        return self._words(str(path), "change", FAULT_FROM=str(number), FAULT_DO=str(do))

    def count(self, path: Path | str, log: Path) -> dict[str, str]:
        """Return the environment that writes a byte to ``log`` for each change and lets none fail."""
        return self._words(str(path), "change", FAULT_LOG=str(log))

    def _words(self, path: str, on: str, **more: str) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "FAULT_PATH": path, "FAULT_ON": on, **more}


def faults() -> Faults:
    """Return the faults that can be injected, or skip the test if there is no compiler or no LD_PRELOAD."""
    library = _library()
    if library is None:
        pytest.skip("no C compiler here, or no LD_PRELOAD: a failing disk cannot be played")
    return Faults(Path(library))


@cache
def _library() -> str | None:
    """Compile ``faults.c`` once and return the library, or None if that is impossible."""
    source = Path(__file__).with_name("faults.c")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not sys.platform.startswith("linux") or compiler is None:
        return None
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    library = CACHE.parent / f"faults-{digest}.so"
    if not library.exists():
        CACHE.parent.mkdir(parents=True, exist_ok=True)
        fresh = library.with_suffix(f".{os.getpid()}")
        command = [compiler, "-shared", "-fPIC", "-O1", "-w", "-o", str(fresh), str(source), "-ldl"]
        subprocess.run(command, capture_output=True, check=True)
        fresh.replace(library)
    return str(library)


def changes_of(words: Sequence[str | Path], below: Path | str, tmp: Path) -> int:
    """Run a command, and return how many changes it makes to paths that contain ``below``."""
    log = tmp / "changes.log"
    log.unlink(missing_ok=True)
    whole = pagectl(*words, extra=faults().count(below, log))
    assert whole.status in (0, 1), whole
    return log.stat().st_size if log.exists() else 0


def spread(number: int, most: int) -> list[int]:
    """Return at most ``most`` numbers from 1 to ``number``, evenly spaced, including both ends."""
    return sorted({1 + n * (number - 1) // max(1, most - 1) for n in range(min(number, most))})
