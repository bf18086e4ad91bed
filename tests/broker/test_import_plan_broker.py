"""``messages import-plan`` judged by the brokers' own importer: what arrives, where it stops, a second import."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from broker_jars import CURRENT, class_path, compiled, oracle
from import_cases import IMPORTS

from pagefmt.editions import Edition
from pagefmt.exchange.xml_reading import ImportPlan, import_plan

pytestmark = [pytest.mark.broker, pytest.mark.timeout(1800)]
PROGRAM = Path(__file__).resolve().parents[1] / "oracle_java" / "XmlImport.java"
SEVERAL_QUEUES = ("sound", "queue twice")
"""Each of their messages comes to more than one queue, or twice to one."""

Queues = dict[str, tuple[str, int, int]]


def imported(version: str, folder: Path) -> dict[str, list[tuple[bool, Queues]]]:
    """Import every file twice with the broker's importer.

    Return for each case and import whether it completed, and address, messages and bytes of each queue.
    """
    (folder / "classes").mkdir()
    classes = compiled(PROGRAM, class_path(version), folder / "classes")
    words = [word for name in IMPORTS for word in (str(folder / f"{name}.xml"), str(folder / name))]
    told = subprocess.run(
        ["java", "-Xmx600m", "-XX:+UseSerialGC", "-cp", classes, "XmlImport", "--twice", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    ).stdout
    found: dict[str, list[tuple[bool, Queues]]] = {name: [] for name in IMPORTS}
    queues: Queues = {}
    for line in told.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("done", "failed"):
            queues = {}
            found[Path(rest.partition(".xml")[0]).name].append((word == "done", queues))
        elif not line.startswith("queue\t$"):
            _, name, address, _, messages, size = line.split("\t")
            queues[name] = address, int(messages), int(size)
    return found


def wrong(name: str, plan: ImportPlan, times: list[tuple[bool, Queues]]) -> str | None:
    (done, first), (_, second) = times
    said = {queue.name: (queue.address, queue.messages, queue.bytes) for queue in plan.queues.values()}
    if plan.expired:  # nobody is shown their bodies
        said, first = ({each: (*of[:2], 0) for each, of in queues.items()} for queues in (said, first))
    if (plan.stop is None, said) != (done, first):
        return f"{name}: planned {plan.stop} {said}, it was {done} {first}"
    more = sum(queue[1] for queue in second.values()) - sum(queue[1] for queue in first.values())
    if done and name not in SEVERAL_QUEUES and more != plan.again:
        return f"{name}: {more} more by a second import, planned {plan.again}"
    return None


@pytest.mark.parametrize("version", CURRENT)
def test_the_importer_does_what_the_plan_says(version: str, tmp_path: Path) -> None:
    oracle()
    plans = {}
    for name, text in IMPORTS.items():
        file = tmp_path / f"{name}.xml"
        file.write_bytes(text.encode())
        plans[name] = import_plan(file, Edition(f"artemis-{version.removesuffix('.0')}"))
    told = imported(version, tmp_path)
    problems = [problem for name in IMPORTS if (problem := wrong(name, plans[name], told[name]))]
    print(f"{version}: {len(IMPORTS)} files, {sum(plan.stop is not None for plan in plans.values())} of which stop")
    assert problems == []
