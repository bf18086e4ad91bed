"""Where address, bindings or journal cannot be read, counts are not known: ``?`` and null, with the reason."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harmed import golden, json_of, no_trace, stores_of
from program import DECODE, Answer, call

MESSAGES, WAITING = 47, 28
"""``scattered-acks``: messages in its pages, and those that the journal has no acknowledgement of."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A way to make the waiting messages unknown, with the expected answers.

    ``named`` are words of the reason. ``waiting`` is the number that the acknowledgement records still show, or None if
    they are missing too. ``check`` is the only finding of ``verify`` above the level of a notice.
    """

    make: Callable[[Path], None]
    named: tuple[str, ...]
    waiting: int | None
    check: str

    def __str__(self) -> str:
        return self.make.__name__.replace("_", " ")


def no_address(data: Path) -> None:
    (stores_of(data)[0] / "address.txt").unlink()


def empty_address(data: Path) -> None:
    (stores_of(data)[0] / "address.txt").write_bytes(b"")


def address_is_a_folder(data: Path) -> None:
    no_address(folder := data)
    next((folder / "paging").iterdir()).joinpath("address.txt").mkdir()


def address_is_a_link(data: Path) -> None:
    path = stores_of(data)[0] / "address.txt"
    path.rename(data / "elsewhere.txt")
    path.symlink_to(data / "elsewhere.txt")


def no_bindings(data: Path) -> None:
    shutil.rmtree(data / "bindings")


def empty_bindings_folder(data: Path) -> None:
    for path in (data / "bindings").iterdir():
        path.unlink()


def empty_bindings_files(data: Path) -> None:
    for path in (data / "bindings").iterdir():
        path.write_bytes(b"")


def zeroed_bindings(data: Path) -> None:
    for path in (data / "bindings").iterdir():
        path.write_bytes(bytes(path.stat().st_size))


def garbage_bindings(data: Path) -> None:
    for path in (data / "bindings").iterdir():
        path.write_bytes(b"garbage" * 1000)


def bindings_are_folders(data: Path) -> None:
    for path in (data / "bindings").iterdir():
        path.unlink()
        path.mkdir()


def no_journal(data: Path) -> None:
    shutil.rmtree(data / "journal")


def empty_journal_folder(data: Path) -> None:
    for path in (data / "journal").iterdir():
        path.unlink()


def empty_journal_files(data: Path) -> None:
    for path in (data / "journal").glob("*.amq"):
        path.write_bytes(b"")


def zeroed_journal(data: Path) -> None:
    for path in (data / "journal").glob("*.amq"):
        path.write_bytes(bytes(path.stat().st_size))


def garbage_journal(data: Path) -> None:
    for path in (data / "journal").glob("*.amq"):
        path.write_bytes(b"garbage" * 1000)


def journal_files_are_folders(data: Path) -> None:
    for path in (data / "journal").glob("*.amq"):
        path.unlink()
        path.mkdir()


ADDRESS, BINDINGS, JOURNAL = ("address.txt",), ("bindings",), ("journal",)
KINDS = [
    Unknown(no_address, ADDRESS, WAITING, "no-address"),
    Unknown(empty_address, ADDRESS, WAITING, "no-address"),
    Unknown(address_is_a_folder, ADDRESS, WAITING, "no-address"),
    Unknown(address_is_a_link, ADDRESS, WAITING, "no-address"),
    Unknown(no_bindings, BINDINGS, WAITING, "bindings"),
    Unknown(empty_bindings_folder, BINDINGS, WAITING, "bindings"),
    Unknown(empty_bindings_files, BINDINGS, WAITING, "bindings"),
    Unknown(zeroed_bindings, BINDINGS, WAITING, "bindings"),
    Unknown(garbage_bindings, BINDINGS, WAITING, "bindings"),
    Unknown(bindings_are_folders, BINDINGS, WAITING, "bindings"),
    Unknown(no_journal, JOURNAL, None, "journal"),
    Unknown(empty_journal_folder, JOURNAL, None, "journal"),
    Unknown(empty_journal_files, JOURNAL, None, "journal"),
    Unknown(zeroed_journal, JOURNAL, None, "journal"),
    Unknown(garbage_journal, JOURNAL, None, "journal"),
    Unknown(journal_files_are_folders, JOURNAL, None, "journal"),
]
EACH = pytest.mark.parametrize("kind", KINDS, ids=str)


def made(kind: Unknown, tmp_path: Path) -> Path:
    data = golden("scattered-acks").copy(tmp_path)
    kind.make(data)
    return data


def asked(*words: str | Path) -> Answer:
    answer = call(*words)
    no_trace(answer)
    return answer


def gives_the_reason(kind: Unknown, said: str) -> None:
    assert any(word in said for word in kind.named), (kind.named, said)


@EACH
def test_ls(kind: Unknown, tmp_path: Path) -> None:
    answer = asked("pages", "ls", made(kind, tmp_path), "--format", "json")
    (row,) = json_of(answer)["stores"]
    assert row["messages"] == MESSAGES
    assert row["outstanding"] is None
    gives_the_reason(kind, " ".join(row["remarks"]))
    if kind.waiting is not None:
        assert str(kind.waiting) in " ".join(row["remarks"]), "what the acknowledgement records do say"
    assert answer.status == 1 and row["condition"] not in ("ok", "empty")


@EACH
def test_ls_in_words(kind: Unknown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    answer = asked("pages", "ls", made(kind, tmp_path))
    assert "outstanding," not in answer.out.splitlines()[2], answer
    assert " ? " in answer.out.splitlines()[1], answer
    gives_the_reason(kind, answer.out + answer.err)


@EACH
def test_ls_as_table(kind: Unknown, tmp_path: Path) -> None:
    import csv

    answer = asked("pages", "ls", made(kind, tmp_path), "--format", "csv")
    (row,) = csv.DictReader(answer.out.splitlines())
    assert row["outstanding"] in ("", "?")


@EACH
def test_outstanding(kind: Unknown, tmp_path: Path) -> None:
    answer = asked("pages", "outstanding", made(kind, tmp_path), "--format", "json")
    gives_the_reason(kind, answer.out + answer.err)
    if answer.status == 2:  # without a journal there is no answer at all
        assert kind.waiting is None and not answer.out
        return
    assert answer.status == 1
    (store,) = json_of(answer)["stores"]
    assert [page["held_by"] for page in store["pages"]] == [None] * 6
    assert all(queue["messages"] is None for queue in store["queues"])
    if kind.waiting is not None:
        assert str(kind.waiting) in " ".join(store["remarks"])


@EACH
def test_outstanding_in_words(kind: Unknown, tmp_path: Path) -> None:
    answer = asked("pages", "outstanding", made(kind, tmp_path))
    assert answer.status in (1, 2) and "nobody" not in answer.out
    gives_the_reason(kind, answer.out + answer.err)


@EACH
def test_what_is_outstanding_is_not_shown_as_nothing(kind: Unknown, tmp_path: Path) -> None:
    answer = asked("messages", "decode", "--in", "pages", made(kind, tmp_path), "--outstanding", "--format", "jsonl")
    assert answer.status in (1, 2)
    gives_the_reason(kind, answer.err)
    assert len(answer.lines()) in (0, kind.waiting or 0)


@EACH
def test_decode_goes_on_and_knows_no_acknowledgements(kind: Unknown, tmp_path: Path) -> None:
    answer = asked("pages", "decode", made(kind, tmp_path), "--format", "jsonl")
    assert len(answer.lines()) == MESSAGES
    if kind.waiting is None:
        assert all("acked_by" not in line or line["acked_by"] is None for line in answer.lines())


@EACH
def test_tables_do_not_say_that_nothing_waits(kind: Unknown, tmp_path: Path) -> None:
    from pyarrow import parquet

    answer = asked(*DECODE, made(kind, tmp_path), "--to", out := tmp_path / "x.parquet")
    rows = parquet.read_table(out, columns=["outstanding", "acked_by"]).to_pylist()
    assert [row["outstanding"] for row in rows] == [None] * MESSAGES
    assert kind.waiting is not None or [row["acked_by"] for row in rows] == [None] * MESSAGES
    if kind.named is not ADDRESS:
        gives_the_reason(kind, answer.err)


@EACH
def test_the_spark_source_says_the_same(kind: Unknown, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = pytest.importorskip("pagefmt.spark.source", reason="the extra pagectl[spark] is not installed")
    from pagefmt.spark.options import SourceOptions

    reader = source.PageFilesReader(SourceOptions.of({"path": str(made(kind, tmp_path))}))
    rows = [row for group in reader.partitions() for batch in reader.read(group) for row in batch.to_pylist()]
    assert [row["outstanding"] for row in rows] == [None] * MESSAGES
    assert kind.waiting is not None or [row["acked_by"] for row in rows] == [None] * MESSAGES
    if kind.named is not ADDRESS:
        gives_the_reason(kind, caplog.text)


@pytest.mark.parametrize("spoil", [no_address, zeroed_bindings, garbage_journal], ids=lambda spoil: spoil.__name__)
def test_export_tells_it(spoil: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Spark's job is replaced.
    table = pytest.importorskip("pagefmt.spark.table", reason="the extra pagectl[spark] is not installed")
    from contextlib import nullcontext

    from pagefmt.spark import exporting, session

    monkeypatch.setattr(session, "running", lambda *_: nullcontext())
    from pagefmt.spark.survey import surveyed

    monkeypatch.setattr(exporting, "surveys", lambda _, brokers, spec: [surveyed(each, spec) for each in brokers])
    monkeypatch.setattr(exporting, "write_by_tasks", lambda *_, **__: table.WrittenTable(MESSAGES, 1, []))
    data = golden("scattered-acks").copy(tmp_path)
    words = ["export", data, "--to", tmp_path / "out"]
    assert call(*words).status == 0
    spoil(data)
    answer = asked(*words)
    assert answer.status == 1 and answer.err.count("warning:") == 1, answer


@EACH
def test_compact_calls_nothing_free(kind: Unknown, tmp_path: Path) -> None:
    answer = asked("pages", "compact", made(kind, tmp_path), "--format", "json")
    gives_the_reason(kind, answer.out + answer.err)
    assert answer.status in (1, 2)
    if answer.status == 1:
        plan = json_of(answer)
        (store,) = plan["stores"]
        assert (store["dead_records"], store["dead_bytes"], plan["dead_bytes"], store["steps"]) == (
            None,
            None,
            None,
            [],
        )


@EACH
def test_compact_in_words(kind: Unknown, tmp_path: Path) -> None:
    answer = asked("pages", "compact", made(kind, tmp_path))
    assert "B do not belong to any message" not in answer.out, answer
    gives_the_reason(kind, answer.out + answer.err)


@EACH
def test_nothing_piles_up_behind_the_one_error(kind: Unknown, tmp_path: Path) -> None:
    answer = asked("pages", "verify", made(kind, tmp_path), "--format", "jsonl")
    found = [(line["severity"], line["check"]) for line in answer.lines() if "severity" in line]
    grave = {check for severity, check in found if severity != "notice"}
    assert len(grave) == 1, found
    (check,) = grave
    assert kind.check.removeprefix("no-") in check, found
    assert answer.status == 1
    derived = {"acknowledgement-of-missing-page", "acknowledgement-of-unknown-queue", "store-without-queue"}
    assert not derived & {check for _, check in found}, found


@EACH
def test_salvage_does_not_call_it_well(kind: Unknown, tmp_path: Path) -> None:
    answer = asked("pages", "salvage", made(kind, tmp_path), "--out", tmp_path / "out")
    assert "no folder is orphaned" not in answer.err
    gives_the_reason(kind, answer.out + answer.err)


@EACH
@pytest.mark.parametrize(
    "words",
    [
        "pages inspect",
        "pages seal",
        "pages decode --format text",
        "pages decode --format csv",
        "pages verify",
        "messages decode --in pages --outstanding --format csv",
        "messages decode --in pages --outstanding --to {out}.arrow",
        "disk usage --format json",
    ],
)
def test_what_needs_no_acknowledgements_goes_on(kind: Unknown, words: str, tmp_path: Path) -> None:
    group, name, *rest = words.format(out=tmp_path / "x").split()
    answer = asked(group, name, made(kind, tmp_path), *rest)
    if name in ("inspect", "seal"):
        assert answer.status in (0, 2), answer
        assert "000000008.page" in answer.out or answer.status == 2, answer
    elif "--outstanding" in rest:
        assert answer.status in (1, 2), answer
        gives_the_reason(kind, answer.err)
    elif name == "usage":
        document = json_of(answer)
        assert document, answer
    else:
        assert answer.status in (0, 1), answer
        assert answer.out.count("\n") > 2, answer


@EACH
def test_disk_usage_gives_no_live_bytes_that_it_does_not_know(kind: Unknown, tmp_path: Path) -> None:
    answer = asked("disk", "usage", made(kind, tmp_path))
    if kind.named is not ADDRESS:
        assert "0 B live" not in answer.out and "0 B reclaimable" not in answer.out, answer


# ---------------------------------------------------------------- one of several


@pytest.mark.parametrize("spoil", [no_address, empty_address], ids=lambda spoil: spoil.__name__)
def test_the_other_stores_are_counted_as_always(spoil: Callable[[Path], None], tmp_path: Path) -> None:
    data = golden("two-addresses").copy(tmp_path)
    usual = {row["folder"]: row for row in rows(data)}
    spoil(data)
    spoilt = [row for row in rows(data) if row["address"] is None]
    others = [row for row in rows(data) if row["address"] is not None]
    assert [row["outstanding"] for row in spoilt] == [None]
    assert others == [usual[row["folder"]] for row in others]


def rows(data: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json_of(asked("pages", "ls", data, "--format", "json"))["stores"]
    return found


def test_a_fresh_broker_without_acknowledgements_is_known(tmp_path: Path) -> None:
    # An empty, sound journal says that nothing is acknowledged, which is not unknown.
    answer = asked("pages", "ls", golden("basic").copy(tmp_path), "--format", "json")
    (row,) = json_of(answer)["stores"]
    assert (row["outstanding"], row["condition"], answer.status) == (50, "ok", 0)
