"""Import of logs into a trace, in two passes over the files: first the facts, then the operations in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from pageengine.errors import PageEngineError
from pageengine.log_import import audit_actions, audit_messages, plugin_log
from pageengine.log_import.records import LogRecord, ReadCounts, merged
from pageengine.log_import.traffic import LogFacts, TraceBuilder
from pageengine.trace.operations import Operation, TraceHeader
from pageengine.trace.writing import write_trace

ALWAYS = (
    "bodies (only their sizes count)",
    "sends that never reached the broker (blocked or refused producers)",
    "prefetching of consumers (each delivery became a receive)",
    "broker restarts (not in these logs)",
)


class NoTrafficError(PageEngineError):
    """Error for logs without traffic, or that cannot be read twice."""


class LogSource(Enum):
    """Log that sends, deliveries and acknowledgements come from; the value is the header's ``source``."""

    PLUGIN_DEBUG = "plugin-log"
    MESSAGE_AUDIT = "audit-log"
    PLUGIN_INFO = "plugin-log-info"


@dataclass(slots=True)
class ImportReport:
    """Counts of what was read and made; ``unknown``: what could not be known, and how often.

    ``left_out``: sends that the log shows and the trace lacks.
    """

    source: LogSource
    files: list[ReadCounts]
    operations: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    unused: int = 0
    left_out: int = 0

    @property
    def logged_sends(self) -> int:
        """Return the number of sends that the log shows, in the trace or not."""
        return self.operations["send"] + self.left_out


def import_logs(
    paths: Sequence[Path],
    trace: Path,
    *,
    name: str | None = None,
    guess_sizes: bool = False,
    advance: Callable[[int], None] | None = None,
) -> ImportReport:
    """Write the trace that these logs amount to. ``advance`` is called with the bytes read, in both passes.

    ``guess_sizes``: a message of which a log shows only the address gets the mean size of that address.

    Raises PageEngineError, OSError. Where several logs show the same traffic, the most detailed one is used.
    """
    for path in paths:
        if path.exists() and not path.is_file():
            raise NoTrafficError(f"{path}: must be a file, because it is read twice; save it to a file first")
    facts, codes = LogFacts(), Counter[int]()
    for record in merged(paths, [ReadCounts(path) for path in paths], advance):
        codes[record.code] += 1
        _survey(record, facts)
    source = _source(codes, paths)
    if guess_sizes:
        facts.guess_sizes()
    report = ImportReport(source, [ReadCounts(path) for path in paths])
    header = TraceHeader(
        name or paths[0].name,
        start_ns=facts.first_t,
        source="plugin-log" if source is LogSource.PLUGIN_INFO else source.value,
        seq_property="",
        producer_window=1,
        min_large_message_size=facts.min_large or facts.smallest_large or 102400,
        unknown=ALWAYS,
    )
    write_trace(trace, header, _operations(paths, report, facts, advance))
    return report


def _survey(record: LogRecord, facts: LogFacts) -> None:
    if facts.first_t is None:
        facts.first_t = record.t
    audit_messages.survey(record, facts)
    audit_actions.survey(record, facts)
    plugin_log.survey(record, facts)


def _source(codes: Counter[int], paths: Sequence[Path]) -> LogSource:
    if codes[plugin_log.SENT_DETAILS]:
        return LogSource.PLUGIN_DEBUG
    if codes[audit_messages.SENT] or codes[audit_messages.SENT_IN_TRANSACTION]:
        return LogSource.MESSAGE_AUDIT
    if codes[plugin_log.SENT]:
        return LogSource.PLUGIN_INFO
    raise NoTrafficError(
        f"{', '.join(map(str, paths))}: no line of the message audit log (AMQ601500) or the logging plugin (AMQ841009) "
        f"was found; switch on the logger org.apache.activemq.audit.message, or the LoggingActiveMQServerPlugin"
    )


def _operations(
    paths: Sequence[Path], report: ImportReport, facts: LogFacts, advance: Callable[[int], None] | None
) -> Iterator[Operation]:
    """Yield the operations, numbered and in order; the report is complete after the last one."""
    ready: list[Operation] = []

    def emit(operation: Operation) -> None:
        report.operations[operation.op] += 1
        ready.append(operation)

    traffic = TraceBuilder(emit, facts, report.unknown)
    audit = audit_messages.MessageAudit(traffic) if report.source is LogSource.MESSAGE_AUDIT else None
    plugin = None if audit is not None else plugin_log.PluginLog(traffic, report.source is LogSource.PLUGIN_DEBUG)
    actions = audit_actions.ActionAudit(traffic, audit)
    for queue in facts.queues.values():
        if plugin is None or not queue.created:
            traffic.create_queue(queue, "already existed when the log begins, or was created without a line in it")
    for record in merged(paths, report.files, advance):
        traffic.now(record.t - (facts.first_t or 0))
        _apply(record, report, audit, plugin, actions)
        yield from ready
        ready.clear()
    traffic.flush()
    report.left_out = traffic.left_out
    yield from ready


def _apply(
    record: LogRecord,
    report: ImportReport,
    audit: audit_messages.MessageAudit | None,
    plugin: plugin_log.PluginLog | None,
    actions: audit_actions.ActionAudit,
) -> None:
    reader: audit_messages.MessageAudit | plugin_log.PluginLog | audit_actions.ActionAudit | None = None
    if record.code in audit_messages.CODES:
        reader = audit
    elif record.code in plugin_log.CODES:
        reader = plugin
    elif 601000 <= record.code < 602000:
        reader = actions
    if reader is not None:
        reader.record(record)
    else:
        report.unused += 1
