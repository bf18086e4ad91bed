"""Whatever bytes stand in a page file: the commands answer with their own statuses, and account for every byte."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from generated import examples
from golden_cases import GoldenCase
from hypothesis import given, settings
from hypothesis import strategies as st
from made_pages import message, store
from program import call, environment

from pagefmt.codec.pages.frames import FrameScan
from pagefmt.describe.anatomy import record_fields

GOOD = b"".join(message(n, "orders", "text", {"n": str(n)}) for n in range(3))
EMPTY_JOURNAL = struct.pack(">iiq", 2, 0, 1) + bytes(4096)
"""A journal file (docs/spec/journal.md 2) that says that nothing is acknowledged."""
COMMANDS = (
    ("ls",), ("inspect", "--hex"), ("decode", "--body", "text,value,hex"), ("decode", "--where", "n = '1'"),
    ("verify",), ("outstanding",), ("seal",),
)  # fmt: skip


@st.composite
def broken_pages(draw: st.DrawFn) -> bytes:
    """Draw a valid page in which up to 12 bytes are replaced, and which may be truncated."""
    start = draw(st.integers(0, len(GOOD)))
    end = draw(st.integers(start, min(len(GOOD), start + 12)))
    page = GOOD[:start] + draw(st.binary(max_size=12)) + GOOD[end:]
    return page[: draw(st.integers(0, len(page)))] if draw(st.booleans()) else page


@settings(max_examples=examples(60), deadline=None)
@given(st.one_of(broken_pages(), st.binary(max_size=200)), st.sampled_from(COMMANDS))
def test_no_bytes_make_a_command_fail(content: bytes, words: tuple[str, ...]) -> None:
    with TemporaryDirectory() as folder:
        store(Path(folder) / "paging", "orders", {1: content})
        (Path(folder) / "journal").mkdir()
        (Path(folder) / "journal" / "activemq-data-1.amq").write_bytes(EMPTY_JOURNAL)
        answer = call("pages", words[0], folder, *words[1:])
        assert answer.status in (0, 1), answer.err
        assert "internal error" not in answer.err


@given(broken_pages())
def test_fields_always_add_up_to_the_record(content: bytes) -> None:
    for offset, length in FrameScan(content):
        at = offset
        for field in record_fields(content, offset, length):
            assert field.offset == at
            at += field.size
        assert at == offset + length + 6


@pytest.mark.parametrize(
    "case",
    [
        GoldenCase("2.56.0", "amqp-sections"),
        GoldenCase("2.56.0", "core-types"),
        GoldenCase("hornetq-2.4.7", "types"),
        GoldenCase("2.28.0", "large-amqp"),
        GoldenCase("2.10.1", "amqp"),
    ],
    ids=str,
)
def test_every_field_of_a_real_record_is_understood(case: GoldenCase) -> None:
    for path in sorted((case.data() / "paging").glob("*/*.page")):
        content = path.read_bytes()
        for offset, length in FrameScan(content):
            names = [field.name for field in record_fields(content, offset, length)]
            assert "not understood" not in names


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("ls",),
        ("verify",),
        ("outstanding",),
        ("seal",),
        ("decode", "--format", "jsonl"),
        ("decode",),
        ("inspect",),
        ("decode", "--format", "csv", "--where", "n LIKE '%7'"),
    ],
    ids=" ".join,
)
def test_memory_stays_within_64_mib_above_start(words: tuple[str, ...], tmp_path: Path) -> None:
    # The pages have 200 MiB, 10 MiB each; the promise counts from the same command on a single message.
    page = b"".join(message(n, "orders", "x" * 400, {"n": str(n)}) for n in range(10_000))
    store(tmp_path / "big" / "paging", "orders", dict.fromkeys(range(1, 201 * 2**20 // len(page)), page))
    store(tmp_path / "small" / "paging", "orders", {1: message(1, "orders", "x")})
    for name in ("big", "small"):
        (tmp_path / name / "journal").mkdir()
    started_with = _peak("pages", words[0], str(tmp_path / "small"), *words[1:])
    assert _peak("pages", words[0], str(tmp_path / "big"), *words[1:]) - started_with < 64 << 20


def _peak(*words: str) -> int:
    """Return the peak memory in bytes of a call in its own process."""
    code = (
        "import resource, subprocess, sys; "
        "subprocess.run([sys.executable, '-m', 'pagectl', *sys.argv[1:]], stdout=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=environment(), capture_output=True, text=True, check=True, timeout=280
    )
    return int(done.stdout) * (1 if sys.platform == "darwin" else 1024)
