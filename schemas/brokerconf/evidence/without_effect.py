"""Settings that match an address and have no effect (docs/spec/config-behaviour.md 7, docs/spec/settings.md 4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from brokerconf.evidence.queue_declarations import QueueDeclarations
from brokerconf.settings.address_settings import Values
from brokerconf.settings.effective import EffectiveSettings
from pagefmt.editions import Edition
from pagefmt.findings import some

# Address settings that a queue declared by an element ignores, and the attribute that sets the same.
NOT_FOR_ELEMENTS: Final = {"default-ring-size": "ring-size", "default-purge-on-no-consumers": "purge-on-no-consumers"}
# Settings from which management addresses are exempt, with the value that has no effect anyway.
NOT_FOR_MANAGEMENT: Final = {
    "max-size-bytes": -1,
    "max-size-messages": -1,
    "address-full-policy": "PAGE",
    "page-limit-bytes": -1,
    "page-limit-messages": -1,
    "page-full-policy": None,
    "disk-full-policy": None,
    "max-size-bytes-reject-threshold": -1,
}
_OF_PAGES: Final = ("page-", "max-read-page-", "prefetch-page-")


def exempt_prefix(settings: EffectiveSettings) -> str | None:
    """Return how addresses without limits and pages begin, the management address; None if there are none."""
    management = settings.broker()["management-address"].value
    late = settings.edition >= Edition.ARTEMIS_2_10
    return management if late and isinstance(management, str) and management else None


def without_effect(settings: EffectiveSettings, declared: QueueDeclarations, address: str) -> dict[str, str]:
    """Return the settings of an address that do nothing there, each with the reason."""
    return dict(_reasons(settings, declared, address, settings.address(address)))


def _reasons(
    settings: EffectiveSettings, declared: QueueDeclarations, address: str, values: Values
) -> Iterator[tuple[str, str]]:
    prefix = exempt_prefix(settings)
    if prefix is not None and address.startswith(prefix):
        for name in values:
            if name in NOT_FOR_MANAGEMENT or name.startswith(_OF_PAGES):
                yield name, "addresses that begin with the management address have no limits and no pages"
    for name, attribute in NOT_FOR_ELEMENTS.items():
        queues = queues_without(declared, attribute).get(address, [])
        if queues and name in values and values[name].origin is not None:
            are, its = ("is", "takes its") if len(queues) == 1 else ("are", "take their")
            yield name, f"{some(queues)} {are} declared by an element and {its} own {attribute} alone"


def queues_without(declared: QueueDeclarations, attribute: str) -> dict[str, list[str]]:
    """Return the queues that elements declare without an attribute, by address."""
    field, queues = attribute.replace("-", "_"), defaultdict(list)
    for (address, _), queue in declared.queues.items():
        if queue.by_element and field not in queue.given:
            queues[address].append(queue.name)
    return dict(queues)
