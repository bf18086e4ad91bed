"""What a broker delivers nothing of is rescued: salvage and ``ls`` mean the same by an orphan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harmed import golden, json_of, no_trace, stores_of
from program import call

MESSAGES, WAITING = 47, 28


def another(folder: Path) -> None:
    (folder / "address.txt").write_bytes(b"nowhere\n")


def blank(folder: Path) -> None:
    (folder / "address.txt").write_bytes(b" \n")


def blank_line(folder: Path) -> None:
    (folder / "address.txt").write_bytes(b"\nscatter\n")


def bad_characters(folder: Path) -> None:
    (folder / "address.txt").write_bytes(b"\xff\xfe\n")


def zeros(folder: Path) -> None:
    (folder / "address.txt").write_bytes(bytes(8))


def none(folder: Path) -> None:
    (folder / "address.txt").unlink()


WAYS = [another, blank, blank_line, bad_characters, zeros, none]
EACH = pytest.mark.parametrize("spoil", WAYS, ids=lambda spoil: spoil.__name__)


def spoilt(spoil: Callable[[Path], None], tmp_path: Path) -> Path:
    data = golden("scattered-acks").copy(tmp_path)
    spoil(stores_of(data)[0])
    return data


@EACH
def test_it_is_rescued(spoil: Callable[[Path], None], tmp_path: Path) -> None:
    data, out = spoilt(spoil, tmp_path), tmp_path / "out"
    answer = call("pages", "salvage", data, "--out", out, "--format", "json")
    no_trace(answer)
    assert answer.status in (0, 1), answer
    (store,) = json_of(answer)["stores"]
    assert store["address"] == "scatter" and store["address_from_records"] is True
    (folder,) = stores_of(out)
    assert (folder / "address.txt").read_bytes() == b"scatter\n"


@EACH
def test_a_broker_delivers_what_it_would_have_delivered(spoil: Callable[[Path], None], tmp_path: Path) -> None:
    data, out = spoilt(spoil, tmp_path), tmp_path / "out"
    assert call("pages", "salvage", data, "--out", out).status in (0, 1)
    (data / "paging").rename(tmp_path / "before")
    out.rename(data / "paging")
    (store,) = json_of(call("pages", "outstanding", data, "--format", "json"))["stores"]
    assert [queue["messages"] for queue in store["queues"]] == [WAITING]


@EACH
def test_ls_and_salvage_agree(spoil: Callable[[Path], None], tmp_path: Path) -> None:
    data = spoilt(spoil, tmp_path)
    (row,) = json_of(call("pages", "ls", data, "--format", "json"))["stores"]
    worse = "suspect" if spoil is bad_characters else None  # a character set of its own is told before
    assert row["condition"] in ("orphan", "no address", worse)
    assert any("salvage" in remark for remark in row["remarks"]), "what to do next"
    assert "no folder is orphaned" not in call("pages", "salvage", data, "--out", tmp_path / "out").err


def test_the_queue_ids_tell_where_addresses_do_not(tmp_path: Path) -> None:
    # A divert's records name another address, but the queue ids in them belong to queues of one address.
    data, out = golden("divert").copy(tmp_path), tmp_path / "out"
    folder = stores_of(data)[0]
    address = (folder / "address.txt").read_text().strip()
    another(folder)
    answer = call("pages", "salvage", data, "--out", out, "--format", "json")
    assert answer.status in (0, 1), answer
    (store,) = [store for store in json_of(answer)["stores"] if store["folder"] == folder.name]
    assert store["address"] == address


def test_an_address_without_queues_stays_an_orphan(tmp_path: Path) -> None:
    # The records name this very address, so nothing ever waited for them.
    from harmed import data_directory

    data, out = data_directory(tmp_path, address="a"), tmp_path / "out"
    answer = call("pages", "salvage", data, "--out", out, "--format", "json")
    assert answer.status in (0, 1, 2)
    if answer.status == 2:
        assert "no queue" in answer.err and "no folder is orphaned" not in answer.err, answer
    else:
        assert json_of(answer)["stores"][0]["address"] == "a"
