"""Manual pages in the ``man`` macros: one for the program, one for each entry at the top of the tree."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from command_table import TOP, Argument, Command, Group, Option
from pagectl import __version__
from pagectl.running.statuses import END_WITH_READER, INTERRUPTED, READER_GONE, STATUSES

DATE = "2026-11-21"
"""Of the version: a manual page carries a date, and the same tree gives the same page."""

ENVIRONMENT = (
    ("ARTEMIS_INSTANCE", "Broker instance to use if DIR is not given."),
    ("NO_COLOR, FORCE_COLOR, TERM", "No colour; colour even into a pipe; no escape sequences (dumb)."),
    ("PAGECTL_DEBUG", "Like --debug: show the traceback of an internal error."),
)
DIR_TEXT = (
    "DIR is a broker instance (the folder with etc/broker.xml), a data directory (with paging, journal and so on), a "
    "paging directory, a store folder, or one page file. Only these commands change anything below it: "
    "pages compact, journal compact (each with --in-place), pages restore and pages drop-backup."
)
OUTPUT_TEXT = (
    "Results go to standard output; progress, notes and warnings to standard error. --format selects text or a machine "
    "format; machine formats are stable, and every JSON output has a JSON Schema in the project."
)


def pages(groups: Iterable[Group]) -> dict[str, str]:
    """Text by file name."""
    found = list(groups)
    made = {"pagectl.1": _program(found)}
    for group in found:
        made[f"pagectl-{group.name}.1"] = _group(group, [other for other in found if other is not group])
    return made


def _program(groups: list[Group]) -> str:
    lines = [*_title("pagectl", "administration and page-file toolkit for Artemis and HornetQ brokers"), ".SH SYNOPSIS"]
    lines += [".B pagectl", r"\fICOMMAND\fR [\fIOPTION\fR]... [\fIARGUMENT\fR]..."]
    lines += [".SH DESCRIPTION", *_paragraphs((DIR_TEXT, OUTPUT_TEXT)), ".SH COMMANDS"]
    for group in groups:
        lines += _tagged(rf"\fBpagectl\-{_text(group.name)}\fR(1)", group.line)
    lines += [".SH OPTIONS", *(line for option in TOP for line in _option(option)), ".SH EXIT STATUS"]
    lines += _paragraphs(
        (
            "0: success. 1: success, and something was found (a finding, damage, a difference). "
            "2: the command cannot be carried out. 130: interrupted.",
            "disk check, disk forecast and messages check use the statuses of monitoring plugins: 0 OK, 1 WARNING, 2 "
            "CRITICAL, "
            "3 UNKNOWN. "
            "The pages above list the statuses of each command.",
            "If nobody reads standard output any more, as in pagectl ... | head, a command that only prints messages, "
            "records or a live picture ends with 141 and without a word. Every other command does its work to the end "
            "and keeps its status. Output that cannot be written for another reason, such as a full disk, is an error "
            "(2; of a monitoring plugin 3). Notes that cannot be written to standard error change nothing.",
        )
    )
    lines += [*_environment(), *_see_also(group.name for group in groups)]
    return "\n".join(lines) + "\n"


def _group(group: Group, others: list[Group]) -> str:
    lines = [*_title(f"pagectl-{group.name}", group.line.rstrip(".")), ".SH SYNOPSIS"]
    for n, one in enumerate(group.commands):
        lines += [".br"] * bool(n) + [_usage(one)]
    if len(group.commands) > 1 or group.commands[0].path != (group.name,):
        lines += [".SH DESCRIPTION", *_paragraphs((group.line,)), ".SH COMMANDS"]
        for one in group.commands:
            lines += [f".SS {_text(' '.join(one.path))}", *_command(one)]
    else:
        lines += [".SH DESCRIPTION", *_command(group.commands[0])]
    lines += [*_environment(), *_see_also(["", *(other.name for other in others)])]
    return "\n".join(lines) + "\n"


def _title(name: str, line: str) -> list[str]:
    return [
        ".\\\" Made from the commands by 'make renew'.",
        f'.TH {_text(name.upper())} 1 {DATE} "pagectl {__version__}" "pagectl"',
        ".SH NAME",
        rf"{_text(name)} \-",
        *_filled(line),
    ]


def _usage(one: Command) -> str:
    words = [rf"\fBpagectl {_text(' '.join(one.path))}\fR", r"[\fIOPTION\fR]..."]
    words += [rf"\fB{_text(option.long)}\fR \fI{_text(option.metavar)}\fR" for option in one.options if option.required]
    for argument in one.arguments:
        name = rf"\fI{_text(argument.metavar)}\fR"
        words.append(name if argument.required else f"[{name}]")
    return " ".join(words)


def _command(one: Command) -> Iterator[str]:
    yield from _paragraphs(one.text)
    for argument in one.arguments:
        yield from _argument(argument)
    for option in one.options:
        yield from _option(option)
    if one.terms is not None:
        title, rows = one.terms
        yield from (".PP", *_filled(f"{title}:"))
        for word, meaning in rows:
            yield from _tagged(rf"\fB{_text(word)}\fR", meaning)
    yield ".PP"
    yield "Exit status:"
    without_reader = {141: READER_GONE} if one.path in END_WITH_READER else {}
    for status, meaning in {**STATUSES[one.path], 130: INTERRUPTED, **without_reader}.items():
        yield from _tagged(rf"\fB{status}\fR", meaning)
    yield from (".PP", "Examples:", ".PP", ".nf", *map(_text, one.examples.splitlines()), ".fi")


def _argument(argument: Argument) -> Iterator[str]:
    words = f" One of: {', '.join(argument.value.words)}." if 0 < len(argument.value.words) < 20 else ""
    yield from _tagged(rf"\fI{_text(argument.metavar)}\fR", argument.help + words)


def _option(option: Option) -> Iterator[str]:
    names = ", ".join(rf"\fB{_text(name)}\fR" for name in option.names)
    metavar = rf" \fI{_text(option.metavar)}\fR" if option.value else ""
    help_text = re.sub(r"\.? \[default: (.*?)\]\.?$", r". Default: \1.", option.help)
    words = option.value.words if option.value and option.metavar != "|".join(option.value.words) else ()
    listed = f" One of: {', '.join(words)}." if 0 < len(words) < 20 and words[-1] not in option.help else ""
    default = f" Default: {option.default}." if option.default else ""
    yield from _tagged(f"{names}{metavar}", help_text + listed + default)


def _environment() -> Iterator[str]:
    yield ".SH ENVIRONMENT"
    for name, meaning in ENVIRONMENT:
        yield from _tagged(rf"\fB{_text(name)}\fR", meaning)


def _see_also(names: Iterable[str]) -> Iterator[str]:
    yield ".SH SEE ALSO"
    found = sorted(f"pagectl-{name}" if name else "pagectl" for name in names)
    yield from (rf".BR {_text(name)} (1){',' if n < len(found) - 1 else ''}" for n, name in enumerate(found))


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    for n, text in enumerate(texts):
        yield from [".PP"] * bool(n)
        yield from _filled(text)


def _tagged(tag: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield tag
    yield from _filled(text)


def _filled(text: str) -> list[str]:
    """In lines of at most 80 characters, which is what the formatters ask of the source."""
    return textwrap.wrap(_text(text), 79, break_long_words=False, break_on_hyphens=False)


def _text(text: str) -> str:
    """Characters that the formatter would take for its own, and those that old terminals lack."""
    safe = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("·", "\\(pc")
    safe = safe.replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return re.sub(r"(?<!\S)\.", r"\\&.", safe)
