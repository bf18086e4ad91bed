"""``messages xml`` and ``messages import-plan``."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from program import call

from pagefmt.exchange.xml_reading import CACHE_SIZE, import_plan

BINDING = '<queue-binding address="a" name="q" id="1" routing-type="ANYCAST"/>'
HEAD = f'<?xml version="1.0"?>\n<activemq-journal>\n<bindings>\n{BINDING}\n</bindings>\n<messages>\n'
TAIL = "</messages>\n</activemq-journal>\n"


def message(queue: str = "q", *, properties: str = "", body: str = "AAAA", more: str = "") -> str:
    return (
        f'<message id="1" priority="4" expiration="0" timestamp="0" type="bytes"{more}><properties>{properties}'
        f'</properties><queues><queue name="{queue}"/></queues><body><![CDATA[{body}]]> </body></message>\n'
    )


def plan(tmp_path: Path, *messages: str) -> tuple[int, dict[str, object]]:
    (tmp_path / "in.xml").write_text(HEAD + "".join(messages) + TAIL)
    answer = call("messages", "import-plan", tmp_path / "in.xml", "--format", "json")
    return answer.status, json.loads(answer.out)


def test_a_plan_of_what_was_written(tmp_path: Path) -> None:
    case = GoldenCase("2.56.0", "journal-mix")
    assert call("messages", "xml", case.data(), "--to", tmp_path / "out.xml").status == 0
    answer = call("messages", "import-plan", tmp_path / "out.xml")
    assert answer.status == 0
    assert "80 messages, 3 queues, 2 addresses" in answer.out and "without a duplicate id" in answer.out


def test_one_queue(tmp_path: Path) -> None:
    case = GoldenCase("2.56.0", "journal-mix")
    call("messages", "xml", case.data(), "--queue", "a.mixed", "--to", tmp_path / "out.xml")
    text = (tmp_path / "out.xml").read_text()
    assert text.count("<message ") == 70 and "b.mixed" not in text


def test_correlation_ids_of_bytes_are_told(tmp_path: Path) -> None:
    said = [
        call("messages", "xml", GoldenCase("2.28.0", name).data(), "--to", tmp_path / f"{name}.xml").err
        for name in ("amqp-sections", "core-jms")
    ]
    assert "14 AMQP messages with a correlation id of bytes" in said[0]
    assert "correlation id" not in said[1]


def test_faults_name_their_line(tmp_path: Path) -> None:
    status, found = plan(
        tmp_path,
        message(),
        message(properties='<property name="n" value="x" type="integer"/>'),
        message(properties='<property name="c" value="x"/>'),
        message(body="!!"),
    )
    assert status == 1
    assert [fault["line"] for fault in found["faults"]] == [8, 9, 10]  # type: ignore[attr-defined, index]


def test_a_queue_that_no_binding_has_is_a_remark(tmp_path: Path) -> None:
    status, found = plan(tmp_path, message("other"))
    assert status == 0 and "other" in str(found["remarks"])


def test_duplicate_ids(tmp_path: Path) -> None:
    one = message(properties='<property name="_AMQ_DUPL_ID" value="x" type="simple-string"/>')
    status, found = plan(tmp_path, one, one)
    assert status == 1 and "1 message with the duplicate id of another" in str(found["remarks"])


@pytest.mark.parametrize("text", ["", "<configuration/>", '<!DOCTYPE a [<!ENTITY x "y">]><activemq-journal/>', "\0"])
def test_other_files_are_refused_with_a_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "in.xml").write_text(text)
    answer = call("messages", "import-plan", tmp_path / "in.xml")
    assert answer.status == 2 and "in.xml:1" in answer.err
    assert len(answer.err.splitlines()) == 1


@pytest.mark.parametrize("end", ["", "&x;", "<message id=", "</activemq-journal>"])
def test_what_stands_in_front_of_broken_xml_is_told(end: str, tmp_path: Path) -> None:
    (tmp_path / "in.xml").write_text(HEAD + message() + message() + end)
    answer = call("messages", "import-plan", tmp_path / "in.xml", "--format", "json")
    found = json.loads(answer.out)
    assert (answer.status, found["messages"], found["stop"]["line"]) == (1, 2, 9)


def test_a_file_of_another_encoding(tmp_path: Path) -> None:
    text = (HEAD + message("\u00e4") + TAIL).replace('"1.0"', '"1.0" encoding="iso-8859-1"')
    (tmp_path / "in.xml").write_bytes(text.encode("iso-8859-1"))
    found = json.loads(call("messages", "import-plan", tmp_path / "in.xml", "--format", "json").out)
    assert [queue["queue"] for queue in found["queues"]] == ["q", "\u00e4"]


def test_only_so_many_duplicate_ids_are_remembered(tmp_path: Path) -> None:
    # As in brokers, an id that comes again after 20,000 others is not dropped.
    ids = [f'<property name="_AMQ_DUPL_ID" value="{n}" type="string"/>' for n in range(CACHE_SIZE + 1)]
    _, found = plan(tmp_path, *(message(properties=each) for each in [*ids, ids[0], ids[-1]]))
    assert (found["duplicates"], found["messages"]) == (1, CACHE_SIZE + 3)
    assert found["again"] == CACHE_SIZE + 2


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        with (tmp_path / "in.xml").open("w") as out:
            out.write(HEAD)
            for n in range(count):
                known = f'<property name="_AMQ_DUPL_ID" value="{n}" type="string"/>'
                out.write(message(properties=known + '<property name="n" value="x" type="integer"/>'))
            out.write(TAIL)
        tracemalloc.start()
        import_plan(tmp_path / "in.xml")
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    assert peak(30000) < peak(1000) + (8 << 20)


@pytest.mark.parametrize(
    ("queue", "value"), [("\u202e" * 99, "1"), ("q" * (1 << 20), "1"), ("q", "9" * (1 << 20)), ("q", "x" * (1 << 20))]
)
def test_what_is_long_is_cut(queue: str, value: str, tmp_path: Path) -> None:
    odd = message(queue, properties=f'<property name="{value}" value="{value}" type="integer"/>')
    (tmp_path / "in.xml").write_text(HEAD + odd + TAIL)
    answer = call("messages", "import-plan", tmp_path / "in.xml")
    assert answer.status in (0, 1) and len(answer.out) < 3 << 20
    assert "\u202e" not in answer.out


def test_a_message_that_cannot_be_decoded_is_told(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "basic").copy(tmp_path)
    page = min(data.rglob("*.page"))
    content = bytearray(page.read_bytes())
    content[14] = 99  # the persister of the first record
    page.write_bytes(content)
    answer = call("messages", "xml", data, "--to", tmp_path / "out.xml")
    assert answer.status == 1 and "offset 0: undecodable" in answer.err
