"""``pages outstanding --jolokia``: the running broker beside its files, by recorded answers, and by hostile ones."""

from __future__ import annotations

import copy
import json
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from golden_cases import GoldenCase
from pagectl.running import jolokia, live_broker
from program import ROOT, Answer, call

from pagefmt.directory.locate import locate
from pagefmt.directory.locks import node_id
from pagefmt.outstanding.queue_totals import held_by
from pagefmt.vectors import load_place

RECORDED = json.loads((ROOT / "tests" / "recorded" / "jolokia" / "2.44.0.json").read_text("utf-8"))
SECRET = "s3cret pw"
Reply = Callable[[BaseHTTPRequestHandler, list[dict[str, Any]]], Any]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_broker, "APART", 0.0)
    for name in (jolokia.USER, jolokia.PASSWORD, "ARTEMIS_INSTANCE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    (tmp_path / "user.txt").write_text(f"admin:{SECRET}\n")
    return tmp_path / "user.txt"


@contextmanager
def serving(reply: Reply, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve HTTP answers and yield the server's URL.

    ``reply`` returns JSON or bytes to send, or None if it has sent the answer itself.
    """

    class Handler(BaseHTTPRequestHandler):
        timeout = 20

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = reply(self, asked)
            if answer is not None:
                content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"{'http' if context is None else 'https'}://127.0.0.1:{server.server_port}"
        server.shutdown()


def answers(data: Path, change: Callable[[dict[str, Any], int], None] = lambda row, look: None) -> Reply:
    """Return a function that answers management requests like a broker with these files.

    ``change`` gets the row of each queue that has messages, and the number of the request.
    """
    state = load_place(locate(data))
    held = held_by(state, state.bindings.queues.values()) if state.bindings else {}
    looks = 0

    def reply(handler: BaseHTTPRequestHandler, asked: list[dict[str, Any]]) -> Any:
        nonlocal looks
        answer = copy.deepcopy(RECORDED["broker" if len(asked) == 1 else "beans"])
        if len(asked) == 1:
            (row,) = answer[0]["value"].values()
            row["NodeID"] = node_id(data / "journal") or row["NodeID"]
            return answer
        looks += 1
        shape = next(iter(answer[1]["value"].values()))
        answer[0]["value"], answer[1]["value"] = {}, {}
        for number, queue in state.bindings.queues.items() if state.bindings else ():
            bean = f'org.apache.activemq.artemis:address="{queue.address}"'
            answer[0]["value"][bean] = {"Address": queue.address, "Paging": True, "NumberOfPages": 1}
            row = {**shape, "Name": queue.name, "Address": queue.address, "ID": number}
            count = held[number].sums[0]
            row |= {"MessageCount": count, "DurableMessageCount": count, "ConsumerCount": 0, "DeliveringCount": 0}
            if count:
                change(row, looks)
            answer[1]["value"][f'{bean},queue="{queue.name}"'] = row
        return answer

    return reply


def asked(data: Path, reply: Reply, *words: str | Path) -> Answer:
    with serving(reply) as url:
        return call("pages", "outstanding", data, "--jolokia", url, *words)


def differences(data: Path, change: Callable[[dict[str, Any], int], None]) -> list[str]:
    answer = asked(data, answers(data, change), "--format", "json")
    found = json.loads(answer.out)["differences"]
    assert answer.status == (1 if found else 0)
    return [each["rule"] for each in found]


def test_a_broker_that_agrees(data: Path, secret: Path) -> None:
    heard: list[str] = []

    def reply(handler: BaseHTTPRequestHandler, reads: list[dict[str, Any]]) -> Any:
        heard.extend((handler.path, str(handler.headers["Authorization"]), str(handler.headers["Origin"])))
        assert {read["type"] for read in reads} == {"read"}
        return answers(data)(handler, reads)

    answer = asked(data, reply, "--credentials", secret)
    assert answer.status == 0 and "no difference" in answer.out, answer
    assert "broker 127.0.0.1, 2.44.0, compared with its files:" in answer.out
    assert (
        heard[0] == "/console/jolokia/" and heard[1].startswith("Basic ") and heard[2].startswith("http://127.0.0.1:")
    )
    assert len(heard) == 9


def test_the_answer_in_json(data: Path) -> None:
    answer = asked(data, answers(data), "--format", "json")
    found = json.loads(answer.out)
    (store,) = [store for store in found["stores"] if store["queues"]]
    rows = {row["queue"]: row for row in found["live"]}
    for queue in store["queues"]:
        row = rows[queue["queue"]]
        assert row["messages"] == row["in_files"] == row["in_pages"] + row["in_journal"]
        assert (row["in_pages"], row["paging"]) == (queue["messages"], True)


def test_differences(data: Path) -> None:
    def counts(row: dict[str, Any], look: int) -> None:
        row["DurableMessageCount"] += 7

    def moves(row: dict[str, Any], look: int) -> None:
        row["DurableMessageCount"] += 7
        row["MessagesAdded"] += look * 10

    def sticks(row: dict[str, Any], look: int) -> None:
        row["ConsumerCount"] = 2

    def reads(row: dict[str, Any], look: int) -> None:
        row["ConsumerCount"] = 2
        row["MessagesAcknowledged"] += look

    def missing(row: dict[str, Any], look: int) -> None:
        row["Name"] = "new"

    def comes(row: dict[str, Any], look: int) -> None:
        row["Name"] = "new" if look == 1 else row["Name"]

    def passing(row: dict[str, Any], look: int) -> None:
        row |= {"Name": "new", "Durable": False}

    assert differences(data, counts) == ["count-differs"]
    assert differences(data, moves) == []
    assert differences(data, sticks) == ["not-reading"]
    assert differences(data, reads) == []
    assert sorted(differences(data, missing)) == ["only-in-broker", "only-in-files"]
    assert differences(data, comes) == []
    assert differences(data, passing) == ["only-in-files"]


def test_an_address_that_should_page(data: Path) -> None:
    whole = answers(data)

    def reply(handler: BaseHTTPRequestHandler, reads: list[dict[str, Any]]) -> Any:
        answer = whole(handler, reads)
        for row in answer[0]["value"].values():
            if "Paging" in row:
                row["Paging"] = False
        return answer

    answer = asked(data, reply)
    assert answer.status == 1 and "[not-paging]" in answer.out


def test_an_older_broker_without_durable_counts(data: Path) -> None:
    def change(row: dict[str, Any], look: int) -> None:
        for name in ("DurableMessageCount", "MessagesKilled", "MessagesExpired", "Paused"):
            row.pop(name, None)

    assert differences(data, change) == []


def refused(data: Path, reply: Reply, *words: str | Path) -> str:
    answer = asked(data, reply, *words)
    assert answer.status == 2 and answer.out == "", answer
    (line,) = [line for line in answer.err.splitlines() if not line.startswith(("note:", "warning:"))]
    assert SECRET not in answer.err and "Basic" not in answer.err
    return line


def status(code: int, **headers: str) -> Reply:
    def reply(handler: BaseHTTPRequestHandler, reads: list[dict[str, Any]]) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return reply


def broken(**changes: Any) -> Reply:
    """Alter fields of the first value in the broker's recorded answer."""
    answer = copy.deepcopy(RECORDED["broker"])
    next(iter(answer[0]["value"].values())).update(changes)
    return lambda handler, reads: answer


ORIGIN = {"error_type": "java.lang.Exception", "error": "java.lang.Exception : Origin x is not allowed", "status": 403}
REFUSALS: dict[str, tuple[Reply, str]] = {
    "401": (status(401), "user or password is wrong"),
    "403": (status(403), "user or password is wrong"),
    "redirect": (status(302, Location="http://127.0.0.1:1/"), "credentials are not sent to another place"),
    "404": (status(404), "not Jolokia"),
    "500": (status(500), "HTTP 500"),
    "origin": (lambda handler, reads: ORIGIN, "not allowed (etc/jolokia-access.xml)"),
    "role": (lambda handler, reads: [{"status": 403, "error": SECRET}], "may not read the broker's beans"),
    "page": (lambda handler, reads: b"<html>log in</html>", "not Jolokia"),
    "empty": (lambda handler, reads: b"", "not Jolokia"),
    "deep": (lambda handler, reads: b"[" * 100_000, "not Jolokia"),
    "digits": (lambda handler, reads: b"[" + b"9" * 10_000 + b"]", "not Jolokia"),
    "number": (lambda handler, reads: 7, "not Jolokia"),
    "null": (lambda handler, reads: [None], "not Jolokia"),
    "two": (lambda handler, reads: RECORDED["broker"] * 2, "not Jolokia"),
    "status": (lambda handler, reads: [{"status": SECRET}], "not Jolokia"),
    "nothing": (lambda handler, reads: [{"status": 404}], "there is no Artemis broker"),
    "list": (lambda handler, reads: [{"status": 200, "value": {"x": []}}], "not the answer of a broker's console"),
    "name": (broken(Name=5), "Name is not of type str"),
    "another": (broken(NodeID="\x1b[31mx"), "name the console of that broker"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_cannot_be_used_is_told_in_one_line(name: str, data: Path, secret: Path) -> None:
    reply, reason = REFUSALS[name]
    line = refused(data, reply, "--credentials", secret)
    assert reason in line and "\x1b" not in line


@pytest.mark.parametrize("value", [None, "5", 5.5, True, 1 << 63, [], {}], ids=repr)
@pytest.mark.parametrize("key", ["ID", "DurableMessageCount", "MessagesAdded"])
def test_values_of_another_type(key: str, value: object, data: Path) -> None:
    def change(row: dict[str, Any], look: int) -> None:
        row[key] = value

    assert f"{key} is not of type int" in refused(data, answers(data, change))


def test_a_user_is_wanted(data: Path) -> None:
    assert "give --credentials FILE, or ARTEMIS_USER" in refused(data, status(401))


def test_a_slow_answer(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jolokia, "SECONDS", 1.0)

    def reply(handler: BaseHTTPRequestHandler, reads: list[dict[str, Any]]) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(100):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.1)

    began = time.monotonic()
    assert "no complete answer within 1 s" in refused(data, reply)
    assert time.monotonic() - began < 5


def test_a_huge_answer(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jolokia, "LARGEST", 1 << 20)
    assert "larger than 1 MiB" in refused(data, lambda handler, reads: b" " * (2 << 20))


def test_calls_that_cannot_be_carried_out(data: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    (tmp_path / "two").write_text(f"admin:{SECRET}\nmore:x\n")
    for words, reason in {
        ("--jolokia", f"http://admin:{SECRET}@h:1"): "do not belong in a URL",
        ("--jolokia", "file:///etc/passwd"): "not a URL",
        ("--jolokia", "http://h:99999"): "not a URL",
        ("--jolokia", "http://[::1"): "not a URL",
        ("--jolokia", "http://h/\r\nX: y"): "not a URL",
        ("--jolokia", "http://h", "--credentials", str(tmp_path / "empty")): "USER:PASSWORD",
        ("--jolokia", "http://h", "--credentials", str(tmp_path / "two")): "USER:PASSWORD",
        ("--jolokia", "http://h", "--credentials", str(tmp_path / "none")): "No such file",
        ("--jolokia", "http://127.0.0.1:1"): "cannot be reached: Connection refused",
        ("--jolokia", "http://h", "--format", "csv"): "text and json only",
        ("--credentials", "x"): "needs --jolokia",
    }.items():
        answer = call("pages", "outstanding", data, *words)
        assert answer.status == 2 and answer.out == "" and SECRET not in answer.err
        assert reason in answer.err.splitlines()[-1], words


def test_credentials_of_the_environment(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(jolokia.USER, "admin")
    monkeypatch.setenv(jolokia.PASSWORD, SECRET)
    heard = []

    def reply(handler: BaseHTTPRequestHandler, reads: list[dict[str, Any]]) -> Any:
        heard.append(handler.headers["Authorization"])
        return answers(data)(handler, reads)

    assert asked(data, reply).status == 0
    assert set(heard) == {"Basic YWRtaW46czNjcmV0IHB3"}


def test_tls(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            key,
            "-out",
            cert,
            "-days",
            "1",
            "-subj",
            "/CN=127.0.0.1",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    for trusted in (False, True):
        if trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(cert))
        with serving(answers(data), context) as url:
            answer = call("pages", "outstanding", data, "--jolokia", url)
        assert (answer.status, "certificate is not trusted" in answer.err) == ((0, False) if trusted else (2, True))


def test_a_directory_that_does_not_say_whose_it_is(data: Path) -> None:
    (data / "journal" / "server.lock").unlink()
    answer = asked(data, answers(data))
    assert answer.status == 0 and "does not say which broker it belongs to" in answer.err
