"""Lint of Kubernetes objects: their fields, and each broker configuration in them as if it were a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache

from brokerconf.kubernetes import clear_passwords
from brokerconf.kubernetes.broker_resource import BrokerResource
from brokerconf.kubernetes.fields import field_findings
from brokerconf.kubernetes.held_files import HeldFile, HeldIncludes
from brokerconf.kubernetes.inventory import inventory
from brokerconf.kubernetes.objects import LOOKED_FOR, KubernetesObject, ObjectRole
from brokerconf.kubernetes.properties import PodProperties, entries_of
from brokerconf.linting.catalogue import described
from brokerconf.linting.checking import sorted_findings
from brokerconf.linting.document_lint import document_findings, judged
from brokerconf.linting.lint_report import FileReport, LintContext, RuleSelection
from brokerconf.linting.properties_lint import findings_over
from brokerconf.reading.document import OF_THE_IMAGE
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.properties import EMPTY_XML
from brokerconf.reading.property_entries import Entry
from brokerconf.reading.reading import WHOLE_FILES
from brokerconf.reading.yaml_tree import YamlDocuments, read_yaml
from brokerconf.rules import rules
from brokerconf.schema.validation import SchemaVerdict
from pagefmt.editions import NEWEST
from pagefmt.findings import Finding, Position, Severity, some

# Each of them is a lint of its own.
_MOST_PODS = 8
_NOT_LOOKED_AT = "kubernetes-not-a-broker"


def lint_kubernetes(raw: bytes, name: str, context: LintContext, selection: RuleSelection) -> FileReport:
    """Return all findings in the Kubernetes objects of a file; raise ``ReadingError`` if it is not YAML."""
    documents = read_yaml(raw, name)
    # what lies beside the file is no part of the pod
    lint = _ObjectsLint(documents, replace(context, entries=(), beside=(), host=None, stores=None), selection)
    titles = {id: description.title for id, description in described().items()}
    # a Secret is where passwords belong
    secrets = lint.inventory.secrets
    every = (
        finding
        for finding in lint.findings()
        if finding.rule != clear_passwords.RULE or not secrets.holds(finding.place)
    )
    visible = dict.fromkeys(secrets.without_values(finding, titles) for finding in every)
    findings = [selection.graded(finding) for finding in visible if selection.takes(finding.rule)]
    schema = ", ".join(sorted({verdict.schema for verdict in lint.verdicts}))
    sound = (
        lint.inventory.readable
        and all(verdict.valid for verdict in lint.verdicts)
        and not any(
            finding.rule.startswith(("kubernetes-", "yaml-")) and finding.severity is Severity.ERROR
            for finding in findings
        )
    )
    edition = (lint.editions or [(context.edition or NEWEST).value])[0]
    return FileReport(name, edition, schema, sound, tuple(sorted_findings(findings)), (documents.source,))


class _ObjectsLint:
    """Lint of one file; ``findings`` also collects verdicts and editions of the documents in it."""

    def __init__(self, documents: YamlDocuments, context: LintContext, selection: RuleSelection) -> None:
        self.context, self.selection = context, selection
        self.verdicts: list[SchemaVerdict] = []
        self.editions: list[str] = []
        self.inventory = inventory(documents)
        self.name = documents.source.path

    def findings(self) -> Iterator[Finding]:
        inventory = self.inventory
        yield from inventory.findings
        for broker in inventory.brokers:
            yield from self._broker(broker, inventory.mounted(broker))
        mounted = {f"Secret {name}" for broker in inventory.brokers for name in broker.mounted}
        included: dict[str, set[str]] = {}
        for title, files in inventory.held.items():
            includes = HeldIncludes(inventory.keys_beside(title), self.name, self._alone)
            yield from self._files_of_object([file for file in files if title not in mounted or file.encoded], includes)
            included[title] = includes.included
        for item in inventory.objects:
            included_names = included.get(item.title, set())
            others = [file.name for file in inventory.others.get(item.title, ()) if file.name not in included_names]
            if others:
                yield self._remark(item, f"{item.title}: no broker configuration under {some(others)}")
            if item.role in (ObjectRole.BROKER, ObjectRole.ADDRESS):
                yield from field_findings(item)
                yield from clear_passwords.password_findings(item)
            elif item.role is ObjectRole.OTHER:
                yield self._remark(item, f"{item.title} is not a broker configuration")
                if item.node.text_at("apiVersion").startswith("broker."):
                    yield from clear_passwords.password_findings(item)
        theirs = any(item.role in (ObjectRole.BROKER, ObjectRole.ADDRESS) for item in inventory.objects)
        if inventory.readable and not theirs and not any(inventory.held.values()):
            yield Finding(
                Position(self.name, 1, 1),
                Severity.ERROR,
                "kubernetes-no-broker",
                f"no broker configuration among {len(inventory.objects)} objects",
                help=f"looked for {LOOKED_FOR}",
                why="nothing in this file was checked",
            )

    def _remark(self, item: KubernetesObject, message: str) -> Finding:
        why = "it was not checked, so it is not known to be valid"
        return Finding(item.position, Severity.INFO, _NOT_LOOKED_AT, message, why=why)

    def _broker(self, broker: BrokerResource, held: dict[str, list[HeldFile]]) -> Iterator[Finding]:
        refused = list(broker.findings())
        yield from refused
        twice = {finding.place for finding in refused if finding.rule == "kubernetes-duplicate-property"}
        context = replace(
            self.context, edition=self.context.edition or broker.edition, heap=self.context.heap or broker.memory
        )
        plain = {name: [file for file in files if not file.encoded] for name, files in held.items()}
        for name in broker.mounted:
            if not held[name]:
                yield self._remark(
                    broker.resource, f"Secret {name} is mounted, but its properties are not in this file"
                )
        try:
            properties = PodProperties(broker, plain, context.edition or NEWEST)
            # those of very many pods together: each entry is judged, though not each set of them
            pods, xml = properties.pods, broker.xml
            for some in ([], *([pod] for pod in pods[:_MOST_PODS]), *filter(None, [pods[_MOST_PODS:]])):
                for finding in self._over(
                    xml.text, xml.position, properties.of(some), context, broker.resource.position
                ):
                    if finding.rule == "properties-duplicate" and finding.place in twice:
                        continue
                    if finding.rule == clear_passwords.RULE:
                        finding = finding._replace(help=clear_passwords.IN_PROPERTIES)
                    yield finding if self.context.heap else _of_memory(finding)
        except ReadingError as err:
            self.inventory.readable = False
            yield err.finding()

    def _over(
        self,
        xml: str,
        place: Callable[[int], Position],
        entries: Iterable[Entry],
        context: LintContext,
        outside: Position,
    ) -> Iterator[Finding]:
        """Yield the findings about a partly known broker.xml: about its known text and about the entries."""
        context = replace(context, edition=context.edition or NEWEST, entries=tuple(entries))
        edition, findings = findings_over(xml, self.name, context, self.selection, place, outside, OF_THE_IMAGE)
        self.editions.append(edition.value)
        yield from findings

    def _files_of_object(self, files: list[HeldFile], includes: HeldIncludes) -> Iterator[Finding]:
        """Yield the findings in the files of one ConfigMap or Secret, whose properties override its broker.xml."""
        documents = [file for file in files if file.suffix == ".xml"]
        properties = [file for file in files if file.suffix != ".xml"]
        reports: dict[str, tuple[list[Finding], list[SchemaVerdict], list[str]]] = {}
        for file in documents or properties:
            before = len(self.verdicts), len(self.editions)
            try:
                findings = list(self._file(file, properties if documents else [file], includes))
            except ReadingError as err:
                self.inventory.readable = False
                findings = [self._at_key(err.finding(), includes.files)]
            reports[file.name] = findings, self.verdicts[before[0] :], self.editions[before[1] :]
            del self.verdicts[before[0] :], self.editions[before[1] :]
        # what another file includes is linted there
        alone = [name for name in reports if name not in includes.included] or list(reports)
        for name in alone:
            findings, verdicts, editions = reports[name]
            self.verdicts += verdicts
            self.editions += editions
            yield from findings

    def _file(self, file: HeldFile, beside: list[HeldFile], includes: HeldIncludes) -> Iterator[Finding]:
        edition = self.context.edition or NEWEST
        entries = [
            entry
            for properties_file in beside
            for entry in entries_of(properties_file, edition, self._alone(properties_file))
        ]
        shown = self._alone(file)
        if file.suffix == ".xml":
            context = replace(self.context, entries=tuple(entries))
            place = None if shown else file.placed.position
            document, verdict, _ = judged(
                file.placed.text.encode("utf-8", "replace"),
                shown or self.name,
                context,
                place,
                fragments=file.name not in WHOLE_FILES,
                held=includes,
            )
            self.verdicts.append(verdict)
            self.editions.append(document.edition.value)
            findings = document_findings(document, verdict, context, self.selection)
        else:
            outside = Position(self.name)
            findings = list(self._over(EMPTY_XML, lambda _: outside, entries, self.context, outside))
        yield from (self._at_key(finding, [file, *beside, *includes.files]) for finding in findings)

    def _alone(self, file: HeldFile) -> str:
        """Return a name for an encoded file, whose findings have lines of their own and are later moved to its key.

        Returns an empty string for a file that is not encoded.
        """
        return f"{self.name}!{file.key.line}:{file.name}" if file.encoded else ""

    def _at_key(self, finding: Finding, files: list[HeldFile]) -> Finding:
        for file in files:
            if file.encoded and finding.place.file == self._alone(file):
                message = f"{finding.message} (line {finding.place.line} of {file.name})"
                return finding._replace(place=file.key, message=message)
        return finding


@cache
def _about_the_heap() -> frozenset[str]:
    return frozenset(rule.id for rule in rules() if rule.needs == "heap")


def _of_memory(finding: Finding) -> Finding:
    """Return the finding with a note if it is about the heap, of which only the pod's memory limit is known."""
    message = f"{finding.message} (the pod's memory limit; the heap is smaller still)"
    return finding._replace(message=message) if finding.rule in _about_the_heap() else finding
