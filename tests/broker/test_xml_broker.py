"""``messages xml`` brought into new brokers by their own importer, which then deliver what the old ones would have.

AMQP messages come back as core messages: what a core client is given of them is compared with what it was given before.
The importer of 2.56 refuses queues on addresses with wildcards; that is told when the file is written.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import golden_cases
import pytest
from broker_drains import Queue, drains, failure, queues
from broker_jars import CURRENT, class_path, compiled, oracle
from program import call
from target_broker import target_broker

pytestmark = [pytest.mark.broker, pytest.mark.timeout(1800)]
PROGRAM = Path(__file__).resolve().parents[1] / "oracle_java" / "XmlImport.java"
CONVERTED = ("amqp-jms", "amqp-sections", "large-amqp", "mixed-protocols")
OTHER_BODIES = (*CONVERTED, "amqp-odd")  # bodies of AMQP messages, which become those of core messages
DELAYED = "schedule-kinds"  # delays of annotations, which an importer does not start again, as the export reports
_KINDS = re.compile(
    r"(JMS_AMQP_(ENCODED_)?MA_x-opt-map=(byte\[\] \[.*?\]|SimpleString \{.*?\})"
    r"|JMSCorrelationID=(byte\[\] \[.*?\]|SimpleString ID:AMQP_BINARY:\w+)),? ?"
)
"""A map among annotations becomes text; a correlation id of bytes stays bytes, of which 2.28 makes text."""
WILDCARDS = {"2.56.0": ("mqtt",)}


def _same(before: Queue, after: Queue, bodies: bool) -> bool:
    """Return whether both queues have the same messages in order: ``seq``, priority and body hash.

    The hash of a large body is None and equals any other.
    """
    pairs = zip(before.by_priority, after.by_priority, strict=False)
    return len(before.messages) == len(after.messages) and all(
        (one[1], one[3]) == (other[1], other[3]) and (not bodies or None in (one[2], other[2]) or one[2] == other[2])
        for one, other in pairs
    )


def _imported(version: str, pairs: list[tuple[Path, Path]], folder: Path) -> str:
    """Import the files into new data directories with the broker's importer, and return its output."""
    (folder / "classes").mkdir()
    classes = compiled(PROGRAM, class_path(version), folder / "classes")
    words = [str(path) for pair in pairs for path in pair]
    return subprocess.run(
        ["java", "-Xmx600m", "-XX:+UseSerialGC", "-cp", classes, "XmlImport", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("version", CURRENT)
def test_a_core_client_is_given_the_same_of_amqp_messages(version: str, tmp_path: Path) -> None:
    oracle()
    found = [golden_cases.GoldenCase(version, name) for name in (*CONVERTED, *WILDCARDS.get(version, ()))]
    said = {}
    for case in found:
        said[case.name] = call("messages", "xml", case.data(), "--to", tmp_path / f"{case.name}.xml").err
    imported = _imported(
        version, [(tmp_path / f"{each.name}.xml", tmp_path / each.name / "data") for each in found], tmp_path
    )
    for name in WILDCARDS.get(version, ()):
        assert "AMQ229260" in imported
        assert "which the importer of 2.56 refuses" in said[name]
    counts: Counter[str] = Counter()
    with target_broker(version, tmp_path / "nothing") as broker:
        for case in found[: len(CONVERTED)]:
            case.copy(tmp_path / "old" / case.name)
            (name,) = (each["name"] for each in case.drain()["queues"] if each["count"])
            dumps = []
            for folder in (tmp_path / "old" / case.name, tmp_path / case.name):
                broker.start(folder)
                broker.due(name)
                dumps.append(sorted(map(_line, broker.dump(name))))
            before, after = ({_number(line): line for line in lines} for lines in dumps)
            for number, line in before.items():
                verdict = _verdict(line, after.get(number, ""))
                counts[verdict] += 1
                if verdict == "different":
                    print(f"{case}\n   - {line[:900]}\n   + {after.get(number, '')[:900]}")
            counts["given after alone"] += len(after.keys() - before.keys())
    print(f"{version}: {dict(counts)}")
    assert not counts["different"]


def _line(line: str) -> str:
    """Return a message line without durability and user id, and with U+FFFD for characters that XML does not allow."""
    fields = line.split("|")
    plain = "|".join([*fields[:3], *fields[4:6], *fields[7:]])
    return re.sub("[\0\u0001-\u0008\u000b\u000c\u000e-\u001f]", "\ufffd", plain)


def _number(line: str) -> str:
    return line.partition("seq=Integer ")[2].partition(",")[0].rstrip("}")


def _verdict(before: str, after: str) -> str:
    """Classify how a message differs after the import.

    ``of another kind``: values of types that core messages do not have became text, which the export reports.
    """
    if before == after:
        return "equal"
    if not _number(before):
        return "without its file before"
    plain = [_KINDS.sub("", each) for each in (before, after)]
    if re.search(r"\|\d+ 00537", before):
        plain = [re.sub(r"\|\d+ [0-9a-f]+\|", "||", each) for each in plain]
    return "of another kind" if plain[0] == plain[1] else "different"


@pytest.mark.parametrize("version", CURRENT)
def test_an_imported_file_delivers_the_same(version: str, tmp_path: Path) -> None:
    oracle()
    pairs: list[tuple[Path, Path]] = []
    folders: dict[golden_cases.GoldenCase, Path] = {}
    for case in golden_cases.cases(version):
        folder = tmp_path / case.name
        file = tmp_path / f"{case.name}.xml"
        assert call("messages", "xml", case.data(), "--to", file).status < 2
        if case.name not in (DELAYED, *WILDCARDS.get(version, ())):
            shutil.copytree(case.root(), folder, ignore=shutil.ignore_patterns("data", "*.json"))
            folders[case] = folder
            pairs.append((file, folder / "data"))
    imported = _imported(version, pairs, tmp_path)
    assert imported.count("done ") == len(folders), imported
    told = drains(version, list(folders.values()))
    equal, different = 0, []
    for case, folder in folders.items():
        assert failure(told[folder]) is None, (case, failure(told[folder]))
        after = queues(told[folder])
        for name, queue in queues(case.drain()).items():
            if not queue.messages or _same(queue, after[name], case.name not in OTHER_BODIES):
                equal += 1
            else:
                different.append(f"{case}: {name}")
    print(f"{version}: {equal} queues of {len(folders)} directories deliver the same, {len(different)} differ")
    assert not different
