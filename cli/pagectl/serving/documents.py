"""The documents that an editor has open, and what is known beside each; answers as plain values of the protocol."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from brokerconf.editor.completion import Proposal, ProposalType, xml_proposals
from brokerconf.editor.definition import decided_by, set_under
from brokerconf.editor.diagnostics import CheckedText, Checker, Diagnostic, at
from brokerconf.editor.fixes import QuickFix, fixes_for
from brokerconf.editor.hover import xml_hover
from brokerconf.editor.keys import key_hover, key_proposals
from brokerconf.editor.scanning import Checkpoints
from brokerconf.editor.symbols import OutlineEntry, outline
from brokerconf.editor.text import Caret, EditedText
from brokerconf.errors import BrokerConfError
from brokerconf.evidence.facts import ConfigFacts
from brokerconf.instance.recognition import PROPERTY_FORMS, SUFFIXES, ConfigurationForm, recognised
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import LintContext, RuleSelection
from brokerconf.reading.decoding import read_at_most
from brokerconf.reading.inclusion import LARGEST
from brokerconf.reading.properties import property_file
from brokerconf.reading.property_entries import Entry
from brokerconf.reading.reading import edition_by_namespace, read_bytes
from brokerconf.reading.sources import SourceFile, plain_source
from brokerconf.reading.substitution import names_only

from pagectl.opening.linting import LintRequest
from pagectl.running.exits import CallError
from pagefmt.editions import EDITION_NAMES, NEWEST, Edition
from pagefmt.findings import Position, Severity

Json = dict[str, Any]
_SEVERITIES = {Severity.ERROR: 1, Severity.WARNING: 2, Severity.INFO: 3}
_COMPLETIONS = {
    ProposalType.ELEMENT: 10, ProposalType.ATTRIBUTE: 5, ProposalType.VALUE: 12, ProposalType.PROPERTY: 10,
}  # fmt: skip
# what a file is stands at its beginning
_TELLING = 10_000
_CANNOT = (OSError, ValueError, BrokerConfError, CallError)
_MAIN_FILES = ("broker.xml", "hornetq-configuration.xml")


@dataclass(slots=True)
class OpenDocument:
    """One document. ``path`` is None for one that has never been saved; ``name`` is how findings call it."""

    uri: str
    path: Path | None
    name: str
    text: EditedText
    version: int | None = None
    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    checked: CheckedText | None = None
    checker: Checker = field(default_factory=Checker)
    around: tuple[LintContext, RuleSelection] | None = None
    _form: tuple[EditedText, ConfigurationForm | None] | None = None

    def change(self, changes: Iterable[Any], version: int | None) -> None:
        """Apply edits of the protocol in order; an edit without a range replaces the whole text."""
        for edit in changes:
            area = getattr(edit, "range", None)
            if area is None:
                self.text, self.checkpoints = EditedText(edit.text), Checkpoints()
                continue
            start, end = Caret(area.start.line, area.start.character), Caret(area.end.line, area.end.character)
            first = min(self.text.offset(*start), self.text.offset(*end))
            self.checkpoints = self.checkpoints.until(first)
            self.text = self.text.edited(start, end, edit.text)
        self.version = version

    @property
    def form(self) -> ConfigurationForm | None:
        """Return the form of the configuration, None if the text is no broker configuration."""
        if self._form is None or self._form[0] is not self.text:
            start = self.text.text[:_TELLING]
            earlier = self._form[1] if self._form and self._form[0].text[:_TELLING] == start else None
            form = earlier or recognised(self.name, self.text.text.encode("utf-8", "replace"))
            if form is None and not self.text.text.strip("< \t\r\n"):
                # nothing is written yet that could tell
                form = SUFFIXES.get(Path(self.name).suffix.lower())
            self._form = self.text, form
        return self._form[1]

    @property
    def edition(self) -> Edition:
        """Return the edition that the last check detected, else the one that the XML namespace names."""
        name = self.checked.edition if self.checked else ""
        # an application server's subsystem has a version of its own
        return Edition(name) if name in EDITION_NAMES else edition_by_namespace(self.text.text)

    def area(self, start: int, stop: int) -> Json:
        """Return a range in the form of the protocol."""
        return _area(self.text, start, stop)


def _area(text: EditedText, start: int, stop: int) -> Json:
    first, last = text.caret(start), text.caret(stop)
    return {
        "start": {"line": first.line, "character": first.character},
        "end": {"line": last.line, "character": last.character},
    }


class Documents:
    """All documents of a session, by their URIs."""

    def __init__(self, request: LintRequest) -> None:
        self.request = request
        self.open: dict[str, OpenDocument] = {}

    # diagnostics

    def diagnostics(self, document: OpenDocument) -> list[Json]:
        """Check a document, and return its diagnostics in the form of the protocol."""
        form = document.form
        if form is None:
            document.checked = None
            return []
        checked = self._check(document, form)
        document.checked = checked
        return [_diagnostic(document, diagnostic) for diagnostic in checked.diagnostics]

    def _check(self, document: OpenDocument, form: ConfigurationForm) -> CheckedText:
        main = self._main_file(document) if form in PROPERTY_FORMS else None
        if main is not None:
            context, selection = self._around(str(main), main)
            if any(source.path == document.name for source in context.beside):
                # properties of an instance: what a lint of its configuration finds in them
                report = lint(self._raw(main), str(main), context, selection)
                return CheckedText.of(document.text, document.name, report)
        context, selection = self.around(document)
        return document.checker.check(document.text, document.name, context, selection)

    def _main_file(self, document: OpenDocument) -> Path | None:
        folder = document.path.parent if document.path else None
        return next((folder / name for name in _MAIN_FILES if (folder / name).is_file()), None) if folder else None

    def _raw(self, path: Path) -> bytes:
        """Return the content of a file as the editor has it, else as it is on the disk."""
        document = self._opened(str(path))
        return document.text.text.encode("utf-8", "replace") if document else read_at_most(path, LARGEST)

    def _opened(self, name: str) -> OpenDocument | None:
        return next((entry for entry in self.open.values() if entry.path is not None and entry.name == name), None)

    def around(self, document: OpenDocument) -> tuple[LintContext, RuleSelection]:
        """Return the context of a document: its instance, its properties as edited, and its project file."""
        if document.around is None:
            document.around = self._around(document.name, document.path)
        return document.around

    def forget_surroundings(self) -> None:
        """Something beside the documents has changed."""
        for document in self.open.values():
            document.around = None

    def _around(self, name: str, path: Path | None) -> tuple[LintContext, RuleSelection]:
        context, selection = self.request.around, self.request.selection
        if path is not None:
            try:
                prepared = self.request.prepared(name)
                context, selection = prepared.context, prepared.selection
            except _CANNOT:
                # the file or what stands beside it is not there yet, or cannot be read
                context = replace(context, cwd=context.cwd or path.parent)
        return self._with_buffers(replace(context, environment=names_only(os.environ))), selection

    def _with_buffers(self, context: LintContext) -> LintContext:
        """Return the context with property files as they are in the editor."""
        edited = {source.path: self._opened(source.path) for source in context.beside}
        if not any(edited.values()):
            return context
        sources: list[SourceFile] = []
        entries: list[Entry] = []
        for source in context.beside:
            document = edited[source.path]
            text = document.text.text if document else source.original
            sources.append(plain_source(source.path, text, markup=False))
            if document:
                raw = text.encode("latin-1" if source.path.endswith(".properties") else "utf-8", "replace")
                entries += property_file(raw, source.path, context.edition or NEWEST).entries
            else:
                entries += [entry for entry in context.entries if entry.position.file == source.path]
        return replace(context, beside=tuple(sources), entries=tuple(entries))

    # what stands at a place

    def completion(self, document: OpenDocument, offset: int, *, snippets: bool) -> Json:
        """Return the proposals at an offset."""
        form = document.form
        proposals: Iterator[Proposal] = iter(())
        if form is ConfigurationForm.XML:
            proposals = xml_proposals(document.text.text, offset, document.edition, document.checkpoints)
        elif form is not None:
            proposals = key_proposals(document.text.text, offset, document.edition, form)
        items = [_completion(document, proposal, n, snippets) for n, proposal in enumerate(proposals)]
        return {"isIncomplete": False, "items": items}

    def hover(self, document: OpenDocument, offset: int) -> Json | None:
        """Return the findings at an offset with their reasons, and the meaning of the word; None for nothing."""
        lines: list[str] = []
        for finding in at(
            document.checked.diagnostics if self._is_current(document) and document.checked else (), offset
        ):
            lines += [f"{finding.severity.said}: {finding.message} [{finding.rule}]"]
            lines += [f"  {text}" for text in (finding.why, finding.help) if text]
        about = None
        if document.form is ConfigurationForm.XML:
            about = xml_hover(document.text.text, offset, document.edition, document.checkpoints)
        elif document.form is not None:
            about = key_hover(document.text.text, offset, document.edition, document.form)
        if about is not None:
            lines += ["", *about.lines] if lines else about.lines
        if not lines:
            return None
        answer: Json = {"contents": {"kind": "plaintext", "value": "\n".join(lines)}}
        return answer | ({"range": document.area(about.start, about.stop)} if about else {})

    @staticmethod
    def _is_current(document: OpenDocument) -> bool:
        return document.checked is not None and document.checked.text is document.text

    def fixes(self, document: OpenDocument, start: int, stop: int) -> list[Json]:
        """Return the repairs for findings that overlap a part of the text."""
        if not self._is_current(document):
            self.diagnostics(document)
        if document.checked is None or document.form is None:
            return []
        actions: list[Json] = []
        for mark in document.checked.diagnostics:
            if mark.start <= stop and mark.stop >= start:
                actions += [_action(document, mark, fix) for fix in fixes_for(document.text.text, mark, document.form)]
        return actions

    def definition(self, document: OpenDocument, offset: int) -> list[Json]:
        """Return the places that decide about the value at an offset; for a property, the element that it overrides."""
        if document.form is ConfigurationForm.XML:
            context = replace(self.around(document)[0], edition=document.edition)
            facts = self._facts(document.text.text.encode("utf-8", "replace"), document.name, context)
            places = decided_by(facts, document.text.text, offset) if facts else []
        else:
            main = self._main_file(document) if document.form in PROPERTY_FORMS else None
            facts = self._facts(self._raw(main), str(main), self._around(str(main), main)[0]) if main else None
            line = document.text.caret(offset).line + 1
            places = set_under(facts, document.name, line) if facts else []
        return [location for place in places if (location := self._location(document, place))]

    def _facts(self, raw: bytes, name: str, context: LintContext) -> ConfigFacts | None:
        folder = Path(os.path.realpath(context.cwd or Path(name).parent))
        edition = context.edition or edition_by_namespace(raw.decode("utf-8", "replace"))
        try:
            read = read_bytes(
                raw,
                name,
                folder=folder,
                edition=edition,
                properties=context.properties,
                environment=context.environment,
            )
        except _CANNOT:
            return None
        return ConfigFacts(read, read.core, properties=context.entries, system=context.properties)

    def _location(self, document: OpenDocument, place: Position) -> Json | None:
        if place.file == document.name:
            uri, text = document.uri, document.text
        else:
            path = Path(place.file)
            if not path.is_file():
                return None
            uri, text = path.absolute().as_uri(), EditedText(self._raw(path).decode("utf-8", "replace"))
        offset = text.of_finding(place)
        return {"uri": uri, "range": _area(text, offset, offset)}

    def symbols(self, document: OpenDocument) -> list[Json]:
        """Return the outline of the document, empty unless it is XML."""
        if document.form is not ConfigurationForm.XML:
            return []
        return [_symbol(document, entry) for entry in outline(document.text.text)]


def _diagnostic(document: OpenDocument, diagnostic: Diagnostic) -> Json:
    finding = diagnostic.finding
    return {
        "range": document.area(diagnostic.start, diagnostic.stop),
        "severity": _SEVERITIES[finding.severity],
        "code": finding.rule,
        "source": "pagectl",
        "message": f"{finding.message}\n{finding.help}" if finding.help else finding.message,
    }


def _completion(document: OpenDocument, proposal: Proposal, number: int, snippets: bool) -> Json:
    return {
        "label": proposal.label,
        "kind": _COMPLETIONS[proposal.type],
        "detail": proposal.detail,
        "sortText": f"{number:04}",
        "filterText": document.text.text[proposal.start : proposal.start + 1] + proposal.label
        if proposal.text[:1] == "<"
        else proposal.label,
        "documentation": "\n".join(proposal.about),
        "insertTextFormat": 2 if snippets else 1,
        "textEdit": {
            "range": document.area(proposal.start, proposal.stop),
            "newText": proposal.snippet if snippets else proposal.text,
        },
    }


def _action(document: OpenDocument, diagnostic: Diagnostic, fix: QuickFix) -> Json:
    edits = [{"range": document.area(edit.start, edit.stop), "newText": edit.new} for edit in fix.edits]
    return {
        "title": fix.title,
        "kind": "quickfix",
        "isPreferred": fix.sure,
        "diagnostics": [_diagnostic(document, diagnostic)],
        "edit": {"changes": {document.uri: edits}},
    }


def _symbol(document: OpenDocument, entry: OutlineEntry) -> Json:
    return {
        "name": entry.name,
        "detail": entry.element,
        "kind": 8,
        "range": document.area(entry.start, max(entry.stop, entry.name_stop)),
        "selectionRange": document.area(entry.start, entry.name_stop),
        "children": [_symbol(document, below) for below in entry.inside],
    }
