"""What the broker accepts in silence and takes for something else (spec/config-behaviour.md): warnings of ours.

None of these is an error: the broker starts. Those that the settings themselves explain are rules (``rules/``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from brokerconf.checks.accepted_in_core import CoreSilences, finding_at
from brokerconf.reading.document import Document, Kind
from pagefmt.findings import Finding, Severity

_DECLARED = re.compile(r"""^<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"']*)["']""")


def silence_findings(document: Document, *, cwd_given: bool = False) -> list[Finding]:
    """All of them; with ``cwd_given`` the broker's working directory is known and includes need no remark."""
    if document.kind is Kind.EAP6:
        return []
    found = [*_whole_file(document), *_placeholders(document)]
    if not cwd_given:
        found += _includes(document)
    if document.core is not None:
        found += CoreSilences(document, document.core).findings()
    return found


def _whole_file(document: Document) -> Iterator[Finding]:
    root = document.root
    if document.core is None:
        yield finding_at(
            root.position,
            "core-not-found",
            Severity.WARNING,
            "the broker finds no <core> in this file",
            'write <core xmlns="urn:activemq:core"> below <configuration>, without a prefix',
            "it starts all the same, with nothing but its defaults: no acceptors, no settings, data in ./data",
            root,
        )
    elif document.kind is Kind.ARTEMIS:
        yield from _unread_parts(document)
    yield from _encoding(document)


def _unread_parts(document: Document) -> Iterator[Finding]:
    for node in document.root.children:
        if node is not document.core and node is not document.jms:
            yield finding_at(
                node.position,
                "part-not-read",
                Severity.WARNING,
                f"<{node.tag}> here is neither checked nor read",
                "move what it holds into the first <core>",
                "the broker takes the first <core> and the first <jms>",
                node,
            )


def _encoding(document: Document) -> Iterator[Finding]:
    start = document.source.position(0)
    why = "the broker decodes the file by the platform's encoding (UTF-8) and does not look at the declaration"
    if document.badly_decoded:
        yield finding_at(
            start,
            "encoding-ignored",
            Severity.WARNING,
            "bytes that are no UTF-8: the broker reads them as \N{REPLACEMENT CHARACTER}",
            "save the file as UTF-8",
            why,
        )
        return
    declared = _DECLARED.match(document.source.text)
    if declared and declared.group(1).lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
        plain = document.source.text.isascii()
        severity = Severity.INFO if plain else Severity.WARNING
        yield finding_at(
            start,
            "encoding-ignored",
            severity,
            f"the declared encoding '{declared.group(1)}' is not what counts",
            'declare encoding="UTF-8"',
            why,
        )


def _placeholders(document: Document) -> Iterator[Finding]:
    for source in document.sources:
        for found in source.replaced.placeholders:
            end = source.original.find("}", found.offset)
            inside = source.original[found.offset : end]
            if "<" in inside or "\n" in inside:
                yield finding_at(
                    source.position(found.offset),
                    "placeholder-swallows",
                    Severity.WARNING,
                    "'${' is closed only further on: all between is taken for the name of a property",
                    "close it with '}' where it ends",
                    "the text between is gone before the file is parsed",
                )
        open_one = source.text.rfind("${")
        if open_one >= 0 and "}" not in source.text[open_one:]:
            yield finding_at(
                source.of_parsed(open_one),
                "placeholder-unclosed",
                Severity.WARNING,
                "'${' without '}'",
                "close it with '}'",
                "the broker leaves it, and replaces nothing more after it",
            )


def _includes(document: Document) -> Iterator[Finding]:
    for source in document.sources[1:2]:
        yield finding_at(
            document.root.position,
            "include-working-directory",
            Severity.INFO,
            f"{source.path} and other includes are looked for in the broker's working directory",
            "start the broker in the folder that the names are relative to, and check with --cwd",
            "the broker's parser is not told where the file lies",
            document.root,
        )
