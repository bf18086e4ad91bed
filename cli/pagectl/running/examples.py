"""The ``--help`` of each command: sections of options, and examples behind them."""

from __future__ import annotations

from typing import Any, Final

from typer.core import TyperCommand

Examples = tuple[tuple[str, str], ...]
"""What is asked, and the words that answer it, without the program's name."""
ABOUT_CONFIGURATION: Final = frozenset({"broker_xml", "properties", "profile", "server", "heap", "cwd", "define"})
"""Parameters that say where a configuration lies and what it is read with."""


class CommandWithExamples(TyperCommand):
    """A command whose module has ``EXAMPLES``; they are in the epilog, a line for each question and each answer."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Options of the command itself first; those about a configuration, the same for many commands, at the end."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], "Configuration": []}
        for each in self.get_params(ctx):
            row = each.get_help_record(ctx)
            if row is not None:
                other = "Configuration" if each.name in ABOUT_CONFIGURATION else "Options"
                sections["Arguments" if each.param_type_name == "argument" else other].append(row)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """As written: a command line that is wrapped cannot be pasted."""
        if self.epilog:
            formatter.write(f"\nExamples:\n{self.epilog}")


def epilog(examples: Examples) -> str:
    """The section's lines, within 80 columns: a longer command goes on behind a backslash, before an option."""
    return "".join(f"  {asked}{'' if asked.endswith('?') else ':'}\n{in_lines(words)}\n" for asked, words in examples)


def in_lines(words: str) -> str:
    """The command, indented by four; to be pasted as it stands."""
    lines = ["    pagectl"]
    for part in words.replace(" --", "\n --").split("\n"):
        if len(lines[-1]) + len(part) > 77 and len(lines[-1]) > len("    pagectl"):
            lines.append("       ")
        lines[-1] += f" {part.lstrip()}"
    return " \\\n".join(lines)
