"""``messages send`` to real brokers that let not everybody in, or have no room: one line for each fault, no secrets."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from broker_jars import CURRENT
from golden_cases import GoldenCase
from program import Answer, call, environment
from target_broker import TargetBroker, target_broker

pytest.importorskip("proton", reason="the extra pagectl[amqp] is not installed")
pytestmark = [pytest.mark.broker, pytest.mark.timeout(900)]
QUEUE = "b.mixed"
COUNT = 80


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetBroker]:
    with target_broker("2.56.0", tmp_path_factory.mktemp("target") / "first") as found:
        yield found


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return GoldenCase("2.56.0", "journal-mix").copy(tmp_path_factory.mktemp("data"))


def send(
    url: str,
    data: Path,
    *words: str | Path,
    user: str | None = None,
    secret: str | None = None,
    queue: str = f"mixed::{QUEUE}",
) -> Answer:
    """Call ``messages send`` with credentials from the environment.

    Assert that it prints no secret and no traceback.
    """
    with pytest.MonkeyPatch.context() as patched:
        if user is not None:
            patched.setenv("ARTEMIS_USER", user)
            patched.setenv("ARTEMIS_PASSWORD", secret or f"secret-{user}")
        answer = call("messages", "send", data, "--to", url, "--queue", queue, *words)
    assert "secret" not in answer.err + answer.out
    assert "Traceback" not in answer.err
    return answer


def complaints(answer: Answer) -> list[str]:
    return [line for line in answer.err.splitlines() if not line.startswith("note:")]


# -- who is let in ----------------------------------------------------------------------------------------------------


def test_users(broker: TargetBroker, data: Path, tmp_path: Path) -> None:
    broker.start(tmp_path / "target", secured=True)
    for user, secret, status, said in (
        (None, None, 2, "refused the login: give --credentials FILE"),
        ("keeper", "secret-wrong", 2, "user or password is wrong"),
        ("nobody", "secret-nobody", 2, "user or password is wrong"),
        ("reader", None, 1, "nothing sent: the broker refuses"),
        ("sender", None, 0, ""),
        ("keeper", None, 0, ""),
    ):
        answer = send(broker.url, data, user=user, secret=secret)
        assert (answer.status, len(complaints(answer))) == (status, bool(status)), (user, answer.err)
        assert said in answer.err
    assert broker.count(QUEUE) == COUNT


JOBS = "core.jms"
"""A queue that is named as its address: brokers of 2.28 take messages for addresses alone."""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return GoldenCase("2.56.0", "core-jms").copy(tmp_path_factory.mktemp("jobs"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Return certificate and key files by name."""
    folder = tmp_path_factory.mktemp("certificates")
    return {
        name: certificate(folder, name, "-5d" if name == "expired" else "-1d")
        for name in ("good", "other", "expired", "client", "stranger")
    }


@pytest.mark.parametrize("version", CURRENT)
def test_tls(version: str, made: dict[str, tuple[Path, Path]], jobs: Path, tmp_path: Path) -> None:
    with target_broker(version, tmp_path / "target") as broker:
        url = broker.url.replace("amqp://", "amqps://")
        for shown, trusted, words, status, said in (
            ("good", "good", (), 0, ""),
            ("good", "other", (), 2, "its certificate is not trusted"),
            ("good", None, (), 2, "its certificate is not trusted"),
            ("expired", "expired", (), 2, "has expired"),
        ):
            broker.start(tmp_path / f"{shown}-{trusted}", acceptor=tls(made[shown][0]))
            answer = send(url, jobs, *(("--ca", made[trusted][0]) if trusted else ()), *words, queue=JOBS)
            assert (answer.status, len(complaints(answer))) == (status, bool(status)), answer.err
            assert said in answer.err
        broker.start(tmp_path / "mutual", acceptor=tls(made["good"][0], made["client"][0]))
        trusting = ("--ca", made["good"][0])
        answer = send(url, jobs, *trusting, queue=JOBS)
        assert (answer.status, len(complaints(answer))) == (2, 1), answer.err
        assert "the broker requires a different client certificate; give --cert and --key" in answer.err
        answer = send(
            url, jobs, *trusting, "--cert", made["client"][0], "--key", made["client"][1], user="keeper", queue=JOBS
        )
        assert answer.status == 0, answer.err
        assert broker.count(JOBS) == 42
        for wrong, words, said in (
            (url.replace("127.0.0.1", "localhost"), trusting, "certificate is not valid for 'localhost'"),
            (broker.url, (), "without giving a reason; does it expect TLS there"),
        ):
            answer = send(wrong, jobs, *words, queue=JOBS)
            assert (answer.status, len(complaints(answer))) == (2, 1), answer.err
            assert said in answer.err


@pytest.mark.parametrize("version", CURRENT)
def test_who_one_is_by_certificate(
    version: str, made: dict[str, tuple[Path, Path]], jobs: Path, tmp_path: Path
) -> None:
    # With SASL EXTERNAL the broker finds the user by the subject of the certificate, and asks for no password.
    acceptor = tls(made["good"][0], made["client"][0], made["stranger"][0])
    with target_broker(version, tmp_path / "target") as broker:
        url = broker.url.replace("amqp://", "amqps://")
        for name, mechanisms, user, status, said in (
            ("client", "EXTERNAL", "keeper", 0, ""),
            ("client", "EXTERNAL", "reader", 1, "nothing sent: the broker refuses"),
            ("client", "EXTERNAL,PLAIN", "sender", 0, ""),
            ("stranger", "EXTERNAL", "keeper", 2, "refused the login"),
            ("client", "PLAIN", "keeper", 2, "refused the login"),
        ):
            folder = tmp_path / f"{name}-{mechanisms}-{user}"
            allowed = f"{acceptor};saslMechanisms={mechanisms}"
            broker.start(folder, acceptor=allowed, secured=True, certificates={"client": user})
            answer = send(
                url, jobs, "--ca", made["good"][0], "--cert", made[name][0], "--key", made[name][1], queue=JOBS
            )
            assert (answer.status, len(complaints(answer))) == (status, bool(status)), answer.err
            assert said in answer.err
            assert (broker.count(JOBS) == 42) is (status == 0)


PASS = "changeit"


def certificate(folder: Path, name: str, since: str = "-1d") -> tuple[Path, Path]:
    """Make a self-signed certificate for 127.0.0.1, valid for two days, and return the paths of it and its key.

    The key store NAME.p12 in the same folder contains both.
    """
    cert, key, store = (folder / f"{name}.{kind}" for kind in ("pem", "key", "p12"))
    for words in (
        [
            "keytool",
            "-genkeypair",
            "-alias",
            name,
            "-keyalg",
            "RSA",
            "-keystore",
            store,
            "-storetype",
            "PKCS12",
            "-storepass",
            PASS,
            "-dname",
            f"CN={name}",
            "-ext",
            "san=ip:127.0.0.1",
            "-startdate",
            since,
            "-validity",
            "2",
        ],
        ["openssl", "pkcs12", "-in", store, "-passin", f"pass:{PASS}", "-nokeys", "-out", cert],
        ["openssl", "pkcs12", "-in", store, "-passin", f"pass:{PASS}", "-nocerts", "-nodes", "-out", key],
    ):
        subprocess.run(words, check=True, capture_output=True)
    return cert, key


def tls(shown: Path, *clients: Path) -> str:
    """Return acceptor parameters that present a certificate and, if ``clients`` are given, require one of theirs."""
    said = f";sslEnabled=true;keyStorePath={shown.with_suffix('.p12')};keyStorePassword={PASS};keyStoreType=PKCS12"
    if not clients:
        return said
    trust = shown.with_name("-".join(each.stem for each in clients) + "-trusted.p12")
    for each in clients if not trust.exists() else ():
        subprocess.run(
            [
                "keytool",
                "-importcert",
                "-noprompt",
                "-alias",
                each.stem,
                "-file",
                each,
                "-keystore",
                trust,
                "-storetype",
                "PKCS12",
                "-storepass",
                PASS,
            ],
            check=True,
            capture_output=True,
        )
    return f"{said};needClientAuth=true;trustStorePath={trust};trustStorePassword={PASS};trustStoreType=PKCS12"


# -- no room ----------------------------------------------------------------------------------------------------------


def full(policy: str) -> str:
    sizes = "<max-size-bytes>20K</max-size-bytes><page-size-bytes>10K</page-size-bytes>"
    return f"{sizes}<address-full-policy>{policy}</address-full-policy>"


@pytest.mark.parametrize("policy", ["FAIL", "BLOCK"])
def test_a_full_address_is_waited_for(policy: str, broker: TargetBroker, data: Path, tmp_path: Path) -> None:
    broker.start(tmp_path / "target", full(policy), ";amqpCredits=10;amqpLowCredits=5")
    state = tmp_path / "state"
    words = [
        "messages",
        "send",
        str(data),
        "--to",
        broker.url,
        "--queue",
        f"mixed::{QUEUE}",
        "--checkpoint",
        str(state),
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "pagectl", *words],
        env=environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    time.sleep(12)
    assert process.poll() is None
    process.terminate()
    _, said = process.communicate(timeout=30)
    print(said)
    assert process.returncode == 143
    assert ("waiting for room" if policy == "FAIL" else "the broker accepts no more messages at the moment") in said
    arrived = broker.empty(QUEUE)
    assert 0 < arrived < COUNT
    for _ in range(20):
        process = subprocess.Popen([sys.executable, "-m", "pagectl", *words], env=environment())
        end = time.monotonic() + 8
        while process.poll() is None and time.monotonic() < end:
            time.sleep(1)
            arrived += max(0, broker.empty(QUEUE))
        process.terminate()
        process.wait(30)
        if process.returncode == 0:
            break
    arrived += max(0, broker.empty(QUEUE))
    assert (process.returncode, arrived) == (0, COUNT)


def test_an_address_that_drops_is_sent_nothing(broker: TargetBroker, data: Path, tmp_path: Path) -> None:
    broker.start(tmp_path / "target", full("DROP"))
    answer = send(broker.url, data)
    assert answer.status == 1
    assert "its address-full-policy is DROP" in answer.err
    assert broker.count(QUEUE) < 1


def test_an_address_that_pages_takes_all(broker: TargetBroker, data: Path, tmp_path: Path) -> None:
    broker.start(tmp_path / "target", full("PAGE"))
    assert send(broker.url, data).status == 0
    assert broker.count(QUEUE) == COUNT


def test_the_ids_that_a_broker_remembers_are_asked_for(broker: TargetBroker, data: Path, tmp_path: Path) -> None:
    broker.start(tmp_path / "target", "<id-cache-size>50</id-cache-size>")
    state = tmp_path / "state"
    assert send(broker.url, data, "--checkpoint", state).status == 0
    lines = [line for line in state.read_text().splitlines() if '"settled":0' in line or "pagectl" in line]
    assert '"begun":50' in lines[1]
    state.write_text("\n".join(lines).replace('"begun":50', '"begun":60') + "\n")
    answer = send(broker.url, data, "--checkpoint", state)
    assert answer.status == 2
    assert "60 messages of mixed::b.mixed may have been sent, and the broker remembers 50 duplicate ids" in answer.err
