"""The completion script for fish: one ``complete`` line for each option and list of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from command_table import TOP, Argument, Command, CompletionKind, Group, Option, Value, override_of, short_help

HEAD = r"""# fish completion for pagectl: answers from this file. Made from the commands by 'make renew'.

function __pagectl_at # the words before the cursor name exactly this command (or the top)
    set -l found
    for word in (commandline -opc)[2..]
        string match -q -- '-*' $word; and continue
        test (count $found) -lt (math max 1, (count $argv)); and set -a found $word
    end
    test "$found" = "$argv"
end

function __pagectl_group # a group and nothing behind it
    set -l found (string match -v -- '-*' (commandline -opc)[2..])
    test "$found" = "$argv"
end

function __pagectl_first # GROUP COMMAND or COMMAND, and no argument yet
    test (commandline -opc)[-1] = $argv[-1]; and __pagectl_at $argv
end

function __pagectl_list # WORD…: with commas between them
    set -l given (string replace -r '[^,=]*$' '' -- (string replace -r '^--[^=]*=' '' -- (commandline -ct)))
    for word in $argv
        string match -q -- "*,$word,*" ",$given"; or echo $given$word
    end
end

function __pagectl_names # KIND: names on the disk of the DIR that was typed; this asks the program
    set -l dir $ARTEMIS_INSTANCE
    for word in (commandline -op)[4..]
        set -l path (string replace -r '^~' $HOME -- (string unescape -- $word))
        string match -q -- '-*' $word; or not test -d "$path"; or begin; set dir $path; break; end
    end
    test -n "$dir"; and pagectl __names $argv[1] $dir 2>/dev/null
end

complete -c pagectl -f
"""


def script(groups: Iterable[Group]) -> str:
    found = list(groups)
    return "\n".join((HEAD, *_lines(found), ""))


def _lines(groups: list[Group]) -> Iterator[str]:
    yield from _overrides(groups)
    for option in TOP:
        yield f"complete -c pagectl -n __pagectl_group {_names(option)} -d {_quoted(short_help(option.help))}"
    for group in groups:
        yield f"complete -c pagectl -n __pagectl_group -a {group.name} -d {_quoted(group.line)}"
    for group in groups:
        for one in group.commands:
            if len(one.path) == 2:
                yield (
                    f"complete -c pagectl -n '__pagectl_group {group.name}' -a {one.path[-1]} -d {_quoted(one.line)}"
                )
    for group in groups:
        for one in group.commands:
            yield ""
            yield from _command(one)


def _command(one: Command) -> Iterator[str]:
    at = f"-n '__pagectl_at {' '.join(one.path)}'"
    for option in one.options:
        value = "" if option.value is None else f" {_value(option.value)}"
        yield f"complete -c pagectl {at} {_names(option)}{value} -d {_quoted(short_help(option.help))}"
    for argument in one.arguments[:1]:
        yield from _argument(one, argument)


def _argument(one: Command, argument: Argument) -> Iterator[str]:
    match argument.value.kind:
        case CompletionKind.PATH:
            yield f"complete -c pagectl -n '__pagectl_at {' '.join(one.path)}' -F"
        case CompletionKind.WORDS:
            first = f"-n '__pagectl_first {' '.join(one.path)}'"
            yield f"complete -c pagectl {first} -a {_quoted(' '.join(argument.value.words))}"
        case _:
            return


def _names(option: Option) -> str:
    return " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)


def _value(value: Value) -> str:
    match value.kind:
        case CompletionKind.WORDS:
            return f"-x -a {_quoted(' '.join(value.words))}"
        case CompletionKind.LIST:
            return f"-x -a {_quoted(f'(__pagectl_list {chr(32).join(value.words)})')}"
        case CompletionKind.NAMES:
            return f"-x -a '(__pagectl_names {value.words[0]})'"
        case CompletionKind.PATH:
            return "-r -F"
        case CompletionKind.FOLDER:
            return "-x -a '(__fish_complete_directories)'"
        case CompletionKind.OVERRIDE:
            return "-x -a '(__pagectl_override)'"
        case CompletionKind.FREE:
            return "-x"


def _overrides(groups: list[Group]) -> Iterator[str]:
    value = override_of(groups)
    if value is not None:
        yield "function __pagectl_override # MATCH:NAME=VALUE, or NAME=VALUE of the broker itself"
        yield "    set -l typed (string replace -r '^--[^=:]*=' '' -- (commandline -ct))"
        yield "    set -l before (string replace -r '[^:]*$' '' -- $typed)"
        yield "    switch $typed"
        for name, words in value.values:
            yield f"        case '*:{name}=*'"
            yield f"            printf '%s\\n' \"$before\"{name}={{{','.join(words)}}}"
        yield "        case '*=*'"
        yield "        case '*:*'"
        yield f"            printf '%s=\\n' $before{{{','.join(value.words)}}}"
        yield "        case '*'"
        yield f"            printf '%s=\\n' {' '.join(value.broker)}"
        yield "    end"
        yield "end"
        yield ""


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
