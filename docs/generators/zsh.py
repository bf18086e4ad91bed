"""The completion script for zsh: one ``_arguments`` call for each command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from command_table import HELP, TOP, Argument, Command, CompletionKind, Group, Option, Value, override_of, short_help

HEAD = """#compdef pagectl
# zsh completion for pagectl: answers from this file. Made from the commands by 'make renew'.

_pagectl_names() {  # OPTION-OF-COMPADD… KIND: names on the disk of the DIR that was typed; this asks the program
    local dir=$ARTEMIS_INSTANCE word
    local -a found
    for word in ${(Q)words}; do
        word=${word/#\\~/$HOME}
        [[ $word != -* && -d $word ]] && { dir=$word; break; }
    done
    [[ -n $dir ]] && found=("${(@f)$(_call_program names pagectl __names $@[-1] ${(q)dir} 2>/dev/null)}")
    compadd "${(@)argv[1,-2]}" -- ${found:#}
}
"""


def script(groups: Iterable[Group]) -> str:
    found = list(groups)
    lines = [HEAD, *_overrides(found)]
    for group in found:
        for one in group.commands:
            lines += ["", *_command(one)]
        if len(group.commands[0].path) == 2:
            lines += [
                "",
                *_level(
                    f"_pagectl_{group.name}", [_option(HELP)], [(one.path[-1], one.line) for one in group.commands]
                ),
            ]
    lines += ["", *_level("_pagectl", [_option(option) for option in TOP], [(one.name, one.line) for one in found])]
    return "\n".join((*lines, "", '_pagectl "$@"', ""))


def _level(function: str, options: list[str], members: list[tuple[str, str]]) -> Iterator[str]:
    """Yield a zsh function that completes the name of a member, or calls the function of the member already typed."""
    yield f"{function}() {{"
    yield '    local curcontext="$curcontext" context state state_descr line'
    yield "    typeset -A opt_args"
    yield f"    _arguments -C -S {' '.join(options)} '1: :->member' '*:: :->rest' && return"
    yield "    case $state in"
    yield "    member)"
    yield "        local -a members=("
    yield from (f"            {_quoted(f'{name}:{_plain(line)}')}" for name, line in members)
    yield "        )"
    yield "        _describe -t commands command members ;;"
    yield "    rest)"
    yield f'        (( $+functions[{function}_$line[1]] )) && {function}_$line[1] "$@" ;;'
    yield "    esac"
    yield "}"


def _command(one: Command) -> Iterator[str]:
    yield f"{'_'.join(('_pagectl', *one.path))}() {{"
    yield "    _arguments -s -S : \\"
    specs = [*map(_option, one.options), *(_argument(n, each) for n, each in enumerate(one.arguments, 1))]
    yield from (f"        {spec}{' ' + chr(92) if n < len(specs) - 1 else ''}" for n, spec in enumerate(specs))
    yield "}"


def _option(option: Option) -> str:
    said = f"[{_bracketed(short_help(option.help))}]"
    if option.long in ("--help", "--version"):
        return f"{_quoted('(- *)')}{_braced(option.names)}{_quoted(said)}"
    value = "" if option.value is None else f":{_plain(option.metavar.split('|')[0])}:{_action(option.value)}"
    names = [name + ("" if option.value is None else ("=" if name.startswith("--") else "+")) for name in option.names]
    star = "*" if option.repeatable else ""
    if len(names) == 1:
        return _quoted(f"{star}{names[0]}{said}{value}")
    exclude = star or f"({' '.join(option.names)})"
    return f"{_quoted(exclude)}{_braced(names)}{_quoted(f'{said}{value}')}"


def _braced(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{{{','.join(names)}}}"


def _argument(place: int, argument: Argument) -> str:
    start = "*" if argument.many else (f"{place}" if argument.required else f"{place}:")
    return _quoted(f"{start}:{_plain(argument.metavar)}:{_action(argument.value)}")


def _action(value: Value) -> str:
    match value.kind:
        case CompletionKind.WORDS:
            return f"({' '.join(value.words)})"
        case CompletionKind.LIST:
            return f"_values -s , value {' '.join(value.words)}"
        case CompletionKind.NAMES:
            return f"_pagectl_names {value.words[0]}"
        case CompletionKind.PATH:
            return "_files"
        case CompletionKind.FOLDER:
            return "_files -/"
        case CompletionKind.OVERRIDE:
            return "_pagectl_override"
        case CompletionKind.FREE:
            return " "


def _overrides(groups: list[Group]) -> Iterator[str]:
    value = override_of(groups)
    if value is not None:
        yield "_pagectl_override() {"
        yield "    if ! compset -P '*:'; then"
        yield f"        compadd -S '=' -- {' '.join(value.broker)}"
        yield "        return"
        yield "    fi"
        yield "    case $PREFIX in"
        for name, words in value.values:
            yield f"    {name}=*) compset -P '*='; compadd -- {' '.join(words)} ;;"
        yield "    *=*) ;;"
        yield f"    *) compadd -S '=' -- {' '.join(value.words)} ;;"
        yield "    esac"
        yield "}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _plain(text: str) -> str:
    """Escape colons, which separate the fields of a zsh completion, and backslashes."""
    return text.replace("\\", "\\\\").replace(":", "\\:")


def _bracketed(text: str) -> str:
    return re.sub(r"([\[\]])", r"\\\1", _plain(text))
