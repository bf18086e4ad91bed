"""What ``config drift`` compares: queues and addresses of the disk, and those of the configuration in force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from pagectl.opening.broker import OpenedBroker
from pagectl.running.exits import CallError
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from brokerconf.evidence.drift import Drift, StoredAddress, StoredQueue
    from brokerconf.evidence.queue_declarations import QueueDeclarations
    from brokerconf.settings.effective import EffectiveSettings

    from pagectl.opening.broker_configuration import BrokerConfiguration
    from pagectl.reports.config_drift import ConfigDrift
    from pagefmt.directory.bindings import Bindings, QueueBinding
    from pagefmt.outstanding.queue_totals import QueueContent
    from pagefmt.outstanding.state import PagingState


class ComparedBroker(NamedTuple):
    """A disk compared with a configuration.

    ``held``: what is outstanding for queues that are not declared, by id; None if that is not known. ``pages``: bytes
    of page files by address; those of damaged folders are missing. ``remarks``: what is not known, and why.
    """

    configuration: BrokerConfiguration
    drift: Drift
    held: dict[int, QueueContent] | None
    pages: Mapping[str, int]
    remarks: tuple[str, ...]

    def report(self) -> ConfigDrift:
        """Return the comparison as a report."""
        from pagectl.reports.config_drift import ConfigDrift

        configuration = self.configuration
        return ConfigDrift.of(
            self.drift,
            self.held,
            self.pages,
            configuration=str(configuration.start.config),
            edition=configuration.edition,
            remarks=self.remarks,
        )


def compared(broker: OpenedBroker) -> ComparedBroker:
    """Compare the queues and addresses on disk with the declared ones.

    Raises ``CallError`` if there is no configuration, or if it is not known which queues exist.
    """
    from brokerconf.evidence.drift import drift

    from pagefmt.outstanding.queue_totals import held_by
    from pagefmt.vectors import load_place

    configuration, place = broker.configuration, broker.place
    if configuration is None:
        raise CallError(f"{place.given}: no configuration beside it; name the instance, or the file with --config")
    state = load_place(place)
    unknown = state.known.unknown_bindings
    if unknown is not None or state.bindings is None:
        raise CallError(f"{place.given}: {unknown.reason if unknown else 'no bindings'}; nothing can be compared")
    settings, declared = declarations(configuration)
    pages = Counter[str]()
    for store in state.paging.stores():
        if store.address is not None:
            pages[store.address] += sum(page.size for page in store.pages)
    result = drift(settings, declared, _queues(state.bindings), _addresses(state.bindings, pages))
    wanted = {difference.queue.id for difference in (*result.left, *result.expected) if difference.queue is not None}
    bindings = [state.bindings.queues[number] for number in sorted(wanted)]
    is_known = state.known.unknown_journal is None
    held = held_by(state, bindings) if is_known else None
    return ComparedBroker(configuration, result, held, pages, tuple(_remarks(state, held)))


def declarations(configuration: BrokerConfiguration) -> tuple[EffectiveSettings, QueueDeclarations]:
    """Return the settings in force, and the queues and addresses that the configuration declares."""
    from brokerconf.settings.effective import EffectiveSettings
    from brokerconf.settings.overrides import apply

    settings = EffectiveSettings(configuration.document, heap=configuration.start.heap)
    apply(settings, configuration.entries)
    return settings, configuration.declared(settings)


def declared_at(broker: OpenedBroker, queue: QueueBinding) -> str | None:
    """Return where the configuration declares a queue; None if it does not, or if none was opened."""
    if broker.configuration is None:
        return None
    declared = declarations(broker.configuration)[1].queues.get((queue.address, queue.name))
    return str(declared.place) if declared else None


def _queues(bindings: Bindings) -> Iterator[StoredQueue]:
    from brokerconf.evidence.drift import StoredQueue

    for queue in bindings.queues.values():
        yield StoredQueue(queue.id, queue.name, queue.address, queue.routing, queue.filter, queue.fields)


def _addresses(bindings: Bindings, pages: Mapping[str, int]) -> Iterator[StoredAddress]:
    """Yield addresses that have a record, and in 2.x also those that only have pages, which no broker reads."""
    from brokerconf.evidence.drift import StoredAddress

    recorded = {record.name for record in bindings.addresses.values()}
    for address in bindings.addresses.values():
        yield StoredAddress(address.name, bool(address.auto_created), bool(address.internal))
    bound = {queue.address for queue in bindings.queues.values()}
    for name in sorted(pages.keys() - recorded - bound):
        if pages[name]:
            yield StoredAddress(name, auto_created=False, internal=False, recorded=False)


def _remarks(state: PagingState, held: dict[int, QueueContent] | None) -> Iterator[str]:
    from pagefmt.journal.record_types import RecordType

    if state.known.unknown_journal is not None:
        yield state.known.unknown_journal.reason
    yield from state.known.lost()
    yield from sorted({queue.unknown for queue in (held or {}).values() if queue.unknown})
    stored = (RecordType.ADDRESS_SETTING_RECORD, RecordType.ADDRESS_SETTING_RECORD_JSON)
    if state.bindings is not None and (settings := len(state.bindings.loaded.rows_of(*stored))):
        counted = count_text(settings, "address setting")
        yield f"{counted} set through management: they take precedence over the file and are not considered here"
    if state.live:
        yield "a broker is running: its changes since it started may be on disk already"
