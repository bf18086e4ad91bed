"""Warnings about what the broker accepts silently and reads differently (docs/spec/config-behaviour.md).

None of these is an error: the broker starts. Warnings about the values of settings are rules (``rules/``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from brokerconf.checks.accepted_in_core import SilentlyAccepted, warning
from brokerconf.reading.document import Document, FileKind
from pagefmt.findings import Finding, Fix, Severity

_DECLARED = re.compile(r"""^<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"']*)["']""")


def silence_findings(document: Document, *, cwd_given: bool = False) -> list[Finding]:
    """Return the findings about what a broker accepts without a word and then ignores or reads differently.

    With ``cwd_given`` the broker's working directory is known, and includes need no remark.
    """
    of_fragment = list(_fragment(document))
    if document.kind.of_application_server:
        return [*of_fragment, *_without_messaging(document)]
    findings = [*of_fragment, *_whole_file(document), *_placeholders(document)]
    if not cwd_given:
        findings += _includes(document)
    if document.core is not None:
        findings += SilentlyAccepted(document, document.core).findings()
    return findings


def _fragment(document: Document) -> Iterator[Finding]:
    if document.taken_for:
        yield Finding(
            document.source.position(0),
            Severity.INFO,
            "fragment",
            f"checked as part of a configuration: {document.taken_for}",
            help="name the complete file to have it checked as the broker reads it",
            why="a broker reads a complete file; this part is checked as if it were in its place",
        )


def _without_messaging(document: Document) -> Iterator[Finding]:
    if not document.cores:
        yield warning(
            "core-not-found",
            document.root,
            "no messaging subsystem with a server in this file: nothing was checked",
            "name the file of the server, or of the domain, that has one",
            "no broker reads settings from it",
        )


def _whole_file(document: Document) -> Iterator[Finding]:
    if document.core is None:
        yield warning(
            "core-not-found",
            document.root,
            "the broker finds no <core> in this file",
            'write <core xmlns="urn:activemq:core"> below <configuration>, without a prefix',
            "it starts anyway, with nothing but its defaults: no acceptors, no settings, data in ./data",
        )
    elif document.kind is FileKind.ARTEMIS:
        yield from _unread_parts(document)
    yield from _encoding(document)


def _unread_parts(document: Document) -> Iterator[Finding]:
    for node in document.root.children:
        if node is not document.core and node is not document.jms:
            message, help = f"<{node.tag}> here is neither checked nor read", "move what it holds into the first <core>"
            yield warning(
                "part-not-read", node, message, help, "the broker reads only the first <core> and the first <jms>"
            )


def _encoding(document: Document) -> Iterator[Finding]:
    text = document.source.text
    declared = _DECLARED.match(text)
    if document.badly_decoded:
        severity, help = Severity.WARNING, "save the file as UTF-8"
        message = "bytes that are not UTF-8: the broker reads them as \N{REPLACEMENT CHARACTER}"
    elif declared and declared.group(1).lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
        severity, help = Severity.INFO if text.isascii() else Severity.WARNING, 'declare encoding="UTF-8"'
        message = f"the declared encoding '{declared.group(1)}' is ignored"
    else:
        return
    why = "the broker decodes the file by the platform's encoding (UTF-8) and does not look at the declaration"
    fix = None
    if declared and not document.badly_decoded:
        fix = Fix(document.source.of_parsed(declared.start(1)), declared[1], "UTF-8")
    at = document.source.position(0)
    yield Finding(at, severity, "encoding-ignored", message, help=help, why=why, fix=fix)


def _placeholders(document: Document) -> Iterator[Finding]:
    for source in document.sources:
        for placeholder in source.replaced.placeholders:
            end = source.original.find("}", placeholder.offset)
            inside = source.original[placeholder.offset : end]
            if "<" in inside or "\n" in inside:
                yield Finding(
                    source.position(placeholder.offset),
                    Severity.WARNING,
                    "placeholder-swallows",
                    "'${' is closed too late: everything in between is read as the name of a property",
                    help="close it with '}' where it ends",
                    why="the text in between is replaced before the file is parsed",
                )
        open_one = source.text.rfind("${")
        if open_one >= 0 and "}" not in source.text[open_one:]:
            yield Finding(
                source.of_parsed(open_one),
                Severity.WARNING,
                "placeholder-unclosed",
                "'${' without '}'",
                help="close it with '}'",
                why="the broker leaves it, and replaces nothing after it",
            )


def _includes(document: Document) -> Iterator[Finding]:
    if len(document.sources) > 1:
        yield Finding(
            document.root.position,
            Severity.INFO,
            "include-working-directory",
            "includes are looked for in the broker's working directory",
            document.root.path,
            "start the broker in the folder that the names are relative to, and check with --cwd",
            "the broker's parser does not know where the file is",
        )
