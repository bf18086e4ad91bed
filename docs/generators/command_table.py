"""The command tree as plain values: what completion scripts and manual pages are written from."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from pagectl.app import FLAGS, TREE, LazyGroup, root
from pagectl.decoding.columns import COLUMNS
from pagectl.decoding.count_by import COUNTED, PROPERTY
from pagectl.options.columns import BODIES, MESSAGE_SPLITS, SPLITS
from pagectl.reports.listing import RowListing

from pagefmt.history.messages import PastState


class CompletionKind(StrEnum):
    """What may stand where a value is asked for."""

    WORDS = "words"
    """One of ``Value.words``."""
    LIST = "list"
    """Some of ``Value.words``, with commas between."""
    OVERRIDE = "override"
    """MATCH:NAME=VALUE, where NAME is one of ``Value.words``; or NAME=VALUE with one of ``Value.broker``."""
    NAMES = "names"
    """A name on the disk of the DIR that was typed, of the kind ``Value.words`` says; the program is asked."""
    PATH = "path"
    FOLDER = "folder"
    FREE = "free"


@dataclass(frozen=True, slots=True)
class Value:
    """``words`` as the kind says; ``broker`` and ``values`` are for overrides: names without MATCH, words of a name."""

    kind: CompletionKind
    words: tuple[str, ...] = ()
    broker: tuple[str, ...] = ()
    values: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """``value`` None: a flag. ``default`` is shown to people, empty for none."""

    names: tuple[str, ...]
    metavar: str
    help: str
    value: Value | None
    repeatable: bool
    required: bool
    default: str

    @property
    def long(self) -> str:
        """The long name, or the only one."""
        return max(self.names, key=len)


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument of a command."""

    metavar: str
    help: str
    value: Value
    many: bool
    required: bool


@dataclass(frozen=True, slots=True)
class Command:
    """A leaf of the tree. ``path`` without the program's name; ``text`` paragraphs of its help, ``examples`` lines.

    ``terms``: a table of words and their meaning, with its title; None: the command has none.
    """

    path: tuple[str, ...]
    line: str
    text: tuple[str, ...]
    arguments: tuple[Argument, ...]
    options: tuple[Option, ...]
    examples: str
    terms: tuple[str, tuple[tuple[str, str], ...]] | None


@dataclass(frozen=True, slots=True)
class Group:
    """A group of commands, or a command at the top by itself."""

    name: str
    line: str
    commands: tuple[Command, ...]


HELP = Option(("--help", "-h"), "", "Show the help and exit.", None, False, False, "")
TOP = (HELP, *(Option((name,), "", said, None, False, False, "") for name, said in FLAGS.items()))

# What a metavar stands for where the parameter's type is text; a metavar that is in neither table is a fault.
FREE = frozenset(
    {"AGE", "NAME=RANGE",
     "A:B", "ADDR", "ADDRESS…", "K=V", "MASTER", "N", "NAME", "NAME=VALUE", "OUT", "PCT", "RANGE", "SECONDS",
     "BYTES", "FROM=TO", "HOST:PORT", "S", "SELECTOR", "SIZE", "TEXT", "TIME", "TIME|FILE", "URL", "ZONE"}
)  # fmt: skip
PATHS = frozenset(
    {
        "DIR",
        "DIR…",
        "FILE",
        "FILE…",
        "LOG…|DIR",
        "TRACE|DIR",
        "TRACE",
        "TRACE…",
        "NEW",
        "XSD",
        "A",
        "B",
        "A B | TRACE",
        "FILE|FOLDER",
        "FOLDER",
    }
)


def short_help(text: str) -> str:
    """Cut the description of the default off a help line."""
    return text.split(" [default")[0]


def override_of(groups: Iterable[Group]) -> Value | None:
    """Return the value that completes ``MATCH:NAME=VALUE``, or None if no option takes such an override."""
    values = (option.value for group in groups for command in group.commands for option in command.options)
    found = {value for value in values if value and value.kind is CompletionKind.OVERRIDE}
    assert len(found) <= 1, "two kinds of overrides need two functions"
    return next(iter(found), None)


@cache
def groups() -> tuple[Group, ...]:
    """List all commands by group in the order of the help; a top-level command forms a group of its own."""
    program, found = root(), []
    for name in program.list_commands(None):
        first, second = TREE[name]
        member = program.get_command(None, name)
        if isinstance(member, LazyGroup):
            leaves = [_command((name, leaf), member.get_command(None, leaf)) for leaf in member.list_commands(None)]
            found.append(Group(name, first, tuple(leaves)))
        else:
            found.append(Group(name, str(second), (_command((name,), member),)))
    return tuple(found)


def commands() -> Iterator[Command]:
    """All commands of the program, in the order of the tree."""
    for group in groups():
        yield from group.commands


def _command(path: tuple[str, ...], made: Any) -> Command:
    arguments, options = [], []
    fields = _list_fields(made)
    for parameter in made.params:
        if getattr(parameter, "hidden", False):
            continue
        if parameter.param_type_name == "argument":
            arguments.append(_argument(parameter))
        else:
            options.append(_option(parameter, fields))
    text = tuple(" ".join(part.split()) for part in (made.help or "").split("\n\n") if part.strip())
    return Command(
        path,
        made.get_short_help_str(200),
        text,
        tuple(arguments),
        (*options, HELP),
        made.epilog,
        getattr(made, "terms", None),
    )


def _list_fields(command: Any) -> tuple[str, ...]:
    """Return the fields that ``--columns`` and ``--sort`` of a list can name; none of a command that is no list."""
    module = sys.modules[command.callback.__module__]
    return next((value.fields for value in vars(module).values() if isinstance(value, RowListing)), ())


def _argument(parameter: Any) -> Argument:
    metavar = parameter.metavar or parameter.human_readable_name
    many = parameter.nargs == -1
    return Argument(metavar, parameter.help or "", _value(parameter, metavar), many, parameter.required)


def _option(parameter: Any, fields: tuple[str, ...]) -> Option:
    if parameter.is_flag:
        return Option(tuple(parameter.opts), "", parameter.help or "", None, False, False, "")
    if fields and parameter.opts == ["--columns"]:
        value = Value(CompletionKind.LIST, fields)
    elif fields and parameter.opts == ["--sort"]:
        value = Value(CompletionKind.WORDS, fields)
    else:
        value = _value(parameter, parameter.metavar)
    default = parameter.default
    shown = "" if default in (None, [], ()) else str(getattr(default, "value", default))
    metavar = parameter.metavar or "|".join(value.words)
    return Option(
        tuple(parameter.opts), metavar, parameter.help or "", value, parameter.multiple, parameter.required, shown
    )


def _value(parameter: Any, metavar: str | None) -> Value:
    """By the type where it tells, else by the metavar."""
    choices = getattr(parameter.type, "choices", None)
    if choices is not None:
        return Value(CompletionKind.WORDS, tuple(str(getattr(word, "value", word)) for word in choices))
    match metavar:
        case "RULE":
            return Value(CompletionKind.LIST, _rules())
        case "SETTING|ELEMENT|RULE|AMQ…":
            return Value(CompletionKind.WORDS, tuple(sorted({*_rules(), *_settings()})))
        case "LIST":
            return Value(CompletionKind.LIST, BODIES)
        case "QUEUE" | "ADDRESS":
            return Value(CompletionKind.NAMES, (metavar.lower(),))
        case "COLUMNS":
            return Value(CompletionKind.LIST, COLUMNS)
        case "SPLIT":
            return Value(CompletionKind.WORDS, MESSAGE_SPLITS)
        case "STATE,…":
            return Value(CompletionKind.LIST, tuple(PastState))
        case "FIELD":
            return Value(CompletionKind.WORDS, (*COUNTED, PROPERTY))
        case "COLUMN":
            return Value(CompletionKind.WORDS, SPLITS)
        case "MATCH:NAME=VALUE" | "MATCH:NAME=V1,V2,…":
            return _override()
        case str() if metavar in PATHS:
            folder = metavar == "NEW" or (metavar == "DIR" and parameter.param_type_name == "option")
            return Value(CompletionKind.FOLDER if folder else CompletionKind.PATH)
        case str() if metavar in FREE:
            return Value(CompletionKind.FREE)
        case _:
            raise AssertionError(f"{parameter.opts}: nothing is known of a value called {metavar}")


def _rules() -> tuple[str, ...]:
    from brokerconf.linting.catalogue import known_ids

    return tuple(sorted(known_ids()))


def _settings() -> frozenset[str]:
    from brokerconf.settings.settings_model import settings

    return frozenset(setting.name for setting in settings())


def _override() -> Value:
    from brokerconf.settings.settings_model import Scope, in_scope

    from pageengine.settings.overrides import OF_BROKER

    of_address = in_scope(Scope.ADDRESS)
    values = tuple((name, tuple(one.allowed.split("|"))) for name, one in of_address.items() if one.kind == "enum")
    return Value(CompletionKind.OVERRIDE, tuple(sorted(of_address)), tuple(OF_BROKER), values)
