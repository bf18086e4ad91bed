"""``messages find``, and the options that choose messages, as they are typed."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from program import call, started

from pagefmt.directory.locate import locate, stores

NEWS = GoldenCase("2.56.0", "multicast-acks")
SECTIONS = GoldenCase("2.56.0", "amqp-sections")
MQTT = GoldenCase("2.56.0", "mqtt")
HEADERS = GoldenCase("2.56.0", "core-headers")
ODD = GoldenCase("hornetq-2.4.7", "below-zero")
COMPRESSED = GoldenCase("2.56.0", "large-compressed")
TWO = GoldenCase("2.56.0", "two-addresses")


def found(case: GoldenCase, *words: str) -> list[int]:
    """Return the ids that ``messages find`` lists."""
    answer = call("messages", "find", case.data(), "--format", "jsonl", *words)
    assert answer.status == 0, answer.err
    return [line["id"] for line in answer.lines()]


@pytest.mark.parametrize(
    ("case", "words", "id_"),
    [
        (NEWS, ("--id", "41"), 41),
        (HEADERS, ("--message-id", "ID:01020304-0506-1108-800a-0b0c0d0e0f06"), 25),
        (HEADERS, ("--correlation-id", "corr-6"), 25),
        (SECTIONS, ("--message-id", "ID:AMQP_ULONG:1002"), 14),
        (SECTIONS, ("--message-id", "ID:AMQP_UUID:0CB988D0-42a7-328d-95fe-2b55b3f5ac7a"), 13),
        (SECTIONS, ("--correlation-id", "ID:AMQP_BINARY:0902"), 14),
        (SECTIONS, ("--correlation-id", "0902"), 14),
        (SECTIONS, ("--message-id", "id-4", "--id", "16"), 16),
        (GoldenCase("2.56.0", "openwire"), ("--message-id", "ID:vm-40141-1795253709151-5:1:1:1:3"), 74),
    ],
)
def test_one_message_by_each_kind_of_id(case: GoldenCase, words: tuple[str, ...], id_: int) -> None:
    assert found(case, *words) == [id_]


def test_text_says_where_it_lies_and_the_place_is_right() -> None:
    answer = call("messages", "find", SECTIONS.data(), "--id", "17")
    path = re.search(r"^amqp\.sections  page 1  (/.*\.page)$", answer.out, re.MULTILINE)
    offset = re.search(r"^1:4  offset (\d+)  id 17  amqp", answer.out, re.MULTILINE)
    assert path and offset
    content = Path(path[1]).read_bytes()
    assert content[int(offset[1])] == ord("{")
    # the fields of AMQP are shown
    for shown in ("correlation id 1005", "subject subject é 5", "reply to back", "user user", "group grp1"):
        assert shown in " ".join(answer.out.split())
    assert "x-opt-delivery-time: 4102444800005" in " ".join(answer.out.split())


def test_what_is_printed_can_be_pasted_back() -> None:
    lines = call("messages", "decode", SECTIONS.data(), "--format", "jsonl").lines()
    for line in lines[:12]:
        fields = (line["amqp"] or {}).get("properties") or {}
        pasted = [("--message-id", line["user_id"])]
        pasted += [
            (f"--{name.replace('_', '-')}", str(fields[name]["value"]))
            for name in ("message_id", "correlation_id")
            if fields.get(name)
        ]
        for option, text in pasted:
            if text is not None:
                assert line["id"] in found(SECTIONS, option, text), (option, text)


def test_times_are_half_open_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    first = call("messages", "decode", NEWS.data(), "--format", "jsonl").lines()
    assert {line["timestamp"] % 1000 for line in first} == {0}
    monkeypatch.setenv("TZ", "Europe/Berlin")
    import time

    time.tzset()
    try:
        for since, until in (
            ("2023-11-14T22:13:40Z", "2023-11-14T22:13:50Z"),
            ("2023-11-14 23:13:40", "2023-11-14T23:13:50"),
            ("2023-11-14T22:13:40+00:00", "2023-11-15t00:13:50+02:00"),
            ("1700000020000", "1700000030000"),
        ):
            answer = call("messages", "find", NEWS.data(), "--since", since, "--until", until, "--format", "jsonl")
            assert "from 2023-11-14T22:13:40Z (2023-11-14T23:13:40+01:00)" in answer.err
            ids = [line["id"] for line in answer.lines()]
            assert ids == [line["id"] for line in first if 1_700_000_020_000 <= line["timestamp"] < 1_700_000_030_000]
            assert len(ids) == 10
        assert found(NEWS, "--since", "2023-11-14", "--until", "2023-11-15") == [line["id"] for line in first]
        assert found(NEWS, "--since", "2h") == found(NEWS, "--since", "10:00", "--until", "0s", "--id", "1") == []
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_time_of_a_table_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    for words in (("pages", "ls"), ("messages", "top"), ("messages", "ls")):
        times = re.findall(r"20\d\d-\S+", call(*words, NEWS.data()).out)
        assert times and all(re.fullmatch(r"[\d-]{10}T\d\d:\d\dZ", time) for time in times)
        assert found(NEWS, "--since", min(times)) == found(NEWS, "--since", "2000-01-01")


def test_messages_without_a_time_are_not_between() -> None:
    lines = call("messages", "decode", SECTIONS.data(), "--format", "jsonl", "--edition", "artemis-2.56").lines()
    assert found(SECTIONS, "--until", "2100-01-01") == [line["id"] for line in lines if line["timestamp"]]


def test_expired_messages_are_marked_and_chosen() -> None:
    lines = call("messages", "decode", HEADERS.data(), "--format", "jsonl").lines()
    over = [line["id"] for line in lines if 0 < line["expiration"] < 1_795_000_000_000]
    assert found(HEADERS, "--expired") == over
    text = call("messages", "decode", HEADERS.data()).out
    assert text.count("EXPIRED ") == len(over)
    assert text.count("expires ") == sum(line["expiration"] > 1_800_000_000_000 for line in lines)


def test_what_expired_before_1970_is_over() -> None:
    # Brokers of every release agree. The lowest values are in the future, because the difference overflows a Java long.
    (queue,) = (each for each in ODD.drain()["queues"] if each["name"] == "odd.a")
    delivered = {each["id"] for each in queue["delivered"]}
    lines = call("messages", "decode", ODD.data(), "--format", "jsonl", "--columns", "id,expiration,expired").lines()
    below = [line["id"] for line in lines if line["expiration"] in (-5, -1)]
    assert len(below) > 3 and delivered.isdisjoint(below)
    assert {line["id"] for line in lines if line["expiration"] < -5} & delivered
    assert found(ODD, "--expired") == below == [line["id"] for line in lines if line["expired"]]
    assert call("messages", "decode", ODD.data()).out.count("EXPIRED ") == len(below)


def test_texts_of_bytes_are_shown_and_searched() -> None:
    # MQTT payloads are bytes; those that are text are shown as text.
    lines = call("messages", "decode", MQTT.data(), "--format", "jsonl", "--body", "text,hex").lines()
    texts = {line["id"]: line["body_text"] for line in lines if "body_text" in line}
    assert len(texts) > 20
    for line in lines:
        if line["id"] in texts:
            assert bytes.fromhex(line["body_hex"]).decode() == texts[line["id"]]
    word = next(iter(texts.values()))[:12]
    assert set(found(MQTT, "--contains", word)) == {id_ for id_, text in texts.items() if word in text}


def test_compressed_bodies_are_searched() -> None:
    lines = call("messages", "decode", COMPRESSED.data(), "--format", "jsonl", "--body", "text", "--inflate").lines()
    texts = {line["id"]: line["body_text"] for line in lines if line.get("body_text")}
    assert len(texts) >= 8
    for id_, text in list(texts.items())[:2]:
        assert id_ in found(COMPRESSED, "--contains", text[1000:1040])


@pytest.mark.parametrize("name", ["large-core", "large-amqp"])
def test_large_bodies_are_searched(name: str, tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", name).copy(tmp_path)
    lines = call("messages", "decode", data, "--format", "jsonl", "--body", "text").lines()
    id_, text = next((line["id"], line["body_text"]) for line in lines if line["large"] and line.get("body_text"))
    words = ("messages", "find", data, "--contains", text[1000:1040], "--format", "jsonl")
    assert id_ in [line["id"] for line in call(*words).lines()]
    next((data / "large-messages").glob(f"{id_}.*")).unlink()
    answer = call(*words)
    assert id_ not in [line["id"] for line in answer.lines()]
    assert f"1 body could not be searched (no file, damaged, or more than 16 MiB): message id {id_}" in answer.err


def test_addresses_are_stores() -> None:
    addresses = sorted({store.address or "" for store in stores(locate(TWO.data()))})
    everything = call("messages", "decode", TWO.data(), "--format", "jsonl").lines()
    for address in addresses:
        mine = [line["id"] for line in everything if address in (line["store_address"], line["address"])]
        assert found(TWO, "--address", address) == mine
    paged = sum(line["page"] is not None for line in everything)
    both = found(TWO, *(word for address in addresses for word in ("--address", address)), "--in", "pages")
    assert len(both) == paged
    missing = call("messages", "find", TWO.data(), "--address", addresses[0] + "x")
    assert missing.status == 2 and f"did you mean {addresses[0]}?" in missing.err


def test_a_store_without_an_address_is_asked_for_its_messages(tmp_path: Path) -> None:
    data = NEWS.copy(tmp_path)
    (next(iter((data / "paging").iterdir())) / "address.txt").unlink()
    assert len(call("messages", "find", data, "--address", "news", "--in", "pages", "--format", "jsonl").lines()) == 89
    assert call("messages", "find", data, "--address", "olds", "--format", "jsonl").lines() == []


def test_options_join(tmp_path: Path) -> None:
    lines = call("messages", "decode", NEWS.data(), "--format", "jsonl", "--queue", "red.news").lines()
    ids = [line["id"] for line in lines if line["page"] == 3]
    both = ("--where", "color = 'red' AND seq > 5", "--queue", "red.news", "--page", "3")
    assert set(found(NEWS, *both)) <= set(ids)
    assert found(NEWS, *both, "--id", str(ids[0]), "--id", "0") == [ids[0]]
    for form in ("csv", "parquet", "arrow", "jsonl", "txt"):
        answer = call("messages", "find", NEWS.data(), *both, "--to", tmp_path / f"out.{form}")
        assert f"note: {len(found(NEWS, *both))} messages in {tmp_path}/out.{form}" in answer.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say what to find"),
        (("--id", "ID:3b20"), "for ids set by clients use --message-id"),
        (("--id", "99999999999999999999"), "whole numbers"),
        (("--id", "٤١"), "whole numbers"),
        (("--message-id", ""), "--message-id: is empty"),
        (("--contains", "\udcff"), "is not UTF-8"),
        (("--since", "yesterdayish"), "is not a time"),
        (("--since", "99:99"), "is not a time"),
        (("--since", "0001-01-01"), ""),
        (("--until", "999999999d"), "is not a time"),
        (("--since", "2023-13-01"), "is not a time"),
        (("--id", "1", "--to", "x.xml"), "no format has the ending .xml"),
        (("--id", "1", "--to", "x.gz"), "no format has the ending .gz"),
        (("--queue", "nobody"), "no durable queue of this name"),
        (("--where", "a ="), "expected a value or a name"),
    ],
    ids=str,
)
def test_what_cannot_be_carried_out_is_one_line(words: tuple[str, ...], said: str) -> None:
    answer = call("messages", "find", NEWS.data(), *words)
    if said:
        assert answer.status == 2 and answer.out == ""
    assert said in answer.err and "Traceback" not in answer.err
    assert not Path("x.xml").exists() and not Path("x.gz").exists()


def test_format_said_wins_over_the_name(tmp_path: Path) -> None:
    target = tmp_path / "x.xml"
    assert call("messages", "find", NEWS.data(), "--id", "41", "--to", target, "--format", "jsonl").status == 0
    assert json.loads(target.read_text("utf-8"))["id"] == 41


def test_control_characters_in_ids_are_shown_as_escapes_and_match_so(tmp_path: Path) -> None:
    # Terminals show an escape, which can be pasted into a search.
    from pagefmt.codec.messages.message_ids import accepted_texts

    assert "a\u202eb" in accepted_texts("a\\u202eb") and "a\x1bb" in accepted_texts("a\\x1bb")
    assert "=1+1" in accepted_texts("'=1+1")


def test_names_of_selectors_are_in_help_and_work() -> None:
    help_text = call("messages", "find", "--help").out
    for name in ("JMSMessageID", "AMQUserID", "ID:AMQP_UUID:", "JMSCorrelationID", '"mqtt.qos.level" = 1', "m.NAME"):
        assert name in help_text
    assert len(found(MQTT, "--where", '"mqtt.qos.level" = 1')) > 5
    assert found(SECTIONS, "--where", "\"m.x-opt-note\" = 'note 1'") == [13]
    assert found(HEADERS, "--where", "JMSMessageID = 'ID:01020304-0506-1108-800a-0b0c0d0e0f06'") == [25]


def test_a_closed_pipe_ends_it_quietly() -> None:
    shell = shutil.which("sh")
    assert shell
    process = started("messages", "find", str(NEWS.data()), "--where", "seq > 0", "--format", "jsonl")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait(60)
