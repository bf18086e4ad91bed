"""What ``config lint`` is pointed at: files, instances or standard input, and what is known beside them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brokerconf.errors import BrokerConfError
from brokerconf.evidence.host import PageFolder, Volume
from brokerconf.instance.recognition import ConfigurationForm
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import FileReport, LintContext, RuleSelection
from brokerconf.linting.project_file import ProjectFile, project_of
from brokerconf.reading.decoding import read_at_most
from brokerconf.reading.inclusion import LARGEST
from brokerconf.reading.substitution import names_only

from pagectl.opening.broker import from_environment
from pagectl.opening.reading import kubernetes_form
from pagectl.opening.start_parameters import StartParameters, start_parameters
from pagectl.options.configuration import ConfigurationOptions
from pagectl.options.rules import selected_rules
from pagectl.running.exits import CallError, describe, report
from pagectl.terminal.streams import note
from pagefmt.findings import FailOn

if TYPE_CHECKING:
    from brokerconf.instance.instance import Instance
    from brokerconf.reading.document import Document
    from brokerconf.schema.validation import Schemas

    from pagectl.options.groups import ConfigFileOptions
    from pagectl.options.linting import RuleOptions, SchemaOptions

STDIN = "-"


def surroundings(
    options: ConfigurationOptions, schema: Path | None, home: Path | None, data: Path | None
) -> LintContext:
    """Return the context that all files of a call share. Raise ``CallError`` or an error of reading it."""
    if schema is not None and home is not None:
        raise CallError("--schema and --artemis-home cannot be combined")
    return LintContext(
        edition=options.edition,
        schemas=_own_schemas(schema, home, options),
        cwd=options.cwd,
        properties=options.define,
        environment=names_only(os.environ),
        heap=options.heap,
        stores=_stores(data),
        profile=options.profile,
        server=options.server,
    )


def _stores(data: Path | None) -> tuple[PageFolder, ...] | None:
    if data is None:
        return None
    from pagectl.opening.page_stores import stores_below

    return stores_below(data)


def _own_schemas(schema: Path | None, home: Path | None, options: ConfigurationOptions) -> Schemas | None:
    from pagefmt.editions import NEWEST

    if home is not None:
        from brokerconf.instance.own_schema import from_home

        return from_home(home)
    if schema is None:
        return None
    from brokerconf.instance.own_schema import from_file

    return from_file(schema, options.edition or NEWEST)


def default_files() -> list[str]:
    """Return the names to lint if the call names none. Raise ``CallError`` if there is no default."""
    instance = from_environment()
    if instance is None:
        raise CallError("name a configuration file or a broker instance; '-' reads standard input")
    return [str(instance)]


class PreparedLint(NamedTuple):
    """A file to be linted: its name in findings, its context, and the rules that apply.

    ``raw`` and ``form`` are its bytes and form if these had to be read to recognise it, else None.
    """

    file: Path
    shown: str
    context: LintContext
    selection: RuleSelection
    raw: bytes | None = None
    form: ConfigurationForm | None = None


@dataclass(slots=True)
class LintRequest:
    """What a call asks for, and the project files that were found for it; what was typed wins over these.

    ``edition_typed``: also where that was ``auto``.
    """

    around: LintContext
    options: ConfigurationOptions
    selection: RuleSelection
    fail_on: FailOn | None = None
    edition_typed: bool = False
    _projects: dict[Path, ProjectFile | None] = field(default_factory=dict)
    _distrusted: set[Path] = field(default_factory=set)

    def lint(self, name: str) -> FileReport:
        """Lint a file, the configuration of an instance, or standard input. Raise ``OSError`` or ``CallError``."""
        prepared = self.prepared(name)
        raw = prepared.raw
        if raw is None:
            raw = sys.stdin.buffer.read(LARGEST + 1) if name == STDIN else read_at_most(prepared.file, LARGEST)
        return lint(raw, prepared.shown, prepared.context, prepared.selection, prepared.form)

    def lint_of(self, name: str) -> Callable[[bytes], FileReport]:
        """Return a function that lints other bytes in the place of a file's, by all rules. Raise as ``lint``."""
        prepared = self.prepared(name)
        return lambda raw: lint(raw, prepared.shown, prepared.context)

    def prepared(self, name: str) -> PreparedLint:
        """Return everything that a lint of the file depends on. Raise as ``lint``."""
        path, start, raw, form = Path(name), None, None, None
        if name != STDIN:
            raw, form = kubernetes_form(path, self.options)
            # what lies beside objects of Kubernetes is no part of the pod
            start = start_parameters(path, self.options, alone=form is ConfigurationForm.KUBERNETES)
        file = start.config if start else path
        around, selection, project = self.around, self.selection, self.project(file)
        if project is not None:
            edition = self.options.edition if self.edition_typed else project.edition_of(file)
            around = replace(around, edition=edition, heap=self.options.heap or project.heap)
            selection = project.selection(file, selection)
        if start is None or form is ConfigurationForm.KUBERNETES:
            return PreparedLint(file, name if start else "stdin", around, selection, raw, form)
        around, instance = _with_start(around, start), start.instance
        if path.is_dir() or start.instance.profile is not None:
            around = replace(around, host=lambda document: _volumes(document, instance))
        return PreparedLint(file, str(file) if path.is_dir() else name, around, selection, raw, form)

    def project(self, file: Path) -> ProjectFile | None:
        """Return the project file for a configuration, None if there is none. Raise its errors."""
        folder = file.parent
        if folder not in self._projects:
            project = project_of(folder, self._note_distrusted)
            if project and all(project != other for other in self._projects.values()):
                note(f"using the settings of {project.path}")
            self._projects[folder] = project
        return self._projects[folder]

    def _note_distrusted(self, path: Path) -> None:
        if path not in self._distrusted:
            self._distrusted.add(path)
            note(f"{path}: belongs to another user, so its settings are not used; change its owner if they are yours")

    def fails(self, linted: Iterable[FileReport]) -> bool:
        """Return whether a finding of a file is as grave as ``--fail-on`` or the file's project says."""
        return any(self._limit(file_report.file).fails(file_report.findings) for file_report in linted)

    def _limit(self, file: str) -> FailOn:
        project = self.project(Path(file))
        return self.fail_on or (project.fail_on if project else None) or FailOn.ERROR


def lint_all(files: Iterable[str], request: LintRequest, named: Collection[str]) -> tuple[list[FileReport], bool]:
    """Return the reports of all files, and whether one could not be read, which is reported on standard error.

    Templates are passed over with a remark, unless they are ``named``.
    """
    reports: list[FileReport] = []
    failed = False
    for file in files:
        try:
            linted = request.lint(file)
            reports.append(linted if file in named and not Path(file).is_dir() else linted.passed_over())
        except (OSError, CallError, BrokerConfError) as err:
            report(describe(err))
            failed = True
    return without_included(reports) if len(reports) > 1 else reports, failed


def lint_request(
    typed: ConfigFileOptions, schemas: SchemaOptions, rules: RuleOptions, fail_on: FailOn | None, data: Path | None
) -> LintRequest:
    """Return what the options ask for; raises ``CallError`` or a room's own error."""
    selection = selected_rules(rules.only or [], rules.ignore or [])
    options = typed.reading()
    around = surroundings(options, schemas.schema, schemas.artemis_home, data)
    return LintRequest(around, options, selection, fail_on, edition_typed=typed.edition is not None)


def without_included(reports: Sequence[FileReport]) -> list[FileReport]:
    """Return the reports without files that another file includes or applies: they are linted there."""
    inside = {os.path.realpath(source.path) for report in reports for source in report.sources[1:]}
    return [report for report in reports if os.path.realpath(report.file) not in inside]


def _with_start(around: LintContext, start: StartParameters) -> LintContext:
    """Return the context with what the instance sets, where the call does not set it."""
    from brokerconf.reading.properties import read_properties, resolved
    from brokerconf.reading.substitution import PlaceholderValues

    from pagefmt.editions import NEWEST

    edition = around.edition or (start.edition if around.schemas is None else None)
    files = [read_properties(file, edition or NEWEST) for file in start.files]
    values = PlaceholderValues.of(edition or NEWEST, start.system, around.environment)
    return replace(
        around,
        edition=edition,
        heap=around.heap or start.heap,
        properties=start.system,
        entries=tuple(entry for file in files for entry in resolved(file.entries, values)),
        beside=tuple(file.source for file in files),
        faults=tuple(file.fault for file in files if file.fault),
    )


def _volumes(document: Document, instance: Instance) -> tuple[Volume, ...] | None:
    """Return the file systems of those broker directories that exist on this host, None if none does."""
    from brokerconf.instance.instance import bases_of, directories

    where = directories(document, bases_of(instance, document.kind), environment=os.environ)
    named = {
        "paging": where.paging,
        "journal": where.journal,
        "bindings": where.bindings,
        "large-messages": where.large_messages,
    }
    if where.retention is not None:
        named["journal-retention"] = where.retention
    volumes = [_volume(what, path) for what, path in named.items() if path.is_dir()]
    return tuple(volumes) or None


def _volume(what: str, path: Path) -> Volume:
    stats = os.statvfs(path)
    size = stats.f_frsize
    return Volume(what, path.stat().st_dev, stats.f_blocks * size, stats.f_bavail * size)
