"""Options that say what is shown of messages: those of ``pages decode`` and ``messages find``."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.decoding.columns import chosen_columns, forms_of
from pagectl.options.columns import BODIES, MESSAGE_SPLITS
from pagectl.options.groups import OptionGroup
from pagectl.options.shared import FORMAT_HELP, ToFileOption
from pagectl.running.exits import CallError

if TYPE_CHECKING:
    from pagefmt.describe.message_json import BodyForm


class DecodeFormat(StrEnum):
    """How messages are written."""

    text = "text"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    arrow = "arrow"


TABLES = (DecodeFormat.parquet, DecodeFormat.arrow)
_ENDINGS = {
    "": DecodeFormat.text, ".txt": DecodeFormat.text, ".jsonl": DecodeFormat.jsonl, ".json": DecodeFormat.json,
    ".csv": DecodeFormat.csv, ".parquet": DecodeFormat.parquet, ".arrow": DecodeFormat.arrow,
}  # fmt: skip


class ShownOptions(OptionGroup):
    """What is shown of messages, how, and where it goes."""

    form: Annotated[
        DecodeFormat | None,
        typer.Option("--format", help=f"{FORMAT_HELP} [default: by the name of --to, else text]", show_default=False),
    ] = None
    to: ToFileOption = None
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="COLUMNS",
            help="Only these columns, separated by commas: sent, queue_names, outstanding_names, body_text, "
            "properties.NAME, amqp.properties.subject, … [default: all; CSV: the readable ones].",
        ),
    ] = None
    partition_by: Annotated[
        list[str] | None,
        typer.Option(
            "--partition-by",
            metavar="SPLIT",
            help=f"Write a folder of Parquet or Arrow files, split by: {', '.join(MESSAGE_SPLITS)}; repeatable.",
        ),
    ] = None
    body: Annotated[
        str,
        typer.Option(
            "--body", metavar="LIST", help=f"What to show of bodies: {', '.join(BODIES)}; separate several with commas."
        ),
    ] = "size"
    inflate: Annotated[bool, typer.Option("--inflate", help="Inflate compressed bodies, up to 16 MiB each.")] = False
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=0, help="Stop after N messages.", show_default=False)
    ] = None

    def forms(self) -> frozenset[BodyForm]:
        """Return the body forms of ``--body`` and of the chosen columns. Raise ``CallError`` for an invalid list."""
        from pagefmt.describe.message_json import BodyForm

        names = [name.strip() for name in self.body.split(",")]
        wrong = next((name for name in names if name not in BODIES), None)
        if wrong is not None:
            raise CallError(f"--body {self.body}: '{wrong}' is not one of {', '.join(BODIES)}")
        if "none" in names and len(names) > 1:
            raise CallError(f"--body {self.body}: none cannot be combined with others")
        return frozenset(BodyForm(name) for name in {*names, *forms_of(self.chosen() or ())} - {"none"})

    def chosen(self) -> tuple[str, ...] | None:
        """Return the columns of ``--columns``, None if not given or if the format is a table. Raise ``CallError``."""
        return None if self.columns is None or self.format() in TABLES else chosen_columns(self.columns)

    def format(self) -> DecodeFormat:
        """Return the format of ``--format``, else of the ending of the file name. Raise ``CallError``."""
        form = self.form or self._by_name()
        if self.partition_by and form not in TABLES:
            raise CallError(f"--partition-by: {form.value} files cannot be partitioned; use --format parquet or arrow")
        return form

    def _by_name(self) -> DecodeFormat:
        from pagefmt.storage.writing import is_stream

        ending = "" if self.to is None else self.to.suffix.lower()
        if self.partition_by and not ending:
            return DecodeFormat.parquet
        if self.to is None or is_stream(self.to):
            return DecodeFormat.text
        if ending not in _ENDINGS:
            endings = ", ".join(name for name in _ENDINGS if name)
            raise CallError(f"--to {self.to}: no format has the ending {ending}; use {endings}, or give --format")
        return _ENDINGS[ending]
