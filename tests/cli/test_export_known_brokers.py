"""``export --incremental`` knows a broker by its node id, or by its resolved path, however it is spelled."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from uuid import UUID

import pytest
from golden_cases import GoldenCase
from incremental_exports import PagingBroker, TasksHere
from made_pages import FOLDER, message
from program import Answer, call

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

import pyarrow.parquet as pq
from pagectl.terminal import spark_progress

from pagefmt.directory.locate import locate
from pagefmt.spark import session
from pagefmt.spark.known_brokers import BrokerIdentity

NODE, OTHER = UUID(int=7 << 64), UUID(int=8 << 64)


@pytest.fixture(autouse=True)
def _tasks_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "running", lambda *_: nullcontext(TasksHere()))
    monkeypatch.setattr(spark_progress, "spark_progress", lambda *_: nullcontext())


def instance(folder: Path, node: UUID | None = NODE) -> Path:
    """Copy a golden directory and give it a node id, or no lock file at all if ``node`` is None."""
    data = GoldenCase("2.56.0", "scattered-acks").copy(folder)
    lock = data / "journal" / "server.lock"
    lock.unlink()
    if node is not None:
        lock.write_bytes(b"\x01\x00\x00" + node.bytes)
    return data


def export(out: Path, *words: object) -> Answer:
    return call("export", *words, "--to", out, "--incremental", "--format", "json")


def rows(out: Path) -> Counter[str]:
    return Counter(pq.read_table(out, columns=["broker"]).column("broker").to_pylist())


def test_every_spelling_is_one_broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, out = instance(tmp_path / "inst"), tmp_path / "out"
    monkeypatch.chdir(tmp_path)
    first = json.loads(export(out, data).out)["rows"]
    (tmp_path / "link").symlink_to("inst")
    (tmp_path / "below").mkdir()
    relative = data.relative_to(tmp_path)
    assert first and rows(out) == {str(data): first}
    for spelling in (relative, f"below/../{relative}", tmp_path / "link" / data.relative_to(tmp_path / "inst")):
        again = export(out, spelling)
        assert again.status == 0 and json.loads(again.out)["rows"] == 0, again
        (line,) = again.err.splitlines() or [""]
        assert (f"the table knows this broker as {data}" in line) is (".." in str(spelling) or "link" in str(spelling))
    assert rows(out) == {str(data): first}


@pytest.mark.parametrize("node", [NODE, None])
def test_a_broker_that_was_moved_goes_on(node: UUID | None, tmp_path: Path) -> None:
    # A broker is known by its node id; without one by its path, so that every message is exported again.
    data, out = instance(tmp_path / "before", node), tmp_path / "out"
    first = json.loads(export(out, data).out)["rows"]
    moved = tmp_path / "after" / data.name
    moved.parent.mkdir()
    shutil.move(data, moved)
    write(moved, range(900_000, 900_004))
    again = export(out, moved)
    assert again.status == 0
    if node is None:
        assert rows(out) == {str(data): first, str(moved): first + 4}
    else:
        assert again.err == f"note: {moved}: the table knows this broker as {data}; its rows keep that name\n"
        assert rows(out) == {str(data): first + 4}


def write(data: Path, ids: range, *, anew: bool = False) -> None:
    """Write a page after those that are there, or the last one anew."""
    last = sorted((data / "paging").glob("*/*.page"))[-1]
    address = (last.parent / "address.txt").read_text().strip()
    path = last if anew else last.with_name(f"{int(last.stem) + 1:09d}.page")
    path.write_bytes(b"".join(message(each, address, "text") for each in ids))


def test_a_broker_of_a_list_may_get_another_name(tmp_path: Path) -> None:
    data, out, listing = instance(tmp_path / "b"), tmp_path / "out", tmp_path / "fleet.csv"
    for name in ("orders", "renamed"):
        listing.write_text(f"name,path\n{name},{data}\n")
        answer = export(out, "--brokers", listing)
        assert answer.status == 0
    assert answer.err == "note: renamed: the table knows this broker as orders; its rows keep that name\n"
    assert set(rows(out)) == {"orders"} and json.loads(answer.out)["rows"] == 0


def test_a_new_broker_in_the_place_of_another_is_another(tmp_path: Path) -> None:
    # Ids of a new broker start again, so they may equal those in the table.
    data, out = instance(tmp_path / "b"), tmp_path / "out"
    first = json.loads(export(out, data).out)["rows"]
    shutil.rmtree(data)
    instance(tmp_path / "b", OTHER)
    assert export(out, data).status == 0
    assert rows(out) == {str(data): first, f"{data} (node {OTHER})": first}
    assert json.loads(export(out, data).out)["rows"] == 0


def test_two_copies_in_one_call_are_reported(tmp_path: Path) -> None:
    one, other, out = instance(tmp_path / "one"), instance(tmp_path / "other"), tmp_path / "out"
    answer = export(out, one, other)
    said = f"a copy of {one}: both have the node id {NODE}; left out"
    assert answer.status == 1 and f"{other}: {said}" in answer.err
    (failed,) = json.loads(answer.out)["failed"]
    assert failed["broker"] == str(other) and said in failed["why"]
    assert set(rows(out)) == {str(one)}
    plain = call("export", one, other, "--to", tmp_path / "plain")
    assert plain.status == 0 and f"note: {other}: a copy of {one}: both have the node id {NODE}" in plain.err
    same = export(out, one, os.path.relpath(one))
    assert same.status == 0 and f"the same directory as {one}; exported once" in same.err


def test_brokers_of_one_template_are_no_copies(tmp_path: Path) -> None:
    # Images contain a node id in their journal; the folders of addresses differ for each broker.
    places = [PagingBroker(tmp_path / name) for name in ("one", "other")]
    for number, broker in enumerate(places):
        broker.write(5)
        data = tmp_path / ("one", "other")[number]
        (data / "paging" / FOLDER).rename(data / "paging" / str(UUID(int=number)))
        (data / "journal").mkdir()
        (data / "journal" / "server.lock").write_bytes(b"\x01\x00\x00" + NODE.bytes)
    for _ in range(2):
        answer = export(tmp_path / "out", tmp_path / "one", tmp_path / "other")
        assert json.loads(answer.out)["failed"] == []
        assert rows(tmp_path / "out") == {str(tmp_path / "one"): 5, str(tmp_path / "other"): 5}


def test_copies_that_went_apart_are_reported(tmp_path: Path) -> None:
    one, out = instance(tmp_path / "one"), tmp_path / "out"
    write(one, range(900_000, 900_004))
    assert export(out, one).status == 0
    other = tmp_path / "other" / one.name
    shutil.copytree(one, other)
    same = export(out, other)
    assert same.status == 0 and json.loads(same.out)["rows"] == 0
    write(other, range(900_002, 900_009), anew=True)
    apart = export(out, other)
    assert apart.status == 1 and json.loads(apart.out)["rows"] == 7
    (line,) = [line for line in apart.err.splitlines() if "two copies of one broker" in line]
    assert str(one) in line and str(other) in line
    back = export(out, one)
    assert back.status == 1 and json.loads(back.out)["rows"] == 0 and "two copies of one broker" in back.err
    shutil.rmtree(other)
    assert "two copies" not in export(out, one).err


def test_a_paging_directory_alone_is_its_resolved_path(tmp_path: Path) -> None:
    broker = PagingBroker(tmp_path / "data")
    broker.write(5)
    (tmp_path / "link").symlink_to("data")
    identity = BrokerIdentity.of(locate(tmp_path / "link"))
    assert identity == (None, str(tmp_path / "data" / "paging"), None) and not identity.is_there()
    assert json.loads(export(tmp_path / "out", tmp_path / "data").out)["rows"] == 5
    assert json.loads(export(tmp_path / "out", tmp_path / "link").out)["rows"] == 0
