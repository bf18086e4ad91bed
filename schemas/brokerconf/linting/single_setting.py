"""Check of one setting outside a file, as if it were written into one: by the schema, then by the reader."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from xml.sax.saxutils import escape

from brokerconf.reading.substitution import is_expression
from pagefmt.editions import Edition


@lru_cache(maxsize=4096)  # every replay of a sweep asks again
def setting_fault(name: str, text: str, edition: Edition, *, of_address: bool) -> str:
    """Return why a broker would not start with a setting of an address, or else of the broker; empty if it would."""
    from brokerconf.evidence.rule import Example, address_setting
    from brokerconf.linting.document_lint import start_faults
    from brokerconf.linting.examples import xml_of
    from brokerconf.linting.lint_report import LintContext
    from brokerconf.reading.reading import read_bytes

    if is_expression(text):
        return "a placeholder is not filled in here; give the value"
    if any(character < " " and character not in "\t\n\r" for character in text):
        return "control characters are not allowed in a configuration"
    written = escape(text)
    core = "" if of_address else f"<{name}>{written}</{name}>"
    settings = address_setting("#", **{name: written}) if of_address else ""
    raw = xml_of(Example(settings=settings, core=core, edition=edition)).encode("utf-8", "replace")
    document = read_bytes(raw, "", folder=Path(), edition=edition, properties={}, environment={})
    faults = start_faults(document, LintContext(edition=edition))
    return "; ".join(f"{fault.message}{f' ({fault.help})' if fault.help else ''}" for fault in faults)
