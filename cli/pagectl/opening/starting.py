"""Whether a broker starts with a configuration: the one place where commands decide whether they answer from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagectl.running.exits import CallError
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import note, warning
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagectl.opening.configuration import BrokerConfiguration
    from pagefmt.findings import Finding

MOST = 3  # findings that one line of error quotes


def start_faults(found: BrokerConfiguration) -> list[Finding]:
    """Return the findings of ``config lint`` with which no broker of the edition in force starts."""
    if _passes_checks(found):
        return []
    from brokerconf.linting.lint import LintContext
    from brokerconf.linting.lint import start_faults as faults_of

    context = LintContext(properties=found.start.system, entries=found.entries, heap=found.start.heap)
    return faults_of(found.document, context)


def _passes_checks(found: BrokerConfiguration) -> bool:
    """Return whether schema and reader pass a configuration without properties: no rule has to be imported then."""
    from brokerconf.checks.value_checks import value_findings
    from brokerconf.schema.validation import judge
    from brokerconf.settings.effective import EffectiveSettings

    document = found.document
    if found.entries or len(document.cores) > 1 or judge(document).broker:
        return False
    return not value_findings(document, EffectiveSettings(document))


def require_start(found: BrokerConfiguration, *, anyway: bool) -> None:
    """Raise ``CallError`` for a configuration with which no broker starts; with ``anyway``, warn of it instead."""
    faults = start_faults(found)
    if not faults:
        return
    said = no_start(found, faults)
    if not anyway:
        raise CallError(f"{said}; correct it, or give --anyway for an answer from what is left of it")
    warning(f"{said}; this answer is from what is left of it")


def note_no_start(found: BrokerConfiguration) -> None:
    """Note that no broker starts with a configuration from which a command takes directories or names alone."""
    faults = start_faults(found)
    if faults:
        note(no_start(found, faults))


def no_start(found: BrokerConfiguration, faults: list[Finding]) -> str:
    """Return the sentence that no broker starts with a configuration, with the first findings that say so."""
    told = "; ".join(one_line(f"{each.place}: {each.message} ({each.rule})") for each in faults[:MOST])
    more = len(faults) - MOST
    others = f"; and {count_text(more, 'more finding')} of config lint" if more > 0 else ""
    return f"{found.start.config}: no broker of {found.edition.value} starts with it: {told}{others}"
