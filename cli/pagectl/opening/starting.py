"""Whether a broker starts with a configuration: the one place where commands decide whether they answer from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagectl.running.exits import CallError
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import note, warning
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagectl.opening.broker_configuration import BrokerConfiguration
    from pagefmt.findings import Finding

MOST = 3  # findings that one line of error quotes


def start_faults(config: BrokerConfiguration) -> list[Finding]:
    """Return the findings of ``config lint`` with which no broker of the edition in force starts."""
    if _passes_checks(config):
        return []
    from brokerconf.linting.document_lint import start_faults as faults_of
    from brokerconf.linting.lint_report import LintContext

    context = LintContext(properties=config.start.system, entries=config.entries, heap=config.start.heap)
    return faults_of(config.document, context)


def _passes_checks(configuration: BrokerConfiguration) -> bool:
    """Return whether a configuration without properties passes schema and reader, so that rules need no import."""
    from brokerconf.checks.value_checks import value_findings
    from brokerconf.schema.validation import judge
    from brokerconf.settings.effective import EffectiveSettings

    document = configuration.document
    if configuration.entries or len(document.cores) > 1 or judge(document).broker:
        return False
    return not value_findings(document, EffectiveSettings(document))


def require_start(configuration: BrokerConfiguration, *, anyway: bool) -> None:
    """Raise ``CallError`` for a configuration with which no broker starts; with ``anyway``, warn of it instead."""
    faults = start_faults(configuration)
    if not faults:
        return
    sentence = no_start(configuration, faults)
    if not anyway:
        raise CallError(f"{sentence}; correct it, or give --anyway for an answer from what is left of it")
    warning(f"{sentence}; this answer is from what is left of it")


def note_no_start(configuration: BrokerConfiguration) -> None:
    """Note that no broker starts with a configuration of which a command uses only directories or names."""
    faults = start_faults(configuration)
    if faults:
        note(no_start(configuration, faults))


def no_start(configuration: BrokerConfiguration, faults: list[Finding]) -> str:
    """Return the sentence that no broker starts with a configuration, with the first findings that say so."""
    reasons = "; ".join(one_line(f"{fault.place}: {fault.message} ({fault.rule})") for fault in faults[:MOST])
    more = len(faults) - MOST
    others = f"; and {count_text(more, 'more finding')} of config lint" if more > 0 else ""
    return f"{configuration.start.config}: no broker of {configuration.edition.value} starts with it: {reasons}{others}"
