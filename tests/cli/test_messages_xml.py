"""``messages xml`` and ``messages import-plan``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from program import call

BINDING = '<queue-binding address="a" name="q" id="1"/>'
HEAD = f'<?xml version="1.0"?>\n<activemq-journal>\n<bindings>\n{BINDING}\n</bindings>\n<messages>\n'
TAIL = "</messages>\n</activemq-journal>\n"


def message(queue: str = "q", *, properties: str = "", body: str = "AAAA", more: str = "") -> str:
    return (
        f'<message id="1" priority="4" expiration="0" timestamp="0" type="bytes"{more}><properties>{properties}'
        f'</properties><queues><queue name="{queue}"/></queues><body><![CDATA[{body}]]></body></message>\n'
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
        tmp_path, message(), message(properties='<property name="n" value="x" type="integer"/>'),
        message(properties='<property name="c" value="x"/>'), message(body="!!"),
    )  # fmt: skip
    assert status == 1
    assert [fault["line"] for fault in found["faults"]] == [8, 9, 10]  # type: ignore[attr-defined, index]


def test_a_queue_that_no_binding_has_is_a_remark(tmp_path: Path) -> None:
    status, found = plan(tmp_path, message("other"))
    assert status == 0 and "other" in str(found["remarks"])


def test_duplicate_ids(tmp_path: Path) -> None:
    one = message(properties='<property name="_AMQ_DUPL_ID" value="x" type="simple-string"/>')
    status, found = plan(tmp_path, one, one)
    assert status == 1 and "1 message with a duplicate id of another" in str(found["remarks"])


@pytest.mark.parametrize(
    "text",
    ["", "<configuration/>", HEAD, '<!DOCTYPE a [<!ENTITY x "y">]><activemq-journal/>', "\0", "<activemq-journal>&x;"],
)
def test_other_files_are_refused_with_a_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "in.xml").write_text(text)
    answer = call("messages", "import-plan", tmp_path / "in.xml")
    assert (answer.status == 2 and "in.xml:1" in answer.err) or "in.xml:6" in answer.err or "in.xml:7" in answer.err
    assert len(answer.err.splitlines()) == 1


def test_a_message_that_cannot_be_decoded_is_told(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "basic").copy(tmp_path)
    page = min(data.rglob("*.page"))
    content = bytearray(page.read_bytes())
    content[14] = 99  # the persister of the first record
    page.write_bytes(content)
    answer = call("messages", "xml", data, "--to", tmp_path / "out.xml")
    assert answer.status == 1 and "offset 0: undecodable" in answer.err
