"""Data directories of real brokers with something changed that has a meaning: a field, a record, a name, a file.

``mutated(seed)`` is always the same directory for a seed. To look at one that a test complains about:

    python tests/support/mutated_directories.py SEED NEW-FOLDER
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from struct import pack, pack_into, unpack_from
from typing import Final, TypeVar

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[2] / name) for name in ("", "cli", "schemas")]

from golden_cases import GoldenCase
from harmed import acknowledgement, spans

CASES: Final = tuple(
    GoldenCase(version, name)
    for version, names in {
        "2.56.0": "scattered-acks tx-halt large-core amqp-sections two-addresses holes multicast-acks many-queues"
        " large-amqp core-types halt-acks divert restarted odd-addresses journal-mix",
        "2.28.0": "core-types large-core",
        "2.17.0": "types topic-acks",
        "2.10.1": "large tx topic-acks",
        "artemis-1.5.6": "types topic-acks large",
        "hornetq-2.4.7": "types topic-acks large tx",
    }.items()
    for name in names.split()
)
EDGES: Final = (0, 1, -1, 2, 7, 127, 128, 255, -(1 << 31), (1 << 31) - 1, 1 << 31, 1 << 32, -(1 << 63), (1 << 63) - 1)
SECTOR: Final = 512
FRAME_SIZES: Final = {10: 23, 11: 23, 12: 23, 13: 31, 14: 31, 15: 30, 16: 18, 17: 26, 18: 22, 19: 18}
"""Of journal records, without what a length field adds (docs/spec/journal.md 2)."""
LENGTH_AT: Final = {10: 14, 11: 14, 12: 14, 13: 22, 14: 22, 15: 22, 17: 18}
TRIES: Final = 50
Item = TypeVar("Item")


@dataclass(slots=True)
class Directory:
    """Files by path below the data directory, without the zeros at their ends; ``sizes`` with them."""

    files: dict[str, bytearray]
    sizes: dict[str, int]
    folders: set[str]
    links: dict[str, str] = field(default_factory=dict)
    pipes: set[str] = field(default_factory=set)

    def of(self, pattern: str) -> list[str]:
        """List the paths that match a pattern as a whole, sorted."""
        return sorted(path for path in self.files if re.fullmatch(pattern, path))

    def put(self, path: str, content: bytes) -> None:
        """Add or replace a file; its size is that of the content."""
        self.files[path], self.sizes[path] = bytearray(content), len(content)

    def whole(self, path: str) -> bytearray:
        """Pad a file's content with zeros to its size and return it; changes to the result change the file."""
        content = self.files[path]
        content += bytes(max(0, self.sizes[path] - len(content)))
        return content

    def cut(self, path: str, size: int) -> None:
        """Truncate a file."""
        del self.whole(path)[size:]
        self.sizes[path] = size

    def remove(self, path: str) -> None:
        del self.files[path], self.sizes[path]

    def rename(self, path: str, to: str) -> None:
        """Rename a file and replace any file of the new name."""
        content, size = self.files.pop(path), self.sizes.pop(path)
        self.files[to], self.sizes[to] = content, size

    def _behind_a_file(self, path: str) -> bool:
        parts = path.split("/")
        return any("/".join(parts[:count]) in self.files for count in range(1, len(parts)))

    def write(self, to: Path) -> Path:
        """Write the directory to ``to``, which does not exist yet."""
        # a file that got a folder's name stands in its place
        for folder in sorted(self.folders | {""}):
            if not self._behind_a_file(folder + "/."):
                (to / folder).mkdir(parents=True, exist_ok=True)
        for path, content in self.files.items():
            if self._behind_a_file(path):
                continue
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            with (to / path).open("wb") as out:
                out.write(content)
                out.truncate(max(self.sizes[path], len(content)))
        for path, target in self.links.items():
            (to / path).symlink_to(target)
        for path in self.pipes:
            os.mkfifo(to / path)
        return to


@cache
def _read(case: GoldenCase) -> tuple[dict[str, bytes], dict[str, int], frozenset[str]]:
    files, sizes, folders = {}, {}, set()
    for path in sorted(case.data().rglob("*")):
        name = path.relative_to(case.data()).as_posix()
        if path.is_dir():
            folders.add(name)
        else:
            content = path.read_bytes()
            files[name], sizes[name] = content.rstrip(b"\0"), len(content)
    return files, sizes, frozenset(folders)


def original(case: GoldenCase) -> Directory:
    """Copy a golden directory into memory, for mutation."""
    files, sizes, folders = _read(case)
    return Directory({name: bytearray(content) for name, content in files.items()}, dict(sizes), set(folders))


# ---------------------------------------------------------------- what can be found in a directory


PAGES = r"paging/[^/]+/\d{9}\.page"
JOURNAL = r"journal/.*\.(amq|hq)"
BINDINGS = r"bindings/.*\.(bindings|jms)"
LARGE = r"large-messages/[^/]+"


class Nothing(Exception):
    """The directory has nothing that this mutation could change."""


def one(rng: Random, found: Sequence[Item]) -> Item:
    if not found:
        raise Nothing
    return found[rng.randrange(len(found))]


def page(rng: Random, data: Directory) -> str:
    return one(rng, data.of(PAGES))


def record(rng: Random, data: Directory) -> tuple[str, int, int]:
    """Pick a random record; return its page with start and end of the record."""
    path = page(rng, data)
    return path, *one(rng, spans(bytes(data.whole(path))))


def store(rng: Random, data: Directory) -> str:
    return one(rng, sorted({path.rpartition("/")[0] for path in data.of(r"paging/[^/]+/.*")}))


def journal_file(rng: Random, data: Directory) -> str:
    """Choose a file of the message journal or the bindings, mostly one with records."""
    found = data.of(rng.choice((JOURNAL, JOURNAL, BINDINGS)))
    return one(rng, [path for path in found if len(data.files[path]) > 16] if rng.random() < 0.9 else found)


def journal_spans(content: bytes | bytearray) -> list[tuple[int, int]]:
    """Return (start, end) of each record of a journal file, found by its check size."""
    found, at, used = [], 16, len(content.rstrip(b"\0"))
    while at < used and at + 18 <= len(content):
        kind = content[at]
        total = FRAME_SIZES.get(kind, 0)
        if total and kind in LENGTH_AT and at + LENGTH_AT[kind] + 4 <= len(content):
            total += unpack_from(">i", content, at + LENGTH_AT[kind])[0]
        if (
            total >= 18
            and content[at + 1 : at + 5] == content[12:16]
            and content[at + total - 4 : at + total] == pack(">i", total & 0x7FFFFFFF)
        ):
            found.append((at, at + total))
            at += total
        else:
            at += 1
    return found


def journal_record(rng: Random, data: Directory) -> tuple[str, int, int]:
    path = journal_file(rng, data)
    return path, *one(rng, journal_spans(data.whole(path)))


def number(rng: Random, code: str, about: int = 0) -> bytes:
    """Encode a random integer for a field of that width: an extreme, a neighbour of ``about``, or any."""
    bits = {"b": 8, "i": 32, "q": 64}[code]
    value = rng.choice((rng.choice(EDGES), about + rng.choice((-8, -1, 1, 4, 8, 256)), rng.getrandbits(bits)))
    return pack(">" + code.upper(), value & ((1 << bits) - 1))


def field_at(rng: Random, content: bytearray, at: int, code: str) -> None:
    size = {"b": 1, "i": 4, "q": 8}[code]
    if at + size > len(content):
        raise Nothing
    content[at : at + size] = number(rng, code, unpack_from(">" + code, content, at)[0])


# ---------------------------------------------------------------- mutations of pages


def frame_mark(rng: Random, data: Directory) -> None:
    path, start, end = record(rng, data)
    data.whole(path)[rng.choice((start, end - 1))] ^= 1 << rng.randrange(8)


def frame_length(rng: Random, data: Directory) -> None:
    path, start, end = record(rng, data)
    content = data.whole(path)
    choices = [number(rng, "i", end - start - 6), pack(">i", len(content) - start - 6)]
    choices += [pack(">i", later - start - 6) for _, later in spans(bytes(content)) if later > end][:2]
    content[start + 1 : start + 5] = rng.choice(choices)


def length_inside(rng: Random, data: Directory) -> None:
    """Change an integer within a record's payload that could be a length or a count."""
    path, start, end = record(rng, data)
    content = data.whole(path)
    found = [at for at in range(start + 5, end - 5) if 0 < unpack_from(">i", content, at)[0] <= end - start]
    field_at(rng, content, one(rng, found), "i")


def transaction(rng: Random, data: Directory) -> None:
    path, start, _ = record(rng, data)
    field_at(rng, data.whole(path), start + 5, "q")


def large_type(rng: Random, data: Directory) -> None:
    path, start, _ = record(rng, data)
    data.whole(path)[start + 13] = rng.choice((0, 1, 2, 3, 4, 127, 128, 255))


def persister(rng: Random, data: Directory) -> None:
    path, start, _ = record(rng, data)
    data.whole(path)[start + 14] = rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 11, 128, 255))


def message_id(rng: Random, data: Directory) -> None:
    """Replace a record's message id by that of another record or by a random number."""
    path, start, end = record(rng, data)
    other, at, _ = record(rng, data)
    content = data.whole(path)
    content[start + 15 : start + 23] = rng.choice((bytes(data.whole(other)[at + 15 : at + 23]), number(rng, "q")))
    if start + 23 > end:
        raise Nothing


def queues(rng: Random, data: Directory) -> None:
    """Replace the queue ids of a record by others, more, fewer or none; adapt the frame's length."""
    path, start, end = record(rng, data)
    content = data.whole(path)
    ids: list[int] = []
    at = end - 1
    while at - 12 > start and unpack_from(">i", content, at - 12)[0] != len(ids) + 1 and len(ids) < 20:
        at -= 8
        ids.append(unpack_from(">q", content, at)[0])
    count_at = at - 12
    if count_at <= start + 5 or len(ids) >= 20:
        raise Nothing
    known = ids or [1]
    wanted = [rng.choice((rng.choice(known), rng.choice(EDGES), rng.randrange(3, 60))) for _ in range(rng.randrange(5))]
    wanted = [value & ((1 << 64) - 1) for value in wanted]
    rest = pack(f">i{len(wanted)}Q", len(wanted), *wanted)
    payload = bytes(content[start + 5 : count_at]) + rest
    content[start:end] = b"\x7b" + pack(">i", len(payload)) + payload + b"\x7d"
    data.sizes[path] = len(content)


def queue_count(rng: Random, data: Directory) -> None:
    path, _, end = record(rng, data)
    field_at(rng, data.whole(path), end - 1 - 12, "i")


def records_moved(rng: Random, data: Directory) -> None:
    """Delete a record, replace it by another one, or insert another before it, even one of another release."""
    path, start, end = record(rng, data)
    source = original(rng.choice(CASES)) if rng.random() < 0.2 else data
    other, at, behind = record(rng, source)
    taken, content = bytes(source.whole(other)[at:behind]), data.whole(path)
    what = rng.randrange(3)
    content[start : end if what < 2 else start] = b"" if what == 0 else taken
    data.sizes[path] = len(content)


def bytes_in_page(rng: Random, data: Directory) -> None:
    """Insert, remove or change bytes of a page."""
    path = page(rng, data)
    content = data.whole(path)
    edges = [at for span in spans(bytes(content)) for at in span] or [0]
    at = rng.choice((rng.choice(edges), rng.randrange(len(content) + 1)))
    content[at : at + rng.choice((0, 1, 8, 40))] = rng.randbytes(rng.choice((0, 1, 5, 30)))
    data.sizes[path] = len(content)


def bits_in_record(rng: Random, data: Directory) -> None:
    path, start, end = record(rng, data)
    content = data.whole(path)
    for _ in range(rng.choice((1, 1, 2, 8))):
        content[rng.randrange(start, end)] ^= 1 << rng.randrange(8)


def sector(rng: Random, data: Directory) -> None:
    """Overwrite sectors of a page, journal or bindings file with zeros, noise, or content of another file."""
    path = one(rng, data.of(rng.choice((PAGES, JOURNAL, BINDINGS))))
    content = data.whole(path)
    at = rng.randrange(len(data.files[path].rstrip(b"\0")) // SECTOR + 1) * SECTOR
    size = min(SECTOR * rng.choice((1, 1, 8)), len(content) - at)
    other = bytes(data.whole(one(rng, data.of(rng.choice((PAGES, JOURNAL, BINDINGS))))))
    content[at : at + size] = rng.choice((bytes(size), rng.randbytes(size), (other + bytes(size))[:size]))


def cut_file(rng: Random, data: Directory) -> None:
    """Truncate a file, or append zeros or a copy of its beginning."""
    path = one(rng, data.of(rng.choice((PAGES, PAGES, JOURNAL, BINDINGS, LARGE))))
    content = data.whole(path)
    used = len(content.rstrip(b"\0"))
    what = rng.randrange(4)
    if what == 0:
        data.cut(path, rng.randrange(used + 1))
    elif what == 1:
        data.cut(path, rng.choice((0, 1, 15, 16, 17, used // SECTOR * SECTOR)))
    else:
        content += bytes(SECTOR) if what == 2 else content[: rng.randrange(1, SECTOR)]
        data.sizes[path] = len(content)


# ---------------------------------------------------------------- mutations of names and folders


def page_name(rng: Random, data: Directory) -> None:
    path = page(rng, data)
    folder, _, name = path.rpartition("/")
    old = int(name[:9])
    names = (
        f"{old}.page",
        "000000000.page",
        "2147483647.page",
        "2147483648.page",
        "99999999999999999999.page",
        "-00000001.page",
        "x.page",
        ".page",
        f"{old:09d}.PAGE",
        f"{old:09d}.page.invalidPage",
        f"{old:09d}.page.tmp",
        f"{old + 1:09d}.page",
        f"{old + 1000:09d}.page",
        f"{old:010d}.page",
        f"{old:09d}.page~",
        "１.page",
        os.fsdecode(b"\xff.page"),
    )
    to = f"{folder}/{rng.choice(names)}"
    if rng.random() < 0.5:
        data.rename(path, to)
    else:
        data.put(to, bytes(data.whole(path)))


def pages_swapped(rng: Random, data: Directory) -> None:
    path, other = page(rng, data), page(rng, data)
    data.files[path], data.files[other] = data.files[other], data.files[path]
    data.sizes[path], data.sizes[other] = data.sizes[other], data.sizes[path]


def gone(rng: Random, data: Directory) -> None:
    data.remove(one(rng, sorted(data.files)))


def folder_gone(rng: Random, data: Directory) -> None:
    folder = rng.choice(("journal", "bindings", "large-messages", store(rng, data)))
    for path in [path for path in data.files if path.startswith(folder + "/")]:
        data.remove(path)
    data.folders.discard(folder)
    what = rng.randrange(3)
    if what == 0:
        data.put(folder, b"a file")
    elif what == 1:
        data.folders.add(folder)


def another_kind(rng: Random, data: Directory) -> None:
    """Replace a file by a folder, a pipe or a link."""
    path = one(rng, data.of(rng.choice((PAGES, JOURNAL, BINDINGS, LARGE, r"paging/[^/]+/address\.txt"))))
    content, size = data.files[path], data.sizes[path]
    data.remove(path)
    what = rng.randrange(3)
    if what == 0:
        data.folders.add(path)
    elif what == 1:
        data.pipes.add(path)
    else:
        data.files["elsewhere"], data.sizes["elsewhere"] = content, size
        data.links[path] = os.path.relpath("elsewhere", os.path.dirname(path))  # noqa: PTH120


def foreign(rng: Random, data: Directory) -> None:
    """Add a file or folder that no broker writes."""
    where = rng.choice(("paging", "journal", "bindings", "large-messages", store(rng, data)))
    names = (
        "notes.txt",
        "x.amq",
        "x.hq",
        "x.bindings",
        "x.jms",
        "y.amq.cmp",
        "y.tmp",
        "y.bkp",
        "7.msg",
        "7.tmp",
        "-1.msg",
        "9223372036854775808.msg",
        "journal-rename-control.ctr",
        "lost+found",
        ".hidden",
        "address.txt",
        "activemq-data-99.amq",
        "000000007.page.pagectl-new",
        os.fsdecode(b"\xfe"),
        "a\x1b[31mb",
    )
    path = f"{where}/{rng.choice(names)}"
    if path in data.files or path in data.folders:
        raise Nothing
    kinds = [b"", b"x", bytes(2000), rng.randbytes(300)]
    kinds += [bytes(data.whole(other)) for other in data.of(JOURNAL)[:1] + data.of(PAGES)[:1]]
    if rng.random() < 0.3:
        data.folders.add(path)
    else:
        data.put(path, rng.choice(kinds))


def store_folder(rng: Random, data: Directory) -> None:
    """Rename a store's folder, copy it, or create an empty one with an ``address.txt``."""
    folder = store(rng, data)
    to = "paging/" + rng.choice(("00000000-0000-11ee-8111-000000000000", "zz", " ", os.fsdecode(b"x\xff"), "é"))
    if any(path == to or path.startswith(to + "/") for path in (*data.files, *data.folders)):
        raise Nothing
    data.folders.add(to)
    what = rng.randrange(3)
    for path in [path for path in data.files if path.startswith(folder + "/")]:
        if what == 0:
            data.rename(path, to + path[len(folder) :])
        elif what == 1 or path.endswith("address.txt"):
            data.put(to + path[len(folder) :], bytes(data.whole(path)))
    if what == 0:
        data.folders.discard(folder)


def address(rng: Random, data: Directory) -> None:
    path = one(rng, data.of(r"paging/[^/]+/address\.txt"))
    own = bytes(data.whole(path))
    others = [bytes(data.whole(other)) for other in data.of(r"paging/[^/]+/address\.txt")]
    lossy = own[:1] + b"?" + own[2:]
    texts = (
        b"",
        b" ",
        b"\n",
        b"\n" + own,
        own.strip(),
        own.strip() + b"\r\n",
        own + b"second\n",
        b"nobody.listens\n",
        rng.choice(others),
        lossy,
        b"\xff\xfe\xfd\n",
        b"\0\0\0\0",
        b"a" * 10_000,
        "été".encode() + b"\n",
        own.upper(),
        b" " + own,
        b"\xef\xbb\xbf" + own,
    )
    data.put(path, rng.choice(texts))


# ---------------------------------------------------------------- mutations of journals and bindings


def file_header(rng: Random, data: Directory) -> None:
    path = journal_file(rng, data)
    content = data.whole(path)
    at, code = rng.choice(((0, "i"), (4, "i"), (8, "q")))
    if rng.random() < 0.3 and at == 8:
        content[8:16] = data.whole(journal_file(rng, data))[8:16]
    else:
        field_at(rng, content, at, code)


def journal_field(rng: Random, data: Directory) -> None:
    """Change a field in the frame of a journal record, such as its check size."""
    path, start, end = journal_record(rng, data)
    content = data.whole(path)
    at, code = rng.choice(((start + 1, "i"), (start + 5, "b"), (start + 6, "q"), (start + 14, "i"), (end - 4, "i")))
    if rng.random() < 0.3:
        content[start] = rng.choice((*FRAME_SIZES, 0, 20, 255))
    else:
        field_at(rng, content, at, code)


def journal_body(rng: Random, data: Directory) -> None:
    """Change the type of a journal record, or an integer in its body."""
    path, start, end = journal_record(rng, data)
    content = data.whole(path)
    if content[start] not in (11, 12, 13, 14):
        raise Nothing
    body = start + (19 if content[start] in (11, 12) else 27)
    if rng.random() < 0.3:
        content[body - 1] = rng.choice((*range(20, 55), 0, 200))
        return
    if end - 4 - body < 8:
        raise Nothing
    at = body + rng.randrange(0, end - 4 - body - 7)
    field_at(rng, content, at, rng.choice("biq"))


def journal_body_resized(rng: Random, data: Directory) -> None:
    """Shorten or extend the body of a journal record; adapt length and check size."""
    path, start, end = journal_record(rng, data)
    content = data.whole(path)
    kind = content[start]
    if kind not in (11, 12, 13, 14):
        raise Nothing
    body = start + FRAME_SIZES[kind] - 4
    new = bytes(content[body : end - 4])
    new = new[: rng.randrange(len(new) + 1)] if rng.random() < 0.6 else new + rng.randbytes(rng.choice((1, 8, 40)))
    head = bytearray(content[start:body])
    pack_into(">i", head, LENGTH_AT[kind], len(new))
    content[start:end] = head + new + pack(">i", FRAME_SIZES[kind] + len(new))
    data.sizes[path] = len(content)


def journal_records_moved(rng: Random, data: Directory) -> None:
    """Overwrite a journal record with zeros, replace it by another one, or insert another before it."""
    path, start, end = journal_record(rng, data)
    other, at, behind = journal_record(rng, data)
    content = data.whole(path)
    taken = bytearray(data.whole(other)[at:behind])
    taken[1:5] = content[12:16]
    what = rng.randrange(3)
    if what == 0:
        content[start:end] = bytes(end - start)
    else:
        content[start : end if what == 1 else start] = taken
    data.sizes[path] = len(content)


def acknowledged(rng: Random, data: Directory) -> None:
    """Append acknowledgements, valid and invalid ones, after the last record of a journal file."""
    path = one(rng, [name for name in data.of(JOURNAL) if len(data.files[name]) >= 16])
    content = data.whole(path)
    found = journal_spans(content)
    at = found[-1][1] if found else 16
    for _ in range(rng.choice((1, 3, 20))):
        values = [rng.choice((rng.randrange(8), rng.choice(EDGES) % (1 << 62))) for _ in range(3)]
        one_more = bytearray(acknowledgement(values[0], values[1] % (1 << 31), values[2], rng.getrandbits(40)))
        one_more[1:5] = content[12:16]
        if rng.random() < 0.3:
            one_more[-9 - 20 :][:1] = b"\x2a"
        content[at : at + len(one_more)] = one_more
        at += len(one_more)
    data.sizes[path] = len(content)


def large_names(rng: Random, data: Directory) -> None:
    path = one(rng, data.of(LARGE))
    number_of = path.rpartition("/")[2].partition(".")[0]
    data.rename(path, "large-messages/" + rng.choice((f"{number_of}.tmp", f"{number_of}x.msg", "1.msg", number_of)))


MUTATIONS: Final[tuple[Callable[[Random, Directory], None], ...]] = (
    frame_mark, frame_length, length_inside, length_inside, transaction, large_type, persister, message_id, queues,
    queue_count, records_moved, records_moved, bytes_in_page, bits_in_record, bits_in_record, sector, sector, cut_file,
    cut_file, page_name, page_name, pages_swapped, gone, folder_gone, another_kind, foreign, store_folder, address,
    address, file_header, journal_field, journal_field, journal_body, journal_body, journal_body_resized,
    journal_records_moved, journal_records_moved, acknowledged, large_names,
)  # fmt: skip


def mutated(seed: int) -> tuple[str, Directory]:
    """Mutate a golden directory; return a description and the directory."""
    rng = Random(seed)
    case = rng.choice(CASES)
    data = original(case)
    done: list[str] = []
    wanted = rng.choice((1, 1, 1, 2, 3))
    for _ in range(TRIES):
        mutation = rng.choice(MUTATIONS)
        try:
            mutation(rng, data)
        except Nothing:
            continue
        done.append(mutation.__name__)
        if len(done) == wanted:
            break
    return f"seed {seed}: {case}: {', '.join(done)}", data


if __name__ == "__main__":
    said, directory = mutated(int(sys.argv[1]))
    print(said)
    directory.write(Path(sys.argv[2]))
