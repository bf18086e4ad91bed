"""``pagefmt.library``: the messages, states and damages that ``pages decode`` and ``pages outstanding`` have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from golden_cases import GoldenCase, cases, cases_of_each_kind
from program import call

from pagefmt.directory.locate import LocateError
from pagefmt.errors import PageFmtError
from pagefmt.library import DamagedPage, PageDamage, open_directory
from pagefmt.outstanding.message_filter import NoSuchQueue
from pagefmt.outstanding.state import CannotKnow


@pytest.mark.parametrize("case", cases_of_each_kind(), ids=str)
def test_the_same_as_decode(case: GoldenCase) -> None:
    data = case.data()
    damage: list[PageDamage] = []
    broker = open_directory(data)
    found = list(broker.messages(damage=damage, body="text"))
    lines = call("messages", "decode", data, "--format", "jsonl", "--body", "text").lines()
    lines = [line for line in lines if "damage" not in line]
    ids = {queue.name: id for id, queue in broker.queues.items()}
    assert [_of(message, ids) for message in found] == [_of_line(line) for line in lines]
    journal = sum(line["page"] is None for line in lines)
    assert (broker.read_from["journal"], broker.read_from["pages"]) == (journal, len(lines) - journal)
    for within in ("pages", "journal"):
        some = [each.id for each in broker.messages(damage=[], within=within)]
        assert some == [line["id"] for line in lines if (line["page"] is None) is (within == "journal")]


def _of(message: Any, ids: dict[str, int]) -> tuple[Any, ...]:
    row = message.row
    assert message.acknowledged_by is None or [ids.get(name, name) for name in message.acknowledged_by] == [
        id if id in ids.values() else str(id) for id in row["acked_by"]
    ]
    return (
        message.address,
        message.page,
        message.number,
        message.id,
        message.size,
        message.timestamp,
        message.user_id,
        row["queues"],
        row["acked_by"],
        sorted(message.properties),
    )


def _of_line(line: dict[str, Any]) -> tuple[Any, ...]:
    return (
        line["store_address"],
        line["page"],
        line["number"],
        line["id"],
        line["length"],
        line["timestamp"],
        line["user_id"],
        line["queues"],
        line.get("acked_by"),
        sorted(line["properties"]),
    )


def test_properties_are_python_values() -> None:
    (case,) = [case for case in cases("2.28.0") if case.name == "core-types"]
    values = {
        type(value): value
        for message in open_directory(case.data()).messages()
        for value in message.properties.values()
    }
    assert {bool, int, float, str, bytes} <= set(values)


def test_outstanding_is_that_of_the_command() -> None:
    data = _news()
    (address,) = open_directory(data).outstanding()
    (store,) = json.loads(call("pages", "outstanding", data, "--format", "json").out)["stores"]
    assert {queue.name: queue.messages for queue in address.queues} == {
        queue["queue"]: queue["messages"] for queue in store["queues"]
    }
    for queue in address.queues:
        waiting = open_directory(data).arrow(queue=queue.id, outstanding=True, columns=["id"]).read_all()
        assert (waiting.num_rows, waiting.column_names) == (queue.messages, ["id"])


def test_an_address_alone() -> None:
    broker = open_directory(_news())
    (address,) = broker.addresses()
    assert address.name and len(list(broker.messages(address=address.name))) > 0 == len(
        list(broker.messages(address="none"))
    )


def test_damage_is_an_error_or_in_the_list() -> None:
    (case,) = [case for case in cases("2.17.0") if case.name == "torn"]
    seen = []
    with pytest.raises(DamagedPage, match=r"\.page: offset \d+: torn: .*pass a list"):
        seen += [message for message in open_directory(case.data()).messages()]  # noqa: C416 (what came before stays)
    with pytest.raises(DamagedPage):
        open_directory(case.data()).arrow().read_all()
    damage: list[PageDamage] = []
    assert len(list(open_directory(case.data()).messages(damage=damage))) > 0
    assert damage and damage[0].path.is_file() and damage[0].missing > 0


def test_what_is_not_known_is_none(tmp_path: Path) -> None:
    paging = _news() / "paging"
    (tmp_path / "paging").symlink_to(paging)
    alone = open_directory(tmp_path / "paging")
    assert len(alone.remarks) == 2 and next(alone.messages()).outstanding_for is None
    with pytest.raises(CannotKnow, match="give journal and bindings"):
        list(alone.messages(outstanding=True))
    whole = open_directory(tmp_path / "paging", journal=_news() / "journal", bindings=_news() / "bindings")
    assert whole.remarks == () and next(whole.messages()).outstanding_for is not None


@pytest.mark.parametrize(
    ("wrong", "raised", "said"),
    [
        ({"queue": "nosuch"}, NoSuchQueue, "nosuch"),
        ({"where": "color = "}, PageFmtError, "color"),
        ({"body": "all"}, ValueError, "all"),
        ({"columns": ["page", "pgae"]}, ValueError, "pgae"),
        ({"addresses": "x"}, TypeError, "addresses"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said(wrong: dict[str, Any], raised: type[Exception], said: str) -> None:
    with pytest.raises(raised, match=said):
        open_directory(_news()).arrow(**wrong)


def test_a_path_that_is_nothing(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(LocateError):
            open_directory(path)


def _news() -> Path:
    (case,) = [case for case in cases("2.56.0") if case.name == "scattered-acks"]
    return case.data()
