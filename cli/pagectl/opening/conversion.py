"""A configuration in another form, for ``config convert``."""

from __future__ import annotations

from pathlib import Path

from brokerconf.properties.application import REMOVE, apply_all
from brokerconf.properties.writing import as_json, as_properties, as_yaml
from brokerconf.reading.properties import SUFFIXES
from brokerconf.settings.conversion import as_entries, as_xml

from pagectl.opening.broker_configuration import BrokerConfiguration
from pagectl.options.formats import ConvertTo
from pagectl.running.exits import CallError


def converted(file: Path, opened: BrokerConfiguration, to: ConvertTo) -> tuple[str, list[str]]:
    """Return the configuration in a form, and what has no counterpart in that form.

    Raises ``CallError`` for ``--to xml`` of a file that is XML already.
    """
    document = opened.document
    outcomes = apply_all(opened.entries, document.edition, document.core)
    if opened.start.config.suffix in SUFFIXES and document.secret is None:
        pairs: list[tuple[tuple[str, ...], str]] = []
        text, left = as_xml(outcomes, document.edition) if to is ConvertTo.xml else ("", [])
    elif to is ConvertTo.xml:
        raise CallError(f"{file}: --to xml works with properties, JSON and YAML only")
    else:
        pairs, left = as_entries(document)
    # properties beside a broker.xml come after it, in the order in which the broker applies them
    pairs += [(outcome.path, outcome.entry.value) for outcome in outcomes]
    left += [
        f"{entry.position}: {entry.key}" for entry in opened.entries if entry.key == REMOVE and to is not ConvertTo.xml
    ]
    if to is ConvertTo.properties:
        text = as_properties(pairs)
    elif to is not ConvertTo.xml:
        text, more = (as_json if to is ConvertTo.json else as_yaml)(pairs)
        left += more
    return text, left
