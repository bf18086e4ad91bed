"""A lint of Kubernetes objects: their fields, and each configuration of a broker in them as if it were a file."""

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
from brokerconf.linting.lint import FileReport, LintContext, RuleSelection, document_findings, judged
from brokerconf.linting.properties_lint import findings_over
from brokerconf.reading.document import OF_THE_IMAGE
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.properties import EMPTY_XML, Entry
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
    """Everything that is found in the objects of a file; raises ``ReadingError``."""
    documents = read_yaml(raw, name)
    # what lies beside the file is no part of the pod
    lint = _ObjectsLint(documents, replace(context, entries=(), beside=(), host=None, stores=None), selection)
    titles = {id: description.title for id, description in described().items()}
    # a Secret is where passwords belong
    secrets = lint.found.secrets
    every = (one for one in lint.findings() if one.rule != clear_passwords.RULE or not secrets.holds(one.place))
    told = dict.fromkeys(secrets.without_values(one, titles) for one in every)
    found = [selection.graded(one) for one in told if selection.takes(one.rule)]
    schema = ", ".join(sorted({verdict.schema for verdict in lint.verdicts}))
    sound = (
        lint.found.readable
        and all(verdict.valid for verdict in lint.verdicts)
        and not any(one.rule.startswith(("kubernetes-", "yaml-")) and one.severity is Severity.ERROR for one in found)
    )
    edition = (lint.editions or [(context.edition or NEWEST).value])[0]
    return FileReport(name, edition, schema, sound, tuple(sorted_findings(found)), (documents.source,))


class _ObjectsLint:
    """The lint of one file; ``findings`` fill in what is known of the documents in it."""

    def __init__(self, documents: YamlDocuments, context: LintContext, selection: RuleSelection) -> None:
        self.context, self.selection = context, selection
        self.verdicts: list[SchemaVerdict] = []
        self.editions: list[str] = []
        self.found = inventory(documents)
        self.name = documents.source.path

    def findings(self) -> Iterator[Finding]:
        found = self.found
        yield from found.findings
        for broker in found.brokers:
            yield from self._broker(broker, found.mounted(broker))
        mounted = {f"Secret {name}" for broker in found.brokers for name in broker.mounted}
        included: dict[str, set[str]] = {}
        for title, files in found.held.items():
            includes = HeldIncludes(found.keys_beside(title), self.name, self._alone)
            yield from self._held([file for file in files if title not in mounted or file.encoded], includes)
            included[title] = includes.taken
        for one in found.objects:
            taken = included.get(one.title, set())
            others = [file.name for file in found.others.get(one.title, ()) if file.name not in taken]
            if others:
                yield self._said(one, f"{one.title}: no broker configuration under {some(others)}")
            if one.role in (ObjectRole.BROKER, ObjectRole.ADDRESS):
                yield from field_findings(one)
                yield from clear_passwords.password_findings(one)
            elif one.role is ObjectRole.OTHER:
                yield self._said(one, f"{one.title} is not a broker configuration")
                if one.node.said("apiVersion").startswith("broker."):
                    yield from clear_passwords.password_findings(one)
        theirs = any(one.role in (ObjectRole.BROKER, ObjectRole.ADDRESS) for one in found.objects)
        if found.readable and not theirs and not any(found.held.values()):
            yield Finding(
                Position(self.name, 1, 1), Severity.ERROR, "kubernetes-no-broker",
                f"no broker configuration among {len(found.objects)} objects", help=f"looked for {LOOKED_FOR}",
                why="nothing in this file was checked",
            )  # fmt: skip

    def _said(self, found: KubernetesObject, message: str) -> Finding:
        why = "it was not checked, so it is not known to be valid"
        return Finding(found.position, Severity.INFO, _NOT_LOOKED_AT, message, why=why)

    def _broker(self, broker: BrokerResource, held: dict[str, list[HeldFile]]) -> Iterator[Finding]:
        refused = list(broker.findings())
        yield from refused
        twice = {one.place for one in refused if one.rule == "kubernetes-duplicate-property"}
        context = replace(
            self.context, edition=self.context.edition or broker.edition, heap=self.context.heap or broker.memory
        )
        plain = {name: [file for file in files if not file.encoded] for name, files in held.items()}
        for name in broker.mounted:
            if not held[name]:
                yield self._said(broker.found, f"Secret {name} is mounted, but its properties are not in this file")
        try:
            properties = PodProperties(broker, plain, context.edition or NEWEST)
            # those of very many pods together: each entry is judged, though not each set of them
            pods, xml = properties.pods, broker.xml
            for some in ([], *([pod] for pod in pods[:_MOST_PODS]), *filter(None, [pods[_MOST_PODS:]])):
                for one in self._over(xml.text, xml.position, properties.of(some), context, broker.found.position):
                    if one.rule == "properties-duplicate" and one.place in twice:
                        continue
                    if one.rule == clear_passwords.RULE:
                        one = one._replace(help=clear_passwords.IN_PROPERTIES)
                    yield one if self.context.heap else _of_memory(one)
        except ReadingError as err:
            self.found.readable = False
            yield err.finding()

    def _over(
        self,
        xml: str,
        place: Callable[[int], Position],
        entries: Iterable[Entry],
        context: LintContext,
        outside: Position,
    ) -> Iterator[Finding]:
        """Of a broker.xml of which no more is known: what is found at its own words and at the entries."""
        context = replace(context, edition=context.edition or NEWEST, entries=tuple(entries))
        edition, found = findings_over(xml, self.name, context, self.selection, place, outside, OF_THE_IMAGE)
        self.editions.append(edition.value)
        yield from found

    def _held(self, files: list[HeldFile], includes: HeldIncludes) -> Iterator[Finding]:
        """The files of one ConfigMap or Secret: its properties count over its broker.xml."""
        documents = [file for file in files if file.suffix == ".xml"]
        properties = [file for file in files if file.suffix != ".xml"]
        reports: dict[str, tuple[list[Finding], list[SchemaVerdict], list[str]]] = {}
        for file in documents or properties:
            before = len(self.verdicts), len(self.editions)
            try:
                found = list(self._file(file, properties if documents else [file], includes))
            except ReadingError as err:
                self.found.readable = False
                found = [self._moved(err.finding(), includes.files)]
            reports[file.name] = found, self.verdicts[before[0] :], self.editions[before[1] :]
            del self.verdicts[before[0] :], self.editions[before[1] :]
        # what another file includes is linted there
        alone = [name for name in reports if name not in includes.taken] or list(reports)
        for name in alone:
            found, verdicts, editions = reports[name]
            self.verdicts += verdicts
            self.editions += editions
            yield from found

    def _file(self, file: HeldFile, beside: list[HeldFile], includes: HeldIncludes) -> Iterator[Finding]:
        edition = self.context.edition or NEWEST
        entries = [entry for each in beside for entry in entries_of(each, edition, self._alone(each))]
        shown = self._alone(file)
        if file.suffix == ".xml":
            context = replace(self.context, entries=tuple(entries))
            place = None if shown else file.placed.position
            document, verdict, _ = judged(
                file.placed.text.encode("utf-8", "replace"), shown or self.name, context, place,
                fragments=file.name not in WHOLE_FILES, held=includes,
            )  # fmt: skip
            self.verdicts.append(verdict)
            self.editions.append(document.edition.value)
            found = document_findings(document, verdict, context, self.selection)
        else:
            outside = Position(self.name)
            found = list(self._over(EMPTY_XML, lambda _: outside, entries, self.context, outside))
        yield from (self._moved(one, [file, *beside, *includes.files]) for one in found)

    def _alone(self, file: HeldFile) -> str:
        """What is encoded has no places in this file: findings count its own lines, and are moved to its key."""
        return f"{self.name}!{file.key.line}:{file.name}" if file.encoded else ""

    def _moved(self, one: Finding, files: list[HeldFile]) -> Finding:
        for file in files:
            if file.encoded and one.place.file == self._alone(file):
                message = f"{one.message} (line {one.place.line} of {file.name})"
                return one._replace(place=file.key, message=message)
        return one


@cache
def _about_the_heap() -> frozenset[str]:
    return frozenset(rule.id for rule in rules() if rule.needs == "heap")


def _of_memory(one: Finding) -> Finding:
    """No more is known of the heap than what it cannot exceed."""
    said = f"{one.message} (the pod's memory limit; the heap is smaller still)"
    return one._replace(message=said) if one.rule in _about_the_heap() else one
