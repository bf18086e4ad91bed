"""Every exit status of ``pagectl.statuses`` is produced here, or by the test that is named.

``watched_calls`` sees to it that no call of the whole suite ends with another one.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from pagectl.statuses import STATUSES
from program import ROOT, call

INTERRUPTED = 130
# command, status, the words behind the command; {…} are files of the world below
CALLS: list[tuple[str, int, str]] = [
    ("config lint", 0, "{sound}"),
    ("config lint", 1, "{wrong}"),
    ("config lint", 2, "{folder}/nowhere.xml"),
    ("config effective", 0, "{sound} orders"),
    ("config effective", 2, "{folder}/nowhere.xml orders"),
    ("config explain", 0, "page-size-bytes"),
    ("config explain", 2, "page-size-byte"),
    ("config rules", 0, ""),
    ("config rules", 2, "--format sarif"),
    ("config diff", 0, "{sound} {sound}"),
    ("config diff", 1, "{sound} {other}"),
    ("config diff", 2, "{sound}"),
    ("config capacity", 0, "{sound} --heap 2G"),
    ("config capacity", 2, "{sound} --heap much"),
    ("export", 2, "{news} --to {folder}"),
    ("pages ls", 0, "{news}"),
    ("pages ls", 1, "{torn}"),
    ("pages ls", 2, "{folder}/nowhere"),
    ("pages outstanding", 0, "{news}"),
    ("pages outstanding", 1, "{torn}"),
    ("pages outstanding", 2, "{alone}"),
    ("pages decode", 0, "{news} --limit 1"),
    ("pages decode", 1, "{torn}"),
    ("pages decode", 2, "{news} --where ="),
    ("pages verify", 0, "{news}"),
    ("pages verify", 1, "{torn}"),
    ("pages verify", 2, "{news} --manifest {sound}"),
    ("pages seal", 0, "{news}"),
    ("pages seal", 2, "{news} --to {pages}/seal"),
    ("pages inspect", 0, "{news} --page 12"),
    ("pages inspect", 1, "{torn}"),
    ("pages inspect", 2, "{news} --page 99"),
    ("pages compact", 0, "{news}"),
    ("pages compact", 2, "{news} --no-backup"),
    ("pages salvage", 0, "{mended} --out {folder}/saved"),
    ("pages salvage", 1, "{torn} --out {folder}/out"),
    ("pages salvage", 2, "{news} --out {folder}/out"),
    ("pages restore", 0, "{compacted} --discard"),
    ("pages restore", 2, "{news}"),
    ("disk check", 0, "{folder} --max-disk-usage 100"),
    ("disk check", 1, "{folder} --max-disk-usage 100 -w 0:0"),
    ("disk check", 2, "{folder} --max-disk-usage 100 -c 0:0"),
    ("disk check", 3, "{folder} --max-disk-usage much"),
    ("disk watch", 2, "{folder}"),
    ("disk forecast", 0, "{folder} --max-disk-usage 100 --state {folder}/samples"),
    ("disk forecast", 3, "{folder}/nowhere"),
    ("disk usage", 0, "{news}"),
    ("disk usage", 2, "{folder}/nowhere"),
    ("replay run", 0, "{trace} --config {sound}"),
    ("replay run", 1, "{odd} --config {sound}"),
    ("replay run", 2, "{trace} --config {folder}/nowhere.xml"),
    ("replay import", 0, "{log} --to {folder}/imported.jsonl"),
    ("replay import", 2, "{sound} --to {folder}/imported.jsonl"),
    ("replay generate", 0, "steady --to {folder}/steady.jsonl --messages 3"),
    ("replay generate", 2, "sideways --to {folder}/steady.jsonl"),
    ("replay compare", 0, "{trace} --config {sound} --config {sound}"),
    ("replay compare", 1, "{trace} --config {sound} --config {small}"),
    ("replay compare", 2, "{trace}"),
    ("replay sweep", 0, "{trace} --config {sound} --vary #:max-size-bytes=1M"),
    ("replay sweep", 1, "{odd} --config {sound} --vary #:max-size-bytes=1M"),
    ("replay sweep", 2, "{trace} --config {sound} --vary #:max-size-bytes"),
    ("completion", 0, "bash"),
    ("completion", 2, "tcsh"),
]
# what takes a terminal, Spark, a disk that fills, or a folder that refuses (even root) is another test's
ELSEWHERE = {
    ("export", 0): "test_spark.py::test_killed_export_leaves_no_table_and_the_next_run_is_clean",
    ("export", 1): "test_spark.py::test_export_writes_a_whole_table_and_keeps_damage_aside_without_java",
    ("disk watch", 0): "test_disk_watch.py::test_it_draws_within_its_width_and_ends_with_q",
    ("disk forecast", 1): "test_disk_forecast.py::test_it_warns_in_time",
    ("disk forecast", 2): "test_disk_forecast.py::test_blocked_now_is_critical",
    ("disk usage", 1): "test_disk_usage.py::test_what_may_not_be_read_is_named",
    ("", INTERRUPTED): "test_pages_bad_input.py::test_ctrl_c_ends_it_with_130_and_leaves_nothing",
}


def test_the_tables_have_every_status_and_no_other() -> None:
    wanted = {(" ".join(path), status) for path, found in STATUSES.items() for status in found} | {("", INTERRUPTED)}
    listed = [(command, status) for command, status, _ in CALLS] + list(ELSEWHERE)
    assert len(listed) == len(set(listed)) and set(listed) == wanted


@pytest.mark.parametrize("place", sorted(ELSEWHERE.values()))
def test_the_named_test_exists(place: str) -> None:
    file, name = place.split("::")
    tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Directories, configurations, traces and a log, such as every status needs."""
    folder = tmp_path_factory.mktemp("statuses")
    subprocess.run(["sh", str(ROOT / "examples" / "unpack.sh"), str(folder)], check=True)
    news, torn = folder / "news", folder / "torn"
    found = {"folder": folder, "news": news, "torn": torn, "pages": news / "data" / "paging"}
    found |= {name: folder / f"{name}.xml" for name in ("sound", "wrong", "other", "small")}
    found["sound"].write_text(configuration("<max-size-bytes>10M</max-size-bytes>"))
    found["other"].write_text(configuration("<max-size-bytes>11M</max-size-bytes>"))
    found["small"].write_text(configuration("<max-size-bytes>20K</max-size-bytes>"))
    found["wrong"].write_text(configuration("<max-size-byte>10M</max-size-byte>"))
    found |= {name: folder / f"{name}.jsonl" for name in ("trace", "odd")}
    assert call("replay", "generate", "slow-consumer", "--to", found["trace"], "--messages", "200").status == 0
    lines = found["trace"].read_text("utf-8").splitlines()
    found["odd"].write_text("\n".join([*lines, '{"op":"something-new","t":999999999999}']) + "\n")
    found["log"] = ROOT / "tests" / "replay" / "traffic-logs" / "audit-message.log.gz"
    found["alone"] = shutil.copytree(found["pages"], folder / "alone")
    found["compacted"] = GoldenCase("2.56.0", "scattered-acks").copy(folder / "compacted")
    assert call("pages", "compact", found["compacted"], "--in-place").status == 0
    found["mended"] = with_a_byte_changed(shutil.copytree(news, folder / "mended"), "*000000003.page", -1)
    return found


def with_a_byte_changed(copy: Path, file: str, offset: int) -> Path:
    """The last byte of a page is the end mark of its last record."""
    path = next(copy.rglob(file))
    content = bytearray(path.read_bytes())
    content[offset] ^= 0xFF
    path.write_bytes(content)
    return copy


def configuration(setting: str) -> str:
    return (
        '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><address-settings>'
        f'<address-setting match="#">{setting}<address-full-policy>PAGE</address-full-policy>'
        "<dead-letter-address>DLQ</dead-letter-address><expiry-address>EQ</expiry-address></address-setting>"
        '</address-settings><addresses><address name="DLQ"><anycast><queue name="DLQ"/></anycast></address>'
        '<address name="EQ"><anycast><queue name="EQ"/></anycast></address></addresses></core></configuration>\n'
    )


@pytest.mark.parametrize(("command", "status", "words"), CALLS, ids=lambda part: str(part))
def test_status(world: dict[str, Path], command: str, status: int, words: str) -> None:
    answer = call(*command.split(), *(word.format(**world) for word in words.split()))
    assert answer.status == status, answer


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("--version", 0), ("--help", 0), ("pages --help", 0), ("pages ls --help", 0), ("disk check --help", 0),
        ("", 2), ("pages", 2), ("nonsense", 2), ("pages nonsense", 2), ("--nonsense", 2), ("disk nonsense", 2),
        ("disk check --nonsense", 3), ("disk forecast --nonsense", 3),
    ],
)  # fmt: skip
def test_status_of_the_frame(words: str, status: int) -> None:
    assert call(*words.split()).status == status
