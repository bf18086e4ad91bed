"""Every output appears complete or not at all; what a killed run left is cleaned up or continued by the next one."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from harmed import (
    DROP_BACKUP,
    EIO,
    ENOSPC,
    changes_of,
    faults,
    golden,
    left_behind,
    no_trace,
    pagectl,
    pages_of,
    snapshot,
    spread,
)
from program import ROOT, Answer, started

MOST = int(os.environ.get("PAGECTL_HARM_INSTANTS", "2"))
"""Instants at which each command is stopped; ``test_killed_a_hundred_times`` and ``make test-kills`` have more."""
AUDIT = ROOT / "tests" / "recorded" / "replays" / "traffic-logs" / "audit-message.log.gz"
CONFIG = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><address-settings>
<address-setting match="#"><max-size-bytes>10000</max-size-bytes><page-size-bytes>5000</page-size-bytes>
<address-full-policy>PAGE</address-full-policy></address-setting></address-settings></core></configuration>
"""


@dataclass(frozen=True, slots=True)
class Output:
    """A command that writes ``name`` into a folder where there is nothing else. ``folder``: it is a folder."""

    words: tuple[str, ...]
    name: str
    folder: bool = False

    def call(self, inputs: Path) -> list[str]:
        return [word.format(inputs=inputs, out=inputs.parent / "there" / self.name) for word in self.words]


OUTPUTS = [
    Output(("pages", "salvage", "{inputs}/torn/data", "--out", "{out}"), "salvaged", True),
    Output(("pages", "compact", "{inputs}/data", "--out", "{out}"), "compacted", True),
    Output(("journal", "compact", "{inputs}/data", "--out", "{out}"), "journals", True),
    Output(("queue", "drop", "{inputs}/data", "scatter", "--out", "{out}"), "dropped", True),
    Output(("replay", "run", "{inputs}/t.jsonl", "--config", "{inputs}/b.xml", "--out", "{out}"), "replayed", True),
    Output(("replay", "run", "{inputs}/t.jsonl", "--config", "{inputs}/b.xml", "--outcome", "{out}"), "outcome.jsonl"),
    Output(("replay", "run", "{inputs}/t.jsonl", "--config", "{inputs}/b.xml", "--report", "{out}"), "report.html"),
    Output(("replay", "generate", "steady", "--messages", "50", "--to", "{out}"), "trace.jsonl"),
    Output(("replay", "generate", "steady", "--messages", "50", "--to", "{out}"), "trace.parquet"),
    Output(("replay", "import", "{inputs}/audit.log", "--to", "{out}"), "imported.jsonl"),
    Output(("pages", "decode", "{inputs}/data", "--to", "{out}"), "x.jsonl"),
    Output(("pages", "decode", "{inputs}/data", "--to", "{out}"), "x.txt"),
    Output(("pages", "decode", "{inputs}/data", "--to", "{out}"), "x.csv"),
    Output(("pages", "decode", "{inputs}/data", "--to", "{out}"), "x.parquet"),
    Output(("pages", "decode", "{inputs}/data", "--to", "{out}"), "x.arrow"),
    Output(("messages", "xml", "{inputs}/data", "--to", "{out}"), "x.xml"),
    Output(("pages", "seal", "{inputs}/data", "--to", "{out}"), "x.seal"),
]
EACH = pytest.mark.parametrize("output", OUTPUTS, ids=lambda each: f"{' '.join(each.words[:2])} {each.name}")


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "inputs"
    (folder / "torn").mkdir(parents=True)
    golden("scattered-acks").copy(folder)
    torn = pages_of(golden("two-addresses").copy(folder / "torn"))[2]
    torn.write_bytes(torn.read_bytes()[:-7])
    (folder / "b.xml").write_text(CONFIG)
    (folder / "audit.log").write_bytes(gzip.decompress(AUDIT.read_bytes()))
    operations = [{"trace": 1}, {"op": "create_queue", "queue": "q"}]
    operations += [{"op": "send", "address": "q", "seq": n, "size": 700} for n in range(40)]
    (folder / "t.jsonl").write_text("".join(json.dumps(each) + "\n" for each in operations))
    return folder


def there(inputs: Path) -> Path:
    """Create an empty folder for the output, and return it."""
    folder = inputs.parent / "there"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def carried_out(output: Output, inputs: Path) -> tuple[Answer, dict[str, tuple[object, ...]]]:
    folder = there(inputs)
    answer = pagectl(*output.call(inputs))
    assert answer.status in (0, 1), answer
    assert left_behind(folder, {output.name}) == []
    return answer, snapshot(folder)


def stopped(output: Output, inputs: Path, do: int, most: int = MOST) -> None:
    """Stop a command at some of its changes, and assert that its output is whole or absent.

    Assert also that the next run completes and leaves no other files.
    """
    usual, whole = carried_out(output, inputs)
    folder = there(inputs)
    changes = changes_of(output.call(inputs), folder, inputs.parent)
    assert changes
    for number in spread(changes, most):
        folder = there(inputs)
        answer = pagectl(*output.call(inputs), extra=faults().changes(folder, number, do))
        ended = answer.status in (0, 1) and do != -signal.SIGKILL
        if ended:  # its last change but one was of no weight
            assert snapshot(folder) == whole, (number, changes, answer)
            continue
        assert answer.status in (2, do, 128 - do), (number, changes, answer)
        no_words_of_python(answer)
        if (folder / output.name).exists():
            at = {name: what for name, what in snapshot(folder).items() if name.split("/")[0] == output.name}
            assert at == {name: what for name, what in whole.items() if name != "."}, (number, changes, answer)
            shutil.rmtree(folder / output.name) if output.folder else (folder / output.name).unlink()
        elif do != -signal.SIGKILL:
            assert left_behind(folder, set()) == [], (number, changes, answer)
        again = pagectl(*output.call(inputs))
        assert again.status == usual.status, (number, changes, again)
        assert snapshot(folder) == whole, (number, changes, left_behind(folder, {output.name}))


def no_words_of_python(answer: Answer) -> None:
    assert "Traceback" not in answer.err and "internal error" not in answer.err, answer


@EACH
def test_killed(output: Output, inputs: Path) -> None:
    stopped(output, inputs, -signal.SIGKILL)


@EACH
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda how: how.name)
def test_ended_by_a_signal(output: Output, how: signal.Signals, inputs: Path) -> None:
    stopped(output, inputs, -how, 1)


@EACH
@pytest.mark.parametrize("error", [ENOSPC, EIO], ids=["full disk", "failing disk"])
def test_the_disk_fails(output: Output, error: int, inputs: Path) -> None:
    stopped(output, inputs, error)


@EACH
def test_the_file_that_found_no_room_is_named(output: Output, inputs: Path) -> None:
    folder = there(inputs)
    answer = pagectl(*output.call(inputs), extra=faults().changes(folder, 1, ENOSPC))
    assert answer.status == 2
    assert str(folder / output.name) in answer.err and "make room" in answer.err, answer


KILLS = int(os.environ.get("PAGECTL_HARM_KILLS", "100"))


class RandomKills:
    """Kills at instants of the clock: most of the first part of a run is imports, so they are in what follows."""

    def __init__(self, **env: str) -> None:
        self.env = env
        self.seconds = self.rest = 0.5
        self.chance = random.Random(15)
        self.killed = 0

    def start(self, words: Sequence[str | Path], begun: Callable[[], object] | None = None) -> None:
        """Run a command, and kill it at a random instant.

        ``begun``: kill it after this is true, for commands that take long to begin their changes.
        """
        running = started(*words, env=self.env)
        while begun is not None and not begun() and running.poll() is None:
            time.sleep(0.002)
        try:
            running.wait(self.chance.uniform(0, self.rest) if begun else self.seconds * self.chance.uniform(0.3, 1))
            self.rest *= 0.8 if begun else 1
        except subprocess.TimeoutExpired:
            running.kill()
            self.rest *= 1.1 if begun else 1
        running.communicate()
        self.killed += running.returncode < 0

    def again(self, words: Sequence[str | Path]) -> Answer:
        """Run the call to its end and remember its duration, from which the next kill's time is drawn."""
        begun = time.monotonic()
        answer = pagectl(*words, extra=self.env)
        self.seconds = time.monotonic() - begun
        return answer


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "name", ["salvaged", "compacted", "journals", "dropped", "replayed", "x.jsonl", "x.parquet", "x.xml"]
)
def test_killed_a_hundred_times(name: str, inputs: Path) -> None:
    (output,) = (each for each in OUTPUTS if each.name == name)
    usual, whole = carried_out(output, inputs)
    kills = RandomKills()
    for _ in range(KILLS):
        folder = there(inputs)
        kills.start(output.call(inputs))
        if (folder / output.name).exists():
            found = {each: what for each, what in snapshot(folder).items() if each.split("/")[0] == output.name}
            assert found == {each: what for each, what in whole.items() if each != "."}
            shutil.rmtree(folder / output.name) if output.folder else (folder / output.name).unlink()
        again = kills.again(output.call(inputs))
        assert again.status == usual.status, again
        assert snapshot(folder) == whole, left_behind(folder, {output.name})
    assert kills.killed > KILLS // 4


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", ["compact --in-place", "journals --in-place", "restore journals", "restore"])
def test_killed_a_hundred_times_in_place(name: str, tmp_path: Path) -> None:
    prepare, first, last = IN_PLACE[name]
    data = golden("scattered-acks").copy(tmp_path / "whole")
    prepare(data)
    waiting, kills = due(data), RandomKills()
    assert kills.again([*first, data, *last]).status == 0
    whole = content(data)
    for number in range(KILLS):
        data = golden("scattered-acks").copy(tmp_path / str(number))
        prepare(data)
        kills.start([*first, data, *last])
        assert due(data) == waiting
        again = kills.again([*first, data, *last])
        assert again.status == 0 or "no backup" in again.err, again
        assert content(data) == whole
        shutil.rmtree(data.parent)
    assert kills.killed > KILLS // 4


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 4])
@pytest.mark.parametrize("error", [ENOSPC, EIO], ids=["full disk", "failing disk"])
def test_the_disk_of_an_export_fails(error: int, number: int, inputs: Path) -> None:
    # Program, Java and tasks each count their own changes.
    pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")
    folder = there(inputs)
    words = ["export", inputs / "data", "--to", folder / "table", "--master", "local[1]"]
    answer = pagectl(*words, extra=faults().changes(folder, number, error))
    assert answer.status == 2 and left_behind(folder, set()) == [], answer
    no_words_of_python(answer)
    assert str(folder / "table") in answer.err and "java" not in answer.err, answer


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_an_export_killed_a_hundred_times(inputs: Path) -> None:
    # Every other kill waits for the first written file. The program is killed; its Java ends as well.
    pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")
    folder = inputs.parent / "there"
    words = ["export", inputs / "data", "--to", folder / "table", "--master", "local[1]"]
    there(inputs)
    assert pagectl(*words).status == 0
    whole = rows_in(folder / "table")
    temporary = inputs.parent / "temporary"
    temporary.mkdir()
    kills = RandomKills(TMPDIR=str(temporary), SPARK_LOCAL_DIRS=str(temporary))
    for number in range(KILLS):
        there(inputs)
        kills.start(words, (lambda: any(folder.glob("*/_temporary/*"))) if number % 2 else None)
        if (folder / "table").exists():
            assert rows_in(folder / "table") == whole
            shutil.rmtree(folder / "table")
        again = kills.again(words)
        assert again.status == 0, again
        assert rows_in(folder / "table") == whole
        assert left_behind(folder, {"table"}) == []
    rest = [name for name in left_behind(temporary, set()) if not name.startswith("tmp")]
    assert rest == []  # PySpark's own empty folder, where Python waits for Java, stays
    assert kills.killed > KILLS // 4


def rows_in(table: Path) -> list[str]:
    """Return the rows of a table, and assert that its folder has only parts and ``_SUCCESS``."""
    assert {path.suffix or path.name for path in table.iterdir()} == {".parquet", "_SUCCESS"}
    import pyarrow.parquet as pq

    return sorted(map(str, pq.read_table(table).drop_columns(["exported_at"]).to_pylist()))


# ---------------------------------------------------------------- in place


def put_back(data: Path) -> None:
    assert pagectl("pages", "compact", data, "--in-place").status == 0


def journals_put_back(data: Path) -> None:
    assert pagectl("journal", "compact", data, "--in-place").status == 0


IN_PLACE: dict[str, tuple[Callable[[Path], None], tuple[str, ...], tuple[str, ...]]] = {
    "compact --in-place": (lambda data: None, ("pages", "compact"), ("--in-place",)),
    "compact --no-backup": (lambda data: None, ("pages", "compact"), ("--in-place", "--no-backup")),
    "journals --in-place": (lambda data: None, ("journal", "compact"), ("--in-place",)),
    "journals --no-backup": (lambda data: None, ("journal", "compact"), ("--in-place", "--no-backup")),
    "restore journals": (journals_put_back, ("pages", "restore"), ()),
    "restore": (put_back, ("pages", "restore"), ()),
    "drop the backup": (put_back, DROP_BACKUP[:2], DROP_BACKUP[2:]),
}


@pytest.mark.parametrize("do", [-signal.SIGKILL, -signal.SIGTERM, ENOSPC, EIO], ids=["kill", "term", "full", "failing"])
@pytest.mark.parametrize("name", IN_PLACE)
def test_a_change_in_place_is_finished_by_the_next_run(name: str, do: int, tmp_path: Path) -> None:
    prepare, first, last = IN_PLACE[name]

    def fresh() -> Path:
        shutil.rmtree(tmp_path / "data", ignore_errors=True)
        data = golden("scattered-acks").copy(tmp_path)
        prepare(data)
        return data

    data = fresh()
    changes = changes_of([*first, data, *last], data, tmp_path)
    whole = content(data)
    waiting = due(data)
    for number in spread(changes, MOST):
        data = fresh()
        answer = pagectl(*first, data, *last, extra=faults().changes(data, number, do))
        no_words_of_python(answer)
        assert due(data) == waiting, (number, changes)
        again = pagectl(*first, data, *last)
        done = (
            again.status == 2
            and name in ("restore", "restore journals", "drop the backup")
            and "no backup" in again.err
        )
        assert again.status == 0 or done, (number, changes, answer, again)
        assert content(data) == whole, (number, changes)


def content(data: Path) -> dict[str, object]:
    """Return the snapshot of a directory without the backup's list, which contains times."""
    return {name: what for name, what in snapshot(data).items() if not name.endswith("list.jsonl")}


def due(data: Path) -> list[object]:
    """List the messages that a broker would deliver, by position."""
    answer = pagectl("messages", "decode", "--in", "pages", data, "--outstanding", "--format", "jsonl")
    no_trace(answer)
    return [(line["page"], line["number"], line["id"], line["queues"]) for line in answer.lines()]
