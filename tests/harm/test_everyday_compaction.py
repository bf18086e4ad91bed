"""A full disk names the file; compaction says what is free when, and how to go on."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from harmed import ENOSPC, faults, golden, json_of, no_trace, pagectl, pages_of
from program import call

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "words",
    [
        ("pages", "compact", "{data}", "--in-place"),
        ("pages", "compact", "{data}", "--in-place", "--no-backup"),
        ("pages", "compact", "{data}", "--out", "{out}"),
        ("pages", "salvage", "{torn}", "--out", "{out}"),
        ("pages", "decode", "{data}", "--to", "{out}.jsonl"),
        ("pages", "decode", "{data}", "--to", "{out}.parquet"),
        ("pages", "seal", "{data}", "--to", "{out}"),
        ("replay", "generate", "steady", "--to", "{out}.jsonl"),
    ],
    ids=lambda words: " ".join(words[:2] + words[3:4]),
)
@pytest.mark.parametrize("number", [1, 3])
def test_a_full_disk_names_the_file(words: tuple[str, ...], number: int, tmp_path: Path) -> None:
    for name in ("torn", "there"):
        (tmp_path / name).mkdir()
    data, torn = golden("scattered-acks").copy(tmp_path), golden("scattered-acks").copy(tmp_path / "torn")
    page = pages_of(torn)[2]
    page.write_bytes(page.read_bytes()[:-7])
    out = tmp_path / "there" / "out"
    below = data if "--in-place" in words else tmp_path / "there"
    full = faults().changes(below, number, ENOSPC)
    answer = pagectl(*(word.format(data=data, torn=torn, out=out) for word in words), extra=full)
    if answer.status == 0:
        pytest.skip("it makes no so many changes")
    assert answer.status == 2 and "No space left on device" in answer.err
    assert str(below) in answer.err and ".tmp" not in answer.err, answer
    no_trace(answer)


def acknowledged_more(data: Path) -> None:
    """Restore the golden pages and a golden journal that differs from the former in bytes after its records.

    A next compaction therefore has work again, and its journal is another one.
    """
    fresh = golden("scattered-acks").data() / "journal"
    for path in (data / "journal").glob("*.amq"):
        content = bytearray((fresh / path.name).read_bytes())
        end = len(content.rstrip(b"\0"))
        content[end : end + 4] = b"\0\0\0\0"
        content[-1] = 1
        path.write_bytes(content)
    shutil.copytree(golden("scattered-acks").data() / "paging", data / "paging", dirs_exist_ok=True)


def test_a_second_compaction_says_how_to_go_on(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    assert call("pages", "compact", data, "--in-place").status == 0
    acknowledged_more(data)
    answer = call("pages", "compact", data, "--in-place")
    assert answer.status == 2, answer
    assert "pages restore" in answer.err, "the way back"
    assert "drop" in answer.err and str(data / "pagectl-backup") in answer.err, "and the way on"


def test_the_plan_says_it_before(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    assert call("pages", "compact", data, "--in-place").status == 0
    acknowledged_more(data)
    answer = call("pages", "compact", data, "--in-place", "--dry-run")
    assert "pagectl-backup" in answer.out + answer.err, answer


def test_cron_has_a_way() -> None:
    page = (ROOT / "docs" / "jobs" / "disk-fills.md").read_text("utf-8")
    assert re.search(r"cron.*compact|compact.*cron", page, re.IGNORECASE | re.DOTALL)
    assert "pages compact" in (ROOT / "examples" / "cron" / "pagectl").read_text("utf-8")


def test_space_that_is_not_free_yet(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    answer = call("pages", "compact", data, "--in-place")
    assert not re.search(r"^freed \d", answer.out, re.MULTILINE), answer
    assert re.search(r"will be freed|are freed|comes back", answer.out) and "21.5 KiB" in answer.out, answer


def test_space_that_is_free(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    answer = call("pages", "compact", data, "--in-place", "--no-backup")
    assert re.search(r"^freed 21\.5 KiB", answer.out, re.MULTILINE), answer


def test_a_run_without_anything_to_do_does_not_claim_to_free(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    call("pages", "compact", data, "--in-place", "--no-backup")
    answer = call("pages", "compact", data, "--in-place", "--no-backup")
    assert answer.status == 0 and "nothing to free" in answer.out, answer


def test_json_tells_the_two_apart(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    plan = json_of(call("pages", "compact", data, "--in-place", "--format", "json"))
    assert plan["freed"] > 0 and plan["freed_now"] == 0 and plan["backup"]
