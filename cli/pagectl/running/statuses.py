"""Every exit status of every command, and what it means: the manual pages print it, a test produces each one.

130 (interrupted), 129 and 143 (hung up, terminated) are every command's; 141 is that of the commands that do nothing
but print.
"""

from __future__ import annotations

CANNOT = "The command cannot be carried out: wrong usage, unreadable input, or refused."
INTERRUPTED = "Interrupted (Ctrl-C); 129 on SIGHUP and 143 on SIGTERM, after tidying up."
READER_GONE = "Nobody reads standard output any more, so the command ended early; it may have found something or not."
PLUGIN = {
    0: "OK.",
    1: "WARNING.",
    2: "CRITICAL.",
    3: "UNKNOWN: the command cannot be carried out, or there was no answer in time.",
}

_READS_PAGES = {0: "Done, and nothing is damaged.", 1: "Done, but a page is damaged.", 2: CANNOT}
_READS_ALL = {0: "Done, and nothing is damaged.", 1: "Done, but a page or the journal is damaged.", 2: CANNOT}
_COMPACTS = {
    0: "Done, or planned.",
    1: "Done or planned, but something was left alone because it is damaged or not known.",
    2: CANNOT,
}
_VERIFIES = {0: "Sound; there may be remarks.", 1: "Something is damaged or contradictory.", 2: CANNOT}
_ONLY_DONE = {0: "Done.", 2: CANNOT}
_COMPARES = {0: "No difference.", 1: "There is a difference.", 2: CANNOT}
_REPLAYS = {0: "Done.", 1: "Done, but lines of the trace could not be applied.", 2: CANNOT}

STATUSES: dict[tuple[str, ...], dict[int, str]] = {
    ("config", "lint"): {
        0: "No finding at or above --fail-on; with --diff, nothing to repair.",
        1: "There is such a finding; with --diff, there is something to repair.",
        2: "The command cannot be carried out, or one of the files cannot be read (the others are linted).",
    },
    ("config", "effective"): _ONLY_DONE,
    ("config", "explain"): _ONLY_DONE,
    ("config", "rules"): _ONLY_DONE,
    ("config", "serve"): {0: "The editor ended the session.", 1: "The editor disconnected without ending the "
                                                                 "session.", 2: CANNOT},
    ("config", "diff"): _COMPARES,
    ("config", "convert"): {0: "Done.", 1: "Done, but something has no counterpart in that form.", 2: CANNOT},
    ("config", "drift"): _COMPARES,
    ("config", "capacity"): _ONLY_DONE,
    ("export",): {
        0: "Done.",
        1: "Done, but damaged pages are in the table only as far as they can be read (also those that an earlier "
           "run with "
        "--incremental found and that are unchanged), something is not known, one of several brokers cannot be "
        "read (the others are written), or temporary files are left beside the table.",
        2: CANNOT,
    },
    ("pages", "ls"): {0: "Done.", 1: "Done, but a condition is neither ok nor empty.", 2: CANNOT},
    ("messages", "top"): {
        0: "Done.",
        1: "Done, but something is damaged or not known, or a prepared transaction is still open.",
        2: "The command cannot be carried out, or one of several DIRs cannot be read (the others are shown).",
    },
    ("messages", "check"): PLUGIN,
    ("pages", "outstanding"): {
        0: "Done.",
        1: "Done, but something is not known, a page or the journal is damaged, or a prepared transaction is still "
           "open.",
        2: CANNOT,
    },
    ("messages", "find"): _READS_ALL,
    ("pages", "decode"): _READS_ALL,
    ("pages", "verify"): _VERIFIES,
    ("pages", "seal"): _ONLY_DONE,
    ("pages", "browse"): _ONLY_DONE,
    ("pages", "inspect"): _READS_PAGES,
    ("pages", "compact"): _COMPACTS,
    ("pages", "salvage"): {0: "Done, and nothing was lost.", 1: "Done, but something was lost.", 2: CANNOT},
    ("pages", "restore"): _ONLY_DONE,
    ("pages", "drop-backup"): _ONLY_DONE,
    ("messages", "ls"): {0: "Done.", 1: "Done, but something is damaged or not known.", 2: CANNOT},
    ("messages", "verify"): _VERIFIES,
    ("messages", "decode"): _READS_ALL,
    ("messages", "xml"): {
        0: "Everything written.", 1: "Written, but something was left out or is damaged.", 2: CANNOT,
    },
    ("messages", "import-plan"): {0: "Nothing would be lost.", 1: "Something would be lost, or the import would "
                                                                  "stop.", 2: CANNOT},
    ("messages", "send"): {
        0: "Everything sent; with --dry-run, everything can be sent.",
        1: "Something was refused or left out, or is damaged.",
        2: "The command cannot be carried out, or the broker could not be reached again.",
    },
    ("messages", "trace"): {0: "Done.", 1: "Done, but a file of the history is damaged.", 2: CANNOT},
    ("journal", "ls"): {0: "Done.", 1: "Done, but a condition is worse than a remark.", 2: CANNOT},
    ("journal", "stats"): {0: "Done.", 1: "Done, but a journal is damaged or cannot be read.", 2: CANNOT},
    ("journal", "inspect"): {0: "Done, and no record is torn.", 1: "Done, but a record is torn.", 2: CANNOT},
    ("journal", "verify"): _VERIFIES,
    ("journal", "compact"): _COMPACTS,
    ("convert",): {0: "Done, or planned.", 1: "Done or planned, but something was left out because it is "
                                              "damaged.", 2: CANNOT},
    ("recover",): {
        0: "Nothing is damaged; with --out, nothing is lost, delivered again or unsure.",
        1: "Something is damaged; with --out, something is lost, delivered again, unsure, or still damaged.",
        2: CANNOT,
    },
    ("large", "ls"): {0: "Done.", 1: "Done, but a body is missing or incomplete, or it is not known whose it "
                                     "is.", 2: CANNOT},
    ("large", "verify"): _VERIFIES,
    ("queue", "drop"): {
        0: "Done, or planned.", 1: "Done or planned, but pages that no queue needs any more are left.", 2: CANNOT,
    },
    ("queue", "purge"): {
        0: "Done, or planned.", 1: "Done or planned, but something is damaged and stays as it is.", 2: CANNOT,
    },
    ("disk", "check"): PLUGIN,
    ("disk", "watch"): _ONLY_DONE,
    ("disk", "forecast"): PLUGIN,
    ("disk", "exporter"): {0: "Ended by SIGTERM.", 2: CANNOT},
    ("disk", "usage"): {0: "Done.", 1: "Done, but something could not be read.", 2: CANNOT},
    ("replay", "run"): _REPLAYS,
    ("replay", "import"): {0: "Done.", 1: "Done, but sends of the log are left out of the trace.", 2: CANNOT},
    ("replay", "generate"): _ONLY_DONE,
    ("replay", "compare"): _COMPARES,
    ("replay", "sweep"): _REPLAYS,
    ("replay", "advise"): {0: "Settings were found that work.", 1: "No settings work.", 2: CANNOT},
    ("completion",): _ONLY_DONE,
}  # fmt: skip

# Commands that do nothing but print, perhaps for a long time: they end if nobody reads standard output any more. All
# others do their work to its end and keep the status that they have with a reader.
END_WITH_READER: frozenset[tuple[str, ...]] = frozenset({
    ("config", "serve"),
    ("pages", "decode"),
    ("pages", "seal"),
    ("pages", "inspect"),
    ("messages", "decode"),
    ("messages", "find"),
    ("messages", "xml"),
    ("journal", "inspect"),
    ("disk", "watch"),
})  # fmt: skip
