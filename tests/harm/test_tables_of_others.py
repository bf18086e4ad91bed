"""What others left in a table's folder runs no code, and leads no export outside of the table."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from golden_cases import GoldenCase

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

from pagefmt.errors import PageFmtError
from pagefmt.spark.table_folder import CHANGING, MADE, NUMBER, REPLACED, table_at, undo
from pagefmt.storage.remote_outputs import StoredPath
from pagefmt.storage.writing import TargetRefused

RUN = "0123456789ab"
CASE = GoldenCase("2.56.0", "multicast-acks")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Create a table with the leftovers of an interrupted run, next to files that do not belong to it."""
    table = tmp_path / "table"
    (table / "_temporary" / RUN / REPLACED).mkdir(parents=True)
    left_over(table, CHANGING).touch()
    (table / "metadata").mkdir()
    (table / "metadata" / "v1.metadata.json").write_text("{}")
    (table / "metadata" / "used.avro").write_text("used")
    (tmp_path / "victim.avro").write_text("precious")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "victim.avro").write_text("precious")
    return table


def left_over(table: Path, name: str) -> Path:
    return table / "_temporary" / RUN / name


@pytest.mark.parametrize(
    "name",
    [
        "{out}/victim.avro",
        "../victim.avro",
        "metadata/../../victim.avro",
        "metadata/../../folder/victim.avro",
        "./metadata/v1.metadata.json",
        "metadata/v1.metadata.json",
        "/etc/hostname",
        "",
        ".",
        "..",
        "metadata",
        "a\0b",
        "//{out}/victim.avro",
        "\udce9",
    ],
)
def test_a_note_of_made_files_removes_nothing_else(table: Path, tmp_path: Path, name: str) -> None:
    text = name.replace("{out}", str(tmp_path)).encode("utf-8", "surrogateescape")
    left_over(table, MADE).write_bytes(text + b"\n")
    undo(table)
    kept = ("victim.avro", "folder/victim.avro", "table/metadata/used.avro", "table/metadata/v1.metadata.json")
    assert all((tmp_path / each).exists() for each in kept)
    assert not (table / "_temporary").exists()


def test_made_files_of_the_table_go(table: Path) -> None:
    for name in ("m0.avro", "v2.metadata.json.new"):
        (table / "metadata" / name).write_text("of no use")
    left_over(table, MADE).write_text("metadata/m0.avro\nmetadata/v2.metadata.json.new\nmetadata/absent.avro\n")
    undo(table)
    assert sorted(path.name for path in (table / "metadata").iterdir()) == ["used.avro", "v1.metadata.json"]


def test_what_a_run_replaced_comes_back_even_without_its_mark(table: Path) -> None:
    left_over(table, CHANGING).unlink()
    left_over(table, f"{REPLACED}/part-0.parquet").write_text("precious")
    undo(table)
    assert (table / "part-0.parquet").read_text() == "precious"


@pytest.mark.parametrize("name", [MADE, NUMBER, "_damaged.json", REPLACED, f"{REPLACED}/part-0.parquet", RUN])
def test_links_in_leftovers_are_refused(table: Path, tmp_path: Path, name: str) -> None:
    place = table / "_temporary" / RUN / name if name != RUN else table / "_temporary" / "ba9876543210"
    if place.is_dir():
        place.rmdir()
    place.symlink_to(tmp_path / "folder")
    with pytest.raises(PageFmtError, match="symbolic link"), table_at(table):
        pytest.fail("the table was opened")
    assert (tmp_path / "folder" / "victim.avro").read_text() == "precious"


@pytest.mark.parametrize("text", [b"x", b"9" * 5000, b"\xff", b"", b"-1"])
def test_a_number_that_is_none(table: Path, text: bytes) -> None:
    left_over(table, NUMBER).write_bytes(text)
    with pytest.raises(TargetRefused, match="not the number of an export"):
        undo(table)


def test_a_pipe_in_leftovers_is_not_waited_for(table: Path) -> None:
    os.mkfifo(left_over(table, MADE))
    with pytest.raises(PageFmtError, match="not a regular file"):
        undo(table)


def test_no_object_outside_of_a_stored_table() -> None:
    with pytest.raises(TargetRefused, match="lead out of the table"):
        (StoredPath("s3://bucket/table") / ".." / "other").unlink()


# ---------------------------------------------------------------- Iceberg


@pytest.fixture
def iceberg(tmp_path: Path, spark_context: Any) -> Path:
    pytest.importorskip("pyiceberg", reason="the extra pagectl[tables] is not installed")
    from incremental_exports import night

    from pagefmt.table.table_content import LakeFormat

    night(spark_context, CASE.data(), tmp_path / "t", (), LakeFormat.ICEBERG)
    return tmp_path / "t"


def changed(table: Path, **more: Any) -> None:
    file = sorted((table / "metadata").glob("v*.metadata.json"))[-1]
    found = json.loads(file.read_text())
    found["properties"] |= more.pop("properties", {})
    for snapshot in found["snapshots"]:
        snapshot |= more.get("snapshot", {})
    more.pop("snapshot", None)
    file.write_text(json.dumps(found | more))


def test_metadata_names_no_code_and_no_other_place(iceberg: Path, spark_context: Any, tmp_path: Path) -> None:
    # Spark writes one table, and each change is made to its original metadata.
    from incremental_exports import night

    from pagefmt.table.table_content import LakeFormat

    file = sorted((iceberg / "metadata").glob("v*.metadata.json"))[-1]
    sound, ran = file.read_text(), tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w').write('x')"
    outside = str(tmp_path / "elsewhere")
    changes: list[tuple[dict[str, Any], str]] = [
        ({"properties": {"write.py-location-provider.impl": "builtins.exec"}, "location": code}, "names code to run"),
        ({"properties": {"write.py-location-provider.impl": "builtins.exec"}}, "names code to run"),
        ({"properties": {"py-io-impl": "os.system"}}, "names code to run"),
        ({"properties": {"py-catalog-impl": "os.system"}}, "names code to run"),
        ({"properties": {"s3.retry-strategy-impl": "os.system"}}, "names code to run"),
        ({"properties": {"write.location-provider.IMPL": "os.system"}}, "names code to run"),
        ({"location": outside}, "was created at"),
        ({"location": str(iceberg) + "/../elsewhere"}, "was created at"),
        ({"snapshot": {"manifest-list": f"{outside}/snap.avro"}}, "outside of its folder"),
        ({"snapshot": {"manifest-list": f"{iceberg}/metadata/../../snap.avro"}}, "outside of its folder"),
    ]
    for change, why in changes:
        changed(iceberg, **{name: dict(value) if isinstance(value, dict) else value for name, value in change.items()})
        with pytest.raises(PageFmtError, match=why):
            night(spark_context, CASE.data(), iceberg, (), LakeFormat.ICEBERG)
        file.write_text(sound)
    assert not ran.exists() and not (tmp_path / "elsewhere").exists()


def test_properties_of_others_are_kept_and_not_followed(iceberg: Path, spark_context: Any, tmp_path: Path) -> None:
    from incremental_exports import night

    from pagefmt.table.table_content import LakeFormat

    others = {"owner": "somebody", "write.metadata.path": str(tmp_path / "elsewhere")}
    changed(iceberg, properties=dict(others))
    other = GoldenCase("2.56.0", "scattered-acks")
    night(spark_context, other.data(), iceberg, (), LakeFormat.ICEBERG)
    last = json.loads(sorted((iceberg / "metadata").glob("v*.metadata.json"))[-1].read_text())
    assert others.items() <= last["properties"].items() and last["properties"]["pagectl-export"] == "2"
    assert not (tmp_path / "elsewhere").exists()
