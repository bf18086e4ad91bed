"""The completion script for bash (3.2 and later): one function that answers from tables in the script itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from command_table import HELP, TOP, Command, CompletionKind, Group, Value

HEAD = r"""# bash completion for pagectl: answers from this file. Made from the commands by 'make renew'.

_pagectl_offer() {  # PREFIX WORD…: what may stand after PREFIX, as far as it fits what is typed
    local prefix=$1 typed=$_pagectl_cur done word
    shift
    # readline completes only what stands behind the last : or = where it breaks words there
    done=${typed%"${typed##*[:=]}"}
    for word; do
        [[ $prefix$word == "$typed"* ]] || continue
        word=$prefix$word
        COMPREPLY+=("${word#"$done"}")
        [[ $word == *= ]] && compopt -o nospace 2>/dev/null
    done
}

_pagectl_names() {  # KIND: names on the disk of the DIR that was typed; this asks the program
    local dir=$ARTEMIS_INSTANCE word
    for word in "${COMP_WORDS[@]:3}"; do
        word=${word//[\"\'\\]/}
        [[ $word == -* || ! -d ${word/#\~/$HOME} ]] || { dir=$word; break; }
    done
    while IFS= read -r word; do
        _pagectl_offer '' "$(printf %q "$word")"
    done < <([[ $dir ]] && pagectl __names "$1" "$dir" 2>/dev/null)
}

_pagectl_paths() {  # folders only with -d
    if [[ $1 ]]; then compopt -o dirnames; else compopt -o default; fi 2>/dev/null
}

_pagectl_list() {  # WORD…: with commas between them
    local given=${_pagectl_cur%"${_pagectl_cur##*,}"} word left=()
    for word; do [[ ,$given == *",$word,"* ]] || left+=("$word"); done
    _pagectl_offer "$given" "${left[@]}"
    compopt -o nospace 2>/dev/null
}
"""

MAIN = r"""
_pagectl() {
    local words=() word n path='' option='' count=0 group='' _pagectl_cur
    COMPREPLY=()
    # put together again what was broken at : and =
    for ((n = 0; n <= COMP_CWORD; n++)); do
        word=${COMP_WORDS[n]}
        if ((n > 0)) && { [[ $word == [:=]* ]] || [[ ${words[${#words[@]} - 1]} == *[:=] ]]; }; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
    done
    _pagectl_cur=${words[${#words[@]} - 1]}
    for ((n = 1; n < ${#words[@]} - 1; n++)); do
        word=${words[n]}
        if [[ $option ]]; then
            option=''
        elif [[ $word == --*=* ]]; then
            :
        elif [[ $word == -?* ]]; then
            _pagectl_takes "$path $word" && option=$word
        elif [[ ! $group ]]; then
            group=$word path=$word
        elif [[ $path == "$group" ]] && _pagectl_members "$group" "$word"; then
            path="$group $word"
        else
            count=$((count + 1))
        fi
    done
    if [[ $option ]]; then
        _pagectl_value "$path $option"
    elif [[ $_pagectl_cur == --*=* ]]; then
        option=${_pagectl_cur%%=*}
        _pagectl_cur=${_pagectl_cur#*=}
        _pagectl_value "$path $option"
    elif [[ $_pagectl_cur == -* ]]; then
        _pagectl_options "$path"
    else
        _pagectl_argument "$path" "$count"
    fi
}
if type compopt &>/dev/null; then
    complete -F _pagectl pagectl
else
    complete -o default -F _pagectl pagectl
fi
"""


def script(groups: Iterable[Group]) -> str:
    found = list(groups)
    parts = (_members(found), _takes(found), _options(found), _values(found), _arguments(found))
    return "\n".join((HEAD.rstrip("\n"), *("\n" + "\n".join(part) for part in parts))) + "\n" + MAIN


def _members(groups: list[Group]) -> Iterator[str]:
    yield "_pagectl_members() {  # is there GROUP COMMAND?"
    yield '    case "$1 $2" in'
    yield from _patterns([" ".join(one.path) for group in groups for one in group.commands if len(one.path) == 2])
    yield "            return 0 ;;"
    yield "    esac"
    yield "    return 1"
    yield "}"


def _takes(groups: list[Group]) -> Iterator[str]:
    yield "_pagectl_takes() {  # does this option of this command want a value?"
    yield "    case $1 in"
    yield from _patterns(
        [
            f"{' '.join(one.path)} {name}"
            for one in _all(groups)
            for option in one.options
            if option.value
            for name in option.names
        ]
    )
    yield "            return 0 ;;"
    yield "    esac"
    yield "    return 1"
    yield "}"


def _options(groups: list[Group]) -> Iterator[str]:
    yield "_pagectl_options() {"
    yield "    case $1 in"
    for one in _all(groups):
        yield f"        '{' '.join(one.path)}') {_offer(name for option in one.options for name in option.names)} ;;"
    grouped = [group.name for group in groups if len(group.commands[0].path) == 2]
    yield f"        {'|'.join(grouped)}) {_offer(HELP.names)} ;;"
    yield f"        '') {_offer(name for option in TOP for name in option.names)} ;;"
    yield "    esac"
    yield "}"


def _values(groups: list[Group]) -> Iterator[str]:
    """Options with the same values stand together: a list of words is in the script once."""
    where: dict[Value, list[str]] = defaultdict(list)
    for one in _all(groups):
        for option in one.options:
            if option.value and option.value.kind is not CompletionKind.FREE:
                where[option.value] += [f"{' '.join(one.path)} {name}" for name in option.names]
    yield "_pagectl_value() {"
    yield "    case $1 in"
    for value, names in where.items():
        yield from _patterns(names)
        yield from (f"            {line}" for line in _answer(value))
        yield "            ;;"
    yield "    esac"
    yield "}"


def _arguments(groups: list[Group]) -> Iterator[str]:
    yield "_pagectl_argument() {  # COMMAND, and how many arguments stand before this one"
    yield "    case $1 in"
    yield f"        '') {_offer(group.name for group in groups)} ;;"
    for group in groups:
        if len(group.commands[0].path) == 2:
            yield f"        {group.name}) (($2 == 0)) && {_offer(one.path[-1] for one in group.commands)} ;;"
    for one in _all(groups):
        answers = [(place, each, list(_answer(each.value))) for place, each in enumerate(one.arguments)]
        tests = [
            f"(($2 {'>=' if each.many else '=='} {place})) && {lines[0]};" for place, each, lines in answers if lines
        ]
        if tests:
            yield f"        '{' '.join(one.path)}') {' '.join(tests)};"
    yield "    esac"
    yield "}"


def _answer(value: Value) -> Iterator[str]:
    match value.kind:
        case CompletionKind.WORDS:
            yield _offer(value.words)
        case CompletionKind.LIST:
            yield f"_pagectl_list {' '.join(value.words)}"
        case CompletionKind.NAMES:
            yield f"_pagectl_names {value.words[0]}"
        case CompletionKind.PATH:
            yield "_pagectl_paths"
        case CompletionKind.FOLDER:
            yield "_pagectl_paths -d"
        case CompletionKind.OVERRIDE:
            yield from _override(value)
        case CompletionKind.FREE:
            return


def _override(value: Value) -> Iterator[str]:
    yield 'local before=${_pagectl_cur%"${_pagectl_cur##*:}"}'
    yield "case $_pagectl_cur in"
    for name, words in value.values:
        yield f'    *:{name}=*) _pagectl_offer "${{before}}{name}=" {" ".join(words)} ;;'
    yield "    *=*) ;;"
    yield f'    *:*) _pagectl_offer "$before" {" ".join(f"{name}=" for name in value.words)} ;;'
    yield f"    *) {_offer(f'{name}=' for name in value.broker)} ;;"
    yield "esac"


def _offer(words: Iterable[str]) -> str:
    return f"_pagectl_offer '' {' '.join(words)}"


def _patterns(names: list[str]) -> Iterator[str]:
    for n, name in enumerate(names):
        yield f"        '{name}'{')' if n == len(names) - 1 else ' |' + chr(92)}"


def _all(groups: list[Group]) -> Iterator[Command]:
    for group in groups:
        yield from group.commands
