"""``messages send``, held against a receiver in this process: what arrives, once, whatever happens on the way."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from golden_cases import GoldenCase
from program import Answer, call, environment

pytest.importorskip("proton", reason="the extra pagectl[amqp] is not installed")
from amqp_receiver import Received, receiver

MIX = GoldenCase("2.56.0", "journal-mix")
QUEUE = "mixed::b.mixed"


@cache
def data() -> Path:
    """Copy the directory for this process alone, because sending locks it."""
    return MIX.copy(Path(tempfile.mkdtemp()))


def send(received: Received, *words: str | Path) -> Answer:
    return call("messages", "send", data(), "--to", received.url, "--queue", QUEUE, *words)


def ids() -> list[int]:
    answer = call("messages", "decode", data(), "--queue", QUEUE, "--outstanding", "--format", "jsonl")
    return [line["id"] for line in answer.lines()]


def sequence(received: Received) -> list[int]:
    return [int(message.properties["seq"]) for message in received.messages()]


def delivered() -> list[int]:
    (queue,) = (each for each in MIX.drain()["queues"] if each["name"] == "b.mixed")
    return [message["seq"] for message in queue["delivered"]]


def test_what_a_queue_would_deliver_arrives_in_that_order() -> None:
    with receiver() as received:
        answer = send(received, "--format", "json")
    assert answer.status == 0, answer.err
    assert sequence(received) == delivered()
    found = json.loads(answer.out)
    assert found["queues"][0]["sent"] == len(delivered()) == found["queues"][0]["converted"]
    assert {address for address, _ in received.kept} == {QUEUE}
    assert len(received.known) == len(delivered())


def test_a_second_run_sends_nothing_anew(tmp_path: Path) -> None:
    with receiver() as received:
        assert send(received, "--checkpoint", tmp_path / "state").status == 0
        before = received.deliveries
        again = send(received, "--checkpoint", tmp_path / "state")
        assert (again.status, received.deliveries) == (0, before)
        assert send(received).status == 0
        assert received.deliveries == 2 * before
    assert sequence(received) == delivered()


@pytest.mark.parametrize("what", ["drop", "close", "release", "full"])
def test_what_is_lost_on_the_way_is_sent_again(what: str, tmp_path: Path) -> None:
    with receiver(lambda number: what if number in (7, 31) else "accept", credit=10) as received:
        answer = send(received, "--checkpoint", tmp_path / "state")
    assert answer.status == 0, answer.err
    assert sorted(sequence(received)) == sorted(delivered())
    assert received.connections == (3 if what in ("drop", "close") else 1)


def test_a_refused_message_is_told_and_sent_by_the_next_run(tmp_path: Path) -> None:
    with receiver(lambda number: "reject" if number == 3 else "accept") as received:
        answer = send(received, "--checkpoint", tmp_path / "state", "--format", "json")
        assert answer.status == 1
        (refused,) = json.loads(answer.out)["refused"]
        assert (refused["id"], refused["why"]) == (ids()[3], "amqp:not-allowed: this one not")
        assert send(received, "--checkpoint", tmp_path / "state").status == 0
    assert len(received.kept) == len(delivered())


def test_what_is_lost_counts_messages_that_were_sent_before(tmp_path: Path) -> None:
    count = len(delivered())
    with receiver(lambda number: "reject" if number in (3, count) else "accept") as received:
        send(received, "--checkpoint", tmp_path / "state")
        again = send(received, "--checkpoint", tmp_path / "state", "--format", "json")
        told = send(received, "--checkpoint", tmp_path / "state").err
    lost = json.loads(again.out)["lost"]
    assert [each["messages"] - each["sent_before"] for each in lost if each["messages"] == count] == [1, 1], lost
    assert f"lost in {count} messages that are converted ({count - 1} of them sent before): " in told


def test_a_queue_that_is_refused_is_told() -> None:
    with receiver(refused=QUEUE) as received:
        answer = send(received)
    assert answer.status == 1
    assert "there is no such queue" in answer.err


def test_a_checkpoint_of_another_call_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with receiver() as received:
        assert send(received, "--checkpoint", state).status == 0
        other = call("messages", "send", data(), "--to", received.url, "--checkpoint", state)
        assert other.status == 2
        assert "belongs to a command that differs in queues" in other.err
        state.write_text("something else\n")
        assert "not a checkpoint" in send(received, "--checkpoint", state).err


def test_a_full_disk_at_the_checkpoint_ends_it_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pagectl.sending.checkpoint import SendingCheckpoint

    state, written = tmp_path / "state", SendingCheckpoint._append

    def full(self: SendingCheckpoint, line: dict[str, Any]) -> None:
        if line.get("settled", 0) > 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        written(self, line)

    with receiver() as received:
        with monkeypatch.context() as patched:
            patched.setattr(SendingCheckpoint, "_append", full)
            answer = send(received, "--checkpoint", state)
        assert answer.status == 2
        assert f"{state}: No space left on device" in answer.err.splitlines()[-1]
        assert send(received, "--checkpoint", state).status == 0
    assert sequence(received) == delivered()


@pytest.mark.parametrize(
    "content", [b"\0" * 99, b"\xff\n", b"[" * 99999 + b"\n", b'{"pagectl":"messages send","version":1e999}\n']
)
def test_a_foreign_file_is_no_checkpoint(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(content)
    os.mkfifo(tmp_path / "pipe")
    for name in ("state", "pipe", "/dev/null"):
        answer = call("messages", "send", data(), "--to", "amqp://127.0.0.1:1", "--checkpoint", tmp_path / name)
        assert answer.status == 2
        assert "not a checkpoint of 'messages send'; name another file" in answer.err
    assert (tmp_path / "state").read_bytes() == content


def test_what_a_line_of_a_checkpoint_must_not_say(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with receiver() as received:
        assert send(received, "--checkpoint", state).status == 0
        good = state.read_bytes()
        for bad in (b'"settled":1e999', b'"settled":[]', b'"settled":' + b"[" * 9999):
            state.write_bytes(good.replace(b'"settled":80', bad))
            assert "not a checkpoint" in send(received, "--checkpoint", state).err


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"AMQP\0\0\x09\x01", b"AMQP\3\1\0\0", b"", b"\0" * 64]
)
def test_what_is_no_broker_gets_one_line(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            found, _ = server.accept()
            with found:
                found.recv(8)
                found.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"amqp://127.0.0.1:{server.getsockname()[1]}"
        found = call("messages", "send", data(), "--to", url, "--queue", QUEUE)
        thread.join()
    assert found.status == 2
    assert len([line for line in found.err.splitlines() if not line.startswith("note:")]) == 1, found.err
    assert url in found.err


def test_more_unsure_messages_than_ids_are_refused(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with receiver() as received:
        assert send(received, "--checkpoint", state).status == 0
        lines = state.read_text().splitlines()
        state.write_text("\n".join(lines[:2]) + "\n" + '{"queue": "mix')
        answer = send(received, "--checkpoint", state, "--id-cache-size", "100")
        assert answer.status == 2
        assert "2000 messages of mixed::b.mixed may have been sent" in answer.err
        assert send(received, "--checkpoint", state).status == 0
    assert sequence(received) == delivered()


def test_a_changed_directory_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with receiver() as received:
        assert send(received, "--checkpoint", state).status == 0
        lines = [json.loads(line) for line in state.read_text().splitlines()]
        lines[-1] |= {"crc": 1, "done": False, "settled": 5, "begun": 5}
        state.write_text("".join(json.dumps(line) + "\n" for line in lines))
        answer = send(received, "--checkpoint", state)
    assert answer.status == 2
    assert "does not start with the 5 messages that were sent" in answer.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no broker given"),
        (("--to", "http://localhost"), "not the URL of a broker"),
        (("--to", "amqp://me:secret@localhost"), "credentials do not belong in a URL"),
        (("--to", "amqp://localhost", "--ca", "x"), "write amqps://"),
        (("--to", "amqp://127.0.0.1:1"), "refused"),
        (("--to", "amqp://localhost", "--to-address", "nowhere=x"), "no queue to be sent has this"),
        (("--to", "amqp://localhost", "--to-address", "x"), "write FROM=TO"),
    ],
)
def test_calls_that_cannot_be_carried_out(words: tuple[str, ...], said: str) -> None:
    answer = call("messages", "send", data(), *words)
    assert answer.status == 2
    assert said in answer.err
    assert "secret" not in answer.err


def test_addresses_are_mapped() -> None:
    with receiver() as received:
        assert send(received, "--to-address", "mixed=other").status == 0
        assert send(received, "--to-address", f"{QUEUE}=third::queue").status == 0
        assert send(received, "--to-address", f"{QUEUE}=fourth").status == 0
    assert {address for address, _ in received.kept} == {"other::b.mixed", "third::queue", "fourth"}


def test_what_an_address_with_wildcards_has_goes_to_the_addresses_that_it_came_by(tmp_path: Path) -> None:
    with receiver() as received:
        answer = call("messages", "send", GoldenCase("2.56.0", "mqtt").copy(tmp_path), "--to", received.url)
    assert answer.status == 0, answer.err
    queues = ("sub3.sensors.#", "sub5.sensors.*")
    assert {address for address, _ in received.kept} == {f"sensors.{n}::{queue}" for n in range(3) for queue in queues}
    assert len(received.kept) == 118


def test_a_dry_run_connects_to_nobody() -> None:
    answer = call("messages", "send", data(), "--to", "amqp://localhost:1", "--dry-run", "--format", "json")
    assert answer.status == 0
    assert [each["tunnelled"] for each in json.loads(answer.out)["queues"]] == [70, 80]


class Killed(BaseException):
    """In the place of a signal that nobody handles."""


@pytest.mark.parametrize("step", [*range(12), 30, 60, 100])
def test_killed_at_any_step_and_run_again_each_arrives_once(
    step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A step is a line of the checkpoint, a message given to the connection, or an outcome received.
    from pagectl.sending.checkpoint import SendingCheckpoint
    from pagectl.sending.peer import Peer

    left = [step]

    def counted(original: Any) -> Any:
        def called(*given: Any, **named: Any) -> Any:
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            return original(*given, **named)

        return called

    state = tmp_path / "state"
    with receiver(credit=7) as received:
        with monkeypatch.context() as patched:
            for owner, name in ((SendingCheckpoint, "_append"), (Peer, "send"), (Peer, "settled")):
                patched.setattr(owner, name, counted(getattr(owner, name)))
            with contextlib.suppress(Killed):
                send(received, "--checkpoint", state)
        answer = send(received, "--checkpoint", state)
    assert answer.status == 0, answer.err
    assert sorted(sequence(received)) == sorted(delivered())


def test_an_interrupt_finishes_what_is_under_way_and_says_how_to_go_on(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with receiver() as received:
        words = ("messages", "send", data(), "--to", received.url, "--queue", QUEUE, "--checkpoint", state)
        process = subprocess.Popen(
            [sys.executable, "-m", "pagectl", *map(str, words), "--rate", "4"],
            env=environment(),
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        while len(received.kept) < 5:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130
        assert f"to continue, run the same command again: {state} records how far it got" in said
        last = json.loads(state.read_text().splitlines()[-1])
        assert last["settled"] == len(received.kept) < len(delivered())
        assert send(received, "--checkpoint", state).status == 0
    assert received.deliveries == len(delivered())
    assert sequence(received) == delivered()


def test_without_proton_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("proton", "cproton")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("run", "peer"):
        monkeypatch.delitem(sys.modules, f"pagectl.sending.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "proton", None)
    monkeypatch.setitem(sys.modules, "cproton", None)
    answer = call("messages", "send", data(), "--to", "amqp://localhost")
    assert answer.status == 2
    assert answer.err.splitlines() == [
        "pagectl: messages send needs python-qpid-proton; install it with: pip install 'python-qpid-proton<1,>=0.40'"
    ]
