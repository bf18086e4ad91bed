"""The ``--help`` of each command: sections of options, and examples behind them."""

from __future__ import annotations

from typing import Any, Final

import typer
from typer.core import TyperCommand

# what the example shows, and the words of the call after the program's name
Examples = tuple[tuple[str, str], ...]
# parameters that say where a configuration is and how it is read
ABOUT_CONFIGURATION: Final = frozenset({"broker_xml", "properties", "profile", "server", "heap", "cwd", "define"})


class CommandWithExamples(TyperCommand):
    """A command whose module has ``EXAMPLES``; they are in the epilog, a line for each question and each answer."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of a call. Raise ``BadParameter`` for a path that is empty.

        An empty path is a shell variable that is not set; ``Path`` would take it for the current folder.
        """
        if any(word == "" or word.endswith("=") for word in args):
            words, _, _ = self.make_parser(ctx).parse_args(args=list(args))
            for param in self.get_params(ctx):
                value = words.get(param.name or "")
                if _is_path(param) and (value == "" or (isinstance(value, list | tuple) and "" in value)):
                    message = "the path is empty; the current folder is ., any other has a name"
                    raise typer.BadParameter(message, ctx=ctx, param=param)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the help of options: the command's own first, those about a configuration in a section at the end."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], "Configuration": []}
        for param in self.get_params(ctx):
            row = param.get_help_record(ctx)
            if row is not None:
                other = "Configuration" if param.name in ABOUT_CONFIGURATION else "Options"
                sections["Arguments" if param.param_type_name == "argument" else other].append(row)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples unchanged: a command line that is wrapped cannot be pasted."""
        if self.epilog:
            formatter.write(f"\nExamples:\n{self.epilog}")


def _is_path(parameter: Any) -> bool:
    words = ("FILE", "DIR", "PATH", "FOLDER", "NEW", "TRACE", "LOG")
    return parameter.type.name.lower() == "path" or any(word in (parameter.metavar or "") for word in words)


def epilog(examples: Examples) -> str:
    """Return the lines of the examples section, within 80 columns.

    A longer command continues after a backslash, before an option.
    """
    return "".join(f"  {text}{'' if text.endswith('?') else ':'}\n{in_lines(words)}\n" for text, words in examples)


def in_lines(words: str) -> str:
    """Return the command indented by four columns, in a form that can be pasted."""
    lines = ["    pagectl"]
    for part in words.replace(" --", "\n --").split("\n"):
        if len(lines[-1]) + len(part) > 77 and len(lines[-1]) > len("    pagectl"):
            lines.append("       ")
        lines[-1] += f" {part.lstrip()}"
    return " \\\n".join(lines)
