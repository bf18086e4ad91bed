"""The command tree: a command's module is imported only when that command is called, which keeps the start short.

Adding a command: a file in ``pagectl.commands`` with a function named ``command`` and ``EXAMPLES`` of calling it, and a
line in ``TREE``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup, TyperOption

from pagectl import __version__
from pagectl.options.groups import expanded
from pagectl.running.examples import CommandWithExamples, epilog
from pagectl.running.exits import Exit, describe, guarded, report
from pagectl.running.statuses import END_WITH_READER
from pagectl.terminal.standard_streams import end_with_reader
from pagefmt.errors import PageFmtError
from pagefmt.findings import did_you_mean
from pagefmt.storage.opened_inputs import inputs_recorded

# A leaf is (module in pagectl.commands, one line of help); a group is (help, members).
Leaf = tuple[str, str]
Group = tuple[str, Mapping[str, Leaf]]
TREE: dict[str, Leaf | Group] = {
    "config": (
        "Check, compare, convert and explain broker configurations.",
        {
            "lint": ("config_lint", "Check configuration files: schema, values, and the effect of settings."),
            "effective": (
                "config_effective",
                "Show the settings in force for an address, and the line that each comes from.",
            ),
            "explain": ("config_explain", "Explain a setting, an element, a rule or a numbered line of the log."),
            "rules": ("config_rules", "List every rule."),
            "serve": ("config_serve", "Serve text editors: findings, completion, hover and fixes while typing."),
            "diff": ("config_diff", "Compare two configurations by their effect."),
            "convert": ("config_convert", "Write a configuration as properties, JSON, YAML or broker.xml."),
            "drift": ("config_drift", "Compare the queues on disk with the declared ones."),
            "capacity": (
                "config_capacity",
                "Show how much heap and disk the settings allow at most, and which limit applies first.",
            ),
        },
    ),
    "export": ("export", "Export messages of one or more brokers to Parquet with Spark."),
    "pages": (
        "Page files: their messages, their damage, and what is still outstanding.",
        {
            "ls": ("pages_ls", "List addresses: pages, messages, bytes, outstanding messages, condition."),
            "outstanding": (
                "pages_outstanding",
                "Show what is not yet acknowledged, and which queues hold which pages.",
            ),
            "decode": ("pages_decode", "Show the messages in page files, record by record."),
            "verify": (
                "pages_verify",
                "Check every byte of every page, and pages against journal, bindings and large messages.",
            ),
            "seal": ("pages_seal", "Write checksums that verify --manifest can check later."),
            "browse": ("pages_browse", "Browse addresses, pages, records and bytes in a terminal."),
            "inspect": ("pages_inspect", "Show page files down to the byte."),
            "compact": ("pages_compact", "Remove records that no queue needs any more; no message is lost."),
            "salvage": ("pages_salvage", "Rebuild a paging directory from the readable messages of damaged pages."),
            "restore": ("pages_restore", "Restore the files that compact --in-place replaced."),
            "drop-backup": ("pages_drop_backup", "Delete the backup that compact --in-place kept, to free its space."),
        },
    ),
    "messages": (
        "Messages of a broker wherever they are stored: journal, pages, large-message files.",
        {
            "ls": ("messages_ls", "List queues: messages in the journal and in pages, scheduled, in doubt."),
            "top": ("messages_top", "Rank queues by the bytes that stay on the disk for them."),
            "check": ("messages_check", "Check backlogs, and whether addresses refuse messages (monitoring plugin)."),
            "verify": ("messages_verify", "Check messages and references in journal, pages and large-message files."),
            "decode": ("messages_decode", "Show messages, where they are stored, and their state in each queue."),
            "find": ("messages_find", "Find messages by id, time, text or selector, in the journal or in pages."),
            "trace": ("messages_trace", "Show what happened to a message: sent, routed, acknowledged, expired, moved."),
            "xml": ("messages_xml", "Write outstanding messages as XML that 'artemis data imp' can read."),
            "import-plan": ("messages_import_plan", "Show what 'artemis data imp' would do with a file."),
            "send": ("messages_send", "Send outstanding messages to a running broker, each message once."),
        },
    ),
    "journal": (
        "Message journal, bindings and JMS journal of a broker.",
        {
            "ls": ("journal_ls", "List journal files: records, live records, condition."),
            "stats": ("journal_stats", "Count records by type, messages by queue; say what keeps the oldest file."),
            "inspect": ("journal_inspect", "Show journal files down to the byte."),
            "verify": (
                "journal_verify",
                "Check every byte of the journals, and their records against bindings and pages.",
            ),
            "compact": ("journal_compact", "Rewrite journals without dead records; a broker loads the same state."),
        },
    ),
    "large": (
        "Large-message files of a broker.",
        {
            "ls": ("large_ls", "List large-message files: size, age, and the queues that wait for them."),
            "verify": ("large_verify", "Check large-message files against the messages in journal and pages."),
        },
    ),
    "queue": (
        "Queues of a stopped broker.",
        {
            "drop": (
                "queue_drop",
                "Copy a data directory without one queue; all other queues deliver the same messages.",
            ),
            "purge": ("queue_purge", "Copy a data directory without certain messages of one queue, such as old ones."),
        },
    ),
    "convert": ("convert", "Convert an older broker's data directory to one that a newer broker starts on."),
    "recover": ("recover", "Rebuild a damaged data directory so that a broker starts on it."),
    "disk": (
        "The broker's disk monitor: when it blocks producers, and what uses the space.",
        {
            "check": ("disk_check", "Check the disks as the broker's disk monitor does (monitoring plugin)."),
            "watch": ("disk_watch", "Show live how full the disks are and how fast they fill."),
            "forecast": ("disk_forecast", "Predict from samples when the broker will block (monitoring plugin)."),
            "usage": ("disk_usage", "Show the disk usage by address and by directory."),
            "exporter": ("disk_exporter", "Serve metrics of pages, queues and disks for Prometheus."),
        },
    ),
    "replay": (
        "Replay recorded traffic: what a broker would do under other settings.",
        {
            "run": ("replay_run", "Replay a trace: memory, pages, drops, refusals, blocked producers, over time."),
            "import": ("replay_import", "Make a trace from a broker's audit log or logging plugin."),
            "generate": ("replay_generate", "Generate a trace of synthetic traffic."),
            "compare": ("replay_compare", "Compare two outcomes, or one trace under two configurations or settings."),
            "sweep": ("replay_sweep", "Replay one trace under many settings; print a table."),
            "advise": ("replay_advise", "Find the settings that handle recorded traffic with the least paging."),
        },
    ),
    "completion": ("completion", "Print the completion script for a shell."),
}

# These answer as monitoring plugins do, with the name of their service: a usage error is UNKNOWN.
PLUGINS: dict[tuple[str, ...], str] = {
    ("disk", "check"): "DISK",
    ("disk", "forecast"): "DISK FORECAST",
    ("messages", "check"): "MESSAGES",
    ("pages", "check"): "PAGES",
}
UNKNOWN = 3

# commands of earlier releases, and those that replace them
MOVED: dict[tuple[str, ...], str] = {
    ("pages", "find"): "messages find",
    ("pages", "top"): "messages top",
    ("pages", "check"): "messages check",
}
# options of earlier releases, and what replaces them in one command
MOVED_OPTIONS: dict[tuple[str, ...], Mapping[str, str]] = {
    ("pages", "decode"): {
        "--queue": "'pagectl messages decode --queue', which reads the journal as well",
        "--outstanding": "'pagectl messages decode --outstanding', which reads the journal as well",
    }
}
# options that had another name in earlier releases, in all commands
RENAMED_OPTIONS = {"--broker-xml": "--config", "--interval": "--every", "--user-id": "--message-id"}

# Carried out before the tree is looked at.
FLAGS = {
    "--version": "Print the version and exit.",
    "--debug": "Show the traceback of an internal error; allowed anywhere on the command line.",
}


class NoCommand(Exception):
    """A group called without a command; the message is its help."""


class LazyGroup(TyperGroup):
    """A group whose members are imported when they are called."""

    def __init__(self, tree: Mapping[str, Leaf | Group], **attrs: Any) -> None:
        super().__init__(rich_markup_mode=None, **attrs)
        self.tree = tree

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the words of a call. Raise ``NoCommand`` with the help if there are none."""
        if not args:
            raise NoCommand(ctx.get_help())
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the member that the first word names. Raise a usage error with a suggestion if there is none."""
        if args[0] not in self.tree and not args[0].startswith("-"):
            ctx.fail(_unknown(args[0], self.tree))
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the members in the order of the table."""
        return list(self.tree)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return the member with this name, or return None if there is none."""
        entry = self.tree.get(cmd_name)
        if entry is None:
            return None
        first, second = entry
        if isinstance(second, str):
            return load(cmd_name, first, second)
        return LazyGroup(second, name=cmd_name, help=first)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands for ``--help`` from the table alone, without importing a command."""
        rows = [(name, first if isinstance(second, Mapping) else second) for name, (first, second) in self.tree.items()]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def _unknown(word: str, members: Mapping[str, Leaf | Group]) -> str:
    """Return an error text for an unknown command word, with a suggestion.

    The suggestion is a command with that name elsewhere in the tree (``messages`` before other groups), or a similar
    member.
    """
    groups = sorted(
        (name for name, (_, second) in TREE.items() if isinstance(second, Mapping) and word in second),
        key=lambda name: name != "messages",
    )
    elsewhere = [word] if word in TREE else [f"{name} {word}" for name in groups]
    advice = f"did you mean 'pagectl {elsewhere[0]}'?" if elsewhere else did_you_mean(word, members)
    return "; ".join(filter(None, (f"no such command '{word}'", advice)))


def load(name: str, module: str, help_line: str) -> Any:
    """Return the click command for ``pagectl.commands.<module>.command``."""
    imported = importlib.import_module(f"pagectl.commands.{module}")
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    parsed_by = getattr(imported, "PARSED_BY", CommandWithExamples)
    app.command(name, short_help=help_line, cls=parsed_by, epilog=epilog(imported.EXAMPLES))(expanded(imported.command))
    return typer.main.get_command(app)


def root() -> LazyGroup:
    """Return the group of the whole program, from which completions and manual pages are generated, too."""
    return LazyGroup(
        TREE,
        name="pagectl",
        help="Administration and page-file toolkit for Apache ActiveMQ Artemis, HornetQ and their products.\n\n"
        "'pagectl help COMMAND' is 'pagectl COMMAND --help', and 'pagectl version' is 'pagectl --version'.",
        params=[TyperOption(param_decls=[name], is_flag=True, help=help_line) for name, help_line in FLAGS.items()],
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def run(argv: list[str]) -> int:
    """Run one command line and return its exit status."""
    words = argv[: argv.index("--")] if "--" in argv else argv
    if "--debug" in words:
        os.environ["PAGECTL_DEBUG"] = "1"
        argv = [word for n, word in enumerate(argv) if word != "--debug" or n >= len(words)]
    if argv and argv[0] == "help":
        argv = [*argv[1:], "--help"]
    if argv and argv[0] in ("--version", "version"):
        return guarded(lambda: print(f"pagectl {__version__}"))
    if END_WITH_READER & {tuple(argv[:1]), tuple(argv[:2])}:
        end_with_reader()
    service = PLUGINS.get(tuple(argv[:2]))
    with inputs_recorded():
        return guarded(lambda: _dispatch(argv, service), unexpected=UNKNOWN if service else Exit.FAILED)


def _dispatch(argv: list[str], service: str | None) -> int | None:
    """Return the exit status of a command; a usage error becomes one line, or the answer of a monitoring plugin."""
    try:
        if (now := MOVED.get(tuple(argv[:2]))) is not None:
            called = " ".join(argv[:2])
            raise PageFmtError(f"'pagectl {called}' is now 'pagectl {now}', which answers for journal and pages")
        group = root()
        # not main(): that turns a closed pipe into status 1, and an interrupt into an exit of its own
        with group.make_context("pagectl", list(argv)) as ctx:
            status: int | None = group.invoke(ctx)
        return status
    except typer.Exit as done:
        return int(done.exit_code)
    except NoCommand as err:
        report(str(err), prefix="")
    except typer.TyperException as err:
        context = getattr(err, "ctx", None)
        path = context.command_path if context else "pagectl"
        option = getattr(err, "option_name", "")
        now = MOVED_OPTIONS.get(tuple(argv[:2]), {}).get(option) or RENAMED_OPTIONS.get(option)
        message = f"{' '.join(err.format_message().split()).rstrip('.')} (see '{path} --help')"
        if now is not None:
            message = f"{option} is now {now}"
        if service is not None:
            return _tell_unknown(service, argv, message)
        report(message, prefix=f"{path}: ")
    except PageFmtError as err:  # a command that has moved, or a DIR that no command can read
        if service is None:
            raise
        return _tell_unknown(service, argv, describe(err))
    return Exit.FAILED


def _tell_unknown(service: str, argv: list[str], message: str) -> int:
    """Print a plugin's UNKNOWN answer on standard output, where monitoring reads it, and return its exit status."""
    from pagectl.outputs.plugin import Plugin

    form = next((name for name in ("json", "prometheus") if name in argv or f"--format={name}" in argv), "nagios")
    return Plugin(service, form, broker=_broker_in(argv[2:]) if service == "DISK" else None).tell_unknown(message)


def _broker_in(words: list[str]) -> str:
    """Return the broker's name in an unparsable ``disk check`` command line: that of --broker, else of DIR."""
    from pagectl.options.disk import broker_name

    before = ""
    place: str | None = None
    for word in words:
        option, _, value = word.partition("=")
        if before == "--broker" or (option == "--broker" and value):
            return value or word
        if place is None and not word.startswith("-") and not before.startswith("-"):
            place = word
        before = word
    return broker_name(Path(place) if place else None)
