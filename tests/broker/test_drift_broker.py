"""What ``config drift`` says of a start, judged by real brokers: which queues are gone when one has started.

A queue that the configuration once declared, one of a client and one that was auto-created, on an address that is
declared or not, with either setting, both or none at FORCE. Legacy directories were made through management: their
records are changed to say what a configuration would have written.
"""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path

import pytest
from broker_drains import drains, failure, queues
from broker_jars import oracle
from editions_of import EDITION_OF
from golden_cases import GoldenCase
from harmed import json_of
from program import call

from pagefmt.directory.bindings import QueueBinding, encode_queue, load_bindings

pytestmark = [pytest.mark.broker, pytest.mark.timeout(1800)]
CASES = {
    "2.10.1": "topic-acks",
    "2.17.0": "topic-acks",
    "2.28.0": "multicast-acks",
    "2.44.0": "multicast-acks",
    "2.56.0": "multicast-acks",
}
FORCED = [tuple(each) for n in range(3) for each in itertools.combinations(("queues", "addresses"), n)]
MADE = (("configuration_managed", 255), ("configuration_managed", 0), ("auto_created", 255))


def rewritten(data: Path) -> str:
    """Change the origin of each queue of the address with the most queues, and return that address."""
    bindings = load_bindings(data / "bindings")
    by_address = {queue.address: bindings.queues_of(queue.address) for queue in bindings.queues.values()}
    address, found = max(by_address.items(), key=lambda each: len(each[1]))
    for queue, (name, value) in zip(found, itertools.cycle(MADE), strict=False):
        fields = dict(queue.fields) | {"configuration_managed": 0, "auto_created": 0, name: value}
        replace(data, queue, QueueBinding(queue.id, fields, queue.rest))
    return address


def replace(data: Path, old: QueueBinding, new: QueueBinding) -> None:
    before, after = encode_queue(old), encode_queue(new)
    assert len(before) == len(after)
    for path in (data / "bindings").glob("*.bindings"):
        path.write_bytes(path.read_bytes().replace(before, after))


def laid_out(version: str, forced: tuple[str, ...], declared: bool, to: Path) -> Path:
    folder = GoldenCase(version, CASES[version]).lay_out(to / f"{'-'.join(forced)}-{declared}")
    address = rewritten(folder / "data")
    path = folder / "broker.xml"
    text = re.sub(r"<addresses>.*</addresses>", "", path.read_text("utf-8"), flags=re.DOTALL)
    settings = "".join(f"<config-delete-{name}>FORCE</config-delete-{name}>" for name in forced)
    text = re.sub(r"(<address-full-policy>)", rf"{settings}\1", text, count=1)
    name = address if declared else "elsewhere"
    text = text.replace("</core>", f'<addresses><address name="{name}"><multicast/></address></addresses></core>')
    path.write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize("version", CASES)
def test_a_start_deletes_what_was_said(version: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    oracle()
    folders = [laid_out(version, forced, declared, tmp_path) for forced in FORCED for declared in (True, False)]
    told = drains(version, folders)
    wrong = []
    deleted = 0
    for folder in folders:
        assert not failure(told[folder]), failure(told[folder])
        answer = json_of(call("config", "drift", folder, "--edition", EDITION_OF[version].value, "--format", "json"))
        rows = [each for each in (*answer["only_on_disk"], *answer["made_by_clients"]) if each["kind"] == "queue"]
        assert len(rows) >= 3
        for each in rows:
            gone = each["queue"] not in queues(told[folder])
            deleted += gone
            if gone != each["deleted"]["in_force"]:
                wrong.append((folder.name, each["queue"], each["origin"], gone))
    with capfd.disabled():
        print(f"\n{version}: {len(folders)} starts, {deleted} queues deleted, {len(wrong)} not as said")
    assert wrong == []
    shutil.rmtree(tmp_path)
