"""The command tree seen as a whole: what has the same name is the same thing everywhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from command_table import Command, CompletionKind, Option, commands
from golden_cases import GoldenCase
from pagectl.options.groups import BrokerOptions
from program import call

# The same name for something that cannot be the same, and why.
NOT_THE_SAME = {
    "--all": "messages of a queue in purge, values left at their default in effective",
    "--format": "each command has its own formats; the help begins alike",
    "--to": "a file, a trace, or the folder of a Spark table",
    "--config": "compare takes it twice",
    "--body": "several forms in a text, one in a table",
    "--every": "time between measurements, or between two looks of top",
    "--columns": "of messages, with fields inside of columns, or of another list",
    "--limit": "messages of decode, addresses of usage and ls, queues of top",
    "--queue": "messages of decode, the backlog in check",
    "--warning": "one number of the disk, several of a backlog by name",
    "--critical": "one number of the disk, several of a backlog by name",
    "--sort": "addresses of ls, queues of top",
    "--address": "one whose settings are compared, or those whose messages are wanted",
    "--partition-by": "Spark's table splits by columns, files also by queue and time",
    "--rate": "messages that are made, or sent at most",
    "--since": "when a message was sent, or a retained file still written",
    "--until": "an operation of a trace, or a time",
    "--addresses": "only in generate, a number",
    "--edition": "assumed, but for convert, which writes for one",
    "--out": "required by salvage",
    "--broker": "the name of one broker, or of each",
}


def uses() -> Iterator[tuple[Command, Option]]:
    for command in commands():
        for option in command.options:
            yield command, option


def test_an_option_is_the_same_everywhere() -> None:
    seen: dict[str, set[Option]] = defaultdict(set)
    for _, option in uses():
        name = option.long
        if name not in NOT_THE_SAME:
            # a timeout may be longer where more is to be done
            seen[name].add(Option(**{**{n: getattr(option, n) for n in Option.__slots__}, "default": ""}))
    different = {name: sorted(map(str, found)) for name, found in seen.items() if len(found) > 1}
    assert not different


def test_every_exception_is_needed() -> None:
    names = {option.long for _, option in uses()}
    assert set(NOT_THE_SAME) <= names


def test_formats_are_asked_for_alike() -> None:
    formats = [(command, option) for command, option in uses() if option.long == "--format"]
    assert len(formats) > 20
    for command, option in formats:
        assert option.help.startswith("Output format."), command.path
        assert option.value and option.value.kind is CompletionKind.WORDS and "nagios" not in option.value.words[1:]


def test_short_names_mean_one_thing() -> None:
    meant: dict[str, set[str]] = defaultdict(set)
    for _, option in uses():
        for name in option.names:
            if not name.startswith("--"):
                meant[name].add(option.long)
    assert {name: longs for name, longs in meant.items() if len(longs) > 1} == {}


def test_every_option_and_argument_says_what_it_is() -> None:
    for command, option in uses():
        where = f"{' '.join(command.path)} {option.long}"
        assert option.help and option.help[-1] in ".]", where
        assert option.value is None or option.metavar, where
        repeatable = option.repeatable and option.long not in ("--ignore", "--only", "--config")
        assert not repeatable or "repeatable" in option.help, where
    for command in commands():
        for argument in command.arguments:
            assert argument.help and argument.metavar == argument.metavar.upper(), command.path


def test_where_a_page_directory_is_read_the_instance_is_the_default() -> None:
    taking = [(c, a) for c in commands() for a in c.arguments if a.metavar == "DIR"]
    assert len(taking) >= 13
    for command, argument in taking:
        assert not argument.required and "$ARTEMIS_INSTANCE" in argument.help, command.path


def test_help_and_version_are_words_as_well() -> None:
    for words in ((), ("messages",), ("messages", "check")):
        asked = call("help", *words)
        assert (asked.status, asked.out) == (0, call(*words, "--help").out)
    assert call("help", "no-such-group").status == 2
    assert call("version") == call("--version")


def test_option_groups_are_equal_where_no_option_differs() -> None:
    data = GoldenCase("2.56.0", "multicast-acks").data()
    assert BrokerOptions() == BrokerOptions(server=None, properties=None)
    assert BrokerOptions() != BrokerOptions(server="0.0.0.0")
    assert BrokerOptions() != object()
    assert call("messages", "top", data, data).status == 0
