"""The backlogs of a fleet as one HTML file: the queues that hold most, brokers, what is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagectl.outputs.html_page import foot, head, table
from pagectl.outputs.svg_chart import safe
from pagefmt.quantities import count_text, size_text, time_text

if TYPE_CHECKING:
    from pagefmt.spark.exporting import Exported

# queues and brokers shown, the largest ones; the table of ``--what outstanding`` has all of them
SHOWN = 500
_NUMBERS = ("waiting", "bytes", "pages", "holds", "alone", "oldest")
_QUEUE = (("queue", False), ("address", False), ("broker", False), *((name, True) for name in _NUMBERS))
_BROKER = (("broker", False), ("queues", True), ("waiting", True), ("holds", True), ("oldest", True))
# rows of a table of ``outstanding``, with ``oldest`` in milliseconds
Backlogs = Sequence[Mapping[str, Any]]


def fleet_html(backlogs: Backlogs, brokers: int, failed: Mapping[str, str], at: int) -> str:
    """Return the text of the HTML file.

    ``brokers`` is the number of brokers read, ``failed`` the reason for each that could not be read, ``at`` the time in
    milliseconds.
    """
    return "".join(_page(backlogs, brokers, failed, at))


def write_fleet_html(to: Path, exported: Exported, at: int) -> None:
    """Write the backlogs of an export, if they were counted, as private as the pages. ``at``: time (ms)."""
    from pagefmt.storage.writing import write_bytes

    if exported.backlogs is not None:
        text = fleet_html(exported.backlogs.rows, exported.brokers, exported.failed, at)
        write_bytes(to, text.encode(), at_most=exported.rights)


def _page(backlogs: Backlogs, brokers: int, failed: Mapping[str, str], at: int) -> Iterator[str]:
    yield from head(f"Backlogs of {count_text(brokers, 'broker')}")
    queues = sorted((backlog for backlog in backlogs if backlog["queue"] is not None), key=_rank)
    waiting = sum(backlog["messages"] or 0 for backlog in queues)
    unknown = any(backlog["messages"] is None for backlog in backlogs) or bool(failed)
    as_known = " (as far as known)" if unknown else ""
    sentence = f"{count_text(waiting, 'message')}{as_known} wait in pages for {count_text(len(queues), 'queue')}"
    yield f'<p class="sub">{sentence}, {safe(time_text(at, "minutes"))}</p>'
    yield from _unknown(backlogs, failed)
    yield '<h2>Queues</h2><p class="soft">Alone: bytes of the pages that removing the queue would free.</p>'
    yield from table(_QUEUE, map(_queue, queues[:SHOWN]))
    yield from _rest(len(queues), "queue")
    totals = sorted(_brokers(queues), key=lambda row: (-row[3], row[0]))
    yield "<h2>Brokers</h2>"
    yield from table(
        _BROKER,
        (
            (name, str(count), _count(messages), size_text(held), _moment(oldest, messages))
            for name, count, messages, held, oldest in totals[:SHOWN]
        ),
    )
    yield from _rest(len(totals), "broker")
    yield foot("Written by pagectl export. ? means not known.")


def _rank(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the sort key of ``messages top``: most bytes held first, not known last."""
    alone, held = row["bytes_held_alone"], row["bytes_held"]
    return held is None, -(held or 0), -(alone or 0), row["broker"], row["store_address"] or "", row["queue"]


def _queue(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        row["queue"],
        "?" if row["store_address"] is None else row["store_address"],
        row["broker"],
        _count(row["messages"]),
        _size(row["bytes"]),
        _count(row["pages_held"]),
        _size(row["bytes_held"]),
        _size(row["bytes_held_alone"]),
        _moment(row["oldest"], row["messages"]),
    )


def _brokers(queues: Backlogs) -> Iterator[tuple[str, int, int | None, int, int | None]]:
    """Yield name, number of queues, messages, bytes held, and oldest time of each broker.

    Messages are None if a queue's are not known. A store counts once, with the most bytes that one of its queues holds.
    """
    by_broker: dict[str, list[Mapping[str, Any]]] = {}
    for queue in queues:
        by_broker.setdefault(queue["broker"], []).append(queue)
    for name, rows in by_broker.items():
        messages = [row["messages"] for row in rows]
        times = [row["oldest"] for row in rows if row["oldest"] is not None]
        total = None if None in messages else sum(messages)
        # pages that several queues hold count for the one that holds most
        stores: dict[str, int] = {}
        for row in rows:
            stores[row["store"]] = max(stores.get(row["store"], 0), row["bytes_held"] or 0)
        yield name, len(rows), total, sum(stores.values()), min(times, default=None)


def _unknown(backlogs: Backlogs, failed: Mapping[str, str]) -> Iterator[str]:
    remarks = [(name, why) for name, why in failed.items()]
    remarks += [(f"{row['broker']}: {row['store_address'] or row['store']}", row["remark"]) for row in _first(backlogs)]
    if remarks:
        yield '<h2>Not known, or damaged</h2><ul class="findings">'
        yield from (f'<li class="w1">{safe(where)}: {safe(why)}</li>' for where, why in remarks[:SHOWN])
        yield "</ul>"
        yield from _rest(len(remarks), "remark")


def _first(backlogs: Backlogs) -> Iterable[Mapping[str, Any]]:
    """Return one row for each store that has a remark."""
    return {(row["broker"], row["store"]): row for row in backlogs if row["remark"]}.values()


def _rest(count: int, what: str) -> Iterator[str]:
    if count > SHOWN:
        yield f'<p class="soft">… and {count_text(count - SHOWN, what)} more.</p>'


def _count(number: int | None) -> str:
    return "?" if number is None else str(number)


def _size(number: int | None) -> str:
    return "?" if number is None else size_text(number)


def _moment(oldest: int | None, messages: int | None) -> str:
    return time_text(oldest, "minutes") or ("?" if messages != 0 else "")
