"""``messages send`` to brokers whose answers are odd or hostile: told in time, and nothing is lost."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from golden_cases import GoldenCase
from hypothesis import given
from hypothesis import strategies as st
from program import Answer, call, started

pytest.importorskip("proton", reason="the extra pagectl[amqp] is not installed")
import pagectl.sending.run
from odd_broker import PLAIN, Oddity, odd_broker
from pagectl.sending.management import AddressRules, rules_of

if TYPE_CHECKING:
    from pagectl.sending.peer import Peer

MESSAGES = 10  # of the queue that is sent


@cache
def data(case: str = "multicast-acks") -> Path:
    """Copy the case for this process alone, because sending locks the directory."""
    return GoldenCase("2.56.0", case).copy(Path(tempfile.mkdtemp()))


def words(broker: Oddity, *more: str | Path) -> tuple[str | Path, ...]:
    return ("messages", "send", data(), "--to", broker.url, "--queue", "red.news", *more)


def send(broker: Oddity, *more: str | Path) -> Answer:
    answer = call(*words(broker, *more))
    assert "internal error" not in answer.err, answer.err
    return answer


@pytest.fixture
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pagectl.sending.run, "_FIRST_PAUSE", 0.01)


def deep(text: str) -> str:
    return text * 20000


ODD_ANSWERS: list[Any] = [
    None, b"", b"\xff" * 99, "", "[]", "[null]", "[Infinity]", "[-1]", "[1e999]", "[true]", '["x"]', "[{}]", deep("["),
    '["[]"]', '["{}"]', '["null"]', f'["{deep("[")}"]', '["{\\"idCacheSize\\":\\"x\\"}"]', '["{\\"idCacheSize\\":{}}"]',
    '["{\\"idCacheSize\\":1e999}"]', f"[{'9' * 5000}]", {"a": [1, 2]}, 7, "x" * (1 << 21),
]  # fmt: skip


class Answering:
    """In the place of a connection: what management answers to one question after the other."""

    product = "apache-activemq-artemis"

    def __init__(self, answers: tuple[Any, ...]) -> None:
        self.answers = iter(answers)

    def ask(self, _: dict[str, str], __: str | None) -> str | None:
        answer = next(self.answers)
        return answer if answer is None else str(answer or "")


def rules(answers: tuple[Any, ...]) -> AddressRules:
    return rules_of(cast("Peer", Answering(answers)), ["an.address"])["an.address"]


@pytest.mark.parametrize("which", range(3))
def test_odd_answers_of_management_are_taken_as_not_known(which: int) -> None:
    for answer in ODD_ANSWERS:
        found = rules(tuple(answer if number == which else plain for number, plain in enumerate(PLAIN)))
        assert found.ids in (None, 20000), answer
        assert not (found.drops or found.forgets)


@pytest.mark.parametrize(
    "answer", [None, b"", b"\xff" * 99, deep("["), f"[{'9' * 5000}]", {"a": [1, 2]}, "x" * (1 << 21)]
)
def test_odd_answers_on_their_way(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagectl.sending.peer._ANSWER", 0.3)
    with odd_broker(answers=(answer, *PLAIN[1:])) as broker:
        assert send(broker).status == 0
    assert len(set(broker.taken)) == len(broker.taken) == MESSAGES


@pytest.mark.parametrize("version", ["2.²", "2." + "9" * 5000, None, ["2"], b"\xff"], ids=range(5))
def test_odd_versions_are_taken_as_not_known(version: Any) -> None:
    with odd_broker(version=version) as broker:
        answer = send(broker)
    assert (answer.status, len(broker.taken)) == (0, MESSAGES)
    assert max(map(len, answer.out.splitlines())) < 500


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
)
settings_values = st.dictionaries(st.sampled_from(["idCacheSize", "addressFullMessagePolicy"]), json_values)


@given(json_values, json_values, json_values | settings_values)
def test_whatever_management_answers_there_is_no_internal_error(cache_size: Any, kept: Any, settings: Any) -> None:
    found = rules((json.dumps([cache_size]), json.dumps([kept]), json.dumps([json.dumps(settings)])))
    assert found.ids is None or (type(found.ids) is int and found.ids >= 0)


@pytest.mark.parametrize("frame", [512, 513, 600, 1024])
def test_small_frames(frame: int) -> None:
    with odd_broker(frame=frame) as broker:
        assert send(broker).status == 0
    assert len(broker.taken) == MESSAGES


@pytest.mark.parametrize("what", ["session", "connection", "link", "lost"])
def test_what_ends_is_said_with_its_reason_and_tried_again(what: str) -> None:
    with odd_broker(verdict=lambda number: what if number == 4 else "accept") as broker:
        answer = send(broker)
    assert answer.status == 0
    assert "trying again" in answer.err and (what == "lost" or f"this is {what}" in answer.err)
    assert len(set(broker.taken)) == MESSAGES


@pytest.mark.usefixtures("_short_pauses")
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("release", "sent 5 times: the broker gave it back without a reason (released)"),
        ("modified", "sent 5 times: the broker gave it back without a reason (modified)"),
        ("undeliverable", "the broker cannot deliver it there"),
        ("settled", "sent 5 times: the broker settled it without an outcome"),
        ("reject", "ended without a reason"),
    ],
)
def test_what_a_broker_does_not_take_is_told(what: str, said: str, tmp_path: Path) -> None:
    # Such a message is tried once more, and then refused; the next run sends it.
    with odd_broker(verdict=lambda number: what if number == 4 else "accept") as broker:
        assert send(broker).status == (0 if said.startswith("sent 5") else 1)
    with odd_broker(verdict=lambda _: what) as broker:
        answer = send(broker, "--checkpoint", tmp_path / "state", "--format", "json")
        assert answer.status == 1
        assert [each["why"] for each in json.loads(answer.out)["refused"]] == [said] * MESSAGES or said in answer.err
        broker.verdict = lambda _: "accept"
        assert send(broker, "--checkpoint", tmp_path / "state").status == 0
    assert len(set(broker.taken)) == MESSAGES


def test_a_connection_that_ends_again_and_again_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pagectl.sending.run, "_WITHOUT", 1.0)
    with odd_broker(verdict=lambda _: "lost") as broker:
        answer = send(broker)
    assert answer.status == 2
    assert "to continue, run the same command again" in answer.err


def test_a_broker_that_remembers_no_ids_gets_nothing_unless_it_is_accepted() -> None:
    answers = ("[0]", "[true]", '["{}"]')
    with odd_broker(answers=answers, verdict=lambda number: "lost" if number == 4 else "accept") as broker:
        answer = send(broker)
        assert (answer.status, broker.deliveries) == (1, 0)
        assert "its id-cache-size is 0" in answer.err
        answer = send(broker, "--id-cache-size", "0")
    assert answer.status == 1
    assert "1 message may have arrived twice" in answer.err
    assert len(broker.taken) == MESSAGES + 1


@pytest.mark.parametrize("when", ["silent", "reconnecting", "connecting", "asking"])
def test_a_signal_ends_it_within_ten_seconds(when: str, tmp_path: Path) -> None:
    verdict = "lost" if when == "reconnecting" else "silent"
    answers = (None, None, None) if when == "asking" else PLAIN
    with (
        odd_broker(verdict=lambda number: verdict if number > 3 else "accept", answers=answers) as broker,
        socket.create_server(("127.0.0.1", 0)) as mute,  # connects, and says nothing
    ):
        aim = Oddity(port=mute.getsockname()[1]) if when == "connecting" else broker
        process = started(*words(aim, "--checkpoint", tmp_path / "state"), stdout=subprocess.DEVNULL)
        time.sleep(3)
        assert process.poll() is None
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
    assert time.monotonic() - begun < 10
    assert process.returncode == 143, said
    assert f"interrupted; to continue, run the same command again: {tmp_path / 'state'}" in said


@pytest.mark.parametrize("good", [0, 1])
def test_a_body_that_cannot_be_read_is_passed_over(good: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The head of the message has been sent by then. ``good``: parts of the body that can be read.
    folder = data("large-core")
    body = next((folder / "large-messages").rglob("28.msg"))
    failing, original, reads = body.stat().st_ino, os.preadv, [0]

    def read(descriptor: int, buffers: list[memoryview], offset: int) -> int:
        if os.fstat(descriptor).st_ino == failing:
            reads[0] += 1
            if offset >= good * 1000:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
        return original(descriptor, buffers, offset)

    with odd_broker() as broker:
        assert call("messages", "send", folder, "--to", broker.url).status == 0
        whole = set(broker.taken)
        broker.taken.clear()
        monkeypatch.setattr(os, "preadv", read)
        monkeypatch.setattr("pagefmt.codec.messages.large._CHUNK", 1000)
        for _ in range(2):
            reads[0] = 0
            answer = call("messages", "send", folder, "--to", broker.url, "--checkpoint", tmp_path / "state")
            assert (answer.status, reads[0] > good) == (1, True), answer.err
            assert f"message 28: cannot be read to its end: {body}: " in answer.err
    assert len(whole - set(broker.taken)) == 1 and len(broker.taken) >= len(whole) - 1
