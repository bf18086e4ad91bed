"""Options of the commands that read messages wherever they lie."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.decoding.shown import ShownOptions
from pagectl.options.groups import BrokerOptions
from pagectl.options.history import AsOfOption, HistoryOptions
from pagectl.options.message_filter import QueueFilterOptions
from pagectl.options.shared import EditionOption, InOption
from pagefmt.table.table_content import StoredIn


class EverywhereOptions(BrokerOptions, QueueFilterOptions, HistoryOptions, ShownOptions):
    """What is shown, which messages, whose."""

    edition: EditionOption = None
    within: InOption = StoredIn.LIVE
    as_of: AsOfOption = None
    count_by: Annotated[
        str | None,
        typer.Option(
            "--count-by",
            metavar="FIELD",
            help="Print only how many messages and bytes there are for each queue, address, priority or "
            "properties.NAME, largest first.",
        ),
    ] = None
