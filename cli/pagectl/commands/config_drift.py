"""``pagectl config drift``: queues and addresses on the disk against those that the configuration declares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import CwdOption, DefineOption, DirArgument, EditionOption, TextOrJsonOption
from pagectl.running.exits import Exit
from pagectl.terminal.sanitise import one_line

if TYPE_CHECKING:
    from brokerconf.evidence.drift import Deletion, Differing, LeftOver, Missing

    from pagectl.opening.broker import OpenedBroker
    from pagectl.opening.drift import ComparedBroker


EXAMPLES = (("Queues that are on disk but no longer declared", "config drift /var/lib/broker"),)


def command(
    given: DirArgument = None,
    form: TextOrJsonOption = TextOrJson.text,
    edition: EditionOption = None,
    broker: BrokerOptions = BrokerOptions(),
    cwd: CwdOption = None,
    define: DefineOption = None,
) -> int:
    """Show queues and addresses that are on disk but not declared, declared but not on disk, or different.

    For each undeclared one: what it holds, and whether a start or reload deletes it, by config-delete-queues and
    config-delete-addresses as configured and with FORCE. Ends with status 1 if something differs.
    """
    from pagectl.opening.broker import open_broker
    from pagectl.opening.drift import compared
    from pagectl.terminal.streams import note, print_json

    reading = replace(broker.reading(edition, cwd=cwd, define=define), names_environment=True)
    opened = open_broker(given, broker.broker_xml, reading)
    found = compared(opened)
    for remark in found.remarks:
        note(remark)
    if form is TextOrJson.json:
        print_json(_object(opened, found))
    else:
        _print(found)
    return Exit.FOUND if found.drift.exists else Exit.OK


def _object(broker: OpenedBroker, found: ComparedBroker) -> dict[str, Any]:
    configuration = broker.configuration
    return {
        "configuration": str(configuration.start.config) if configuration else None,
        "edition": configuration.edition.value if configuration else None,
        "only_on_disk": [_left(each, found) for each in found.drift.left],
        "only_declared": [_missing(each) for each in found.drift.missing],
        "different": [_differing(each) for each in found.drift.differing],
        "made_by_clients": [_left(each, found) for each in found.drift.expected],
        "internal": found.drift.internal,
        "remarks": list(found.remarks),
    }


def _left(each: LeftOver, found: ComparedBroker) -> dict[str, Any]:
    messages, size = _sums(each, found)
    return {
        "kind": "address" if each.queue is None else "queue",
        "address": each.address,
        "queue": each.queue.name if each.queue else None,
        "origin": each.origin.value,
        "messages": messages,
        "bytes": size,
        "address_page_bytes": found.pages.get(each.address, 0),
        "deleted": {
            "in_force": each.deletion.in_force,
            "config-delete-queues=FORCE": each.deletion.by_queues,
            "config-delete-addresses=FORCE": each.deletion.by_addresses,
        },
    }


def _sums(each: LeftOver, found: ComparedBroker) -> tuple[int | None, int | None]:
    """Of a queue; an address by itself holds nothing but its pages."""
    if each.queue is None or found.held is None:
        return None, None
    return found.held[each.queue.id].sums


def _missing(each: Missing) -> dict[str, Any]:
    return {
        "kind": "address" if each.queue is None else "queue",
        "address": each.address,
        "queue": each.queue,
        "file": each.place.file,
        "line": each.place.line,
    }


def _differing(each: Differing) -> dict[str, Any]:
    return {
        "address": each.queue.address,
        "queue": each.queue.name,
        "field": each.field,
        "on_disk": each.stored,
        "declared": each.declared,
        "file": each.place.file,
        "line": each.place.line,
        "changed_at_start": each.changed,
    }


def _print(found: ComparedBroker) -> None:
    from pagectl.terminal.streams import print_table

    drift = found.drift
    for heading, rows in (("on disk, not declared", drift.left), ("created by clients", drift.expected)):
        if rows:
            print(f"{heading}:")
            columns = ("MESSAGES", "BYTES", "PAGES", "ORIGIN", "AT START", "IF FORCE", "QUEUE")
            print_table(columns, (_row(each, found) for each in rows), right=columns[:3])
    for each in drift.missing:
        name = f"address {each.address}" if each.queue is None else f"queue {each.address}::{each.queue}"
        print(f"declared, not on disk: {one_line(name)} ({one_line(str(each.place))})")
    for one in drift.differing:
        at = "the next start changes it" if one.changed else "a start does not change it"
        print(f"different: {one_line(f'{one.queue.address}::{one.queue.name}')} {one.field}: "
              f"{_shown(one.stored)} on disk, {_shown(one.declared)} declared "
              f"({one_line(str(one.place))}); {at}")  # fmt: skip
    if not drift.exists:
        print("disk and configuration agree")


def _row(each: LeftOver, found: ComparedBroker) -> tuple[str, ...]:
    from pagefmt.quantities import size_text

    messages, size = _sums(each, found)
    unknown = "-" if each.queue is None else "?"
    return (
        unknown if messages is None else str(messages),
        unknown if size is None else size_text(size),
        size_text(found.pages.get(each.address, 0)),
        "pages only" if not each.recorded else each.origin.value,
        "deleted" if each.deletion.in_force else "stays",
        ", ".join(_forced(each.deletion)) or "stays",
        f"{each.address}::{each.queue.name}" if each.queue else f"(address) {each.address}",
    )


def _forced(deletion: Deletion) -> Iterator[str]:
    if deletion.by_queues:
        yield "queues"
    if deletion.by_addresses:
        yield "addresses"


def _shown(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else one_line(str(value))
