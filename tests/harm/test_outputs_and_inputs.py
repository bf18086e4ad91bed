"""No output replaces a file that the same call reads, follows a link, or lies in a directory that is read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from every_call import configuration
from golden_cases import GoldenCase
from harmed import snapshot
from program import call

CASE = GoldenCase("2.56.0", "multicast-acks")
INCLUDED = (
    '<address-setting xmlns="urn:activemq:core" match="x.#"><max-size-bytes>1M</max-size-bytes></address-setting>'
)


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """Create an instance whose configuration includes a file, and every other file that calls read."""
    instance = tmp_path / "broker"
    CASE.lay_out(instance)
    etc = instance / "etc"
    etc.mkdir()
    text = (instance / "broker.xml").read_text().replace("<configuration", XINCLUDE, 1)
    (instance / "broker.xml").unlink()
    (etc / "broker.xml").write_text(
        text.replace("</address-settings>", '<xi:include href="more.xml"/></address-settings>')
    )
    (etc / "more.xml").write_text(INCLUDED)
    (etc / "broker.properties").write_text("globalMaxSize=100M\n")
    (tmp_path / "alone.xml").write_text(configuration("<max-size-bytes>10M</max-size-bytes>"))
    (tmp_path / "alone.properties").write_text("globalMaxSize=100M\n")
    (tmp_path / "brokers.csv").write_text(f"name,path\none,{instance}\n")
    (tmp_path / "secret").write_text("user:password\n")
    (tmp_path / "secret").chmod(0o600)
    for name in ("trace.jsonl", "trace.parquet"):
        assert call("replay", "generate", "steady", "--to", tmp_path / name, "--messages", "20").status == 0
    log = Path(__file__).parents[1] / "recorded" / "replays" / "traffic-logs" / "audit-message.log.gz"
    shutil.copy(log, tmp_path / "audit.log.gz")
    return tmp_path


XINCLUDE = '<configuration xmlns:xi="http://www.w3.org/2001/XInclude"'
BROKER = ("broker/etc/broker.xml", "broker/etc/broker.properties", "broker/etc/more.xml")
ALONE = ("alone.xml", "alone.properties")
GIVEN = ("--config", "{alone.xml}", "--properties", "{alone.properties}")
# the words of a call with TARGET in the place of an output, and the inputs that it reads
CALLS: list[tuple[str, tuple[str, ...]]] = [
    ("messages xml {broker} --to TARGET", BROKER),
    ("recover {broker} --list TARGET", BROKER),
    ("pages seal {broker} --to TARGET", BROKER),
    ("pages decode {broker} --format jsonl --to TARGET", BROKER),
    ("pages decode {broker} --format csv --to TARGET", BROKER),
    ("pages decode {broker} --format parquet --to TARGET", BROKER),
    ("messages decode {broker} --format arrow --to TARGET", BROKER),
    ("messages find {broker} --contains a --format jsonl --to TARGET", BROKER),
    (f"pages decode {{broker}} {' '.join(GIVEN)} --format jsonl --to TARGET", ALONE),
    (f"messages decode {{broker}} {' '.join(GIVEN)} --format parquet --to TARGET", ALONE),
    (f"messages xml {{broker}} {' '.join(GIVEN)} --to TARGET", ALONE),
    ("messages send {broker} --to amqp://localhost:9 --credentials {secret} --checkpoint TARGET", (*BROKER, "secret")),
    ("disk check {broker} --textfile TARGET", BROKER),
    ("disk forecast {broker} --state TARGET", BROKER),
    ("config lint {alone.xml} --baseline TARGET --write-baseline", ("alone.xml",)),
    ("replay run {trace.jsonl} --config {alone.xml} --outcome TARGET", ("trace.jsonl", "alone.xml")),
    ("replay run {trace.jsonl} --config {alone.xml} --report TARGET", ("trace.jsonl", "alone.xml")),
    ("replay run {trace.jsonl} --config {broker} --outcome TARGET", ("trace.jsonl", *BROKER)),
    ("replay run {trace.parquet} --config {alone.xml} --outcome TARGET", ("trace.parquet",)),
    ("replay run {trace.jsonl} --config {alone.xml} --properties {alone.properties} --outcome TARGET", ALONE),
    ("replay import {audit.log.gz} --to TARGET", ("audit.log.gz",)),
]


def words(text: str, world: Path, target: Path) -> list[str]:
    """Split a call into words; ``{name}`` is replaced by a file of the world, ``TARGET`` by the target."""
    given = [str(target) if word == "TARGET" else word for word in text.split()]
    return [str(world / word[1:-1]) if word.startswith("{") else word for word in given]


def contents(world: Path) -> dict[str, bytes]:
    return {str(path.relative_to(world)): path.read_bytes() for path in sorted(world.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    ("text", "read"), [(text, read) for text, every in CALLS for read in every], ids=lambda value: value[:60]
)
def test_an_input_is_not_replaced(world: Path, text: str, read: str) -> None:
    if text.startswith("messages send"):
        pytest.importorskip("proton", reason="the extra pagectl[amqp] is not installed")
    before = contents(world)
    named, second, link = world / read, world / f"second{Path(read).suffix}", world / f"link{Path(read).suffix}"
    for target in (named, second, link):
        if target == second:
            second.hardlink_to(named)
        elif target == link:
            link.symlink_to(named)
        answer = call(*words(text, world, target))
        assert named.read_bytes() == before[read], (target, answer)
        assert answer.status in (2, 3), (target, answer)
        assert answer.status == 3 or (answer.err.count("\n") <= 4 and str(target) in answer.err), answer
        if target != named:
            target.unlink()
    assert contents(world) == before


def test_a_file_that_nothing_reads_is_written(world: Path) -> None:
    for n, (text, _) in enumerate(CALLS):
        if "send" not in text:
            answer = call(*words(text, world, world / f"out{n}.jsonl"))
            assert answer.status in (0, 1) and (world / f"out{n}.jsonl").exists(), (text, answer)


NEW_FOLDERS = [
    "recover {torn} --out NEW", "pages salvage {torn} --out NEW", "queue drop {broker} part.news --out NEW",
    "queue purge {broker} part.news --all --out NEW",
    "convert {broker} --edition artemis-2.56 --out NEW", "pages compact {broker} --out NEW",
    "journal compact {broker} --out NEW", "replay run {trace.jsonl} --config {broker} --out NEW",
]  # fmt: skip


@pytest.mark.parametrize("text", NEW_FOLDERS)
def test_a_new_folder_inside_of_a_directory_that_is_read_is_refused(world: Path, text: str) -> None:
    GoldenCase("artemis-1.5.6", "torn").lay_out(world / "torn")
    owner = world / ("torn" if "{torn}" in text else "broker")
    before = snapshot(world)
    for new in (owner / "new", owner / "data" / "new", owner / "data" / "paging" / "new"):
        answer = call(*words(text.replace("NEW", "TARGET"), world, new))
        assert answer.status == 2 and " is inside " in answer.err, (new, answer)
        assert snapshot(world) == before


@pytest.mark.parametrize("text", NEW_FOLDERS)
def test_a_new_folder_beside_is_made(world: Path, text: str) -> None:
    GoldenCase("artemis-1.5.6", "torn").lay_out(world / "torn")
    answer = call(*words(text.replace("NEW", "TARGET"), world, world / "new"))
    assert answer.status in (0, 1) and (world / "new").is_dir(), answer


def test_the_record_of_inputs_is_of_one_call(world: Path) -> None:
    # A file that an earlier call has read may be written by the next one.
    target = world / "alone.xml"
    assert call("config", "effective", target, "x").status == 0
    assert call("messages", "xml", world / "broker", "--to", target).status == 0
